/*
 * web: the library in a page (docs/web.md). worker.js calls the exported functions; what they
 * print on standard error, it shows. Names of files are those of the files that were dropped. What
 * the library needs of a system, and wasi-libc lacks, is in libc.c and libc/.
 *
 *   web_text()   room for an argument
 *   web_kind()   what a file is
 *   web_add()    a dump that the heap is compared with, the oldest first
 *   web_open()   the heap
 *   web_write()  a format of it
 *
 * Functions that can fail return whether they succeeded; otherwise the reason has been printed.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

#include "base/error.h"
#include "cli/messages.h"
#include "cli/terminal.h"
#include "input/magic.h"
#include "input/unpack.h"
#include "library/pipeline.h"

/* Begins a function that the page can call. */
#define EXPORT(result, name, ...) \
    __attribute__((export_name(#name))) result name(__VA_ARGS__); \
    result name(__VA_ARGS__)

/* Tells the page how far a step is; total is 0 if that is not known. */
__attribute__((import_module("page"), import_name("progress"))) void
page_progress(const char *phase, size_t size, double done, double total);

/* The most dumps that a heap is compared with. */
enum { MOST_BASES = 63 };

static struct {
    struct pipeline made;
    struct g2h_base *bases[MOST_BASES];
    int64_t times[MOST_BASES + 1]; /* when each of them was taken, and finally the heap */
    size_t base_count;
    struct collections of_base; /* of the latest of them */
    uint64_t base_build;        /* hash of the first one's executable */
    bool is_base_other;
} page;

/* ---- progress ---- */

/* Does nothing: there is no line of progress between the messages. */
void progress_clear(void)
{
}

static void update(void *context, const char *phase, uint64_t done, uint64_t total,
                   uint64_t objects)
{
    (void)context, (void)objects;
    page_progress(phase, strlen(phase), (double)done, (double)total);
}

static const struct g2h_progress progress = {update, NULL};

/* Shows in the page that a step begins. */
static void begin_phase(const void *context, const char *phase)
{
    (void)context;
    page_progress(phase, strlen(phase), 0, 0);
}

/* Prints and frees an error. Returns whether there was none. */
static bool succeeds(struct g2h_error *error)
{
    if (!error)
        return true;
    say("go2heapsnapshot: %s", error->message);
    g2h_error_destroy(error);
    return false;
}

/* ---- files ---- */

/* Returns room for a text of this size and its terminator, which stays; NULL: no memory. */
EXPORT(char *, web_text, size_t size)
{
    return calloc(size + 1, 1);
}

/* Returns what a file is by its first bytes, plain or compressed by gzip: 'd' a dump or what may be
 * one, 'c' a core file, 'x' an executable, 'Z', 'X' or 'L' compressed by zstd, xz or lz4, for which
 * there are no libraries here, '?' nothing that can be read. */
EXPORT(int, web_kind, const char *path)
{
    static const char dump[] = "go1.";
    uint8_t begin[4096];
    gzFile file = gzopen(path, "rb");
    const int count = file ? gzread(file, begin, sizeof(begin)) : -1;
    const size_t size = count > 0 ? (size_t)count : 0;
    if (file)
        gzclose(file);
    const struct unpack_method *method = unpack_method_of(begin, size);
    if (method && !method->begin)
        return method->name[0] + 'A' - 'a';
    if (magic_is_executable(begin, size))
        return 'x';
    if (magic_is_core(begin, size))
        return 'c';
    return size >= sizeof(dump) - 1 && memcmp(begin, dump, sizeof(dump) - 1) == 0 ? 'd' : '?';
}

/* ---- heaps ---- */

/* Takes the steps from a file to a view; the executable is NULL if there is none. */
static struct g2h_error *make(const char *path, const char *exe, struct pipeline *ret)
{
    const struct origin_options origin = {
        .path = path, .exe = exe, .threads = 1, .progress = &progress};
    const struct pipeline_options steps = {.exe = exe, .threads = 1, .phase = begin_phase};
    const struct g2h_view_options view = {0};
    TRY(origin_open(&origin, &ret->origin));
    message_process(&ret->origin, true);
    TRY(pipeline_load(ret, 1, &progress));
    message_warnings(&ret->origin, ret->heap);
    TRY(pipeline_match(ret, &steps));
    if (ret->origin.exe)
        message_missing_in_exe(ret->origin.exe, ret->heap);
    TRY(pipeline_graph(ret, &steps));
    return pipeline_view(ret, &view, NULL);
}

/* Converts one more dump, and makes a base of it, to compare the others with; its time is kept, the
 * collections of the last one, and the executable of the first. Error G2H_ERROR_LIMIT if there are
 * MOST_BASES already. */
static struct g2h_error *add(const char *path, const char *exe, struct pipeline *made)
{
    const size_t number = page.base_count;
    if (number == MOST_BASES)
        return error_create(G2H_ERROR_LIMIT, "%s: at most %d dumps are compared with one", path,
                            MOST_BASES);
    TRY(make(path, exe, made));
    TRY(g2h_base_create(made->view, made->origin.input->name, 1, &page.bases[number]));
    page.times[number] = pipeline_written_at(made->origin.input);
    page.of_base = pipeline_collections(made);
    if (number == 0)
        page.base_build = pipeline_executable_hash(made);
    page.base_count++;
    return NULL;
}

/* Notes the names and sizes in a dump that the heap is compared with. */
EXPORT(bool, web_add, const char *path, const char *exe)
{
    struct pipeline made = {0};
    struct g2h_error *error = add(path, exe, &made);
    pipeline_deinit(&made);
    return succeeds(error);
}

/* Opens the heap. */
EXPORT(bool, web_open, const char *path, const char *exe)
{
    if (!succeeds(make(path, exe, &page.made)))
        return false;
    page.times[page.base_count] = pipeline_written_at(page.made.origin.input);
    page.is_base_other =
        page.base_count > 0 && page.base_build != pipeline_executable_hash(&page.made);
    return true;
}

/* Returns whether the last dump that was added is newer than the heap, by their collections. */
EXPORT(bool, web_is_reversed, void)
{
    const struct collections heap = pipeline_collections(&page.made);
    return page.base_count > 0 && !page.is_base_other && heap.count < page.of_base.count;
}

/* ---- formats ---- */

/* Writes the page's heap in a format, on one thread, compared with the first of the dumps before if
 * there are any. */
static struct g2h_error *write_to(const struct g2h_format *format, bool is_json, const int *fds,
                                  const char *path)
{
    const struct g2h_report_options report = {.size = sizeof(report),
                                              .base = page.base_count > 0 ? page.bases[0] : NULL,
                                              .is_base_other = page.is_base_other,
                                              .json = is_json};
    const struct g2h_html_options html = {.size = sizeof(html),
                                          .series = (const struct g2h_base *const *)page.bases,
                                          .series_count = page.base_count,
                                          .times = page.times};
    const struct g2h_output_options options = {
        .size = sizeof(options),
        .fd = fds[0],
        .fds = fds,
        .name = path,
        .program = page.made.origin.exe ? g2h_exe_path(page.made.origin.exe) : NULL,
        .source = page.made.origin.input->name,
        .memory = &page.made.origin.memory,
        .threads = 1,
        .progress = &progress,
        .report = &report,
        .html = &html};
    begin_phase(NULL, format->is_text ? "report" : "writing");
    return g2h_write(format, page.made.view, &options);
}

/* Writes a format, which has its name as the program's --format takes it, to a file, or to two if
 * it has two; other is NULL otherwise. */
EXPORT(bool, web_write, const char *name, bool is_json, const char *path, const char *other)
{
    const struct g2h_format *format = g2h_format_find(name, NULL);
    const int fds[G2H_MOST_FILES] = {open(path, O_RDWR | O_CREAT | O_TRUNC, 0644),
                                     other ? open(other, O_RDWR | O_CREAT | O_TRUNC, 0644) : -1};
    const bool has_files = fds[0] >= 0 && (other ? fds[1] >= 0 : !format || !format->files[1]);
    if (!format || !has_files)
        say("go2heapsnapshot: %s: this page cannot write %s", path, name);
    struct g2h_error *error = format && has_files ? write_to(format, is_json, fds, path) : NULL;
    for (size_t i = 0; i < G2H_MOST_FILES; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return format && has_files && succeeds(error);
}
