/* strings: texts that are there more than once; see sections.h. */
#include "base/scope.h"
#include "output/report/sections.h"

enum {
    MOST_TEXTS = 5,
    LONGEST = 60, /* characters that are shown */
    NODES_AHEAD = 32,
    TEXTS_AHEAD = 16
};

/* Texts that are equal. That two others have one hash is too unlikely to happen. */
struct equal {
    uint32_t node; /* the first one */
    uint32_t count;
    uint64_t bytes; /* of all */
};

struct strings {
    VECTOR(uint64_t) hashes; /* of all texts, */
    VECTOR(uint32_t) nodes;  /* and their nodes */
    VECTOR(struct equal) list;
    struct map by_hash;
    uint64_t count, bytes, different, wasted; /* wasted: all but one of those that are equal */
};

static uint64_t waste_of(const struct equal *equal)
{
    return equal->bytes - equal->bytes / equal->count;
}

static int compare(const void *a, const void *b)
{
    const struct equal *one = a, *other = b;
    if (waste_of(one) != waste_of(other))
        return waste_of(one) > waste_of(other) ? -1 : 1;
    return one->node < other->node ? -1 : one->node > other->node;
}

static struct g2h_error *hash_all(const struct g2h_view *view, struct g2h_text *text,
                                  struct strings *strings)
{
    const uint32_t end = g2h_view_node_count(view);
    for (uint32_t i = g2h_view_next_text(view, 0, end); i < end;
         i = g2h_view_next_text(view, i + 1, end)) {
        struct g2h_node node;
        size_t size;
        g2h_view_prefetch(view, i + NODES_AHEAD, G2H_SOON_NODE);
        g2h_view_prefetch(view, i + TEXTS_AHEAD, G2H_SOON_KEYS);
        g2h_view_node(view, i, &node);
        const char *data = g2h_view_text(view, i, text, &size);
        TRY_MEMORY(!text->failed && vector_push(&strings->hashes, map_hash_text(data, size)) &&
                   vector_push(&strings->nodes, i));
        strings->bytes += node.size;
    }
    strings->count = strings->nodes.count;
    return NULL;
}

/* Most texts are there once: what no other one has the place of in a small table is. Gives the
 * number of times, up to 2, by place; *ret_mask tells the place of a hash. */
static uint8_t *find_places(const struct strings *strings, size_t *ret_mask)
{
    size_t places = 64;
    while (places / 4 < strings->hashes.count)
        places *= 2;
    uint8_t *times = calloc(places, 1);
    for (size_t i = 0; times && i < strings->hashes.count; i++) {
        uint8_t *place = &times[strings->hashes.data[i] & (places - 1)];
        *place = *place == 0 ? 1 : 2;
    }
    *ret_mask = places - 1;
    return times;
}

static struct g2h_error *add(const struct g2h_view *view, struct strings *strings, size_t index)
{
    struct g2h_node node;
    uint32_t number = (uint32_t)strings->list.count;
    TRY_MEMORY(map_put(&strings->by_hash, strings->hashes.data[index], number, &number));
    if (number == strings->list.count) {
        TRY_MEMORY(
            vector_push(&strings->list, ((struct equal){.node = strings->nodes.data[index]})));
        strings->different++;
    }
    g2h_view_node(view, strings->nodes.data[index], &node);
    strings->list.data[number].count++;
    strings->list.data[number].bytes += node.size;
    return NULL;
}

static struct g2h_error *gather(const struct g2h_view *view, struct g2h_text *text,
                                struct strings *strings)
{
    size_t mask;
    TRY(hash_all(view, text, strings));
    _cleanup_free_ uint8_t *times = find_places(strings, &mask);
    TRY_MEMORY(times);
    for (size_t i = 0; i < strings->hashes.count; i++)
        if (times[strings->hashes.data[i] & mask] > 1)
            TRY(add(view, strings, i));
        else
            strings->different++;
    for (size_t i = 0; i < strings->list.count; i++)
        strings->wasted += waste_of(&strings->list.data[i]);
    vector_sort(&strings->list, compare);
    return NULL;
}

/* "48.0 kB    2,001 × "Go-http-client/1.1"" */
static void put_text(const struct report *report, struct g2h_text *text, const struct equal *equal)
{
    size_t size;
    const char *data = g2h_view_text(report->view, equal->node, text, &size);
    page_open(report->page, NULL);
    PAGE_PUT(report->page, "  %% × \"%\"\n", page_wide(page_bytes("wasted", waste_of(equal)), 9),
             page_wide(page_count("count", equal->count), 9),
             page_clipped(page_text("text", data, size), LONGEST));
    page_close(report->page);
}

static void put(const struct report *report, struct g2h_text *text, const struct strings *strings)
{
    struct page *page = report->page;
    if (strings->count == 0)
        return;
    page_open(page, "strings");
    page_head(page, "STRINGS");
    PAGE_PUT(page, "   % of %, % different; equal ones waste % (%)\n",
             page_count("count", strings->count), page_bytes("bytes", strings->bytes),
             page_count("different", strings->different), page_bytes("wasted", strings->wasted),
             page_tenths(page_percent(strings->wasted, report->reachable)));
    page_open_list(page, "most");
    for (size_t i = 0; i < strings->list.count && i < MOST_TEXTS; i++)
        if (strings->list.data[i].count > 1)
            put_text(report, text, &strings->list.data[i]);
    page_close(page);
    page_close(page);
}

static void strings_deinit(struct strings *strings)
{
    free(strings->hashes.data);
    free(strings->nodes.data);
    free(strings->list.data);
    map_deinit(&strings->by_hash);
}

struct g2h_error *report_put_strings(const struct report *report)
{
    _cleanup_(strings_deinit) struct strings strings = {.count = 0};
    _cleanup_(g2h_text_deinit) struct g2h_text text = {0};
    TRY(gather(report->view, &text, &strings));
    put(report, &text, &strings);
    TRY_MEMORY(!text.failed);
    return NULL;
}
