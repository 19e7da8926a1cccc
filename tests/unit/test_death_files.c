/* Covers library/death_files by a directory with files of several programs. */
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "library/death_box.h"

enum { KEPT = 2, PROGRAMS_FILES = 5, OTHERS = 14 };

static const char *const files[PROGRAMS_FILES + OTHERS] = {
    /* The program's: the last one, and then from the newest to the oldest: the process's number
     * does not count. */
    "my_server-7-20241127T125011Z.dump.gz", "my_server-123-20261127T125011Z-90%.dump.gz",
    "my_server-9-20261127T115011Z.dump.gz", "my_server-10-20260927T125011Z-asked.dump.gz",
    "my_server-8-20251127T125011Z.dump.gz",
    /* Others: of other programs or formats, being written, the user's own. */
    "my_serverless-8-20251127T125011Z.dump.gz", "my-server-8-20251127T125011Z.dump.gz",
    "server-8-20251127T125011Z.dump.gz", "my_server--20251127T125011Z.dump.gz",
    "my_server-8-20251127T12501Z.dump.gz", "my_server-8-20251127T125011Z", "my_server-8-.dump.gz",
    "my_server-8-20251127X125011Z.dump.gz", "my_server-8-20251127T125011Z.dump",
    "my_server-8-20251127T125011Z.dump.gz.aB3xYz", "my_server-8-20251127T125011Z-ticket.dump.gz",
    "my_server-8-20251127T125011Z-%.dump.gz", "my_server-8-20251127T125011Z-90.dump.gz",
    "my_server-8-20251127T125011Z.html"};

/* The clock was set back before it was written. */
static const struct death_file last = {"my.server", 7, 1732711811, "", ".dump.gz"};

static char directory[] = "/tmp/death-files-XXXXXX";

static void make_files(int at)
{
    for (size_t i = 0; i < PROGRAMS_FILES + OTHERS; i++) {
        const int fd = openat(at, files[i], O_CREAT | O_WRONLY | O_EXCL, 0600);
        assert_true(fd >= 0);
        close(fd);
    }
    assert_int_equal(mkdirat(at, "my_server-1-20201127T125011Z.dump.gz", 0700), 0);
    assert_int_equal(symlinkat(files[0], at, "my_server-2-20201127T125011Z.dump.gz"), 0);
}

TEST(oldest_are_removed)
{
    uint64_t removed;
    struct stat status;
    assert_non_null(mkdtemp(directory));
    const int at = open(directory, O_RDONLY | O_DIRECTORY);
    make_files(at);
    for (int round = 0; round < 2; round++) {
        assert_no_error(death_files_trim(directory, &last, KEPT, &removed));
        assert_int_equal(removed, round == 0 ? PROGRAMS_FILES - KEPT : 0);
    }
    for (size_t i = 0; i < PROGRAMS_FILES + OTHERS; i++)
        assert_int_equal(fstatat(at, files[i], &status, 0) == 0, i < KEPT || i >= PROGRAMS_FILES);
    assert_int_equal(unlinkat(at, "my_server-1-20201127T125011Z.dump.gz", AT_REMOVEDIR), 0);
    assert_int_equal(unlinkat(at, "my_server-2-20201127T125011Z.dump.gz", 0), 0);
    for (size_t i = 0; i < PROGRAMS_FILES + OTHERS; i++)
        unlinkat(at, files[i], 0);
    close(at);
    assert_true(death_files_room(directory) > 0);
    assert_int_equal(rmdir(directory), 0);
}

TEST(no_directory)
{
    uint64_t removed = 1;
    struct g2h_error *error = death_files_trim("/nonexistent", &last, 1, &removed);
    assert_non_null(error);
    assert_string_equal(error->message,
                        "/nonexistent: cannot read the directory: No such file or directory");
    assert_int_equal(removed, 0);
    g2h_error_destroy(error);
    assert_true(death_files_room("/nonexistent") == UINT64_MAX);
}

/* The names are those that are recognized later. */
TEST(names)
{
    const struct death_file file = {"my.ser/ver", 42, 1764247811, "-90%", ".dump.gz"};
    char *path = death_file_path("dumps", &file);
    assert_string_equal(path, "dumps/my_ser_ver-42-20251127T125011Z-90%.dump.gz");
    free(path);
    char deep[400];
    memset(deep, 'd', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    path = death_file_path(deep, &file);
    assert_int_equal(strlen(path),
                     strlen(deep) + strlen("/my_ser_ver-42-20251127T125011Z-90%.dump.gz"));
    free(path);
}

UNIT_MAIN(NULL, NULL)
