/*
 * roots: makes the nodes above the objects, such as goroutines, packages and finalizers, and their
 * edges; see roots.h. This file assembles the tree.
 *
 * All nodes but stacks have size 0 and none is a "user root", so DevTools computes a distance for
 * every object and a retained size for every root. A group that would be empty is left out.
 */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "heap/kept.h"
#include "roots/builder.h"

/* Adds the group "(OS threads)", if the dump has any, with a node per thread that points to its M,
 * the runtime's record of a thread. builder->threads gets the node by the address of the M, for the
 * edge of the goroutine that runs on it. */
static struct g2h_error *add_threads(struct builder *builder)
{
    uint32_t group, node, number;
    size_t count = builder->heap->records[G2H_RECORD_OSTHREAD].count;
    if (count == 0)
        return NULL;
    TRY_MEMORY(
        builder_add_group(builder, builder->root, "(OS threads)", G2H_NODE_OS_THREADS, &group));
    for (size_t i = 0; i < count; i++) {
        struct g2h_record record;
        g2h_heap_record(builder->heap, G2H_RECORD_OSTHREAD, i, &record);
        builder->text.size = 0;
        text_printf(&builder->text, "M %llu (OS thread %llu)",
                    (unsigned long long)record.osthread.id,
                    (unsigned long long)record.osthread.os_id);
        TRY_MEMORY(builder_add_member(builder, group, (uint32_t)record.osthread.id,
                                      G2H_NODE_OS_THREAD, record.osthread.id, &node) &&
                   map_put(&builder->threads, record.osthread.m, node, &number));
        TRY_MEMORY(
            builder_add_named_pointer(builder, node, EDGE_TENTATIVE, "m", record.osthread.m));
    }
    return NULL;
}

/* Appends " of " and the class of an object. */
static void append_class(struct builder *builder, uint32_t object)
{
    size_t size;
    const char *class =
        string_pool_text(&builder->names->strings, names_of_object(builder->names, object), &size);
    text_printf(&builder->text, " of ");
    text_append(&builder->text, class, size);
}

/* Adds what objects with finalizers point to. The collector does not keep an object for its
 * finalizer, but it keeps everything that the object points to: the edge to the object is
 * tentative, so that it only holds an object that nothing else does, which is then placed here
 * rather than under (unreachable). Objects whose finalizer is queued to run are kept. */
static struct g2h_error *add_finalizers(struct builder *builder, enum g2h_record_kind kind,
                                        const char *name, uint32_t group_id)
{
    const struct g2h_heap *heap = builder->heap;
    const bool queued = kind == G2H_RECORD_QUEUEDFINALIZER;
    uint32_t group, node;
    if (heap->records[kind].count == 0)
        return NULL;
    TRY_MEMORY(builder_add_group(builder, builder->roots->gc_roots, name, group_id, &group));
    for (size_t i = 0; i < heap->records[kind].count; i++) {
        struct g2h_record record;
        g2h_heap_record(heap, kind, i, &record);
        uint32_t object = heap_find(heap, record.finalizer.object);
        TRY_MEMORY(builder_text(builder, "finalizer"));
        if (object != UINT32_MAX)
            append_class(builder, object);
        TRY_MEMORY(builder_add_member(builder, group, as_u32(i) + 1,
                                      queued ? G2H_NODE_QUEUED_FINALIZER : G2H_NODE_FINALIZER,
                                      record.finalizer.object, &node));
        TRY_MEMORY(builder_add_named_pointer(builder, node, queued ? EDGE_INTERNAL : EDGE_TENTATIVE,
                                             "object", record.finalizer.object));
        TRY_MEMORY(builder_add_named_pointer(builder, node, EDGE_INTERNAL, "fn",
                                             record.finalizer.funcval));
    }
    return NULL;
}

/* Adds a weak edge from an object kept for a cleanup to the object that the cleanup is for. Returns
 * false if memory runs out. */
