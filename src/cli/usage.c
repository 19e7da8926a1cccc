/* usage: the text of --help and --version, in which the table of formats is completed, and hints
 * about a wrong command line; see usage.h. */
#include "cli/usage.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include <go2heapsnapshot/output.h>
#include <go2heapsnapshot/version.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/check.h"
#include "cli/options.h"
#include "input/unpack.h"

/* The formats are printed between help and more_help. */
static const char help[] =
    "Usage: go2heapsnapshot [OPTION]... DUMP | --pid PID\n"
    "  or:  go2heapsnapshot [OPTION]... -o DIRECTORY DUMP DUMP...\n"
    "\n"
    "Shows who keeps the memory of a Go program alive: as a snapshot for the Memory\n"
    "tab of Chrome DevTools, a report, a page for browsers, a profile, a database.\n"
    "\n"
    "  go2heapsnapshot --pid 1234                     a report, on a terminal\n"
    "  go2heapsnapshot --exe app -o app.heapsnapshot app.dump       for DevTools\n"
    "\n"
    "DUMP is a heap dump of runtime/debug.WriteHeapDump, of any Go version from 1.3\n"
    "on, or a core file of 1.19 or later; it may be packed, and \"-\" is standard\n"
    "input. Several dumps of one process, the oldest first, are compared exactly.\n"
    "\n"
    "Input:\n"
    "      --pid=PID       read a live process, by number or name; alone, list them\n"
    "      --fork[=huge]   stop it for milliseconds only (huge: fewer): it is forked\n"
    "      --ages=TIME     watch first (1m), without a stop: since when objects live\n"
    "      --watch=TIME    take a snapshot every TIME (30s, 5m): what keeps growing\n"
    "      --count=N       watch: stop after N times, not only by Ctrl-C\n"
    "      --until-growth=SIZE\n"
    "                      watch: stop when the heap has grown by SIZE (64M, 2G)\n"
    "      --keep=DIR      watch: write the first and the last dump to DIR\n"
    "      --at-death[=WHAT]\n"
    "                      write the heap when PID, or -- COMMAND, is killed; WHAT:\n"
    "                      90%: also at 90 % of its memory limit; exit; 2G; keep=5\n"
    "      --inspect[=[HOST:]PORT]\n"
    "                      wait for DevTools (chrome://inspect); of PID, or DUMPs\n"
    "      --mcp           answer an agent's questions, by the Model Context Protocol\n"
    "      --values        mcp: also about the values of fields, strings, variables\n"
    "      --command=CMD   inspect, watch: CMD prints the dump: kubectl exec, ssh\n"
    "      --source=DIR    inspect: where the source is, if built with -trimpath\n"
    "  -e, --exe=FILE      the executable that wrote the dump, stripped or not: for\n"
    "                      types, names of fields and variables, contents of strings\n"
    "      --untyped-ok    convert without types if that executable does not fit\n"
    "      --base=DUMP     a dump to compare with, as if it were the first DUMP\n"
    "      --base-exe=FILE the executable that wrote that dump, if it is another\n"
    "\n"
    "Output:\n"
    "      --format=NAME   else by -o's name, a report on a terminal, or the first:\n";
static const char more_help[] =
    "  -o, --output=FILE   write to FILE, app.html, app.db ...; app.csv: a directory\n"
    "  -z, --gzip          compress the output; unpack it before DevTools loads it\n"
    "\n"
    "Content:\n"
    "  -r, --redact        show strings and map keys only as hashes, and no numbers\n"
    "      --redact-key=F  the same with your own key, file F: snapshots compare\n"
    "      --reachable     leave out garbage, which is below (unreachable)\n"
    "      --garbage       keep it when several dumps are compared\n"
    "      --no-stacks     leave out goroutine stacks, which are not heap objects\n"
    "      --no-contexts   leave out DevTools' filters by package and goroutine\n"
    "      --names=FORM    packages: short, http.Request, or full, net/http.Request\n"
    "      --max-nodes=N   fold objects that retain least: N nodes (500K, 2M) stay\n"
    "      --under=WHAT    only what main.cache, goroutine 7 or a class keeps alive\n"
    "\n"
    "For some formats:\n"
    "      --largest-array=N --pid, dump, hprof: at most N bytes (1M) of an array\n"
    "      --sample=N      report, --pid, cores: read one span in N, for huge heaps\n"
    "      --numbers[=CLASS]\n"
    "                      snapshots: the values of numbers, of all or CLASS,...\n"
    "      --path-to=WHAT  report: the path to main.byID[42], 0xc000c0de or a class\n"
    "      --older=TIME    path-to: only those of CLASS that lived TIME ago (1m)\n"
    "      --show=WHAT     report: the values in that object, class or variable\n"
    "      --json[=PARTS]  report: as JSON; PARTS: suspects,goroutines,classes ...\n"
    "      --full          report: all sections, on a terminal, too\n"
    "      --top=N         report: at most N rows of each list\n"
    "      --by=WHAT       pprof: retained or alloc; report: label, label:tenant\n"
    "      --memprofile-rate=N\n"
    "                      pprof by alloc: MemProfileRate, unless 1 or 524288\n"
    "      --summary       sqlite: a few thousand rows per dump instead of all\n"
    "      --append        summary: add to FILE, which may have other dumps\n"
    "      --label=KEY=VAL summary: store this with the dump, host=web-17\n"
    "\n"
    "  -j, --threads=N     use N threads (default: one per processor)\n"
    "  -v, --verbose       account for every record, object and pointer on stderr\n"
    "  -h, --help          show this help; -V, --version: version and libraries\n"
    "\n"
    "To open a snapshot: Chrome, F12, Memory, \"Load profile\"; its name must end in\n"
    ".heapsnapshot. Load two of one process and choose \"Comparison\" to see a leak.\n"
    "\n"
    "Exit status: 0 fine; 1 failed; 2 wrong usage; 3 of a cut or damaged dump what is\n"
    "readable was converted; 4 something grew in every interval of six heaps or more.\n";

