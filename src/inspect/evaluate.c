/*
 * evaluate: Go expressions in the Console; see remote.h.
 *
 * An expression is read from left to right, and each step is looked up in the result of the one
 * before. Names of packages have dots and slashes, too, so the longest prefix that is a variable
 * counts.
 */
#include "inspect/remote.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/error.h"
#include "findings/findings.h"
#include "findings/path.h"
#include "findings/variable_part.h"
#include "inspect/inspect_json.h"

enum { DEPTH = 32 /* of parentheses and functions */ };

struct evaluation {
    struct taken *taken;
    const struct channel_evaluate *options;
    const char *at; /* the rest of the expression */
    unsigned depth;
    struct text words; /* of a list that is the result */
};

/* Returns whether the expression is evaluated while it is being typed: nothing that takes long, and
 * no changes. */
static bool is_eager(const struct evaluation *evaluation)
{
    return (evaluation->options->flags & CHANNEL_EAGER) != 0;
}

static void skip_blanks(struct evaluation *evaluation)
{
    evaluation->at += strspn(evaluation->at, " \t\n");
}

/* Reads a character if it comes next. Returns whether it did. */
static bool read_if(struct evaluation *evaluation, char wanted)
{
    skip_blanks(evaluation);
    const bool is_there = *evaluation->at == wanted;
    evaluation->at += is_there;
    return is_there;
}

/* Reads a character that must come next. */
static struct g2h_error *expect(struct evaluation *evaluation, char wanted)
{
    return read_if(evaluation, wanted)
               ? NULL
               : error_create(G2H_ERROR_NOT_FOUND, "expected %c before '%.40s'", wanted,
                              evaluation->at);
}

/* ---- steps ---- */

struct looking {
    const char *name;
    size_t size;
    struct remote *found;
    bool is_found;
};

/* A visitor: keeps the property with the wanted name, which ends the visit by returning false. */
static bool compare_property(void *context, const char *name, size_t size,
                             const struct remote *property)
{
    struct looking *looking = context;
    if (size != looking->size || memcmp(name, looking->name, size) != 0)
        return true;
    *looking->found = *property;
    looking->is_found = true;
    return false;
}

/* Finds a part of a place by its name: a field, an index, a key. */
static struct g2h_error *look_up(struct evaluation *evaluation, const struct remote_place *place,
                                 const char *name, size_t size, struct remote *ret)
{
    _cleanup_free_ struct remote *found = malloc(sizeof(*found));
    struct looking looking = {name, size, found, false};
    TRY_MEMORY(found);
    TRY(properties_visit(evaluation->taken, place, compare_property, &looking));
    if (!looking.is_found)
        return error_create(G2H_ERROR_NOT_FOUND, "there is no %.*s in it", as_width(size), name);
    *ret = *found;
    return NULL;
}

/* Moves from a value to its part with a name. */
static struct g2h_error *step(struct evaluation *evaluation, const char *name, size_t size,
                              struct remote *remote)
{
    struct remote_place place;
    return remote_place(evaluation->taken, remote, &place)
               ? look_up(evaluation, &place, name, size, remote)
               : error_create(G2H_ERROR_NOT_FOUND, "there is nothing in it that could be %.*s",
                              as_width(size), name);
}

/* Returns the size of the Go name that comes next: letters, digits, underscores, and bytes beyond
 * ASCII; 0: none. */
static size_t name_size(const char *at)
{
    size_t size = 0;
    while ((at[size] >= '0' && at[size] <= '9') || (at[size] >= 'a' && at[size] <= 'z') ||
           (at[size] >= 'A' && at[size] <= 'Z') || at[size] == '_' || (at[size] & 0x80) != 0)
        size++;
    return size;
}

/* Returns the size of the quoted string that comes next, with its quotes; 0: it has no end. */
static size_t quoted_size(const char *at)
{
    for (size_t i = 1; at[i]; i++) {
        if (at[i] == '"')
            return i + 1;
        i += at[i] == '\\' && at[i + 1];
    }
    return 0;
}

