/*
 * memory_use: the memory of the process besides the objects of the heap; see memory_use.h. Two
 * parts: memory_use reads the runtime's MemStats and the parts of RSS, and decides whether most
 * memory is not objects; outside_holders finds, for such a part (as C memory or mapped files),
 * which fields and variables point into its mappings. A mapping is a node of the view, so that part
 * goes over all edges to these nodes.
 */
#include "findings/memory_use.h"

#include <string.h>

#include <go2heapsnapshot/heap.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/strings.h"
#include "findings/path.h"

/* ==== memory_use ==== */

enum {
    OUTSIDE_OF_RSS = 50, /* percent of RSS that all but objects has at least to be a suspect; */
    LARGE_PART = 20,     /* and its largest part */
    LEAST_OUTSIDE = 16000000, /* each process has some MB of programs and of the runtime */
};

/* Returns whether RSS and its parts are known. */
bool memory_has_resident(const struct findings *findings)
{
    return findings->memory && findings->memory->resident > 0;
}

/* Returns the runtime's numbers of memory, or NULL. Numbers that contradict each other are
 * rejected, too: the differences below must not wrap around. */
const uint64_t *memory_stats(const struct findings *findings)
{
    const struct g2h_memstats *memstats = g2h_heap_memstats(g2h_view_heap(findings->view));
    const uint64_t *numbers = memstats ? memstats->numbers : NULL;
    return numbers && numbers[G2H_MEMSTATS_SYS] > 0 &&
                   numbers[G2H_MEMSTATS_HEAP_SYS] >= numbers[G2H_MEMSTATS_HEAP_RELEASED]
               ? numbers
               : NULL;
}

/* Divides the runtime's memory by its statistics: objects, unused heap, stacks, the rest. What the
 * runtime itself uses is the rest: it has many numbers of its own, which users do not need one by
 * one. */
struct memory_use memory_use_of(const uint64_t *stats)
{
    const uint64_t released = stats[G2H_MEMSTATS_HEAP_RELEASED];
    const uint64_t held = stats[G2H_MEMSTATS_SYS] - released;
    const uint64_t objects = stats[G2H_MEMSTATS_HEAP_ALLOC];
    const uint64_t heap = stats[G2H_MEMSTATS_HEAP_SYS] - released;
    const uint64_t unused = heap > objects ? heap - objects : 0;
    const uint64_t stacks = stats[G2H_MEMSTATS_STACK_SYS];
    const uint64_t known = objects + unused + stacks;
    return (struct memory_use){held, objects, unused, stacks, held > known ? held - known : 0};
}

/* Returns how many percent of whole some bytes are. */
uint64_t memory_percent(uint64_t bytes, uint64_t whole)
{
    return whole / 100 > 0 ? bytes / (whole / 100) : 0;
}

/* Returns the bytes of a part of the resident memory that no node has. Stacks of goroutines are
 * nodes of the graph, and count for suspects that hold them. */
uint64_t memory_beside(const struct findings *findings, enum g2h_memory_part part)
{
    assert(memory_has_resident(findings) && part < G2H_MEMORY_PARTS);
    const uint64_t bytes = findings->memory->parts[part],
                   known = g2h_view_account(findings->view)->stack_bytes;
    if (part != G2H_MEMORY_STACKS)
        return bytes;
    return bytes > known ? bytes - known : 0;
}

/* Returns the largest part of RSS other than objects and program files. */
static enum g2h_memory_part largest_other_part(const struct findings *findings)
{
    enum g2h_memory_part most = G2H_MEMORY_SLOTS;
    for (int i = G2H_MEMORY_SLOTS; i < G2H_MEMORY_PARTS; i++)
        if (i != G2H_MEMORY_OBJECTS && i != G2H_MEMORY_PROGRAM &&
            memory_beside(findings, (enum g2h_memory_part)i) > memory_beside(findings, most))
            most = (enum g2h_memory_part)i;
    return most;
}

/* Returns whether most of the memory is outside of the heap, and that is to be reported: not with a
 * base, as then the growth is. */
bool memory_is_outside(const struct findings *findings, enum g2h_memory_part *ret)
{
    return !findings->base && memory_is_mostly_outside(findings, ret);
}

/* Returns whether most of the resident memory is outside of the heap. The thresholds keep small
 * processes out, which consist of the program file and the runtime. */
bool memory_is_mostly_outside(const struct findings *findings, enum g2h_memory_part *ret)
{
    const struct g2h_memory *memory = findings->memory;
    if (!memory_has_resident(findings))
        return false;
    *ret = largest_other_part(findings);
    const uint64_t bytes = memory_beside(findings, *ret),
                   stacks = memory->parts[G2H_MEMORY_STACKS] -
                            memory_beside(findings, G2H_MEMORY_STACKS),
                   outside = memory->resident - memory->parts[G2H_MEMORY_OBJECTS] - stacks;
    return bytes >= LEAST_OUTSIDE && memory_percent(bytes, memory->resident) >= LARGE_PART &&
           memory_percent(outside, memory->resident) >= OUTSIDE_OF_RSS;
}

/* ==== outside_holders ==== */

