/*
 * summary_tables: those of a database that has a few thousand rows of each of many dumps:
 * docs/fleet.md.
 *
 * Texts, and places in the tree of what holds what, are there once for all dumps, so that what is
 * the same in many of them has the same number.
 */
#ifndef OUTPUT_SQLITE_SUMMARY_TABLES_H
#define OUTPUT_SQLITE_SUMMARY_TABLES_H

#include <stdbool.h>

#include "output/database.h"

/* A column of the table dump, and what goes there. */
struct summary_value {
    const char *column;
    const char *text; /* NULL: a number, */
    uint64_t number;
    bool is_unknown; /* or nothing */
};

struct summary_tables {
    struct database *database;
    int64_t dump; /* that is being added */
    sqlite3_stmt *find_text, *add_text, *find_place, *add_place;
    sqlite3_stmt *add_class, *add_tree, *add_goroutines, *add_label;
};

/* Of objects, or of goroutines: how many, their bytes, and what they retain. */
struct summary_sums {
    uint64_t count, bytes, retained;
};

/* A text of the dump: UTF-8. */
struct summary_text {
    const char *data;
    size_t size;
};

/*
 * Makes the tables in a database, unless they are there: then it must be one of these. The database
 * must be there until summary_tables_deinit(), to which tables go also after an error. Errors of
 * this and of what follows: those of database_run(); G2H_ERROR_SYSTEM where it is another one.
 */
struct g2h_error *summary_tables_init(struct summary_tables *tables, struct database *database,
                                      const char *name);
void summary_tables_deinit(struct summary_tables *tables);

/* Begins a dump. */
struct g2h_error *summary_tables_add_dump(struct summary_tables *tables,
                                          const struct summary_value *values, size_t count);

struct g2h_error *summary_tables_add_label(struct summary_tables *tables, struct summary_text key,
                                           struct summary_text value);
struct g2h_error *summary_tables_add_class(struct summary_tables *tables, struct summary_text name,
                                           const struct summary_sums *sums);

/* started_by: empty where it is not known. */
struct g2h_error *summary_tables_add_goroutines(struct summary_tables *tables,
                                                struct summary_text name,
                                                struct summary_text started_by,
                                                const struct summary_sums *sums);

/* The number of a place by its name below parent, which is 0 for that of the root. */
struct g2h_error *summary_tables_place(struct summary_tables *tables, int64_t parent,
                                       const char *kind, struct summary_text name, int64_t *ret);

/* Adds to what the dump has in a place. */
struct g2h_error *summary_tables_add_place(struct summary_tables *tables, int64_t place,
                                           const struct summary_sums *sums);

#endif
