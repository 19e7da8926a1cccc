/* format; see format.h. */
#include "cli/format.h"

#include <string.h>

#include "base/scope.h"
#include "base/text.h"
#include "cli/usage.h"

static const char *name_of(const struct options *options)
{
    return options->is_dump ? FORMAT_DUMP : options->format->name;
}

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
    text_printf(text, "%s%s%s%s", text->size > 0 ? " or " : "", name, by ? " --by " : "",
                by ? by : "");
}

bool format_choose_by(struct options *options, const char *by)
{
    const char *name = name_of(options);
    const struct g2h_format *usual = g2h_format_find(name, NULL), *format;
    const struct g2h_format *found = g2h_format_find(name, by);
    const bool takes_any = usual && usual->by;
    _cleanup_(text_deinit) struct text choices = {0};
    if (found) {
        options->format = found;
        return true;
    }
    for (size_t i = 0; (format = g2h_format(i)) != NULL; i++)
        if (takes_any ? strcmp(format->name, name) == 0 : format->by && format_is_usual(format))
            add_choice(&choices, takes_any ? format->by : format->name, NULL);
    const int size = choices.failed ? 0 : (int)choices.size;
    return takes_any ? USAGE_REFUSE("--by takes %.*s, not '%s'", size, choices.data, by)
                     : USAGE_REFUSE("--by goes with --format %.*s, not with %s", size, choices.data,
                                    name);
}

bool format_takes(const struct options *options, const char *option, unsigned takes)
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
                        names.failed ? 0 : (int)names.size, names.data, name_of(options), compare);
}
