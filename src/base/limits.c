/* limits: the values of the limits that tests may lower; see limits.h. */
#include "base/limits.h"

struct limits limits = {
    .objects = UINT32_MAX / 2,
    .nodes = UINT32_MAX - 1,
    .snapshot_nodes = UINT32_MAX / 7,
    .snapshot_edges = UINT32_MAX / 3,
    .dominator_edges = UINT32_MAX,
    .hprof_ids = 1u << 30,
    .last_id = UINT32_MAX - 2,
};
