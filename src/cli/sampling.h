/* sampling: messages about a profile of allocations. */
#ifndef CLI_SAMPLING_H
#define CLI_SAMPLING_H

#include <go2heapsnapshot/heap.h>

#include "cli/options.h"

/* With -v prints the rate by which samples were scaled, and where that rate comes from. In any case
 * warns if a rate was assumed that cannot be the right one. */
void message_sampling(const struct options *options, const struct g2h_input *input,
                      const struct g2h_heap *heap);

#endif
