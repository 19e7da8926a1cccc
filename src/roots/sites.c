/*
 * sites: where sampled objects were allocated, as recorded by runtime.MemProfile.
 */
#include <string.h>

#include "roots/builder.h"

/* Returns whether a frame belongs to the runtime's allocator; up to 1.4 that was C code, whose
 * functions have no package. */
static bool is_allocator(const struct g2h_memprof_frame *frame)
{
    const struct g2h_bytes *file = &frame->file;
    return bytes_begin(frame->function, "runtime.") ||
           (file->size > 4 && memcmp(file->data + file->size - 4, ".goc", 4) == 0) ||
           !memchr(frame->function.data, '.', (size_t)frame->function.size);
}

/* Makes the name of a site: the innermost function outside the runtime with its line, and up to
 * three of its callers. */
static void site_name(struct builder *builder, struct g2h_memprof memprof)
{
    enum { CALLERS = 3 };
    struct g2h_memprof_frame frame;
    unsigned shown = 0;
    builder->text.size = 0;
    while (shown <= CALLERS && g2h_memprof_next_frame(&memprof, &frame)) {
        const struct g2h_bytes file = bytes_base_name(frame.file);
        if (shown == 0 && memprof.frame_count > 0 && is_allocator(&frame))
            continue;
        if (shown++ > 0)
            text_append_string(&builder->text, " \xe2\x86\x90 ");
        text_append_name(&builder->text, builder->names, frame.function.data, frame.function.size,
                         NAME_LIMIT / 8);
        text_printf(&builder->text, " ");
        text_append_utf8(&builder->text, file.data, file.size, NAME_LIMIT / 16);
        text_printf(&builder->text, ":%llu", (unsigned long long)frame.line);
    }
    if (shown == 0)
        text_printf(&builder->text, "(no stack)");
}

/* Adds weak edges from sampled objects to their allocation sites, which are named on first use.
 * There is one sample for every MemProfileRate bytes allocated. */
struct g2h_error *builder_add_allocation_sites(struct builder *builder)
{
    struct root_account *account = &builder->roots->account;
    const struct g2h_heap *heap = builder->heap;
    struct map profile_by_id = {0}, node_by_id = {0};
    uint32_t group = UINT32_MAX, node, name, number = 0;
    bool good = builder_label_of(builder, "allocated at", &name);

    for (size_t i = 0; i < heap->records[G2H_RECORD_MEMPROF].count && good; i++) {
        struct g2h_record record;
        g2h_heap_record(heap, G2H_RECORD_MEMPROF, i, &record);
        good = map_put(&profile_by_id, record.memprof.id, (uint32_t)i, &node);
    }
    for (size_t i = 0; i < heap->records[G2H_RECORD_ALLOCSAMPLE].count && good; i++) {
        struct g2h_record record, profile;
        g2h_heap_record(heap, G2H_RECORD_ALLOCSAMPLE, i, &record);
        uint32_t object = heap_find(heap, record.allocsample.object);
        uint32_t profile_index = map_get(&profile_by_id, record.allocsample.memprof);
        account->samples++;
        if (object == UINT32_MAX || profile_index == MAP_NONE) {
            account->samples_missed++;
            continue;
        }
        node = map_get(&node_by_id, record.allocsample.memprof);
        if (node == MAP_NONE) {
            if (group == UINT32_MAX)
                good = builder_add_group(builder, builder->root, "(allocation sites)",
                                         G2H_NODE_ALLOCATION_SITES, &group);
            g2h_heap_record(heap, G2H_RECORD_MEMPROF, profile_index, &profile);
            site_name(builder, profile.memprof);
            good = good &&
                   builder_add_member(builder, group, ++number, G2H_NODE_ALLOCATION_SITE,
                                      record.allocsample.memprof, &node) &&
                   map_put(&node_by_id, record.allocsample.memprof, node, &node);
        }
        good = good && builder_add_edge(builder, node_object(object), EDGE_WEAK, name,
                                        node_synthetic(node));
    }
    map_deinit(&profile_by_id);
    map_deinit(&node_by_id);
    return good ? NULL : &error_no_memory;
}
