/*
 * target_heapquery: an input is a heap snapshot of V8, which heapquery makes a database of. What it
 * accepts must be a sound database, whose tables agree with each other.
 *
 * It is linked without the program's own code: both have functions for JSON.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

#define main heapquery_main
int heapquery_main(int argc, char **argv);
#include "../../tools/heapquery/heapquery.c"
#undef main

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_FACTOR = 1000, LARGEST_LEAST = 1 << 20 };

/* Each holds for any snapshot. */
static const char *const truths[] = {
    "SELECT group_concat(integrity_check) = 'ok' FROM pragma_integrity_check",
    "SELECT (SELECT count(*) FROM edge_) = (SELECT sum(edge_count) FROM node_)",
    "SELECT count(*) = 0 FROM edge_ WHERE to_node NOT IN (SELECT number FROM node_)",
    "SELECT count(*) = 0 FROM node_ WHERE name NOT IN (SELECT number FROM string)",
    "SELECT count(*) = 1 FROM node_ WHERE dominator IS NULL",
    "SELECT max(retained_size) <= sum(self_size) AND min(retained_size) >= 0 FROM node_",
};

/* Checks the database in a file. */
static void check_truths(int file, size_t size)
{
    sqlite3 *handle = NULL;
    unsigned char *data = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    CHECK(data != MAP_FAILED && sqlite3_open(":memory:", &handle) == SQLITE_OK);
    CHECK(sqlite3_deserialize(handle, "main", data, (sqlite3_int64)size, (sqlite3_int64)size,
                              SQLITE_DESERIALIZE_READONLY) == SQLITE_OK);
    for (size_t i = 0; i < sizeof(truths) / sizeof(*truths); i++) {
        sqlite3_stmt *statement = NULL;
        if (sqlite3_prepare_v2(handle, truths[i], -1, &statement, NULL) != SQLITE_OK ||
            sqlite3_step(statement) != SQLITE_ROW || sqlite3_column_int(statement, 0) != 1) {
            fprintf(stderr, "is not so: %s: %s\n", truths[i], sqlite3_errmsg(handle));
            abort();
        }
        sqlite3_finalize(statement);
    }
    sqlite3_close(handle);
    munmap(data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct g2h_input *input;
    const struct target target = {.fd = memfd_create("database", MFD_CLOEXEC), .name = "database"};
    CHECK(target.fd >= 0);
    struct g2h_error *error = g2h_input_from_memory("fuzz", data, size, &input);
    CHECK(!error);
    error = write_database(input, &target);
    CHECK(!error || error->code == G2H_ERROR_DAMAGED || error->code == G2H_ERROR_MEMORY);
    const off_t written = lseek(target.fd, 0, SEEK_END);
    CHECK(written >= 0 && (size_t)written <= LARGEST_LEAST + size * LARGEST_FACTOR);
    if (!error)
        check_truths(target.fd, (size_t)written);
    g2h_error_destroy(error);
    g2h_input_close(input);
    close(target.fd);
    return 0;
}
