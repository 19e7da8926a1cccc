/*
 * database: SQLite databases that formats write; see database.h. Two parts, each an interface of
 * SQLite that this file implements with a table of functions:
 *
 * VFS            how SQLite reads and writes the one file of a descriptor (sqlite3_vfs)
 * virtual table  how SQL selects from numbers in memory, without copying these into a table first
 *
 * Functions that SQLite calls have its types and codes; all others return a struct g2h_error.
 */
#include "output/database.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/memory.h"
#include "base/process_root.h"

/* ==== an SQLite database that formats create or add to ====
 *
 * SQLite reaches files through a table of functions, its VFS. The VFS of this file knows one file,
 * the one of a descriptor. It has no locks, since no other process has the file, and keeps the
 * errno of a write that failed, which SQLite's own messages omit. Everything else that SQLite needs
 * from the system comes from its usual VFS.
 */

#if !__has_include(<sqlite3.h>)
#error "sqlite3.h is not there: install libsqlite3-dev, or build without it: make WITH_SQLITE="
#endif

enum { BUSY_MILLISECONDS = 5 * 60 * 1000 };

struct database {
    sqlite3 *handle;
    const char *name;
    int fd;          /* -1: the database was opened by its path */
    int reason;      /* errno of the last failure; 0: none */
    sqlite3_vfs vfs; /* registered while handle is being opened */
    char vfs_name[32];
};

/* ---- the file of a descriptor ---- */

struct database_file {
    sqlite3_file base;
    struct database *database;
};

/* Keeps errno for the message, and returns the code. */
static int database_fail(struct database *database, int code)
{
    database->reason = errno;
    return code;
}

static int file_close(sqlite3_file *file)
{
    (void)file;
    return SQLITE_OK;
}

/* SQLite's xRead: reads exactly size bytes, and zeros the rest beyond the end of the file. */
static int file_read(sqlite3_file *file, void *data, int size, sqlite3_int64 offset)
{
    struct database *database = ((struct database_file *)file)->database;
    char *at = data;
    while (size > 0) {
        const ssize_t count = pread(database->fd, at, as_size(size), offset);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return database_fail(database, SQLITE_IOERR_READ);
        if (count == 0) {
            memset(at, 0, as_size(size)); /* SQLite demands this */
            return SQLITE_IOERR_SHORT_READ;
        }
        at += count;
        offset += count;
        size -= (int)count;
    }
    return SQLITE_OK;
}

/* SQLite's xWrite: writes all bytes, and keeps the errno of a failure. */
static int file_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 offset)
{
    struct database *database = ((struct database_file *)file)->database;
    const char *at = data;
    while (size > 0) {
        const ssize_t count = pwrite(database->fd, at, as_size(size), offset);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return database_fail(database, errno == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE);
        at += count;
        offset += count;
        size -= (int)count;
    }
    return SQLITE_OK;
}

/* SQLite's xTruncate. */
static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct database *database = ((struct database_file *)file)->database;
    return ftruncate(database->fd, size) == 0 ? SQLITE_OK
                                              : database_fail(database, SQLITE_IOERR_TRUNCATE);
}

/* SQLite's xSync. Does nothing: files of all formats get their names without being synced. */
static int file_sync(sqlite3_file *file, int flags)
{
    (void)file;
    (void)flags;
    return SQLITE_OK;
}

/* SQLite's xFileSize. */
static int file_size(sqlite3_file *file, sqlite3_int64 *ret)
{
    struct database *database = ((struct database_file *)file)->database;
    struct stat status;
    if (fstat(database->fd, &status) < 0)
        return database_fail(database, SQLITE_IOERR_FSTAT);
    *ret = status.st_size;
    return SQLITE_OK;
}

/* SQLite's xLock and xUnlock: nothing, since no other process has the file. */
static int file_lock(sqlite3_file *file, int level)
{
    (void)file;
    (void)level;
    return SQLITE_OK;
}

/* SQLite's xCheckReservedLock: nobody else uses the file. */
static int file_is_reserved(sqlite3_file *file, int *ret)
{
    (void)file;
    *ret = 0;
    return SQLITE_OK;
}

/* SQLite's xFileControl: no operation is known. */
static int file_control(sqlite3_file *file, int operation, void *argument)
{
    (void)file;
    (void)operation;
    (void)argument;
    return SQLITE_NOTFOUND;
}

static int file_sector_size(sqlite3_file *file)
{
    (void)file;
    return 4096;
}

