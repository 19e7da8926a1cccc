/*
 * report: the answer as text: how much there is, what is suspect and who holds it, goroutines by
 * where they are, classes, the tree of what holds what, texts that are there more than once.
 *
 * Each section is of what retains most; what is not shown is counted. Sizes are decimal, as
 * DevTools has them. docs/report.md.
 */
#include <string.h>

#include "base/scope.h"
#include "output/merged.h"
#include "output/report/suspects.h"
#include "output/report/table.h"
#include "output/report/way.h"
#include "output/sink.h"

enum {
    MOST_SUSPECTS = 3,
    MOST_ROWS = 10,    /* of a table */
    MOST_LINES = 50,   /* of the tree, */
    MOST_CHILDREN = 8, /* of a node there, */
    MOST_DEPTH = 16,
    LEAST_NAME = 20, /* characters */
    MOST_PARTS = 4,  /* of what a suspect is made of */
};

struct report {
    const struct g2h_view *view;
    const struct g2h_dominators *dominators;
    struct merged merged;
    struct text *out;
    size_t columns;
    uint64_t total, garbage, reachable; /* bytes */
    const struct g2h_base *base;        /* NULL: none */
    growth_vector growth;               /* since then; by node */
};

/* ---- nodes ---- */

static const struct merged_node *node_of(const struct report *report, uint32_t node)
{
    return &report->merged.nodes.data[node];
}

static bool is_kind(const struct report *report, uint32_t node, enum g2h_node_kind kind)
{
    return node_of(report, node)->kind == MERGED_SYNTHETIC &&
           merged_kind_of(&report->merged, node) == kind;
}

/* The node of a kind that is nearest to the root; MERGED_NONE. */
static uint32_t find_kind(const struct report *report, enum g2h_node_kind kind)
{
    for (uint32_t i = 0; i < report->merged.nodes.count; i++)
        if (is_kind(report, i, kind))
            return i;
    return MERGED_NONE;
}

struct ranked {
    uint64_t weight;
    uint32_t node;
};
typedef VECTOR(struct ranked) ranking;

static int compare_ranks(const void *a, const void *b)
{
    const struct ranked *one = a, *other = b;
    if (one->weight != other->weight)
        return one->weight > other->weight ? -1 : 1;
    return one->node < other->node ? -1 : one->node > other->node;
}

/* The children of a node, those that retain most first. */
static struct g2h_error *rank_children(const struct report *report, uint32_t node, ranking *ret)
{
    for (uint32_t i = node_of(report, node)->child; i != MERGED_NONE;
         i = node_of(report, i)->sibling)
        TRY_MEMORY(vector_push(ret, ((struct ranked){node_of(report, i)->retained, i})));
    vector_sort(ret, compare_ranks);
    return NULL;
}

static void append_name(const struct report *report, uint32_t node, struct text *text)
{
    size_t size;
    const char *name = merged_name(&report->merged, node, &size);
    text_append(text, name, size);
}

/* The number of a group of goroutines: of those in it, or of what is one itself. */
static uint64_t goroutines_of(const struct report *report, uint32_t node)
{
    if (!is_kind(report, node, G2H_NODE_GOROUTINES_IN_PLACE))
        return node_of(report, node)->count;
    uint64_t count = 0;
    for (uint32_t i = node_of(report, node)->child; i != MERGED_NONE;
         i = node_of(report, i)->sibling)
        if (is_kind(report, i, G2H_NODE_GOROUTINE))
            count += node_of(report, i)->count;
    return count;
}

/* By how many a group of goroutines has grown. */
static int64_t goroutines_grown(const struct report *report, uint32_t node)
{
    int64_t grown = 0;
    if (!is_kind(report, node, G2H_NODE_GOROUTINES_IN_PLACE))
        return report->growth.data[node].count;
    for (uint32_t i = node_of(report, node)->child; i != MERGED_NONE;
         i = node_of(report, i)->sibling)
        if (is_kind(report, i, G2H_NODE_GOROUTINE))
            grown += report->growth.data[i].count;
    return grown;
}

/* What nodes are ranked by: what they retain, or by how much that has grown. */
static uint64_t weight_of(const struct report *report, uint32_t node)
{
    return report->base ? report->growth.data[node].weight : node_of(report, node)->retained;
}

