/* origin: where a heap comes from: a dump, a core file, or a live process. */
#ifndef CLI_ORIGIN_H
#define CLI_ORIGIN_H

#include <go2heapsnapshot/process.h>

#include "cli/options.h"

struct origin {
    struct g2h_input *input; /* the dump, or one that was made */
    struct g2h_exe *exe;     /* what had to be opened for that; NULL: none yet */
    bool is_process;         /* it was made, of which this is the account */
    struct g2h_process_account account;
};

/*
 * Opens the file at path, or the process that options->pid is. What is there after an error is the
 * caller's to close, too. Errors: those of g2h_input_open(), g2h_exe_open(),
 * g2h_process_read_core() and g2h_process_read_live().
 */
struct g2h_error *origin_open(const struct options *options, const char *path,
                              const struct g2h_progress *progress, struct origin *ret);

/* Whether all that was wanted of a process was there. */
bool origin_is_complete(const struct origin *origin);

#endif
