/* options; see options.h. */
#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include <go2heapsnapshot/exe.h>
#include <go2heapsnapshot/version.h>

#include "base/error.h"
#include "base/printable.h"
#include "base/scope.h"
#include "base/text.h"
#include "cli/by.h"
#include "cli/messages.h"
#include "input/magic.h"

/* Between the two come the formats. */
static const char help[] =
    "Usage: go2heapsnapshot [OPTION]... DUMP | --pid PID\n"
    "  or:  go2heapsnapshot [OPTION]... -o DIRECTORY DUMP DUMP...\n"
    "\n"
    "Turns the heap of a Go program, a live process, a core file or a heap dump of\n"
    "runtime/debug.WriteHeapDump, into a snapshot for Chrome DevTools' Memory tab.\n"
    "\n"
    "  go2heapsnapshot --pid 1234 > app.heapsnapshot\n"
    "  go2heapsnapshot --exe app app.dump > app.heapsnapshot\n"
    "\n"
    "DUMP is a dump of any Go version from 1.3 on, or a core of 1.19 or later; it may\n"
    "be gzipped, \"-\" reads standard input. Several of one process, the oldest first,\n"
    "are compared exactly: what is new counts as new even where something was freed.\n"
    "\n"
    "Options:\n"
    "      --pid=PID       read a live process, which stands still while it is copied\n"
    "  -e, --exe=FILE      the executable that wrote the dump, for types of objects,\n"
    "                      names of fields, globals and locals, texts of strings;\n"
    "                      stripped, it gives types of most objects all the same\n"
    "      --untyped-ok    go on without types if that executable does not fit\n"
    "  -r, --redact        show strings and keys of maps by a keyed hash, no numbers\n"
    "      --redact-key=FILE\n"
    "                      the same with a key of your own, for two to be compared\n"
    "      --reachable     leave out garbage, what hangs from (unreachable)\n"
    "      --no-stacks     leave out goroutines' stacks, which are no objects\n"
    "      --no-contexts   no filters by what packages and goroutines hold alone\n"
    "      --names=FORM    packages: short, http.Request, or full, net/http.Request\n"
    "      --max-nodes=N   fold what retains least into nodes that stand for many,\n"
    "                      until there are at most N (500K, 2M ...); sums stay exact\n"
    "  -o, --output=FILE   write to FILE, which appears once it is complete; with\n"
    "                      --format=csv a directory\n"
    "      --base=DUMP     a dump to compare with; the same as DUMP before the others\n"
    "      --base-exe=FILE the executable that wrote it, if another build did\n"
    "      --path-to=WHAT  with --format=report: how to get to an object, 0x and its\n"
    "                      address, or to those of a class, main.Session\n"
    "      --json          with --format=report: for machines\n"
    "      --by=WHAT       of several formats of one name another than the first\n"
    "      --memprofile-rate=N\n"
    "                      for --by=alloc: what runtime.MemProfileRate was, if it was\n"
    "                      neither 1 nor 524288\n"
    "      --format=NAME   what to write; the first of these if it is not given:\n";
static const char more_help[] =
    "      --summary       of sqlite: some thousand rows of a dump instead of all\n"
    "      --append        add them to FILE, which may have other dumps' already\n"
    "      --label=KEY=VALUE\n"
    "                      say with them what else is known: host=web-17\n"
    "  -z, --gzip          compress the snapshot (DevTools wants it unpacked)\n"
    "  -j, --threads=N     use N threads (default: one per processor)\n"
    "  -v, --verbose       account for every record, object and pointer on stderr\n"
    "  -h, --help          show this help\n"
    "  -V, --version       show the version, and what was built in\n"
    "\n"
    "To open one: Chrome, F12, Memory, \"Load profile\"; its name must end in\n"
    ".heapsnapshot. Load two of one process and choose \"Comparison\" to see a leak.\n"
    "\n"
    "Exit status: 0 fine; 1 failed; 2 wrong usage; 3 the dump was cut or damaged, and\n"
    "what could be read of it was written.\n";