/* ---- the first lines ---- */

/* Numbers of MemStats, in the order of the record: runtime/mstats.go. */
enum { SYS = 1, HEAP_SYS = 7, HEAP_IDLE = 8, HEAP_INUSE = 9, HEAP_RELEASED = 10, STACK_SYS = 13 };

static void put_process(const struct report *report)
{
    const struct g2h_memstats *memstats = g2h_heap_memstats(g2h_view_heap(report->view));
    const uint64_t *numbers = memstats ? memstats->numbers : NULL;
    if (!numbers || numbers[SYS] == 0 || numbers[HEAP_SYS] < numbers[HEAP_RELEASED])
        return;
    const uint64_t held = numbers[SYS] - numbers[HEAP_RELEASED],
                   objects = numbers[G2H_MEMSTATS_HEAP_ALLOC],
                   heap = numbers[HEAP_SYS] - numbers[HEAP_RELEASED],
                   unused = heap > objects ? heap - objects : 0,
                   known = objects + unused + numbers[STACK_SYS];
    text_printf(report->out, "  process has ");
    table_bytes(report->out, held);
    text_printf(report->out, ": objects ");
    table_bytes(report->out, objects);
    text_printf(report->out, ", free ");
    table_bytes(report->out, unused);
    text_printf(report->out, ", stacks ");
    table_bytes(report->out, numbers[STACK_SYS]);
    text_printf(report->out, ", runtime ");
    table_bytes(report->out, held > known ? held - known : 0);
    text_printf(report->out, "\n");
}

/* "since first.dump: +701 kB (+114 %), +12,313 objects, +60 goroutines" */
static void put_since(const struct report *report)
{
    const struct growth_totals *before = growth_totals(report->base);
    const struct g2h_heap *heap = g2h_view_heap(report->view);
    const uint64_t objects =
        g2h_heap_object_count(heap) - g2h_view_account(report->view)->left_out_objects;
    struct text *out = report->out;
    text_printf(out, "since ");
    text_append(out, before->name, strlen(before->name));
    text_printf(out, ": ");
    table_change(out, (int64_t)(report->reachable - before->reachable), true);
    text_printf(out, " (%+.0f %%), ", table_percent(report->reachable, before->reachable) - 100);
    table_change(out, (int64_t)(objects - before->objects), false);
    text_printf(out, " objects, ");
    table_change(out, (int64_t)(g2h_view_goroutine_count(report->view) - before->goroutines),
                 false);
    text_printf(out, " goroutines\n");
}

static void put_totals(const struct report *report, const char *name)
{
    const struct g2h_heap *heap = g2h_view_heap(report->view);
    const struct g2h_view_account *account = g2h_view_account(report->view);
    struct text *out = report->out;
    const char *version = g2h_heap_go_version(heap);
    text_append(out, name, strlen(name));
    text_printf(out, "   %s%s", *version ? version : "Go of an unknown version", "   ");
    table_bytes(out, report->total - account->stack_bytes);
    text_printf(out, " in ");
    text_append_grouped(out, g2h_heap_object_count(heap) - account->left_out_objects);
    text_printf(out, " objects   ");
    text_append_grouped(out, g2h_view_goroutine_count(report->view));
    text_printf(out, " goroutines\n  reachable ");
    table_bytes(out, report->reachable);
    if (account->stack_bytes > 0) {
        text_printf(out, " with ");
        table_bytes(out, account->stack_bytes);
        text_printf(out, " of stacks");
    }
    text_printf(out, ", garbage ");
    table_bytes(out, report->garbage + account->left_out_bytes);
    text_printf(out, account->left_out_objects > 0 ? ", left out\n" : "\n");
    put_process(report);
    if (report->base)
        put_since(report);
}

/* ---- suspects ---- */