/* Prints text to standard output. Returns the exit status, after saying why it failed. */
static int print(const char *text)
{
    if (fputs(text, stdout) != EOF && fflush(stdout) == 0)
        return EXIT_FINE;
    say("go2heapsnapshot: standard output: cannot write: %s", strerror(errno));
    return EXIT_FAILED;
}

/* Appends the line of a format. A format that --by chooses is indented by one more blank. */
static void append_format(struct text *text, const struct g2h_format *format)
{
    if (format_is_usual(format))
        text_printf(text, "%-12s  %s", format->name, format->summary);
    else
        text_printf(text, " --by=%-6s  %s", format->by, format->summary);
}

/* Appends the line of the dump itself, which is not a format. */
static void append_dump(struct text *text)
{
    text_printf(text, "%-12s  the heap dump itself, of a core or process", FORMAT_DUMP);
}

/* Prints the text of --help. The list of formats, in the middle of the text, is made from the table
 * of the formats, since a build may lack some. */
int usage_print_help(void)
{
    static const char indent[] = "                        ";
    _cleanup_(text_deinit) struct text text = {0};
    const struct g2h_format *format;
    text_append_string(&text, help);
    for (size_t i = 0; (format = g2h_format(i)) != NULL; i++) {
        text_printf(&text, "%s", indent);
        append_format(&text, format);
        text_printf(&text, "\n");
    }
    text_printf(&text, "%s", indent);
    append_dump(&text);
    text_printf(&text, "\n");
    text_append(&text, more_help, sizeof(more_help)); /* and the terminating null */
    return text.failed ? EXIT_FAILED : print(text.data);
}

/* Adds ", NAME VERSION"; without a version the library is not there. */
static void add_library(struct text *text, const char *name, const char *version)
{
    if (version)
        text_printf(text, ", %s %s", name, version);
    else
        text_printf(text, ", without %s", name);
}

/* Prints the version, and those of the libraries that this was built with: zlib, SQLite and the
 * packers. */
int usage_print_version(void)
{
    const char *sqlite = g2h_sqlite_version();
    const struct unpack_method *method;
    _cleanup_(text_deinit) struct text text = {0};
    text_printf(&text, "go2heapsnapshot " G2H_VERSION "\nbuilt with zlib %s", zlibVersion());
    add_library(&text, "SQLite", sqlite);
    for (unsigned i = 1; (method = unpack_method_at(i)) != NULL; i++)
        add_library(&text, method->name, method->version ? method->version() : NULL);
    text_append(&text, "\n", sizeof("\n"));
    return text.failed ? EXIT_FAILED : print(text.data);
}

/* Prints a line of a list on standard error. */
static void usage_say_line(const struct text *text)
{
    if (!text->failed)
        say("  %.*s", as_width(text->size), text->data);
}

/* Prints all formats on stderr, one per line. */
void usage_say_formats(void)
{
    _cleanup_(text_deinit) struct text text = {0};
    const struct g2h_format *format;
    for (size_t i = 0; (format = g2h_format(i)) != NULL; i++, text.size = 0) {
        append_format(&text, format);
        usage_say_line(&text);
    }
    append_dump(&text);
    usage_say_line(&text);
}

/* Prints how to get help. Returns false, for callers that refuse the command line by it. */
bool usage_say_hint(void)
{
    say("Try 'go2heapsnapshot --help'.");
    return false;
}
