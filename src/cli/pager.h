/* pager: shows output on a terminal, by a pager if it is longer than the screen. */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

#include <go2heapsnapshot/error.h>

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