/* Reads an index or a key up to the closing bracket, and moves to that element or entry. */
static struct g2h_error *read_key(struct evaluation *evaluation, struct remote *remote)
{
    skip_blanks(evaluation);
    const char *key = evaluation->at;
    const size_t size = *key == '"' ? quoted_size(key) : strcspn(key, "]");
    if (size == 0)
        return error_create(G2H_ERROR_NOT_FOUND, "expected an index or a key before '%.40s'", key);
    evaluation->at += size;
    TRY(expect(evaluation, ']'));
    return step(evaluation, key, size, remote);
}

/* Reads the fields, indices and keys after a value. */
static struct g2h_error *read_steps(struct evaluation *evaluation, struct remote *remote)
{
    for (;;) {
        if (read_if(evaluation, '[')) {
            TRY(read_key(evaluation, remote));
        } else if (read_if(evaluation, '.')) {
            const char *name = evaluation->at;
            const size_t size = name_size(name);
            if (size == 0)
                return error_create(G2H_ERROR_NOT_FOUND, "expected a name after the dot");
            evaluation->at += size;
            TRY(step(evaluation, name, size, remote));
        } else {
            return NULL;
        }
    }
}

/* ---- variables ---- */

/* Finds the package with a name. Returns its node, or UINT32_MAX. */
static uint32_t find_package(const struct taken *taken, const char *name, size_t size)
{
    const uint64_t count = g2h_view_account(taken->made.view)->first_object;
    for (uint32_t i = 0; i < count; i++) {
        struct g2h_node node;
        size_t length;
        g2h_view_brief(taken->made.view, i, &node);
        const char *package = g2h_view_name(taken->made.view, node.name, &length);
        if (node.kind == G2H_NODE_PACKAGE && length == size && memcmp(package, name, size) == 0)
            return i;
    }
    return UINT32_MAX;
}

/* Reads the name of a package, or of a package and its variable: the shortest prefix, up to a dot
 * or the end, that names a variable or is a package with a member of the next name; the name of a
 * package alone only if nothing follows. Sets ret->kind to REMOTE_NOTHING, and reads nothing, if
 * none comes next; *ret_found then says whether the dump lacks such a variable. */
static struct g2h_error *read_variable(struct evaluation *evaluation, enum g2h_variable *ret_found,
                                       struct remote *ret)
{
    const char *name = evaluation->at;
    const size_t all = strcspn(name, " \t\n()[],\"");
    *ret_found = G2H_VARIABLE_NONE;
    for (size_t size = 0; size < all;) {
        size++;
        while (size < all && name[size] != '.')
            size++;
        const enum g2h_variable found = properties_variable(evaluation->taken, name, size, ret);
        *ret_found = found == G2H_VARIABLE_NOT_IN_DUMP ? found : *ret_found;
        const uint32_t package =
            ret->kind == REMOTE_NOTHING ? find_package(evaluation->taken, name, size) : UINT32_MAX;
        if (package != UINT32_MAX && size == all) {
            *ret = (struct remote){.kind = REMOTE_NODE, .node = package};
        } else if (package != UINT32_MAX) {
            /* a variable that has no type: by its name among the package's members */
            struct remote member = {.kind = REMOTE_NODE, .node = package};
            const size_t next = name_size(name + size + 1);
            struct g2h_error *error = step(evaluation, name + size + 1, next, &member);
            if (!error) {
                *ret = member;
                size += 1 + next;
            }
            g2h_error_destroy(error);
        }
        if (ret->kind == REMOTE_NOTHING)
            continue;
        evaluation->at += size;
        return NULL;
    }
    return NULL;
}

/* Reads the name of a variable of package main, without it. */
static void read_own(struct evaluation *evaluation, struct remote *ret)
{
    char name[PLACE_TEXT] = "main.";
    const size_t size = name_size(evaluation->at);
    if (size == 0 || size + strlen(name) >= PLACE_TEXT)
        return;
    memcpy(name + strlen(name), evaluation->at, size);
    properties_variable(evaluation->taken, name, strlen("main.") + size, ret);
    if (ret->kind != REMOTE_NOTHING)
        evaluation->at += size;
}

/* Reads a name, or the whole rest, as an expression that a report has printed. An eager evaluation,
 * while the user types, tries no such expressions, as they take long. */
