/*
 * check: which format is written, and which options go together; see check.h. The parts: --format
 * and --by choose a row of the table of formats (output/formats.c); without them, other options or
 * the output's suffix imply one; then each option that needs others, or excludes some, has a
 * function that prints what is wrong and returns false; and the inputs are looked at, such as an
 * executable that was given in place of a dump.
 */
#include "cli/check.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/at_death.h"
#include "cli/terminal.h"
#include "cli/usage.h"
#include "input/magic.h"

/* ==== chooses the format by --format and --by, and knows which options go with it ==== */

/* Returns the name of the chosen format, or of the dump, which is none of the library's. */
static const char *name_of(const struct options *options)
{
    return options->is_dump ? FORMAT_DUMP : options->format->name;
}

/* Chooses the format of a name. Takes the format of the name, or the dump, which is no format of
 * the library. Returns false after printing that there is none: one that was left out of this build
 * has a message of its own. */
bool format_choose(struct options *options, const char *name)
{
    const struct g2h_format *format = g2h_format_find(name, NULL);
    const char *without = g2h_format_left_out(name);
    options->is_dump = strcmp(name, FORMAT_DUMP) == 0;
    if (format)
        options->format = format;
    if (format || options->is_dump)
        return true;
    if (without)
        say("go2heapsnapshot: this one was built without %s, so it has no format '%s'; --format "
            "takes",
            without, name);
    else
        say("go2heapsnapshot: there is no format '%s'; --format takes", name);
    usage_say_formats();
    return false;
}

/* Adds a format to a list of choices for a message. */
static void add_choice(struct text *text, const char *name, const char *by)
{
    text_printf(text, "%s%s", text->size > 0 ? " or " : "", name);
    if (by)
        text_printf(text, " --by %s", by);
}

/* Chooses the variant of the format that --by names. If there is none, returns false after saying
 * what --by takes with this format, or which formats it goes with. */
bool format_choose_by(struct options *options, const char *by)
{
    const char *name = name_of(options);
    const struct g2h_format *format;
    const struct g2h_format *usual = g2h_format_find(name, NULL);
    const struct g2h_format *found = g2h_format_find(name, by);
    const bool takes_any = usual && usual->by;
    _cleanup_(text_deinit) struct text choices = {0};
    if (found) {
        options->format = found;
        return true;
    }
    for (size_t i = 0; (format = g2h_format(i)) != NULL; i++)
        if (takes_any && strcmp(format->name, name) == 0)
            add_choice(&choices, format->by, NULL);
        else if (!takes_any && format->by && format_is_usual(format))
            add_choice(&choices, format->name, NULL);
    const int size = choices.failed ? 0 : as_width(choices.size);
    return takes_any ? USAGE_REFUSE("--by takes %.*s, not '%s'", size, choices.data, by)
                     : USAGE_REFUSE("--by goes with --format %.*s, not with %s", size, choices.data,
                                    name);
}

/* Returns whether the chosen format takes an option: whether it has any of the flags in takes (enum
 * g2h_format_option). Returns false after printing which formats take it. */
static bool format_takes(const struct options *options, const char *option, unsigned takes)
{
    const struct g2h_format *format;
    const char *compare = "";
    _cleanup_(text_deinit) struct text names = {0};
    if (!options->is_dump && (options->format->takes & takes) != 0)
        return true;
    for (size_t i = 0; (format = g2h_format(i)) != NULL; i++)
        if ((format->takes & takes) != 0)
            add_choice(&names, format->name, format_is_usual(format) ? NULL : format->by);
    if ((takes & G2H_TAKES_ARRAYS) != 0)
        add_choice(&names, FORMAT_DUMP, NULL);
    if ((takes & G2H_TAKES_BASE) != 0 && strcmp(name_of(options), "pprof") == 0)
        compare = ": go tool pprof -base 1.pb.gz 2.pb.gz compares two profiles";
    return USAGE_REFUSE("%s goes with --format %.*s, not with %s%s", option,
                        names.failed ? 0 : as_width(names.size), names.data, name_of(options),
                        compare);
}

/* ==== the format that the other options and the name of the output imply ==== */

/* A suffix that implies a format. Other formats in such a file are not refused, unless the suffix
 * is never used for them. */