static int file_characteristics(sqlite3_file *file)
{
    (void)file;
    return 0;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_lock,
    .xCheckReservedLock = file_is_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
};

/* ---- the VFS of that file ---- */

/* SQLite's xOpen. Opens the descriptor's file, or a temporary file by the usual VFS: SQLite sorts
 * with files that have no name. */
static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret)
{
    struct database *database = vfs->pAppData;
    sqlite3_vfs *usual = sqlite3_vfs_find(NULL);
    if ((flags & SQLITE_OPEN_MAIN_DB) == 0)
        return usual->xOpen(usual, name, file, flags, ret);
    *(struct database_file *)file = (struct database_file){{&methods}, database};
    if (ret)
        *ret = flags;
    return SQLITE_OK;
}

/* SQLite's xDelete. Does nothing: there are no other files. */
static int remove_file(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs;
    (void)name;
    (void)sync;
    return SQLITE_OK;
}

/* SQLite's xAccess. Reports that no file exists: the database has neither a journal nor other files
 * beside it. */
static int database_find_file(sqlite3_vfs *vfs, const char *name, int flags, int *ret)
{
    (void)vfs;
    (void)name;
    (void)flags;
    *ret = 0;
    return SQLITE_OK;
}

/* SQLite's xFullPathname: names stay as they are. */
static int whole_name(sqlite3_vfs *vfs, const char *name, int size, char *ret)
{
    (void)vfs;
    snprintf(ret, as_size(size), "%s", name);
    return SQLITE_OK;
}

/* Opens the descriptor's file by a VFS of its own; see above. */
static struct g2h_error *open_descriptor(struct database *database)
{
    enum { FLAGS = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX };
    sqlite3_vfs *vfs = &database->vfs, *usual = sqlite3_vfs_find(NULL);
    snprintf(database->vfs_name, sizeof(database->vfs_name), "g2h-%p", (void *)database);
    *vfs = *usual;
    vfs->iVersion = 1;
    vfs->pNext = NULL;
    vfs->zName = database->vfs_name;
    vfs->pAppData = database;
    if (vfs->szOsFile < (int)sizeof(struct database_file))
        vfs->szOsFile = (int)sizeof(struct database_file);
    vfs->xOpen = open_file;
    vfs->xDelete = remove_file;
    vfs->xAccess = database_find_file;
    vfs->xFullPathname = whole_name;
    TRY_MEMORY(sqlite3_vfs_register(vfs, 0) == SQLITE_OK);
    const int code = sqlite3_open_v2("database", &database->handle, FLAGS, vfs->zName);
    sqlite3_vfs_unregister(vfs); /* a file that is open keeps using it */
    return code == SQLITE_OK ? NULL : database_error(database);
}

/* ---- opening and closing ---- */

/* Returns the error for a descriptor that cannot be read back, such as a pipe. */
static struct g2h_error *refuse_device(const char *name)
{
    return error_create(G2H_ERROR_SYSTEM,
                        "%s: cannot write a database there: it takes a file of "
                        "its own, no pipe and no device",
                        name);
}

/* Checks that SQLite can use a descriptor as it uses files: it reads back what it has written. */
static struct g2h_error *check_descriptor(int fd, const char *name)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                   (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR
               ? NULL
               : refuse_device(name);
}

/* Allocates a database that is not open yet; fd is -1 if it will be opened by its path. */
static struct g2h_error *database_allocate(const char *name, int fd, struct database **ret)
{
    if (sqlite3_initialize() != SQLITE_OK)
        return &error_no_memory;
    *ret = calloc(1, sizeof(**ret));
    TRY_MEMORY(*ret);
    (*ret)->name = name;
    (*ret)->fd = fd;
    return NULL;
}

/* Begins a database in an empty file. For a new file, which nobody else reads: no journal, and all
 * in one transaction. */
struct g2h_error *database_create(int fd, const char *name, struct database **ret)
{
    _cleanup_(database_closed) struct database *database = NULL;
    TRY(check_descriptor(fd, name));
    TRY(database_allocate(name, fd, &database));
    TRY(open_descriptor(database));
    TRY(database_run(database, "PRAGMA page_size=4096; PRAGMA journal_mode=OFF;"
                               "PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
                               "PRAGMA cache_size=-2048; BEGIN"));
    *ret = take_pointer(database);
    return NULL;
}

/* Creates the file at a path unless it exists, with permissions that are no wider than the dump's.
 * Error: it is no regular file, or cannot be opened. */
