/*
 * lookup: finds what a user means by a class, variable, expression or address; see lookup.h.
 *
 * lookup_find() tries one meaning after the other, and takes the first one that there is
 * (find_named): an address, the name of a class, an expression that begins with a global variable
 * and leads to an object (path.h) or a value (variable_part.h), a group of the tree, a part of a
 * class's name, and an expression that begins with a local variable. The result is an object, a
 * class, a part of a variable, or a group (struct lookup); otherwise the error lists names that are
 * similar. Nodes are those of the merged tree (a node is all objects of one class that one holder
 * has) unless a comment says: of the view.
 */
#include "findings/lookup.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/heap.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/port.h"
#include "findings/class_rows.h"
#include "findings/findings.h"
#include "findings/merged.h"
#include "findings/path.h"

enum { MOST_NAMED = 5 /* classes in a message */ };

CLEANUP_POINTER(lookup_destroy_values, struct g2h_values, g2h_values_destroy);

/* ---- classes ---- */

struct lookup_classes {
    const struct findings *findings;
    node_vector list; /* nodes of merged, one of each class: classes that come first retain most */
};

static void lookup_classes_deinit(struct lookup_classes *classes)
{
    free(classes->list.data);
}

/* Lists one node of merged for each class, in the order of the tree. */
static struct g2h_error *lookup_find_classes(struct lookup_classes *classes)
{
    const struct findings *findings = classes->findings;
    _cleanup_(map_deinit) struct map known = {0};
    for (uint32_t i = 0; i < findings->merged.nodes.count; i++) {
        uint32_t first = i;
        if (findings_node(findings, i)->kind != MERGED_CLASS)
            continue;
        TRY_MEMORY(map_put(&known, findings_node(findings, i)->name, i, &first));
        if (first == i)
            TRY_MEMORY(vector_push(&classes->list, i));
    }
    return NULL;
}

/* How the name of a class may match the query, the most certain match first. */
enum meaning { LOOKUP_EXACT, SHORT, TYPE, END, PART };

static bool lookup_ends_in(const char *name, size_t size, const char *end, size_t length)
{
    return size >= length && memcmp(name + size - length, end, length) == 0;
}

/* Appends a name without the directories of its packages: "net/http.conn" as "http.conn",
 * "map[string]*net/url.URL" as "map[string]*url.URL". */
static void strip_directories(const char *asked, struct text *text)
{
    for (const char *at = asked; *at;) {
        const size_t word = strcspn(at, "[]*(), ");
        const size_t sign = at[word] != '\0';
        const char *slash = memrchr(at, '/', word);
        const size_t skipped = slash ? as_size(slash + 1 - at) : 0;
        text_append(text, at + skipped, word - skipped + sign);
        at += word + sign;
    }
}

/* Returns whether a class's name matches a query in a given way: it is the name; it is the name
 * behind the package of a type that is no pointer or slice (TYPE); it is an end (END) or any part
 * of the name. */
static bool matches_query(const char *name, size_t size, const char *asked, size_t length,
                          enum meaning meaning)
{
    const bool is_end = lookup_ends_in(name, size, asked, length);
    if (meaning <= SHORT)
        return is_end && size == length;
    if (meaning == TYPE) /* a type's name without its package; neither a pointer to the type nor a
                          * slice of values */
        return is_end && size > length &&
               (name[size - length - 1] == '.' || name[size - length - 1] == '/') &&
               strcspn(name, "[*( ") >= size - length;
    if (meaning == END)
        return is_end;
    return memmem(name, size, asked, length) != NULL;
}

/* Adds the classes whose names match the query in the given way. */
static struct g2h_error *find_matching(const struct lookup_classes *classes, const char *asked,
                                       size_t length, enum meaning meaning, node_vector *ret)
{
    VECTOR_EACH(const uint32_t, node, classes->list) {
        size_t size;
        const char *name = merged_name(&classes->findings->merged, *node, &size);
        if (matches_query(name, size, asked, length, meaning))
            TRY_MEMORY(vector_push(ret, *node));
    }
    return NULL;
}

/* ---- messages ---- */

