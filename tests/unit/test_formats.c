/* Covers g2h_write(): each format of a small typed heap, whole and folded, is written and leaves
 * nothing allocated; a destination that is full is an error. What is written is compared in
 * tests/golden. */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

#define DUMP "tests/golden/inputs/go1.27-dwarf.2.dump.gz"
#define EXE  "tests/golden/inputs/go1.27-dwarf.exe.gz"

static struct g2h_session *open_session(uint32_t max_nodes)
{
    const struct g2h_open_options options = {.size = sizeof(options), .max_nodes = max_nodes};
    struct g2h_session *session;
    assert_no_error(g2h_open(DUMP, EXE, &options, &session));
    return session;
}

static void expect_written(const struct g2h_session *session, const struct g2h_format *format)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    const struct g2h_output_options options = {
        .size = sizeof(options), .fd = fileno(file), .name = format->name, .threads = 2};
    unsigned char start[2];
    assert_no_error(g2h_write(format, g2h_session_view(session), &options));
    assert_true(lseek(options.fd, 0, SEEK_END) > 100);
    assert_int_equal(pread(options.fd, start, 2, 0), 2);
    assert_int_equal(format->is_compressed, start[0] == 0x1f && start[1] == 0x8b);
    fclose(file);
}

/* A timeline is refused: nobody has watched the collections of the process. */
static bool is_refused(const struct g2h_session *session, const struct g2h_format *format)
{
    const struct g2h_output_options options = {
        .size = sizeof(options), .fd = -1, .name = format->name, .threads = 2};
    if (strcmp(format->name, "heaptimeline") != 0)
        return false;
    struct g2h_error *error = g2h_write(format, g2h_session_view(session), &options);
    assert_non_null(error);
    assert_int_equal(error->code, G2H_ERROR_NOT_FOUND);
    g2h_error_destroy(error);
    return true;
}

TEST(whole)
{
    const struct g2h_format *format;
    struct g2h_session *session = open_session(0);
    for (size_t i = 0; (format = g2h_format(i)); i++)
        if (!is_refused(session, format))
            expect_written(session, format);
    g2h_close(session);
}

TEST(folded)
{
    const struct g2h_format *format;
    struct g2h_session *session = open_session(300);
    for (size_t i = 0; (format = g2h_format(i)); i++)
        if ((format->takes & G2H_TAKES_FOLDED) != 0)
            expect_written(session, format);
    g2h_close(session);
}

TEST(full)
{
    const struct g2h_format *format;
    struct g2h_session *session = open_session(0);
    const int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    for (size_t i = 0; (format = g2h_format(i)); i++) {
        const struct g2h_output_options options = {
            .size = sizeof(options), .fd = fd, .name = "/dev/full", .threads = 2};
        if (format->is_file || is_refused(session, format))
            continue;
        struct g2h_error *error = g2h_write(format, g2h_session_view(session), &options);
        assert_non_null(error);
        assert_int_equal(error->code, G2H_ERROR_SYSTEM);
        g2h_error_destroy(error);
    }
    close(fd);
    g2h_close(session);
}

UNIT_MAIN(NULL, NULL)
