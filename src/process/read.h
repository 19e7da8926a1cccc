/*
 * read: makes a dump of a core file or a live process; see include/go2heapsnapshot/process.h.
 *
 *   read                calls all of these; the memory and threads of a process from a core file;
 *                       which mapped files are Go
 *   loaded              where the one that is read is, and whether the executable is the one that
 *                       ran
 *   layout, layout_table
 *                       the offsets of the runtime's fields in each release
 *   runtime             the runtime's variables, found by symbols or by their contents
 *   spans, pointer_masks
 *                       which slots are objects, what is attached to them, which words are pointers
 *   unwind, goroutine_records
 *                       stacks
 *   age_looks, ages_read
 *                       since which collection each object lives
 *   process_memory      the runtime's numbers of its memory; RSS and its parts; its limit
 *   death_heap          which parts of the heap are copied first when a process dies
 *   record_buffer, records
 *                       the dump, as WriteHeapDump would have written it
 *   sampled_spans       which objects --sample reads
 *   give_back           gives the copy's memory back while the dump is written
 */
#ifndef PROCESS_READ_H
#define PROCESS_READ_H

#include <sys/stat.h>

#include <go2heapsnapshot/dump.h>
#include <go2heapsnapshot/input.h>
#include <go2heapsnapshot/process.h>

#include "process/attach/death.h"
#include "process/attach/process.h"

/* ==== ELF core files ====
 *
 * ELF core files, as the kernel, gdb's gcore and systemd-coredump write them (elf(5), core(5)).
 *
 * Only 64-bit little-endian cores are read. The file is untrusted: if a segment extends beyond the
 * file's end, its bytes in the file are used, and the others count as missing.
 */

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

/* ==== a dump of a process ====
 *
 * Reads the heap of a process whose memory has already been copied, at its end or earlier.
 */

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
