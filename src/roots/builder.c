/*
 * builder: what all files of roots/ make nodes with; see builder.h. The parts: nodes, edges and
 * their names; the function and line at a program counter; and mappings, memory outside of the
 * heap, as mapped files, which get a node when a pointer leads there.
 */
#include "roots/builder.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/memory.h"
#include "heap/pointers.h"
#include "naming/namer.h"

/* ==== nodes and edges ====
 *
 * Nodes and edges.
 */

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
    free(builder->words.data);
    map_deinit(&builder->word_at);
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

/* Sets the builder's text. Returns false if memory runs out. */
bool builder_text(struct builder *builder, const char *text)
{
    builder->text.size = 0;
    text_append_string(&builder->text, text);
    return !builder->text.failed;
}

/* Finds the number of an edge's name, the builder's text. A name that ends in "?" is uncertain,
 * which its uses record: paths avoid such edges. Returns false if memory runs out. */
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

/* Interns the builder's text as the name of a node. Returns false if memory runs out. */
bool builder_node_name(struct builder *builder, uint32_t *ret)
{
    return !builder->text.failed &&
           names_add_node(builder->names, builder->text.data, builder->text.size, ret);
}

/* Adds a node with the builder's text as its name. Returns false if memory runs out. */
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

/* Adds a group below parent. Returns false if memory runs out. */
bool builder_add_group(struct builder *builder, uint32_t parent, const char *name,
                       enum g2h_node_kind kind, uint32_t *ret)
{
    return builder_text(builder, name) && builder_add_node(builder, kind, 0, ret) &&
           builder_add_edge(builder, node_synthetic(parent), EDGE_ELEMENT, root_group_index(kind),
                            node_synthetic(*ret));
}

/* Adds a node to a group, with the builder's text as its name and index as its number in the group.
 * Returns false if memory runs out. */
bool builder_add_member(struct builder *builder, uint32_t group, uint32_t index,
                        enum g2h_node_kind kind, uint64_t key, uint32_t *ret)
{
    return builder_add_node(builder, kind, key, ret) &&
           builder_join_group(builder, group, index, *ret);
}

/* Makes a node that has been added the member of a group, with index as its number there. Returns
 * false if memory runs out. */
bool builder_join_group(struct builder *builder, uint32_t group, uint32_t index, uint32_t node)
{
    assert(group < builder->roots->nodes.count && node < builder->roots->nodes.count);
    return builder_add_edge(builder, node_synthetic(group), EDGE_ELEMENT, index,
                            node_synthetic(node));
}

/* Appends the dynamic type of the word at offset, if the word before it is the first word of an
 * interface. */
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

/* ==== the function that contains a program counter ====
 *
 * Without an executable, only the functions that have frames in the dump are known, each from its
 * entry to the highest program counter seen in it.
 */

/* Orders functions by their entries. */
static int compare_functions(const void *a, const void *b)
{
    const struct function *one = a;
    const struct function *other = b;
    return COMPARE(one->entry, other->entry);
}

/* Lists the functions of the stacks. Lists each function once, with the highest pc seen in it,
 * sorted by entry. */
struct g2h_error *builder_collect_functions(struct builder *builder)
{
    for (size_t i = 0; i < builder->heap->frames.count; i++) {
        const struct heap_stack_frame frame = heap_frame(builder->heap, i);
        const struct function function = {frame.entry, frame.pc, frame.function};
        uint32_t number;
        TRY_MEMORY(map_put(&builder->function_by_entry, frame.entry,
                           as_u32(builder->functions.count), &number));
        if (number == builder->functions.count)
            TRY_MEMORY(vector_push(&builder->functions, function));
        else if (builder->functions.data[number].last_pc < frame.pc)
            builder->functions.data[number].last_pc = frame.pc;
    }
    if (builder->functions.count > 0)
        qsort(builder->functions.data, builder->functions.count, sizeof(*builder->functions.data),
              compare_functions);
    map_deinit(&builder->function_by_entry); /* its numbers are invalid after sorting */
    return NULL;
}

/* Appends a space, and the base name of the file and the line; nothing if the line is 0, not
 * known. */
static void append_file_and_line(struct builder *builder, const struct g2h_line *line)
{
    if (line->line == 0)
        return;
    const struct g2h_bytes file = bytes_base_name(line->file);
    text_append_string(&builder->text, " ");
    text_append_utf8(&builder->text, file.data, file.size, NAME_LIMIT / 16);
    text_printf(&builder->text, ":%u", line->line);
}

/* Appends a space, and the file and line of a code address, if the executable knows them. */
void builder_append_line(struct builder *builder, uint64_t pc)
{
    struct g2h_line line;
    if (builder->exe && exe_line(builder->exe, pc, &builder->lines_left, &line))
        append_file_and_line(builder, &line);
}

/* Appends the function at pc and its line from the executable. Returns false if the executable does
 * not have them. */
