/* goroutine_tables; see goroutine_tables.h. */
#include "output/sqlite/goroutine_tables.h"

#include <string.h>

#include "base/scope.h"

static const char create[] =
    "CREATE TABLE goroutine(goid INTEGER PRIMARY KEY, node INTEGER, state TEXT, minutes INTEGER,"
    " runs TEXT, waits_at TEXT, parent INTEGER);"
    "CREATE TABLE goroutine_frame(goid INTEGER, depth INTEGER, function TEXT, file TEXT,"
    " line INTEGER, is_inlined INTEGER, is_wrapper INTEGER, PRIMARY KEY(goid, depth))"
    " WITHOUT ROWID;"
    "CREATE TABLE goroutine_label(goid INTEGER, key TEXT, value TEXT, PRIMARY KEY(goid, key))"
    " WITHOUT ROWID;"
    "CREATE TABLE goroutine_starter(goid INTEGER, level INTEGER, starter INTEGER, depth INTEGER,"
    " function TEXT, file TEXT, line INTEGER, PRIMARY KEY(goid, level, depth)) WITHOUT ROWID";

struct goroutine_tables {
    const struct g2h_view *view;
    struct database *database;
    sqlite3_stmt *add_goroutine, *add_frame, *add_label, *add_starter;
    struct g2h_text text, waits_at, runs;
    uint64_t goid;           /* of the goroutine whose labels are visited */
    struct g2h_error *error; /* of that visit */
};

static void goroutine_tables_deinit(struct goroutine_tables *tables)
{
    sqlite3_finalize(tables->add_goroutine);
    sqlite3_finalize(tables->add_frame);
    sqlite3_finalize(tables->add_label);
    sqlite3_finalize(tables->add_starter);
    g2h_text_deinit(&tables->text);
    g2h_text_deinit(&tables->waits_at);
    g2h_text_deinit(&tables->runs);
}

/* A dump that is damaged may have a number twice: the first goroutine that has it counts. */
static struct g2h_error *goroutine_tables_init(struct goroutine_tables *tables)
{
    struct database *database = tables->database;
    TRY(database_run(database, create));
    TRY(database_prepare(database, "INSERT OR IGNORE INTO goroutine VALUES (?, ?, ?, ?, ?, ?, ?)",
                         &tables->add_goroutine));
    TRY(database_prepare(database,
                         "INSERT OR IGNORE INTO goroutine_frame VALUES (?, ?, ?, ?, ?, ?, ?)",
                         &tables->add_frame));
    TRY(database_prepare(database, "INSERT OR IGNORE INTO goroutine_label VALUES (?, ?, ?)",
                         &tables->add_label));
    return database_prepare(database,
                            "INSERT OR IGNORE INTO goroutine_starter VALUES (?, ?, ?, ?, ?, ?, ?)",
                            &tables->add_starter);
}

/* Binds a function's names and line, from a parameter on: a line that is not known is NULL. */
static void bind_call(sqlite3_stmt *statement, int first, const struct g2h_view_call *call)
{
    database_bind_text(statement, first, (const char *)call->function.data,
                       (size_t)call->function.size);
    if (call->line > 0) {
        database_bind_text(statement, first + 1, (const char *)call->file.data,
                           (size_t)call->file.size);
        database_bind_number(statement, first + 2, call->line);
    } else {
        sqlite3_bind_null(statement, first + 1);
        sqlite3_bind_null(statement, first + 2);
    }
}

/* Adds the functions on a goroutine's stack, and notes where it waits. */
static struct g2h_error *goroutine_tables_add_frames(struct goroutine_tables *tables,
                                                     const struct g2h_view_goroutine *goroutine)
{
    struct g2h_view_call call;
    uint64_t depth = 0;
    tables->waits_at.size = 0;
    for (uint32_t i = 0; i < goroutine->frame_count; i++)
        for (uint32_t j = 0;
             g2h_view_call(tables->view, goroutine->first_frame + (size_t)i, j, &call); j++) {
            if (call.number == goroutine->at && tables->waits_at.size == 0)
                g2h_view_call_text(tables->view, &call, &tables->waits_at);
            database_bind_number(tables->add_frame, 1, goroutine->record.goid);
            database_bind_number(tables->add_frame, 2, depth++);
            bind_call(tables->add_frame, 3, &call);
            database_bind_number(tables->add_frame, 6, call.is_inlined);
            database_bind_number(tables->add_frame, 7, call.is_wrapper);
            TRY(database_step(tables->database, tables->add_frame));
        }
    return NULL;
}

