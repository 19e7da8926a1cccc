/*
 * target_options: an input is a command line, with one argument per line. The whole program runs
 * with it, main() included, in a directory that has a few files: see prepare().
 *
 * Afterwards all files must be unchanged, and the output is the only new one. If the program
 * failed, there is no new file, except the snapshots of the earlier dumps of a series. No file may
 * be readable by more users than the dump is.
 */
#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "check.h"
#include "fuzz_target.h"
#include "pair.h"

#define main program_main
int program_main(int argc, char **argv);
#include "main.c"
#undef main

enum { ARGUMENTS_MOST = 24, LINE_MOST = 2048, FILE_MOST = 1 << 18 };

int LLVMFuzzerInitialize(int *argc, char ***argv);

static uint8_t pair[FILE_MOST], packed[FILE_MOST];
static size_t pair_size, exe_size;
static char directory[] = "/dev/shm/go2heapsnapshot-fuzz.XXXXXX";
static int home, work;

static void remove_directory(void)
{
    rmdir(directory);
}

/* Takes the executable and the dump that the files are made of from an input of target_exe, which
 * has both. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    const int file = open(FUZZ_CORPUS "/exe/elf-64-1.27", O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? -1 : read(file, pair, sizeof(pair));
    CHECK(size > 0);
    close(file);
    pair_size = (size_t)size;
    exe_size = pair_split(pair, pair_size);
    CHECK(exe_size > 0 && exe_size < pair_size && mkdtemp(directory));
    atexit(remove_directory);
    setenv("TMPDIR", "/dev/shm", 1);
    home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    work = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(home >= 0 && work >= 0);
    /* Snapshots on standard output must not be seen, and must not block if it is a pipe. */
    CHECK(dup2(fuzz_nowhere(), STDOUT_FILENO) >= 0);
    return 0;
}

/* ---- files ---- */

