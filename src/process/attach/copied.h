/* copied: what belongs to the copy of a process besides its bytes, whether it goes on or dies. */
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

/* Notes which pages are there. Returns 0 or an errno value. */
int copied_note_resident(const struct attach_pages *pages, struct process *ret);

/* Notes how the system counts the pages of a process by mapping. Without that the heap is still
 * read. */
void copied_note_smaps(uint64_t pid, struct process *ret);

/* Makes another space if the prepared one does not hold all pages, because the process has grown
 * far meanwhile. Returns whether there is one that does. */
bool copied_make_space(const struct attach_pages *pages, struct attach_space *space);

/* Gives *ret a window (window.h) to the memory of a process in place of a copy. space is empty, and
 * must outlive it. Returns 0 or an errno value; EOVERFLOW: the system does not give the addresses.
 */
int copied_open_window(uint64_t pid, struct attach_space *space, struct process *ret);

/* Makes the process the owner of the space, which has its copy. */
void copied_hand_over(struct attach_space *space, struct process *process);

#endif