static bool goroutine_tables_add_label(void *context, const struct g2h_label *label)
{
    struct goroutine_tables *tables = context;
    database_bind_number(tables->add_label, 1, tables->goid);
    database_bind_text(tables->add_label, 2, label->key, label->key_size);
    database_bind_text(tables->add_label, 3, label->value, label->value_size);
    tables->error = database_step(tables->database, tables->add_label);
    return tables->error == NULL;
}

static struct g2h_error *goroutine_tables_add_starters(struct goroutine_tables *tables,
                                                       size_t number, uint64_t goid)
{
    struct g2h_view_call call;
    for (size_t i = 0; i < g2h_view_starter_count(tables->view, number); i++)
        for (uint32_t j = 0; g2h_view_starter_call(tables->view, number, i, j, &call); j++) {
            database_bind_number(tables->add_starter, 1, goid);
            database_bind_number(tables->add_starter, 2, i);
            database_bind_number(tables->add_starter, 3, g2h_view_starter(tables->view, number, i));
            database_bind_number(tables->add_starter, 4, j);
            bind_call(tables->add_starter, 5, &call);
            TRY(database_step(tables->database, tables->add_starter));
        }
    return NULL;
}

/* Binds a string, or NULL if it is empty. */
static void bind_if_any(sqlite3_stmt *statement, int number, const struct g2h_text *text)
{
    if (text->size > 0)
        database_bind_text(statement, number, text->data, text->size);
    else
        sqlite3_bind_null(statement, number);
}

static struct g2h_error *goroutine_tables_add(struct goroutine_tables *tables, size_t number)
{
    sqlite3_stmt *statement = tables->add_goroutine;
    struct g2h_view_goroutine goroutine;
    g2h_view_goroutine(tables->view, number, &goroutine);
    const struct g2h_view_call runs = {.function = goroutine.function};
    TRY(goroutine_tables_add_frames(tables, &goroutine));
    g2h_view_state(tables->view, number, &tables->text);
    tables->runs.size = 0;
    g2h_view_call_text(tables->view, &runs, &tables->runs);
    TRY_MEMORY(!tables->text.failed && !tables->waits_at.failed && !tables->runs.failed);
    database_bind_number(statement, 1, goroutine.record.goid);
    if (goroutine.node != UINT32_MAX)
        database_bind_number(statement, 2, goroutine.node);
    else
        sqlite3_bind_null(statement, 2);
    database_bind_text(statement, 3, tables->text.data, tables->text.size);
    database_bind_number(statement, 4, goroutine.minutes);
    bind_if_any(statement, 5, &tables->runs);
    bind_if_any(statement, 6, &tables->waits_at);
    if (goroutine.parent != 0)
        database_bind_number(statement, 7, goroutine.parent);
    else
        sqlite3_bind_null(statement, 7);
    TRY(database_step(tables->database, statement));
    tables->goid = goroutine.record.goid;
    TRY(g2h_view_labels(tables->view, number, goroutine_tables_add_label, tables));
    TRY(tables->error);
    return goroutine_tables_add_starters(tables, number, goroutine.record.goid);
}

struct g2h_error *goroutine_tables_write(const struct g2h_view *view, struct database *database)
{
    _cleanup_(goroutine_tables_deinit) struct goroutine_tables tables = {.view = view,
                                                                         .database = database};
    TRY(goroutine_tables_init(&tables));
    for (size_t i = 0; i < g2h_view_goroutine_count(view); i++)
        TRY(goroutine_tables_add(&tables, i));
    return NULL;
}