/* "320 B = 24 B + main.Session 152 B + chan *main.Bid 144 B" */
static struct g2h_error *put_each(const struct report *report, uint32_t item)
{
    const struct merged_node *node = node_of(report, item);
    struct text *out = report->out;
    _cleanup_free_ struct ranked *data = NULL;
    ranking parts = {0};
    struct g2h_error *error = rank_children(report, item, &parts);
    data = parts.data;
    TRY(error);
    if (node->count < 2)
        return NULL;
    text_printf(out, "      each        ");
    table_bytes(out, node->retained / node->count);
    if (node->bytes < node->retained) {
        text_printf(out, " = ");
        table_bytes(out, node->bytes / node->count);
    }
    for (size_t i = 0; i < parts.count && i < MOST_PARTS; i++) {
        const struct merged_node *part = node_of(report, parts.data[i].node);
        if (part->retained < node->retained / 50)
            break;
        text_printf(out, " + ");
        append_name(report, parts.data[i].node, out);
        text_printf(out, " ");
        table_bytes(out, part->retained / node->count);
    }
    text_printf(out, "\n");
    return NULL;
}

/* Who holds something together, if it is below that. */
static uint32_t sharers_of(const struct report *report, uint32_t item)
{
    uint32_t variable = MERGED_NONE;
    for (uint32_t i = item; i != MERGED_NONE; i = node_of(report, i)->parent) {
        if (node_of(report, i)->kind == MERGED_VARIABLE)
            variable = i;
        if (is_kind(report, i, G2H_NODE_SEVERAL))
            return variable;
    }
    return MERGED_NONE;
}

static struct g2h_error *put_holders(const struct report *report, uint32_t item)
{
    _cleanup_(text_deinit) struct text way = {0};
    const uint32_t sharers = sharers_of(report, item);
    TRY(way_append(report->view, report->dominators, node_of(report, item)->example, &way));
    TRY_MEMORY(!way.failed);
    if (way.size > 0) {
        text_printf(report->out, "      held by     ");
        table_clip(report->out, way.data, way.size, 2 * report->columns);
        text_printf(report->out, "\n");
    }
    if (sharers != MERGED_NONE) {
        text_printf(report->out, "      shared by   ");
        append_name(report, sharers, report->out);
        text_printf(report->out, "\n");
    }
    return NULL;
}

/* What an edge of a name leads to from a node of the view, or one to a node of a kind: its name. */
static struct g2h_error *append_target(const struct report *report, uint32_t node,
                                       const char *label, enum g2h_node_kind kind,
                                       struct text *text)
{
    struct g2h_edges *edges;
    struct g2h_edge edge;
    TRY(g2h_edges_create(report->view, &edges));
    g2h_edges_begin(edges, node, node + 1);
    while (g2h_edges_next(edges, &edge)) {
        struct g2h_node target;
        size_t size;
        const char *name = g2h_view_name(report->view, edge.name, &size);
        g2h_view_node(report->view, edge.target, &target);
        if (label ? size != strlen(label) || memcmp(name, label, size) != 0 : target.kind != kind)
            continue;
        name = g2h_view_name(report->view, target.name, &size);
        text_append(text, name, size);
        break;
    }
    g2h_edges_destroy(edges);
    return NULL;
}

static struct g2h_error *put_target(const struct report *report, const char *what, uint32_t node,
                                    const char *label, enum g2h_node_kind kind)
{
    _cleanup_(text_deinit) struct text text = {0};
    TRY(append_target(report, node, label, kind, &text));
    TRY_MEMORY(!text.failed);
    if (text.size > 0) {
        text_printf(report->out, "      %-10s  ", what);
        text_append(report->out, text.data, text.size);
        text_printf(report->out, "\n");
    }
    return NULL;
}

/* The variables below a node that retain most. */
static struct g2h_error *rank_variables(const struct report *report, uint32_t below, ranking *ret)
{
    for (uint32_t i = below; i < report->merged.nodes.count; i++) {
        uint32_t above = i;
        if (node_of(report, i)->kind != MERGED_VARIABLE)
            continue;
        while (above != MERGED_NONE && above != below)
            above = node_of(report, above)->parent;
        if (above == below)
            TRY_MEMORY(vector_push(ret, ((struct ranked){node_of(report, i)->retained, i})));
    }
    vector_sort(ret, compare_ranks);
    return NULL;
}

