/* by; see by.h. */
#include "cli/by.h"

#include <string.h>

#include "base/scope.h"
#include "base/text.h"
#include "cli/messages.h"

bool by_is_usual(const struct g2h_format *format)
{
    return g2h_format_find(format->name, NULL) == format;
}

bool by_choose(const char *by, const char *name, const struct g2h_format **ret)
{
    const struct g2h_format *usual = g2h_format_find(name, NULL), *format;
    const struct g2h_format *found = g2h_format_find(name, by);
    const bool takes_any = usual && usual->by;
    _cleanup_(text_deinit) struct text names = {0};
    if (found) {
        *ret = found;
        return true;
    }
    for (size_t i = 0; (format = g2h_format(i)) != NULL; i++)
        if (takes_any ? strcmp(format->name, name) == 0 : format->by && by_is_usual(format))
            text_printf(&names, "%s%s", names.size > 0 ? " or " : "",
                        takes_any ? format->by : format->name);
    const char *listed = names.failed ? "" : names.data;
    const int size = names.failed ? 0 : (int)names.size;
    if (takes_any)
        say("go2heapsnapshot: --by takes %.*s, not '%s'", size, listed, by);
    else
        say("go2heapsnapshot: --by goes with --format %.*s, not with %s", size, listed, name);
    return false;
}