static const struct suffix {
    const char *suffix, *format;
    bool is_sure;
} suffixes[] = {
    {".heapsnapshot", "heapsnapshot", true},
    {".heaptimeline", "heaptimeline", true},
    {".html", "html", true},
    {".htm", "html", true},
    {".pb.gz", "pprof", true},
    {".hprof", "hprof", true},
    {".db", "sqlite", true},
    {".sqlite", "sqlite", true},
    {".sqlite3", "sqlite", true},
    {".csv", "csv", true},
    {".dump", FORMAT_DUMP, true},
    {".txt", "report", false},
    {".json", "report", false},
};

static bool implied_ends_in(const char *text, size_t size, const char *end)
{
    const size_t count = strlen(end);
    return size > count && memcmp(text + size - count, end, count) == 0;
}

/* Returns the row of suffixes[] that the first size bytes of a path end in, or NULL if they imply
 * nothing. */
static const struct suffix *implied_find(const char *path, size_t size)
{
    for (size_t i = 0; i < COUNT_OF(suffixes); i++)
        if (implied_ends_in(path, size, suffixes[i].suffix))
            return &suffixes[i];
    return NULL;
}

/* Returns the row of the suffix of the output, a file or a directory, or NULL. Sets *ret_gzip if
 * .gz follows it. */
static const struct suffix *find_output(const struct options *options, bool *ret_gzip)
{
    size_t size = options->output ? strlen(options->output) : 0;
    while (size > 0 && options->output[size - 1] == '/')
        size--;
    const struct suffix *found = implied_find(options->output, size);
    *ret_gzip = !found && implied_ends_in(options->output, size, ".gz");
    return *ret_gzip ? implied_find(options->output, size - strlen(".gz")) : found;
}

/* Returns whether an option asks for a report rather than for a snapshot. */
static bool is_report(const struct options *options)
{
    return options->by_label || options->mcp || options->watch > 0 || options->show ||
           options->path_to || options->json || options->full || options->top > 0;
}

/* Returns the format that options imply without --format and a suffix: that of an option which only
 * one format has, the report first; else a dump, which is the default of --at-death. NULL: they
 * imply none. */
static const char *format_of_options(const struct options *options)
{
    if (is_report(options))
        return "report";
    if (options->summary)
        return "sqlite";
    if (options->by)
        return "pprof";
    return options->at_death ? FORMAT_DUMP : NULL;
}

/* Returns whether the user gave an option that only formats other than the report take. */
static bool wants_file(const struct options *options)
{
    return options->numbers || options->no_contexts || options->max_nodes > 0 || options->gzip ||
           options->memprofile_rate > 0 || options->append || options->label_count > 0;
}

static bool is_format(const struct options *options, const char *name)
{
    return strcmp(options->is_dump ? FORMAT_DUMP : options->format->name, name) == 0;
}

/* Takes the format from the suffix of -o, or else from other options (format_of_options()), unless
 * --format is given; then a suffix that is sure to mean another format is refused. On a terminal
 * without any of these, the report is the default. Also takes -z from ".gz", and --json from
 * ".json". Returns false after saying what is wrong. */
bool implied_format(struct options *options)
{
    bool gzip;
    const struct suffix *suffix = find_output(options, &gzip);
    const char *other = format_of_options(options);
    const bool is_free = !options->has_format && !options->inspect; /* nothing else says it */
    if (suffix && options->has_format && suffix->is_sure && !is_format(options, suffix->format))
        return USAGE_REFUSE("'%s' is a name for --format %s, not for %s", options->output,
                            suffix->format, options->is_dump ? FORMAT_DUMP : options->format->name);
    options->gzip |= suffix && gzip;
    if (is_free && (suffix || other) && !format_choose(options, suffix ? suffix->format : other))
        return false;
    options->gzip |=
        options->at_death && !suffix && options->is_dump; /* no suffix says otherwise */
    if (suffix && strcmp(suffix->suffix, ".json") == 0 && is_format(options, "report"))
        options->json = true;
    if (is_free && !suffix && !other && !wants_file(options) && terminal_is_output(options)) {
        options->format = g2h_format_find("report", NULL);
        options->is_default = true;
    }
    /* Nobody has asked for the default format: a pipe is told that it gets that. */
    options->is_piped = is_free && options->pid != 0 && !options->output &&
                        options->format == g2h_format(0) && !wants_file(options) &&
                        !options->is_dump && terminal_output_is_pipe();
    return true;
}

/* ==== checks whether options go together ==== */

/* ---- options ---- */

struct given_option {
    bool is_given;
    const char *name;
};

