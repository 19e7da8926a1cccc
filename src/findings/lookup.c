/* lookup; see lookup.h. */
#include "findings/lookup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/port.h"
#include "base/scope.h"
#include "findings/expression.h"
#include "findings/ranking.h"

enum { MOST_NEAR = 5, LONGEST = 256 /* bytes of a name that edit_distance() compares */ };

/* ---- classes ---- */

struct lookup_classes {
    const struct findings *findings;
    node_vector list; /* nodes of merged, one of each class: classes that come first retain most */
};

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
enum meaning { EXACT, SHORT, TYPE, END, PART, MEANINGS };

static bool lookup_ends_in(const char *name, size_t size, const char *end, size_t length)
{
    return size >= length && memcmp(name + size - length, end, length) == 0;
}

/* Appends a name without the directories of its packages: "net/http.conn" as "http.conn",
 * "map[string]*net/url.URL" as "map[string]*url.URL". */
static void strip_directories(const char *asked, struct text *text)
{
    for (const char *at = asked; *at;) {
        const size_t word = strcspn(at, "[]*(), "), sign = at[word] != '\0';
        const char *slash = memrchr(at, '/', word);
        const size_t skipped = slash ? (size_t)(slash + 1 - at) : 0;
        text_append(text, at + skipped, word - skipped + sign);
        at += word + sign;
    }
}

/* Returns whether a class's name matches a query in a given way. */
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
    for (size_t i = 0; i < classes->list.count; i++) {
        size_t size;
        const char *name = merged_name(&classes->findings->merged, classes->list.data[i], &size);
        if (matches_query(name, size, asked, length, meaning))
            TRY_MEMORY(vector_push(ret, classes->list.data[i]));
    }
    return NULL;
}

/* ---- similar names ---- */

/* Returns how many bytes have to be changed, added or left out to turn one name into the other. */
static unsigned edit_distance(const char *one, size_t one_size, const char *other,
                              size_t other_size)
{
    /* The Levenshtein distance, computed row by row; letter case does not count. */
    unsigned row[LONGEST + 1];
    if (one_size > LONGEST || other_size > LONGEST)
        return LONGEST;
    for (unsigned j = 0; j <= other_size; j++)
        row[j] = j;
    for (size_t i = 1; i <= one_size; i++) {
        unsigned before = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= other_size; j++) {
            const unsigned changed =
                before + (strncasecmp(&one[i - 1], &other[j - 1], 1) == 0 ? 0 : 1);
            before = row[j];
            row[j] = row[j] + 1 < changed ? row[j] + 1 : changed;
            row[j] = row[j - 1] + 1 < row[j] ? row[j - 1] + 1 : row[j];
        }
    }
    return row[other_size];
}

/* Finds the classes with the most similar names, for the error message. */
static struct g2h_error *find_near(const struct lookup_classes *classes, const char *asked,
                                   node_vector *ret)
{
    _cleanup_vector_ ranking ranks = {0};
    const size_t length = strlen(asked);
    for (size_t i = 0; i < classes->list.count; i++) {
        size_t size;
        const char *name = merged_name(&classes->findings->merged, classes->list.data[i], &size);
        const unsigned distance = edit_distance(name, size, asked, length);
        if (distance <= 2 + length / 3)
            TRY_MEMORY(
                vector_push(&ranks, ((struct ranked){LONGEST - distance, classes->list.data[i]})));
    }
    ranking_sort(&ranks);
    for (size_t i = 0; i < ranks.count && i < MOST_NEAR; i++)
        TRY_MEMORY(vector_push(ret, ranks.data[i].node));
    return NULL;
}

/* Returns an error that ends in a list of names: ": main.Watcher, main.Watch and 3 more". */
static struct g2h_error *lookup_refuse(const struct findings *findings, const char *asked,
                                       const char *why, const node_vector *near)
{
    _cleanup_(text_deinit) struct text list = {0};
    for (size_t i = 0; i < near->count && i < MOST_NEAR; i++) {
        size_t size;
        text_printf(&list, i > 0 ? ", " : "");
        const char *name = merged_name(&findings->merged, near->data[i], &size);
        text_append(&list, name, size);
    }
    if (near->count > MOST_NEAR)
        text_printf(&list, " and %zu more", near->count - MOST_NEAR);
    TRY_MEMORY(!list.failed);
    return error_create(G2H_ERROR_NOT_FOUND, "'%s' %s%s%.*s", asked, why, list.size > 0 ? ": " : "",
                        (int)list.size, list.size > 0 ? list.data : "");
}

