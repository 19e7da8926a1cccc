/*
 * fuzz_target; see fuzz_target.h.
 *
 * It does the work of convert() and main() in src/main.c, with the program's own messages
 * (src/cli/messages.c).
 */
#include "fuzz_target.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../conversion.h"
#include "cli/messages.h"
#include "cli/options.h"

uint64_t fuzz_choice(const uint8_t *data, size_t size)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += data[i];
    return sum;
}

/* Folds a third of all inputs, converts half of them without garbage, and redacts a fifth of them,
 * always with one key, so that the same input gives the same output. */
static struct conversion_options choose_options(const struct g2h_exe *exe, unsigned threads,
                                                uint64_t choice)
{
    static const uint8_t key[G2H_REDACT_KEY] = "a key of 16 char";
    return (struct conversion_options){
        .exe = exe,
        .threads = threads,
        .redact_key = choice % 5 == 0 ? key : NULL,
        .view = {.reachable = choice % 2 == 0,
                 .max_nodes = choice % 3 == 0 ? UINT64_C(16) << choice / 6 % 10 : 0}};
}

static struct g2h_error *open_exe(const char *path, const struct g2h_heap *heap,
                                  struct g2h_exe **ret)
{
    if (!path)
        return NULL;
    struct g2h_error *error = g2h_exe_open(path, ret);
    if (!error)
        error = g2h_exe_match(*ret, heap);
    if (!error)
        message_missing_in_exe(*ret, heap);
    return error;
}

/* Writes a format that needs a file of its own. */
static struct g2h_error *write_file(const struct g2h_format *format, const struct g2h_view *view,
                                    const struct g2h_output_options *options)
{
    struct g2h_output_options to_file = *options;
    to_file.fd = memfd_create("another format", MFD_CLOEXEC);
    if (to_file.fd < 0)
        abort();
    struct g2h_error *error = g2h_write(format, view, &to_file);
    close(to_file.fd);
    return error;
}

/* Returns whether a format cannot show this heap: without a profile, or without ages. */
static bool is_refused(const struct g2h_format *format, const struct g2h_error *error)
{
    return error->code == G2H_ERROR_NO_PROFILE ||
           (error->code == G2H_ERROR_NOT_FOUND && strcmp(format->name, "heaptimeline") == 0);
}

/* Writes all formats except the first, and the summaries. Nobody reads them here. */
static struct g2h_error *write_others(const struct g2h_view *view, unsigned threads,
                                      uint64_t choice)
{
    const struct g2h_report_options report = {.size = sizeof(report),
                                              .columns = (unsigned)(choice % 200)};
    const struct g2h_output_options output_options = {.size = sizeof(output_options),
                                                      .fd = fuzz_nowhere(),
                                                      .name = "another format",
                                                      .source = "a dump",
                                                      .threads = threads,
                                                      .report = &report};
    static const char *const labels[] = {"host=web-17", "release="};
    const struct g2h_summary_options summary = {
        .size = sizeof(summary), .labels = labels, .label_count = 2};
    struct g2h_output_options of_summary = output_options;
    const struct g2h_format *format;
    struct g2h_error *error = NULL;
    of_summary.summary = &summary;
    for (size_t i = 1; !error && (format = g2h_format(i)); i++) {
        error = format->is_file ? write_file(format, view, &output_options)
                                : g2h_write(format, view, &output_options);
        if (error && is_refused(format, error)) {
            g2h_error_destroy(error);
            error = NULL;
        }
        if (!error && (format->takes & G2H_TAKES_SUMMARY) != 0)
            error = write_file(format, view, &of_summary);
    }
    return error;
}

struct g2h_error *fuzz_write_all(const struct g2h_view *view, unsigned threads, uint64_t choice,
                                 int fd)
{
    const struct g2h_heapsnapshot_options heapsnapshot = {.size = sizeof(heapsnapshot),
                                                          .no_contexts = choice % 7 == 0};
    const struct g2h_output_options options = {.size = sizeof(options),
                                               .fd = fd,
                                               .name = "the snapshot",
                                               .threads = threads,
                                               .heapsnapshot = &heapsnapshot};
    struct g2h_error *error = g2h_write(g2h_format(0), view, &options);
    return error ? error : write_others(view, threads, choice);
}

int fuzz_convert(const struct g2h_input *input, const char *exe_path, unsigned threads,
                 uint64_t choice, fuzz_write *write, int fd)
{
    const struct g2h_heap_options heap_options = {.threads = threads};
    const struct g2h_format *output_format = g2h_format(0);
    struct g2h_heap *heap = NULL;
    struct g2h_exe *exe = NULL;
    const struct g2h_numbers_account numbers = {0};
    struct conversion conversion = {.graph = NULL};

    struct g2h_error *error = g2h_heap_load(input, &heap_options, &heap);
    if (!error) {
        const struct origin origin = {.input = (struct g2h_input *)(uintptr_t)input};
        message_warnings(&origin, heap);
        error = open_exe(exe_path, heap, &exe);
    }
    const struct conversion_options options = choose_options(exe, threads, choice);
    const struct options said = {.format = output_format,
                                 .reachable = options.view.reachable,
                                 .no_contexts = choice % 7 == 0,
                                 .max_nodes = options.view.max_nodes};
    if (!error)
        error = conversion_init(&conversion, heap, &options);
    if (!error)
        message_size(&said, input, conversion.graph, conversion.view);
    if (!error)
        error = write(conversion.view, threads, choice, fd);
    if (!error)
        message_account(&said, input, exe, conversion.graph, conversion.view, &numbers);
    else
        message_error(error);
    if (!error && exe)
        message_typed(input, heap, exe, conversion.graph);
    int status = error ? EXIT_FAILED : g2h_heap_is_complete(heap) ? EXIT_FINE : EXIT_DAMAGED;

    g2h_error_destroy(error);
    conversion_deinit(&conversion);
    g2h_exe_close(exe);
    g2h_heap_destroy(heap);
    return status;
}