/* Returns an error that ends in a list of classes: ": main.Watcher, main.Watch and 3 more". */
static struct g2h_error *lookup_refuse(const struct findings *findings, const char *asked,
                                       const char *why, const node_vector *near)
{
    _cleanup_(text_deinit) struct text list = {0};
    for (size_t i = 0; i < near->count && i < MOST_NAMED; i++) {
        size_t size;
        text_printf(&list, i > 0 ? ", " : "");
        const char *name = merged_name(&findings->merged, near->data[i], &size);
        text_append(&list, name, size);
    }
    if (near->count > MOST_NAMED)
        text_printf(&list, " and %zu more", near->count - MOST_NAMED);
    TRY_MEMORY(!list.failed);
    if (list.size == 0)
        return error_create(G2H_ERROR_NOT_FOUND, "'%s' %s", asked, why);
    return error_create(G2H_ERROR_NOT_FOUND, "'%s' %s: %.*s", asked, why, as_width(list.size),
                        list.data);
}

struct g2h_error *lookup_refuse_absent(const char *asked)
{
    return error_create(G2H_ERROR_NOT_FOUND,
                        "'%s' is not in the dump: Go writes only those variables that may have "
                        "pointers in them",
                        asked);
}

/* Returns how much of a class's name is its package with the dot behind it: "main." of main.Thumb.
 * 0 for pointers, slices and maps. */
static size_t package_size(const char *name, size_t size)
{
    size_t begin = 0;
    while (begin < size && !strchr("[*( ", name[begin]))
        begin++;
    const char *dot = memrchr(name, '.', begin);
    return dot ? as_size(dot + 1 - name) : 0;
}

/* Returns the error for a name that nothing has, with those that are nearly it: of classes and of
 * variables. A name without a package may be that of a type in any. */
static struct g2h_error *lookup_refuse_name(const struct lookup_classes *classes, const char *asked)
{
    const struct findings *findings = classes->findings;
    _cleanup_(similar_deinit) struct similar similar = {.asked = asked,
                                                        .asked_size = strlen(asked)};
    _cleanup_(text_deinit) struct text name = {0}, near = {0};
    const bool has_package = strchr(asked, '.') != NULL;
    const size_t of_main = strlen("main."); /* a variable of it may be asked for without */
    struct g2h_location location;
    if (g2h_location_of_variable(findings->view, asked, &location) == G2H_VARIABLE_NOT_IN_DUMP)
        return lookup_refuse_absent(asked);
    VECTOR_EACH(const uint32_t, node, classes->list) {
        size_t size;
        const char *class = merged_name(&findings->merged, *node, &size);
        similar_add_behind(&similar, class, size, has_package ? 0 : package_size(class, size));
    }
    for (uint32_t i = 0; i < findings->merged.nodes.count; i++) {
        name.size = 0;
        if (!lookup_append_variable(findings, i, &name) || name.failed)
            continue;
        const bool is_of_main = name.size > of_main && memcmp(name.data, "main.", of_main) == 0;
        similar_add_behind(&similar, name.data, name.size,
                           is_of_main && !has_package ? of_main : 0);
    }
    similar_append(&similar, &near);
    TRY_MEMORY(!near.failed && !name.failed);
    if (near.size > 0)
        return error_create(G2H_ERROR_NOT_FOUND,
                            "'%s' is not a class, variable or function; did you mean: %.*s", asked,
                            as_width(near.size), near.data);
    return error_create(G2H_ERROR_NOT_FOUND,
                        "no object in this heap has the class '%s', and no variable or goroutine "
                        "that name",
                        asked);
}

/* ---- parts ---- */

/* Makes what a part leads to the result, if that is an object, else the part. */
static struct g2h_error *lookup_settle(const struct findings *findings, struct lookup *ret)
{
    const struct g2h_heap *heap = g2h_view_heap(findings->view);
    const uint64_t address = variable_part_target(findings, &ret->part);
    uint32_t object;
    ret->kind = LOOKUP_PART;
    if (ret->part.location.object != UINT32_MAX)
        ret->node = g2h_view_object(findings->view, ret->part.location.object);
    if (address == 0 || !g2h_heap_find(heap, address, &object))
        return NULL;
    const uint32_t node = g2h_view_object(findings->view, object);
    if (node == UINT32_MAX)
        return NULL;
    ret->kind = LOOKUP_OBJECT;
    ret->node = node;
    ret->address = address;
    ret->offset = address - g2h_heap_address(heap, object);
    return NULL;
}