static struct g2h_error *put_locals(const struct report *report, uint32_t place)
{
    ranking locals = {0};
    struct g2h_error *error = rank_variables(report, place, &locals);
    const uint64_t goroutines = goroutines_of(report, place);
    for (size_t i = 0; !error && i < locals.count && i < 2; i++) {
        const struct merged_node *local = node_of(report, locals.data[i].node);
        if (local->retained < node_of(report, place)->retained / 50)
            break;
        text_printf(report->out, i == 0 ? "      hold        " : "                  ");
        append_name(report, locals.data[i].node, report->out);
        text_printf(report->out, " of ");
        append_name(report, local->parent, report->out);
        if (local->child != MERGED_NONE) {
            text_printf(report->out, ": ");
            append_name(report, local->child, report->out);
        }
        text_printf(report->out, ", ");
        table_bytes(report->out, local->retained / (goroutines > 0 ? goroutines : 1));
        text_printf(report->out, goroutines > 1 ? " each\n" : "\n");
    }
    free(locals.data);
    return error;
}

/* The goroutine of a place that is its example. */
static uint32_t example_goroutine(const struct report *report, uint32_t place)
{
    for (uint32_t i = node_of(report, place)->child; i != MERGED_NONE;
         i = node_of(report, i)->sibling)
        if (is_kind(report, i, G2H_NODE_GOROUTINE))
            return node_of(report, i)->example;
    return node_of(report, place)->example;
}

static struct g2h_error *put_goroutines_suspect(const struct report *report, uint32_t place)
{
    const uint32_t goroutine = example_goroutine(report, place);
    TRY(put_target(report, "wait on", goroutine, "waiting on", G2H_NODE_ROOT));
    TRY(put_target(report, "started by", goroutine, NULL, G2H_NODE_CREATION_SITE));
    return put_locals(report, place);
}

/* By how many of it there are more. */
static int64_t count_grown(const struct report *report, const struct suspect *suspect)
{
    return suspect->is_goroutines ? goroutines_grown(report, suspect->item)
                                  : report->growth.data[suspect->item].count;
}

static struct g2h_error *put_suspect(const struct report *report, const struct suspect *suspect,
                                     size_t number)
{
    struct text *out = report->out;
    const uint64_t count = suspect->is_goroutines ? goroutines_of(report, suspect->item)
                                                  : node_of(report, suspect->item)->count;
    text_printf(out, "  %zu  ", number);
    table_right(out, suspect->bytes, report->base != NULL, 9);
    text_printf(out, "  %3.0f %% of the heap   ", table_percent(suspect->bytes, report->reachable));
    if (report->base) {
        table_change(out, count_grown(report, suspect), false);
        text_printf(out, " ");
        append_name(report, suspect->item, out);
        text_printf(out, ", now ");
        text_append_grouped(out, count);
    } else {
        text_append_grouped(out, count);
        text_printf(out, " ");
        append_name(report, suspect->item, out);
    }
    if (suspect->holder != MERGED_NONE) {
        const struct merged_node *holder = node_of(report, suspect->holder);
        text_printf(out, ", in ");
        if (holder->count > 1) {
            text_append_grouped(out, holder->count);
            text_printf(out, " × ");
        }
        append_name(report, suspect->holder, out);
    }
    text_printf(out, "\n");
    if (suspect->is_goroutines)
        return put_goroutines_suspect(report, suspect->item);
    TRY(put_each(report, suspect->item));
    return put_holders(report, suspect->item);
}

static struct g2h_error *put_suspects(const struct report *report)
{
    suspect_vector suspects = {0};
    struct g2h_error *error = suspects_find(&report->merged, report->reachable, report->base,
                                            report->base ? &report->growth : NULL, &suspects);
    if (!error) {
        text_printf(report->out,
                    report->base ? "\nWHAT GREW, AND WHO HOLDS IT\n" : "\nWHO HOLDS THE MEMORY\n");
        if (suspects.count == 0)
            text_printf(report->out, report->base
                                         ? "  Nothing grew by much.\n"
                                         : "  Nothing that holds 5 %% of the heap stands out.\n");
    }
    for (size_t i = 0; !error && i < suspects.count && i < MOST_SUSPECTS; i++)
        error = put_suspect(report, &suspects.data[i], i + 1);
    if (!error && suspects.count > MOST_SUSPECTS)
        text_printf(report->out,
                    report->base ? "     %zu more grew by much\n"
                                 : "     %zu more of 5 %% and above: see the tree below\n",
                    suspects.count - MOST_SUSPECTS);
    free(suspects.data);
    return error;
}