static size_t pack(const uint8_t *data, size_t size)
{
    z_stream stream = {0};
    CHECK(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    stream.next_in = (z_const Bytef *)(uintptr_t)data;
    stream.avail_in = (uInt)size;
    stream.next_out = packed;
    stream.avail_out = sizeof(packed);
    CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    deflateEnd(&stream);
    return sizeof(packed) - stream.avail_out;
}

static const char text[] = "A text, which is good for a key.";

/* The files of the directory: their names, and which bytes each holds. */
static const struct {
    const char *name;
    enum { DUMP, EXE, TEXT } what;
    bool packed;
    size_t cut; /* bytes that are missing at the end */
} files[] = {
    {"dump", DUMP, false, 0},     {"dump.gz", DUMP, true, 0},
    {"cut", DUMP, false, 300},    {"cut.gz", DUMP, true, 40},
    {"app", EXE, false, 0},       {"app.gz", EXE, true, 0},
    {"text", TEXT, false, 0},     {"empty", TEXT, false, sizeof(text) - 1},
    {"sub/dump", DUMP, false, 0}, {"-dump", DUMP, false, 0},
};
enum { FILES = sizeof(files) / sizeof(files[0]) };

static const uint8_t *contents(size_t i, size_t *ret_size)
{
    const uint8_t *data = files[i].what == DUMP  ? pair + exe_size
                          : files[i].what == EXE ? pair
                                                 : (const uint8_t *)text;
    size_t size = files[i].what == DUMP  ? pair_size - exe_size
                  : files[i].what == EXE ? exe_size
                                         : sizeof(text) - 1;
    if (files[i].packed) {
        size = pack(data, size);
        data = packed;
    }
    *ret_size = size - files[i].cut;
    return data;
}

static void prepare(void)
{
    CHECK(fchdir(work) == 0 && mkdir("sub", 0700) == 0);
    for (size_t i = 0; i < FILES; i++) {
        size_t size;
        const uint8_t *data = contents(i, &size);
        const int file = open(files[i].name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        CHECK(file >= 0 && write(file, data, size) == (ssize_t)size);
        close(file);
    }
    CHECK(symlink("dump", "link") == 0 && symlink("nothing", "nowhere") == 0);
    const int input = open("dump", O_RDONLY | O_CLOEXEC);
    CHECK(input >= 0 && dup2(input, STDIN_FILENO) == STDIN_FILENO);
    close(input);
}

/* Removes all files below a directory and returns how many there were. */
static size_t clean(const char *path)
{
    size_t count = 0;
    DIR *stream = opendir(path);
    CHECK(stream);
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char name[4096];
        struct stat status;
        CHECK(snprintf(name, sizeof(name), "%s/%s", path, entry->d_name) < (int)sizeof(name));
        CHECK(lstat(name, &status) == 0);
        if (S_ISDIR(status.st_mode)) { /* sub, or the directory of a series */
            count += clean(name);
            CHECK(rmdir(name) == 0);
        } else {
            CHECK(unlink(name) == 0);
            /* Only a user who may read the dump may read what is written from it. */
            CHECK(S_ISLNK(status.st_mode) || (status.st_mode & 0077) == 0);
            count++;
        }
    }
    closedir(stream);
    return count;
}

/* Returns whether a file is as prepare() made it. */
static bool is_unchanged(size_t i)
{
    static uint8_t found[FILE_MOST];
    size_t size;
    const uint8_t *data = contents(i, &size);
    const int file = open(files[i].name, O_RDONLY | O_CLOEXEC);
    const ssize_t count = file < 0 ? -1 : read(file, found, sizeof(found));
    if (file >= 0)
        close(file);
    return count == (ssize_t)size && memcmp(found, data, size) == 0;
}

/* ---- the command line ---- */

static bool is_same_file(const char *one, const char *other)
{
    struct stat a, b;
    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* The files that the program may write. */
struct expected {
    size_t output;    /* the file that may be overwritten, or FILES if none may be */
    size_t snapshots; /* how many a series may write; 0 if it is no series */
    bool waits;       /* --at-death starts a command, or waits for a process: it is not tried */
};

/* Returns whether the output is one of the files that the program reads. */
static bool reads_output(const struct options *options)
{
    const char *input =
        strcmp(options->inputs[0], "-") == 0 ? "/proc/self/fd/0" : options->inputs[0];
    return is_same_file(options->output, input) ||
           (options->exe && is_same_file(options->output, options->exe)) ||
           (options->redact_key && is_same_file(options->output, options->redact_key));
}

static struct expected find_expected(int count, char **arguments)
{
    struct options options;
    struct expected expected = {.output = FILES};
    int status;
    optind = 0;
    if (options_parse(count, arguments, &options, &status)) {
        expected.waits = options.at_death;
        if (options.at_death || options.input_count > 1)
            expected.snapshots = options.input_count;
        else if (options.output && !reads_output(&options))
            for (size_t i = FILES; i-- > 0;)
                if (is_same_file(options.output, files[i].name))
                    expected.output = i;
    }
    options_deinit(&options);
    return expected;
}

/* Replaces slashes so that no path leads out of the directory. */
static void stay_inside(char *line)
{
    static const char allowed[] = "sub/";
    for (char *at = line; *at; at++) {
        const size_t before = (size_t)(at - line);
        if (*at == '/' && (before < 3 || memcmp(at - 3, allowed, 4) != 0 || at[1] == '.'))
            *at = '_';
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char line[LINE_MOST + 1];
    char *arguments[ARGUMENTS_MOST + 2] = {(char[]){"program"}}, *copies[ARGUMENTS_MOST + 2];
    int count = 1;
    size = size < LINE_MOST ? size : LINE_MOST;
    memcpy(line, data, size);
    line[size] = '\0';
    for (size_t i = 0; i < size; i++)
        line[i] = line[i] ? line[i] : ' ';
    stay_inside(line);
    for (char *at = line; at && *at && count <= ARGUMENTS_MOST;)
        arguments[count++] = strsep(&at, "\n");
    memcpy(copies, arguments, sizeof(copies));
    prepare();
    const struct expected expected = find_expected(count, copies); /* getopt() reorders them */
    optind = 0;                                                    /* and starts anew at 0 */
    if (expected.waits) {
        clean(".");
        CHECK(fchdir(home) == 0);
        return 0;
    }
    const int status = program_main(count, arguments);
    CHECK(status == EXIT_FINE || status == EXIT_FAILED || status == EXIT_USAGE ||
          status == EXIT_DAMAGED);
    const bool has_output = status == EXIT_FINE || status == EXIT_DAMAGED;
    for (size_t i = 0; i < FILES; i++)
        CHECK(is_unchanged(i) || (i == expected.output && has_output));
    CHECK(clean(".") <= FILES + 2 + (expected.snapshots > 0 ? expected.snapshots : has_output));
    CHECK(fchdir(home) == 0);
    return 0;
}
