/* fork_code: finds the functions of Go's runtime in a process that a fork from outside borrows. */
#ifndef PROCESS_FORK_CODE_H
#define PROCESS_FORK_CODE_H

#include "exe/exe.h"
#include "process/attach/inject.h"

/* Finds runtime.futex and runtime.exit by the pclntab, which stripped programs have, too; 0 if they
 * are not found. Their code is checked when they are used. */
struct inject_code fork_code_find(uint64_t pid, const struct g2h_exe *exe);

#endif