/* What getopt gives for options that have no letter. */
enum {
    OPTION_REACHABLE = 256,
    OPTION_MAX_NODES,
    OPTION_UNTYPED_OK,
    OPTION_KEY,
    OPTION_FORMAT,
    OPTION_NO_STACKS,
    OPTION_NO_CONTEXTS,
    OPTION_NAMES,
    OPTION_BASE,
    OPTION_BASE_EXE,
    OPTION_JSON,
    OPTION_SUMMARY,
    OPTION_APPEND,
    OPTION_LABEL,
    OPTION_PATH_TO,
    OPTION_BY,
    OPTION_MEMPROFILE_RATE,
    OPTION_PID
};

static const char hint[] = "Try 'go2heapsnapshot --help'.";

/* A whole number from low to high; false after saying that it is none. */
static bool parse_number(const char *option, const char *text, uint64_t low, uint64_t high,
                         uint64_t *ret)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || value < low || value > high) {
        say("go2heapsnapshot: %s takes a number from %llu to %llu, not '%s'", option,
            (unsigned long long)low, (unsigned long long)high, text);
        say("%s", hint);
        return false;
    }
    *ret = value;
    return true;
}

/* A number of nodes, 500000, 500K or 2M; false after saying that it is none. */
static bool parse_nodes(const char *text, uint64_t *ret)
{
    char *end;
    const unsigned long long value = strtoull(text, &end, 10);
    const uint64_t factor = *end == 'K' || *end == 'k'   ? 1000
                            : *end == 'M' || *end == 'm' ? 1000000
                                                         : 1;
    if (text[0] < '0' || text[0] > '9' || value == 0 || value > UINT32_MAX ||
        end[factor > 1] != '\0') {
        say("go2heapsnapshot: --max-nodes takes a number such as 500K or 2M, not '%s'", text);
        say("%s", hint);
        return false;
    }
    *ret = value * factor;
    return true;
}

/* Whether names are to be full; false after saying that they are neither that nor short. */
static bool parse_names(const char *text, bool *ret_full)
{
    *ret_full = strcmp(text, "full") == 0;
    if (*ret_full || strcmp(text, "short") == 0)
        return true;
    say("go2heapsnapshot: --names takes short or full, not '%s'", text);
    say("%s", hint);
    return false;
}

/* Prints to standard output. Gives the exit status. */
static int print(const char *text)
{
    if (fputs(text, stdout) != EOF && fflush(stdout) == 0)
        return EXIT_FINE;
    say("go2heapsnapshot: standard output: cannot write: %s", strerror(errno));
    return EXIT_FAILED;
}

/* What is no format of a view: the records that views are made of. */
static const char dump_name[] = "dump",
                  dump_summary[] = "the heap dump itself, of a core or process";

/* Prints what --help says. Gives the exit status. */
static int print_help(void)
{
    const struct g2h_format *format;
    struct text text = {0};
    text_append(&text, help, strlen(help));
    for (size_t i = 0; (format = g2h_format(i)) != NULL; i++)
        if (by_is_usual(format))
            text_printf(&text, "                        %-12s  %s\n", format->name,
                        format->summary);
        else
            text_printf(&text, "                         --by=%-6s  %s\n", format->by,
                        format->summary);
    text_printf(&text, "                        %-12s  %s\n", dump_name, dump_summary);
    text_append(&text, more_help, sizeof(more_help)); /* with its end */
    const int status = text.failed ? EXIT_FAILED : print(text.data);
    text_deinit(&text);
    return status;
}

/* False after saying that there is no such format. */
static bool parse_format(const char *name, struct options *ret)
{
    const struct g2h_format *format = g2h_format_find(name, NULL);
    ret->is_dump = strcmp(name, dump_name) == 0;
    if (format)
        ret->format = format;
    if (format || ret->is_dump)
        return true;
    const char *without = g2h_format_left_out(name);
    if (without)
        say("go2heapsnapshot: this one was built without %s, so it has no format '%s'; --format "
            "takes",
            without, name);
    else
        say("go2heapsnapshot: there is no format '%s'; --format takes", name);
    for (size_t i = 0; (format = g2h_format(i)) != NULL; i++)
        if (by_is_usual(format))
            say("  %-12s  %s", format->name, format->summary);
        else
            say("   --by=%-6s  %s", format->by, format->summary);
    say("  %-12s  %s", dump_name, dump_summary);
    return false;
}

