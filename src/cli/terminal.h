/*
 * terminal: what a terminal shows: how far the conversion is, text as wide as it, and a pager if
 * that is longer than the screen.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>

#include <go2heapsnapshot/error.h>
#include <go2heapsnapshot/progress.h>

#include "cli/options.h"

/* ==== a line on the terminal that shows how far the conversion is ==== */

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

/* ==== properties of the terminal for text output ==== */

/* Returns whether the output goes to a terminal. */
bool terminal_is_output(const struct options *options);

/* Returns whether standard output is a pipe or a socket. */
bool terminal_output_is_pipe(void);

/* Returns the width of a report: COLUMNS, as for other programs, else that of the terminal; 0: the
 * report chooses. */
unsigned terminal_columns(const struct options *options);

/* Returns whether the output may have colour: not if NO_COLOR is set (no-color.org), and not on a
 * terminal without colours. */
bool terminal_has_color(const struct options *options);

/* ==== shows output on a terminal, by a pager if it is longer than the screen ==== */

/* Returns a descriptor of a file without a name that collects the output, or -1 if the system has
 * none. */
int pager_collect(void);

/*
 * Shows the file of pager_collect() on standard output, and closes it: by $PAGER, else by less;
 * directly if there is no pager, or the terminal is dumb. LESS is FRX unless it is set: less ends
 * at once if everything fits on the screen. Errors: G2H_ERROR_SYSTEM.
 */
struct g2h_error *pager_show(int fd);

#endif
