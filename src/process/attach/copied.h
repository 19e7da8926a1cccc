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

/* Makes another space if the prepared one does not hold all pages, because the process has grown
 * far meanwhile. Returns whether there is one that does. */
bool copied_make_space(const struct attach_pages *pages, struct attach_space *space);

/* Opens a window (window.h) to the memory of a process in place of a copy in *ret. space is empty,
 * and must outlive it. Returns 0 or an errno value; EOVERFLOW: the address space cannot be
 * reserved. */
int copied_open_window(uint64_t pid, struct attach_space *space, struct process *ret);

/* Makes the process the owner of the space, which has its copy. */
void copied_hand_over(struct attach_space *space, struct process *process);

#endif
