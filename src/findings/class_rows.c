/*
 * class_rows: classes of a heap and their largest objects, as lists; see class_rows.h. The five
 * parts of the file answer one question each:
 *
 * class_index  which nodes of the view are objects of a class? (made once, for many questions)
 * class_rows   what do all objects of a class sum up to, over all nodes of the merged tree?
 * largest      which single objects retain most?
 * structs      which structs have most bytes, and what is their layout?
 * held         builds the indexes that a process with many questions keeps: mcp, inspect
 *
 * A node of the merged tree is all objects of one class that one holder has (merged.h): a class has
 * many. A number is the position of a node of the view in the order of dominators.
 */
#include "findings/class_rows.h"

#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/values.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"
#include "findings/path.h"

/* ==== class_index ==== */

enum { NODES = 256 /* nodes of the view that are read at a time */ };

struct class_index_entry {
    uint64_t weight; /* 0 of garbage, else one more than what it retains */
    uint32_t node;
};

/* Calls take for each object and string of the view, with the number of its class (UINT32_MAX:
 * strings). take returns false if memory runs out. */
static struct g2h_error *class_index_each(const struct g2h_view *view, void *context,
                                          bool (*take)(void *context, uint32_t name, uint32_t node))
{
    struct g2h_node nodes[NODES];
    size_t count;
    for (uint32_t first = 0; (count = g2h_view_nodes(view, first, NODES, nodes)) > 0;
         first += as_u32(count))
        for (size_t i = 0; i < count; i++)
            if (merged_is_object(nodes[i].kind))
                TRY_MEMORY(take(context,
                                nodes[i].kind == G2H_NODE_TEXT ? UINT32_MAX : nodes[i].name,
                                first + as_u32(i)));
    return NULL;
}

struct class_index_work {
    struct class_index *index;
    VECTOR(uint32_t) sizes; /* by class: objects; then where the next one goes */
};

static void class_index_work_deinit(struct class_index_work *work)
{
    free(work->sizes.data);
}

/* First pass: numbers the class, if it is new, and counts its objects. Returns false if memory runs
 * out. */
static bool class_index_count(void *context, uint32_t name, uint32_t node)
{
    struct class_index_work *work = context;
    uint32_t number = as_u32(work->sizes.count);
    (void)node;
    if (!map_put(&work->index->numbers, name, number, &number) ||
        (number == work->sizes.count && !vector_push(&work->sizes, 0)))
        return false;
    work->sizes.data[number]++;
    return true;
}

/* Second pass: puts an object into the part of the index that its class has, at
 * work->sizes[number], which by now is where the class's next object goes. Always returns true. */
static bool class_index_put(void *context, uint32_t name, uint32_t node)
{
    struct class_index_work *work = context;
    const uint32_t number = map_get(&work->index->numbers, name);
    if (number != MAP_NONE) /* always, unless another program writes to the dump */
        work->index->nodes[work->sizes.data[number]++] = node;
    return true;
}

/* Orders objects by weight, the heaviest first, and equal ones by node, so that the order is the
 * same in each run. */
static int class_index_compare(const void *a, const void *b)
{
    const struct class_index_entry *one = a;
    const struct class_index_entry *other = b;
    if (one->weight != other->weight)
        return COMPARE(other->weight, one->weight);
    return COMPARE(one->node, other->node);
}

/* Sorts the objects of a class by what they retain; garbage has weight 0 and comes last. */
static struct g2h_error *class_index_sort(const struct g2h_view *view,
                                          const struct g2h_dominators *dominators, uint32_t *nodes,
                                          size_t count)
{
    _cleanup_free_ struct class_index_entry *entries = block_alloc(count + 1, sizeof(*entries));
    TRY_MEMORY(entries);
    for (size_t i = 0; i < count; i++)
        entries[i] =
            (struct class_index_entry){findings_is_dead(view, nodes[i])
                                           ? 0
                                           : g2h_dominators_retained_size(dominators, nodes[i]) + 1,
                                       nodes[i]};
    qsort(entries, count, sizeof(*entries), class_index_compare);
    for (size_t i = 0; i < count; i++)
        nodes[i] = entries[i].node;
    return NULL;
}

