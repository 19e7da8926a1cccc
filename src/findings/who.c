/* who; see who.h. */
#include "findings/who.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "findings/entries.h"
#include "findings/goroutines.h"
#include "findings/path.h"
#include "findings/retainers.h"

/* Returns whether a suspect is a group of goroutines or of deferred calls. */
static bool is_group(const struct suspect *suspect)
{
    return suspect->is_goroutines || suspect->is_deferred;
}

uint64_t who_count(const struct findings *findings, const struct suspect *suspect)
{
    return is_group(suspect) ? findings_members(findings, suspect->item) : suspect->count;
}

int64_t who_grown(const struct findings *findings, const struct suspect *suspect)
{
    return is_group(suspect) ? findings_members_grown(findings, suspect->item)
                             : (int64_t)suspect->grown;
}

/* Sets *ret to how many pointers lead from outside of the suspect to the uppermost of its objects:
 * if it is one, all objects hang on it. from is any object of the suspect. */
static struct g2h_error *count_pointers(const struct findings *findings, uint32_t item,
                                        uint32_t from, uint64_t *ret)
{
    const struct g2h_dominators *dominators = findings->dominators;
    const uint32_t *lines = findings->merged.of;
    uint32_t uppermost = from;
    _cleanup_(retainers_deinit) struct retainers retainers = {.list = {0}};
    _cleanup_free_ bool *is_below = calloc(findings->merged.nodes.count, sizeof(*is_below));
    TRY_MEMORY(is_below);
    merged_mark_below(&findings->merged, item, is_below);
    for (uint32_t i = g2h_dominators_number(dominators, from); i > 0 && is_below[lines[i]];
         i = g2h_dominators_above(dominators, i))
        uppermost = g2h_dominators_node(dominators, i);
    TRY(retainers_find(findings, paths_edges(findings->paths), uppermost, &retainers));
    *ret = 0;
    for (size_t i = 0; i < retainers.list.count; i++) {
        const struct retainer *retainer = &retainers.list.data[i];
        const uint32_t line = lines[g2h_dominators_number(dominators, retainer->node)];
        *ret += is_below[line] || findings_node(findings, line)->is_garbage ? 0 : retainer->count;
    }
    return NULL;
}

/* Only a list or a tree (example->uppermost is 1) can hang on one entry or element. */
struct g2h_error *who_find_holders(const struct findings *findings, const struct suspect *suspect,
                                   const struct example *example, struct who_holders *ret)
{
    const enum g2h_class_form form = merged_form(&findings->merged, suspect->holder);
    const bool is_above = suspect->holder == findings_node(findings, suspect->item)->parent;
    const char *part = form == G2H_FORM_MAP ? "entry" : form == G2H_FORM_SLICE ? "element" : NULL;
    uint64_t pointers = 0;
    if (part && suspect->count > 1 && example->uppermost == 1)
        TRY(count_pointers(findings, suspect->item, example->node, &pointers));
    *ret = (struct who_holders){.count = is_above && example->above > 0
                                             ? example->above
                                             : findings_node(findings, suspect->holder)->count,
                                .part = pointers == 1 ? part : NULL};
    return NULL;
}

uint32_t who_shares(const struct findings *findings, uint32_t item)
{
    uint32_t variable = MERGED_NONE;
    for (uint32_t i = item; i != MERGED_NONE; i = findings_node(findings, i)->parent) {
        if (findings_node(findings, i)->kind == MERGED_VARIABLE)
            variable = i;
        if (findings_is_kind(findings, i, G2H_NODE_SEVERAL))
            return variable;
    }
    return MERGED_NONE;
}

/* A path that ends at another node than the holder would name the wrong one, so then only the name
 * is used. */
struct g2h_error *who_append_holder(const struct findings *findings, uint32_t holder,
                                    struct text *text)
{
    struct g2h_node node;
    uint32_t end;
    size_t size;
    TRY(path_append(findings->paths, holder, text, &end));
    if (text->size > 0 && end == holder)
        return NULL;
    g2h_view_brief(findings->view, holder, &node);
    const char *name = g2h_view_name(findings->view, node.name, &size);
    text->size = 0;
    text_append(text, name, size);
    if (node.object != UINT32_MAX)
        text_printf(text, " at 0x%" PRIx64, node.address);
    return NULL;
}

