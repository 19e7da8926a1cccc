/*
 * Heaps of processes that did not call WriteHeapDump: from ELF core files, and from live processes.
 *
 * Both functions return an input with the bytes that runtime/debug.WriteHeapDump would have written
 * at that moment, in a temporary file; all further steps treat it as a dump. They support Go 1.19
 * and later on 64-bit little-endian machines, and need the executable, stripped or not.
 */
#ifndef GO2HEAPSNAPSHOT_PROCESS_H
#define GO2HEAPSNAPSHOT_PROCESS_H

#include <go2heapsnapshot/exe.h>
#include <go2heapsnapshot/input.h>
#include <go2heapsnapshot/memory.h>
#include <go2heapsnapshot/progress.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

/*
 * A mapped file that contains Go code: the executable of a process, or a library
 * (-buildmode=c-shared, plugin). Plugins share the runtime of the program that loads them. Each
 * other library has a runtime of its own, with its own heap and goroutines: to read it, pass its
 * file instead of the executable.
 */
struct g2h_module {
    char *path; /* its path in the process */
    char *file; /* its path for opening it now; for a live process below /proc/PID */
    /* The reading functions set these: */
    bool is_read;   /* its heap was read, or it shares that runtime */
    bool is_plugin; /* it shares the program's runtime */
};

/* Sorted by path. */
struct g2h_modules {
    struct g2h_module *list;
    size_t count;
    size_t left_out; /* mapped files that were not examined: only the first 65,536 by path are */
};

/*
 * Finds the Go modules of a live process or of a core, as far as their files exist now. If the
 * process may not be read, there are none. *ret goes to g2h_modules_deinit(). Errors:
 * G2H_ERROR_MEMORY; those of a core that cannot be read.
 */
G2H_PUBLIC struct g2h_error *g2h_process_modules(uint64_t pid, struct g2h_modules *ret);
G2H_PUBLIC struct g2h_error *g2h_core_modules(const struct g2h_input *core,
                                              struct g2h_modules *ret);
G2H_PUBLIC void g2h_modules_deinit(struct g2h_modules *modules);

/* What was read, and what is missing. */
struct g2h_process_account {
    bool by_dwarf; /* the field offsets of the runtime's structures come from DWARF; otherwise from
                      a table */
    uint64_t threads;          /* threads whose registers are known */
    uint64_t threads_stuck;    /* threads that did not stop, whose registers are not known */
    uint64_t threads_in_vfork; /* of these, threads that wait for a child of vfork() */
    bool is_frozen;            /* because their control group is frozen */
    uint64_t memory_bytes;     /* available bytes; for a live process, resident bytes */
    uint64_t file_missing;     /* bytes that a core's headers promise but the file does not have;
                                  for a process that was copied at its end, bytes that could not be
                                  copied */
    uint64_t file_size;        /* size that the core file, or the copy, should have */
    bool is_dead;              /* the process was copied at its end, with the registers of only one
                                  thread */
    double stopped;            /* seconds for which a live process was stopped */
    int urgent_error;   /* why the threads that stopped and copied it did not get real-time priority
                           (SCHED_RR): an errno value; 0: they did */
    bool is_forked;     /* it was stopped only to be forked, and the child was read */
    bool is_window;     /* the child was read piecemeal while the dump was written, without a copy,
                           for lack of memory */
    uint64_t collapsed; /* bytes that were collapsed into huge pages for the fork, or were huge
                           pages before */
    int collapse_error; /* why not all memory was collapsed: an errno value; 0: no error */
    bool is_left; /* the child has exited, but stays a zombie of the process until that exits, or
                     until the process is forked again */
    char not_forked[200]; /* why the requested fork was not used; "": it was, or none was
                             requested */

