/* rows; see rows.h. It is a virtual table without arguments, as SQLite's documentation describes
 * it. */
#include "output/rows.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/scope.h"

struct rows_table {
    sqlite3_vtab base;
    const struct rows *rows;
};

struct rows_cursor {
    sqlite3_vtab_cursor base;
    const struct rows *rows;
    const int64_t *at, *end;
};

/* Declares the columns of the virtual table. */
static int connect_table(sqlite3 *handle, void *context, int count, const char *const *arguments,
                         sqlite3_vtab **ret, char **ret_error)
{
    (void)count;
    (void)arguments;
    (void)ret_error;
    const int code = sqlite3_declare_vtab(
        handle, "CREATE TABLE rows(c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11)");
    struct rows_table *table = code == SQLITE_OK ? sqlite3_malloc(sizeof(*table)) : NULL;
    if (!table)
        return code == SQLITE_OK ? SQLITE_NOMEM : code;
    *table = (struct rows_table){.rows = context};
    *ret = &table->base;
    return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

/* SQLite's xBestIndex. Every plan is the same: all rows, in their order. */
static int choose_plan(sqlite3_vtab *table, sqlite3_index_info *info)
{
    info->estimatedCost = (double)((struct rows_table *)table)->rows->count;
    return SQLITE_OK;
}

/* SQLite's xOpen. */
static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **ret)
{
    struct rows_cursor *cursor = sqlite3_malloc(sizeof(*cursor));
    if (!cursor)
        return SQLITE_NOMEM;
    *cursor = (struct rows_cursor){.rows = ((struct rows_table *)table)->rows};
    *ret = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

/* SQLite's xFilter: begins at the first row. */
static int rows_begin(sqlite3_vtab_cursor *base, int plan, const char *plan_text, int count,
                      sqlite3_value **arguments)
{
    struct rows_cursor *cursor = (struct rows_cursor *)base;
    const struct rows *rows = cursor->rows;
    (void)plan;
    (void)plan_text;
    (void)count;
    (void)arguments;
    cursor->at = rows->data;
    cursor->end = rows->data + rows->count * rows->columns;
    return SQLITE_OK;
}

static int rows_go_on(sqlite3_vtab_cursor *base)
{
    struct rows_cursor *cursor = (struct rows_cursor *)base;
    cursor->at += cursor->rows->columns;
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
    const struct rows_cursor *cursor = (struct rows_cursor *)base;
    return cursor->at == cursor->end;
}

/* SQLite's xColumn: returns a number of the current row; leaving it unset means NULL. */
static int rows_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct rows_cursor *cursor = (struct rows_cursor *)base;
    const int64_t value = (unsigned)column < cursor->rows->columns ? cursor->at[column] : ROWS_NULL;
    if (value != ROWS_NULL)
        sqlite3_result_int64(context, value);
    return SQLITE_OK;
}

static int rows_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
    const struct rows_cursor *cursor = (struct rows_cursor *)base;
    *ret = (sqlite3_int64)(cursor->at - cursor->rows->data) / cursor->rows->columns;
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .xConnect = connect_table, /* no xCreate: the table exists without being created */
    .xBestIndex = choose_plan,
    .xDisconnect = disconnect_table,
    .xDestroy = disconnect_table,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = rows_begin,
    .xNext = rows_go_on,
    .xEof = is_at_end,
    .xColumn = rows_column,
    .xRowid = rows_rowid,
};

struct g2h_error *rows_offer(struct database *database, struct rows *rows)
{
    return sqlite3_create_module_v2(database_handle(database), "rows", &module, rows, NULL) ==
                   SQLITE_OK
               ? NULL
               : database_error(database);
}
