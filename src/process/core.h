/*
 * core: ELF core files, as the kernel, gdb's gcore and systemd-coredump write them (elf(5),
 * core(5)).
 *
 * 64-bit little-endian ones. The file is untrusted: a segment that lies beyond the end has what is
 * there of it, and the rest is said to be missing.
 */
#ifndef PROCESS_CORE_H
#define PROCESS_CORE_H

#include <go2heapsnapshot/input.h>

#include "process/process.h"

struct core_account {
    uint64_t segments;
    uint64_t missing; /* bytes that the headers promise and the file does not have */
    uint64_t size;    /* that the file should have had */
};

/*
 * Reads one. The input must outlive *ret, which goes to process_deinit() after an error, too.
 * Errors: G2H_ERROR_NOT_DUMP: it is no core, of another kind, or without segments;
 * G2H_ERROR_MEMORY.
 */
struct g2h_error *core_read(const struct g2h_input *input, struct process *ret,
                            struct core_account *ret_account);

#endif
