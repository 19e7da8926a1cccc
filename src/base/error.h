/*
 * error: makes errors. See include/go2heapsnapshot/error.h for what callers see.
 *
 * Modules may use all of base/:
 *   error, scope        errors that callers see, TRY, and guards that free what a scope owns
 *   contract            asserts of what modules promise each other
 *   option_size        options of callers that know fewer of them
 *   memory, map, id_hash, number_set, bits, bisect, ranges, sparse
 *                       growing arrays, maps, sets, searches in sorted lists, files with holes
 *   bytes, cursor       bytes of the input with their bounds
 *   text, strings, utf8, printable, shell
 *                       text that grows, a pool of strings, characters, what terminals and shells
 *                       act upon
 *   siphash, redaction  hashes in place of texts
 *   workers             tasks on several threads
 *   process_root, permissions
 *                       paths of files of other processes, and what may be read there
 *   release, size_classes
 *                       Go's releases, and the slots and spans of its heap
 *   elf_format          the format of executables and core files
 *   clock               the time
 *   port                functions that not every system has
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <go2heapsnapshot/error.h>

/* The error for "no memory". It is static, so that it is available when memory has run out. */
extern struct g2h_error error_no_memory;

/* Makes an error whose message follows printf's rules. Returns &error_no_memory if memory runs
 * out. */
struct g2h_error *error_create(enum g2h_error_code code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes an error for a failed system call: the message, ": " and strerror(error_number). */
struct g2h_error *error_system(int error_number, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
