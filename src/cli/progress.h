/* progress: a line on the terminal that shows how far the conversion is. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <go2heapsnapshot/progress.h>

/* Returns the progress to pass to the library, or NULL if stderr is not a terminal. */
const struct g2h_progress *progress_start(void);

/* Shows a phase whose progress is unknown. progress may be NULL. */
void progress_begin(const struct g2h_progress *progress, const char *phase);

/* Removes the line, before anything else is printed. */
void progress_clear(void);

#endif
