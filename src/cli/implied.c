/* implied; see implied.h. */
#include "cli/implied.h"

#include <string.h>

#include "cli/format.h"
#include "cli/terminal.h"
#include "cli/usage.h"

/* A suffix that implies a format. Other formats in such a file are not refused, unless the suffix
 * is never used for them. */
static const struct suffix {
    const char *suffix, *format;
    bool is_sure;
} suffixes[] = {
    {".heapsnapshot", "heapsnapshot", true},
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

/* Returns the suffix of the first size bytes of a path, or NULL if it implies nothing. */
static const struct suffix *implied_find(const char *path, size_t size)
{
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
        if (implied_ends_in(path, size, suffixes[i].suffix))
            return &suffixes[i];
    return NULL;
}

/* Returns the suffix of the output. Sets *ret_gzip if .gz follows it. */
static const struct suffix *find_output(const struct options *options, bool *ret_gzip)
{
    size_t size = options->output ? strlen(options->output) : 0;
    while (size > 0 && options->output[size - 1] == '/')
        size--;
    const struct suffix *found = implied_find(options->output, size);
    *ret_gzip = !found && implied_ends_in(options->output, size, ".gz");
    return *ret_gzip ? implied_find(options->output, size - strlen(".gz")) : found;
}

static bool is_report(const struct options *options)
{
    return options->by_label || options->mcp || options->watch > 0 || options->show ||
           options->path_to || options->json || options->full || options->top > 0;
}

/* Returns the format of the options that only one format takes; NULL: any. */
static const char *asked(const struct options *options)
{
    return is_report(options)  ? "report"
           : options->summary  ? "sqlite"
           : options->by       ? "pprof"
           : options->at_death ? FORMAT_DUMP
                               : NULL;
}

/* Returns whether the user wants something that a report does not have. */
static bool wants_file(const struct options *options)
{
    return options->numbers || options->no_contexts || options->max_nodes > 0 || options->gzip ||
           options->memprofile_rate > 0 || options->append || options->label_count > 0;
}

static bool is_format(const struct options *options, const char *name)
{
    return strcmp(options->is_dump ? FORMAT_DUMP : options->format->name, name) == 0;
}

bool implied_format(struct options *options)
{
    bool gzip;
    const struct suffix *suffix = find_output(options, &gzip);
    const char *other = asked(options);
    if (suffix && options->has_format && suffix->is_sure && !is_format(options, suffix->format))
        return USAGE_REFUSE("'%s' is a name for --format %s, not for %s", options->output,
                            suffix->format, options->is_dump ? FORMAT_DUMP : options->format->name);
    options->gzip |= suffix && gzip;
    if (!options->has_format && !options->inspect && (suffix || other) &&
        !format_choose(options, suffix ? suffix->format : other))
        return false;
    options->gzip |= options->at_death && !suffix && options->is_dump;
    if (suffix && strcmp(suffix->suffix, ".json") == 0 && is_format(options, "report"))
        options->json = true;
    if (!options->has_format && !options->inspect && !suffix && !other && !wants_file(options) &&
        terminal_is_output(options)) {
        options->format = g2h_format_find("report", NULL);
        options->is_default = true;
    }
    return true;
}