static void lookup_classes_deinit(struct lookup_classes *classes)
{
    free(classes->list.data);
}

/* Finds the object that an expression leads to; ret->node is UINT32_MAX if it leads to none: see
 * expression_read(). */
static struct g2h_error *find_by_expression(const struct findings *findings, const char *asked,
                                            bool without_owner, struct lookup *ret,
                                            struct text *longer)
{
    struct g2h_node node;
    *ret = (struct lookup){.is_class = false};
    TRY(expression_read(findings->view, paths_edges(findings->paths), asked, without_owner,
                        &ret->node, longer));
    if (ret->node == UINT32_MAX)
        return NULL;
    g2h_view_brief(findings->view, ret->node, &node);
    ret->address = node.address;
    return NULL;
}

/* Finds a class by the most certain kind of match; several such matches are an error. */
static struct g2h_error *find_class(const struct findings *findings, const char *asked,
                                    struct lookup *ret)
{
    _cleanup_(lookup_classes_deinit) struct lookup_classes classes = {.findings = findings};
    _cleanup_vector_ node_vector found = {0};
    _cleanup_(text_deinit) struct text short_name = {0}, longer = {0};
    strip_directories(asked, &short_name);
    TRY_MEMORY(!short_name.failed);
    TRY(lookup_find_classes(&classes));
    for (enum meaning meaning = EXACT; meaning < MEANINGS && found.count == 0; meaning++) {
        const bool is_short = meaning == SHORT;
        if (meaning == END) {
            TRY(find_by_expression(findings, asked, false, ret, &longer));
            if (ret->node != UINT32_MAX)
                return NULL;
        }
        TRY(find_matching(&classes, is_short && short_name.size > 0 ? short_name.data : asked,
                          is_short ? short_name.size : strlen(asked), meaning, &found));
    }
    if (found.count > 1)
        return lookup_refuse(findings, asked, "is a part of the names of several classes", &found);
    if (found.count == 0) { /* a local variable's, without its function */
        TRY(find_by_expression(findings, asked, true, ret, NULL));
        if (ret->node != UINT32_MAX)
            return NULL;
    }
    if (found.count == 0 && longer.size > 0)
        return error_create(G2H_ERROR_NOT_FOUND,
                            "'%s' is a part of a variable or an object; ask for an object that it "
                            "leads to, such as %.*s",
                            asked, (int)longer.size, longer.data);
    if (found.count == 0) {
        TRY(find_near(&classes, asked, &found));
        return lookup_refuse(findings, asked,
                             found.count > 0 ? "is not a class; did you mean"
                                             : "is the class of no object in this heap",
                             &found);
    }
    *ret = (struct lookup){.is_class = true, .class = found.data[0], .node = UINT32_MAX};
    return NULL;
}

/* ---- addresses ---- */

/* Finds the object at a hexadecimal address. An address may also begin an expression
 * ("0x574f20[3]"), so that is tried next. */
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
        TRY(find_by_expression(findings, asked, false, ret, NULL));
        if (ret->node != UINT32_MAX)
            return NULL;
    }
    if (!is_address)
        return error_create(G2H_ERROR_NOT_FOUND, "'%s' is not an address", asked);
    if (!g2h_heap_find(heap, address, &object))
        return error_create(G2H_ERROR_NOT_FOUND, "'%s' is in no object of this heap", asked);
    *ret = (struct lookup){.node = g2h_view_object(findings->view, object),
                           .address = address,
                           .offset = address - g2h_heap_address(heap, object)};
    return ret->node != UINT32_MAX
               ? NULL
               : error_create(G2H_ERROR_NOT_FOUND, "'%s' is in garbage, which is left out", asked);
}

struct g2h_error *lookup_find(const struct findings *findings, const char *asked,
                              struct lookup *ret)
{
    return asked[0] == '0' && (asked[1] == 'x' || asked[1] == 'X')
               ? find_object(findings, asked, ret)
               : find_class(findings, asked, ret);
}