/* Whether the format looks at an option, which some of takes say; false after saying which ones do.
 */
static bool check_taken(const struct options *options, const char *option, unsigned takes)
{
    const struct g2h_format *format;
    _cleanup_(text_deinit) struct text names = {0};
    if (!options->is_dump && (options->format->takes & takes) != 0)
        return true;
    for (size_t i = 0; (format = g2h_format(i)) != NULL; i++)
        if ((format->takes & takes) != 0)
            text_printf(&names, "%s%s%s%s", names.size > 0 ? " or " : "", format->name,
                        by_is_usual(format) ? "" : " --by ", by_is_usual(format) ? "" : format->by);
    say("go2heapsnapshot: %s goes with --format %.*s, not with %s", option,
        names.failed ? 0 : (int)names.size, names.failed ? "" : names.data,
        options->is_dump ? dump_name : options->format->name);
    say("%s", hint);
    return false;
}

/* False after saying that a label is none. There are no more than most of them. */
static bool take_label(struct options *options, const char *label, size_t most)
{
    const char *value = strchr(label, '=');
    if (!value || value == label) {
        say("go2heapsnapshot: --label takes KEY=VALUE, not '%s'", label);
        say("%s", hint);
        return false;
    }
    if (!options->labels)
        options->labels = malloc(most * sizeof(*options->labels));
    if (!options->labels) {
        message_error(&error_no_memory);
        return false;
    }
    options->labels[options->label_count++] = label;
    return true;
}

/* Whether options of summaries are given where there is one; false after saying that they are not.
 */
static bool check_summary(const struct options *options)
{
    const char *wrong = NULL;
    if (options->summary && !check_taken(options, "--summary", G2H_TAKES_SUMMARY))
        return false;
    if (options->append && !options->summary)
        wrong = "--append goes with --summary";
    else if (options->label_count > 0 && !options->summary)
        wrong = "--label goes with --summary";
    else if (options->summary && options->max_nodes > 0)
        wrong = "--summary is small whatever is folded: it does not go with --max-nodes";
    if (!wrong)
        return true;
    say("go2heapsnapshot: %s", wrong);
    say("%s", hint);
    return false;
}

/* Whether a format that wants a file or a directory gets one; false after saying that it does not.
 */
static bool check_output(const struct options *options)
{
    const struct g2h_format *format = options->format;
    const bool needs_path = format->is_file || format->files[0];
    if (options->is_dump || !needs_path || (options->output && !(format->is_file && options->gzip)))
        return true;
    if (format->is_file && options->gzip)
        say("go2heapsnapshot: -z does not go with --format %s, whose files are read as they are",
            format->name);
    else
        say("go2heapsnapshot: --format %s is written to a %s, not to standard output: -o app%s",
            format->name, format->is_file ? "file" : "directory", format->suffix);
    say("%s", hint);
    return false;
}

/* Whether a file is an executable by its first bytes, compressed or not. Pipes are not touched. */
static bool is_executable(const char *path)
{
    uint8_t start[64];
    struct stat status;
    gzFile file = stat(path, &status) == 0 && S_ISREG(status.st_mode) ? gzopen(path, "rb") : NULL;
    if (!file)
        return false;
    const int size = gzread(file, start, sizeof(start));
    gzclose(file);
    return size > 0 && magic_is_executable(start, (uint64_t)size);
}

/* Says how a dump's executable is given, if one of the files is an executable. */
static bool refuse_executable(const struct options *options)
{
    const char *exe = NULL, *dump = NULL;
    for (size_t i = 0; i < options->input_count && !options->exe; i++)
        if (!exe && is_executable(options->inputs[i]))
            exe = options->inputs[i];
        else
            dump = options->inputs[i];
    if (!exe || !dump)
        return false;
    say("go2heapsnapshot: '%s' is an executable, which is given with --exe:", exe);
    say("  go2heapsnapshot --exe %s %s", exe, dump);
    return true;
}