enum { LEAST_OF_PART = 5 /* percent of the part that a holder points to */ };

struct holder {
    uint32_t number; /* string of its name */
    uint32_t object; /* the first node of this holder, if that identifies it; else UINT32_MAX */
    uint64_t bytes;
};

struct outside_search {
    const struct findings *findings;
    enum g2h_memory_part part;
    struct g2h_edges *edges;
    struct map mappings;        /* node → mapping */
    struct map known;           /* pairs of a source and a pointer's name → holder */
    struct map seen;            /* pairs of a holder and a mapping */
    struct string_pool names;   /* by holder */
    VECTOR(struct holder) list; /* until it is sorted, in the order of names */
};

static void search_deinit(struct outside_search *search)
{
    g2h_edges_destroy(search->edges);
    map_deinit(&search->mappings);
    map_deinit(&search->known);
    map_deinit(&search->seen);
    string_pool_deinit(&search->names);
    free(search->list.data);
}

/* Finds the nodes of the mappings that count as the part that is searched for. */
static struct g2h_error *find_mappings(struct outside_search *search)
{
    const struct g2h_view *view = search->findings->view;
    const struct g2h_memory *memory = search->findings->memory;
    const uint64_t synthetic = g2h_view_account(view)->first_object;
    struct g2h_node node;
    uint32_t at, number;
    for (uint32_t i = 0; i < synthetic; i++) {
        g2h_view_brief(view, i, &node);
        if (node.kind != G2H_NODE_MAPPING)
            continue;
        BISECT(at, as_u32(memory->mapping_count), memory->mappings[at].start < node.key);
        if (memory->mappings[at].part == search->part)
            TRY_MEMORY(map_put(&search->mappings, i, at, &number));
    }
    return NULL;
}

/* Appends the name of a pointer without the numbers and keys of elements: chunks[3].data becomes
 * chunks[].data. */
static void append_pointer(const struct outside_search *search, const struct g2h_edge *edge,
                           struct text *text)
{
    size_t size;
    const char *name = g2h_view_name(search->findings->view, edge->name, &size);
    bool is_inside = false;
    if (text->size > 0 && size > 0 && name[0] != '[')
        text_append_string(text, ".");
    for (size_t i = 0; i < size; i++) {
        is_inside = is_inside && name[i] != ']';
        if (!is_inside)
            text_append(text, &name[i], 1);
        is_inside = is_inside || name[i] == '[';
    }
}

/* Returns whether the name of a class identifies the owner of a field: main.T, but not []T or
 * ptr64. */
static bool outside_has_fields(const char *class, size_t size)
{
    const char *bracket = size > 0 ? memchr(class, '[', size) : NULL;
    const size_t before = bracket ? as_size(bracket - class) : size;
    return before > 0 && memchr(class, '.', before) != NULL;
}

/* Sets *ret to the name of what has a pointer into a mapping: the variable, of a source that is not
 * an object; otherwise the class, and, if that has fields, the field with the pointer.
 * *ret_is_element: it has none, such as an array. */
static struct g2h_error *name_holder(const struct outside_search *search,
                                     const struct g2h_node *source, const struct g2h_edge *edge,
                                     struct text *ret, bool *ret_is_element)
{
    const struct g2h_view *view = search->findings->view;
    size_t size;
    const char *class = g2h_view_name(view, source->name, &size);
    ret->size = 0;
    *ret_is_element = false;
    if (source->object == UINT32_MAX)
        return expression_append_pointer(view, search->edges, edge, ret);
    *ret_is_element = !outside_has_fields(class, size);
    text_append(ret, class, size);
    if (!*ret_is_element)
        append_pointer(search, edge, ret);
    return NULL;
}

/* Sets *ret to the holder that a pointer is in: its index in search->list, where it is added if its
 * name is new. Pointers with the same names of source and edge have the same holder, which is
 * remembered. */
static struct g2h_error *find_holder(struct outside_search *search, const struct g2h_node *source,
                                     const struct g2h_edge *edge, uint32_t *ret)
{
    _cleanup_(text_deinit) struct text name = {0};
    const uint64_t pair = pair_key(source->name, edge->name);
    bool is_element;
    *ret = map_get(&search->known, pair);
    if (*ret != MAP_NONE)
        return NULL;
    TRY(name_holder(search, source, edge, &name, &is_element));
    TRY_MEMORY(!name.failed && string_pool_intern(&search->names, name.data, name.size, ret));
    if (*ret == search->list.count)
        TRY_MEMORY(vector_push(&search->list,
                               ((struct holder){*ret, is_element ? edge->source : UINT32_MAX, 0})));
    TRY_MEMORY(map_put(&search->known, pair, *ret, ret));
    return NULL;
}

/* Adds the bytes of a mapping to the holder that points to it, unless it has them. */
static struct g2h_error *outside_add(struct outside_search *search, const struct g2h_edge *edge,
                                     uint32_t mapping)
{
    struct g2h_node source;
    uint32_t holder, number;
    g2h_view_brief(search->findings->view, edge->source, &source);
    if (source.object != UINT32_MAX && g2h_view_is_garbage(search->findings->view, source.object))
        return NULL;
    TRY(find_holder(search, &source, edge, &holder));
    const uint64_t pair = pair_key(holder, mapping);
    if (map_get(&search->seen, pair) != MAP_NONE)
        return NULL;
    TRY_MEMORY(map_put(&search->seen, pair, 0, &number));
    search->list.data[holder].bytes += search->findings->memory->mappings[mapping].resident;
    return NULL;
}

