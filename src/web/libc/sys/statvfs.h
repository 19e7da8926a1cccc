/* The room in file systems, which a page does not have. */
#ifndef WEB_LIBC_SYS_STATVFS_H
#define WEB_LIBC_SYS_STATVFS_H

struct statvfs {
    unsigned long f_bavail, f_frsize;
};

/* See web/libc.c. */
int statvfs(const char *path, struct statvfs *ret);
int fstatvfs(int file, struct statvfs *ret);

#endif