/*
 * Builds the index of a view, which takes 4 bytes per object and, while it runs, 16 more. The
 * caller passes *ret, {0} before, to class_index_deinit() in any case. Errors: G2H_ERROR_MEMORY.
 *
 * A counting sort by class: counts the objects of each class, gives each class its part of one
 * array, and fills the parts in a second pass over the view.
 */
static struct g2h_error *class_index_make(const struct g2h_view *view,
                                          const struct g2h_dominators *dominators,
                                          struct class_index *ret)
{
    _cleanup_(class_index_work_deinit) struct class_index_work work = {.index = ret};
    uint32_t sum = 0;
    TRY(class_index_each(view, &work, class_index_count));
    ret->count = as_u32(work.sizes.count);
    ret->first = block_alloc(count_and_end(ret->count), sizeof(*ret->first));
    TRY_MEMORY(ret->first);
    for (uint32_t i = 0; i < ret->count; i++) {
        ret->first[i] = sum;
        sum += work.sizes.data[i];
        work.sizes.data[i] = ret->first[i];
    }
    ret->first[ret->count] = sum;
    ret->nodes = block_alloc(count_and_end(sum), sizeof(*ret->nodes));
    TRY_MEMORY(ret->nodes);
    TRY(class_index_each(view, &work, class_index_put));
    for (uint32_t i = 0; i < ret->count; i++)
        TRY(class_index_sort(view, dominators, ret->nodes + ret->first[i],
                             ret->first[i + 1] - ret->first[i]));
    return NULL;
}

static void class_index_deinit(struct class_index *index)
{
    map_deinit(&index->numbers);
    free(index->first);
    free(index->nodes);
}

/* Returns the objects of a class, *ret_count of them, or NULL if it has none. name is that of the
 * class in the view, UINT32_MAX for strings. */
const uint32_t *class_index_find(const struct class_index *index, uint32_t name, size_t *ret_count)
{
    const uint32_t number = map_get(&index->numbers, name);
    *ret_count = 0;
    if (number == MAP_NONE)
        return NULL;
    *ret_count = index->first[number + 1] - index->first[number];
    return index->nodes + index->first[number];
}

/* ==== class_rows ==== */

enum { CLASS_ROWS_NODES = 256 /* nodes of the view that are read at a time */ };

/* Adds a node to the sums of its class. Of nodes that are below each other the uppermost one
 * retains what the others do. */
static void class_rows_add(const struct findings *findings, uint32_t number, struct class_row *row)
{
    const struct merged_node *node = findings_node(findings, number);
    row->count += node->count;
    row->bytes += node->bytes;
    row->held += node->is_garbage ? 0 : node->bytes;
    row->garbage += node->is_garbage ? node->count : 0;
    row->retained += node->outermost == number ? node->retained : 0;
}

/* Orders classes by growth since the base (all 0 without one), then by their own bytes. */
static int class_rows_compare(const void *a, const void *b)
{
    const struct class_row *one = a;
    const struct class_row *other = b;
    if (one->grown != other->grown)
        return COMPARE(other->grown, one->grown);
    if (one->bytes != other->bytes)
        return COMPARE(other->bytes, one->bytes);
    return COMPARE(one->node, other->node);
}

/* Finds all classes and, with has_stacks, stacks, with sums; with a base also by how much each has
 * grown. Goes over the nodes of the merged tree, of which a class may have many, and adds each to
 * the row of its name. ret must be empty. */