/* Whether the dumps can be converted as they are given; false after saying why not. */
static bool check_inputs(const struct options *options)
{
    if (options->pid != 0 && options->input_count > 0) {
        say("go2heapsnapshot: --pid takes the place of a dump, so '%s' is one too many",
            options->inputs[0]);
        return false;
    }
    if (options->pid != 0)
        return true;
    if (options->input_count == 0) {
        say("go2heapsnapshot: no dump given");
        say("%s", hint);
        return false;
    }
    if (options->input_count == 1)
        return true;
    if (refuse_executable(options))
        return false;
    if (!options->output && !options->append) {
        say("go2heapsnapshot: several dumps are taken for a series of one process, whose snapshots "
            "go to a directory:");
        say("  go2heapsnapshot -o snapshots %s %s%s", options->inputs[0], options->inputs[1],
            options->input_count > 2 ? " ..." : "");
        return false;
    }
    for (size_t i = 0; i < options->input_count; i++)
        if (strcmp(options->inputs[i], "-") == 0) {
            say("go2heapsnapshot: standard input cannot be one of several dumps");
            return false;
        }
    return true;
}

static const char letters[] = "e:o:zj:rvhV";

/* Lets getopt go over the command line once more, to say what is wrong with it. It prints arguments
 * as they are, so what is more than text is taken out of them first. */
static void refuse_option(int argc, char **argv, const struct option *known)
{
    for (int i = 1; i < argc; i++)
        argv[i][printable(argv[i], strlen(argv[i]))] = '\0';
    opterr = 1;
    optind = 0; /* from the start */
    for (int option = 0; option != '?' && option != -1;)
        option = getopt_long(argc, argv, letters, known, NULL);
    say("%s", hint);
}

/* Prints the version. Gives the exit status. */
static int print_version(void)
{
    const char *sqlite = g2h_sqlite_version();
    char text[256];
    snprintf(text, sizeof(text),
             "go2heapsnapshot " G2H_VERSION "\nbuilt with zlib %s, %sSQLite%s%s\n", zlibVersion(),
             sqlite ? "" : "without ", sqlite ? " " : "", sqlite ? sqlite : "");
    return print(text);
}

/* The dumps, that of --base first. False where there is no memory. */
static bool take_inputs(struct options *options, const char *base, char **files, int count)
{
    options->inputs = malloc(((size_t)count + 1) * sizeof(*options->inputs));
    if (!options->inputs)
        return false;
    if (base)
        options->inputs[options->input_count++] = base;
    for (int i = 0; i < count; i++)
        options->inputs[options->input_count++] = files[i];
    return true;
}