/* Finds what an expression leads to, value by value. *ret_found is false if it does not begin with
 * a variable or an address. */
static struct g2h_error *find_by_part(const struct findings *findings, const char *asked,
                                      struct lookup *ret, bool *ret_found)
{
    variable_part_deinit(&ret->part);
    TRY(variable_part_read(findings, asked, ret_found, &ret->part));
    return *ret_found ? lookup_settle(findings, ret) : NULL;
}

/* ---- groups ---- */

/* Appends the name of a variable, or of a part of it, with that of its package: "main.cache",
 * "main.cache[3]". Returns false if the node is no variable of a package. */
bool lookup_append_variable(const struct findings *findings, uint32_t number, struct text *text)
{
    const struct merged_node *node = findings_node(findings, number);
    const bool is_whole = findings_is_kind(findings, number, G2H_NODE_VARIABLE);
    size_t size, holder_size;
    if (!is_whole && (node->kind != MERGED_VARIABLE ||
                      (!findings_is_kind(findings, node->parent, G2H_NODE_PACKAGE) &&
                       !findings_is_kind(findings, node->parent, G2H_NODE_VARIABLE))))
        return false;
    const char *holder = merged_name(&findings->merged, node->parent, &holder_size);
    const char *name = merged_name(&findings->merged, number, &size);
    if (!is_whole) { /* the name of a whole variable has its package in it */
        text_append(text, holder, holder_size);
        text_append_string(text, size > 0 && name[0] == '[' ? "" : ".");
    }
    text_append(text, name, size);
    return true;
}

/* Returns whether a node of the tree has a name, or, as a variable without symbol, is called so in
 * expressions: "the global used by main.add (0x574f20)". */
static bool is_called(const struct findings *findings, uint32_t number, const char *asked,
                      struct text *unnamed)
{
    static const char unnamed_begin[] = "the global ";
    const size_t length = strlen(asked);
    size_t size;
    const char *name = merged_name(&findings->merged, number, &size);
    if (size == length && memcmp(name, asked, size) == 0)
        return true;
    if (strncmp(asked, unnamed_begin, strlen(unnamed_begin)) != 0 ||
        !findings_is_kind(findings, number, G2H_NODE_VARIABLE))
        return false;
    unnamed->size = 0;
    expression_append_variable(findings->view, findings_node(findings, number)->example, unnamed);
    return unnamed->size == length && memcmp(unnamed->data, asked, length) == 0;
}

/* Finds the node of the tree of dominators that has a name and retains most, if it is not of
 * objects: a package, a group of roots, what several groups hold. */
static struct g2h_error *find_group(const struct findings *findings, const char *asked,
                                    struct lookup *ret)
{
    _cleanup_(text_deinit) struct text unnamed = {0};
    const struct merged_node *best = NULL;
    for (uint32_t i = 0; i < findings->merged.nodes.count; i++) {
        const struct merged_node *node = findings_node(findings, i);
        if (node->kind == MERGED_CLASS || (best && best->retained >= node->retained) ||
            !is_called(findings, i, asked, &unnamed))
            continue;
        best = node;
        ret->kind = LOOKUP_GROUP;
        ret->group = i;
    }
    TRY_MEMORY(!unnamed.failed);
    return NULL;
}

/* ---- names and expressions ---- */

/* Finds the object that an expression leads to; ret->node is UINT32_MAX if it leads to none: see
 * expression_read(). */
static struct g2h_error *find_by_expression(const struct findings *findings, const char *asked,
                                            enum expression_owner owner, struct lookup *ret,
                                            struct text *longer)
{
    struct g2h_node node;
    ret->kind = LOOKUP_OBJECT;
    TRY(expression_read(findings->view, paths_edges(findings->paths), asked, owner, &ret->node,
                        longer));
    if (ret->node == UINT32_MAX)
        return NULL;
    g2h_view_brief(findings->view, ret->node, &node);
    ret->address = node.address;
    return NULL;
}

