/*
 * copy: copies pages of another process, and what else is known of it.
 */
#ifndef ATTACH_COPY_H
#define ATTACH_COPY_H

#include <go2heapsnapshot/progress.h>

#include "process/attach/pages.h"
#include "process/attach/process.h"

/* ==== copies pages of another process ==== */

struct attach_copied {
    uint64_t bytes, reads; /* bytes that were copied, and the system calls for them */
    uint64_t unreadable;   /* bytes of pages that cannot be read, for example beyond a file's end */
};

/*
 * Whose pages are copied: those of a stopped process, which waits, so that the threads are as
 * urgent as stop.h makes them; or of the child of a fork, which nothing waits for.
 */
struct attach_source {
    uint64_t pid;
    bool is_child;
};

/*
 * Copies pages to their positions in space, and adds those that could be read to memory. A child is
 * read through /proc/PID/mem: for process_vm_readv(2), which pins pages, the kernel would first
 * copy each page that the child shares with its parent (FOLL_PIN, since Linux 5.19), and charge the
 * parent's control group for it. Returns 0 or an errno value, such as ESRCH if the process has
 * ended; after an error memory must not be used. It may be called for one part of the pages after
 * the other.
 */
int attach_copy_pages(struct attach_source source, const struct attach_pages *pages,
                      const struct attach_space *space, const struct g2h_progress *progress,
                      struct memory *memory, struct attach_copied *ret);

/* ==== the data of a process's copy besides its bytes, whether the process goes on or dies ==== */

/* Finds the machine of a process, which must be the machine of this program, because the registers
 * are read in this machine's layout. Errors: G2H_ERROR_NOT_DUMP: it is another one;
 * G2H_ERROR_SYSTEM. */
struct g2h_error *copied_check_machine(uint64_t pid, uint16_t *ret);

/* Returns the path that the process's executable had, or NULL. The file may have been removed or
 * replaced since. */
char *copied_executable(uint64_t pid);

/* Records which pages are resident. Returns 0 or an errno value. */
int copied_note_resident(const struct attach_pages *pages, struct process *ret);

/* Records the system's counts of the process's pages by mapping. The heap can be read without
 * them. */
void copied_note_smaps(uint64_t pid, struct process *ret);

/* Memory that the child of a fork does not get (MADV_WIPEONFORK): a copy of its parent's. */
struct copied_wiped {
    struct attach_pages pages;
    struct attach_space space;
};

/* Copies these ranges of a stopped process. Returns 0 or an errno value. *ret goes to
 * copied_wiped_deinit() in any case. */
int copied_take_wiped(uint64_t pid, const struct ranges *ranges, struct copied_wiped *ret);

void copied_wiped_deinit(struct copied_wiped *wiped);

/* Puts such memory in place of the child's zeros: first into its pages, then, when there is a space
 * for these, the bytes into the space. copied_mark_wiped() returns false if memory runs out. */
bool copied_mark_wiped(const struct copied_wiped *wiped, struct attach_pages *pages);

void copied_fill_wiped(const struct copied_wiped *wiped, const struct attach_pages *pages,
                       const struct attach_space *space);

/* Makes another space if the prepared one does not hold all pages, because the process has grown
 * far meanwhile. Returns whether there is one that does. */
bool copied_make_space(const struct attach_pages *pages, struct attach_space *space);

/* Opens a window (process.h) to the memory of a process in place of a copy in *ret. space is empty,
 * and must outlive it. Returns 0 or an errno value; EOVERFLOW: the address space cannot be
 * reserved. */
int copied_open_window(uint64_t pid, struct attach_space *space, struct process *ret);

/* Does the same for the child of a fork, with what of its memory was wiped. */
int copied_open_child(uint64_t pid, const struct copied_wiped *wiped, struct attach_space *space,
                      struct process *ret);

/* Makes the process the owner of the space, which has its copy. */
void copied_hand_over(struct attach_space *space, struct process *process);

/* Opens a window to the memory of a process that goes on. Returns 0 or an errno value. */
int copied_open_live(uint64_t pid, struct process *ret);

#endif
