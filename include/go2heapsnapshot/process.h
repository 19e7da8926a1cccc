/*
 * Heaps of processes that did not call WriteHeapDump: of ELF core files, and of live processes.
 *
 * Both give an input that has the bytes that runtime/debug.WriteHeapDump would have written at that
 * moment, in a temporary file; from there on all is as with a dump. Go 1.19 and later, on 64-bit
 * little-endian machines; the executable is needed, stripped or not.
 */
#ifndef GO2HEAPSNAPSHOT_PROCESS_H
#define GO2HEAPSNAPSHOT_PROCESS_H

#include <go2heapsnapshot/exe.h>
#include <go2heapsnapshot/input.h>
#include <go2heapsnapshot/progress.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

/* How it went, and what is not there. */
struct g2h_process_account {
    bool by_dwarf;    /* it is known by DWARF where the runtime has its fields; else by a table */
    uint64_t threads; /* whose registers are there */
    uint64_t memory_bytes; /* that are there: of a live process those that are resident */
    uint64_t file_missing; /* bytes that a core's headers promise and the file does not have */
    uint64_t file_size;    /* that the core should have */
    double stopped;        /* seconds that a live process stood still */

    uint64_t spans, spans_unswept, span_bytes; /* of objects */
    uint64_t manual_bytes;                     /* of spans of stacks, free ones too, and the like */
    uint64_t objects, object_bytes;
    uint64_t spans_missing;                  /* of which not all that describes them is there */
    uint64_t objects_missing, missing_bytes; /* whose contents are not there, and left out */
    uint64_t masks_missing;                  /* objects whose pointers are not known */
    uint64_t spans_miscounted;               /* swept, with another number of objects than the
                                                runtime counts */
    uint64_t goroutines, frames;
    uint64_t stack_words; /* of stack objects that are alive, which WriteHeapDump does not list */
    uint64_t goroutines_running; /* stopped at their registers */
    uint64_t stacks_incomplete;  /* the way up ended too early */
    uint64_t words_missing;      /* other words that were wanted */
};

struct g2h_process_options {
    unsigned threads;                    /* 0: one per processor */
    const struct g2h_progress *progress; /* may be NULL */
};

/*
 * Makes a dump of a core file. exe is the executable that ran. options may be NULL.
 * Errors: G2H_ERROR_NOT_DUMP: it is no core of a kind that is read; G2H_ERROR_NOT_EXE: exe is not
 * what ran, or of a release or machine that is not known; G2H_ERROR_DAMAGED: nothing can be said,
 * for the runtime's own variables are not there; G2H_ERROR_SYSTEM (temporary file),
 * G2H_ERROR_MEMORY.
 */
G2H_PUBLIC struct g2h_error *g2h_process_read_core(const struct g2h_input *core,
                                                   struct g2h_exe *exe,
                                                   const struct g2h_process_options *options,
                                                   struct g2h_process_account *ret_account,
                                                   struct g2h_input **ret);

/*
 * The same of a live process, which is stopped only as long as it takes to copy its memory. exe is
 * /proc/PID/exe, or a copy of it; NULL, where that cannot be opened, for the error that says why.
 * Linux only. Errors: those above; G2H_ERROR_SYSTEM: it cannot be traced, with what would help.
 */
G2H_PUBLIC struct g2h_error *g2h_process_read_live(uint64_t pid, struct g2h_exe *exe,
                                                   const struct g2h_process_options *options,
                                                   struct g2h_process_account *ret_account,
                                                   struct g2h_input **ret);

/* Whether an input is a core file, of whatever kind. */
G2H_PUBLIC bool g2h_input_is_core(const struct g2h_input *input);

/* The path that the executable of a core had, which the caller frees; NULL where it does not say.
 */
G2H_PUBLIC struct g2h_error *g2h_core_executable(const struct g2h_input *core, char **ret);

G2H_END

#endif