/* Finds what an expression leads to, also if "main." is left out, and by its values if no object is
 * there. *ret_found is false if it begins with no variable. */
static struct g2h_error *find_by_any_expression(const struct findings *findings, const char *asked,
                                                struct lookup *ret, struct text *longer,
                                                bool *ret_found)
{
    _cleanup_(text_deinit) struct text in_main = {0};
    TRY(find_by_expression(findings, asked, EXPRESSION_OWNER_SAID, ret, longer));
    *ret_found = ret->node != UINT32_MAX;
    if (*ret_found)
        return NULL;
    text_append_string(&in_main, "main.");
    text_append_string(&in_main, asked);
    text_append(&in_main, "", 1);
    TRY_MEMORY(!in_main.failed);
    TRY(find_by_expression(findings, in_main.data, EXPRESSION_OWNER_SAID, ret,
                           longer->size > 0 ? NULL : longer));
    *ret_found = ret->node != UINT32_MAX;
    if (*ret_found)
        return NULL;
    struct g2h_error *error = find_by_part(findings, asked, ret, ret_found);
    if (!error || error->code != G2H_ERROR_NOT_FOUND)
        return error;
    /* A local variable may have the same name. */
    struct g2h_error *other =
        find_by_expression(findings, asked, EXPRESSION_OWNER_LEFT_OUT, ret, NULL);
    *ret_found = !other && ret->node != UINT32_MAX;
    if (!*ret_found && !other)
        return error;
    g2h_error_destroy(error);
    return other;
}

/* Finds a class by a name that only views have: of memory that reports count as another object's,
 * such as that of a map's entries. Returns false if there is none. */
static bool find_hidden_class(const struct findings *findings, const char *asked,
                              struct lookup *ret)
{
    struct g2h_node node;
    uint32_t name;
    if (!g2h_view_find_name(findings->view, asked, strlen(asked), &name))
        return false;
    ret->node = class_rows_find_largest(findings, name, MERGED_NONE);
    if (ret->node == UINT32_MAX)
        return false;
    g2h_view_brief(findings->view, ret->node, &node);
    ret->kind = LOOKUP_OBJECT;
    ret->address = node.address;
    return true;
}

/* Returns how much of the steps after a class is the first one's name: "items" of ".items[3]". */
static size_t lookup_step_size(const char *step, size_t size)
{
    size_t at = 0;
    while (at < size && step[at] != '.' && step[at] != '[')
        at++;
    return at;
}

/* Returns whether a path of a value begins with a step of this name; or also has it further on, as
 * the field of an embedded struct has it behind the name of that. */
static bool has_step(const struct g2h_value *value, const char *step, size_t size, bool is_embedded)
{
    for (size_t at = 0; at < value->path_size; at++) {
        const size_t found = lookup_step_size(value->path + at, value->path_size - at);
        if (found == size && memcmp(value->path + at, step, size) == 0)
            return true;
        if (!is_embedded)
            return false;
        at += found;
    }
    return false;
}

/* Returns whether an object, a node of the view, may have a field: one has its name, or its fields
 * are not known, or it has elements, or what is asked for is no field, as "Back()" of a list. */
static bool may_have_field(struct g2h_values *values, uint32_t node, const char *step, size_t size,
                           bool is_embedded)
{
    struct g2h_value value;
    bool is_known = false;
    g2h_values_begin(values, node);
    while (g2h_values_next(values, &value)) {
        if (value.path_size == 0 || value.path[0] == '[' ||
            has_step(&value, step, size, is_embedded))
            return true;
        is_known = true;
    }
    return !is_known || memchr(step, '(', size) != NULL;
}

/* Drops the classes of which no object may have the field that steps begin with, ".items[3]"; of an
 * embedded struct only if is_embedded. */
