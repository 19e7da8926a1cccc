/* who: the suspects as text; see sections.h. */
#include <inttypes.h>
#include <string.h>

#include "base/scope.h"
#include "output/report/allocated.h"
#include "output/report/example.h"
#include "output/report/sections.h"
#include "output/report/suspects.h"
#include "output/report/way.h"

enum { MOST_SUSPECTS = 3, MOST_PARTS = 4 /* parts that "each" of a suspect lists */ };

/* Puts the size of one object and its parts: "320 B = 24 B + main.Session 152 B + chan *main.Bid
 * 144 B". */
static struct g2h_error *put_each(const struct report *report, const struct suspect *suspect)
{
    const struct merged_node *node = report_node(report, suspect->item);
    const bool is_tree = suspect->count != node->count; /* parts of these are parts of others */
    struct page *page = report->page;
    _cleanup_(report_free_ranking) ranking parts = {0};
    if (suspect->count < 2)
        return NULL;
    TRY(report_rank_children(report, suspect->item, &parts));
    page_open(page, "each");
    PAGE_PUT(page, "      each        %", page_bytes("retained", node->retained / suspect->count));
    if (suspect->own < node->retained)
        PAGE_PUT(page, is_tree ? " with % of its own" : " = %",
                 page_bytes("own", suspect->own / suspect->count));
    page_open_list(page, "parts");
    for (size_t i = 0; i < parts.count && i < MOST_PARTS && !is_tree; i++) {
        const struct merged_node *part = report_node(report, parts.data[i].node);
        if (part->retained < node->retained / 50)
            break;
        page_open(page, NULL);
        PAGE_PUT(page, " + % %", report_name(report, "class", parts.data[i].node),
                 page_bytes("bytes", part->retained / suspect->count));
        page_close(page);
    }
    page_close(page);
    page_close(page);
    page_say(page, "\n");
    return NULL;
}

/* Returns the node of merged that names those who hold an item together, or MERGED_NONE if the item
 * is not below such a node. */
static uint32_t sharers_of(const struct report *report, uint32_t item)
{
    uint32_t variable = MERGED_NONE;
    for (uint32_t i = item; i != MERGED_NONE; i = report_node(report, i)->parent) {
        if (report_node(report, i)->kind == MERGED_VARIABLE)
            variable = i;
        if (report_is_kind(report, i, G2H_NODE_SEVERAL))
            return variable;
    }
    return MERGED_NONE;
}

/* Appends what a holder is called: the way to it, or else its own name, and its address if it has
 * one. */
static struct g2h_error *append_holder(const struct report *report, uint32_t holder,
                                       struct text *text)
{
    struct g2h_node node;
    uint32_t end;
    size_t size;
    TRY(way_append(report, holder, text, &end));
    if (text->size > 0 && end == holder)
        return NULL;
    g2h_view_brief(report->view, holder, &node);
    const char *name = g2h_view_name(report->view, node.name, &size);
    text->size = 0;
    text_append(text, name, size);
    if (node.object != UINT32_MAX)
        text_printf(text, " at 0x%" PRIx64, node.address);
    return NULL;
}

/* Puts the address of an object, for machines. A node that is no object has none. */
static void put_address(const struct report *report, uint32_t number)
{
    struct g2h_node node;
    g2h_view_brief(report->view, number, &node);
    if (node.object != UINT32_MAX)
        PAGE_DATA(report->page, page_address("address", node.address));
}

/* Puts the holder that alone has most of a suspect: "main.rooms["room137"].last alone has 50,010 of
 * the 52,000, 3.20 MB (96 %)". */
static struct g2h_error *put_most(const struct report *report, const struct suspect *suspect,
                                  const struct example *example)
{
    _cleanup_(text_deinit) struct text way = {0};
    struct page *page = report->page;
    if (example->most == UINT32_MAX)
        return NULL;
    TRY(append_holder(report, example->most, &way));
    TRY_MEMORY(!way.failed);
    page_open(page, "most");
    PAGE_PUT(page, "      mostly      % alone has ",
             page_clipped(page_made("held_by", &way), 2 * page->columns));
    if (example->count > 1)
        PAGE_PUT(page, "% of the %, ", page_count("count", example->count),
                 page_count(NULL, suspect->is_goroutines ? report_members(report, suspect->item)
                                                         : suspect->count));
    else
        PAGE_DATA(page, page_count("count", example->count));
    PAGE_PUT(page, "% (%)\n", page_bytes("retained", example->retained),
             page_percent(example->retained, report_node(report, suspect->item)->retained));
    PAGE_DATA(page, page_count("holders", example->holders));
    put_address(report, example->most);
    page_close(page);
    return NULL;
}