/* Timers of one class are spread over the processors' heaps for no reason that matters, so they are
 * summed up. */
bool who_are_timers(const struct findings *findings, const struct suspect *suspect,
                    struct who_timers *ret)
{
    const struct merged *merged = &findings->merged;
    const struct merged_node *item = findings_node(findings, suspect->item);
    *ret = (struct who_timers){0};
    if (findings->base || !suspects_are_timers(merged, suspect->holder))
        return false;
    for (uint32_t i = 0; i < merged->nodes.count; i++) {
        const struct merged_node *node = findings_node(findings, i);
        if (node->kind != item->kind || node->name != item->name ||
            !suspects_are_timers(merged, node->parent))
            continue;
        ret->count += node->count;
        ret->retained += node->retained;
        ret->heaps += findings_node(findings, node->parent)->count;
    }
    return ret->count != item->count;
}

/* Returns whether a node is a variable of a goroutine, or objects that several of one goroutine's
 * variables hold together. */
static bool is_local(const struct findings *findings, uint32_t node)
{
    const struct merged_node *read = findings_node(findings, node);
    return read->kind == MERGED_VARIABLE ||
           (read->kind == MERGED_CLASS && !merged_is_runtime(&findings->merged, node) &&
            merged_runtime_class(&findings->merged, node) == G2H_RUNTIME_NONE &&
            findings_node(findings, read->parent)->kind == MERGED_SYNTHETIC &&
            !findings_is_kind(findings, read->parent, G2H_NODE_GOROUTINES_IN_PLACE));
}

/* Adds the variables below a node, and the objects that several of them hold together, those that
 * retain most first. */
static struct g2h_error *find_variables(const struct findings *findings, uint32_t below,
                                        ranking *ret)
{
    const size_t count = findings->merged.nodes.count;
    _cleanup_free_ bool *is_below = calloc(count, sizeof(*is_below));
    TRY_MEMORY(is_below);
    merged_mark_below(&findings->merged, below, is_below);
    for (uint32_t i = below + 1; i < count; i++) {
        const struct merged_node *node = findings_node(findings, i);
        if (is_below[i] && is_local(findings, i))
            TRY_MEMORY(vector_push(ret, ((struct ranked){node->retained, i})));
    }
    ranking_sort(ret);
    return NULL;
}

/* Returns whether a node of the view is one of a variable's objects, or merged in a class. */
static bool is_object_of(const struct findings *findings, uint32_t node, uint32_t local)
{
    const uint32_t merged = findings->merged.of[g2h_dominators_number(findings->dominators, node)];
    return merged == local || (findings_node(findings, local)->kind == MERGED_VARIABLE &&
                               findings_node(findings, merged)->parent == local);
}

/* Returns whether the example of one variable points to an object of another. */
static bool points_to(const struct findings *findings, uint32_t variable, uint32_t other)
{
    enum { MOST_EDGES = 1000 };
    struct g2h_edges *edges = paths_edges(findings->paths);
    const uint32_t from = findings_node(findings, variable)->example;
    struct g2h_edge edge;
    g2h_edges_begin(edges, from, from + 1);
    for (int i = 0; i < MOST_EDGES && g2h_edges_next(edges, &edge); i++)
        if ((edge.flags & G2H_EDGE_WEAK) == 0 && is_object_of(findings, edge.target, other))
            return true;
    return false;
}

/* Orders variables that stand alone before those that are part of others, and each by what they
 * retain. */
static int compare_locals(const void *a, const void *b)
{
    const struct who_local *one = a, *other = b;
    if ((one->part_of == MERGED_NONE) != (other->part_of == MERGED_NONE))
        return one->part_of == MERGED_NONE ? -1 : 1;
    if (one->retained != other->retained)
        return one->retained > other->retained ? -1 : 1;
    return one->node < other->node ? -1 : one->node > other->node;
}
/* If the example of one variable points to objects of another, as a channel to its slots, the
 * latter is shown as part of the former. */
