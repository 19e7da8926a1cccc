/*
 * core: ELF core files, as the kernel, gdb's gcore and systemd-coredump write them (elf(5),
 * core(5)).
 *
 * Only 64-bit little-endian cores are read. The file is untrusted: if a segment extends beyond the
 * file's end, its bytes in the file are used, and the others count as missing.
 */
#ifndef PROCESS_CORE_H
#define PROCESS_CORE_H

#include <go2heapsnapshot/input.h>

#include "process/attach/process.h"

struct core_account {
    uint64_t segments;
    uint64_t missing; /* bytes that the headers promise but the file does not have */
    uint64_t size;    /* bytes that the file should have had */
};

/*
 * Reads a core. The input must outlive *ret, which goes to process_deinit() after an error, too.
 *
 * Errors: G2H_ERROR_NOT_DUMP: the file is not a core, is of another kind, or has no segments with
 * memory; G2H_ERROR_MEMORY.
 */
struct g2h_error *core_read(const struct g2h_input *input, struct process *ret,
                            struct core_account *ret_account);

#endif
