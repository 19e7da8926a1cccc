/* origin: where a heap comes from: a dump, a core file, or a live process. */
#ifndef CLI_ORIGIN_H
#define CLI_ORIGIN_H

#include <go2heapsnapshot/process.h>

#include "cli/options.h"

struct origin {
    struct g2h_input *input; /* the dump, or a dump that was made of the process */
    struct g2h_exe *exe;     /* the executable that had to be opened for that; NULL: none yet */
    bool is_process; /* input was made of a core or a process, which this is the account of */
    struct g2h_process_account account;
    struct g2h_memory memory;         /* of a live process */
    struct g2h_modules modules;       /* of a core or a process */
    const struct g2h_module *library; /* of modules, which was chosen because the program is not
                                         Go; NULL: none */
};

/*
 * Opens the file at path, or reads the process options->pid. After an error, too, the caller closes
 * the input and the executable that are there, and calls origin_deinit(). Errors: those of
 * g2h_input_open(), g2h_exe_open(), g2h_process_read_core() and g2h_process_read_live().
 */
struct g2h_error *origin_open(const struct options *options, const char *path,
                              const struct g2h_progress *progress, struct origin *ret);

void origin_deinit(struct origin *origin);

/* Returns whether nothing that was to be read of a process was missing. */
bool origin_is_complete(const struct origin *origin);

#endif