static struct g2h_error *read_name(struct evaluation *evaluation, struct remote *ret)
{
    enum g2h_variable found;
    TRY(read_variable(evaluation, &found, ret));
    if (ret->kind == REMOTE_NOTHING)
        read_own(evaluation, ret);
    if (ret->kind != REMOTE_NOTHING)
        return NULL;
    *ret = (struct remote){.kind = REMOTE_NODE, .node = UINT32_MAX};
    if (!is_eager(evaluation))
        TRY(expression_read(evaluation->taken->made.view, evaluation->taken->edges, evaluation->at,
                            EXPRESSION_OWNER_SAID, &ret->node, NULL));
    if (ret->node != UINT32_MAX) {
        evaluation->at += strlen(evaluation->at);
        return NULL;
    }
    const int size = (int)strcspn(evaluation->at, " \t\n()[],\"");
    if (found == G2H_VARIABLE_NOT_IN_DUMP)
        return error_create(G2H_ERROR_NOT_FOUND,
                            "%.*s is not in the dump: Go writes only variables that may have "
                            "pointers in them",
                            size, evaluation->at);
    return error_create(
        G2H_ERROR_NOT_FOUND,
        "%.*s is not a variable; instances(\"main.T\") lists the objects of a class", size,
        evaluation->at);
}

/* ---- goroutines ---- */

/* Returns whether a string begins with some words. */
static bool begins_with(const char *at, const char *words)
{
    return strncmp(at, words, strlen(words)) == 0;
}

/* Reads "goroutine 17", and a variable of it after a middle dot: "goroutine 17 · v". Error: there
 * is no such goroutine, or no such variable. */
static struct g2h_error *read_goroutine(struct evaluation *evaluation, struct remote *ret)
{
    static const char word[] = "goroutine ";
    static const char dot[] = "·";
    const struct g2h_view *view = evaluation->taken->made.view;
    char *end;
    const uint64_t number = strtoull(evaluation->at + strlen(word), &end, 10);
    *ret = (struct remote){.kind = REMOTE_NOTHING};
    evaluation->at = end;
    for (size_t i = 0; i < g2h_view_goroutine_count(view); i++) {
        struct g2h_view_goroutine goroutine;
        g2h_view_goroutine(view, i, &goroutine);
        if (goroutine.record.goid == number && goroutine.node != UINT32_MAX)
            *ret = (struct remote){.kind = REMOTE_NODE, .node = goroutine.node};
    }
    if (ret->kind == REMOTE_NOTHING)
        return error_create(G2H_ERROR_NOT_FOUND, "there is no goroutine %" PRIu64, number);
    skip_blanks(evaluation);
    if (!begins_with(evaluation->at, dot))
        return NULL;
    evaluation->at += strlen(dot);
    skip_blanks(evaluation);
    const char *name = evaluation->at;
    const size_t size = name_size(name);
    evaluation->at += size;
    const struct remote_place locals = {.kind = PLACE_LOCALS, .node = ret->node};
    return look_up(evaluation, &locals, name, size, ret);
}

/* ---- functions ---- */

static struct g2h_error *read_expression(struct evaluation *evaluation, struct remote *ret);

/* Replaces a value by its length. */
static struct g2h_error *take_length(struct evaluation *evaluation, struct remote *remote)
{
    uint64_t length;
    if (!remote_length(evaluation->taken, remote, &length))
        return error_create(G2H_ERROR_NOT_FOUND, "it has no length");
    *remote = (struct remote){.kind = REMOTE_NUMBER, .number = length};
    return NULL;
}

/* Replaces a value by its retained size. While the user types, only if it is known already. */
static struct g2h_error *take_retained(struct evaluation *evaluation, struct remote *remote)
{
    struct taken *taken = evaluation->taken;
    const uint32_t node = remote_node(taken, remote);
    if (node == UINT32_MAX)
        return error_create(G2H_ERROR_NOT_FOUND, "it is not an object, so it retains nothing");
    if (is_eager(evaluation) && !taken->dominators)
        return error_create(G2H_ERROR_NOT_FOUND, "this takes a moment: press Enter");
    TRY(taken_need_dominators(taken));
    *remote = (struct remote){.kind = REMOTE_NUMBER,
                              .number = g2h_dominators_retained_size(taken->dominators, node)};
    return NULL;
}

