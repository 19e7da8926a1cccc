/* callees; see callees.h. */
#include "exe/go/callees.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/port.h"
#include "base/scope.h"

#define RESULT CALLEE_RESULT

/* From names, after "runtime.", to rules. A name that ends with * is a prefix. In Go 1.18 and 1.19,
 * growslice takes the type first. */
static const struct {
    const char *name;
    struct callee_rule rule;
} rules[] = {
    {"newobject", {0, {{CALLEE_ONE, RESULT}}}},
    {"mallocgc*", {1, {{CALLEE_ONE, RESULT}}}},
    {"makeslicecopy", {0, {{CALLEE_MANY, RESULT}, {CALLEE_MANY, 3}}}},
    {"makeslice*", {0, {{CALLEE_MANY, RESULT}}}},
    {"growslice", {0, {{CALLEE_MANY, RESULT}, {CALLEE_MANY, 1}}}},
    {"growslice*", {4, {{CALLEE_MANY, RESULT}, {CALLEE_MANY, 0}}}},
    {"moveSlice*", {0, {{CALLEE_MANY, RESULT}, {CALLEE_MANY, 1}}}},
    {"makechan*", {0, {{CALLEE_SELF, RESULT}}}},
    {"makemap", {0, {{CALLEE_SELF, RESULT}}}},
    {"makemap64", {0, {{CALLEE_SELF, RESULT}}}},
    {"mapassign*", {0, {{CALLEE_SELF, 1}, {CALLEE_ELEMENT, RESULT}}}},
    {"mapaccess*", {0, {{CALLEE_SELF, 1}, {CALLEE_ELEMENT, RESULT}}}},
    {"mapdelete*", {0, {{CALLEE_SELF, 1}}}},
    {"mapiterinit", {0, {{CALLEE_SELF, 1}}}},
    {"mapIterStart", {0, {{CALLEE_SELF, 1}}}},
    {"mapclear", {0, {{CALLEE_SELF, 1}}}},
    {"convT", {0, {{CALLEE_ONE, 1}, {CALLEE_ONE, RESULT}}}},
    {"convTnoptr", {0, {{CALLEE_ONE, 1}, {CALLEE_ONE, RESULT}}}},
    {"typedmemmove", {0, {{CALLEE_ONE, 1}, {CALLEE_ONE, 2}}}},
    {"typedmemclr", {0, {{CALLEE_ONE, 1}}}},
    {"typedslicecopy", {0, {{CALLEE_MANY, 1}, {CALLEE_MANY, 3}}}},
    {"wbMove", {0, {{CALLEE_ONE, 1}, {CALLEE_ONE, 2}}}},
    {"wbZero", {0, {{CALLEE_ONE, 1}}}},
};

enum { RULES = sizeof(rules) / sizeof(rules[0]), GROWSLICE_OLD = 4 };

/* Returns whether a function's name is that of a rule, or begins with it if the rule ends with
 * *. */
static bool matches_pattern(const char *pattern, struct g2h_bytes name)
{
    const size_t size = strlen(pattern);
    return pattern[size - 1] == '*'
               ? name.size >= size - 1 && memcmp(pattern, name.data, size - 1) == 0
               : bytes_are(name, pattern);
}

/* Returns the number of the rule for a function of the runtime. type_is_first: the release's
 * growslice takes the type first, as the rule GROWSLICE_OLD says. */
static uint8_t rule_of(struct g2h_bytes name, bool type_is_first)
{
    static const char barrier[] = "gcWriteBarrier";
    if (bytes_begin(name, barrier))
        return CALLEE_KEEPS_REGISTERS;
    for (unsigned i = 0; i < RULES; i++)
        if (matches_pattern(rules[i].name, name) && (i != GROWSLICE_OLD || type_is_first))
            return (uint8_t)(CALLEE_RULES + i);
    return CALLEE_USUAL;
}

/* Returns whether a name is that of a method, not of a function within one:
 * "net/http.(*Server).Serve", "main.(*cache[...]).add", "net/url.Values.Get". A value's method
 * cannot be distinguished from a function in a function by its name alone: types decide. */
static bool callees_is_method(struct g2h_bytes name)
{
    const uint8_t *slash = memrchr(name.data, '/', (size_t)name.size);
    const uint8_t *star = bytes_find(name, ".(*");
    const uint8_t *end = name.data + name.size, *from = slash && !star ? slash : name.data;
    if (star) {
        const uint8_t *close = memmem(star, (size_t)(end - star), ").", 2);
        return close && !memchr(close + 2, '.', (size_t)(end - close - 2)) &&
               !memchr(close + 2, '-', (size_t)(end - close - 2));
    }
    unsigned dots = 0;
    for (; from < end; from++)
        dots += *from == '.';
    return dots == 2 && !memchr(name.data, '[', (size_t)name.size) && end[-1] != '.' &&
           !memchr(name.data, '-', (size_t)name.size);
}

/* Classifies each function by its name alone, once, since calls are many. */
struct g2h_error *callees_find(const struct pclntab *pclntab, uint8_t **ret)
{
    static const char runtime[] = "runtime.";
    const bool type_is_first = !pclntab_has_start_lines(pclntab); /* before Go 1.20 */
    uint8_t *numbers = calloc((size_t)pclntab->count + 1, 1);
    TRY_MEMORY(numbers);
    for (uint64_t i = 0; i < pclntab->count; i++) {
        struct g2h_bytes name = pclntab_name(pclntab, i);
        if (name.size == 0)
            continue;
        if (bytes_are(name, "sync.(*Pool).Put"))
            numbers[i] = CALLEE_POOL_PUT;
        else if (callees_is_method(name))
            numbers[i] = bytes_contain(name, "]).") ? CALLEE_GENERIC_METHOD : CALLEE_METHOD;
        else if (bytes_begin(name, runtime)) {
            name.data += sizeof(runtime) - 1;
            name.size -= sizeof(runtime) - 1;
            numbers[i] = rule_of(name, type_is_first);
        }
    }
    *ret = numbers;
    return NULL;
}

const struct callee_rule *callees_rule(uint8_t number)
{
    return number >= CALLEE_RULES ? &rules[number - CALLEE_RULES].rule : NULL;
}
