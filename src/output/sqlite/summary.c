/*
 * summary: some thousand rows for each dump, in a database that may have many dumps; see summary.h.
 * The first part, summary_tables, knows the tables and SQL; the second, summary, makes the rows:
 * classes, the tree of retainers and the locations of goroutines, the largest of each, and one row
 * with the sums of all others. They come from the merged tree, whose nodes are all objects of a
 * class that one holder has.
 */
#include "output/sqlite/summary.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/heap.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/text.h"
#include "findings/findings.h"
#include "findings/merged.h"
#include "output/database.h"

/* ==== the tables ====
 *
 * The tables of a database that has a few thousand rows for each of many dumps: docs/fleet.md.
 *
 * Each string, and each place in the tree of retainers, is stored once for all dumps, so that it
 * has the same number in all dumps that have it.
 */

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

/* Runs a query whose result is one number. Error: it has no row, or fails. */
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

/* Marks the database as one of this program, of this version of its tables, and creates the
 * tables. */
static struct g2h_error *make_tables(struct database *database)
{
    char sql[96];
    snprintf(sql, sizeof(sql), "PRAGMA application_id=%d; PRAGMA user_version=%d", APPLICATION,
             SCHEMA);
    TRY(database_run(database, sql));
    return database_run(database, create);
}

/* Makes the tables in an empty database. Error: the database is of something else, or of another
 * version. */
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

/*
 * Creates the tables in a database, unless it has them already. The database must live until
 * summary_tables_deinit(), which the caller calls after an error, too, and so must name, which
 * messages call it. Errors of this and of the following functions: those of database_run();
 * G2H_ERROR_SYSTEM if the database holds something else, or tables of another version.
 */
static struct g2h_error *summary_tables_init(struct summary_tables *tables,
                                             struct database *database, const char *name)
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
    for (size_t i = 0; i < COUNT_OF(all); i++)
        TRY(database_prepare(database, all[i].sql, all[i].ret));
    return NULL;
}

