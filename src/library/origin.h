/* origin: where a heap comes from: a dump, a core file, or a live process. */
#ifndef LIBRARY_ORIGIN_H
#define LIBRARY_ORIGIN_H

#include <go2heapsnapshot/process.h>

#include "base/text.h"

struct g2h_heap;

struct origin {
    struct g2h_input *input; /* the dump, or one that was made from the process */
    struct g2h_exe *exe;     /* the executable that had to be opened for that; NULL: none yet */
    bool is_process; /* input was made of a core or a process, which this is the account of */
    struct g2h_process_account account;
    struct g2h_memory memory;         /* of a live process */
    struct g2h_ages *ages;            /* of a live process that was watched; NULL: it was not */
    struct g2h_modules modules;       /* of a core or a process */
    const struct g2h_module *library; /* of modules, which was chosen because the program is not
                                         Go; NULL: none */
};

struct process_copy;
struct g2h_ages;

/* Where a dump that is made goes, instead of to a temporary file: as in struct
 * g2h_process_options. */
struct origin_stream {
    struct g2h_error *(*put)(void *context, const void *data, size_t size, uint64_t zeros);
    void *context;
    const char *directory; /* whose disk gets the bytes as they are; NULL: none */
    bool has_begun;        /* some bytes have been put: the process cannot be read once more */
};

struct origin_options {
    const char *path;          /* of a dump or core; "-": standard input */
    struct process_copy *copy; /* of a process, which is read instead; NULL: none */
    struct origin *program;    /* of copy: its executable and modules, which are taken */
    uint64_t pid;              /* of a live process, which is read instead; 0: none */
    const char *exe;           /* the executable given by the user; NULL: that of the process */
    unsigned threads;          /* 0: one per processor */
    unsigned memory, object_memory;             /* as in struct g2h_process_options */
    uint64_t largest_array;                     /* as there */
    uint64_t most_objects;                      /* as there */
    uint64_t sample, sample_seed;               /* as there */
    const char *beyond;                         /* as there */
    bool forks, collapses;                      /* as there */
    const struct g2h_progress *progress;        /* may be NULL */
    void (*around)(void *context, bool begins); /* as there */
    void *context;
    struct origin_stream *stream; /* of a process or core; NULL: none */
    uint64_t watch; /* of a live process: its collections are watched for so many seconds before it
                       is read */
    struct g2h_ages *ages; /* of one that is being watched, or of copy: what is known so far, and
                              stays the caller's; NULL: none. watch is then 0 */
};

/*
 * Opens a file or reads a process. After an error, too, the caller closes the input and the
 * executable, if they are open, and calls origin_deinit(). Errors: those of g2h_input_open(),
 * g2h_exe_open(), g2h_process_read_core() and g2h_process_read_live().
 */
struct g2h_error *origin_open(const struct origin_options *options, struct origin *ret);

/* Opens the executable of a live process and lists its modules, as origin_open() does before it
 * reads the process. Errors: those of g2h_process_check() and g2h_exe_open(). Otherwise as above.
 */
struct g2h_error *origin_open_program(const struct origin_options *options, struct origin *ret);

/* Returns whether a process runs the go command, as in go run, or one of its tools: compile, link.
 */
bool origin_is_go_command(uint64_t pid);

/* Returns whether a process runs a Go program. */
bool origin_is_go(uint64_t pid);

/* Returns the nearest descendant of a process that is a Go program, but not the go command, and its
 * name; or 0 if it has none. */
uint64_t origin_find_child(uint64_t pid, struct text *name);

/* Makes this program the kernel's first choice, before the process that it reads, if memory runs
 * out; failure is ignored. Programs call this; the library does not change its caller. */
void origin_end_first(void);

void origin_deinit(struct origin *origin);

/* Returns whether memory was read wrongly, or overwritten by the program: more spans than the
 * process has threads, each of which may have been in malloc, differ from the runtime's count of
 * objects. */
bool origin_is_miscounted(const struct origin *origin);

/* Returns whether a process was read completely, without miscounted spans. */
bool origin_is_complete(const struct origin *origin);

#endif
