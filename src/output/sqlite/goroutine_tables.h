/* goroutine_tables: the goroutines of a view as tables, with their stacks, labels and starters:
 * docs/sqlite.md. */
#ifndef OUTPUT_SQLITE_GOROUTINE_TABLES_H
#define OUTPUT_SQLITE_GOROUTINE_TABLES_H

#include <go2heapsnapshot/view.h>

#include "output/database.h"

/* Creates and fills them. Errors: those of database_run(). */
struct g2h_error *goroutine_tables_write(const struct g2h_view *view, struct database *database);

#endif