    uint64_t spans, spans_unswept, span_bytes; /* spans of objects, those not swept since the last
                                                  collection, and their size */
    uint64_t manual_bytes; /* bytes of spans without objects: stacks, also free ones, and the
                              like */
    uint64_t objects, object_bytes;
    uint64_t spans_missing;                  /* spans whose description is not available in full */
    uint64_t objects_missing, missing_bytes; /* objects without contents, which are left out */
    uint64_t masks_missing; /* objects whose pointers are not known, so that all their words count
                               as pointers */
    uint64_t spans_miscounted; /* swept spans whose number of objects differs from the count that
                                  the runtime keeps */
    uint64_t goroutines, frames;
    uint64_t stack_words; /* words of live stack objects, which WriteHeapDump does not list */
    uint64_t goroutines_running; /* goroutines that were running, whose stacks start at their
                                    threads' registers */
    uint64_t goroutines_scanned; /* in a process that was copied at its end: goroutines that were
                                    running in other threads; all words of their stacks count as
                                    pointers, and their frames are not known */
    uint64_t stacks_incomplete;  /* stacks whose unwinding ended too early, or that lack a frame */
    uint64_t data_left_out;      /* bytes of variables without pointers that the dump does not have,
                                    as they are too many */
    uint64_t words_missing;      /* other words that were needed but are missing */
    uint64_t frames_conservative; /* stack frames, and variables in them, whose pointers are not
                                     known, so that all their words count as pointers */
};

/*
 * The ages of a live process's objects: since which collection each one lives. While the process
 * goes on, without a stop, the marks of its heap are read after each collection. The dump that is
 * then made of the process has the ages.
 */
struct g2h_ages;

struct g2h_ages_account {
    uint64_t seen, missed; /* collections since the beginning */
    uint64_t unread;       /* spans that could not be read after a collection, all together */
    uint64_t again;   /* looks that were repeated, because the process changed what they read */
    uint64_t bytes;   /* that were read */
    double seconds;   /* of this program's processor time */
    bool is_left_out; /* the process that was read was not the one that was watched any more, so the
                         dump has no ages but those of its last collection */
};

/* Begins to watch a live process. *ret goes to g2h_ages_destroy(). Errors: those of
 * g2h_process_read_live(). */
G2H_PUBLIC struct g2h_error *g2h_ages_begin(uint64_t pid, struct g2h_exe *exe,
                                            struct g2h_ages **ret);

/* Watches for some seconds; progress may be NULL. Error: G2H_ERROR_SYSTEM: the process has ended,
 * or runs another program; G2H_ERROR_MEMORY. */
G2H_PUBLIC struct g2h_error *g2h_ages_watch(struct g2h_ages *ages, double seconds,
                                            const struct g2h_progress *progress);
G2H_PUBLIC void g2h_ages_get(const struct g2h_ages *ages, struct g2h_ages_account *ret);
G2H_PUBLIC void g2h_ages_destroy(struct g2h_ages *ages);

struct g2h_process_options {
    unsigned threads;                    /* 0: one per processor */
    const struct g2h_progress *progress; /* may be NULL */
    struct g2h_modules *modules;         /* whose is_read is set; may be NULL */
    unsigned memory; /* memory that the caller needs for the dump of a live process, in percent of
                        its resident memory (struct g2h_format); 0: less than the copy. If there is
                        not enough, the process is refused without being stopped */
    bool forks; /* a live process is stopped only while the kernel forks it, from outside, and the
                   child is copied. If that is not possible or not safe, the process itself is
                   copied */
    bool collapses; /* before forking, the process's memory is collapsed into huge pages while it
                       runs: the pause is then about a millisecond per GB. Takes seconds of this
                       program's processor time per GB, and needs Linux 6.1 and CAP_SYS_NICE */
    void (*around)(void *context, bool begins); /* called just before a live process is traced, with
                                                   true, and once it is not any more; or NULL */
    void *context;
    struct g2h_ages *ages; /* of this process, to which the dump adds a look; NULL: none */
    /* Gets the bytes of the dump in their order, and how many zeros follow them, while it is made:
     * no temporary file is needed, and *ret becomes an input without bytes. After an error some
     * bytes may have been passed on. NULL: *ret has the bytes. */
    struct g2h_error *(*stream)(void *stream_context, const void *data, size_t size,
                                uint64_t zeros);
    void *stream_context;
    const char *stream_directory; /* whose disk gets these bytes as they are; NULL: none */
    unsigned object_memory; /* memory that the caller needs for each object of a live process, in
                               bytes (struct g2h_format); 0: none */
    uint64_t largest_array; /* bytes that the dump has of an object without pointers; 0: all */
    uint64_t sample; /* every so manieth span is read, and what is needed to find what holds its
                        objects: g2h_heap_sample(); 0: all */
    uint64_t sample_seed;  /* another one chooses other spans */
    uint64_t most_objects; /* of a live process that the caller can use; 0: no limit */
    const char *beyond;    /* what that limit is, for a message: "that can be read" */
};