static struct g2h_error *make_file(const char *path, const struct stat *dump)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return refuse_device(path);
    const int made =
        open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666 & permissions_most(dump, getegid()));
    if (made < 0)
        return error_system(errno, "%s: cannot write", path);
    close(made);
    return NULL;
}

/* Switches off what a database could make of rows that are added to it: somebody else may have made
 * it. Versions of SQLite that do not know a switch ignore it. */
static void distrust_schema(const struct database *database)
{
    static const struct {
        int name, value;
    } switches[] = {
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
#ifdef SQLITE_DBCONFIG_ENABLE_VIEW /* 3.30 */
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
#endif
#ifdef SQLITE_DBCONFIG_TRUSTED_SCHEMA /* 3.31: functions in constraints and indexes */
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
#endif
#ifdef SQLITE_DBCONFIG_DEFENSIVE /* 3.26 */
        {SQLITE_DBCONFIG_DEFENSIVE, 1},
#endif
    };
    for (size_t i = 0; i < COUNT_OF(switches); i++)
        (void)sqlite3_db_config(database->handle, switches[i].name, switches[i].value, NULL);
}

/* Opens or creates a database, to add to it. BEGIN IMMEDIATE takes the lock now, so that another
 * process that writes is waited for before anything is read. */
struct g2h_error *database_open(const char *path, const struct stat *dump, struct database **ret)
{
    enum { FLAGS = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX };
    _cleanup_(database_closed) struct database *database = NULL;
    TRY(make_file(path, dump));
    TRY(database_allocate(path, -1, &database));
    if (sqlite3_open_v2(path, &database->handle, FLAGS, NULL) != SQLITE_OK)
        return database_error(database);
    distrust_schema(database);
    sqlite3_busy_timeout(database->handle, BUSY_MILLISECONDS);
    TRY(database_run(database, "BEGIN IMMEDIATE"));
    *ret = take_pointer(database);
    return NULL;
}

/* Removes the permissions that the dump does not have from one file, if it exists. Refuses the file
 * of another user who may not read the dump: its owner could give the permissions back. */
static struct g2h_error *narrow_permissions(const struct database *database, const char *path,
                                            const struct stat *dump)
{
    struct stat status;
    if (stat(path, &status) < 0)
        return errno == ENOENT ? NULL : error_system(errno, "%s: cannot write", database->name);
    const mode_t mode = status.st_mode & 07777;
    const mode_t narrowed = mode & (07000 | permissions_most(dump, status.st_gid));
    const bool is_trusted = status.st_uid == geteuid() || status.st_uid == 0;
    if (!is_trusted && status.st_uid != dump->st_uid && (dump->st_mode & S_IROTH) == 0)
        return error_create(G2H_ERROR_SYSTEM,
                            "%s: belongs to another user, who may not read the dump; --append adds "
                            "no private dump to it",
                            database->name);
    if (narrowed == mode || chmod(path, narrowed) == 0)
        return NULL;
    return error_system(errno,
                        "%s: more users may read it than the dump, and its permissions cannot be "
                        "changed to %03o",
                        database->name, (unsigned)narrowed);
}

/* Takes permissions away that the dump does not have. The journal and other files beside the
 * database contain its data, too. */
struct g2h_error *database_narrow(struct database *database, const struct stat *dump)
{
    static const char *const endings[] = {"", "-journal", "-wal", "-shm"};
    const char *path = sqlite3_db_filename(database->handle, "main");
    if (!dump || !S_ISREG(dump->st_mode))
        return NULL;
    for (size_t i = 0; i < COUNT_OF(endings); i++) {
        _cleanup_free_ char *beside = NULL;
        TRY_MEMORY(asprintf(&beside, "%s%s", path, endings[i]) >= 0);
        TRY(narrow_permissions(database, beside, dump));
    }
    return NULL;
}

struct g2h_error *database_commit(struct database *database)
{
    return database_run(database, "COMMIT");
}

void database_close(struct database *database)
{
    if (!database)
        return;
    sqlite3_close(database->handle);
    free(database);
}

void database_closed(struct database **database)
{
    database_close(*database);
}

/* ---- statements ---- */

sqlite3 *database_handle(const struct database *database)
{
    return database->handle;
}

/* Returns the error about the last failure; errno must still be as that left it. A failure of the
 * system is explained by database->reason, by SQLite's own errno, or by errno, in this order;
 * others by SQLite's code. */