struct g2h_error *class_rows_find(const struct findings *findings, bool has_stacks,
                                  struct class_rows *ret)
{
    for (uint32_t i = 0; i < findings->merged.nodes.count; i++) {
        const struct merged_node *node = findings_node(findings, i);
        uint32_t number = as_u32(ret->list.count);
        if (node->kind != MERGED_CLASS &&
            !(has_stacks && findings_is_kind(findings, i, G2H_NODE_STACK)))
            continue;
        TRY_MEMORY(map_put(&ret->by_name, node->name, number, &number));
        if (number == ret->list.count)
            TRY_MEMORY(vector_push(&ret->list, ((struct class_row){.node = i})));
        class_rows_add(findings, i, &ret->list.data[number]);
    }
    if (findings->base)
        VECTOR_EACH(struct class_row, row, ret->list) {
            size_t size;
            const char *name = merged_name(&findings->merged, row->node, &size);
            const uint64_t before = growth_class_before(findings->base, name, size).bytes;
            row->grown = (int64_t)(row->held - before);
        }
    vector_sort(&ret->list, class_rows_compare);
    return NULL;
}

void class_rows_deinit(struct class_rows *rows)
{
    free(rows->list.data);
    map_deinit(&rows->by_name);
}

/* Sums up one class. A class has one merged node for each place that holds its objects: these are
 * its holders. */
struct g2h_error *class_rows_find_one(const struct findings *findings, uint32_t name,
                                      struct class_row *ret, ranking *holders)
{
    *ret = (struct class_row){.node = MERGED_NONE};
    for (uint32_t i = 0; i < findings->merged.nodes.count; i++) {
        const struct merged_node *node = findings_node(findings, i);
        if (node->kind != MERGED_CLASS || node->name != name)
            continue;
        ret->node = ret->node == MERGED_NONE ? i : ret->node;
        TRY_MEMORY(vector_push(holders, ((struct ranked){node->retained, i})));
        class_rows_add(findings, i, ret);
    }
    ranking_sort(holders);
    return NULL;
}

/* Returns whether a node of the view is merged in the node line of merged, or line is MERGED_NONE:
 * any will do. */
static bool is_in_line(const struct findings *findings, uint32_t node, uint32_t line)
{
    return line == MERGED_NONE ||
           findings->merged.of[g2h_dominators_number(findings->dominators, node)] == line;
}

/* Does the work of class_rows_find_largest() by the index. Returns UINT32_MAX if there is none. */
static uint32_t class_rows_look_up(const struct findings *findings, uint32_t name, uint32_t line)
{
    size_t count;
    const uint32_t *nodes = class_index_find(&findings->held->classes, name, &count);
    for (size_t i = 0; i < count; i++)
        if (is_in_line(findings, nodes[i], line))
            return nodes[i];
    return UINT32_MAX;
}

/* Returns the object of a class that retains most, or UINT32_MAX. Without the index of a held heap
 * this reads all nodes of the view. A live object always outweighs garbage, because its weight is
 * one more than what it retains. */
uint32_t class_rows_find_largest(const struct findings *findings, uint32_t name, uint32_t line)
{
    if (findings->held)
        return class_rows_look_up(findings, name, line);
    struct g2h_node nodes[CLASS_ROWS_NODES];
    uint32_t best = UINT32_MAX;
    uint64_t most = 0;
    size_t count;
    for (uint32_t first = 0;
         (count = g2h_view_nodes(findings->view, first, CLASS_ROWS_NODES, nodes)) > 0;
         first += as_u32(count))
        for (size_t i = 0; i < count; i++) {
            const uint32_t node = first + as_u32(i);
            const bool is_string = nodes[i].kind == G2H_NODE_TEXT; /* their class is UINT32_MAX */
            if (!merged_is_object(nodes[i].kind) ||
                (is_string ? UINT32_MAX : nodes[i].name) != name ||
                !is_in_line(findings, node, line))
                continue;
            const uint64_t retained = g2h_dominators_retained_size(findings->dominators, node);
            const uint64_t weight = findings_is_dead(findings->view, node) ? 0 : retained + 1;
            if (best == UINT32_MAX || weight > most) {
                best = node;
                most = weight;
            }
        }
    return best;
}

/* ==== largest ==== */

