/* limit: the memory limit that a live process is subject to; see include/go2heapsnapshot/process.h.
 */
#include <go2heapsnapshot/process.h>

#include "process/attach/available.h"

uint64_t g2h_process_limit(uint64_t pid, uint64_t *ret_left)
{
#ifdef __linux__
    struct attach_available available;
    attach_available_find_of(pid, &available);
    *ret_left = available.left;
    return *available.limit ? available.bytes : 0;
#else
    (void)pid;
    *ret_left = 0;
    return 0;
#endif
}
