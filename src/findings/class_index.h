/* class_index: the objects of each class, those that retain most first, for repeated queries, which
 * then need not walk all nodes of the view for one class. */
#ifndef FINDINGS_CLASS_INDEX_H
#define FINDINGS_CLASS_INDEX_H

#include <go2heapsnapshot/output.h>
#include <go2heapsnapshot/view.h>

#include "base/error.h"
#include "base/map.h"

struct class_index {
    struct map numbers; /* name in the view, UINT32_MAX for strings → number of the class */
    uint32_t *first;    /* by number: where its objects begin in nodes; one more at the end */
    uint32_t *nodes;    /* nodes of the view: by class, those that are not garbage first, then by
                         * retained size, then by number */
    uint32_t count;     /* of classes */
};

/* Builds the index of a view, which takes 4 bytes per object and, while it runs, 16 more. The
 * caller passes *ret, {0} before, to class_index_deinit() in any case. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *class_index_make(const struct g2h_view *view,
                                   const struct g2h_dominators *dominators,
                                   struct class_index *ret);
void class_index_deinit(struct class_index *index);

/* Returns the objects of a class, *ret_count of them, or NULL if it has none. name is that of the
 * class in the view, UINT32_MAX for strings. */
const uint32_t *class_index_find(const struct class_index *index, uint32_t name, size_t *ret_count);

#endif