enum {
    LARGEST_NODES = 256 /* nodes that are read at a time */,
    OF_ALL = 1000 /* the part of the heap that an object has at least */
};

/* Returns whether an object is worth listing by itself: its holder is not an object, or is one of
 * another class that has half as much again. Such objects of similar size do not hold each other,
 * so that there are at most some thousands of them, whatever the heap. */
static bool is_outermost(const struct findings *findings, uint32_t number,
                         const struct g2h_node *node, uint64_t retained)
{
    struct g2h_node above;
    do {
        number = g2h_dominators_of(findings->dominators, number);
        g2h_view_brief(findings->view, number, &above);
    } while (number != 0 && expression_hides(findings->view, number));
    const uint64_t has = g2h_dominators_retained_size(findings->dominators, number);
    return above.object == UINT32_MAX ||
           (has - retained >= retained / 2 && above.name != node->name);
}

/* Adds an object to the candidates if it may be listed: no folded node, garbage, or part of a
 * structure that paths hide, and the outermost of its class. */
static struct g2h_error *consider(const struct findings *findings, uint32_t number,
                                  uint64_t retained, large_vector *candidates)
{
    struct g2h_node node;
    g2h_view_brief(findings->view, number, &node);
    if (!merged_is_object(node.kind) || node.members > 0 ||
        findings_is_dead(findings->view, number) || expression_hides(findings->view, number) ||
        !is_outermost(findings, number, &node, retained))
        return NULL;
    const uint32_t name = node.kind == G2H_NODE_TEXT ? G2H_NAME_NONE : node.name;
    TRY_MEMORY(vector_push(candidates, ((struct large_object){retained, number, name})));
    return NULL;
}

/* Collects the objects that retain at least a thousandth of the reachable heap and are not part of
 * a larger one that is listed instead. */
static struct g2h_error *find_candidates(const struct findings *findings, large_vector *candidates)
{
    const uint32_t count = g2h_view_node_count(findings->view);
    const uint64_t least = findings->reachable / OF_ALL + 1;
    uint32_t above[LARGEST_NODES];
    uint64_t sizes[LARGEST_NODES];
    for (uint32_t first = 0; first < count; first += LARGEST_NODES) {
        const uint32_t read = MIN(count - first, LARGEST_NODES);
        g2h_dominators_read(findings->dominators, first, read, above, sizes);
        for (uint32_t i = 0; i < read; i++)
            if (sizes[i] >= least)
                TRY(consider(findings, first + i, sizes[i], candidates));
    }
    return NULL;
}

/* Orders objects by retained bytes, most first; equal ones by node. */
static int largest_compare(const void *a, const void *b)
{
    const struct large_object *one = a;
    const struct large_object *other = b;
    if (one->retained != other->retained)
        return COMPARE(other->retained, one->retained);
    return COMPARE(one->node, other->node);
}

/* Finds the objects that retain most. Takes the heaviest candidates, but only LARGEST_OF_CLASS of
 * one class, so that one class does not fill the list. */
struct g2h_error *largest_find(const struct findings *findings, large_vector *ret)
{
    _cleanup_vector_ large_vector candidates = {0};
    TRY(find_candidates(findings, &candidates));
    vector_sort(&candidates, largest_compare);
    for (size_t i = 0; i < candidates.count && ret->count < LARGEST_OBJECTS; i++) {
        size_t alike = 0;
        VECTOR_EACH(const struct large_object, other, *ret)
            alike += other->name == candidates.data[i].name;
        if (alike < LARGEST_OF_CLASS)
            TRY_MEMORY(vector_push(ret, candidates.data[i]));
    }
    return NULL;
}

/* ==== structs ==== */

enum { STRUCTS_OF_ALL = 1000 };

/* Orders rows by bytes, most first; equal ones by node. */
static int structs_compare(const void *a, const void *b)
{
    const struct class_row *one = a;
    const struct class_row *other = b;
    if (one->bytes != other->bytes)
        return COMPARE(other->bytes, one->bytes);
    return COMPARE(one->node, other->node);
}