/* Returns whether none of others is given, whose last one has no name. Returns false after printing
 * that an option does not go with the one that is. */
static bool goes_with(const char *option, const struct given_option *others)
{
    for (; others->name; others++)
        if (others->is_given)
            return USAGE_REFUSE("%s does not go with %s", option, others->name);
    return true;
}

/* Returns whether options of summaries are only given together with --summary. Returns false after
 * printing what is wrong. */
static bool check_summary(const struct options *options)
{
    if (options->append && !options->summary)
        return USAGE_REFUSE("--append goes with --summary");
    if (options->label_count > 0 && !options->summary)
        return USAGE_REFUSE("--label goes with --summary");
    if (options->summary && options->max_nodes > 0)
        return USAGE_REFUSE("--summary is small whatever is folded: it does not go with "
                            "--max-nodes");
    return true;
}

/* Returns whether numbers are allowed with the other options. Returns false after printing what is
 * wrong. */
static bool check_numbers(const struct options *options)
{
    if (options->numbers && (options->redact || options->redact_key))
        return USAGE_REFUSE("--numbers shows what --redact hides");
    if (options->numbers && options->max_nodes > 0)
        return USAGE_REFUSE("--numbers does not go with --max-nodes: folded nodes have no values");
    return true;
}

/* Returns whether a format that writes a file or a directory gets one. Returns false after printing
 * that it does not. */
static bool check_output(const struct options *options)
{
    const struct g2h_format *format = options->format;
    if (options->is_dump || (!format->is_file && !format->files[0]))
        return true;
    if (format->is_file && options->gzip)
        return USAGE_REFUSE("-z does not go with --format %s, whose files are read as they are",
                            format->name);
    return options->output ||
           USAGE_REFUSE("--format %s is written to a %s, not to standard output: -o app%s",
                        format->name, format->is_file ? "file" : "directory", format->suffix);
}

/* Returns the name of the first option that the user gave; NULL: none. The last has no name. */
static const char *first_given(const struct given_option *options)
{
    while (options->name && !options->is_given)
        options++;
    return options->name;
}

/* Returns whether --watch has all options that it needs, and no others: a process or a command, a
 * format for a report or for trends, and for trends a file that is not compressed. Without --watch,
 * those that go only with it are wrong. Returns false after printing what is wrong. */
static bool check_watch(const struct options *options)
{
    const char *part =
        first_given((struct given_option[]){{options->count > 0, "--count"},
                                            {options->until_growth > 0, "--until-growth"},
                                            {options->keep != NULL, "--keep"},
                                            {0}});
    const char *other = first_given((struct given_option[]){{options->base != NULL, "--base"},
                                                            {options->path_to != NULL, "--path-to"},
                                                            {options->show != NULL, "--show"},
                                                            {0}});
    if (options->watch == 0)
        return !part || USAGE_REFUSE("%s goes with --watch", part);
    if (options->pid == 0 && !options->command)
        return USAGE_REFUSE("--watch goes with --pid, or with --command");
    if (options->is_dump || (options->format->takes & (G2H_TAKES_PATH | G2H_TAKES_TRENDS)) == 0)
        return USAGE_REFUSE("--watch prints a report of its own: it does not go with --format %s",
                            options->is_dump ? FORMAT_DUMP : options->format->name);
    if (options_show_trends(options) && !options->output)
        return USAGE_REFUSE("the page of --watch is written anew with each snapshot: -o app%s",
                            options->format->suffix);
    if (options_show_trends(options) && options->gzip)
        return USAGE_REFUSE("the page of --watch is not compressed: it does not go with -z");
    if (other)
        return USAGE_REFUSE("--watch does not go with %s", other);
    if (options->keep && (options->redact || options->redact_key))
        return USAGE_REFUSE("--keep keeps dumps, which have what --redact hides");
    return true;
}

/* Returns whether --at-death has all options that it needs, and no others: a file or a directory to
 * write to; a directory for its =keep and =N%; with --watch a process and --keep. Returns true
 * without --at-death, false after printing what is wrong. */