/* ---- goroutines ---- */

static bool is_place(const struct report *report, uint32_t node)
{
    return is_kind(report, node, G2H_NODE_GOROUTINES_IN_PLACE) ||
           is_kind(report, node, G2H_NODE_GOROUTINE);
}

/* Without a word at its begin. */
static void put_without(struct table *table, const struct text *text, const char *const *words)
{
    for (; *words; words++)
        if (text->size > strlen(*words) && memcmp(text->data, *words, strlen(*words)) == 0) {
            table_text(table, text->data + strlen(*words), text->size - strlen(*words));
            return;
        }
    table_text(table, text->data, text->size);
}

/* Of "go statement in main.run main.go:17" the last word, which is where it stands; where that is
 * not known, the function. */
static void put_site(struct table *table, const struct text *site)
{
    static const char *const words[] = {"go statement in ", NULL};
    const char *space = site->size > 0 ? memrchr(site->data, ' ', site->size) : NULL;
    const size_t size = space ? site->size - (size_t)(space + 1 - site->data) : 0;
    if (size > 0 && memchr(space, ':', size))
        table_text(table, space + 1, size);
    else
        put_without(table, site, words);
}

static struct g2h_error *put_place(const struct report *report, struct table *table, uint32_t place)
{
    _cleanup_(text_deinit) struct text name = {0}, site = {0};
    static const char *const words[] = {"goroutines ", "goroutine ", NULL};
    append_name(report, place, &name);
    TRY(append_target(report, example_goroutine(report, place), NULL, G2H_NODE_CREATION_SITE,
                      &site));
    TRY_MEMORY(!name.failed && !site.failed);
    put_without(table, &name, words);
    if (report->base)
        table_growth(table, goroutines_grown(report, place), false);
    table_count(table, goroutines_of(report, place));
    table_size(table, node_of(report, place)->retained);
    put_site(table, &site);
    return NULL;
}

/* Those that retain most come first. */
static struct g2h_error *rank_places(const struct report *report, ranking *ret)
{
    const uint32_t group = find_kind(report, G2H_NODE_GOROUTINES);
    for (uint32_t i = group == MERGED_NONE ? group : node_of(report, group)->child;
         i != MERGED_NONE; i = node_of(report, i)->sibling)
        if (is_place(report, i))
            TRY_MEMORY(vector_push(ret, ((struct ranked){weight_of(report, i), i})));
    vector_sort(ret, compare_ranks);
    return NULL;
}

static struct g2h_error *put_goroutines(const struct report *report)
{
    static const struct table_column columns[] = {{"GOROUTINES", false},
                                                  {"grown", true}, /* with a base */
                                                  {"count", true},
                                                  {"retained", true},
                                                  {"started by", false}},
                                     usual[] = {{"GOROUTINES", false},
                                                {"count", true},
                                                {"retained", true},
                                                {"started by", false}};
    struct table table;
    ranking places = {0};
    struct g2h_error *error = rank_places(report, &places);
    table_init(&table, report->out, report->base ? columns : usual, report->base ? 5 : 4,
               report->columns);
    for (size_t i = 0; !error && i < places.count && i < MOST_ROWS; i++)
        error = put_place(report, &table, places.data[i].node);
    uint64_t others = 0, bytes = 0;
    for (size_t i = MOST_ROWS; i < places.count; i++) {
        others += goroutines_of(report, places.data[i].node);
        bytes += node_of(report, places.data[i].node)->retained;
    }
    if (!error && places.count > 0)
        error = table_end(&table);
    if (!error && others > 0) {
        text_printf(report->out, "  ");
        text_append_grouped(report->out, others);
        text_printf(report->out, " more in %zu other places, ", places.count - MOST_ROWS);
        table_bytes(report->out, bytes);
        text_printf(report->out, "\n");
    }
    table_deinit(&table);
    free(places.data);
    return error;
}

/* ---- classes ---- */