/* Goes over all edges, and counts those that lead into one of the part's mappings. */
static struct g2h_error *outside_find_holders(struct outside_search *search)
{
    const struct g2h_view *view = search->findings->view;
    _cleanup_(findings_destroy_edges) struct g2h_edges *edges = NULL;
    const uint64_t synthetic = g2h_view_account(view)->first_object;
    struct g2h_edge edge;
    TRY(g2h_edges_create(view, &edges));
    TRY(g2h_edges_create(view, &search->edges));
    g2h_edges_begin(edges, 0, UINT32_MAX);
    while (g2h_edges_next(edges, &edge)) {
        const uint32_t mapping = edge.target < synthetic && (edge.flags & G2H_EDGE_WEAK) != 0
                                     ? map_get(&search->mappings, edge.target)
                                     : MAP_NONE;
        if (mapping != MAP_NONE)
            TRY(outside_add(search, &edge, mapping));
    }
    return NULL;
}

/* Orders holders by the bytes they point to, the most first. */
static int outside_compare(const void *a, const void *b)
{
    const struct holder *one = a;
    const struct holder *other = b;
    if (one->bytes != other->bytes)
        return one->bytes < other->bytes ? 1 : -1;
    return COMPARE(one->number, other->number);
}

/* The kinds of holders that are reported, in this order. */
enum outside_told { FIELDS, ELEMENTS, LISTS, TOLD };

/* Classifies a holder by its name; TOLD: it is not reported, because it is the runtime's, or has no
 * name but an address. */
static enum outside_told outside_kind_of(const struct holder *holder, const struct text *text)
{
    const struct g2h_bytes name = bytes_at(text->data, text->size);
    if (name.size == 0 || bytes_begin(name, "runtime.") || bytes_begin(name, "0x"))
        return TOLD;
    if (bytes_begin(name, "syscall.mapper.") || bytes_begin(name, "unix.mapper."))
        return LISTS;
    return holder->object == UINT32_MAX ? FIELDS : ELEMENTS;
}

/* Makes *ret the name that is shown of a holder: the path to an array, of which the class says
 * little, or else the holder's own name. */
static struct g2h_error *make_display_name(const struct outside_search *search,
                                           const struct holder *holder, struct text *ret)
{
    size_t size;
    uint32_t end;
    const char *name = string_pool_text(&search->names, holder->number, &size);
    ret->size = 0;
    if (holder->object != UINT32_MAX)
        return path_append(search->findings->paths, holder->object, ret, &end);
    text_append(ret, name, size);
    return NULL;
}

/* Adds the holders of one kind that point to at least LEAST_OF_PART percent of the part,
 * OUTSIDE_MOST in all at most. The list is ordered: all after the first with less have less. */
static struct g2h_error *outside_report(const struct outside_search *search, enum outside_told told,
                                        struct outside_holders *ret)
{
    _cleanup_(text_deinit) struct text name = {0};
    const uint64_t least = search->findings->memory->parts[search->part] / 100 * LEAST_OF_PART;
    for (size_t i = 0; i < search->list.count && ret->count < OUTSIDE_MOST; i++) {
        const struct holder *holder = &search->list.data[i];
        if (holder->bytes < least)
            return NULL;
        const bool is_field = holder->object == UINT32_MAX;
        if ((told == FIELDS) != is_field) /* asked before the name, which takes long to make */
            continue;
        TRY(make_display_name(search, holder, &name));
        TRY_MEMORY(!name.failed);
        if (outside_kind_of(holder, &name) != told)
            continue;
        ret->list[ret->count].name = name;
        ret->list[ret->count++].bytes = holder->bytes;
        name = (struct text){0}; /* the list owns it now */
    }
    return NULL;
}

/* Finds the holders that point to most of a part of RSS: fields and variables before elements, and
 * the lists that packages keep of all their mappings only if nothing else holds any. */
struct g2h_error *outside_holders_find(const struct findings *findings, enum g2h_memory_part part,
                                       struct outside_holders *ret)
{
    _cleanup_(search_deinit) struct outside_search search = {.findings = findings, .part = part};
    *ret = (struct outside_holders){.count = 0};
    if (part != G2H_MEMORY_FILES && part != G2H_MEMORY_C)
        return NULL;
    TRY(find_mappings(&search));
    TRY(outside_find_holders(&search));
    vector_sort(&search.list, outside_compare);
    TRY(outside_report(&search, FIELDS, ret));
    TRY(outside_report(&search, ELEMENTS, ret));
    return ret->count == 0 ? outside_report(&search, LISTS, ret) : NULL;
}

void outside_holders_deinit(struct outside_holders *holders)
{
    for (size_t i = 0; i < holders->count; i++)
        text_deinit(&holders->list[i].name);
}