static bool check_at_death(const struct options *options)
{
    const struct given_option others[] = {
        {options->inspect, "--inspect"},
        {options->command, "--command"},
        {options->fork && options->watch == 0, "--fork"},
        {options->base, "--base"},
        {options->append, "--append"},
        {.name = NULL},
    };
    if (!options->at_death)
        return true;
    if (!goes_with("--at-death", others))
        return false;
    if (options->watch > 0)
        return (options->keep && options->pid != 0) ||
               USAGE_REFUSE(
                   "--watch --at-death takes --pid, and writes to the directory of --keep");
    if (!options->output)
        return USAGE_REFUSE(
            "--at-death writes a file when the process is killed: -o app.dump.gz, or "
            "a directory: -o dumps/");
    if (at_death_is_directory(options->output))
        return true;
    if (options->at_death_keep > 0)
        return USAGE_REFUSE("--at-death=keep removes old files of a directory: -o dumps/");
    return options->at_death_percent == 0 ||
           USAGE_REFUSE(
               "--at-death=%u%% writes several files: -o takes a directory, such as dumps/",
               (unsigned)options->at_death_percent);
}

/* Returns whether --inspect has all options that it needs, and no others. Returns false after
 * printing what is wrong. */
static bool check_inspect(const struct options *options)
{
    const struct given_option others[] = {
        {options->has_format || options->is_dump, "--format"},
        {options->output, "-o"},
        {options->gzip, "-z"},
        {options->base, "--base"},
        {options->watch > 0, "--watch"},
        {options->reachable, "--reachable, which is what it does"},
        {options->numbers, "--numbers: values are shown when the mouse is on a row"},
        {options->path_to, "--path-to"},
        {options->show, "--show"},
        {options->json, "--json"},
        {options->full, "--full"},
        {options->top > 0, "--top"},
        {.name = NULL},
    };
    if (options->command && options->pid != 0)
        return USAGE_REFUSE("--command takes the place of --pid");
    if (options->command && !options->inspect && options->watch == 0)
        return USAGE_REFUSE("--command goes with --inspect or --watch");
    if (!options->inspect)
        return !options->source || USAGE_REFUSE("--source goes with --inspect");
    return goes_with("--inspect", others);
}

/* Returns whether --mcp has only options that it takes. Returns false after printing what is
 * wrong. */
static bool check_mcp(const struct options *options)
{
    const struct given_option others[] = {
        {options->has_format || options->is_dump, "--format"},
        {options->output, "-o"},
        {options->gzip, "-z"},
        {options->watch > 0, "--watch"},
        {options->inspect, "--inspect"},
        {options->at_death, "--at-death"},
        {options->command, "--command"},
        {options->numbers, "--numbers: --values shows them"},
        {options->path_to, "--path-to, which clients ask for"},
        {options->show, "--show, which clients ask for"},
        {options->json, "--json"},
        {options->full, "--full"},
        {options->top > 0, "--top"},
        {.name = NULL},
    };
    if (!options->mcp)
        return !options->values || USAGE_REFUSE("--values goes with --mcp");
    return goes_with("--mcp", others);
}

/* Returns whether --under has only options that it goes with. Returns false after printing what is
 * wrong. */
static bool check_under(const struct options *options)
{
    const struct given_option others[] = {
        {options->is_dump, "--format " FORMAT_DUMP},
        {options->summary, "--summary, which is of a whole heap"},
        {options->watch > 0, "--watch"},
        {options->inspect, "--inspect"},
        {options->at_death, "--at-death"},
        {.name = NULL},
    };
    return !options->under || goes_with("--under", others);
}

/* Returns whether --sample has only options that it goes with. Returns false after printing what is
 * wrong. */
static bool check_sample(const struct options *options)
{
    const struct given_option others[] = {
        {options->watch > 0, "--watch"},
        {options->inspect, "--inspect"},
        {options->mcp, "--mcp"},
        {options->at_death, "--at-death"},
        {options->command, "--command"},
        {options->base, "--base"},
        {options->input_count > 1, "several heaps"},
        {options->under, "--under"},
        {options->path_to, "--path-to"},
        {options->show, "--show"},
        {options->by_label, "--by label"},
        {options->sections != 0, "--json=PARTS"},
        {options->max_nodes > 0, "--max-nodes"},
        {.name = NULL},
    };
    if (options->sample == 0)
        return true;
    if (options->is_dump || !is_format(options, "report"))
        return USAGE_REFUSE("--sample goes with --format report, which says how exact each figure "
                            "is, not with %s",
                            options->is_dump ? FORMAT_DUMP : name_of(options));
    return goes_with("--sample", others);
}

/* Returns whether the format takes all options that the user gave and only some formats take.
 * Returns false after printing the first that it does not take. */
