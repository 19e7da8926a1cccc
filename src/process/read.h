/* read: reads the heap of a process whose memory has already been copied, at its end or earlier. */
#ifndef PROCESS_READ_H
#define PROCESS_READ_H

#include <sys/stat.h>

#include <go2heapsnapshot/dump.h>
#include <go2heapsnapshot/process.h>

#include "process/attach/death_copy.h"

/* The copy of a process that is to be read. */
struct process_copy {
    struct process process; /* its name is account.name; goes to process_deinit() */
    struct attach_account account;
    struct death_loss loss; /* of a process that has ended */
    struct stat source;     /* /proc/PID/mem: only users who may read it may read outputs */
    struct g2h_ending ending;
};

/* Makes a dump as g2h_process_read_live() does, with the same errors. exe is the executable, opened
 * while the process existed. Memory that the copy lacks counts as missing in ret_account. */
struct g2h_error *process_read_copy(struct process_copy *copy, struct g2h_exe *exe,
                                    const struct g2h_process_options *options,
                                    struct g2h_process_account *ret_account,
                                    struct g2h_memory *ret_memory, struct g2h_input **ret);

#endif
