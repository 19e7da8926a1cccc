/*
 * summary_tables: the tables of a database that has a few thousand rows for each of many dumps:
 * docs/fleet.md.
 *
 * Each string, and each place in the tree of retainers, is stored once for all dumps, so that it
 * has the same number in all dumps that have it.
 */
#ifndef OUTPUT_SQLITE_SUMMARY_TABLES_H
#define OUTPUT_SQLITE_SUMMARY_TABLES_H

#include <stdbool.h>

#include "output/database.h"

/* A column of the table dump, and its value. */
struct summary_value {
    const char *column;
    const char *text; /* NULL: the value is a number, */
    uint64_t number;
    bool is_unknown; /* or NULL */
};

struct summary_tables {
    struct database *database;
    const char *name; /* of the database, in messages */
    int64_t dump;     /* id of the dump that is being added */
    sqlite3_stmt *find_text, *add_text, *find_place, *add_place;
    sqlite3_stmt *add_class, *add_tree, *add_goroutines, *add_label;
    uint64_t in_classes, in_tree, in_goroutines; /* all numbers of the rows added to these */
};

/* Sums over objects or goroutines: how many there are, their bytes, and what they retain. */
struct summary_sums {
    uint64_t count, bytes, retained;
};

/* A string of the dump: UTF-8. */
struct summary_text {
    const char *data;
    size_t size;
};

/*
 * Creates the tables in a database, unless it has them already. The database must live until
 * summary_tables_deinit(), which the caller calls after an error, too, and so must name, which
 * messages call it. Errors of this and of the following functions: those of database_run();
 * G2H_ERROR_SYSTEM if the database holds something else, or tables of another version.
 */
struct g2h_error *summary_tables_init(struct summary_tables *tables, struct database *database,
                                      const char *name);
void summary_tables_deinit(struct summary_tables *tables);

/* Begins a dump: adds its row, which the following functions refer to. */
struct g2h_error *summary_tables_add_dump(struct summary_tables *tables,
                                          const struct summary_value *values, size_t count);

struct g2h_error *summary_tables_add_label(struct summary_tables *tables, struct summary_text key,
                                           struct summary_text value);
/* Adds a class: the sums of its objects that are held, and of its garbage. */
struct g2h_error *summary_tables_add_class(struct summary_tables *tables, struct summary_text name,
                                           const struct summary_sums *held,
                                           const struct summary_sums *garbage);

/* started_by is empty if it is not known. */
struct g2h_error *summary_tables_add_goroutines(struct summary_tables *tables,
                                                struct summary_text name,
                                                struct summary_text started_by,
                                                const struct summary_sums *sums);

/* Finds the number of the place of a name below parent, which is 0 for the root; adds the place if
 * it is new. */
struct g2h_error *summary_tables_place(struct summary_tables *tables, int64_t parent,
                                       const char *kind, struct summary_text name, int64_t *ret);

/* Adds sums to those that the dump has in a place. */
struct g2h_error *summary_tables_add_place(struct summary_tables *tables, int64_t place,
                                           const struct summary_sums *sums);

/* Checks that the database has the rows that were added, before the commit. Errors:
 * G2H_ERROR_SYSTEM: it has not, because its tables have constraints of their own; those of
 * database_run(). */
struct g2h_error *summary_tables_check(const struct summary_tables *tables);

#endif