struct class_row {
    uint32_t node; /* one of its nodes */
    uint64_t count, bytes, retained;
    int64_t grown; /* bytes; 0 without a base */
};

struct classes {
    VECTOR(struct class_row) list;
    struct map by_name;
};

static int compare_classes(const void *a, const void *b)
{
    const struct class_row *one = a, *other = b;
    if (one->grown != other->grown)
        return one->grown > other->grown ? -1 : 1;
    if (one->bytes != other->bytes)
        return one->bytes > other->bytes ? -1 : 1;
    return one->node < other->node ? -1 : one->node > other->node;
}

/* What is above a node is of no class of the same name: there it would be one with it. */
static struct g2h_error *gather_classes(const struct report *report, struct classes *classes)
{
    for (uint32_t i = 0; i < report->merged.nodes.count; i++) {
        const struct merged_node *node = node_of(report, i);
        uint32_t number = (uint32_t)classes->list.count;
        if (node->kind != MERGED_CLASS)
            continue;
        TRY_MEMORY(map_put(&classes->by_name, node->name, number, &number));
        if (number == classes->list.count)
            TRY_MEMORY(vector_push(&classes->list, ((struct class_row){.node = i})));
        struct class_row *row = &classes->list.data[number];
        row->count += node->count;
        row->bytes += node->bytes;
        row->retained += node->retained;
        row->grown += report->base ? report->growth.data[i].bytes : 0;
    }
    vector_sort(&classes->list, compare_classes);
    return NULL;
}

static void classes_deinit(struct classes *classes)
{
    free(classes->list.data);
    map_deinit(&classes->by_name);
}

static struct g2h_error *put_classes(const struct report *report)
{
    _cleanup_(classes_deinit) struct classes classes = {0};
    static const struct table_column columns[] = {{"CLASSES", false},
                                                  {"objects", true},
                                                  {"bytes", true},
                                                  {"retained", true},
                                                  {"grown", true}}; /* with a base */
    struct table table;
    TRY(gather_classes(report, &classes));
    table_init(&table, report->out, columns, report->base ? 5 : 4, report->columns);
    for (size_t i = 0; i < classes.list.count && i < MOST_ROWS; i++) {
        const struct class_row *row = &classes.list.data[i];
        size_t size;
        const char *name = merged_name(&report->merged, row->node, &size);
        table_text(&table, name, size);
        table_count(&table, row->count);
        table_size(&table, row->bytes);
        table_size(&table, row->retained);
        if (report->base)
            table_growth(&table, row->grown, true);
    }
    struct g2h_error *error = table_end(&table);
    if (!error && classes.list.count > MOST_ROWS) {
        uint64_t bytes = 0;
        for (size_t i = MOST_ROWS; i < classes.list.count; i++)
            bytes += classes.list.data[i].bytes;
        text_printf(report->out, "  ");
        text_append_grouped(report->out, classes.list.count - MOST_ROWS);
        text_printf(report->out, " more, ");
        table_bytes(report->out, bytes);
        text_printf(report->out, "\n");
    }
    table_deinit(&table);
    return error;
}

/* ---- the tree ---- */

struct tree {
    const struct report *report;
    uint64_t least; /* bytes that a line has */
    size_t lines;
};

/* Columns before the names. */
enum { OF_BYTES = 9, OF_PERCENT = 8, OF_COUNT = 11 };

static void put_branch(const struct report *report, uint32_t node, size_t depth)
{
    const struct merged_node *of = node_of(report, node);
    const struct growth *growth = report->base ? &report->growth.data[node] : NULL;
    struct text count = {0}, *out = report->out;
    const bool has_count =
        of->kind == MERGED_CLASS && (growth ? growth->count != 0 : of->count > 1);
    text_printf(out, "  ");
    if (growth && growth->retained < 0) {
        table_pad(out, OF_BYTES - 1);
        text_printf(out, "-");
    } else {
        table_right(out, growth ? (uint64_t)growth->retained : of->retained, growth != NULL,
                    OF_BYTES);
    }
    text_printf(out, " %4.0f %% ", table_percent(of->retained, report->total));
    if (has_count && growth)
        table_change(&count, growth->count, false);
    else if (has_count)
        text_append_grouped(&count, of->count);
    table_pad(out, count.size < OF_COUNT ? OF_COUNT - count.size : 0);
    text_append(out, count.data, count.size);
    out->failed |= count.failed;
    text_deinit(&count);
    table_pad(out, 2 + 2 * depth);
    size_t size;
    const char *name = merged_name(&report->merged, node, &size);
    const size_t used = 2 + OF_BYTES + OF_PERCENT + OF_COUNT + 2 + 2 * depth;
    table_clip(out, name, size,
               report->columns > used + LEAST_NAME ? report->columns - used : LEAST_NAME);
    text_printf(out, "\n");
}

