/*
 * held_classes: classes of arrays of bytes and numbers by what holds them.
 *
 * "[]uint8" has what all buffers of a program have in common, and is the first row of Summary in
 * half of all heaps. An array to which slices of one declaration lead, and no others, is of the
 * class "[]uint8 (main.Block.Body)". The declarations that hold most have classes; all else is
 * "[]uint8".
 */
#ifndef OUTPUT_HELD_CLASSES_H
#define OUTPUT_HELD_CLASSES_H

#include <go2heapsnapshot/view.h>

#include "base/map.h"
#include "base/memory.h"

struct g2h_identity;

/* The most classes that a snapshot gets by what holds them. In a series there may be more, since
 * objects keep their classes. */
enum { HELD_CLASSES_MOST = 50 };

/* A type of such arrays that the view has: the name of the class, and that of slices that were
 * allocated as objects of their own, UINT32_MAX: there are none. */
struct held_type {
    uint32_t name, header;
};

struct held_classes {
    VECTOR(struct held_type) types;
    struct map class_of; /* object → what held_classes_add got for the class */
};

/* Gets a number for the name of a class; returns false if memory runs out. */
typedef bool held_classes_add(void *context, const char *name, size_t size, uint32_t *ret);

/* Finds the classes. A folded view has none, since its folded nodes are by type. ret must be passed
 * to held_classes_deinit() also after an error. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *held_classes_init(struct held_classes *ret, const struct g2h_view *view,
                                    struct g2h_identity *series, held_classes_add *add,
                                    void *context);
void held_classes_deinit(struct held_classes *classes);

#endif