/*
 * Makes a dump from a core file. exe is the executable that ran, or the library whose heap is
 * wanted. options may be NULL. Errors: G2H_ERROR_NOT_DUMP: the input is not a supported core;
 * G2H_ERROR_NOT_EXE: exe is not the executable that ran, or is of an unknown release or machine;
 * G2H_ERROR_DAMAGED: the core lacks the runtime's own variables, so nothing can be read;
 * G2H_ERROR_SYSTEM (temporary file), G2H_ERROR_MEMORY.
 */
G2H_PUBLIC struct g2h_error *g2h_process_read_core(const struct g2h_input *core,
                                                   struct g2h_exe *exe,
                                                   const struct g2h_process_options *options,
                                                   struct g2h_process_account *ret_account,
                                                   struct g2h_input **ret);

/* Returns an error if a process cannot be read, whatever it runs: it does not exist, has exited, is
 * this program or a kernel thread, is already traced, or is not visible from here. Outside Linux no
 * process can be read. */
G2H_PUBLIC struct g2h_error *g2h_process_check(uint64_t pid);

/*
 * Makes a dump from a live process, which is stopped only while its memory is copied. exe is
 * /proc/PID/exe, a library of it, or a copy of one of these; if it cannot be opened, pass NULL to
 * get the error that says why. Linux only. Errors: those of g2h_process_read_core();
 * G2H_ERROR_SYSTEM: the process cannot be traced; the message says what would help;
 * G2H_ERROR_STARTING. *ret_memory goes to g2h_memory_deinit(), after an error, too.
 */
G2H_PUBLIC struct g2h_error *g2h_process_read_live(uint64_t pid, struct g2h_exe *exe,
                                                   const struct g2h_process_options *options,
                                                   struct g2h_process_account *ret_account,
                                                   struct g2h_memory *ret_memory,
                                                   struct g2h_input **ret);

/*
 * Returns a number that identifies the program that a live process runs now: it changes with
 * execve(). 0: the process does not exist, may not be read, or is in execve(). If the number
 * changed while a process was read, the data may be of either program, so errors may be misleading.
 */
G2H_PUBLIC uint64_t g2h_process_image(uint64_t pid);

/* Returns whether a live process started only a few seconds ago: it may still be in fork(), or not
 * have loaded all its libraries. */
G2H_PUBLIC bool g2h_process_is_new(uint64_t pid);

/* Returns the memory limit of a live process's control groups, in bytes: the limit that leaves
 * least, and *ret_left is how much; page cache counts as left. Returns 0 if there is none, if the
 * machine itself has less left, or if the groups are not visible from here. Linux only; elsewhere
 * there is none. */
G2H_PUBLIC uint64_t g2h_process_limit(uint64_t pid, uint64_t *ret_left);

/* Returns whether an input is a core file, of any kind. */
G2H_PUBLIC bool g2h_input_is_core(const struct g2h_input *input);

/* Gets the path of the executable that a core names, which the caller frees; NULL if it names
 * none. */
G2H_PUBLIC struct g2h_error *g2h_core_executable(const struct g2h_input *core, char **ret);

G2H_END

#endif