static struct g2h_error *put_below(struct tree *tree, uint32_t node, size_t depth)
{
    const struct report *report = tree->report;
    ranking children = {0};
    struct g2h_error *error = NULL;
    for (uint32_t i = node_of(report, node)->child; i != MERGED_NONE && !error;
         i = node_of(report, i)->sibling)
        if (weight_of(report, i) >= tree->least &&
            !vector_push(&children, ((struct ranked){weight_of(report, i), i})))
            error = &error_no_memory;
    vector_sort(&children, compare_ranks);
    for (size_t i = 0; !error && i < children.count && i < MOST_CHILDREN; i++) {
        if (tree->lines++ >= MOST_LINES)
            break;
        put_branch(report, children.data[i].node, depth);
        if (depth + 1 < MOST_DEPTH)
            error = put_below(tree, children.data[i].node, depth + 1);
    }
    free(children.data);
    return error;
}

static struct g2h_error *put_tree(const struct report *report)
{
    enum { OF_ALL = 50, LEAST = 4096 };
    const uint32_t gc_roots = find_kind(report, G2H_NODE_GC_ROOTS);
    const uint32_t root = gc_roots == MERGED_NONE ? 0 : gc_roots;
    const uint64_t least = weight_of(report, root) / OF_ALL;
    struct tree tree = {.report = report, .least = report->base && least < LEAST ? LEAST : least};
    text_printf(report->out,
                "\n%s   tree of dominators, from 2 %%; what is of one class below one node is one "
                "line\n",
                report->base ? "WHERE IT GREW" : "WHAT HOLDS WHAT");
    return put_below(&tree, root, 0);
}

/* ---- all of it ---- */

static struct g2h_error *put_report(struct report *report, const char *name)
{
    const uint32_t garbage = find_kind(report, G2H_NODE_UNREACHABLE);
    report->total = node_of(report, 0)->retained;
    report->garbage = garbage == MERGED_NONE ? 0 : node_of(report, garbage)->retained;
    report->reachable = report->total - report->garbage;
    if (report->base)
        TRY(growth_find(report->base, &report->merged, &report->growth));
    put_totals(report, name);
    TRY(put_suspects(report));
    TRY(put_goroutines(report));
    TRY(put_classes(report));
    return put_tree(report);
}

static void report_deinit(struct report *report)
{
    merged_deinit(&report->merged);
    free(report->growth.data);
}

static struct g2h_error *produce(void *context, size_t task, unsigned worker,
                                 struct worker_buffer *buffer)
{
    const struct text *text = context;
    char *bytes = worker_buffer_reserve(buffer, text->size);
    (void)task, (void)worker;
    TRY_MEMORY(bytes);
    memcpy(bytes, text->data, text->size);
    buffer->size += text->size;
    return NULL;
}

struct g2h_error *g2h_write_report(const struct g2h_view *view,
                                   const struct g2h_dominators *dominators,
                                   const struct g2h_output_options *options)
{
    enum { USUAL = 100, LEAST = 60, MOST = 400 };
    _cleanup_(text_deinit) struct text text = {0};
    _cleanup_(report_deinit) struct report report = {
        .view = view, .dominators = dominators, .out = &text, .base = options->base};
    const unsigned columns = options->columns > 0 ? options->columns : USUAL;
    report.columns = columns < LEAST ? LEAST : columns > MOST ? MOST : columns;
    TRY(merged_make(view, dominators, &report.merged));
    TRY(put_report(&report, options->source ? options->source : ""));
    TRY_MEMORY(!text.failed);
    return sink_run(options, 1, 1, produce, &text);
}
