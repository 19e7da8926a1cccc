/*
 * slice_windows: the parts of arrays that slices use.
 *
 * "q = q[1:]" leaves a slot before the slice, and "batch = batch[:0]" leaves slots after it.
 * Objects in these stale slots live on, though no index of the program leads there. So the elements
 * of an array with a window are numbered from where the slice begins, and stale slots have names
 * that say so. graph/windows.h finds the windows.
 */
#ifndef NAMING_SLICE_WINDOWS_H
#define NAMING_SLICE_WINDOWS_H

#include <stdlib.h>

#include "base/bits.h"
#include "base/bisect.h"
#include "base/memory.h"

/* An array that only slices lead to, and the part that they use. Offsets are in the object. */
struct slice_window {
    uint64_t begin, end;   /* the elements of the slice or of all slices together */
    uint64_t capacity_end; /* of the largest capacity */
    uint64_t size;         /* of an element */
    uint32_t object;
};

typedef VECTOR(struct slice_window) window_vector;

struct windows {
    window_vector list; /* ascending by object */
    uint64_t *has;      /* a bit per object that has a window; NULL: none has */
};

static inline bool windows_has(const struct windows *windows, uint32_t object)
{
    return windows->has && bits_have(windows->has, object);
}

/* Returns the window of an object, or NULL. */
static inline const struct slice_window *windows_of(const struct windows *windows, uint32_t object)
{
    size_t at;
    if (!windows_has(windows, object))
        return NULL;
    BISECT(at, windows->list.count, windows->list.data[at].object < object);
    return &windows->list.data[at];
}

static inline void windows_deinit(struct windows *windows)
{
    free(windows->list.data);
    free(windows->has);
    *windows = (struct windows){.has = NULL};
}

#endif
