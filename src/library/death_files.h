/* death_files: the files that --at-death writes into a directory: their names, how many of them
 * remain, and whether the disk has space for another one. */
#ifndef LIBRARY_DEATH_FILES_H
#define LIBRARY_DEATH_FILES_H

#include <stdint.h>

#include <go2heapsnapshot/error.h>

/* The parts of a file's name: "server-1234-20261127T125011Z-90%.dump.gz". */
struct death_file {
    const char *program; /* characters other than those of file names become "_" */
    uint64_t pid;
    int64_t seconds;    /* the moment, since 1970 */
    const char *remark; /* "-90%", "-asked", or "" */
    const char *suffix; /* ".dump.gz" */
};

/* Returns the path of a file in a directory, from malloc(); NULL: memory has run out. */
char *death_file_path(const char *directory, const struct death_file *file);

/*
 * Removes the oldest files of a program from a directory until `most` of them remain, at least one.
 * They are regular files that death_file_path() has named, with the suffix of `last`, of any
 * process with the program's name. `last` itself, the newest, stays, and so do all other files.
 * Sets how many were removed, also with an error. Errors: G2H_ERROR_SYSTEM: the directory cannot be
 * read, or a file cannot be removed; G2H_ERROR_MEMORY.
 */
struct g2h_error *death_files_trim(const char *directory, const struct death_file *last,
                                   uint64_t most, uint64_t *ret);

/* Returns how many bytes this user may still write into a directory; UINT64_MAX: not known. */
uint64_t death_files_room(const char *directory);

#endif