static struct g2h_error *keep_with_field(const struct findings *findings, const char *steps,
                                         bool is_embedded, node_vector *classes)
{
    enum { MOST = 64 }; /* nodes of a class that are looked at: packages may have equal names */
    _cleanup_(lookup_destroy_values) struct g2h_values *values = NULL;
    const size_t size = lookup_step_size(steps + 1, strlen(steps + 1));
    const size_t count = classes->count;
    TRY(g2h_values_create(findings->view, &values));
    classes->count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct merged_node *class = findings_node(findings, classes->data[i]);
        bool may_have = false;
        int looked = 0;
        for (uint32_t j = classes->data[i];
             j < findings->merged.nodes.count && !may_have && looked < MOST; j++) {
            const struct merged_node *node = findings_node(findings, j);
            if (node->kind != MERGED_CLASS || node->name != class->name)
                continue;
            may_have = may_have_field(values, node->example, steps + 1, size, is_embedded);
            looked++;
        }
        if (may_have)
            classes->data[classes->count++] = classes->data[i];
    }
    return NULL;
}

/* Adds the class that has the field or element asked for: main.Cache for main.Cache.items, []string
 * for []string[]. Cuts ".field" or "[]" from the end until what is left means a class, by the most
 * certain kind of match. A field must be of one class: if several match, none counts, and the
 * search goes on with less of the text. Adds none if nothing is left. */
static struct g2h_error *find_of_field(const struct lookup_classes *classes, const char *asked,
                                       node_vector *ret)
{
    size_t size = strlen(asked);
    while (size > 0 && ret->count == 0) {
        const bool is_element = lookup_ends_in(asked, size, "[]", 2);
        size -= is_element ? 2 : 1;
        while (!is_element && size > 0 && asked[size] != '.')
            size--;
        for (enum meaning meaning = LOOKUP_EXACT; meaning <= TYPE && ret->count == 0; meaning++) {
            /* Of types in any package those come first that have the field themselves. */
            for (int embedded = meaning < TYPE; embedded < 2 && ret->count == 0; embedded++) {
                if (size > 0)
                    TRY(find_matching(classes, asked, size, meaning, ret));
                if (!is_element && ret->count > 0)
                    TRY(keep_with_field(classes->findings, asked + size, embedded, ret));
            }
        }
        if (!is_element && ret->count > 1)
            ret->count = 0;
    }
    return NULL;
}

/* Finds the classes that a name may mean, by the most certain kind of match from first to last. */
static struct g2h_error *find_classes(const struct lookup_classes *classes, const char *asked,
                                      enum meaning first, enum meaning last, node_vector *ret)
{
    _cleanup_(text_deinit) struct text short_name = {0};
    strip_directories(asked, &short_name);
    TRY_MEMORY(!short_name.failed);
    for (enum meaning meaning = first; meaning <= last && ret->count == 0; meaning++) {
        const bool is_short = meaning == SHORT && short_name.size > 0;
        if (is_short)
            TRY(find_matching(classes, short_name.data, short_name.size, meaning, ret));
        else
            TRY(find_matching(classes, asked, strlen(asked), meaning, ret));
    }
    return NULL;
}

/* Finds what a pool caches whose variable has neither symbol nor node: reports name it without the
 * fields of sync.Pool, of which paths have the first. */
static struct g2h_error *find_pool(const struct findings *findings, const char *asked,
                                   struct lookup *ret)
{
    static const char *const fields[] = {".local", ".victim"};
    static const char array[] = "[]sync.poolLocal";
    size_t size;
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        _cleanup_(text_deinit) struct text expression = {0};
        struct g2h_node node;
        text_append_string(&expression, asked);
        text_append_string(&expression, fields[i]);
        text_append(&expression, "", 1);
        TRY_MEMORY(!expression.failed);
        TRY(find_by_expression(findings, expression.data, EXPRESSION_OWNER_SAID, ret, NULL));
        if (ret->node == UINT32_MAX)
            continue;
        g2h_view_brief(findings->view, ret->node, &node);
        const char *class = g2h_view_name(findings->view, node.name, &size);
        if (size == strlen(array) && memcmp(class, array, size) == 0)
            return NULL;
        ret->node = UINT32_MAX;
    }
    return NULL;
}

/* Returns the error of steps that lead nowhere from an object, to which an expression led: "p has
 * no field itemz: its fields are items, mu; did you mean items". NULL: they lead to a value, or the
 * object's type is not known. */