/* Puts how many timers there are in all of the runtime's heaps of timers, if a suspect is only
 * those of some of them. */
static void put_timers(const struct report *report, const struct suspect *suspect)
{
    const struct merged *merged = &report->merged;
    const struct merged_node *item = report_node(report, suspect->item);
    uint64_t count = 0, retained = 0, heaps = 0;
    if (report->base || !suspects_are_timers(merged, suspect->holder))
        return;
    for (uint32_t i = 0; i < merged->nodes.count; i++) {
        const struct merged_node *node = report_node(report, i);
        if (node->kind != item->kind || node->name != item->name ||
            !suspects_are_timers(merged, node->parent))
            continue;
        count += node->count;
        retained += node->retained;
        heaps += report_node(report, node->parent)->count;
    }
    if (count == item->count)
        return;
    page_open(report->page, "timers");
    PAGE_PUT(report->page, "      in all      % of these, % (%), in % heaps, one per processor\n",
             page_count("count", count), page_bytes("retained", retained),
             page_percent(retained, report->reachable), page_count("heaps", heaps));
    page_close(report->page);
}

static struct g2h_error *put_holders(const struct report *report, const struct suspect *suspect)
{
    _cleanup_(text_deinit) struct text way = {0};
    struct example example;
    uint32_t end;
    const uint32_t sharers = sharers_of(report, suspect->item);
    TRY(example_find(report, suspect->item, &example));
    TRY(way_append(report, example.node, &way, &end));
    TRY_MEMORY(!way.failed);
    if (way.size > 0)
        PAGE_PUT(report->page, "      held by     %\n",
                 page_clipped(page_made("held_by", &way), 2 * report->page->columns));
    put_address(report, end);
    TRY(report_put_finalized(report, end, "      "));
    if (sharers != MERGED_NONE)
        PAGE_PUT(report->page, "      shared by   %\n", report_name(report, "shared_by", sharers));
    return suspects_are_timers(&report->merged, suspect->holder)
               ? NULL
               : put_most(report, suspect, &example);
}

static struct g2h_error *put_allocator(const struct report *report, uint32_t item)
{
    struct allocator allocator;
    if (!allocated_by(&report->allocated, report_node(report, item)->name, item, &allocator))
        return NULL;
    return allocated_put(report->page, &allocator, true);
}

/* Puts a line with the name of an edge's target, see report_append_target(), and nothing if there
 * is none. template has the words before the name. */
static struct g2h_error *put_target(const struct report *report, const char *template,
                                    const char *key, uint32_t node, const char *label,
                                    enum g2h_node_kind kind)
{
    _cleanup_(text_deinit) struct text text = {0};
    struct g2h_edges *edges;
    TRY(g2h_edges_create(report->view, &edges));
    report_append_target(report, edges, node, label, kind, &text);
    g2h_edges_destroy(edges);
    TRY_MEMORY(!text.failed);
    if (text.size > 0)
        PAGE_PUT(report->page, template, page_made(key, &text));
    return NULL;
}

/* Adds the variables below a node, those that retain most first. */
static struct g2h_error *rank_variables(const struct report *report, uint32_t below, ranking *ret)
{
    const size_t count = report->merged.nodes.count;
    _cleanup_free_ bool *is_below = calloc(count, sizeof(*is_below));
    TRY_MEMORY(is_below);
    merged_mark_below(&report->merged, below, is_below);
    for (uint32_t i = below + 1; i < count; i++) {
        const struct merged_node *node = report_node(report, i);
        if (is_below[i] && node->kind == MERGED_VARIABLE)
            TRY_MEMORY(vector_push(ret, ((struct ranked){node->retained, i})));
    }
    vector_sort(ret, report_compare_ranks);
    return NULL;
}

static void put_local(const struct report *report, uint32_t node, uint64_t each, bool is_first)
{
    const struct merged_node *local = report_node(report, node);
    page_open(report->page, NULL);
    page_say(report->page, is_first ? "      hold        " : "                  ");
    PAGE_PUT(report->page, "% of %", report_name(report, "variable", node),
             report_name(report, "of", local->parent));
    if (local->child != MERGED_NONE)
        PAGE_PUT(report->page, ": %", report_name(report, "class", local->child));
    PAGE_PUT(report->page, ", %", page_bytes("each", each));
    page_close(report->page);
}

