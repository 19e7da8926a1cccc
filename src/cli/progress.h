/* progress: a line on the terminal that shows how far the conversion is. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <go2heapsnapshot/progress.h>

/* What a conversion does, by its output: which steps there are, and how long each takes. UNTYPED:
 * without an executable. */
enum progress_plan {
    PROGRESS_NONE,
    PROGRESS_REPORT,
    PROGRESS_REPORT_UNTYPED,
    PROGRESS_FILE,
    PROGRESS_FILE_UNTYPED,
    PROGRESS_PAGE,
    PROGRESS_PAGE_UNTYPED,
    PROGRESS_DATABASE,
    PROGRESS_DATABASE_UNTYPED,
};

/* Sets the plan of what follows; the lines then say how much of the whole is done. */
void progress_set_plan(enum progress_plan plan);

/* Returns the progress to pass to the library, or NULL if stderr is not a terminal. */
const struct g2h_progress *progress_start(void);

/* Shows a phase whose progress is unknown. progress may be NULL. */
void progress_begin(const struct g2h_progress *progress, const char *phase);

/* Removes the line, before anything else is printed. */
void progress_clear(void);

#endif