/* A visitor: counts properties. Returns true, so that all are visited. */
static bool count_property(void *context, const char *name, size_t size,
                           const struct remote *property)
{
    uint64_t *count = context;
    (void)name;
    (void)size;
    (void)property;
    ++*count;
    return true;
}

/* Makes a list of the contents of a place, as the result: "12 × WHAT". Error: there are none, or
 * the expression is still being typed, as counting takes long. */
static struct g2h_error *list(struct evaluation *evaluation, const struct remote_place *place,
                              const char *what, size_t size, struct remote *ret)
{
    uint64_t count = 0;
    if (is_eager(evaluation))
        return error_create(G2H_ERROR_NOT_FOUND, "this takes a moment: press Enter");
    TRY(properties_visit(evaluation->taken, place, count_property, &count));
    if (count == 0)
        return error_create(G2H_ERROR_NOT_FOUND, "no object is of class %.*s", as_width(size),
                            what);
    text_printf(&evaluation->words, "%" PRIu64 " × ", count);
    text_append(&evaluation->words, what, size);
    TRY_MEMORY(!evaluation->words.failed);
    *ret = (struct remote){.kind = REMOTE_PARTS,
                           .words = bytes_at(evaluation->words.data, evaluation->words.size),
                           .place = *place};
    return NULL;
}

/* Reads the argument of instances(), the name of a class in quotes: the result is the list of its
 * objects. */
static struct g2h_error *read_instances(struct evaluation *evaluation, struct remote *ret)
{
    struct remote_place place = {.kind = PLACE_CLASS};
    skip_blanks(evaluation);
    const char *class = evaluation->at;
    const size_t size = *class == '"' ? quoted_size(class) : 0;
    if (size < 3 || size - 2 >= PLACE_TEXT)
        return error_create(G2H_ERROR_NOT_FOUND,
                            "instances() takes the name of a class: instances(\"main.Session\")");
    place.name_size = size - 2;
    memcpy(place.name, class + 1, place.name_size);
    evaluation->at += size;
    TRY(expect(evaluation, ')'));
    return list(evaluation, &place, class + 1, size - 2, ret);
}

/* Reads the arguments of a function, of which size bytes are the name, and calls it: len and
 * retained take an expression, instances a class, goroutines nothing. Error: there is no such
 * function, or a bracket is missing. */
static struct g2h_error *read_call(struct evaluation *evaluation, const char *name, size_t size,
                                   struct remote *ret)
{
    static const struct {
        const char *name;
        struct g2h_error *(*take)(struct evaluation *, struct remote *);
    } functions[] = {{"len", take_length}, {"retained", take_retained}};
    const struct remote_place goroutines = {.kind = PLACE_GOROUTINES};
    if (size == strlen("instances") && memcmp(name, "instances", size) == 0)
        return read_instances(evaluation, ret);
    if (size == strlen("goroutines") && memcmp(name, "goroutines", size) == 0) {
        TRY(expect(evaluation, ')'));
        return list(evaluation, &goroutines, "goroutine", strlen("goroutine"), ret);
    }
    for (size_t i = 0; i < COUNT_OF(functions); i++)
        if (size == strlen(functions[i].name) && memcmp(name, functions[i].name, size) == 0) {
            TRY(read_expression(evaluation, ret));
            TRY(expect(evaluation, ')'));
            return functions[i].take(evaluation, ret);
        }
    return error_create(G2H_ERROR_NOT_FOUND,
                        "%.*s is not a function; there are len, retained, instances and goroutines",
                        as_width(size), name);
}

/* ---- expressions ---- */

/* Reads $0, the object that was selected last, to $4: those before. */
static struct g2h_error *read_selected(struct evaluation *evaluation, struct remote *ret)
{
    const unsigned index = (unsigned)(evaluation->at[1] - '0');
    const uint32_t id = index < CHANNEL_INSPECTED ? evaluation->options->inspected[index] : 0;
    *ret = (struct remote){.kind = REMOTE_NODE, .node = UINT32_MAX};
    evaluation->at += 2;
    if (id != 0)
        TRY(taken_find(evaluation->taken, id, &ret->node));
    return ret->node != UINT32_MAX
               ? NULL
               : error_create(G2H_ERROR_NOT_FOUND,
                              "$%u: select a row of the newest snapshot in Memory first", index);
}

