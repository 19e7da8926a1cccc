/*
 * summary: some thousand rows for a view, in a database that holds many dumps: docs/fleet.md.
 */
#ifndef SQLITE_SUMMARY_H
#define SQLITE_SUMMARY_H

#include <go2heapsnapshot/output.h>

/* Writes options->summary, which is not NULL. Errors: those of g2h_write_sqlite(). */
struct g2h_error *summary_write(const struct g2h_view *view,
                                const struct g2h_dominators *dominators,
                                const struct g2h_output_options *options);

#endif