static struct g2h_error *lookup_explain_steps(const struct findings *findings,
                                              const struct lookup *led, const char *name,
                                              const char *steps, size_t size)
{
    struct variable_part part = {.is_value = false};
    struct g2h_location location;
    _cleanup_(text_deinit) struct text text = {0};
    uint32_t object;
    if (!g2h_heap_find(g2h_view_heap(findings->view), led->address, &object) ||
        !g2h_location_of_object(findings->view, object, &location))
        return NULL;
    if (*steps == '[' && !g2h_location_is_map(findings->view, &location))
        return NULL; /* an array may have more elements than the slice that led to it */
    text_append(&text, steps, size);
    text_append(&text, "", 1);
    TRY_MEMORY(!text.failed);
    struct g2h_error *error = variable_part_begin(findings, &location, name, &part);
    if (!error)
        error = variable_part_go_on(findings, &part, text.data);
    variable_part_deinit(&part);
    return error;
}

/* Returns whether a word is the package of a class: "server.Sevrer" is a class that is misspelt,
 * also where a local variable is called server. */
static bool is_package_of_class(const struct lookup_classes *classes, const char *word,
                                size_t length)
{
    VECTOR_EACH(const uint32_t, node, classes->list) {
        size_t size;
        const char *name = merged_name(&classes->findings->merged, *node, &size);
        if (package_size(name, size) == length + 1 && memcmp(name, word, length) == 0)
            return true;
    }
    return false;
}

/* Returns an error for an expression of which only a beginning leads to an object, that of a class
 * or a variable: the longest one is said. Returns NULL if there is none. What follows the
 * expression, "  (local of main.serve)", says whose variable it is. */
static struct g2h_error *lookup_refuse_step(const struct lookup_classes *classes, const char *asked,
                                            struct lookup *ret)
{
    const char *owner = strstr(asked, "  (");
    const size_t end = owner ? as_size(owner - asked) : strlen(asked);
    for (size_t size = end; size > 0;) {
        _cleanup_vector_ node_vector found = {0};
        _cleanup_(text_deinit) struct text begin = {0};
        const char bound = asked[size - 1] == ']' ? '[' : '.';
        do
            size--;
        while (size > 0 && asked[size] != bound);
        text_append(&begin, asked, size);
        text_append_string(&begin, owner ? owner : "");
        text_append(&begin, "", 1);
        TRY_MEMORY(!begin.failed);
        ret->node = UINT32_MAX;
        if (size > 0 && (owner || !is_package_of_class(classes, asked, size)))
            TRY(find_by_expression(classes->findings, begin.data,
                                   owner ? EXPRESSION_OWNER_SAID : EXPRESSION_OWNER_LEFT_OUT, ret,
                                   NULL));
        const bool is_variable = size > 0 && ret->node != UINT32_MAX;
        if (is_variable)
            TRY(lookup_explain_steps(classes->findings, ret, begin.data, asked + size, end - size));
        if (size > 0 && !is_variable && !owner)
            TRY(find_classes(classes, begin.data, LOOKUP_EXACT, TYPE, &found));
        const bool is_field = !is_variable && asked[size] == '.';
        const char *what = is_field ? "no field" : "no object at";
        if (is_variable || found.count > 0)
            return error_create(G2H_ERROR_NOT_FOUND, "'%s': %s has %s %.*s", asked, begin.data,
                                what, as_width(end - size - is_field), asked + size + is_field);
    }
    return NULL;
}

/* Makes the class that was found the result. Several classes are an error that lists them. */
static struct g2h_error *lookup_set_class(const struct findings *findings, const char *asked,
                                          const node_vector *found, struct lookup *ret)
{
    if (found->count > 1)
        return lookup_refuse(findings, asked, "is a part of the names of several classes", found);
    ret->kind = LOOKUP_CLASS;
    ret->class = found->data[0];
    ret->node = UINT32_MAX;
    return NULL;
}

/* Finds what a name or an expression means, see lookup_find(). The meanings are tried in this
 * order: a class by its whole name; an expression, or a class that paths hide; a group of roots; a
 * class by a part of its name; a local variable without its function; a pool; a class that has such
 * a field. Error: none of them, or a part of a variable that is no object. */
