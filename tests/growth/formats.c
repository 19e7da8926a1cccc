/*
 * formats: writes heaps in all formats, in one process of valgrind. A heap is read once for all of
 * them: most of what a conversion costs is the same in each format.
 *
 *   valgrind ... formats DIRECTORY <DUMPS >RUNS
 *
 * A line of DUMPS is a name and the file of a dump, separated by a tab; the executable of the
 * program that wrote it may follow. If the name is "-", the parent itself writes the heap, and
 * nothing is counted: then valgrind has translated code that children will execute.
 *
 * Each format is written by a child of its own, whose count of instructions continues that of its
 * parent; children that do nothing tell the parent's. RUNS has a line "PID STATUS WHO NAME VIEW
 * WHAT" for each child, where STATUS is 128 + the signal if a signal ended it. WHO is "child" if
 * the child has written, or else "parent": then the count is that of the parent, and WHAT is what
 * it did since the last such line, or "-".
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

#include "base/map.h"

enum {
    FEW_NODES = 100,       /* that a folded view has, where it can */
    OUTPUT_MOST = 64 << 20 /* bytes that an output may have; all dumps are far smaller */
};

static const char *directory, *heap_name;

/* What one child writes. */
struct run {
    const struct g2h_format *format;
    const struct g2h_view *view;
    struct g2h_output_options options;
    struct g2h_report_options report;
    struct g2h_html_options html;
};

/* Replaces the random seed of hash tables: with another, other keys would collide, and two runs
 * would differ by up to 0.4 %. */
static void fix_seed(void)
{
    for (size_t i = 0; i < sizeof(map_seed) / sizeof(*map_seed); i++)
        map_seed[i] = (i + 1) * 0x9e3779b97f4a7c15 | (uint64_t)1 << 63 | 1;
}

static void must(struct g2h_error *error)
{
    if (!error)
        return;
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

static void write_format(const struct run *run)
{
    struct g2h_output_options options = run->options;
    options.report = &run->report;
    options.html = &run->html;
    char path[4096];
    snprintf(path, sizeof(path), "%s/output.XXXXXX", directory);
    options.fd = mkstemp(path);
    if (options.fd < 0)
        exit(1);
    unlink(path);
    must(g2h_write(run->format, run->view, &options));
    close(options.fd);
}

/* Lets a child write, or do nothing if run is NULL. */
static void in_child(const struct run *run, const char *view, const char *what)
{
    const struct rlimit most = {OUTPUT_MOST, OUTPUT_MOST};
    int status;
    fprintf(stderr, "== %s %s %s\n", heap_name, view, what);
    const pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_FSIZE, &most);
        if (run)
            write_format(run);
        exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        exit(1);
    printf("%ld %d %s %s %s %s\n", (long)child,
           WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
           run ? "child" : "parent", heap_name, view, what);
    fflush(stdout);
}

typedef void doer(const struct run *run, const char *view, const char *what);

/* Writes in place of in_child(). */
static void here(const struct run *run, const char *view, const char *what)
{
    (void)view, (void)what;
    if (run)
        write_format(run);
}

/* Writes a view in one format and, if nothing is folded, with the options that the format takes. */
static void write_one(struct run run, const char *kind, doer *write)
{
    static const struct g2h_summary_options summary = {
        .size = sizeof(summary)}; /* without labels, to a file of its own */
    const struct g2h_heap *heap = g2h_view_heap(run.view);
    const uint32_t objects = g2h_heap_object_count(heap);
    const unsigned takes = run.format->takes;
    char address[32];
    write(&run, kind, (takes & G2H_TAKES_RATE) != 0 ? "alloc" : run.format->name);
    if (g2h_view_account(run.view)->folded_nodes > 0)
        return;
    if ((takes & G2H_TAKES_SUMMARY) != 0) {
        run.options.summary = &summary;
        write(&run, kind, "summary");
    }
    if ((takes & G2H_TAKES_PATH) != 0 && objects > 0) {
        snprintf(address, sizeof(address), "0x%" PRIx64, g2h_heap_address(heap, objects - 1));
        run.report.path_to = address;
        write(&run, kind, "path");
        run.report.path_to = NULL;
    }
}