struct g2h_error *database_error(const struct database *database)
{
    static const struct {
        int code;
        const char *words;
    } reasons[] = {
        {SQLITE_BUSY, "another program is writing to it, and has not ended for five minutes"},
        {SQLITE_NOTADB, "is not an SQLite database"},
        {SQLITE_CORRUPT, "is damaged: sqlite3 FILE .recover saves what there is"},
        {SQLITE_READONLY, "cannot write: the file or its directory allows only reading"},
        {SQLITE_CANTOPEN, "cannot write: the journal beside it cannot be made"},
        {SQLITE_IOERR, "cannot be read or written: the disk has a fault"},
    };
    const int last = errno; /* SQLite does not keep the errno of a failed commit */
    sqlite3 *handle = database->handle;
    if (!handle || sqlite3_errcode(handle) == SQLITE_NOMEM)
        return &error_no_memory;
    const int code = sqlite3_errcode(handle);
    const int system = sqlite3_system_errno(handle);
    const int known = system ? system : last;
    const int reason = database->reason ? database->reason : known;
    if (reason != 0 && (code == SQLITE_IOERR || code == SQLITE_FULL || code == SQLITE_CANTOPEN))
        return error_system(reason, "%s: cannot write", database->name);
    if (code == SQLITE_FULL)
        return error_system(ENOSPC, "%s: cannot write", database->name);
    for (size_t i = 0; i < COUNT_OF(reasons); i++)
        if (reasons[i].code == code)
            return error_create(G2H_ERROR_SYSTEM, "%s: %s", database->name, reasons[i].words);
    return error_create(G2H_ERROR_SYSTEM, "%s: SQLite cannot write it: %s", database->name,
                        sqlite3_errmsg(handle));
}

/* Runs statements that return no rows, one after the other. */
struct g2h_error *database_run(struct database *database, const char *sql)
{
    errno = 0;
    return sqlite3_exec(database->handle, sql, NULL, NULL, NULL) == SQLITE_OK
               ? NULL
               : database_error(database);
}

/* Prepares a statement that is run repeatedly. */
struct g2h_error *database_prepare(struct database *database, const char *sql, sqlite3_stmt **ret)
{
    return sqlite3_prepare_v2(database->handle, sql, -1, ret, NULL) == SQLITE_OK
               ? NULL
               : database_error(database);
}

/* Binds a value of the statement; the first value is number 1. database_step() reports errors. */
void database_bind_text(sqlite3_stmt *statement, int number, const void *text, size_t size)
{
    sqlite3_bind_text64(statement, number, text ? text : "", size, SQLITE_STATIC, SQLITE_UTF8);
}

/* Runs a statement that returns no rows, with its bound values, and resets it so that it can run
 * again. */
struct g2h_error *database_step(struct database *database, sqlite3_stmt *statement)
{
    errno = 0;
    const int code = sqlite3_step(statement);
    struct g2h_error *error = code == SQLITE_DONE ? NULL : database_error(database);
    sqlite3_reset(statement);
    return error;
}

void database_finalize(sqlite3_stmt **statement)
{
    sqlite3_finalize(*statement);
}

/* ==== offers numbers in memory as rows of a table that SQL can select from ====
 *
 * It is a virtual table without arguments, as SQLite's documentation describes it.
 */

/* The most numbers that a row has: columns c0, c1 … */
enum { ROWS_COLUMNS = 16 };

struct rows_table {
    sqlite3_vtab base;
    const struct rows *rows;
};

struct rows_cursor {
    sqlite3_vtab_cursor base;
    const struct rows *rows;
    const int64_t *at, *end;
};

/* SQLite's xConnect: declares the columns of the virtual table. */
static int connect_table(sqlite3 *handle, void *context, int count, const char *const *arguments,
                         sqlite3_vtab **ret, char **ret_error)
{
    (void)count;
    (void)arguments;
    (void)ret_error;
    const int code = sqlite3_declare_vtab(
        handle, "CREATE TABLE rows(c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14,"
                " c15)");
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
    assert(rows->columns <= ROWS_COLUMNS);
    cursor->at = rows->data;
    cursor->end = rows->data + rows->count * rows->columns;
    return SQLITE_OK;
}

/* SQLite's xNext. */
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

/* SQLite's xRowid: the number of the row. */
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

/* Registers the table with a database. rows must live until the database is closed. */
struct g2h_error *rows_offer(struct database *database, struct rows *rows)
{
    return sqlite3_create_module_v2(database_handle(database), "rows", &module, rows, NULL) ==
                   SQLITE_OK
               ? NULL
               : database_error(database);
}