struct g2h_error *who_find_locals(const struct findings *findings, uint32_t place,
                                  struct who_local ret[WHO_LOCALS], size_t *ret_count)
{
    _cleanup_vector_ ranking variables = {0};
    TRY(find_variables(findings, place, &variables));
    const size_t count = variables.count < WHO_LOCALS ? variables.count : WHO_LOCALS;
    for (size_t i = 0; i < count; i++)
        ret[i] = (struct who_local){variables.data[i].node,
                                    findings_node(findings, variables.data[i].node)->retained,
                                    MERGED_NONE};
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count && ret[i].part_of == MERGED_NONE; j++)
            if (i != j && ret[j].part_of == MERGED_NONE &&
                points_to(findings, ret[j].node, ret[i].node)) {
                ret[i].part_of = ret[j].node;
                ret[j].retained += ret[i].retained;
            }
    qsort(ret, count, sizeof(*ret), compare_locals);
    *ret_count = count;
    return NULL;
}

struct g2h_error *who_find_ended(const struct findings *findings, uint32_t item, uint64_t *ret)
{
    struct goroutines_ended ended;
    *ret = 0;
    if (merged_runtime_class(&findings->merged, item) != G2H_RUNTIME_G)
        return NULL;
    TRY(goroutines_find_ended(findings, &ended));
    if (ended.count >= (findings_node(findings, item)->count + 1) / 2)
        *ret = ended.count;
    return NULL;
}

/* ---- details that take long to find ---- */

/* Returns the object of a node of merged that holds another object, or else any object of it. */
static uint32_t holder_at(const struct findings *findings, uint32_t line, uint32_t held)
{
    const struct g2h_dominators *dominators = findings->dominators;
    uint32_t number = g2h_dominators_number(dominators, held);
    while (number > 0 && findings->merged.of[number] != line)
        number = g2h_dominators_above(dominators, number);
    return number > 0 ? g2h_dominators_node(dominators, number)
                      : findings_node(findings, line)->example;
}

struct g2h_error *who_append_path(const struct findings *findings, const struct suspect *suspect,
                                  const struct example *example, struct text *text,
                                  uint32_t *ret_end)
{
    const uint32_t held = suspect->held_at != MERGED_NONE
                              ? holder_at(findings, suspect->held_at, example->node)
                              : example->node;
    return path_append(findings->paths, held, text, ret_end);
}

/* Returns the variable, right below a package, that a node of the view is below; or MERGED_NONE. */
static uint32_t variable_below(const struct findings *findings, uint32_t package, uint32_t node)
{
    uint32_t line = findings->merged.of[g2h_dominators_number(findings->dominators, node)];
    while (line != MERGED_NONE && findings_node(findings, line)->parent != package)
        line = findings_node(findings, line)->parent;
    return line != MERGED_NONE && findings_node(findings, line)->kind == MERGED_VARIABLE
               ? line
               : MERGED_NONE;
}

/* Appends the variables whose objects lead to those of an item, or to the objects that hold these,
 * which are right below their package because the variables hold them together: "main.queue,
 * main.failures". Goes over all edges. */
