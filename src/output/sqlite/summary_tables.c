/* summary_tables; see summary_tables.h. */
#include "output/sqlite/summary_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/scope.h"
#include "base/text.h"

enum {
    APPLICATION = 0x67326873, /* "g2hs": file(1) and PRAGMA application_id */
    SCHEMA = 2 /* PRAGMA user_version: it increases when a column changes its meaning */
};

static const char create[] =
    "CREATE TABLE dump(id INTEGER PRIMARY KEY, time INTEGER, source TEXT, executable TEXT,"
    " go_version TEXT, goarch TEXT, complete INTEGER, typed INTEGER, objects INTEGER,"
    " bytes INTEGER, reachable_bytes INTEGER, garbage_bytes INTEGER, left_out_bytes INTEGER,"
    " map_parts INTEGER, goroutines INTEGER, stack_bytes INTEGER, sys INTEGER,"
    " heap_alloc INTEGER, heap_sys INTEGER, heap_idle INTEGER, heap_inuse INTEGER,"
    " heap_released INTEGER, stack_sys INTEGER, next_gc INTEGER, num_gc INTEGER);"
    "CREATE TABLE label(dump INTEGER, key TEXT, value TEXT, PRIMARY KEY(dump, key)) WITHOUT ROWID;"
    "CREATE TABLE text(id INTEGER PRIMARY KEY, text TEXT UNIQUE);"
    "CREATE TABLE place(id INTEGER PRIMARY KEY, parent INTEGER, kind TEXT, name INTEGER,"
    " UNIQUE(parent, kind, name));"
    "CREATE TABLE class_stat_(dump INTEGER, class INTEGER, objects INTEGER, bytes INTEGER,"
    " retained INTEGER, garbage_objects INTEGER, garbage_bytes INTEGER,"
    " PRIMARY KEY(dump, class)) WITHOUT ROWID;"
    "CREATE TABLE tree_(dump INTEGER, place INTEGER, objects INTEGER, bytes INTEGER,"
    " retained INTEGER, PRIMARY KEY(dump, place)) WITHOUT ROWID;"
    "CREATE TABLE goroutine_stat_(dump INTEGER, goroutines INTEGER, started_by INTEGER,"
    " count INTEGER, retained INTEGER, PRIMARY KEY(dump, goroutines, started_by)) WITHOUT ROWID;"
    "CREATE INDEX class_stat_class ON class_stat_(class);"
    "CREATE INDEX tree_place ON tree_(place);"
    "CREATE VIEW class_stat AS SELECT r.dump AS dump, t.text AS class, r.objects AS objects,"
    " r.bytes AS bytes, r.retained AS retained, r.garbage_objects AS garbage_objects,"
    " r.garbage_bytes AS garbage_bytes FROM class_stat_ r JOIN text t ON t.id = r.class;"
    "CREATE VIEW tree AS SELECT r.dump AS dump, r.place AS place, p.parent AS parent,"
    " p.kind AS kind, t.text AS name, r.objects AS objects, r.bytes AS bytes,"
    " r.retained AS retained FROM tree_ r JOIN place p ON p.id = r.place"
    " JOIN text t ON t.id = p.name;"
    "CREATE VIEW goroutine_stat AS SELECT r.dump AS dump, t.text AS goroutines,"
    " s.text AS started_by, r.count AS count, r.retained AS retained FROM goroutine_stat_ r"
    " JOIN text t ON t.id = r.goroutines JOIN text s ON s.id = r.started_by";

/* ---- which database it is ---- */

static struct g2h_error *summary_tables_read_number(struct database *database, const char *sql,
                                                    int64_t *ret)
{
    _cleanup_(database_finalize) sqlite3_stmt *statement = NULL;
    TRY(database_prepare(database, sql, &statement));
    if (sqlite3_step(statement) != SQLITE_ROW)
        return database_error(database);
    *ret = sqlite3_column_int64(statement, 0);
    return NULL;
}