static struct g2h_error *put_locals(const struct report *report, uint32_t place)
{
    _cleanup_(report_free_ranking) ranking locals = {0};
    TRY(rank_variables(report, place, &locals));
    const uint64_t goroutines = report_members(report, place),
                   many = goroutines > 0 ? goroutines : 1;
    page_open_list(report->page, "hold");
    for (size_t i = 0; i < locals.count && i < 2; i++) {
        const struct merged_node *local = report_node(report, locals.data[i].node);
        if (local->retained < report_node(report, place)->retained / 50)
            break;
        put_local(report, locals.data[i].node, local->retained / many, i == 0);
        page_say(report->page, many > 1 ? " each\n" : "\n");
    }
    page_close(report->page);
    return NULL;
}

/* Puts how large the stacks of goroutines are. */
static void put_stacks(const struct report *report, uint32_t place)
{
    const uint64_t goroutines = report_members(report, place);
    uint64_t bytes = 0;
    for (uint32_t i = report_node(report, place)->child; i != MERGED_NONE;
         i = report_node(report, i)->sibling)
        for (uint32_t j = report_node(report, i)->child; j != MERGED_NONE;
             j = report_node(report, j)->sibling)
            bytes +=
                report_is_kind(report, j, G2H_NODE_STACK) ? report_node(report, j)->retained : 0;
    const uint64_t retained = report_node(report, place)->retained;
    if (bytes > 0 && goroutines > 0)
        PAGE_PUT(report->page,
                 bytes < retained / 20 ? NULL : "      stack       % each, % of this\n",
                 page_bytes("stack", bytes / goroutines), page_percent(bytes, retained));
}

static struct g2h_error *put_goroutines_suspect(const struct report *report,
                                                const struct suspect *suspect)
{
    const uint32_t place = suspect->item;
    struct example example;
    TRY(example_find(report, place, &example));
    const uint32_t goroutine = example.node;
    TRY(put_target(report, "      wait on     %\n", "wait_on", goroutine, "waiting on",
                   G2H_NODE_ROOT));
    TRY(put_target(report, "      started by  %\n", "started_by", goroutine, NULL,
                   G2H_NODE_CREATION_SITE));
    TRY(put_locals(report, place));
    put_stacks(report, place);
    TRY(report_put_frames(report, goroutine));
    return put_most(report, suspect, &example);
}

/* Puts whose stack it is. */
static struct g2h_error *put_stack_suspect(const struct report *report, uint32_t stack)
{
    const uint32_t goroutine = report_node(report, report_node(report, stack)->parent)->example;
    TRY(put_target(report, "      started by  %\n", "started_by", goroutine, NULL,
                   G2H_NODE_CREATION_SITE));
    return report_put_frames(report, goroutine);
}

/* Puts how many of the objects of class runtime.g belong to goroutines that have ended, if most of
 * them do: what those of others hold, like labels of the profiler, is in use. */
static struct g2h_error *put_ended(const struct report *report, uint32_t item)
{
    static const char g[] = "runtime.g";
    struct ended ended;
    size_t size;
    const char *name = merged_name(&report->merged, item, &size);
    if (size != sizeof(g) - 1 || memcmp(name, g, size) != 0)
        return NULL;
    TRY(report_find_ended(report, &ended));
    if (ended.count < (report_node(report, item)->count + 1) / 2)
        return NULL;
    PAGE_PUT(
        report->page,
        "      meaning     % goroutines have ended: a burst is over, the runtime keeps this for "
        "reuse\n",
        page_count("ended", ended.count));
    return NULL;
}

/* Returns whether a suspect is a group of goroutines or of deferred calls. */
static bool is_group(const struct suspect *suspect)
{
    return suspect->is_goroutines || suspect->is_deferred;
}

/* Returns by how many objects, goroutines or calls a suspect has grown. */
static int64_t count_grown(const struct report *report, const struct suspect *suspect)
{
    return is_group(suspect) ? report_members_grown(report, suspect->item)
                             : (int64_t)suspect->grown;
}

/* Puts what a suspect is: "2,000 main.Watcher", or "+1,600 main.Watcher, now 2,000". */
static void put_item(const struct report *report, const struct suspect *suspect)
{
    const struct page_field name = page_strong(report_name(report, "item", suspect->item)),
                            count = page_count("count", is_group(suspect)
                                                            ? report_members(report, suspect->item)
                                                            : suspect->count);
    if (report->base)
        PAGE_PUT(report->page, "% %, now %",
                 page_change("count_grown", count_grown(report, suspect)), name, count);
    else
        PAGE_PUT(report->page, "% %", count, name);
    PAGE_DATA(report->page, page_flag("is_goroutines", suspect->is_goroutines),
              page_flag("is_deferred", suspect->is_deferred));
}