/* Reads the address of an object, or of a byte in one, in hexadecimal with 0x. Error: it is in no
 * object of the heap. */
static struct g2h_error *read_address(struct evaluation *evaluation, struct remote *ret)
{
    uint32_t object;
    char *end;
    const uint64_t address = strtoull(evaluation->at, &end, 16);
    *ret = (struct remote){.kind = REMOTE_NODE, .node = UINT32_MAX};
    evaluation->at = end;
    if (g2h_heap_find(evaluation->taken->made.heap, address, &object))
        ret->node = g2h_view_object(evaluation->taken->made.view, object);
    return ret->node != UINT32_MAX
               ? NULL
               : error_create(G2H_ERROR_NOT_FOUND, "0x%" PRIx64 " is in no object", address);
}

/* Reads a value without the steps after it, by how it begins: "(", "$0" (what is selected), "0x"
 * (an address), "goroutine 7", a call, or else a name. */
static struct g2h_error *read_primary(struct evaluation *evaluation, struct remote *ret)
{
    while (read_if(evaluation, '*') || read_if(evaluation, '&'))
        continue; /* a pointer is shown as its target anyhow */
    if (read_if(evaluation, '(')) {
        TRY(read_expression(evaluation, ret));
        return expect(evaluation, ')');
    }
    const char *at = evaluation->at;
    if (at[0] == '$' && at[1] >= '0' && at[1] <= '9')
        return read_selected(evaluation, ret);
    if (begins_with(at, "0x"))
        return read_address(evaluation, ret);
    if (begins_with(at, "goroutine ") && at[10] >= '0' && at[10] <= '9')
        return read_goroutine(evaluation, ret);
    const size_t size = name_size(at);
    if (size > 0 && at[size] == '(') {
        evaluation->at += size + 1;
        return read_call(evaluation, at, size, ret);
    }
    return read_name(evaluation, ret);
}

/* Reads an expression that has failed as --show reads it, which knows more: fields of embedded
 * structs, and what there is instead. *ret_found is false if it is not read so. */
static struct g2h_error *read_as_part(struct evaluation *evaluation, const char *begin,
                                      struct remote *ret, bool *ret_found)
{
    const struct findings findings = {.view = evaluation->taken->made.view};
    const size_t size = strcspn(begin, "() \t\n");
    _cleanup_(text_deinit) struct text expression = {0};
    _cleanup_(variable_part_deinit) struct variable_part part = {.is_value = false};
    *ret_found = false;
    text_append(&expression, begin, size);
    text_append(&expression, "", 1);
    TRY_MEMORY(!expression.failed);
    TRY(variable_part_read(&findings, expression.data, ret_found, &part));
    *ret_found = *ret_found && part.is_value;
    if (!*ret_found)
        return NULL;
    *ret = (struct remote){.kind = REMOTE_VALUE, .value = part.value};
    evaluation->at = begin + size;
    return NULL;
}

/* Reads a value and the steps after it. If that fails, tries it as --show does, but not while it is
 * being typed. */
static struct g2h_error *read_expression(struct evaluation *evaluation, struct remote *ret)
{
    if (++evaluation->depth > DEPTH)
        return error_create(G2H_ERROR_NOT_FOUND, "the expression is too deep");
    skip_blanks(evaluation);
    const char *begin = evaluation->at;
    TRY(read_primary(evaluation, ret));
    struct g2h_error *error = read_steps(evaluation, ret);
    if (error && error->code == G2H_ERROR_NOT_FOUND && !is_eager(evaluation)) {
        bool is_found;
        struct g2h_error *better = read_as_part(evaluation, begin, ret, &is_found);
        if (better || is_found) {
            g2h_error_destroy(error);
            error = better;
        }
    }
    evaluation->depth--;
    return error;
}

/* Splits "goroutine 2 [force gc (idle), system] runtime.forcegchelper" into its state, "force gc
 * (idle)", and what follows the bracket. Both are empty if there is no bracket. */