static struct g2h_error *make_tables(struct database *database)
{
    char sql[96];
    snprintf(sql, sizeof(sql), "PRAGMA application_id=%d; PRAGMA user_version=%d", APPLICATION,
             SCHEMA);
    TRY(database_run(database, sql));
    return database_run(database, create);
}

static struct g2h_error *find_or_make_tables(struct database *database, const char *name)
{
    int64_t application = 0, schema = 0, there = 0;
    TRY(summary_tables_read_number(database, "PRAGMA application_id", &application));
    TRY(summary_tables_read_number(database, "PRAGMA user_version", &schema));
    TRY(summary_tables_read_number(database, "SELECT count(*) FROM sqlite_master", &there));
    if (application == 0 && schema == 0 && there == 0)
        return make_tables(database);
    if (application != APPLICATION)
        return error_create(G2H_ERROR_SYSTEM,
                            "%s: is a database of something else; --append takes one that "
                            "--summary made",
                            name);
    if (schema != SCHEMA)
        return error_create(G2H_ERROR_SYSTEM,
                            "%s: its tables are of version %lld, this program's of version %d",
                            name, (long long)schema, SCHEMA);
    return NULL;
}

struct g2h_error *summary_tables_init(struct summary_tables *tables, struct database *database,
                                      const char *name)
{
    *tables = (struct summary_tables){.database = database, .name = name};
    const struct {
        const char *sql;
        sqlite3_stmt **ret;
    } all[] = {
        {"SELECT id FROM text WHERE text = ?", &tables->find_text},
        {"INSERT INTO text(text) VALUES (?)", &tables->add_text},
        {"SELECT id FROM place WHERE parent = ? AND kind = ? AND name = ?", &tables->find_place},
        {"INSERT INTO place(parent, kind, name) VALUES (?, ?, ?)", &tables->add_place},
        {"INSERT INTO class_stat_ VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT(dump, class) DO UPDATE"
         " SET objects = objects + excluded.objects, bytes = bytes + excluded.bytes,"
         " retained = retained + excluded.retained,"
         " garbage_objects = garbage_objects + excluded.garbage_objects,"
         " garbage_bytes = garbage_bytes + excluded.garbage_bytes",
         &tables->add_class},
        {"INSERT INTO tree_ VALUES (?, ?, ?, ?, ?) ON CONFLICT(dump, place) DO UPDATE SET"
         " objects = objects + excluded.objects, bytes = bytes + excluded.bytes,"
         " retained = retained + excluded.retained",
         &tables->add_tree},
        {"INSERT INTO goroutine_stat_ VALUES (?, ?, ?, ?, ?) ON CONFLICT(dump, goroutines, "
         "started_by) DO UPDATE SET"
         " count = count + excluded.count, retained = retained + excluded.retained",
         &tables->add_goroutines},
        {"INSERT OR REPLACE INTO label VALUES (?, ?, ?)", &tables->add_label},
    };
    TRY(find_or_make_tables(database, name));
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        TRY(database_prepare(database, all[i].sql, all[i].ret));
    return NULL;
}

void summary_tables_deinit(struct summary_tables *tables)
{
    sqlite3_stmt *const all[] = {tables->find_text,      tables->add_text,  tables->find_place,
                                 tables->add_place,      tables->add_class, tables->add_tree,
                                 tables->add_goroutines, tables->add_label};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        sqlite3_finalize(all[i]);
}

/* ---- rows ---- */

/* Returns the error that the database loses rows. */
static struct g2h_error *refuse_tables(const struct summary_tables *tables)
{
    return error_create(G2H_ERROR_SYSTEM,
                        "%s: does not keep the rows that are added to it: its tables are not as "
                        "--summary makes them; nothing is added",
                        tables->name);
}

/* Runs a statement that adds or changes one row. */
static struct g2h_error *summary_tables_step(const struct summary_tables *tables,
                                             sqlite3_stmt *statement)
{
    TRY(database_step(tables->database, statement));
    return sqlite3_changes(database_handle(tables->database)) == 1 ? NULL : refuse_tables(tables);
}

