/* options: the command line. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <go2heapsnapshot/output.h>

enum exit_status {
    EXIT_FINE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_DAMAGED = 3, /* the input was cut or damaged; what could be read was written */
};

struct options {
    const char *
        *inputs; /* malloced: input_count dumps, in their order; of several, a series is made */
    size_t input_count;
    const char *base;     /* of a format that takes it; NULL: none. Else it is the first input */
    const char *base_exe; /* the executable that wrote it; NULL: the same as exe */
    uint64_t pid;         /* 0: none; else there are no inputs */
    const char *exe;      /* NULL: none */
    const char *output;   /* NULL: standard output; of a series a directory */
    const struct g2h_format *format;
    const char *by;      /* which one of that name; NULL: the usual one */
    const char *path_to; /* an object or a class, of a format that takes it; NULL: none */
    bool json;           /* of a format that takes it */
    bool is_dump;        /* the heap dump itself is wanted, in no format */
    bool untyped_ok;     /* goes on without types where exe does not fit */
    bool redact, reachable, no_stacks, no_contexts, full_names;
    const char *redact_key; /* a file; NULL: none */
    uint64_t max_nodes;     /* 0: any number */
    bool summary, append;   /* --append takes the former */
    const char **labels;    /* malloced: label_count of --label */
    size_t label_count;
    bool gzip, verbose;
    uint64_t memprofile_rate; /* 0: not given */
    unsigned threads;         /* 0: one per processor */
};

/*
 * Reads the command line. True: go on with *ret. False: end with *ret_status; --help, --version or
 * what is wrong with the command line has been printed. ret must be given to options_deinit() in
 * both cases.
 */
bool options_parse(int argc, char **argv, struct options *ret, int *ret_status);
void options_deinit(struct options *options);

#endif