/* Writes what has grown since the same view, and trends over it. */
static void write_growth(struct run run, doer *write, const char *kind)
{
    struct g2h_base *base;
    must(g2h_base_create(run.view, "base", 1, &base));
    const struct g2h_base *const series[] = {base, base, base};
    run.report.base = base;
    write(NULL, kind, "base");
    write(&run, kind, "growth");
    run.format = g2h_format_find("html", NULL);
    run.html = (struct g2h_html_options){sizeof(run.html), series, 3, NULL};
    write(&run, kind, "trends");
    g2h_base_destroy(base);
}

static void write_views(const struct g2h_graph *graph, const struct g2h_heap *heap, doer *write)
{
    const struct g2h_view_options folded = {.max_nodes = FEW_NODES};
    const struct g2h_view_options *const options[] = {NULL, &folded};
    static const char *const kinds[] = {"whole", "folded"};
    const struct g2h_format *report = g2h_format_find("report", NULL);
    const struct g2h_output_options plain = {.size = sizeof(plain), .name = "output", .threads = 1};
    const struct g2h_report_options none = {.size = sizeof(none)};
    struct g2h_sampling sampling;
    struct g2h_view *view;
    g2h_sampling(heap, &sampling);
    for (size_t i = 0; i < 2; i++) {
        must(g2h_view_create(graph, options[i], &view));
        write(NULL, kinds[i], "view");
        for (size_t j = 0; g2h_format(j); j++) {
            if (strcmp(g2h_format(j)->name, "heaptimeline") == 0)
                continue; /* this heap has no ages */
            const struct run run = {g2h_format(j), view, plain, none, {.size = 0}};
            const bool takes_view = i == 0 || (run.format->takes & G2H_TAKES_FOLDED) != 0;
            if (takes_view && (sampling.sites > 0 || (run.format->takes & G2H_TAKES_RATE) == 0))
                write_one(run, kinds[i], write);
        }
        if (i == 0)
            write_growth((struct run){report, view, plain, none, {.size = 0}}, write, kinds[i]);
        g2h_view_destroy(view);
    }
}

static void convert(const char *dump, const char *path, doer *write)
{
    struct g2h_input *input;
    struct g2h_heap *heap;
    struct g2h_graph *graph;
    struct g2h_exe *exe = NULL;
    struct g2h_typing *typing = NULL;
    const struct g2h_heap_options options = {.threads = 1};
    must(g2h_input_open(dump, NULL, &input));
    if (path)
        must(g2h_exe_open(path, &exe));
    write(NULL, "-", "-");
    must(g2h_heap_load(input, &options, &heap));
    if (exe) {
        must(g2h_exe_match(exe, heap));
        must(g2h_typing_create(heap, exe, NULL, &typing));
    }
    const struct g2h_graph_options how = {.threads = 1, .exe = exe, .typing = typing};
    must(g2h_graph_build(heap, &how, &graph));
    write(NULL, "-", "graph");
    write_views(graph, heap, write);
    g2h_graph_destroy(graph);
    g2h_typing_destroy(typing);
    g2h_heap_destroy(heap);
    g2h_exe_close(exe);
    g2h_input_close(input);
}

int main(int argc, char **argv)
{
    enum { LINES_MOST = 1024, LINE_MOST = 4096 };
    static char lines[LINES_MOST][LINE_MOST];
    size_t count = 0;
    if (argc != 2)
        return 2;
    fix_seed();
    directory = argv[1];
    /* All lines are read first, because children that end would reset the position in the file. */
    for (; count < LINES_MOST && fgets(lines[count], LINE_MOST, stdin); count++)
        lines[count][strcspn(lines[count], "\n")] = '\0';
    fclose(stdin);
    for (size_t i = 0; i < count; i++) {
        char *rest = lines[i];
        heap_name = strsep(&rest, "\t");
        const char *dump = strsep(&rest, "\t");
        convert(dump, rest, strcmp(heap_name, "-") == 0 ? here : in_child);
    }
    return 0;
}
