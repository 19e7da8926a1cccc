/*
 * database: an SQLite database that formats create or add to, and numbers in memory as rows of a
 * table that SQL can select from.
 */
#ifndef OUTPUT_DATABASE_H
#define OUTPUT_DATABASE_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"

/* ==== an SQLite database that formats create or add to ====
 *
 * A new database is written to a descriptor, as all formats are: the file has no name until it is
 * complete, so that nothing else can read it, and no journal is needed. An existing database to
 * which data are added is opened by its path, with SQLite's own locks and journal.
 *
 * All statements run in one transaction. It ends with database_commit(). Closing the database
 * without a commit undoes what was added to an existing file, and leaves half a file at a
 * descriptor.
 */

struct database;

/* Begins a database in the empty file of a descriptor. The file must be a regular one that can be
 * read and written; the descriptor is not closed. name is the file's name in messages, and must
 * live as long as the database. Errors: G2H_ERROR_SYSTEM, G2H_ERROR_MEMORY. */
struct g2h_error *database_create(int fd, const char *name, struct database **ret);

/* Opens or creates the database at a path, with permissions that are no wider than those of a dump
 * (fstat(); NULL: any), and begins to write. Its triggers do not run, and its views cannot be used.
 * Waits some minutes at most for other processes that write to it. Errors: as above. */
struct g2h_error *database_open(const char *path, const struct stat *dump, struct database **ret);

/* Removes the permissions that the dump does not have from a database that was opened by its path,
 * and from the files beside it. Must be called before any data of the dump are written. Errors:
 * G2H_ERROR_SYSTEM if they cannot be removed, or if the file is another user's who may not read the
 * dump; G2H_ERROR_MEMORY. */
struct g2h_error *database_narrow(struct database *database, const struct stat *dump);

struct g2h_error *database_commit(struct database *database);

void database_close(struct database *database);

/* Returns SQLite's handle, to prepare statements. */
sqlite3 *database_handle(const struct database *database);

/* Returns an error with the file's name and the reason for the last failure: that of the system, by
 * errno too, which must be as the failure left it, or SQLite's. */
struct g2h_error *database_error(const struct database *database);

/* Runs statements that return no rows, one after the other. Errors: G2H_ERROR_SYSTEM,
 * G2H_ERROR_MEMORY. */
struct g2h_error *database_run(struct database *database, const char *sql);

/* Prepares a statement that is run repeatedly. The caller passes it to sqlite3_finalize() before
 * the database is closed. Errors: as above. */
struct g2h_error *database_prepare(struct database *database, const char *sql, sqlite3_stmt **ret);

/* Binds a value of the statement; the first value is number 1. database_step() reports errors. Text
 * is not copied: it must be there until then. */
void database_bind_text(sqlite3_stmt *statement, int number, const void *text, size_t size);

static inline void database_bind_number(sqlite3_stmt *statement, int number, uint64_t value)
{
    sqlite3_bind_int64(statement, number, (sqlite3_int64)value);
}

/* Runs a statement that returns no rows, with its bound values, and resets it so that it can run
 * again. Values that are not bound anew keep what was bound before. Errors: as above. */
struct g2h_error *database_step(struct database *database, sqlite3_stmt *statement);

/* For _cleanup_(). */
void database_finalize(sqlite3_stmt **statement);

void database_closed(struct database **database);

/* ==== offers numbers in memory as rows of a table that SQL can select from ====
 *
 * A prepared statement that is stepped for each row spends most of its time on beginning and
 * ending. `INSERT INTO edge_ SELECT c0, c1, c2 FROM rows` is stepped once for many thousands of
 * rows.
 */

/* The number that SQL sees as NULL. */
#define ROWS_NULL INT64_MIN

/* The current contents of the table "rows": count rows of columns numbers each, one after the
 * other. */
struct rows {
    const int64_t *data;
    size_t count;
    unsigned columns;
};

/* Registers the table with a database. rows must live until the database is closed. Errors: those
 * of database_error(). */
struct g2h_error *rows_offer(struct database *database, struct rows *rows);

#endif
