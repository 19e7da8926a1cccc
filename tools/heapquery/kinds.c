/* kinds; see kinds.h. */
#include "kinds.h"

#include "json.h"

/* Keys that tell, and the kinds of files that have all of theirs. */
enum {
    TIME_DELTAS = 1 << 0,
    START_TIME = 1 << 1,
    HEAD = 1 << 2,
    NODE_CLASS_NAMES = 1 << 3,
    TRACE_EVENTS = 1 << 4,
    LOG = 1 << 5,
};

unsigned kinds_of_key(const struct text *key)
{
    static const struct {
        const char *key;
        unsigned bit;
    } keys[] = {{"timeDeltas", TIME_DELTAS},          {"startTime", START_TIME},     {"head", HEAD},
                {"nodeClassNames", NODE_CLASS_NAMES}, {"traceEvents", TRACE_EVENTS}, {"log", LOG}};
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        if (json_is(key, keys[i].key))
            return keys[i].bit;
    return 0;
}

const char *kinds_name(unsigned keys)
{
    return keys & NODE_CLASS_NAMES             ? "a heap of JavaScriptCore"
           : keys & (TIME_DELTAS | START_TIME) ? "a CPU profile"
           : keys & TRACE_EVENTS               ? "a performance trace"
           : keys & HEAD                       ? "a sampling heap profile"
           : keys & LOG                        ? "a network log (HAR)"
                                               : NULL;
}
