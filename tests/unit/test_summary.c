/* Covers summaries of databases (--format sqlite --summary): of more classes and places in the tree
 * than a summary has rows for, those that retain most are there, and the others are added up. */
#include "dump_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

#ifdef WITH_SQLITE
#include <sqlite3.h>

enum { CLASSES = 2600, MOST_CLASSES = 1000, MOST_TREE_ROWS = 2000, SMALLEST = 64 };

/* Writes an object of each class, those of the first classes the smallest; all are held by an
 * array. */
static void put_classes(struct dump *dump)
{
    static uint64_t pointers[CLASSES];
    dump_start(dump, DUMP_1_3, 8, false);
    uint64_t address = dump->heap_start;
    for (uint64_t i = 0; i < CLASSES; i++) {
        const uint64_t size = SMALLEST + i / 100 * 16;
        char name[16];
        snprintf(name, sizeof(name), "main.T%04u", (unsigned)i);
        dump_type(dump, 0x400000 + i * 64, size, name, true, NULL, 0);
        dump_typed_object(dump, address, 0x400000 + i * 64, 0, size, NO_WORDS);
        pointers[i] = address;
        address += 1024;
    }
    dump_typed_object(dump, address, 0, 127, sizeof(pointers), CLASSES, pointers);
    dump_bss(dump, 0x560000, WORDS(address));
    dump_eof(dump);
}

/* Writes the summary of a view to a file, and opens it. */
static sqlite3 *summary_of(const struct g2h_view *view)
{
    char path[] = "/tmp/test_summary.XXXXXX";
    const struct g2h_summary_options summary = {.size = sizeof(summary)};
    const struct g2h_output_options options = {
        .size = sizeof(options), .fd = mkstemp(path), .name = path, .summary = &summary};
    sqlite3 *database;
    assert_true(options.fd >= 0);
    assert_no_error(g2h_write(g2h_format_find("sqlite", NULL), view, &options));
    assert_int_equal(sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    unlink(path);
    close(options.fd);
    return database;
}

static sqlite3_int64 number(sqlite3 *database, const char *query)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(database, query, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", query, sqlite3_errmsg(database));
    if (sqlite3_step(statement) != SQLITE_ROW)
        fail_msg("%s has no row", query);
    const sqlite3_int64 value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

TEST(those_that_retain_most)
{
    DUMP dump;
    put_classes(&dump);
    sqlite3 *database = summary_of(dump_view(&dump, 1, NULL));

    const char *const classes = "SELECT count(*) FROM class_stat WHERE class LIKE 'main.T%'";
    assert_int_equal(number(database, classes), MOST_CLASSES - 1); /* and the array */
    assert_int_equal(number(database, "SELECT min(class) = 'main.T1600' FROM class_stat WHERE "
                                      "class LIKE 'main.T%'"),
                     1);
    assert_int_equal(number(database, "SELECT sum(objects) FROM class_stat"), CLASSES + 1);

    /* The rows of the tree that are not classes: what is above them. */
    const sqlite3_int64 above =
        number(database, "SELECT count(*) FROM tree WHERE kind NOT IN ('class', 'others')");
    const char *const kept = "SELECT count(*) FROM tree WHERE kind = 'class'";
    assert_true(above > 0 && above < 20);
    assert_true(number(database, kept) > MOST_TREE_ROWS - 20);
    assert_true(number(database, kept) <= MOST_TREE_ROWS);
    assert_int_equal(number(database, "SELECT count(*) FROM tree WHERE name = 'main.T2599'"), 1);
    assert_int_equal(number(database, "SELECT count(*) FROM tree WHERE name = 'main.T0000'"), 0);
    assert_int_equal(number(database, "SELECT sum(objects) FROM tree WHERE kind IN ('class', "
                                      "'others')"),
                     CLASSES + 1);
    sqlite3_close(database);
}
#endif

UNIT_MAIN(NULL, NULL)