static bool append_line(struct builder *builder, uint64_t pc)
{
    struct g2h_line line;
    if (!builder->exe || !exe_line(builder->exe, pc, &builder->lines_left, &line))
        return false;
    builder_append(builder, &line.function);
    append_file_and_line(builder, &line);
    return true;
}

/* Appends the function that contains a pc: with its line if the executable is there; else by the
 * functions that the dump's frames name, with the pc unless it is the function's first; else the pc
 * alone. A return address may be the first byte after the function if the call is its last
 * instruction, so the byte before it is looked up. */
void builder_append_function(struct builder *builder, uint64_t pc, bool is_return)
{
    if (append_line(builder, is_return ? pc - 1 : pc))
        return;
    const struct function *functions = builder->functions.data;
    size_t not_after;
    BISECT(not_after, builder->functions.count, functions[not_after].entry <= pc);
    if (not_after > 0 && pc <= functions[not_after - 1].last_pc) {
        builder_append(builder, &functions[not_after - 1].name);
        if (pc != functions[not_after - 1].entry)
            text_printf(&builder->text, " (pc 0x%llx)", (unsigned long long)pc);
    } else {
        text_printf(&builder->text, "pc 0x%llx", (unsigned long long)pc);
    }
}

/* ==== the memory outside the heap that objects, variables and frames point into ====
 *
 * Mapped files, memory from mmap(), and C's memory are not in objects. A mapping that a pointer
 * leads into has a node, with its resident size in the name; its own size is 0, because it is not
 * the heap's. The edges to it are weak: pointers do not keep a mapping. Only for a live process are
 * the mappings known.
 */

enum { NUMBERED = 1024 /* elements of an array with edges of their own */ };

/* Finds the mapping that contains an address. Returns false if there is none. Mappings are sorted,
 * and most addresses are below or above all of them. */
bool mappings_find(const struct g2h_memory *memory, uint64_t address, uint32_t *ret)
{
    const size_t count = memory ? memory->mapping_count : 0;
    const struct g2h_mapping *mappings = count > 0 ? memory->mappings : NULL;
    size_t after;
    if (count == 0 || address < mappings[0].start || address >= mappings[count - 1].end)
        return false;
    BISECT(after, count, mappings[after].start <= address);
    assert(after > 0 && (after == count || mappings[after - 1].end <= mappings[after].start));
    *ret = (uint32_t)after - 1;
    return address < mappings[after - 1].end;
}

/* Finds the mapping outside the heap that value, which hits no object, points into. Returns false
 * if there is none. */
bool builder_find_mapping(const struct builder *builder, uint64_t value, uint32_t *ret)
{
    return mappings_find(builder->memory, value, ret) &&
           map_get(&builder->heap->itab_by_address, value) == MAP_NONE;
}

/* Returns the name of a mapping's file, or what it is. File names are redacted if strings are. */
static const char *file_of_mapping(const struct builder *builder, const struct g2h_mapping *mapping)
{
    if (mapping->name && !builder->names->redaction)
        return mapping->name;
    return mapping->part == G2H_MEMORY_FILES ? "file" : "anonymous";
}

/* Makes the name of a mapping: "610 MB bolt.db", "400 MB anonymous". */
static void name_mapping(struct builder *builder, const struct g2h_mapping *mapping)
{
    struct text *text = &builder->text;
    const char *name = file_of_mapping(builder, mapping);
    text->size = 0;
    text_append_bytes(text, mapping->resident);
    text_append_string(text, " ");
    text_append_utf8(text, name, strlen(name), NAME_LIMIT / 4);
}

/* Gets the node of a mapping; adds it if it is new. Returns false if memory runs out. */
static bool mapping_node(struct builder *builder, uint32_t mapping, uint32_t *ret)
{
    const struct g2h_mapping *of = &builder->memory->mappings[mapping];
    *ret = map_get(&builder->mapping_nodes, mapping);
    if (*ret != MAP_NONE)
        return true;
    if (builder->mappings == UINT32_MAX &&
        !builder_add_group(builder, builder->root, "(mappings)", G2H_NODE_MAPPINGS,
                           &builder->mappings))
        return false;
    name_mapping(builder, of);
    return builder_add_member(builder, builder->mappings, mapping + 1, G2H_NODE_MAPPING, of->start,
                              ret) &&
           map_put(&builder->mapping_nodes, mapping, *ret, ret);
}

/* Adds a weak edge to a mapping, with a name that has been interned. Returns false if memory runs
 * out. The builder's text changes. */
static bool builder_point_at_mapping(struct builder *builder, uint32_t source, uint32_t name,
                                     uint32_t mapping)
{
    uint32_t node;
    return mapping_node(builder, mapping, &node) &&
           builder_add_edge(builder, node_synthetic(source), EDGE_WEAK, name, node_synthetic(node));
}

/* ---- pointers of roots ---- */

