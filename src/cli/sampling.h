/* sampling: what is said of a profile of allocations. */
#ifndef CLI_SAMPLING_H
#define CLI_SAMPLING_H

#include <go2heapsnapshot/heap.h>

#include "cli/options.h"

/* Says, with -v, by which rate samples were scaled and where that comes from; and without, if one
 * that was supposed cannot have been it. */
void message_sampling(const struct options *options, const struct g2h_input *input,
                      const struct g2h_heap *heap);

#endif