/* Returns whether two files have the same bytes. */
static bool are_same(int one, int other)
{
    static char buffers[2][1 << 16];
    ssize_t count;
    off_t at = 0;
    while ((count = pread(one, buffers[0], sizeof(buffers[0]), at)) > 0) {
        if (pread(other, buffers[1], sizeof(buffers[1]), at) != count ||
            memcmp(buffers[0], buffers[1], (size_t)count) != 0)
            return false;
        at += count;
    }
    return count == 0 && pread(other, buffers[1], 1, at) == 0;
}

void fuzz_convert_any(const struct g2h_input *input, const char *exe, uint64_t choice,
                      fuzz_write *write)
{
    enum { SELDOM = 16, THREADS = 3 };
    if (choice % SELDOM != 0) {
        fuzz_convert(input, exe, 1, choice, write, fuzz_nowhere());
        return;
    }
    choice /= SELDOM;
    const int one = memfd_create("one", MFD_CLOEXEC), other = memfd_create("other", MFD_CLOEXEC);
    if (one < 0 || other < 0 ||
        fuzz_convert(input, exe, 1, choice, write, one) !=
            fuzz_convert(input, exe, THREADS, choice, write, other) ||
        !are_same(one, other)) {
        fputs("is not so: what is written does not depend on the number of threads\n", stderr);
        abort();
    }
    close(one);
    close(other);
}

/* Returns a copy of a dump in which one byte of every few hundred is changed. */
static uint8_t *change(const struct g2h_input *input, uint64_t choice)
{
    uint8_t *copy = malloc(input->size + 1);
    if (!copy)
        abort();
    memcpy(copy, input->data, input->size);
    for (uint64_t i = 64 + choice % 256; i < input->size; i += 64 + (i * choice >> 5) % 512)
        copy[i] ^= (uint8_t)(1 + choice % 255);
    return copy;
}

static struct g2h_error *add(struct g2h_identity *identity, const struct g2h_input *input,
                             struct g2h_heap **ret)
{
    static const struct g2h_heap_options heap_options = {.threads = 1};
    static const struct conversion_options options = {.threads = 1};
    struct conversion conversion = {.graph = NULL};
    struct g2h_error *error = g2h_heap_load(input, &heap_options, ret);
    const struct g2h_output_options output = {.size = sizeof(output),
                                              .fd = fuzz_nowhere(),
                                              .name = "the snapshot",
                                              .threads = 1,
                                              .series = identity};
    if (!error)
        error = conversion_init(&conversion, *ret, &options);
    if (!error)
        error = g2h_identity_add(identity, conversion.graph);
    if (!error)
        error = g2h_write(g2h_format(0), conversion.view, &output);
    const struct g2h_identity_account *account = g2h_identity_account(identity);
    if (!error && (account->candidates != account->survivors + account->reused_slots ||
                   account->objects != g2h_heap_object_count(*ret))) {
        fputs("is not so: survivors and reused slots are the candidates\n", stderr);
        abort();
    }
    conversion_deinit(&conversion);
    return error;
}

void fuzz_series(const struct g2h_input *input, uint64_t choice)
{
    uint8_t *copy = change(input, choice);
    struct g2h_identity *identity = NULL;
    struct g2h_input *changed = NULL;
    struct g2h_heap *heaps[2] = {NULL, NULL};
    struct g2h_error *error = g2h_identity_create(1, &identity);
    if (!error)
        error = g2h_input_from_memory("changed", copy, input->size, &changed);
    if (!error)
        error = add(identity, choice % 2 == 0 ? input : changed, &heaps[0]);
    if (!error)
        error = add(identity, choice % 2 == 0 ? changed : input, &heaps[1]);
    if (error)
        message_error(error);
    g2h_error_destroy(error);
    g2h_identity_destroy(identity);
    g2h_heap_destroy(heaps[0]);
    g2h_heap_destroy(heaps[1]);
    g2h_input_close(changed);
    free(copy);
}

int fuzz_nowhere(void)
{
    static int nowhere = -1;
    if (nowhere < 0)
        nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    return nowhere;
}

int fuzz_file(const void *data, size_t size, char ret_path[FUZZ_PATH])
{
    const int file = memfd_create("fuzz", MFD_CLOEXEC);
    if (file < 0 || write(file, data, size) != (ssize_t)size)
        abort();
    snprintf(ret_path, FUZZ_PATH, "/proc/self/fd/%d", file);
    return file;
}