static void split_location(struct g2h_bytes name, struct g2h_bytes *ret_state,
                           struct g2h_bytes *ret_rest)
{
    const uint8_t *open = name.size > 0 ? memchr(name.data, '[', name.size) : NULL;
    const uint8_t *end = open ? bytes_find(name, "] ") : NULL;
    *ret_state = *ret_rest = bytes_none;
    if (!end || end < open)
        return;
    *ret_state = (struct g2h_bytes){open + 1, as_size(end - open - 1)};
    const uint8_t *comma = memchr(open, ',', as_size(end - open));
    if (comma)
        ret_state->size = as_size(comma - open - 1);
    *ret_rest = (struct g2h_bytes){end + 2, name.size - as_size(end + 2 - name.data)};
}

/* Returns whether a node is a goroutine, or several, at a location as reports have it: in the same
 * state, and at the same function, which a report may have followed by a line, or after the
 * functions that lead from where it waits to it. */
static bool is_goroutine_of(const struct g2h_view *view, uint32_t number, struct g2h_bytes asked)
{
    struct g2h_node node;
    struct g2h_bytes state, rest, node_state, node_rest;
    size_t length;
    g2h_view_brief(view, number, &node);
    if (node.kind != G2H_NODE_GOROUTINE && node.kind != G2H_NODE_GOROUTINES_IN_PLACE)
        return false;
    const char *name = g2h_view_name(view, node.name, &length);
    split_location(asked, &state, &rest);
    split_location(bytes_at(name, length), &node_state, &node_rest);
    if (node_rest.size == 0 || !bytes_same(state, node_state))
        return false;
    const bool begins = bytes_begin_with(rest, node_rest) &&
                        (rest.size == node_rest.size || rest.data[node_rest.size] == ' ');
    return begins ||
           (bytes_end_with(rest, node_rest) && rest.data[rest.size - node_rest.size - 1] == ' ');
}

/* Finds the objects of a class, or goroutines, by the name that views and reports have for it.
 * *ret_found is false if nothing has it. */
static struct g2h_error *read_as_name(struct evaluation *evaluation, const char *name, size_t size,
                                      struct remote *ret, bool *ret_found)
{
    const struct g2h_view *view = evaluation->taken->made.view;
    struct remote_place place = {.kind = PLACE_CLASS, .name_size = size};
    const uint64_t synthetics = g2h_view_account(view)->synthetic_nodes;
    uint64_t count = 0;
    *ret_found = size > 0 && size < PLACE_TEXT;
    if (!*ret_found)
        return NULL;
    memcpy(place.name, name, size);
    TRY(properties_visit(evaluation->taken, &place, count_property, &count));
    if (count > 0)
        return list(evaluation, &place, name, size, ret);
    for (uint32_t i = 0; i < synthetics; i++)
        if (is_goroutine_of(view, i, bytes_at(name, size))) {
            *ret = (struct remote){.kind = REMOTE_NODE, .node = i};
            return NULL;
        }
    *ret_found = false;
    return NULL;
}

/* Reads all of text as a name that views have, or as an expression with a local variable whose
 * function is left out. *ret_found is false if it is neither. */
static struct g2h_error *read_whole(struct evaluation *evaluation, const char *text,
                                    struct remote *ret, bool *ret_found)
{
    text += strspn(text, " \t\n");
    size_t size = strlen(text);
    while (size > 0 && strchr(" \t\n", text[size - 1]))
        size--;
    TRY(read_as_name(evaluation, text, size, ret, ret_found));
    if (*ret_found)
        return NULL;
    *ret = (struct remote){.kind = REMOTE_NODE, .node = UINT32_MAX};
    TRY(expression_read(evaluation->taken->made.view, evaluation->taken->edges, text,
                        EXPRESSION_OWNER_ANY, &ret->node, NULL));
    *ret_found = ret->node != UINT32_MAX;
    return NULL;
}

static const char help[] =
    "main.cache, cache.items[\"a\"][3].Name    a variable, its fields, elements and entries\n"
    "*p, &v                                  the same: a pointer is shown as what it leads to\n"
    "0xc000012345                            the object at an address\n"
    "main                                    the variables of a package\n"
    "main.Session                            the objects of a class, as "
    "instances(\"main.Session\")\n"
    "goroutine 17, goroutine 17 · v          a goroutine, a variable on its stack\n"
    "goroutines()                            all goroutines\n"
    "len(x), retained(x)                     how long it is; how many bytes it retains\n"
    "$0                                      the object selected in the newest snapshot\n"
    "everything that a report prints: expressions, classes, locations of goroutines";