static bool check_format_options(const struct options *options)
{
    const struct {
        bool is_given;
        const char *name;
        unsigned takes;
    } given[] = {
        {options->memprofile_rate > 0, "--memprofile-rate", G2H_TAKES_RATE},
        {options->base, "--base", G2H_TAKES_BASE | G2H_TAKES_SERIES},
        {options->base_exe, "--base-exe", G2H_TAKES_BASE},
        {options->json, "--json", G2H_TAKES_JSON},
        {options->full, "--full", G2H_TAKES_PATH},
        {options->top > 0, "--top", G2H_TAKES_PATH},
        {options->path_to, "--path-to", G2H_TAKES_PATH},
        {options->show, "--show", G2H_TAKES_PATH},
        {options->by_label, "--by label", G2H_TAKES_PATH},
        {options->summary, "--summary", G2H_TAKES_SUMMARY},
        {options->numbers, "--numbers", G2H_TAKES_NUMBERS},
        {options->max_nodes > 0, "--max-nodes", G2H_TAKES_FOLDED},
        {options->largest_array > 0 && !options->is_dump && options->pid == 0 && !options->keep,
         "--largest-array", G2H_TAKES_ARRAYS},
    };
    const char *without = g2h_format_left_out("sqlite");
    if (options->summary && without)
        return USAGE_REFUSE("this one was built without %s, which --summary needs", without);
    for (size_t i = 0; i < COUNT_OF(given); i++)
        if (given[i].is_given && !format_takes(options, given[i].name, given[i].takes))
            return false;
    return true;
}

/* Returns whether options of processes are only given with one, and those about ages with --ages.
 * Returns false after printing what is wrong. */
static bool check_process_options(const struct options *options)
{
    if (options->fork && options->pid == 0)
        return USAGE_REFUSE("--fork goes with --pid");
    if (options->ages > 0 && options->pid == 0 && !options->at_death)
        return USAGE_REFUSE("--ages goes with --pid");
    if (is_format(options, "heaptimeline") && (options->pid != 0 || options->at_death) &&
        options->ages == 0)
        return USAGE_REFUSE(
            "--format heaptimeline needs --ages: since when objects live is known of "
            "a process whose collections were watched");
    if (options->older > 0 && !options->path_to)
        return USAGE_REFUSE("--older goes with --path-to CLASS");
    if (options->older > 0 && options->pid != 0 && options->ages == 0)
        return USAGE_REFUSE("--older of a process needs --ages, which watches it first: --ages 5m");
    return true;
}

/* Returns whether the options that choose what the output has go together. Returns false after
 * printing what is wrong. */
static bool check_contents(const struct options *options)
{
    if (options->path_to && options->show)
        return USAGE_REFUSE("--path-to and --show are two reports");
    if (options->by_label && (options->path_to || options->show || options->watch > 0 ||
                              options->mcp || options->sections != 0))
        return USAGE_REFUSE("--by label is a report of its own");
    if (options->base_exe && !options->base)
        return USAGE_REFUSE("--base-exe goes with --base");
    if (options->is_dump && (options->redact || options->redact_key))
        return USAGE_REFUSE("a dump cannot be redacted: --redact does not go with --format %s",
                            FORMAT_DUMP);
    if (options->reachable && options->garbage)
        return USAGE_REFUSE("--reachable leaves out what --garbage keeps");
    const char *other = first_given((struct given_option[]){{options->path_to != NULL, "--path-to"},
                                                            {options->show != NULL, "--show"},
                                                            {options->watch > 0, "--watch"},
                                                            {0}});
    if (options->sections != 0 && other)
        return USAGE_REFUSE("--json= takes sections of a report about a whole heap, so it does not "
                            "go with %s",
                            other);
    return true;
}

/* Refuses each option that the format, or another option, does not go with: the first that is wrong
 * is reported, and false returned. */
bool check_options(const struct options *options)
{
    return check_format_options(options) && check_process_options(options) &&
           check_contents(options) && check_mcp(options) && check_at_death(options) &&
           check_inspect(options) && check_watch(options) && check_numbers(options) &&
           check_summary(options) && check_under(options) && check_sample(options) &&
           check_output(options);
}

/* ---- inputs ---- */

/* Returns whether a file, compressed by gzip or not, is an executable by its first bytes. Does not
 * touch pipes. */
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

/* If one of the files is an executable, another one is not, and --exe is not given, prints how to
 * specify a dump's executable and returns true. */
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

