/*
 * death_box: prepares to copy a Go process at its end, and copies it then; where the copy goes, and
 * the files that --at-death writes.
 */
#ifndef LIBRARY_DEATH_BOX_H
#define LIBRARY_DEATH_BOX_H

#include <stdbool.h>
#include <stdint.h>

#include <go2heapsnapshot/error.h>

#include "library/origin.h"
#include "process/age_looks.h"
#include "process/attach/available.h"
#include "process/attach/death.h"
#include "process/death_heap.h"
#include "process/read.h"

/* ==== the files that --at-death writes into a directory ==== */

/* The parts of a file's name: "server-1234-20261127T125011Z-90%.dump.gz". */
struct death_file {
    const char *program; /* characters other than those of file names become "_" */
    uint64_t pid;
    int64_t seconds;    /* the moment, since 1970 */
    const char *remark; /* "-90%", "-asked", or "" */
    const char *suffix; /* ".dump.gz" */
};

/* Returns the path of a file in a directory, from malloc(); NULL: memory has run out. */
char *death_file_path(const char *directory, const struct death_file *file);

/*
 * Removes the oldest files of a program from a directory until `most` of them remain, at least one.
 * They are regular files that death_file_path() has named, with the suffix of `last`, of any
 * process with the program's name. `last` itself, the newest, stays, and so do all other files.
 * Sets how many were removed, also with an error. Errors: G2H_ERROR_SYSTEM: the directory cannot be
 * read, or a file cannot be removed; G2H_ERROR_MEMORY.
 */
struct g2h_error *death_files_trim(const char *directory, const struct death_file *last,
                                   uint64_t most, uint64_t *ret);

/* Returns how many bytes this user may still write into a directory; UINT64_MAX: not known. */
uint64_t death_files_room(const char *directory);

/* ==== where the temporary copy of a heap is ====
 *
 * A heap is written to a temporary file first, uncompressed. What is wrong with its directory, such
 * as a root file system that is read-only, must be known before the process ends. So the directory
 * is the best of several: $TMPDIR, if that is set, that of the output, /tmp, and memory.
 */

struct scratch {
    const char *output; /* a file or a directory */
    bool is_directory;
    unsigned part;         /* the output takes this part of the heap's bytes: 1, or 3 for a third */
    int file;              /* an empty one in the directory, if that is on a disk; -1: none */
    char directory[4096];  /* the one chosen; "": memory */
    uint64_t needed, free; /* bytes in the directory, with the output if that is there as well */
    bool has_room;
    uint64_t output_needed, output_free; /* the same of the output; 0 if it is in the directory */
    bool has_output_room;
};

/* Chooses the directory for a heap of so many bytes, by creating a file that has no name in each of
 * them, and measures the room. The caller sets scratch->output, is_directory, part and, at first to
 * -1, file. */
void scratch_choose(struct scratch *scratch, uint64_t bytes);

void scratch_deinit(struct scratch *scratch);

/* Measures the room again. Returns how many bytes of a heap of so many have room. */
uint64_t scratch_measure(struct scratch *scratch, uint64_t bytes);

/* Has this program create its temporary files in the directory. */
void scratch_use(const struct scratch *scratch);

/* ==== prepares to copy a Go process at its end, and copies it then ====
 *
 * Everything that the copy needs is set up in advance: one thread is seized
 * (process/attach/death.h), memory is reserved and grows with the process, and the executable is
 * open, because its path leads nowhere later. All functions must be called by the same thread of
 * this program.
 */

struct death_box {
    uint64_t pid;
    const char *exe;  /* the executable given by the user; NULL: that of the process */
    unsigned threads; /* as in struct origin_options */
    unsigned memory;  /* as there: what is done with the copy, for which memory has to be left */
    int spill;        /* as in struct death_order; the caller's */
    uint64_t spill_most;
    bool holds;            /* the process stays stopped at its end after it has been copied */
    uint64_t ages_seconds; /* since when objects live is watched, for so long or longer; 0: not */
    struct death_watch watch;
    struct death_reserve reserve; /* reserve.most is the caller's */
    struct death_heap heap;
    struct ages_follow ages;
    struct origin program; /* the executable and the modules */
    char name[64];         /* of the process: "server" */
    char limit[1024];      /* the file with its memory limit; "": there is none */
    bool is_ready;         /* program and heap are those of the running program */
    uint64_t resident;     /* bytes when memory was last reserved */
    uint64_t last, growth; /* bytes at the last look; how many more they become from look to look */
    double tried;          /* when that was */
    uint64_t own;          /* bytes that are not of files, at the last look */
    unsigned looked;       /* how often the heap was searched for */
    struct oom_count kills; /* before the process can have been killed: death_box_note_kills() */
    struct oom_count last_kills;
    bool has_kills; /* both are known */
};

/* A process that has been copied, at its end or before, and the state at that moment. */
struct death {
    struct process_copy copy;
    struct origin program;
    struct g2h_ages *ages; /* the box's: since when its objects live; NULL: not watched */
    char name[64];
};

/* Records how many processes have been killed for lack of memory, so that the end of this one can
 * be told from a kill by others. The functions below do so, too; to be called for a process that
 * certainly is not killed yet and may be before these. */
void death_box_note_kills(struct death_box *box);

/*
 * Prepares for what the process runs now: opens the executable, and finds the heap; memory is
 * reserved by the next function. To be called again after execve(). Errors: those of
 * g2h_exe_open(): it is not Go; G2H_ERROR_SYSTEM: it may not be read, or has ended;
 * G2H_ERROR_MEMORY.
 */
struct g2h_error *death_box_prepare(struct death_box *box);

/* Reserves memory for the copy. Stops when a signal is pending: death_box_keep_up() continues.
 * Errors: G2H_ERROR_SYSTEM, G2H_ERROR_MEMORY. */
struct g2h_error *death_box_reserve(struct death_box *box);

/* Reserves more memory if the process has grown, and records what has to be known before its end.
 * To be called a few times per second. Errors: G2H_ERROR_SYSTEM, G2H_ERROR_MEMORY. */
struct g2h_error *death_box_keep_up(struct death_box *box);

/* Begins to watch since when objects live, if that is wanted and the heap is known; after an error,
 * it is not any more. Errors: those of g2h_ages_begin() and g2h_ages_watch(). */
struct g2h_error *death_box_keep_ages(struct death_box *box);

/* Returns the resident bytes of the process. */
uint64_t death_box_resident(const struct death_box *box);

/* Copies the process, whose thread has stopped at its end, and lets it end unless box->holds. *ret
 * goes to death_deinit() in any case. Errors: G2H_ERROR_SYSTEM, G2H_ERROR_MEMORY. */
struct g2h_error *death_box_copy(struct death_box *box, struct death *ret);

/* Copies the process while it lives, by stopping all of its threads; it must not be seized. The
 * memory that was reserved is used up. Otherwise as above. death_box_take_back() makes the box
 * ready again, once the copy is not needed here any more. */
struct g2h_error *death_box_copy_living(struct death_box *box, struct death *ret);

void death_box_take_back(struct death_box *box, struct death *death);

/* Releases the process. */
void death_box_deinit(struct death_box *box);

void death_deinit(struct death *death);

#endif