/* Reads the whole expression; if that fails, and it is not evaluated while it is typed
 * (is_eager()), reads it as a name that a report has. If it is no such name either, the first error
 * is returned. Error, too: there is no snapshot yet. */
static struct g2h_error *evaluate_read_all(struct evaluation *evaluation, struct remote *ret)
{
    if (!evaluation->taken->made.view)
        return error_create(G2H_ERROR_NOT_FOUND, "there is no snapshot yet: Memory, Take snapshot");
    TRY(taken_need_iterators(evaluation->taken));
    const char *begin = evaluation->at;
    struct g2h_error *error = read_expression(evaluation, ret);
    skip_blanks(evaluation);
    if (!error && *evaluation->at != '\0')
        error = error_create(G2H_ERROR_NOT_FOUND, "unexpected '%.40s'", evaluation->at);
    if (!error || error->code != G2H_ERROR_NOT_FOUND || is_eager(evaluation))
        return error;
    bool is_found = false;
    struct g2h_error *other = read_whole(evaluation, begin, ret, &is_found);
    if (!other && !is_found)
        return error;
    g2h_error_destroy(error);
    return other;
}

/* Returns whether an expression asks what can be asked. */
static bool is_help(const char *text)
{
    text += strspn(text, " \t\n");
    const size_t size = strcspn(text, " \t\n(;");
    return size == strlen("help") && memcmp(text, "help", size) == 0;
}

/* Returns whether an expression can only be JavaScript, which programs send to see what they have
 * attached to: it begins with one of its words, or has one of ; { } =. */
static bool is_script(const char *text)
{
    static const char *const words[] = {"process", "globalThis", "typeof ", "void ",
                                        "this",    "require",    "new "};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (begins_with(text, words[i]))
            return true;
    return text[strcspn(text, ";{}=")] != '\0';
}

/* Appends an error as a result and as its exceptionDetails: DevTools shows the second. */
static void append_exception(struct text *text, const char *message)
{
    for (unsigned i = 0; i < 2; i++) {
        text_printf(
            text,
            "%s{\"type\":\"object\",\"subtype\":\"error\",\"className\":\"Error\",\"description\":",
            i == 0 ? "{\"result\":"
                   : ",\"exceptionDetails\":{\"exceptionId\":1,\"text\":\"Uncaught\","
                     "\"lineNumber\":0,\"columnNumber\":0,\"exception\":");
        json_write(text, message, strlen(message));
        text_printf(text, i == 0 ? "}" : "}}}");
    }
}

/* Writes the result of an expression as Runtime.evaluate of CDP has it. What is not found is an
 * exception, unless the expression looks like a script that DevTools runs by itself: its result is
 * undefined. "help" lists what can be asked. Error: G2H_ERROR_MEMORY. */
struct g2h_error *evaluate(struct taken *taken, const struct channel_evaluate *options,
                           const char *expression, struct text *text)
{
    struct evaluation evaluation = {.taken = taken, .options = options, .at = expression};
    _cleanup_free_ struct remote *remote = malloc(sizeof(*remote));
    TRY_MEMORY(remote);
    if (is_help(expression)) {
        *remote = (struct remote){.kind = REMOTE_WORDS, .words = bytes_at(help, sizeof(help) - 1)};
        text_printf(text, "{\"result\":");
        TRY(remote_write(taken, remote, text));
        text_printf(text, "}");
        return NULL;
    }
    struct g2h_error *error = evaluate_read_all(&evaluation, remote);
    if (error && error->code == G2H_ERROR_NOT_FOUND) {
        if (is_script(expression))
            text_printf(text, "{\"result\":{\"type\":\"undefined\"}}");
        else
            append_exception(text, error->message);
        g2h_error_destroy(error);
        error = NULL;
    } else if (!error) {
        text_printf(text, "{\"result\":");
        error = remote_write(taken, remote, text);
        text_printf(text, "}");
    }
    text_deinit(&evaluation.words);
    return error;
}
