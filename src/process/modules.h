/* modules: which of the Go files mapped by a process share the runtime that is read. */
#ifndef PROCESS_MODULES_H
#define PROCESS_MODULES_H

#include <go2heapsnapshot/process.h>

#include "process/runtime.h"

/* Sets is_read of each module that belongs to a runtime, and adds those other than the program to
 * it. Error: G2H_ERROR_MEMORY. */
struct g2h_error *modules_read(struct runtime *runtime, struct process *process,
                               struct g2h_modules *modules);

#endif
