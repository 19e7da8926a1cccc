/* progress: a line on the terminal that shows how far the conversion is. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <go2heapsnapshot/progress.h>

/* Returns the progress to hand to the library, or NULL if stderr is no terminal. */
const struct g2h_progress *progress_start(void);

/* Shows a phase of which it is not known how far it is. progress may be NULL. */
void progress_begin(const struct g2h_progress *progress, const char *phase);

/* Removes the line, before anything else is printed. */
void progress_clear(void);

#endif
