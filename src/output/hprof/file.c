/*
 * file: what all parts of the HPROF writer ask of the file that is written: how many bytes of an
 * object are in it, and the error that it is too large; see file.h.
 *
 * An object of which the dump has only a part, or whose end the program has never touched, is
 * written shorter than it is, as is one that options cut; and a stack of which the dump has only
 * the frames. g2h_hprof_cut() sums up what is left out so.
 */
#include "output/hprof/file.h"

#include "base/contract.h"
#include "base/error.h"

/* Returns the error that the format has too few IDs. */
struct g2h_error *file_is_too_large(const struct file *file)
{
    return error_create(G2H_ERROR_LIMIT,
                        "%s: %llu nodes are more than an HPROF file with identifiers of 4 bytes "
                        "can have; --max-nodes makes fewer of them",
                        file->name, (unsigned long long)file->nodes);
}

/* ---- bytes that are written ---- */

/* The most bytes of a stack, if the dump has only its frames; and how many nodes are read at a
 * time. */
enum { STACK_MOST = 8 << 10, MANY = 64 };

/* Notes what makes written nodes smaller than they are: arrays that the dump shortened, or
 * --largest-array does, memory that was never written to, and stacks that are larger than what was
 * read. */
struct written written_begin(const struct g2h_view *view, const struct g2h_output_options *options)
{
    const struct g2h_heap *heap = g2h_view_heap(view);
    const struct g2h_account *account = g2h_heap_account(heap);
    const uint64_t largest = options->largest_array;
    return (struct written){.view = view,
                            .largest_array = largest,
                            .cuts_objects = account->short_objects > 0 || largest > 0 ||
                                            g2h_heap_untouched_count(heap) > 0,
                            .cuts_stacks =
                                g2h_view_account(view)->stack_bytes > account->bytes_read};
}

/* Returns the bytes of a node that is not folded, as they are written: stacks may be cut at
 * STACK_MOST, objects at largest_array. */
static uint64_t size_of_one(const struct written *written, const struct g2h_node *node)
{
    uint64_t most = node->size;
    if (node->kind == G2H_NODE_STACK && written->cuts_stacks)
        most = STACK_MOST;
    else if (node->object != UINT32_MAX && written->cuts_objects)
        most = g2h_heap_written_size(g2h_view_heap(written->view), node->object,
                                     written->largest_array);
    return MIN(node->size, most);
}

/* Returns how many bytes of a node are written; of a folded one, the sum over its members. */
uint64_t written_size(const struct written *written, uint32_t number, const struct g2h_node *node)
{
    uint64_t size = 0;
    if (!written->cuts_objects && !written->cuts_stacks)
        return node->size;
    if (node->members == 0)
        return size_of_one(written, node);
    for (uint32_t i = 0; i < node->members; i++) {
        struct g2h_node member;
        g2h_view_member(written->view, number, i, &member);
        size += size_of_one(written, &member);
    }
    return size;
}

/* Returns how many bytes of all nodes are not written. */
uint64_t g2h_hprof_cut(const struct g2h_view *view, const struct g2h_output_options *given)
{
    struct g2h_output_options options;
    const struct written written = written_begin(view, OPTIONS_COPY(&options, given));
    const uint32_t count = g2h_view_node_count(view);
    struct g2h_node nodes[MANY];
    uint64_t cut = 0;
    if (!written.cuts_objects && !written.cuts_stacks)
        return 0;
    for (uint32_t first = 0; first < count; first += MANY) {
        const size_t read = g2h_view_nodes(view, first, MANY, nodes);
        for (uint32_t i = 0; i < read; i++)
            cut += nodes[i].size - written_size(&written, first + i, &nodes[i]);
    }
    return cut;
}
