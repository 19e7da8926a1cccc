/* builder: nodes and edges; see builder.h. */
#include "roots/builder.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

/* Sets all nodes that are added on demand to "not yet". */
void builder_init(struct builder *builder, struct roots *roots, const struct root_sources *sources)
{
    *builder = (struct builder){
        .roots = roots,
        .heap = sources->heap,
        .exe = sources->exe,
        .typing = sources->typing,
        .targets = sources->targets,
        .names = sources->names,
        .memory = sources->memory,
        .no_stacks = sources->no_stacks,
        .globals = UINT32_MAX,
        .mappings = UINT32_MAX,
        .lines_left = exe_lines_most(sources->exe),
    };
}

void builder_deinit(struct builder *builder)
{
    text_deinit(&builder->text);
    free(builder->frame_pointed);
    free(builder->functions.data);
    free(builder->static_pointers.data);
    map_deinit(&builder->function_by_entry);
    map_deinit(&builder->packages);
    free(builder->variables.data);
    map_deinit(&builder->variable_at);
    map_deinit(&builder->mapping_nodes);
    map_deinit(&builder->goroutine_by_g);
    map_deinit(&builder->creation_sites);
    map_deinit(&builder->statements);
    map_deinit(&builder->threads);
    map_deinit(&builder->site_by_pc);
    map_deinit(&builder->call_by_pc);
    free(builder->site_of);
    map_deinit(&builder->frame_by_sp);
}

bool builder_text(struct builder *builder, const char *text)
{
    builder->text.size = 0;
    text_append_string(&builder->text, text);
    return !builder->text.failed;
}

/* A name that ends in "?" is uncertain, which its uses record: paths avoid such edges. */
bool builder_label(struct builder *builder, uint32_t *ret)
{
    const struct text *text = &builder->text;
    const bool is_doubtful = text->size > 0 && text->data[text->size - 1] == '?';
    return !text->failed && names_add_label(builder->names, text->data, text->size, ret) &&
           (!is_doubtful || name_uses_add(&builder->names->uses, *ret, G2H_NAME_DOUBTFUL));
}

bool builder_label_of(struct builder *builder, const char *label, uint32_t *ret)
{
    return names_add_label(builder->names, label, strlen(label), ret);
}

bool builder_node_name(struct builder *builder, uint32_t *ret)
{
    return !builder->text.failed &&
           names_add_node(builder->names, (const uint8_t *)builder->text.data, builder->text.size,
                          ret);
}

bool builder_add_node(struct builder *builder, enum g2h_node_kind kind, uint64_t key, uint32_t *ret)
{
    uint32_t name;
    return builder_node_name(builder, &name) &&
           roots_add_node(builder->roots, kind, key, name, ret);
}

bool builder_add_edge(struct builder *builder, struct node source, enum roots_edge_type type,
                      uint32_t name, struct node target)
{
    return roots_add_edge(builder->roots, source, type, name, target);
}

bool builder_add_group(struct builder *builder, uint32_t parent, const char *name,
                       enum g2h_node_kind kind, uint32_t *ret)
{
    return builder_text(builder, name) && builder_add_node(builder, kind, 0, ret) &&
           builder_add_edge(builder, node_synthetic(parent), EDGE_ELEMENT, root_group_index(kind),
                            node_synthetic(*ret));
}

bool builder_add_member(struct builder *builder, uint32_t group, uint32_t index,
                        enum g2h_node_kind kind, uint64_t key, uint32_t *ret)
{
    return builder_add_node(builder, kind, key, ret) &&
           builder_join_group(builder, group, index, *ret);
}

bool builder_join_group(struct builder *builder, uint32_t group, uint32_t index, uint32_t node)
{
    assert(group < builder->roots->nodes.count && node < builder->roots->nodes.count);
    return builder_add_edge(builder, node_synthetic(group), EDGE_ELEMENT, index,
                            node_synthetic(node));
}

void builder_append_dynamic_type(struct builder *builder, const struct g2h_bytes *contents,
                                 uint64_t offset)
{
    const uint64_t word = builder->heap->params.pointer_size;
    if (offset >= word && offset <= contents->size)
        text_append_interface(
            &builder->text, builder->names,
            interface_type_of(builder->heap,
                              heap_word(builder->heap, contents->data + offset - word)));
}

void builder_append(struct builder *builder, const struct g2h_bytes *bytes)
{
    text_append_name(&builder->text, builder->names, bytes->data, bytes->size, NAME_LIMIT);
}