/* Adds an edge to what a pointer leads to. Counts the pointer, and whether it hits an object, for
 * messages. A word that hits nothing may point into a mapping. Returns false if memory runs out. */
bool builder_add_pointer(struct builder *builder, uint32_t source, enum roots_edge_type type,
                         uint64_t value)
{
    struct root_account *account = &builder->roots->account;
    uint32_t name, object, mapping;
    assert(source < builder->roots->nodes.count);
    if (value == 0)
        return true;
    account->pointers++;
    object = heap_find(builder->heap, value);
    if (object == UINT32_MAX) {
        account->pointers_missed++;
        return !builder_find_mapping(builder, value, &mapping) ||
               (builder_label(builder, &name) &&
                builder_point_at_mapping(builder, source, name, mapping));
    }
    account->pointers_hit++;
    return builder_label(builder, &name) &&
           builder_add_edge(builder, node_synthetic(source), type, name, node_object(object));
}

bool builder_add_named_pointer(struct builder *builder, uint32_t source, enum roots_edge_type type,
                               const char *name, uint64_t value)
{
    return builder_text(builder, name) && builder_add_pointer(builder, source, type, value);
}

/* ---- objects ---- */

/* Lists the words of an object that point into mappings, and at no object. Returns false if memory
 * runs out. */
static bool list_mapping_words(struct builder *builder, uint32_t object)
{
    const struct g2h_heap *heap = builder->heap;
    struct pointers pointers;
    uint64_t offset, value;
    uint32_t mapping, node;
    pointers_of(heap, object, heap_slot_class(heap, object), &pointers);
    while (pointers_next(&pointers, &offset, &value)) {
        if (!builder_find_mapping(builder, value, &mapping) ||
            (in_heap_range(heap, value) && heap_find(heap, value) != UINT32_MAX))
            continue;
        if (!mapping_node(builder, mapping, &node) ||
            !vector_push(&builder->roots->mapped, ((struct mapped_word){offset, object, node})))
            return false;
    }
    return true;
}

/* Returns whether a mapping has addresses in the range of the heap's. */
static bool is_among_heap(const struct builder *builder)
{
    const struct g2h_memory *memory = builder->memory;
    const uint64_t low = builder->heap->index.low;
    const uint64_t high = builder->heap->index.high;
    for (size_t i = 0; i < memory->mapping_count; i++)
        if (memory->mappings[i].start < high && memory->mappings[i].end > low)
            return true;
    return false;
}

/* Lists the words of objects that may point into mappings of memory outside of the heap. If no
 * mapping is among the heap's addresses, only objects with a pointer that leaves the heap can point
 * into one. */
struct g2h_error *builder_add_mappings(struct builder *builder)
{
    const struct g2h_heap *heap = builder->heap;
    if (!builder->memory || builder->memory->mapping_count == 0)
        return NULL;
    const bool is_any = is_among_heap(builder);
    for (uint32_t object = 0; object < heap->object_count; object++)
        if (heap_slot_class(heap, object)->has_pointers &&
            (is_any || targets_leave_heap(builder->targets, object)))
            TRY_MEMORY(list_mapping_words(builder, object));
    return NULL;
}

/* Gets the name of an object's word. Names with numbers are numerous: only those of the first
 * elements are distinguished. Returns false if memory runs out. */
static bool name_mapping_word(struct names *names, struct namer *namer, uint64_t offset,
                              struct text *text, uint32_t *ret)
{
    const struct edge_name name = namer_name(namer, offset);
    if (name.form == EDGE_NAME_STRING) {
        *ret = (uint32_t)name.value;
        return true;
    }
    text->size = 0;
    if (name.form == EDGE_NAME_INDEX && name.value >= NUMBERED)
        text_append_string(text, "[…]");
    else
        namer_append(namer, &name, text);
    return !text->failed && names_add_label(names, text->data, text->size, ret);
}

/* Adds a weak edge for each word of an object that points into a mapping, named by the word. Words
 * of one object follow each other, so each object's namer is made once. */
struct g2h_error *roots_name_mapped(struct roots *roots, const struct g2h_heap *heap,
                                    struct names *names)
{
    _cleanup_(text_deinit) struct text text = {0};
    uint32_t named = UINT32_MAX, name;
    struct g2h_object object;
    struct namer namer;
    VECTOR_EACH(const struct mapped_word, word, roots->mapped) {
        if (word->object != named) {
            heap_object(heap, word->object, &object);
            namer_init(&namer, names, word->object, heap_slot_class(heap, word->object),
                       &object.contents);
        }
        named = word->object;
        TRY_MEMORY(name_mapping_word(names, &namer, word->offset, &text, &name) &&
                   roots_add_edge(roots, node_object(word->object), EDGE_WEAK, name,
                                  node_synthetic(word->node)));
    }
    free(roots->mapped.data);
    roots->mapped.data = NULL;
    return NULL;
}
