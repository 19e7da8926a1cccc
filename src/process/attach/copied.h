/* copied: the data of a process's copy besides its bytes, whether the process goes on or dies. */
#ifndef PROCESS_ATTACH_COPIED_H
#define PROCESS_ATTACH_COPIED_H

#include "process/attach/process.h"
#include "process/attach/space.h"

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

/* Opens a window (window.h) to the memory of a process in place of a copy in *ret. space is empty,
 * and must outlive it. Returns 0 or an errno value; EOVERFLOW: the address space cannot be
 * reserved. */
int copied_open_window(uint64_t pid, struct attach_space *space, struct process *ret);

/* Does the same for the child of a fork, with what of its memory was wiped. */
int copied_open_child(uint64_t pid, const struct copied_wiped *wiped, struct attach_space *space,
                      struct process *ret);

/* Makes the process the owner of the space, which has its copy. */
void copied_hand_over(struct attach_space *space, struct process *process);

#endif
