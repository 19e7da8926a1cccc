/*
 * create: makes the types of a heap for users of the library; see include/go2heapsnapshot/typing.h.
 * It prepares memory for reading at random, finds the targets of all pointers, and then runs the
 * steps of typing.c. If the dump does not list the pointers of objects, or the executable has no
 * types that are known, there is no result: *ret is NULL.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/workers.h"
#include "exe/exe.h"
#include "typing/paging.h"
#include "typing/typing.h"

/* Returns whether objects are to be typed. The types of executables are known from Go 1.7's layout
 * of descriptors on; dumps from before Go 1.4 have types of their own. */
static bool is_to_type(const struct g2h_heap *heap, const struct g2h_exe *exe)
{
    return heap->pointer_form == POINTERS_LISTED && exe_types(exe)->list.count > 0;
}

/* Finds the targets of all pointers, and the types of all objects. */
static struct g2h_error *create_fill(struct g2h_typing *typing, const struct g2h_heap *heap,
                                     const struct g2h_exe *exe,
                                     const struct g2h_typing_options *options)
{
    const unsigned threads =
        options && options->threads > 0 ? options->threads : workers_available();
    paging_prepare(heap);
    TRY(targets_init(&typing->targets, heap, threads, NULL));
    return typing_create(heap, &typing->targets, exe, options ? options->redaction : NULL, threads,
                         &typing->typing);
}

static void create_destroy(struct g2h_typing **typing)
{
    g2h_typing_destroy(*typing);
}

/* Returns without an error and with *ret NULL if there is nothing to type by: the executable has no
 * types, or the dump is so old that it has types of its own. */
struct g2h_error *g2h_typing_create(const struct g2h_heap *heap, const struct g2h_exe *exe,
                                    const struct g2h_typing_options *options,
                                    struct g2h_typing **ret)
{
    *ret = NULL;
    if (!is_to_type(heap, exe))
        return NULL;
    _cleanup_(create_destroy) struct g2h_typing *typing = calloc(1, sizeof(*typing));
    TRY_MEMORY(typing);
    TRY(create_fill(typing, heap, exe, options));
    *ret = take_pointer(typing);
    return NULL;
}

void g2h_typing_destroy(struct g2h_typing *typing)
{
    if (!typing)
        return;
    typing_destroy(typing->typing);
    targets_deinit(&typing->targets);
    free(typing);
}
