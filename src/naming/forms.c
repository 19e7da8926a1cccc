/* forms; see forms.h. */
#include "naming/forms.h"

#include "types/runtime_types.h"

/* How a type is written that no package declares. */
static const struct literal {
    const char *begin;
    enum g2h_class_form form;
} literals[] = {
    {"[", G2H_FORM_SLICE},         {"*", G2H_FORM_POINTER},
    {"map[", G2H_FORM_MAP},        {"chan ", G2H_FORM_CHAN},
    {"chan<- ", G2H_FORM_CHAN},    {"<-chan ", G2H_FORM_CHAN},
    {"func(", G2H_FORM_FUNC},      {"func ", G2H_FORM_CLOSURE},
    {"struct {", G2H_FORM_STRUCT}, {"interface {", G2H_FORM_INTERFACE},
};

static const struct {
    const char *type;
    enum g2h_runtime_class class;
} structures[] = {
    {"runtime.g", G2H_RUNTIME_G},
    {"runtime.m", G2H_RUNTIME_M},
    {"runtime.mPadded", G2H_RUNTIME_M},
    {"runtime.p", G2H_RUNTIME_P},
    {"runtime.sudog", G2H_RUNTIME_SUDOG},
    {"runtime._defer", G2H_RUNTIME_DEFER},
    {"runtime.timeTimer", G2H_RUNTIME_TIMER}, /* from Go 1.23; until Go 1.22: */
    {"time.Timer", G2H_RUNTIME_TIMER},
    {"time.Ticker", G2H_RUNTIME_TIMER},
    {"sync.readOnly", G2H_RUNTIME_TRIE}, /* of sync.Map until Go 1.23, as are these two: */
    {"map[interface {}]*sync.entry", G2H_RUNTIME_TRIE},
    {"sync.entry", G2H_RUNTIME_TRIE_ENTRY},
    {"container/list.Element", G2H_RUNTIME_ENTRY},
    {"container/ring.Ring", G2H_RUNTIME_ENTRY},
};

/* Generic types, HashTrieMap's: without their arguments. */
static const struct {
    const char *begin;
    enum g2h_runtime_class class;
} generics[] = {
    {"internal/sync.indirect[", G2H_RUNTIME_TRIE},
    {"internal/sync.entry[", G2H_RUNTIME_TRIE_ENTRY},
    {"internal/concurrent.indirect[", G2H_RUNTIME_TRIE}, /* Go 1.23 */
    {"internal/concurrent.entry[", G2H_RUNTIME_TRIE_ENTRY},
    {"unique.indirect[", G2H_RUNTIME_TRIE},
    {"unique.entry[", G2H_RUNTIME_TRIE_ENTRY},
};

/* The structures of sync.Map and HashTrieMap, up to what has a key: G2H_NAME_OF_LINKS. A name that
 * ends with [ is a generic type's. */
static const char *const links[] = {
    "sync.Map",
    "sync.readOnly", /* until Go 1.23, as is sync.entry */
    "sync.entry",
    "internal/sync.HashTrieMap[",
    "internal/sync.indirect[",
    "internal/concurrent.HashTrieMap[",
    "internal/concurrent.indirect[",
    "unique.indirect[",
};

static bool is_link(struct g2h_bytes type)
{
    for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
        if (links[i][strlen(links[i]) - 1] == '[' ? bytes_begin(type, links[i])
                                                  : bytes_are(type, links[i]))
            return true;
    return false;
}

/* Packages whose functions wait, call back or copy for those that call them. */
static const char *const libraries[] = {
    "runtime", "sync", "syscall", "net",        "os",        "io",
    "bufio",   "time", "context", "crypto/tls", "os/signal", "reflect",
};

/* Returns the part of a type's name up to the arguments of a generic type. */
static struct g2h_bytes without_arguments(struct g2h_bytes type)
{
    for (uint64_t i = 0; i < type.size; i++)
        if (memchr("[](){}* ", type.data[i], 8))
            return (struct g2h_bytes){type.data, i};
    return type;
}

/* Returns how a type is written: as a literal ("[]T", "map[K]V"), or by a declared name, which has
 * a package and a dot. */
static enum g2h_class_form form_of(struct g2h_bytes type)
{
    for (size_t i = 0; i < sizeof(literals) / sizeof(*literals); i++)
        if (bytes_begin(type, literals[i].begin))
            return literals[i].form;
    const struct g2h_bytes name = without_arguments(type);
    return name.size > 0 && memchr(name.data, '.', (size_t)name.size) ? G2H_FORM_DECLARED
                                                                      : G2H_FORM_OTHER;
}

/* Classifies the runtime's own types that findings treat specially. */
static enum g2h_runtime_class runtime_class_of(struct g2h_bytes type, enum g2h_class_form of)
{
    static const char call[] = "runtime._defer";
    if (of == G2H_FORM_SLICE)
        return bytes_are(type, "*runtime.timer") /* until Go 1.22 */ ||
                       bytes_are(type, "runtime.timerWhen")
                   ? G2H_RUNTIME_TIMERS
                   : G2H_RUNTIME_NONE;
    for (size_t i = 0; of == G2H_FORM_OTHER && i < sizeof(structures) / sizeof(*structures); i++)
        if (bytes_are(type, structures[i].type))
            return structures[i].class;
    for (size_t i = 0; of == G2H_FORM_OTHER && i < sizeof(generics) / sizeof(*generics); i++)
        if (bytes_begin(type, generics[i].begin))
            return generics[i].class;
    if (of == G2H_FORM_OTHER && bytes_begin(type, SUDOG_TYPES)) /* shown as runtime.sudog */
        return G2H_RUNTIME_SUDOG;
    return type.size > 0 && memmem(type.data, (size_t)type.size, call, sizeof(call) - 1)
               ? G2H_RUNTIME_DEFER_LIST
               : G2H_RUNTIME_NONE;
}

unsigned form_of_type(struct g2h_bytes type, enum g2h_class_form of)
{
    const enum g2h_class_form form = of != G2H_FORM_OTHER ? of : form_of(type);
    return (unsigned)form << NAME_FORM_SHIFT |
           (unsigned)runtime_class_of(type, of) << NAME_RUNTIME_SHIFT |
           (of == G2H_FORM_OTHER && bytes_begin(type, "runtime.") ? G2H_NAME_OF_RUNTIME : 0u) |
           (of == G2H_FORM_OTHER && is_link(type) ? G2H_NAME_OF_LINKS : 0u);
}

unsigned form_of_function(struct g2h_bytes function)
{
    if (bytes_begin(function, "runtime."))
        return G2H_NAME_OF_RUNTIME | G2H_NAME_OF_LIBRARY;
    if (bytes_begin(function, "internal/"))
        return G2H_NAME_OF_LIBRARY;
    for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
        if (bytes_begin(function, libraries[i]) && function.size > strlen(libraries[i]) &&
            function.data[strlen(libraries[i])] == '.')
            return G2H_NAME_OF_LIBRARY;
    return 0;
}