static bool add_cleaned(struct builder *builder, uint64_t kept, uint64_t cleaned)
{
    const uint32_t source = heap_find(builder->heap, kept);
    const uint32_t target = heap_find(builder->heap, cleaned);
    uint32_t name;
    return source == UINT32_MAX || target == UINT32_MAX ||
           (builder_label_of(builder, "cleanup of", &name) &&
            builder_add_edge(builder, node_object(source), EDGE_WEAK, name, node_object(target)));
}

/* Adds "(other roots)": single pointers of the runtime, each with a description as its name. Those
 * kept for a cleanup also get an edge to its object. Of those that wait to be run, types of objects
 * tell more (typing/cleanup_types.c). */
static struct g2h_error *add_other_roots(struct builder *builder)
{
    const struct g2h_heap *heap = builder->heap;
    uint32_t group;
    if (heap->records[G2H_RECORD_OTHERROOT].count == 0)
        return NULL;
    TRY_MEMORY(builder_add_group(builder, builder->roots->gc_roots, "(other roots)",
                                 G2H_NODE_OTHER_ROOTS, &group));
    for (size_t i = 0; i < heap->records[G2H_RECORD_OTHERROOT].count; i++) {
        struct g2h_record record;
        g2h_heap_record(heap, G2H_RECORD_OTHERROOT, i, &record);
        struct g2h_bytes description = record.otherroot.description;
        const uint64_t cleaned = kept_split(&description);
        TRY_MEMORY(builder_text(builder, ""));
        builder_append(builder, &description);
        const uint32_t object = cleaned != 0 ? heap_find(heap, cleaned) : UINT32_MAX;
        if (object != UINT32_MAX &&
            (bytes_are(description, "cleanup") || bytes_are(description, "argument of a cleanup")))
            append_class(builder, object);
        TRY_MEMORY(
            builder_add_pointer(builder, group,
                                record.otherroot.is_queued_cleanup ? EDGE_LAST : EDGE_PROPERTY,
                                record.otherroot.pointer) &&
            add_cleaned(builder, record.otherroot.pointer, cleaned));
    }
    return NULL;
}

/* ---- the whole tree ---- */

/* Adds all branches. The order is that of nodes in the outputs; threads come before goroutines,
 * which have edges to them. */
static struct g2h_error *roots_add_all(struct builder *builder)
{
    TRY_MEMORY(builder_text(builder, "") &&
               builder_add_node(builder, G2H_NODE_ROOT, 0, &builder->root));
    TRY_MEMORY(builder_add_group(builder, builder->root, "(GC roots)", G2H_NODE_GC_ROOTS,
                                 &builder->roots->gc_roots));
    TRY(builder_collect_functions(builder));
    TRY(builder_find_pointed_frames(builder));
    TRY(builder_add_globals(builder));
    TRY(add_threads(builder));
    TRY(builder_add_goroutines(builder));
    TRY(add_finalizers(builder, G2H_RECORD_FINALIZER, "(finalizers)", G2H_NODE_FINALIZERS));
    TRY(add_finalizers(builder, G2H_RECORD_QUEUEDFINALIZER, "(queued finalizers)",
                       G2H_NODE_QUEUED_FINALIZERS));
    TRY(builder_add_defers_and_panics(builder));
    TRY(add_other_roots(builder));
    TRY(builder_add_allocation_sites(builder));
    TRY(builder_add_remarks(builder));
    return builder_add_mappings(builder);
}

/* Makes all root nodes and their edges. */
struct g2h_error *roots_init(struct roots *roots, const struct root_sources *sources)
{
    _cleanup_(builder_deinit) struct builder builder;
    builder_init(&builder, roots, sources);
    return roots_add_all(&builder);
}

void roots_deinit(struct roots *roots)
{
    free(roots->nodes.data);
    free(roots->edges.data);
    free(roots->goroutines.data);
    free(roots->frames.data);
    free(roots->sites.data);
    free(roots->calls.data);
    free(roots->starters.data);
    free(roots->starter_frames.data);
    free(roots->mapped.data);
    *roots = (struct roots){0};
}
