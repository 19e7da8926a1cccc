/* slice_windows; see slice_windows.h. */
#include "naming/slice_windows.h"

#include <stdlib.h>

#include "base/bisect.h"

void windows_deinit(struct windows *windows)
{
    free(windows->list.data);
    free(windows->has);
    *windows = (struct windows){.has = NULL};
}

const struct slice_window *windows_of(const struct windows *windows, uint32_t object)
{
    size_t at;
    if (!windows_has(windows, object))
        return NULL;
    BISECT(at, windows->list.count, windows->list.data[at].object < object);
    return &windows->list.data[at];
}
