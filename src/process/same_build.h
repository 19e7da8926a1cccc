/*
 * same_build: whether an executable is the build that a process runs.
 *
 * Build IDs are not enough: builds may have none, or all have the same one, and a core may lack
 * them. So the build information, the sections that are never written to, the code, and the words
 * of the moduledata that never change are compared as well, as far as the process has them.
 */
#ifndef PROCESS_SAME_BUILD_H
#define PROCESS_SAME_BUILD_H

#include "process/runtime.h"

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
