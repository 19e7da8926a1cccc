/* deferred: what the calls that a function has deferred hold; see sections.h. */
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "output/report/sections.h"

/* The objects of a class that deferred calls hold. */
struct held {
    uint32_t node; /* of merged: some of these objects */
    uint64_t count, retained;
};

struct holding {
    const struct report *report;
    struct map by_name; /* number of a name → index in list */
    VECTOR(struct held) list;
};

/* Returns whether a node is how the runtime keeps a call: its record, the head of a list of records
 * (atomic.Pointer[runtime._defer]), or the closure that is called. What such a node holds belongs
 * to the program. */
static bool is_of_call(const struct report *report, uint32_t node)
{
    size_t size;
    const char *name = merged_name(&report->merged, node, &size);
    return report_node(report, node)->kind != MERGED_CLASS ||
           memmem(name, size, "runtime._defer", 14) != NULL ||
           (size > 5 && memcmp(name, "func ", 5) == 0);
}

static bool add(struct holding *holding, uint32_t node)
{
    const struct merged_node *of = report_node(holding->report, node);
    const uint32_t number = (uint32_t)holding->list.count;
    uint32_t at;
    if (!map_put(&holding->by_name, of->name, number, &at) ||
        (at == number && !vector_push(&holding->list, ((struct held){.node = node}))))
        return false;
    holding->list.data[at].count += of->count;
    holding->list.data[at].retained += of->retained;
    return true;
}

/* Collects what the calls below a node hold. Parents come before their children, so one pass finds
 * all nodes below. */
static struct g2h_error *collect(struct holding *holding, uint32_t calls)
{
    const struct report *report = holding->report;
    const size_t count = report->merged.nodes.count;
    _cleanup_free_ bool *is_passed = calloc(count, sizeof(*is_passed));
    TRY_MEMORY(is_passed);
    is_passed[calls] = true;
    for (uint32_t i = calls + 1; i < count; i++) {
        const uint32_t parent = report_node(report, i)->parent;
        if (parent == MERGED_NONE || !is_passed[parent])
            continue;
        is_passed[i] = is_of_call(report, i);
        if (!is_passed[i])
            TRY_MEMORY(add(holding, i));
    }
    return NULL;
}

static int compare(const void *a, const void *b)
{
    const struct held *one = a, *other = b;
    if (one->retained != other->retained)
        return one->retained > other->retained ? -1 : 1;
    return one->node < other->node ? -1 : one->node > other->node;
}

static void put_list(const struct holding *holding, uint64_t least)
{
    enum { MOST = 6 };
    struct page *page = holding->report->page;
    page_open_list(page, "hold");
    for (size_t i = 0; i < holding->list.count && i < MOST; i++) {
        const struct held *held = &holding->list.data[i];
        if (held->retained < least)
            break;
        page_open(page, NULL);
        page_say(page, i == 0 ? "      hold        " : ", ");
        PAGE_PUT(page, "% % %", page_count("count", held->count),
                 report_name(holding->report, "class", held->node),
                 page_bytes("retained", held->retained));
        page_close(page);
    }
    page_close(page);
    if (holding->list.count > 0)
        page_say(page, "\n");
}

struct g2h_error *report_put_deferred(const struct report *report, uint32_t node)
{
    struct holding holding = {.report = report};
    struct g2h_error *error = collect(&holding, node);
    if (!error) {
        vector_sort(&holding.list, compare);
        put_list(&holding, report_node(report, node)->retained / 50);
    }
    map_deinit(&holding.by_name);
    free(holding.list.data);
    return error;
}