static struct g2h_error *append_variables(const struct findings *findings, uint32_t item,
                                          struct text *text)
{
    enum { MOST = 4, EDGES = 256 };
    uint32_t package = findings_node(findings, item)->parent;
    struct g2h_edges *edges = paths_edges(findings->paths);
    struct g2h_edge read[EDGES];
    uint32_t found[MOST + 1], count = 0, end;
    size_t got;
    while (findings_node(findings, package)->kind == MERGED_CLASS) {
        item = package;
        package = findings_node(findings, item)->parent;
    }
    if (!findings_is_kind(findings, package, G2H_NODE_PACKAGE))
        return NULL;
    g2h_edges_begin(edges, 0, g2h_view_node_count(findings->view));
    while (count <= MOST && (got = g2h_edges_read(edges, read, EDGES)) > 0)
        for (size_t i = 0; i < got && count <= MOST; i++) {
            if (!is_object_of(findings, read[i].target, item) ||
                (read[i].flags & G2H_EDGE_WEAK) != 0)
                continue;
            found[count] = variable_below(findings, package, read[i].source);
            uint32_t known = 0;
            while (found[known] != found[count])
                known++;
            count += known == count && found[count] != MERGED_NONE;
        }
    for (uint32_t i = 0; i < count && i < MOST && count > 1; i++) {
        _cleanup_(text_deinit) struct text path = {0};
        TRY(path_append(findings->paths, findings_node(findings, found[i])->example, &path, &end));
        text_append_string(text, text->size > 0 ? ", " : "");
        text_append(text, path.data, path.size);
    }
    text_append_string(text, count > MOST ? " and others" : "");
    return NULL;
}

CLEANUP_POINTER(who_destroy_values, struct g2h_values, g2h_values_destroy);

/* Sums up the entries of a suspect's maps. *ret becomes 0 if it is not of maps, or if they are not
 * known. */
static struct g2h_error *count_entries(const struct findings *findings, uint32_t item,
                                       uint64_t *ret)
{
    _cleanup_(who_destroy_values) struct g2h_values *values = NULL;
    struct g2h_location map;
    struct g2h_node node;
    uint64_t length;
    *ret = 0;
    if (merged_form(&findings->merged, item) != G2H_FORM_MAP)
        return NULL;
    TRY(g2h_values_create(findings->view, &values));
    for (uint32_t i = 1; i < findings->merged.of_count; i++) {
        if (findings->merged.of[i] != item)
            continue;
        g2h_view_brief(findings->view, g2h_dominators_node(findings->dominators, i), &node);
        if (node.name == findings_node(findings, item)->name && node.object != UINT32_MAX &&
            g2h_location_of_object(findings->view, node.object, &map) &&
            entries_length(findings->view, values, &map, &length))
            *ret += length;
    }
    return NULL;
}

/* Finds what a report shows below a suspect; stacks and deferred calls have no such details. */
static struct g2h_error *find_details(const struct findings *findings, struct who *who)
{
    const struct suspect *suspect = &who->suspect;
    if (suspect->is_deferred ||
        (!suspect->is_goroutines && findings_is_kind(findings, suspect->item, G2H_NODE_STACK)))
        return NULL;
    TRY(example_find(findings, suspect->item, &who->example));
    if (suspect->holder != MERGED_NONE)
        TRY(who_find_holders(findings, suspect, &who->example, &who->holders));
    if (suspect->is_goroutines)
        return NULL;
    TRY(keys_find(findings, suspect->item, &who->keys));
    TRY(who_append_path(findings, suspect, &who->example, &who->path, &who->path_end));
    if (findings->base && suspect->grown == 0)
        TRY(count_entries(findings, suspect->item, &who->entries));
    TRY(append_variables(findings, suspect->item, &who->sharers));
    TRY_MEMORY(!who->path.failed && !who->sharers.failed);
    return NULL;
}

/* Details take long to find, so only the first WHO_SUSPECTS suspects get them. */
struct g2h_error *who_find(const struct findings *findings, struct who_suspects *ret)
{
    _cleanup_vector_ suspect_vector suspects = {0};
    TRY(suspects_find(findings, &suspects));
    ret->all = suspects.count;
    if (ret->all > 0)
        TRY(leaks_find(findings, &ret->leaks));
    while (ret->count < WHO_SUSPECTS && ret->count < suspects.count) {
        struct who *who = &ret->list[ret->count];
        who->suspect = suspects.data[ret->count++];
        TRY(find_details(findings, who));
    }
    return NULL;
}

void who_suspects_deinit(struct who_suspects *suspects)
{
    for (size_t i = 0; i < suspects->count; i++) {
        held_keys_deinit(&suspects->list[i].keys);
        text_deinit(&suspects->list[i].path);
        text_deinit(&suspects->list[i].sharers);
    }
    leaks_deinit(&suspects->leaks);
}
