/* taken; see taken.h. */
#include "inspect/taken.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/contract.h"
#include "base/memory.h"
#include "base/scope.h"
#include "inspect/command.h"

/* ---- creation ---- */

struct g2h_error *taken_read(const struct taken_options *options,
                             const struct g2h_progress *progress, struct taken *ret)
{
    const struct origin_options origin = {.path = options->input,
                                          .pid = options->pid,
                                          .exe = options->exe,
                                          .threads = options->threads,
                                          .memory = g2h_format(0)->memory,
                                          .forks = options->forks,
                                          .collapses = options->collapses,
                                          .progress = progress};
    const struct pipeline_options steps = {.exe = options->exe,
                                           .threads = options->threads,
                                           .untyped_ok = options->untyped_ok,
                                           .no_stacks = options->no_stacks,
                                           .full_names = options->full_names,
                                           .redaction = options->redaction};
    struct pipeline *made = &ret->made;
    if (options->pid != 0)
        origin_end_first();
    TRY(options->command ? command_open(options->command, &origin, &made->origin)
                         : origin_open(&origin, &made->origin));
    TRY(pipeline_load(made, options->threads, progress));
    TRY(pipeline_match(made, &steps));
    return pipeline_graph(made, &steps);
}

struct g2h_error *taken_view(const struct taken_options *options, struct taken *taken)
{
    const struct g2h_view_options view = {
        !options->garbage && g2h_heap_is_complete(taken->made.heap), options->max_nodes};
    return pipeline_view(&taken->made, &view);
}

/* ---- its end ---- */

void taken_forget(struct taken *taken)
{
    struct g2h_input *input = take_pointer(taken->made.origin.input);
    struct g2h_heap *heap = take_pointer(taken->made.heap);
    free(taken->ids);
    g2h_dominators_destroy(taken->dominators);
    g2h_values_destroy(taken->values);
    g2h_values_destroy(taken->inner);
    g2h_edges_destroy(taken->edges);
    pipeline_deinit(&taken->made);
    *taken = (struct taken){.made.origin.input = input, .made.heap = heap};
}

void taken_deinit(struct taken *taken)
{
    taken_forget(taken);
    pipeline_deinit(&taken->made);
    *taken = (struct taken){.number = 0};
}

/* ---- ids ---- */

uint32_t taken_id(const struct taken *taken, uint32_t number)
{
    struct g2h_node node;
    uint32_t id = 0;
    g2h_view_brief(taken->made.view, number, &node);
    if (node.object != UINT32_MAX)
        return g2h_identity_object(taken->identity, node.object);
    return node.members == 0 && g2h_identity_find_node(taken->identity, node.kind, node.key, &id)
               ? id
               : 0;
}

static int taken_compare(const void *a, const void *b)
{
    const uint64_t *one = a, *other = b;
    return *one < *other ? -1 : *one > *other;
}

static struct g2h_error *find_ids(struct taken *taken)
{
    const uint32_t count = g2h_view_node_count(taken->made.view);
    uint64_t *ids = block_alloc((size_t)count + 1, sizeof(*ids));
    TRY_MEMORY(ids);
    for (uint32_t i = 0; i < count; i++)
        ids[i] = (uint64_t)taken_id(taken, i) << 32 | i;
    qsort(ids, count, sizeof(*ids), taken_compare);
    taken->ids = ids;
    taken->id_count = count;
    assert(IS_ORDERED(i, count, ids[i - 1] < ids[i]));
    return NULL;
}

struct g2h_error *taken_find(struct taken *taken, uint32_t id, uint32_t *ret)
{
    *ret = UINT32_MAX;
    if (!taken->ids)
        TRY(find_ids(taken));
    size_t at;
    BISECT(at, taken->id_count, taken->ids[at] >> 32 < id);
    if (id != 0 && at < taken->id_count && taken->ids[at] >> 32 == id)
        *ret = (uint32_t)taken->ids[at];
    return NULL;
}

/* ---- created on demand ---- */

struct g2h_error *taken_need_iterators(struct taken *taken)
{
    if (!taken->edges)
        TRY(g2h_edges_create(taken->made.view, &taken->edges));
    if (!taken->values)
        TRY(g2h_values_create(taken->made.view, &taken->values));
    return taken->inner ? NULL : g2h_values_create(taken->made.view, &taken->inner);
}

struct g2h_error *taken_need_dominators(struct taken *taken)
{
    return taken->dominators ? NULL : g2h_view_dominators(taken->made.view, &taken->dominators);
}
