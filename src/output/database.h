/*
 * database: an SQLite database as formats write it, or add to it.
 *
 * A new one is written to a descriptor, as all formats are: the file has no name until it is
 * complete, so that nothing else can read it, and no journal is needed. One that is there, to which
 * something is added, is opened by its path, with SQLite's own locks and journal.
 *
 * What is run is one transaction. It ends with database_commit(); closing without it undoes what
 * was added to a file that was there, and leaves half a file at a descriptor.
 */
#ifndef OUTPUT_DATABASE_H
#define OUTPUT_DATABASE_H

#include <stddef.h>
#include <stdint.h>

#if !__has_include(<sqlite3.h>)
#error "sqlite3.h is not there: install libsqlite3-dev, or build without it: make WITH_SQLITE="
#endif
#include <sqlite3.h>

#include "base/error.h"

struct database;

/* Begins a database in the empty file of a descriptor, which must be a regular one that can be read
 * and written, and is not closed. name is the file's in messages, and must live as long. Errors:
 * G2H_ERROR_SYSTEM, G2H_ERROR_MEMORY. */
struct g2h_error *database_create(int fd, const char *name, struct database **ret);

/* Opens the database of a path, which is made with these permissions if there is none, and begins
 * to write. Waits for others who do, some minutes at most. Errors: as above. */
struct g2h_error *database_open(const char *path, unsigned permissions, struct database **ret);

struct g2h_error *database_commit(struct database *database);
void database_close(struct database *database);

/* To prepare statements of. */
sqlite3 *database_handle(const struct database *database);

/* What SQLite has just refused to do, as an error that names the file. */
struct g2h_error *database_error(const struct database *database);

/* Runs statements, one after the other, that give no rows. Errors: G2H_ERROR_SYSTEM,
 * G2H_ERROR_MEMORY. */
struct g2h_error *database_run(struct database *database, const char *sql);

/* A statement that is run again and again; it goes to sqlite3_finalize() before the database is
 * closed. Errors: as above. */
struct g2h_error *database_prepare(struct database *database, const char *sql, sqlite3_stmt **ret);

/* Binds a value of the statement, the first one being number 1. What goes wrong is said by
 * database_step(). Text is not copied: it must be there until then. */
void database_bind_text(sqlite3_stmt *statement, int number, const char *text, size_t size);

static inline void database_bind_number(sqlite3_stmt *statement, int number, uint64_t value)
{
    sqlite3_bind_int64(statement, number, (sqlite3_int64)value);
}

/* Runs a statement that gives no rows with what is bound, and makes it fit to be run again; what is
 * not bound anew is as before. Errors: as above. */
struct g2h_error *database_step(struct database *database, sqlite3_stmt *statement);

/* For _cleanup_(). */
void database_finalize(sqlite3_stmt **statement);
void database_closed(struct database **database);

#endif