static void summary_tables_deinit(struct summary_tables *tables)
{
    sqlite3_stmt *const all[] = {tables->find_text,      tables->add_text,  tables->find_place,
                                 tables->add_place,      tables->add_class, tables->add_tree,
                                 tables->add_goroutines, tables->add_label};
    for (size_t i = 0; i < COUNT_OF(all); i++)
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

/* Finds the id of a string in the table text, to which it is added if it is new. */
static struct g2h_error *number_text(const struct summary_tables *tables, struct summary_text text,
                                     int64_t *ret)
{
    TRY(bind_shown(tables->find_text, 1, text));
    TRY(bind_shown(tables->add_text, 1, text));
    return find_or_add(tables, tables->find_text, tables->add_text, ret);
}

/* Binds the sums of a row, whose first two columns are other values. Returns the sum of all, for
 * the check at the end. */
static uint64_t bind_sums(sqlite3_stmt *statement, const struct summary_sums *sums)
{
    database_bind_number(statement, 3, sums->count);
    database_bind_number(statement, 4, sums->bytes);
    database_bind_number(statement, 5, sums->retained);
    return sums->count + sums->bytes + sums->retained;
}

/* Begins a dump: adds its row, which the following functions refer to. Columns whose value is not
 * known stay NULL. */
static struct g2h_error *summary_tables_add_dump(struct summary_tables *tables,
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
    text_append(&sql, ")", sizeof(")")); /* and the NUL */
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

/* Adds a label of the dump. */
static struct g2h_error *summary_tables_add_label(struct summary_tables *tables,
                                                  struct summary_text key,
                                                  struct summary_text value)
{
    sqlite3_bind_int64(tables->add_label, 1, tables->dump);
    TRY(bind_shown(tables->add_label, 2, key));
    TRY(bind_shown(tables->add_label, 3, value));
    return summary_tables_step(tables, tables->add_label);
}

/* Adds a class: the sums of its objects that are held, and of its garbage. */
static struct g2h_error *summary_tables_add_class(struct summary_tables *tables,
                                                  struct summary_text name,
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

/* Adds the goroutines of a place. started_by is empty if it is not known. */
static struct g2h_error *summary_tables_add_goroutines(struct summary_tables *tables,
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

/* Finds the number of the place of a name below parent, which is 0 for the root; adds the place if
 * it is new. */
static struct g2h_error *summary_tables_place(struct summary_tables *tables, int64_t parent,
                                              const char *kind, struct summary_text name,
                                              int64_t *ret)
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

/* Adds sums to those that the dump has in a place. */
static struct g2h_error *summary_tables_add_place(struct summary_tables *tables, int64_t place,
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

/*
 * Checks that the database has the rows that were added, before the commit. Errors:
 * G2H_ERROR_SYSTEM: it has not, because its tables have constraints of their own; those of
 * database_run().
 *
 * Triggers are off, but a table may have been made again, with other constraints: ON CONFLICT
 * IGNORE, or REPLACE. The joins also check that each name is there.
 */
static struct g2h_error *summary_tables_check(const struct summary_tables *tables)
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

/* ==== the rows of a view ====
 *
 * Dumps are compared by their merged trees (merged.h): classes, the tree of retainers, goroutines
 * by their places. The largest of each have rows; one more row has the sums of all others, so that
 * sums are those of the dump, whatever its size.
 */

/* The most rows, not counting those of "(others)". */
enum { MOST_CLASSES = 1000, MOST_TREE_ROWS = 2000, MOST_GOROUTINES = 500 };

static const struct summary_text others = {"(others)", 8};

struct summary_class {
    uint32_t node; /* one of the class's nodes */
    struct summary_sums held, garbage;
};

struct summary {
    const struct g2h_view *view;
    const struct g2h_output_options *options;
    struct g2h_summary_options wanted;
    struct merged merged;
    VECTOR(struct summary_class) classes; /* those that hold most bytes first */
    uint64_t class_objects;               /* objects of all classes */
    struct database *database;
    struct summary_tables tables;
};

static const struct merged_node *summary_node_of(const struct summary *summary, uint32_t node)
{
    return &summary->merged.nodes.data[node];
}

static struct summary_text summary_name_of(const struct summary *summary, uint32_t node)
{
    struct summary_text name;
    name.data = merged_name(&summary->merged, node, &name.size);
    return name;
}

static bool is_kind(const struct summary *summary, uint32_t node, enum g2h_node_kind kind)
{
    return summary_node_of(summary, node)->kind == MERGED_SYNTHETIC &&
           merged_kind_of(&summary->merged, node) == kind;
}

/* Returns the node of a kind that is nearest to the root, or MERGED_NONE. */
static uint32_t find_kind(const struct summary *summary, enum g2h_node_kind kind)
{
    for (uint32_t i = 0; i < summary->merged.nodes.count; i++)
        if (is_kind(summary, i, kind))
            return i;
    return MERGED_NONE;
}

static void summary_add_sums(struct summary_sums *to, const struct summary_sums *sums)
{
    to->count += sums->count;
    to->bytes += sums->bytes;
    to->retained += sums->retained;
}

/* ---- classes ---- */

/* Orders classes by bytes, most first; equal ones by node. */
static int compare_classes(const void *a, const void *b)
{
    const struct summary_class *one = a;
    const struct summary_class *other = b;
    if (one->held.bytes != other->held.bytes)
        return COMPARE(other->held.bytes, one->held.bytes);
    return COMPARE(one->node, other->node);
}

/* Adds a node of the merged tree to the sums of its class, of garbage or of what is held. Of nodes
 * below each other only the uppermost counts for retained. */
static struct g2h_error *gather_class(struct summary *summary, struct map *by_name, uint32_t i)
{
    const struct merged_node *node = summary_node_of(summary, i);
    const struct summary_sums sums = {node->count, node->bytes,
                                      node->outermost == i ? node->retained : 0};
    uint32_t number = as_u32(summary->classes.count);
    TRY_MEMORY(map_put(by_name, node->name, number, &number));
    if (number == summary->classes.count)
        TRY_MEMORY(vector_push(&summary->classes, ((struct summary_class){.node = i})));
    struct summary_class *row = &summary->classes.data[number];
    summary_add_sums(node->is_garbage ? &row->garbage : &row->held, &sums);
    summary->class_objects += node->count;
    return NULL;
}

/* Sums up all classes, those that hold most bytes first. */
static struct g2h_error *gather_classes(struct summary *summary)
{
    _cleanup_(map_deinit) struct map by_name = {0};
    for (uint32_t i = 0; i < summary->merged.nodes.count; i++)
        if (summary_node_of(summary, i)->kind == MERGED_CLASS)
            TRY(gather_class(summary, &by_name, i));
    vector_sort(&summary->classes, compare_classes);
    return NULL;
}

/* Adds the first MOST_CLASSES classes, and the sums of all others. */
static struct g2h_error *summary_add_classes(struct summary *summary)
{
    struct summary_class rest = {0};
    for (size_t i = 0; i < summary->classes.count; i++) {
        const struct summary_class *row = &summary->classes.data[i];
        if (i < MOST_CLASSES) {
            TRY(summary_tables_add_class(&summary->tables, summary_name_of(summary, row->node),
                                         &row->held, &row->garbage));
        } else {
            summary_add_sums(&rest.held, &row->held);
            summary_add_sums(&rest.garbage, &row->garbage);
        }
    }
    return rest.held.count + rest.garbage.count > 0
               ? summary_tables_add_class(&summary->tables, others, &rest.held, &rest.garbage)
               : NULL;
}

/* ---- the tree ---- */

/* A node of the tree, and its row in the table place. */
struct tree_row {
    bool is_kept;
    int64_t number;           /* in the database */
    uint64_t objects;         /* objects of this node and of all nodes below it */
    struct summary_sums rest; /* of children that are left out and all nodes below */
};

/* Chooses the nodes that retain most. A node's parent retains at least as much and comes first, so
 * it is chosen, too. Also adds up the objects of each with those below it, and the rest below each
 * that is chosen. */
static struct g2h_error *choose_rows(const struct summary *summary, struct tree_row *rows)
{
    const size_t count = summary->merged.nodes.count;
    _cleanup_vector_ ranking order = {0};
    for (uint32_t i = 0; i < count; i++)
        TRY_MEMORY(
            vector_push(&order, ((struct ranked){summary_node_of(summary, i)->retained, i})));
    ranking_sort(&order);
    for (size_t i = 0; i < count && i < MOST_TREE_ROWS; i++)
        rows[order.data[i].node].is_kept = true;
    for (size_t i = count; i-- > 0;) {
        const struct merged_node *node = summary_node_of(summary, as_u32(i));
        rows[i].objects += node->kind == MERGED_CLASS ? node->count : 0;
        if (node->parent == MERGED_NONE)
            continue;
        struct tree_row *parent = &rows[node->parent];
        parent->objects += rows[i].objects;
        const struct summary_sums all = {rows[i].objects, node->retained, node->retained};
        if (!rows[i].is_kept && parent->is_kept)
            summary_add_sums(&parent->rest, &all);
    }
    return NULL;
}

/* Appends the name of a node that is not a class, without the words that are numbers: "main and 20
 * goroutines" may be "main and 80 goroutines" in the next dump. */
static void append_tree_name(struct text *text, struct summary_text name)
{
    static const char digits[] = "0123456789,";
    for (size_t at = 0; at < name.size;) {
        const char *blank = memchr(name.data + at, ' ', name.size - at);
        const size_t end = blank ? as_size(blank - name.data) : name.size;
        size_t number = at;
        while (number < end && memchr(digits, name.data[number], sizeof(digits) - 1))
            number++;
        if (number < end || end == at) {
            text_append(text, " ", at > 0 && text->size > 0 ? 1 : 0);
            text_append(text, name.data + at, end - at);
        }
        at = end + 1;
    }
}

/* Adds a node of the tree in its place, below that of its parent. The root's parent is 0. */
static struct g2h_error *summary_add_row(struct summary *summary, struct tree_row *rows, uint32_t i)
{
    static const char *const kinds[] = {
        [MERGED_SYNTHETIC] = "root", [MERGED_VARIABLE] = "variable", [MERGED_CLASS] = "class"};
    const struct merged_node *node = summary_node_of(summary, i);
    const bool is_class = node->kind == MERGED_CLASS;
    const struct summary_sums sums = {is_class ? node->count : 0, node->bytes, node->retained};
    const int64_t parent = node->parent == MERGED_NONE ? 0 : rows[node->parent].number;
    _cleanup_(text_deinit) struct text place = {0};
    struct summary_text name = summary_name_of(summary, i);
    if (!is_class) {
        append_tree_name(&place, name);
        TRY_MEMORY(!place.failed);
        name = (struct summary_text){place.data, place.size};
    }
    TRY(summary_tables_place(&summary->tables, parent, kinds[node->kind], name, &rows[i].number));
    return summary_tables_add_place(&summary->tables, rows[i].number, &sums);
}

/* Adds the nodes that retain most, and below each the sums of its children that are left out. */
static struct g2h_error *add_tree(struct summary *summary)
{
    const uint32_t count = as_u32(summary->merged.nodes.count);
    _cleanup_free_ struct tree_row *rows = calloc(count_and_end(count), sizeof(*rows));
    int64_t rest;
    TRY_MEMORY(rows);
    TRY(choose_rows(summary, rows));
    for (uint32_t i = 0; i < count; i++) {
        if (!rows[i].is_kept)
            continue;
        TRY(summary_add_row(summary, rows, i));
        if (rows[i].rest.count == 0 && rows[i].rest.bytes == 0)
            continue;
        TRY(summary_tables_place(&summary->tables, rows[i].number, "others", others, &rest));
        TRY(summary_tables_add_place(&summary->tables, rest, &rows[i].rest));
    }
    return NULL;
}

/* ---- goroutines ---- */

static bool is_of_goroutines(const struct summary *summary, uint32_t node)
{
    return is_kind(summary, node, G2H_NODE_GOROUTINES_IN_PLACE) ||
           is_kind(summary, node, G2H_NODE_GOROUTINE);
}

/* Returns the number of goroutines in a place, and an example: a node of the view. */
static uint64_t count_goroutines(const struct summary *summary, uint32_t place,
                                 uint32_t *ret_example)
{
    uint64_t count = 0;
    *ret_example = summary_node_of(summary, place)->example;
    if (is_kind(summary, place, G2H_NODE_GOROUTINE))
        return summary_node_of(summary, place)->count;
    for (uint32_t i = summary_node_of(summary, place)->child; i != MERGED_NONE;
         i = summary_node_of(summary, i)->sibling)
        if (is_kind(summary, i, G2H_NODE_GOROUTINE)) {
            count += summary_node_of(summary, i)->count;
            *ret_example = summary_node_of(summary, i)->example;
        }
    return count;
}

/* Finds the go statement that started a goroutine: "go statement in main.run main.go:17"; empty if
 * it is not known. */
static struct g2h_error *find_site(const struct summary *summary, uint32_t goroutine,
                                   struct summary_text *ret)
{
    _cleanup_(findings_destroy_edges) struct g2h_edges *edges = NULL;
    struct g2h_edge edge;
    struct g2h_node node;
    *ret = (struct summary_text){"", 0};
    TRY(g2h_edges_create(summary->view, &edges));
    g2h_edges_begin(edges, goroutine, goroutine + 1);
    while (g2h_edges_next(edges, &edge)) {
        g2h_view_brief(summary->view, edge.target, &node);
        if (node.kind != G2H_NODE_CREATION_SITE)
            continue;
        ret->data = g2h_view_name(summary->view, node.name, &ret->size);
        break;
    }
    return NULL;
}

/* Adds the goroutines of a place, and subtracts them from the rest. */
static struct g2h_error *add_goroutines_in(struct summary *summary, uint32_t place,
                                           struct summary_sums *rest)
{
    uint32_t example;
    struct summary_text site;
    const struct summary_sums sums = {count_goroutines(summary, place, &example), 0,
                                      summary_node_of(summary, place)->retained};
    rest->count -= MIN(sums.count, rest->count);
    rest->retained -= sums.retained;
    TRY(find_site(summary, example, &site));
    return summary_tables_add_goroutines(&summary->tables, summary_name_of(summary, place), site,
                                         &sums);
}

/* Adds the places that retain most, MOST_GOROUTINES of them, and the sums of all others, if there
 * are any. places is empty before. Nothing if there are no goroutines. */
static struct g2h_error *summary_add_goroutines(struct summary *summary, ranking *places)
{
    const uint32_t group = find_kind(summary, G2H_NODE_GOROUTINES);
    assert(places->count == 0);
    if (group == MERGED_NONE)
        return NULL;
    struct summary_sums rest = {g2h_view_goroutine_count(summary->view), 0,
                                summary_node_of(summary, group)->retained};
    for (uint32_t i = summary_node_of(summary, group)->child; i != MERGED_NONE;
         i = summary_node_of(summary, i)->sibling)
        if (is_of_goroutines(summary, i))
            TRY_MEMORY(
                vector_push(places, ((struct ranked){summary_node_of(summary, i)->retained, i})));
    ranking_sort(places);
    for (size_t i = 0; i < places->count && i < MOST_GOROUTINES; i++)
        TRY(add_goroutines_in(summary, places->data[i].node, &rest));
    if (rest.count == 0 && rest.retained == 0)
        return NULL;
    return summary_tables_add_goroutines(&summary->tables, others, (struct summary_text){"", 0},
                                         &rest);
}

/* ---- the dump ---- */

static struct summary_value of_text(const char *column, const char *text)
{
    return (struct summary_value){.column = column, .text = text, .is_unknown = !text};
}

static struct summary_value of_number(const char *column, uint64_t number)
{
    return (struct summary_value){.column = column, .number = number};
}

static struct summary_value of_memstats(const char *column, const struct g2h_memstats *memstats,
                                        unsigned number)
{
    return (struct summary_value){.column = column,
                                  .number = memstats ? memstats->numbers[number] : 0,
                                  .is_unknown = !memstats};
}

/* Adds the row of the dump: when and of what it was made, its totals, and of the runtime's MemStats
 * those that matter, NULL if the dump has none. map_parts are objects that are of no class of their
 * own, but part of a map's. */
static struct g2h_error *add_dump(struct summary *summary)
{
    const struct g2h_output_options *options = summary->options;
    const struct g2h_heap *heap = g2h_view_heap(summary->view);
    const struct g2h_view_account *account = g2h_view_account(summary->view);
    const struct g2h_memstats *memstats = g2h_heap_memstats(heap);
    const uint32_t garbage_node = find_kind(summary, G2H_NODE_UNREACHABLE);
    const uint64_t garbage =
        garbage_node == MERGED_NONE ? 0 : summary_node_of(summary, garbage_node)->retained;
    const uint64_t total = summary_node_of(summary, 0)->retained,
                   objects = g2h_heap_object_count(heap) - account->left_out_objects;
    const struct summary_value values[] = {
        of_number("time", (uint64_t)summary->wanted.time),
        of_text("source", options->source),
        of_text("executable", options->program),
        of_text("go_version", g2h_heap_go_version(heap)),
        of_text("goarch", g2h_heap_params(heap)->arch),
        of_number("complete", g2h_heap_is_complete(heap)),
        of_number("typed", g2h_view_is_typed(summary->view)),
        of_number("objects", objects),
        of_number("bytes", total - account->stack_bytes),
        of_number("reachable_bytes", total - garbage),
        of_number("garbage_bytes", garbage),
        of_number("left_out_bytes", account->left_out_bytes),
        of_number("map_parts", objects - summary->class_objects),
        of_number("goroutines", g2h_view_goroutine_count(summary->view)),
        of_number("stack_bytes", account->stack_bytes),
        of_memstats("sys", memstats, G2H_MEMSTATS_SYS),
        of_memstats("heap_alloc", memstats, G2H_MEMSTATS_HEAP_ALLOC),
        of_memstats("heap_sys", memstats, G2H_MEMSTATS_HEAP_SYS),
        of_memstats("heap_idle", memstats, G2H_MEMSTATS_HEAP_IDLE),
        of_memstats("heap_inuse", memstats, G2H_MEMSTATS_HEAP_INUSE),
        of_memstats("heap_released", memstats, G2H_MEMSTATS_HEAP_RELEASED),
        of_memstats("stack_sys", memstats, G2H_MEMSTATS_STACK_SYS),
        of_memstats("next_gc", memstats, G2H_MEMSTATS_NEXT_GC),
        of_memstats("num_gc", memstats, G2H_MEMSTATS_NUM_GC),
    };
    return summary_tables_add_dump(&summary->tables, values, COUNT_OF(values));
}

/* Adds the labels that the user has given, "key=value"; without an equals sign the value is
 * empty. */
static struct g2h_error *add_labels(struct summary *summary)
{
    const struct g2h_summary_options *options = &summary->wanted;
    for (size_t i = 0; i < options->label_count; i++) {
        const char *label = options->labels[i];
        const char *value = strchr(label, '=');
        const size_t key = value ? as_size(value - label) : strlen(label);
        value = value ? value + 1 : "";
        TRY(summary_tables_add_label(&summary->tables, (struct summary_text){label, key},
                                     (struct summary_text){value, strlen(value)}));
    }
    return NULL;
}

/* ---- the whole summary ---- */

/* Adds the dump's row, and then all rows that refer to it. */
static struct g2h_error *summary_add_all(struct summary *summary)
{
    _cleanup_vector_ ranking places = {0};
    TRY(add_dump(summary));
    TRY(add_labels(summary));
    TRY(summary_add_classes(summary));
    TRY(add_tree(summary));
    return summary_add_goroutines(summary, &places);
}

static void summary_deinit(struct summary *summary)
{
    summary_tables_deinit(&summary->tables);
    database_close(summary->database);
    free(summary->classes.data);
    merged_deinit(&summary->merged);
}

/* Adds the heap to a database of summaries. The database is locked only after all work that takes
 * long. */
struct g2h_error *summary_write(const struct g2h_view *view,
                                const struct g2h_dominators *dominators,
                                const struct g2h_output_options *options)
{
    _cleanup_(summary_deinit) struct summary summary = {.view = view, .options = options};
    const struct g2h_summary_options *wanted = OPTIONS_COPY(&summary.wanted, options->summary);
    TRY(merged_make(view, dominators, options->threads, MERGED_ISLANDS_NONE, &summary.merged));
    TRY(gather_classes(&summary));
    TRY(wanted->append_to ? database_open(wanted->append_to, wanted->dump, &summary.database)
                          : database_create(options->fd, options->name, &summary.database));
    TRY(summary_tables_init(&summary.tables, summary.database, options->name));
    if (wanted->append_to)
        TRY(database_narrow(summary.database, wanted->dump));
    TRY(summary_add_all(&summary));
    if (wanted->append_to)
        TRY(summary_tables_check(&summary.tables));
    return database_commit(summary.database);
}