/* Returns whether a class has its own name, as structs have, and is neither a slice, map, channel
 * or function nor the runtime's. */
static bool is_own(const struct findings *findings, uint32_t class)
{
    const enum g2h_class_form form = merged_form(&findings->merged, class);
    return (form == G2H_FORM_DECLARED || form == G2H_FORM_STRUCT || form == G2H_FORM_INTERFACE ||
            form == G2H_FORM_OTHER) &&
           !merged_is_runtime(&findings->merged, class);
}

/* Finds the layout of a class by the object that is its example. Returns false if none is known.
 * Maps have none. */
static bool find_layout(const struct findings *findings, const struct g2h_layouts *layouts,
                        const struct class_row *row, struct struct_layout *ret)
{
    struct g2h_node example;
    struct g2h_layout layout;
    struct g2h_location location;
    g2h_view_brief(findings->view, findings_node(findings, row->node)->example, &example);
    if (example.kind != G2H_NODE_OBJECT || example.object == UINT32_MAX ||
        !g2h_layouts_find(layouts, example.object, &layout) || layout.size == 0 ||
        !g2h_location_of_object(findings->view, example.object, &location) ||
        g2h_location_is_map(findings->view, &location))
        return false;
    *ret = (struct struct_layout){row->node, example.object, row->count, layout.size, layout.slot};
    return true;
}

/* Returns whether an object has at least two values: the layout of one says nothing. False as well
 * if its type is not known. */
static bool structs_has_fields(const struct findings *findings, uint32_t object,
                               struct g2h_values *values)
{
    struct g2h_location location;
    struct g2h_value value;
    if (!g2h_location_of_object(findings->view, object, &location))
        return false;
    g2h_values_begin_at(values, &location);
    return g2h_values_next(values, &value) && g2h_values_next(values, &value);
}

CLEANUP_POINTER(destroy_layouts, struct g2h_layouts, g2h_layouts_destroy);

CLEANUP_POINTER(destroy_values, struct g2h_values, g2h_values_destroy);

/* Finds the largest classes of structs. Goes through the classes from the largest on, until one has
 * less than a thousandth of the heap, or STRUCTS have been found. */
struct g2h_error *structs_find(const struct findings *findings, struct_vector *ret)
{
    _cleanup_(class_rows_deinit) struct class_rows rows = {0};
    _cleanup_(destroy_layouts) struct g2h_layouts *layouts = NULL;
    _cleanup_(destroy_values) struct g2h_values *values = NULL;
    if (!g2h_view_is_typed(findings->view))
        return NULL;
    TRY(class_rows_find(findings, false, &rows));
    TRY(g2h_layouts_create(findings->view, &layouts));
    TRY(g2h_values_create(findings->view, &values));
    vector_sort(&rows.list, structs_compare);
    VECTOR_EACH(const struct class_row, row, rows.list) {
        struct struct_layout found;
        if (ret->count == STRUCTS || row->bytes < findings->reachable / STRUCTS_OF_ALL)
            return NULL; /* enough; or all after it are small, too */
        if (is_own(findings, row->node) && find_layout(findings, layouts, row, &found) &&
            structs_has_fields(findings, found.object, values))
            TRY_MEMORY(vector_push(ret, found));
    }
    return NULL;
}

/* ==== held ==== */

/* Makes the indexes for many questions about one heap: objects by class, retainers by object, and
 * the paths from the roots to all. */
struct g2h_error *held_make(struct findings *findings, struct held *ret)
{
    struct g2h_error *error = class_index_make(findings->view, findings->dominators, &ret->classes);
    if (!error)
        error = g2h_retainers_create(findings->view, &ret->retainers);
    if (error) { /* the next question tries again */
        held_deinit(ret);
        *ret = (struct held){.retainers = NULL};
        return error;
    }
    findings->held = ret;
    return NULL;
}

void held_deinit(struct held *held)
{
    class_index_deinit(&held->classes);
    g2h_retainers_destroy(held->retainers);
}