/* Returns whether an argument is the number of a process, and no file has that name. */
static bool is_process(const char *text)
{
    struct stat status;
    char path[64];
    if (strlen(text) > 10 || text[strspn(text, "0123456789")] != '\0' || lstat(text, &status) == 0)
        return false;
    snprintf(path, sizeof(path), "/proc/%s", text);
    return lstat(path, &status) == 0;
}

/* If the only dump is not a file but the number of a process, prints how to read that, and returns
 * true. */
static bool refuse_process(const struct options *options)
{
    if (options->input_count != 1 || !is_process(options->inputs[0]))
        return false;
    say("go2heapsnapshot: no file is called '%s', but there is a process of that number:",
        options->inputs[0]);
    say("  go2heapsnapshot --pid %s", options->inputs[0]);
    return true;
}

/* Returns whether several dumps are allowed. Returns false after printing why not: more than
 * MOST_TRENDS, options of a report about one heap, two dumps only, a series of snapshots without a
 * directory to go to, or standard input among the dumps. */
static bool check_series(const struct options *options)
{
    enum { MOST_TRENDS = 200 };
    if (options_show_trends(options) &&
        options->input_count + (options->base != NULL) > MOST_TRENDS)
        return USAGE_REFUSE("--format %s shows trends over %u dumps at most", options->format->name,
                            (unsigned)MOST_TRENDS);
    if (options_report_trend(options)) {
        if (options->sections != 0)
            return USAGE_REFUSE("--json= takes sections of a report about one heap, not about "
                                "several dumps");
        if (options->base)
            return USAGE_REFUSE("a report of several dumps compares them all: give that of --base "
                                "as the first one");
        if (options->input_count > MOST_TRENDS)
            return USAGE_REFUSE("--format report shows trends over %u dumps at most",
                                (unsigned)MOST_TRENDS);
        if (options->input_count == 2)
            return USAGE_REFUSE("two dumps show no trend: --base %s compares them, three or more "
                                "show how the heap goes on",
                                options->inputs[0]);
    }
    if (!options->output && !options->append && !options_show_trends(options) &&
        !options_report_trend(options)) {
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

/* Checks that --mcp has standard input for its client. Returns false after printing what is
 * wrong. */
static bool check_client_input(const struct options *options)
{
    const struct {
        const char *path, *what;
    } files[] = {{options->input_count > 0 ? options->inputs[0] : NULL, "dump"},
                 {options->base, "base"},
                 {options->exe, "executable"},
                 {options->base_exe, "executable"}};
    for (size_t i = 0; i < COUNT_OF(files); i++)
        if (options->mcp && files[i].path && strcmp(files[i].path, "-") == 0)
            return USAGE_REFUSE("with --mcp, standard input is the client's: the %s must be a file",
                                files[i].what);
    return true;
}

/* Returns whether the number of dumps is right for the other options: none with a process or a
 * command; one with --mcp; one or more with --inspect; else one, or several that make a series. Nor
 * may a dump be an executable or, with --mcp, standard input, or its name be empty. Returns false
 * after printing the first thing that is wrong. */
bool check_inputs(const struct options *options)
{
    for (size_t i = 0; i < options->input_count; i++)
        if (options->inputs[i][0] == '\0')
            return USAGE_REFUSE("the name of a dump is empty");
    if (!check_client_input(options))
        return false;
    if (options->at_death && options->pid == 0)
        return USAGE_REFUSE("--at-death takes --pid, or a command after --: -- ./server");
    if (options->pid != 0 && options->input_count > 0) {
        say("go2heapsnapshot: --pid takes the place of a dump, so '%s' is one too many",
            options->inputs[0]);
        return false;
    }
    if (options->command && options->input_count > 0)
        return USAGE_REFUSE("--command takes the place of a dump, so '%s' is one too many",
                            options->inputs[0]);
    if (options->pid != 0 || options->command)
        return true;
    if (options->input_count == 0)
        return USAGE_REFUSE("no dump given: name a heap dump or core file, or a process by --pid");
    if (refuse_process(options))
        return false;
    if (options->mcp && options->input_count > 1)
        return USAGE_REFUSE("--mcp answers questions about one dump, which --base compares with "
                            "another");
    if (options->inspect)
        return !refuse_executable(options);
    return options->input_count == 1 || (!refuse_executable(options) && check_series(options));
}