static struct g2h_error *find_named(const struct findings *findings, const char *asked,
                                    struct lookup *ret)
{
    _cleanup_(lookup_classes_deinit) struct lookup_classes classes = {.findings = findings};
    _cleanup_vector_ node_vector found = {0};
    _cleanup_(text_deinit) struct text longer = {0};
    bool is_found;
    TRY(lookup_find_classes(&classes));
    TRY(find_classes(&classes, asked, LOOKUP_EXACT, TYPE, &found));
    if (found.count > 0)
        return lookup_set_class(findings, asked, &found, ret);
    TRY(find_by_any_expression(findings, asked, ret, &longer, &is_found));
    if (is_found || find_hidden_class(findings, asked, ret))
        return NULL;
    TRY(find_group(findings, asked, ret));
    if (ret->kind == LOOKUP_GROUP)
        return NULL;
    TRY(find_classes(&classes, asked, END, PART, &found));
    if (found.count > 0)
        return lookup_set_class(findings, asked, &found, ret);
    TRY(find_by_expression(findings, asked, EXPRESSION_OWNER_LEFT_OUT, ret,
                           NULL)); /* a local variable's */
    if (ret->node != UINT32_MAX)
        return NULL;
    TRY(find_pool(findings, asked, ret));
    if (ret->node != UINT32_MAX)
        return NULL;
    if (longer.size > 0)
        return error_create(G2H_ERROR_NOT_FOUND,
                            "'%s' is a part of a variable or an object; ask for an object that it "
                            "leads to, such as %.*s",
                            asked, as_width(longer.size), longer.data);
    TRY(find_of_field(&classes, asked, &found));
    if (found.count > 0)
        return lookup_set_class(findings, asked, &found, ret);
    TRY(lookup_refuse_step(&classes, asked, ret));
    return lookup_refuse_name(&classes, asked);
}

/* ---- addresses ---- */

/* Finds the object at a hexadecimal address. An address may also begin an expression
 * ("0x574f20[3]", "0xc000012345.Name"), so that is tried next. What has no names is also called by
 * an address, as a group or a part of a variable. Error: there is nothing at that address. */
static struct g2h_error *find_object(const struct findings *findings, const char *asked,
                                     struct lookup *ret)
{
    const struct g2h_heap *heap = g2h_view_heap(findings->view);
    uint32_t object;
    char *end;
    errno = 0;
    const unsigned long long address = strtoull(asked, &end, 16);
    const bool is_address = errno == 0 && *end == '\0' && asked[2] != '\0';
    if (!is_address || !g2h_heap_find(heap, address, &object)) {
        /* 0x574f20[3], by a variable's address */
        TRY(find_by_expression(findings, asked, EXPRESSION_OWNER_SAID, ret, NULL));
        if (ret->node != UINT32_MAX)
            return NULL;
    }
    if (!is_address) {
        bool is_found;
        TRY(find_by_part(findings, asked, ret, &is_found));
        if (is_found)
            return NULL;
        TRY(find_group(findings, asked, ret)); /* 0x827c90c and 0x827cc40: without names */
        return ret->kind == LOOKUP_GROUP
                   ? NULL
                   : error_create(G2H_ERROR_NOT_FOUND, "'%s' is not an address", asked);
    }
    if (!g2h_heap_find(heap, address, &object))
        return error_create(G2H_ERROR_NOT_FOUND, "'%s' is in no object of this heap", asked);
    ret->kind = LOOKUP_OBJECT;
    ret->node = g2h_view_object(findings->view, object);
    ret->address = address;
    ret->offset = address - g2h_heap_address(heap, object);
    return ret->node != UINT32_MAX
               ? NULL
               : error_create(G2H_ERROR_NOT_FOUND, "'%s' is in garbage, which is left out", asked);
}

