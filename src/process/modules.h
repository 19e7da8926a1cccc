/* modules: which of the Go files that a process has mapped share the runtime that is read. */
#ifndef PROCESS_MODULES_H
#define PROCESS_MODULES_H

#include <go2heapsnapshot/process.h>

#include "process/runtime.h"

/* Sets is_read of each module that belongs to a runtime. */
void modules_mark(const struct runtime *runtime, struct g2h_modules *modules);

#endif
