/*
 * loaded: the executable of a process: where it and libraries are loaded, whether it is the build
 * that the process runs, and whether the process has only just started it.
 */
#ifndef PROCESS_LOADED_H
#define PROCESS_LOADED_H

#include "exe/exe.h"
#include "process/attach/inject.h"
#include "process/attach/process.h"
#include "process/runtime.h"

/* ==== where a process has loaded an executable or a library ====
 *
 * A position-independent file may be anywhere. The process's entry point shows where the executable
 * is. Any file that is mapped from its start on may be a library, and it is the wanted one if the
 * moduledata there begins with the address of the pclntab, as in the file.
 *
 * So the functions of Go's runtime are found that a fork from outside borrows.
 */

/* Finds the distance from the addresses of a file to those in the process. If nothing in the
 * process matches the file, it is the distance for a file of the same name or, if there is none,
 * for the executable. Returns false if the file is a library that the process has not loaded. */
bool loaded_find(const struct process *process, const struct g2h_exe *exe, uint64_t *ret);

/* Finds runtime.futex and runtime.exit by the pclntab, which stripped programs have, too; 0 if they
 * are not found. Their code is checked when they are used. */
struct inject_code fork_code_find(uint64_t pid, const struct g2h_exe *exe);

/* ==== whether an executable is the build that a process runs ====
 *
 * Build IDs are not enough: builds may have none, or all have the same one, and a core may lack
 * them. So the build information, the sections that are never written to, the code, and the words
 * of the moduledata that never change are compared as well, as far as the process has them.
 */

/* Returns an error (G2H_ERROR_NOT_EXE) that names the difference if the executable is not the build
 * that the process runs. runtime->slide must be known; the layout need not be. */
struct g2h_error *same_build_check(const struct runtime *runtime);

/* Returns whether the first moduledata, at an address of a process, equals the executable's in the
 * words that the linker sets. runtime->layout must be known. Not for plugins: the dynamic linker
 * relocates their words. */
bool same_build_moduledata(const struct runtime *runtime, uint64_t address);

/* Code of an executable, and the process's bytes at its address. */
struct same_build_code {
    const uint8_t *file, *process;
    uint64_t size;
    uint64_t address; /* in the file */
    uint16_t machine; /* EM_… */
    const struct pclntab *pclntab;
    uint64_t minpc; /* in the file: start of the first function; 0: not known */
};

/* Finds the address, in the file, of the first byte that differs. Ignores breakpoints, and jumps
 * that a process has written to the beginning of its functions. Returns false if there is none. */
bool same_build_code_differs(const struct same_build_code *code, uint64_t *ret);

#endif