/* Returns the id that the statement find selects. If it selects no row, runs add, whose bound
 * values are the same, and returns the id of the new row. */
static struct g2h_error *find_or_add(const struct summary_tables *tables, sqlite3_stmt *find,
                                     sqlite3_stmt *add, int64_t *ret)
{
    const int code = sqlite3_step(find);
    if (code == SQLITE_ROW)
        *ret = sqlite3_column_int64(find, 0);
    struct g2h_error *error =
        code == SQLITE_ROW || code == SQLITE_DONE ? NULL : database_error(tables->database);
    sqlite3_reset(find);
    if (error || code == SQLITE_ROW)
        return error;
    TRY(summary_tables_step(tables, add));
    *ret = sqlite3_last_insert_rowid(database_handle(tables->database));
    return NULL;
}

/* Binds a string in a form that is safe to show: summaries are queried at a terminal, where sqlite3
 * writes strings as they are. */
static struct g2h_error *bind_shown(sqlite3_stmt *statement, int number, struct summary_text text)
{
    if (printable_is(text.data, text.size)) {
        database_bind_text(statement, number, text.data, text.size);
        return NULL;
    }
    char *shown = malloc(text.size);
    TRY_MEMORY(shown);
    memcpy(shown, text.data, text.size);
    sqlite3_bind_text64(statement, number, shown, g2h_printable(shown, text.size), free,
                        SQLITE_UTF8);
    return NULL;
}

static struct g2h_error *number_text(const struct summary_tables *tables, struct summary_text text,
                                     int64_t *ret)
{
    TRY(bind_shown(tables->find_text, 1, text));
    TRY(bind_shown(tables->add_text, 1, text));
    return find_or_add(tables, tables->find_text, tables->add_text, ret);
}

/* Binds the sums of a row, which follow two texts. Returns the sum of all. */
static uint64_t bind_sums(sqlite3_stmt *statement, const struct summary_sums *sums)
{
    database_bind_number(statement, 3, sums->count);
    database_bind_number(statement, 4, sums->bytes);
    database_bind_number(statement, 5, sums->retained);
    return sums->count + sums->bytes + sums->retained;
}

struct g2h_error *summary_tables_add_dump(struct summary_tables *tables,
                                          const struct summary_value *values, size_t count)
{
    _cleanup_(text_deinit) struct text sql = {0};
    _cleanup_(database_finalize) sqlite3_stmt *statement = NULL;
    text_printf(&sql, "INSERT INTO dump(id");
    for (size_t i = 0; i < count; i++)
        text_printf(&sql, ", %s", values[i].column);
    text_printf(&sql, ") VALUES (NULL");
    for (size_t i = 0; i < count; i++)
        text_printf(&sql, ", ?");
    text_append(&sql, ")", 2); /* and the terminating null */
    TRY_MEMORY(!sql.failed);
    TRY(database_prepare(tables->database, sql.data, &statement));
    for (size_t i = 0; i < count; i++)
        if (values[i].text)
            TRY(bind_shown(statement, (int)i + 1,
                           (struct summary_text){values[i].text, strlen(values[i].text)}));
        else if (!values[i].is_unknown)
            database_bind_number(statement, (int)i + 1, values[i].number);
    TRY(summary_tables_step(tables, statement));
    tables->dump = sqlite3_last_insert_rowid(database_handle(tables->database));
    return NULL;
}

struct g2h_error *summary_tables_add_label(struct summary_tables *tables, struct summary_text key,
                                           struct summary_text value)
{
    sqlite3_bind_int64(tables->add_label, 1, tables->dump);
    TRY(bind_shown(tables->add_label, 2, key));
    TRY(bind_shown(tables->add_label, 3, value));
    return summary_tables_step(tables, tables->add_label);
}

