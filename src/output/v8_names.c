/* v8_names; see v8_names.h. */
#include "output/v8_names.h"

#include <string.h>

#include "base/bytes.h"

enum { NAME_LIMIT = 1024 /* characters */ };

/* Returns whether a name is V8's: that of a class that DevTools computes, or treats specially.
 * Nearly all names differ in their lengths, so these are compared here. */
static bool is_reserved(struct g2h_bytes name)
{
    static const char *const reserved[] = {
        "Object",
        "Array",
        "Function",
        "RegExp",
        "V8EventListener",
        "(string)",
        "(array)",
        "(system)",
        "(compiled code)",
        "(closure)",
        "(number)",
        "(symbol)",
        "(bigint)",
        "(object shape)",
        "(synthetic)",
        "(sliced string)",
        "(concatenated string)",
        "(map descriptors)",
        "(Document DOM trees)",
    };
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
        if (name.size == strlen(reserved[i]) &&
            memcmp(name.data, reserved[i], (size_t)name.size) == 0)
            return true;
    return false;
}

/* Returns whether a name begins with a prefix by which DevTools recognizes V8's and Blink's own
 * nodes. */
static bool has_reserved_prefix(struct g2h_bytes name)
{
    static const char *const prefixes[] = {"<",      "system / ", "Detached ",
                                           "Window", "Object(",   "(closure"};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (bytes_begin(name, prefixes[i]))
            return true;
    return false;
}

/* The arrow of a receive-only channel comes last, because DevTools takes names that begin with "<"
 * for its own. */
bool v8_name_differs(const char *name, size_t size, struct text *ret)
{
    static const char receives[] = "<-chan ";
    const struct g2h_bytes bytes = {(const uint8_t *)name, size};
    const char *before = "", *behind = "";
    if (bytes_begin(bytes, receives)) {
        before = "chan (<-) ";
        name += strlen(receives);
        size -= strlen(receives);
    } else if (has_reserved_prefix(bytes)) {
        before = "Go ";
    } else if (is_reserved(bytes)) {
        behind = " (Go)";
    } else {
        return false;
    }
    text_append_string(ret, before);
    text_append_utf8(ret, (const uint8_t *)name, size,
                     NAME_LIMIT - strlen(before) - strlen(behind));
    text_append_string(ret, behind);
    return true;
}
