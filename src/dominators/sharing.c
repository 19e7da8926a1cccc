/* sharing; see sharing.h. */
#include "dominators/sharing.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/contract.h"
#include "base/map.h"
#include "base/scope.h"

enum { MOST_SETS = 1 << 16 /* whose names have the names of holders */ };

/* Finds or makes the name of a shared entry. Shared entries with the same holders have the same
 * name. */
static struct g2h_error *name_entry(const struct sharers *sharers, uint32_t entry, struct map *sets,
                                    struct string_pool *texts, uint32_t *ret)
{
    const uint64_t *set = &sharers->sets[(size_t)entry * sharers->words],
                   key = map_hash_text(set, sharers->words * sizeof(*set));
    *ret = map_get(sets, key);
    if (*ret != MAP_NONE)
        return NULL;
    const bool is_known = sets->count < MOST_SETS;
    _cleanup_(text_deinit) struct text text = {0};
    sharers_append(sharers, entry, !is_known, &text);
    TRY_MEMORY(!text.failed && string_pool_intern(texts, text.data, text.size, ret) &&
               (!is_known || map_put(sets, key, *ret, ret)));
    return NULL;
}

/* Adding "(held by several)" has moved the objects' node numbers by the number of synthetic nodes
 * added since: moved. */
struct g2h_error *sharing_fill(struct g2h_graph *graph, const struct sharers *sharers,
                               const uint32_t *ascending, uint32_t count, uint32_t before)
{
    struct sharing *sharing = &graph->sharing;
    assert(before <= graph_synthetics(graph));
    const uint32_t moved = graph_synthetics(graph) - before;
    _cleanup_(map_deinit) struct map sets = {0};
    sharing->nodes = block_alloc(count, sizeof(*sharing->nodes));
    sharing->names = block_alloc(count, sizeof(*sharing->names));
    TRY_MEMORY(sharing->nodes && sharing->names);
    sharing->count = count;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t node = sharers->entries->nodes.data[ascending[i]];
        sharing->nodes[i] = node < before ? node : node + moved;
        assert(i == 0 || sharing->nodes[i - 1] < sharing->nodes[i]); /* for sharing_find() */
        TRY(name_entry(sharers, ascending[i], &sets, &sharing->texts, &sharing->names[i]));
    }
    return NULL;
}

void sharing_deinit(struct sharing *sharing)
{
    free(sharing->nodes);
    free(sharing->names);
    string_pool_deinit(&sharing->texts);
}

bool sharing_find(const struct sharing *sharing, uint32_t node, const char **ret, size_t *ret_size)
{
    size_t entry;
    BISECT(entry, sharing->count, sharing->nodes[entry] < node);
    if (entry == sharing->count || sharing->nodes[entry] != node)
        return false;
    *ret = string_pool_text(&sharing->texts, sharing->names[entry], ret_size);
    return true;
}