/* Puts how much of a suspect takes memory, if that is far less than what it retains. */
static void put_resident(const struct report *report, const struct suspect *suspect)
{
    const struct merged_node *node = report_node(report, suspect->item);
    const uint64_t resident = node->retained - node->untouched;
    if (resident < node->retained / 100)
        page_say(report->page, " (not resident)");
    else if (report_is_untouched(node->untouched, node->retained))
        PAGE_PUT(report->page, " (% resident)", page_bytes(NULL, resident));
    PAGE_DATA(report->page, page_bytes("not_resident", node->untouched));
}

/* Puts what holds a suspect: ", in 4 × map[uint64]*main.Watcher". */
static void put_holder(const struct report *report, uint32_t node)
{
    const struct merged_node *holder = report_node(report, node);
    page_open(report->page, "in");
    if (holder->count > 1)
        PAGE_PUT(report->page, ", in % × %", page_count("count", holder->count),
                 report_name(report, "class", node));
    else
        PAGE_PUT(report->page, ", in %", report_name(report, "class", node),
                 page_count("count", holder->count));
    if (suspects_are_timers(&report->merged, node))
        page_say(report->page, ", the runtime's timers");
    page_close(report->page);
}

static struct g2h_error *put_suspect(const struct report *report, const struct suspect *suspect,
                                     size_t number)
{
    struct page *page = report->page;
    const struct page_field bytes =
        report->base ? page_bytes_change("retained_grown", (int64_t)suspect->bytes)
                     : page_bytes("retained", suspect->bytes);
    PAGE_PUT(page, "  %  %  % of the heap   ", page_count(NULL, number), page_wide(bytes, 9),
             page_wide(page_percent(suspect->bytes, report->reachable), 5));
    if (report->base)
        PAGE_DATA(page, page_bytes("retained", report_node(report, suspect->item)->retained));
    put_item(report, suspect);
    put_resident(report, suspect);
    if (suspect->holder != MERGED_NONE)
        put_holder(report, suspect->holder);
    page_say(page, "\n");
    if (suspect->is_goroutines)
        return put_goroutines_suspect(report, suspect);
    if (suspect->is_deferred)
        return report_put_deferred(report, suspect->item);
    if (report_is_kind(report, suspect->item, G2H_NODE_STACK))
        return put_stack_suspect(report, suspect->item);
    put_timers(report, suspect);
    TRY(put_ended(report, suspect->item));
    TRY(put_each(report, suspect));
    TRY(report_put_keys(report, suspect->item));
    TRY(put_holders(report, suspect));
    TRY(report_put_stale(report, suspect->item, suspect->count));
    return put_allocator(report, suspect->item);
}

static struct g2h_error *put_suspects(const struct report *report, const suspect_vector *suspects)
{
    struct page *page = report->page;
    bool is_outside;
    page_open_list(page, "suspects");
    TRY(report_put_outside(report, &is_outside));
    for (size_t i = 0; i < suspects->count && i < MOST_SUSPECTS; i++) {
        page_open(page, NULL);
        TRY(put_suspect(report, &suspects->data[i], is_outside + i + 1));
        page_close(page);
    }
    page_close(page);
    if (suspects->count == 0 && !is_outside)
        page_say(page, report->base ? "  Nothing grew by much.\n"
                                    : "  Nothing that holds 5 % of the heap stands out.\n");
    if (suspects->count > MOST_SUSPECTS)
        PAGE_PUT(page,
                 report->base ? "     % more grew by much\n"
                              : "     % more of % and above: see the tree below\n",
                 page_count("more_suspects", suspects->count - MOST_SUSPECTS),
                 page_words(NULL, "5 %"));
    return NULL;
}

static void free_suspects(suspect_vector *suspects)
{
    free(suspects->data);
}

struct g2h_error *report_put_suspects(const struct report *report)
{
    _cleanup_(free_suspects) suspect_vector suspects = {0};
    TRY(suspects_find(&report->merged, report->reachable, report->untouched, report->base,
                      report->base ? &report->growth : NULL, &suspects));
    page_head(report->page, report->base ? "WHAT GREW, AND WHO HOLDS IT" : "WHO HOLDS THE MEMORY");
    page_say(report->page, "\n");
    return put_suspects(report, &suspects);
}