bool options_parse(int argc, char **argv, struct options *ret, int *ret_status)
{
    static const struct option known[] = {
        {"exe", required_argument, NULL, 'e'},
        {"output", required_argument, NULL, 'o'},
        {"gzip", no_argument, NULL, 'z'},
        {"threads", required_argument, NULL, 'j'},
        {"untyped-ok", no_argument, NULL, OPTION_UNTYPED_OK},
        {"format", required_argument, NULL, OPTION_FORMAT},
        {"redact", no_argument, NULL, 'r'},
        {"redact-key", required_argument, NULL, OPTION_KEY},
        {"verbose", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {"reachable", no_argument, NULL, OPTION_REACHABLE},
        {"no-stacks", no_argument, NULL, OPTION_NO_STACKS},
        {"no-contexts", no_argument, NULL, OPTION_NO_CONTEXTS},
        {"names", required_argument, NULL, OPTION_NAMES},
        {"max-nodes", required_argument, NULL, OPTION_MAX_NODES},
        {"base", required_argument, NULL, OPTION_BASE},
        {"base-exe", required_argument, NULL, OPTION_BASE_EXE},
        {"json", no_argument, NULL, OPTION_JSON},
        {"path-to", required_argument, NULL, OPTION_PATH_TO},
        {"by", required_argument, NULL, OPTION_BY},
        {"memprofile-rate", required_argument, NULL, OPTION_MEMPROFILE_RATE},
        {"pid", required_argument, NULL, OPTION_PID},
        {"summary", no_argument, NULL, OPTION_SUMMARY},
        {"append", no_argument, NULL, OPTION_APPEND},
        {"label", required_argument, NULL, OPTION_LABEL},
        {0}};
    static char name[] = "go2heapsnapshot";
    const char *base = NULL, *by = NULL;
    uint64_t number = 0;
    int option;
    if (argc > 0)
        argv[0] = name; /* with which getopt's messages begin, whatever the caller calls us */
    *ret = (struct options){.format = g2h_format(0)};
    *ret_status = EXIT_USAGE;
    opterr = 0;
    while ((option = getopt_long(argc, argv, letters, known, NULL)) != -1) {
        switch (option) {
        case 'e':
            ret->exe = optarg;
            break;
        case 'o':
            if (*optarg == '\0') {
                say("go2heapsnapshot: -o takes a file's name, not ''");
                say("%s", hint);
                return false;
            }
            ret->output = strcmp(optarg, "-") == 0 ? NULL : optarg; /* standard output */
            break;
        case 'z':
            ret->gzip = true;
            break;
        case 'r':
            ret->redact = true;
            break;
        case OPTION_KEY:
            ret->redact_key = optarg;
            break;
        case OPTION_UNTYPED_OK:
            ret->untyped_ok = true;
            break;
        case OPTION_FORMAT:
            if (!parse_format(optarg, ret))
                return false;
            break;
        case OPTION_PID:
            if (!parse_number("--pid", optarg, 1, INT32_MAX, &ret->pid))
                return false;
            break;
        case OPTION_REACHABLE:
            ret->reachable = true;
            break;
        case OPTION_NO_STACKS:
            ret->no_stacks = true;
            break;
        case OPTION_NO_CONTEXTS:
            ret->no_contexts = true;
            break;
        case OPTION_NAMES:
            if (!parse_names(optarg, &ret->full_names))
                return false;
            break;
        case OPTION_MAX_NODES:
            if (!parse_nodes(optarg, &ret->max_nodes))
                return false;
            break;
        case OPTION_BASE:
            base = optarg;
            break;
        case OPTION_BASE_EXE:
            ret->base_exe = optarg;
            break;
        case OPTION_PATH_TO:
            ret->path_to = optarg;
            break;
        case OPTION_JSON:
            ret->json = true;
            break;
        case OPTION_SUMMARY:
            ret->summary = true;
            break;
        case OPTION_APPEND:
            ret->append = true;
            break;
        case OPTION_LABEL:
            if (!take_label(ret, optarg, (size_t)argc))
                return false;
            break;
        case OPTION_BY:
            by = optarg;
            break;
        case OPTION_MEMPROFILE_RATE:
            if (!parse_number("--memprofile-rate", optarg, 1, INT64_MAX, &ret->memprofile_rate))
                return false;
            break;
        case 'j':
            if (!parse_number("-j", optarg, 1, 1024, &number))
                return false;
            ret->threads = (unsigned)number;
            break;
        case 'v':
            ret->verbose = true;
            break;
        case 'h':
            *ret_status = print_help();
            return false;
        case 'V':
            *ret_status = print_version();
            return false;
        default:
            refuse_option(argc, argv, known);
            return false;
        }
    }
    if (by && !by_choose(by, ret->is_dump ? dump_name : ret->format->name, &ret->format)) {
        say("%s", hint);
        return false;
    }
    if (ret->memprofile_rate > 0 && !check_taken(ret, "--memprofile-rate", G2H_TAKES_RATE))
        return false;
    if (base && !check_taken(ret, "--base", G2H_TAKES_BASE | G2H_TAKES_SERIES))
        return false;
    if (ret->base_exe && !check_taken(ret, "--base-exe", G2H_TAKES_BASE))
        return false;
    if (ret->base_exe && !base) {
        say("go2heapsnapshot: --base-exe goes with --base");
        say("%s", hint);
        return false;
    }
    if ((ret->json && !check_taken(ret, "--json", G2H_TAKES_JSON)) ||
        (ret->path_to && !check_taken(ret, "--path-to", G2H_TAKES_PATH)))
        return false;
    if ((ret->format->takes & G2H_TAKES_BASE) != 0) {
        ret->base = base;
        base = NULL;
    }
    if (!check_summary(ret) || !check_output(ret))
        return false;
    if (!take_inputs(ret, base, argv + optind, argc - optind)) {
        message_error(&error_no_memory);
        *ret_status = EXIT_FAILED;
        return false;
    }
    return check_inputs(ret);
}

void options_deinit(struct options *options)
{
    free(options->inputs);
    free(options->labels);
}