/* Finds an address, which begins with 0x, or a name. */
static struct g2h_error *find_asked(const struct findings *findings, const char *asked,
                                    struct lookup *ret)
{
    *ret = (struct lookup){.kind = LOOKUP_OBJECT, .node = UINT32_MAX};
    return asked[0] == '0' && (asked[1] == 'x' || asked[1] == 'X')
               ? find_object(findings, asked, ret)
               : find_named(findings, asked, ret);
}

/* Returns how much of what is asked for is an expression, if a report says more after it: how large
 * the container is, ", a map of 500 entries, one of 4", or how many are held there, ", as 20 of 30
 * are"; or, without these, what it is below, or in which pool. Returns 0 if nothing follows. */
static size_t size_of_expression(const char *asked)
{
    static const char *const said[] = {", a map of ", ", a slice of ", ", a channel of ",
                                       ", a list of ", ", a sync.Map of "};
    const char *below = strstr(asked, ", below ");
    if (!below)
        below = strstr(asked, "  (in a sync.Pool: ");
    const char *end = NULL;
    for (size_t i = 0; i < COUNT_OF(said); i++)
        for (const char *at = asked; (at = strstr(at, said[i])) != NULL; at++)
            if (isdigit((unsigned char)at[strlen(said[i])]) && (!end || at > end))
                end = at;
    for (const char *at = asked; (at = strstr(at, ", as ")) != NULL; at++)
        if (isdigit((unsigned char)at[strlen(", as ")]) && (!end || at < end))
            end = at;
    if (!end)
        end = below;
    return end ? as_size(end - asked) : 0;
}

/* Returns the address at the end of "main.Cache at 0xc000012345"; NULL: there is none. */
static const char *address_after_class(const char *asked)
{
    const char *at = strstr(asked, " at 0x");
    if (!at)
        return NULL;
    at += strlen(" at ");
    return at[strlen("0x") + strspn(at + strlen("0x"), "0123456789abcdef")] == '\0' ? at : NULL;
}

/* Appends the first characters of what is asked for without the class that a report says of a word
 * of a frame: "f88, a []main.Finding  (local of main.scan find.go:54)". */
static void append_without_class(const char *asked, size_t size, struct text *text)
{
    const size_t number = asked[0] == 'f' ? 1 + strspn(asked + 1, "0123456789") : 0;
    const char *class = number > 1 ? strstr(asked, ", a ") : NULL;
    const char *local = class ? strstr(class, "  (local of ") : NULL;
    if (!local || local > asked + size) {
        text_append(text, asked, size);
        return;
    }
    text_append(text, asked, (size_t)(class - asked));
    text_append(text, local, (size_t)(asked + size - local));
}

/* Finds what a user has asked for: an address, a class, an expression, a group. If nothing has the
 * name as it was given, it may have been copied from a report: then what stands around the
 * expression or address there is left out, and that is looked up. */
struct g2h_error *lookup_find(const struct findings *findings, const char *asked,
                              struct lookup *ret)
{
    _cleanup_(text_deinit) struct text expression = {0};
    struct g2h_error *error = find_asked(findings, asked, ret);
    if (!error || error->code != G2H_ERROR_NOT_FOUND)
        return error;
    const char *address = address_after_class(asked);
    size_t size = address ? strlen(address) : size_of_expression(asked);
    if (size == 0 && strstr(asked, "  (local of "))
        size = strlen(asked);
    if (size == 0)
        return error;
    asked = address ? address : asked;
    g2h_error_destroy(error);
    lookup_deinit(ret);
    append_without_class(asked, size, &expression);
    text_append(&expression, "", 1);
    TRY_MEMORY(!expression.failed);
    return find_asked(findings, expression.data, ret);
}

/* Makes the location the part, follows the steps, and decides whether the result is a part or a
 * whole object. */
struct g2h_error *lookup_from(const struct findings *findings, const struct g2h_location *location,
                              const char *name, const char *steps, struct lookup *ret)
{
    *ret = (struct lookup){.kind = LOOKUP_PART, .node = UINT32_MAX};
    TRY(variable_part_begin(findings, location, name, &ret->part));
    TRY(variable_part_go_on(findings, &ret->part, steps));
    return lookup_settle(findings, ret);
}

void lookup_deinit(struct lookup *lookup)
{
    variable_part_deinit(&lookup->part);
}
