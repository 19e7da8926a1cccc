/*
 * loaded: where a process has loaded an executable or a library.
 *
 * A position-independent file may be anywhere. The process's entry point shows where the executable
 * is. Any file that is mapped from its start on may be a library, and it is the wanted one if the
 * moduledata there begins with the address of the pclntab, as in the file.
 *
 * So the functions of Go's runtime are found that a fork from outside borrows.
 */
#ifndef PROCESS_LOADED_H
#define PROCESS_LOADED_H

#include "exe/exe.h"
#include "process/attach/inject.h"
#include "process/attach/process.h"

/* Finds the distance from the addresses of a file to those in the process. If nothing in the
 * process matches the file, it is the distance for a file of the same name or, if there is none,
 * for the executable. Returns false if the file is a library that the process has not loaded. */
bool loaded_find(const struct process *process, const struct g2h_exe *exe, uint64_t *ret);

/* Finds runtime.futex and runtime.exit by the pclntab, which stripped programs have, too; 0 if they
 * are not found. Their code is checked when they are used. */
struct inject_code fork_code_find(uint64_t pid, const struct g2h_exe *exe);

#endif
