/* Covers library/scratch: which directory gets the temporary copy of a heap. */
#include "unit.h"

#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "input/input.h"
#include "library/death_box.h"

#ifdef __linux__

static char output[] = "./scratch-XXXXXX";

static bool is_tmpfs(const char *directory)
{
    struct statfs status;
    return statfs(directory, &status) == 0 && (uint32_t)status.f_type == 0x01021994;
}

static struct scratch scratch_for(const char *to, bool is_directory)
{
    return (struct scratch){.output = to, .is_directory = is_directory, .part = 3, .file = -1};
}

/* Asserts which directory is chosen for a heap of so many bytes. */
static void chosen(struct scratch scratch, const char *temporary, uint64_t bytes,
                   const char *expected)
{
    if (temporary)
        setenv("TMPDIR", temporary, 1);
    else
        unsetenv("TMPDIR");
    scratch_choose(&scratch, bytes);
    assert_string_equal(scratch.directory, expected);
    assert_int_equal(scratch.file >= 0, *expected != '\0' && !is_tmpfs(expected));
    scratch_deinit(&scratch);
}

/* What cannot be written to, or is not there, does not lose the heap. */
TEST(best_directory)
{
    char file[64];
    assert_non_null(mkdtemp(output));
    snprintf(file, sizeof(file), "%s/app.dump.gz", output);
    chosen(scratch_for(output, true), NULL, 0, output);
    chosen(scratch_for(output, true), "", 0, output);
    chosen(scratch_for(output, true), "/nonexistent", 0, output);
    chosen(scratch_for(output, true), "/proc/self", 0, output);
    chosen(scratch_for(output, true), ".", 0, ".");
    chosen(scratch_for(file, false), NULL, 0, output);
    chosen(scratch_for("app.dump.gz", false), NULL, 0, ".");
    chosen(scratch_for("/dev/null", false), NULL, 0, "/tmp");
    if (is_tmpfs("/dev/shm") && !is_tmpfs("."))
        chosen(scratch_for(output, true), "/dev/shm", 0, output);
    assert_int_equal(rmdir(output), 0);
}

/* A heap for which there is no room is cut to what has room. */
TEST(room)
{
    struct scratch scratch = scratch_for(".", true);
    setenv("TMPDIR", ".", 1);
    scratch_choose(&scratch, 1 << 20);
    assert_true(scratch.has_room && scratch.has_output_room);
    assert_int_equal(scratch.needed, (1 << 20) + (1 << 20) / 3);
    assert_int_equal(scratch_measure(&scratch, 1 << 20), 1 << 20);
    const uint64_t most = scratch_measure(&scratch, 1ull << 60);
    assert_false(scratch.has_room);
    assert_true(most > 0 && most < scratch.free && most > scratch.free / 2);
    scratch_deinit(&scratch);
}

/* Temporary files may be in memory. */
TEST(in_memory)
{
    struct stat status;
    input_use_directory("");
    const int file = input_temporary_file(input_directory());
    assert_true(file >= 0 && fstat(file, &status) == 0 && status.st_size == 0);
    assert_int_equal(write(file, "x", 1), 1);
    close(file);
    input_use_directory(NULL);
}

#endif

UNIT_MAIN(NULL, NULL)