struct g2h_error *summary_tables_add_class(struct summary_tables *tables, struct summary_text name,
                                           const struct summary_sums *held,
                                           const struct summary_sums *garbage)
{
    int64_t text;
    TRY(number_text(tables, name, &text));
    sqlite3_bind_int64(tables->add_class, 1, tables->dump);
    sqlite3_bind_int64(tables->add_class, 2, text);
    tables->in_classes += bind_sums(tables->add_class, held) + garbage->count + garbage->bytes;
    database_bind_number(tables->add_class, 6, garbage->count);
    database_bind_number(tables->add_class, 7, garbage->bytes);
    return summary_tables_step(tables, tables->add_class);
}

struct g2h_error *summary_tables_add_goroutines(struct summary_tables *tables,
                                                struct summary_text name,
                                                struct summary_text started_by,
                                                const struct summary_sums *sums)
{
    int64_t text, site;
    TRY(number_text(tables, name, &text));
    TRY(number_text(tables, started_by, &site));
    sqlite3_bind_int64(tables->add_goroutines, 1, tables->dump);
    sqlite3_bind_int64(tables->add_goroutines, 2, text);
    sqlite3_bind_int64(tables->add_goroutines, 3, site);
    database_bind_number(tables->add_goroutines, 4, sums->count);
    database_bind_number(tables->add_goroutines, 5, sums->retained);
    tables->in_goroutines += sums->count + sums->retained;
    return summary_tables_step(tables, tables->add_goroutines);
}

struct g2h_error *summary_tables_place(struct summary_tables *tables, int64_t parent,
                                       const char *kind, struct summary_text name, int64_t *ret)
{
    int64_t text;
    sqlite3_stmt *const both[] = {tables->find_place, tables->add_place};
    TRY(number_text(tables, name, &text));
    for (size_t i = 0; i < 2; i++) {
        sqlite3_bind_int64(both[i], 1, parent);
        database_bind_text(both[i], 2, kind, strlen(kind));
        sqlite3_bind_int64(both[i], 3, text);
    }
    return find_or_add(tables, tables->find_place, tables->add_place, ret);
}

struct g2h_error *summary_tables_add_place(struct summary_tables *tables, int64_t place,
                                           const struct summary_sums *sums)
{
    sqlite3_bind_int64(tables->add_tree, 1, tables->dump);
    sqlite3_bind_int64(tables->add_tree, 2, place);
    tables->in_tree += bind_sums(tables->add_tree, sums);
    return summary_tables_step(tables, tables->add_tree);
}

/* ---- the check ---- */

/* Returns an error unless the query about the dump has this result. */
static struct g2h_error *check_sum(const struct summary_tables *tables, const char *sql,
                                   uint64_t sum)
{
    _cleanup_(database_finalize) sqlite3_stmt *statement = NULL;
    TRY(database_prepare(tables->database, sql, &statement));
    sqlite3_bind_int64(statement, 1, tables->dump);
    if (sqlite3_step(statement) != SQLITE_ROW)
        return database_error(tables->database);
    return (uint64_t)sqlite3_column_int64(statement, 0) == sum ? NULL : refuse_tables(tables);
}

/* Triggers are off, but a table may have been made again, with other constraints: ON CONFLICT
 * IGNORE, or REPLACE. The joins also check that each name is there. */
struct g2h_error *summary_tables_check(const struct summary_tables *tables)
{
    TRY(check_sum(tables, "SELECT count(*) FROM dump WHERE id = ?", 1));
    TRY(check_sum(tables,
                  "SELECT ifnull(sum(objects + bytes + retained + garbage_objects + "
                  "garbage_bytes), 0) FROM class_stat_ r JOIN text t ON t.id = r.class WHERE "
                  "dump = ?",
                  tables->in_classes));
    TRY(check_sum(tables,
                  "SELECT ifnull(sum(objects + bytes + retained), 0) FROM tree_ r JOIN place p ON "
                  "p.id = r.place JOIN text t ON t.id = p.name WHERE dump = ?",
                  tables->in_tree));
    return check_sum(tables,
                     "SELECT ifnull(sum(count + retained), 0) FROM goroutine_stat_ r JOIN text t "
                     "ON t.id = r.goroutines JOIN text s ON s.id = r.started_by WHERE dump = ?",
                     tables->in_goroutines);
}
