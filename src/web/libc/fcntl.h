/* What wasi-libc's fcntl.h lacks; its fcntl() does not take this command, and returns an error. */
#ifndef WEB_LIBC_FCNTL_H
#define WEB_LIBC_FCNTL_H

#include_next <fcntl.h>

#ifndef F_DUPFD_CLOEXEC
#define F_DUPFD_CLOEXEC 1030
#endif

#endif
