/*
 * roots: the synthetic nodes above the objects.
 *
 *   root → (GC roots) → (globals) → data, bss
 *                     → (goroutines) → goroutine 17 [select] net/http.(*conn).serve → its frames
 *                     → (finalizers), (queued finalizers), (defers and panics), (other roots)
 *        → (unreachable)            see reach.c
 *        → (OS threads), (allocation sites)
 *
 * All of them have size 0 and none is a "user root", so DevTools gives every object a distance and
 * every root a retained size. A group that would be empty is left out.
 */
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "heap/pointers.h"

/* A function of which frames are in the dump: the addresses from its entry to the highest pc seen
 * lie in it. */
struct function {
    uint64_t entry, last_pc;
    struct g2h_bytes name;
};

struct builder {
    struct g2h_graph *graph;
    const struct g2h_heap *heap;
    struct text text; /* the name that is being made */
    uint32_t root, gc_roots, globals;
    struct map packages; /* string → node */

    VECTOR(struct function) functions; /* ascending by entry, once all frames have been read */
    struct map function_by_entry;
    struct map goroutine_by_g; /* address of a g → goid, of those below 2^32 */
    struct map creation_sites; /* pc → node */
    struct map threads;        /* address of an m → node */
    struct map frame_by_sp;    /* 2013: sp → node of a frame, for stackroot records */
    uint64_t newest_wait;      /* of all goroutines: the dump is not older */
};

#define TRY(condition) \
    do { \
        if (!(condition)) \
            return &error_no_memory; \
    } while (0)

/* ---- nodes and edges ---- */

static bool text_start(struct builder *builder, const char *text)
{
    builder->text.size = 0;
    text_append(&builder->text, text, strlen(text));
    return !builder->text.failed;
}

static bool add_text_node(struct builder *builder, uint32_t id, uint32_t *ret)
{
    return !builder->text.failed &&
           graph_add_synthetic(builder->graph, builder->text.data, builder->text.size, id, ret);
}

/* A group below parent, an element whose index tells the groups' order. */
static bool add_group(struct builder *builder, uint32_t parent, const char *name, uint32_t id,
                      uint32_t *ret)
{
    return text_start(builder, name) && add_text_node(builder, id, ret) &&
           graph_add_edge(builder->graph, node_synthetic(parent), EDGE_ELEMENT, id / 2,
                          node_synthetic(*ret));
}

/* A node of some kind, numbered index in its group. */
static bool add_member(struct builder *builder, uint32_t group, uint32_t index, enum id_kind kind,
                       uint64_t key, uint32_t *ret)
{
    uint32_t id;
    return ids_synthetic(&builder->graph->ids, kind, key, &id) && add_text_node(builder, id, ret) &&
           graph_add_edge(builder->graph, node_synthetic(group), EDGE_ELEMENT, index,
                          node_synthetic(*ret));
}

/* An edge to the object that value points to, if there is one; the edge's name is the builder's
 * text. */
static bool add_pointer(struct builder *builder, uint32_t source, enum edge_type type,
                        uint64_t value)
{
    struct g2h_graph *graph = builder->graph;
    uint32_t name, object;
    if (value == 0)
        return true;
    graph->account.root_pointers++;
    object = heap_find(builder->heap, value);
    if (object == UINT32_MAX) {
        graph->account.root_pointers_missed++;
        return true;
    }
    graph->account.root_pointers_hit++;
    return !builder->text.failed &&
           string_pool_intern(&graph->strings, builder->text.data, builder->text.size, &name) &&
           graph_add_edge(graph, node_synthetic(source), type, name, node_object(object));
}

static bool add_named_pointer(struct builder *builder, uint32_t source, enum edge_type type,
                              const char *name, uint64_t value)
{
    return text_start(builder, name) && add_pointer(builder, source, type, value);
}

/* The builder's text gets the dynamic type behind it where the word before offset is the first of
 * an interface. */
static void append_dynamic_type(struct builder *builder, const struct g2h_bytes *contents,
                                uint64_t offset)
{
    const uint64_t word = builder->heap->params.pointer_size;
    if (offset >= word && offset <= contents->size)
        text_append_interface(
            &builder->text, builder->heap, builder->graph->exe,
            interface_type_of(builder->heap,
                              heap_word(builder->heap, contents->data + offset - word)));
}

static void append_bytes(struct builder *builder, const struct g2h_bytes *bytes)
{
    text_append_utf8(&builder->text, bytes->data, bytes->size, NAME_LIMIT);
}

static bool equals(const struct g2h_bytes *bytes, const char *text)
{
    return bytes->size == strlen(text) && memcmp(bytes->data, text, bytes->size) == 0;
}

static bool starts_with(const struct g2h_bytes *bytes, const char *text)
{
    return bytes->size >= strlen(text) && memcmp(bytes->data, text, strlen(text)) == 0;
}

/* ---- globals ---- */

/* Where a variable's symbol has the end of its package: behind the last slash, at the dot; 0 where
 * it has none. */
static size_t package_size(const struct g2h_bytes *name)
{
    size_t size = 0;
    for (size_t i = 0; i < name->size; i++) {
        if (name->data[i] == '/')
            size = 0;
        else if (name->data[i] == '.' && size == 0)
            size = i;
    }
    return size;
}

/* The node of a package below (globals). */
static bool package_node(struct builder *builder, const struct g2h_bytes *package, uint32_t *ret)
{
    struct g2h_graph *graph = builder->graph;
    uint32_t name, id;
    if (!name_intern(&graph->strings, package->data, package->size, &name))
        return false;
    *ret = map_get(&builder->packages, name);
    if (*ret != MAP_NONE)
        return true;
    uint64_t key = 0xcbf29ce484222325u; /* the same in each dump of a program */
    for (uint64_t i = 0; i < package->size; i++)
        key = (key ^ package->data[i]) * 0x100000001b3u;
    return ids_synthetic(&graph->ids, ID_PACKAGE, key, &id) &&
           graph_add_synthetic(graph, (const char *)package->data, (size_t)package->size, id,
                               ret) &&
           map_put(&builder->packages, name, *ret, ret) &&
           graph_add_edge(graph, node_synthetic(builder->globals), EDGE_ELEMENT,
                          ID_BSS / 2 + (uint32_t)builder->packages.count, node_synthetic(*ret));
}

/* Names the word at an address: the variable, below its package, or the address, below its segment.
 */
static bool name_global(struct builder *builder, uint64_t address, uint32_t segment,
                        uint32_t *ret_parent)
{
    struct g2h_bytes name;
    uint64_t offset;
    builder->text.size = 0;
    *ret_parent = segment;
    if (!builder->graph->exe || !g2h_exe_variable(builder->graph->exe, address, &name, &offset)) {
        text_printf(&builder->text, "0x%llx", (unsigned long long)address);
        return true;
    }
    size_t size = package_size(&name);
    struct g2h_bytes package = {name.data, size},
                     variable = {name.data + size + (size > 0), name.size - size - (size > 0)};
    append_bytes(builder, &variable);
    if (offset > 0)
        text_printf(&builder->text, ".f%llu", (unsigned long long)offset);
    return size == 0 || package_node(builder, &package, ret_parent);
}

static struct g2h_error *add_segment(struct builder *builder, uint32_t node,
                                     const struct g2h_segment *segment)
{
    struct pointers pointers;
    uint64_t offset, value;
    pointers_of_fields(builder->heap, segment->contents, segment->fields, &pointers);
    while (pointers_next(&pointers, &offset, &value)) {
        uint32_t parent = node;
        if (heap_find(builder->heap, value) !=
            UINT32_MAX) /* a package without a pointer needs no node */
            TRY(name_global(builder, segment->address + offset, node, &parent));
        append_dynamic_type(builder, &segment->contents, offset);
        TRY(add_pointer(builder, parent, EDGE_PROPERTY, value));
    }
    return NULL;
}

static struct g2h_error *add_globals(struct builder *builder)
{
    static const struct {
        enum g2h_record_kind kind;
        const char *name;
        uint32_t id;
    } segments[] = {{G2H_RECORD_DATA, "data", ID_DATA},
                    {G2H_RECORD_BSS, "bss", ID_BSS},
                    {G2H_RECORD_DATAROOT, "data", ID_DATA}};
    const struct g2h_heap *heap = builder->heap;
    uint32_t node;

    for (size_t i = 0; i < 3; i++) {
        size_t count = heap->records[segments[i].kind].count;
        if (count == 0)
            continue;
        if (builder->globals == UINT32_MAX)
            TRY(add_group(builder, builder->gc_roots, "(globals)", ID_GLOBALS, &builder->globals));
        TRY(text_start(builder, segments[i].name) &&
            add_text_node(builder, segments[i].id, &node) &&
            graph_add_edge(builder->graph, node_synthetic(builder->globals), EDGE_ELEMENT,
                           segments[i].id / 2, node_synthetic(node)));
        for (size_t j = 0; j < count; j++) {
            struct g2h_record record;
            g2h_heap_record(heap, segments[i].kind, j, &record);
            if (segments[i].kind == G2H_RECORD_DATAROOT) {
                builder->text.size = 0;
                text_printf(&builder->text, "0x%llx", (unsigned long long)record.dataroot.address);
                TRY(add_pointer(builder, node, EDGE_PROPERTY, record.dataroot.pointer));
                continue;
            }
            struct g2h_error *error = add_segment(builder, node, &record.segment);
            if (error)
                return error;
        }
    }
    return NULL;
}

/* ---- functions, as far as frames tell ---- */

static int compare_functions(const void *a, const void *b)
{
    const struct function *one = a, *other = b;
    return one->entry < other->entry ? -1 : one->entry > other->entry;
}

static struct g2h_error *collect_functions(struct builder *builder)
{
    for (size_t i = 0; i < builder->heap->frames.count; i++) {
        struct g2h_record record;
        g2h_heap_record(builder->heap, G2H_RECORD_STACKFRAME, i, &record);
        const struct g2h_stackframe *frame = &record.stackframe;
        struct function function = {frame->entry, frame->pc, frame->function};
        uint32_t number;
        TRY(map_put(&builder->function_by_entry, frame->entry, (uint32_t)builder->functions.count,
                    &number));
        if (number == builder->functions.count)
            TRY(vector_push(&builder->functions, function));
        else if (builder->functions.data[number].last_pc < frame->pc)
            builder->functions.data[number].last_pc = frame->pc;
    }
    if (builder->functions.count > 0)
        qsort(builder->functions.data, builder->functions.count, sizeof(*builder->functions.data),
              compare_functions);
    map_deinit(&builder->function_by_entry); /* its numbers are those of before the sorting */
    return NULL;
}

/* The last part of a path. */
static const char *base_name(const struct g2h_bytes *file, size_t *ret_size)
{
    uint64_t at = file->size;
    while (at > 0 && file->data[at - 1] != '/')
        at--;
    *ret_size = (size_t)(file->size - at);
    return (const char *)file->data + at;
}

/* Appends the function at pc and its line, as the executable has them; false where it has not. */
static bool append_line(struct builder *builder, uint64_t pc)
{
    struct g2h_line line;
    size_t size;
    if (!builder->graph->exe || !g2h_exe_line(builder->graph->exe, pc, &line))
        return false;
    append_bytes(builder, &line.function);
    if (line.line > 0) {
        const char *file = base_name(&line.file, &size);
        text_append(&builder->text, " ", 1);
        text_append_utf8(&builder->text, (const uint8_t *)file, size, NAME_LIMIT / 16);
        text_printf(&builder->text, ":%u", line.line);
    }
    return true;
}

/*
 * Appends the function that pc lies in, by the executable or, where a frame tells it for certain,
 * without, or "pc 0x…". pc may be a return address, which belongs to the line of the call before
 * it.
 */
static void append_function(struct builder *builder, uint64_t pc, bool is_return)
{
    if (append_line(builder, is_return ? pc - 1 : pc))
        return;
    size_t from = 0, to = builder->functions.count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (builder->functions.data[middle].entry <= pc)
            from = middle + 1;
        else
            to = middle;
    }
    if (from > 0 && pc <= builder->functions.data[from - 1].last_pc) {
        append_bytes(builder, &builder->functions.data[from - 1].name);
        if (pc != builder->functions.data[from - 1].entry)
            text_printf(&builder->text, " (pc 0x%llx)", (unsigned long long)pc);
    } else {
        text_printf(&builder->text, "pc 0x%llx", (unsigned long long)pc);
    }
}

/* ---- frames ---- */

static void point_at(struct builder *builder, uint64_t value, offset_vector *work, bool *good)
{
    uint32_t frame = heap_find(builder->heap, value) == UINT32_MAX
                         ? graph_frame_at(builder->graph, value)
                         : UINT32_MAX;
    if (frame != UINT32_MAX && !builder->graph->frame_pointed[frame]) {
        builder->graph->frame_pointed[frame] = 1;
        *good = *good && vector_push(work, frame);
    }
}

/*
 * Since Go 1.12 a local variable that is live only through its address (a stack object) is in no
 * field list, though the collector scans it. So of a frame that something points into, every word
 * may be a pointer; and it may point into frames again.
 */
static struct g2h_error *find_pointed_frames(struct builder *builder)
{
    const struct g2h_heap *heap = builder->heap;
    offset_vector work = {0};
    struct g2h_record record;
    struct pointers pointers;
    uint64_t offset, value;
    bool good = true;

    for (size_t i = 0; i < heap->frames.count && good; i++) {
        if (builder->graph->frame_pointed[i])
            good = vector_push(&work, i); /* by an object */
        g2h_heap_record(heap, G2H_RECORD_STACKFRAME, i, &record);
        pointers_of_fields(heap, record.stackframe.contents, record.stackframe.fields, &pointers);
        while (good && pointers_next(&pointers, &offset, &value))
            point_at(builder, value, &work, &good);
    }
    while (work.count > 0 && good) {
        g2h_heap_record(heap, G2H_RECORD_STACKFRAME, work.data[--work.count], &record);
        pointers_of_words(heap, record.stackframe.contents, &pointers);
        while (good && pointers_next(&pointers, &offset, &value))
            point_at(builder, value, &work, &good);
    }
    free(work.data);
    return good ? NULL : &error_no_memory;
}

/* The words of a frame that are in no field list and hit an object. */
static struct g2h_error *add_stack_objects(struct builder *builder, uint32_t node,
                                           const struct g2h_stackframe *frame)
{
    const uint64_t word = builder->heap->params.pointer_size;
    struct g2h_fields fields = frame->fields;
    struct g2h_field field;
    struct pointers pointers;
    uint64_t offset, value;
    uint8_t *listed = calloc((size_t)(frame->contents.size / word) + 1, 1);
    bool good = listed != NULL;

    while (good && g2h_fields_next(&fields, &field))
        if (field.offset < frame->contents.size)
            listed[field.offset / word] = 1;
    pointers_of_words(builder->heap, frame->contents, &pointers);
    while (good && pointers_next(&pointers, &offset, &value)) {
        uint32_t object = listed[offset / word] ? UINT32_MAX : heap_find(builder->heap, value),
                 name;
        if (object == UINT32_MAX)
            continue;
        builder->text.size = 0;
        text_printf(&builder->text, "f%llu?", (unsigned long long)offset);
        builder->graph->account.conservative++;
        good = !builder->text.failed &&
               string_pool_intern(&builder->graph->strings, builder->text.data, builder->text.size,
                                  &name) &&
               graph_add_edge(builder->graph, node_synthetic(node), EDGE_TENTATIVE, name,
                              node_object(object));
    }
    free(listed);
    return good ? NULL : &error_no_memory;
}

static struct g2h_error *add_frame(struct builder *builder, uint32_t goroutine, uint64_t goid,
                                   uint32_t frame, uint32_t depth, uint32_t height)
{
    struct g2h_record record;
    struct pointers pointers;
    uint64_t offset, value;
    uint32_t node, first;
    g2h_heap_record(builder->heap, G2H_RECORD_STACKFRAME, frame, &record);
    const struct g2h_stackframe *stackframe = &record.stackframe;

    TRY(text_start(builder, ""));
    append_bytes(builder, &stackframe->function);
    TRY(add_member(builder, goroutine, depth, ID_FRAME, goid << 24 | height, &node));
    pointers_of_fields(builder->heap, stackframe->contents, stackframe->fields, &pointers);
    while (pointers_next(&pointers, &offset, &value)) {
        builder->text.size = 0;
        text_printf(&builder->text, "f%llu", (unsigned long long)offset);
        append_dynamic_type(builder, &stackframe->contents, offset);
        TRY(add_pointer(builder, node, EDGE_PROPERTY, value));
    }
    TRY(map_put(&builder->frame_by_sp, stackframe->sp, node, &first));
    if (builder->graph->frame_pointed[frame] &&
        builder->heap->reader->layout->may_lack_stack_objects)
        return add_stack_objects(builder, node, stackframe);
    return NULL;
}

/* ---- goroutines ---- */

/* The function that the goroutine was started with, as far as it is the program's own. */
static struct g2h_bytes entry_function(const struct builder *builder, const uint32_t *frames,
                                       uint32_t count)
{
    struct g2h_bytes name = {(const uint8_t *)"", 0};
    while (count-- > 0) {
        struct g2h_record record;
        g2h_heap_record(builder->heap, G2H_RECORD_STACKFRAME, frames[count], &record);
        const struct g2h_bytes *function = &record.stackframe.function;
        bool is_runtime_main = equals(&name, "runtime.main");
        if (is_runtime_main && starts_with(function, "runtime."))
            break;
        name = *function;
        if (!is_runtime_main && !equals(&name, "runtime.goexit") && !equals(&name, "runtime.main"))
            break;
        if (is_runtime_main)
            break;
    }
    return name;
}

static bool dumps_heap(const struct builder *builder, const uint32_t *frames, uint32_t count)
{
    for (uint32_t i = 0; i < count && i < 16; i++) {
        struct g2h_record record;
        g2h_heap_record(builder->heap, G2H_RECORD_STACKFRAME, frames[i], &record);
        if (equals(&record.stackframe.function, "runtime/debug.WriteHeapDump"))
            return true;
    }
    return false;
}

/*
 * As a traceback has it: goroutine 17 [select, 5 minutes] and the function it runs. The dump does
 * not say when it was written, so minutes count up to the newest stamp in it: the goroutine has
 * waited no shorter.
 */
static void goroutine_name(struct builder *builder, const struct g2h_goroutine *goroutine,
                           const uint32_t *frames, uint32_t frame_count)
{
    enum { RUNNABLE = 1, SYSCALL = 3, WAITING = 4 }; /* runtime/runtime2.go, _Grunnable … */
    const uint64_t minute = UINT64_C(60000000000);
    struct text *text = &builder->text;
    text->size = 0;
    text_printf(text, "goroutine %llu [", (unsigned long long)goroutine->goid);
    if (dumps_heap(builder, frames,
                   frame_count)) /* its own wait reason is stale in most versions */
        text_printf(text, "dumping heap");
    else if (goroutine->status == RUNNABLE)
        text_printf(text, "runnable");
    else if (goroutine->status == SYSCALL)
        text_printf(text, "syscall");
    else if (goroutine->status != WAITING)
        text_printf(text, "status %llu", (unsigned long long)goroutine->status);
    else if (goroutine->wait_reason.size > 0)
        text_append_utf8(text, goroutine->wait_reason.data, goroutine->wait_reason.size, 64);
    else
        text_printf(text, "waiting");
    if (goroutine->status != RUNNABLE && goroutine->wait_since != 0 &&
        (builder->newest_wait - goroutine->wait_since) / minute > 0)
        text_printf(text, ", %llu minutes",
                    (unsigned long long)((builder->newest_wait - goroutine->wait_since) / minute));
    text_printf(text, goroutine->is_system       ? ", system] "
                      : goroutine->is_background ? ", background] "
                                                 : "] ");
    struct g2h_bytes function = entry_function(builder, frames, frame_count);
    append_bytes(builder, &function);
}

static struct g2h_error *add_creation_site(struct builder *builder, uint32_t goroutine, uint64_t pc)
{
    struct g2h_graph *graph = builder->graph;
    uint32_t node = map_get(&builder->creation_sites, pc), name, id;
    if (pc == 0)
        return NULL;
    if (node == MAP_NONE) {
        TRY(text_start(builder, "go statement in "));
        append_function(builder, pc, true);
        TRY(ids_synthetic(&graph->ids, ID_CREATION_SITE, pc, &id) &&
            add_text_node(builder, id, &node) &&
            map_put(&builder->creation_sites, pc, node, &node));
    }
    TRY(graph_intern(graph, "created by", &name) &&
        graph_add_edge(graph, node_synthetic(goroutine), EDGE_INTERNAL, name,
                       node_synthetic(node)));
    return NULL;
}

static struct g2h_error *add_goroutine(struct builder *builder, uint32_t group,
                                       const struct g2h_goroutine *goroutine,
                                       const uint32_t *frames, uint32_t frame_count)
{
    struct g2h_graph *graph = builder->graph;
    uint32_t node, name, thread;
    struct g2h_error *error = NULL;
    goroutine_name(builder, goroutine, frames, frame_count);
    TRY(add_member(builder, group, (uint32_t)goroutine->goid, ID_GOROUTINE, goroutine->goid,
                   &node));
    for (uint32_t i = 0; i < frame_count && !error; i++)
        error = add_frame(builder, node, goroutine->goid, frames[i], i, frame_count - 1 - i);
    if (!error)
        error = add_creation_site(builder, node, goroutine->creation_pc);
    if (error)
        return error;
    TRY(add_named_pointer(builder, node, EDGE_INTERNAL, "ctxt", goroutine->ctxt));
    TRY(add_named_pointer(builder, node, EDGE_TENTATIVE, "g", goroutine->address));
    thread = map_get(&builder->threads, goroutine->m);
    if (thread != MAP_NONE)
        TRY(graph_intern(graph, "thread", &name) &&
            graph_add_edge(graph, node_synthetic(node), EDGE_INTERNAL, name,
                           node_synthetic(thread)));
    TRY(map_put(&builder->goroutine_by_g, goroutine->address,
                (uint32_t)(goroutine->goid < UINT32_MAX ? goroutine->goid : UINT32_MAX - 1),
                &thread));
    return NULL;
}

/*
 * Frames follow their goroutine. Of the format of 2013 that is not known for certain, but its
 * frames name their caller's sp.
 */
static size_t chain_of_2013(const struct builder *builder, const struct map *by_sp, uint64_t sp,
                            bool *claimed, uint32_t *ret)
{
    size_t count = 0;
    for (uint32_t frame = map_get(by_sp, sp); frame != MAP_NONE && !claimed[frame];) {
        struct g2h_record record;
        g2h_heap_record(builder->heap, G2H_RECORD_STACKFRAME, frame, &record);
        ret[count++] = frame;
        claimed[frame] = true; /* a frame is of one goroutine only */
        frame = map_get(by_sp, record.stackframe.child_sp);
    }
    return count;
}

static struct g2h_error *each_goroutine(struct builder *builder, uint32_t group,
                                        const struct map *by_sp, bool *claimed, uint32_t *frames)
{
    const struct g2h_heap *heap = builder->heap;
    const bool is_2013 = strcmp(g2h_heap_format(heap), "2013") == 0;
    for (size_t i = 0; i < heap->goroutines.count; i++) {
        struct g2h_record record;
        const uint32_t first = heap->goroutines.data[i].first_frame;
        size_t count = heap->goroutines.data[i].frame_count;
        g2h_heap_record(heap, G2H_RECORD_GOROUTINE, i, &record);
        if (is_2013 && (count == 0 || heap->frames.data[first].sp != record.goroutine.sp))
            count = chain_of_2013(builder, by_sp, record.goroutine.sp, claimed, frames);
        else
            for (uint32_t j = 0; j < count; j++)
                frames[j] = first + j;
        struct g2h_error *error =
            add_goroutine(builder, group, &record.goroutine, frames, (uint32_t)count);
        if (error)
            return error;
    }
    return NULL;
}

static struct g2h_error *add_stackroots(struct builder *builder)
{
    for (size_t i = 0; i < builder->heap->records[G2H_RECORD_STACKROOT].count; i++) {
        struct g2h_record record;
        g2h_heap_record(builder->heap, G2H_RECORD_STACKROOT, i, &record);
        const struct g2h_stackroot *root = &record.stackroot;
        uint32_t node = map_get(&builder->frame_by_sp, root->frame_sp);
        builder->text.size = 0;
        if (node == MAP_NONE)
            text_printf(&builder->text, "stack 0x%llx", (unsigned long long)root->address);
        else
            text_printf(&builder->text, "f%llu",
                        (unsigned long long)(root->address - root->frame_sp));
        TRY(add_pointer(builder, node == MAP_NONE ? builder->gc_roots : node, EDGE_PROPERTY,
                        root->pointer));
    }
    return NULL;
}

static struct g2h_error *add_goroutines(struct builder *builder)
{
    const struct g2h_heap *heap = builder->heap;
    struct map by_sp = {0};
    uint32_t group, first;
    if (heap->goroutines.count == 0)
        return add_stackroots(builder);
    for (size_t i = 0; i < heap->goroutines.count; i++) {
        struct g2h_record record;
        g2h_heap_record(heap, G2H_RECORD_GOROUTINE, i, &record);
        if (record.goroutine.wait_since > builder->newest_wait)
            builder->newest_wait = record.goroutine.wait_since;
    }
    TRY(add_group(builder, builder->gc_roots, "(goroutines)", ID_GOROUTINES, &group));
    uint32_t *frames = malloc((heap->frames.count + 1) * sizeof(*frames));
    bool *claimed = calloc(heap->frames.count + 1, sizeof(*claimed));
    struct g2h_error *error = frames && claimed ? NULL : &error_no_memory;
    for (size_t i = 0; i < heap->frames.count && !error; i++)
        if (!map_put(&by_sp, heap->frames.data[i].sp, (uint32_t)i, &first))
            error = &error_no_memory;
    if (!error)
        error = each_goroutine(builder, group, &by_sp, claimed, frames);
    map_deinit(&by_sp);
    free(frames);
    free(claimed);
    return error ? error : add_stackroots(builder);
}

/* ---- the other groups ---- */

static struct g2h_error *add_threads(struct builder *builder)
{
    uint32_t group, node, number;
    size_t count = builder->heap->records[G2H_RECORD_OSTHREAD].count;
    if (count == 0)
        return NULL;
    TRY(add_group(builder, builder->root, "(OS threads)", ID_OS_THREADS, &group));
    for (size_t i = 0; i < count; i++) {
        struct g2h_record record;
        g2h_heap_record(builder->heap, G2H_RECORD_OSTHREAD, i, &record);
        builder->text.size = 0;
        text_printf(&builder->text, "M %llu (OS thread %llu)",
                    (unsigned long long)record.osthread.id,
                    (unsigned long long)record.osthread.os_id);
        TRY(add_member(builder, group, (uint32_t)record.osthread.id, ID_OS_THREAD,
                       record.osthread.id, &node) &&
            map_put(&builder->threads, record.osthread.m, node, &number));
        TRY(add_named_pointer(builder, node, EDGE_TENTATIVE, "m", record.osthread.m));
    }
    return NULL;
}

/*
 * The collector does not keep an object for its finalizer, but all that the object points to; an
 * object that only its finalizer still knows hangs here rather than under (unreachable).
 */
static struct g2h_error *add_finalizers(struct builder *builder, enum g2h_record_kind kind,
                                        const char *name, uint32_t group_id)
{
    const struct g2h_heap *heap = builder->heap;
    const bool queued = kind == G2H_RECORD_QUEUEDFINALIZER;
    uint32_t group, node;
    if (heap->records[kind].count == 0)
        return NULL;
    TRY(add_group(builder, builder->gc_roots, name, group_id, &group));
    for (size_t i = 0; i < heap->records[kind].count; i++) {
        struct g2h_record record;
        size_t size;
        g2h_heap_record(heap, kind, i, &record);
        uint32_t object = heap_find(heap, record.finalizer.object);
        TRY(text_start(builder, "finalizer"));
        if (object != UINT32_MAX) {
            const char *class =
                string_pool_text(&builder->graph->strings,
                                 builder->graph->names.of_shape[heap->shape_of[object]], &size);
            text_printf(&builder->text, " of ");
            text_append(&builder->text, class, size);
        }
        TRY(add_member(builder, group, (uint32_t)i + 1, queued ? ID_QUEUED_FINALIZER : ID_FINALIZER,
                       record.finalizer.object, &node));
        TRY(add_named_pointer(builder, node, queued ? EDGE_INTERNAL : EDGE_TENTATIVE, "object",
                              record.finalizer.object));
        TRY(add_named_pointer(builder, node, EDGE_INTERNAL, "fn", record.finalizer.funcval));
    }
    return NULL;
}

static void append_goroutine(struct builder *builder, uint64_t g)
{
    uint32_t goid = map_get(&builder->goroutine_by_g, g);
    if (goid != MAP_NONE)
        text_printf(&builder->text, " in goroutine %u", goid);
}

static struct g2h_error *add_defers_and_panics(struct builder *builder)
{
    const struct g2h_heap *heap = builder->heap;
    const size_t defers = heap->records[G2H_RECORD_DEFER].count,
                 panics = heap->records[G2H_RECORD_PANIC].count;
    uint32_t group, node;
    if (defers + panics == 0)
        return NULL;
    TRY(add_group(builder, builder->gc_roots, "(defers and panics)", ID_DEFERS_AND_PANICS, &group));
    for (size_t i = 0; i < defers + panics; i++) {
        struct g2h_record record;
        if (i < defers) {
            g2h_heap_record(heap, G2H_RECORD_DEFER, i, &record);
            TRY(text_start(builder, "defer "));
            append_function(builder, record.defer.code, false);
            append_goroutine(builder, record.defer.g);
            TRY(add_member(builder, group, (uint32_t)i + 1, ID_DEFER, record.defer.address, &node));
            TRY(add_named_pointer(builder, node, EDGE_INTERNAL, "record", record.defer.address));
            TRY(add_named_pointer(builder, node, EDGE_INTERNAL, "fn", record.defer.funcval));
            continue;
        }
        g2h_heap_record(heap, G2H_RECORD_PANIC, i - defers, &record);
        TRY(text_start(builder, "panic"));
        append_goroutine(builder, record.panic.g);
        text_append_interface(&builder->text, heap, builder->graph->exe,
                              interface_type_of(heap, record.panic.type));
        TRY(add_member(builder, group, (uint32_t)i + 1, ID_PANIC, record.panic.address, &node));
        TRY(add_named_pointer(builder, node, EDGE_INTERNAL, "record", record.panic.address));
        TRY(add_named_pointer(builder, node, EDGE_INTERNAL, "data", record.panic.data));
    }
    return NULL;
}

static struct g2h_error *add_other_roots(struct builder *builder)
{
    const struct g2h_heap *heap = builder->heap;
    uint32_t group;
    if (heap->records[G2H_RECORD_OTHERROOT].count == 0)
        return NULL;
    TRY(add_group(builder, builder->gc_roots, "(other roots)", ID_OTHER_ROOTS, &group));
    for (size_t i = 0; i < heap->records[G2H_RECORD_OTHERROOT].count; i++) {
        struct g2h_record record;
        g2h_heap_record(heap, G2H_RECORD_OTHERROOT, i, &record);
        TRY(text_start(builder, ""));
        append_bytes(builder, &record.otherroot.description);
        TRY(add_pointer(builder, group, EDGE_PROPERTY, record.otherroot.pointer));
    }
    return NULL;
}

/* ---- allocation sites ---- */

/* Whether a frame is the runtime's own way to allocate; to 1.4 that was C code, whose functions
 * have no package. */
static bool is_allocator(const struct g2h_memprof_frame *frame)
{
    const struct g2h_bytes *file = &frame->file;
    return starts_with(&frame->function, "runtime.") ||
           (file->size > 4 && memcmp(file->data + file->size - 4, ".goc", 4) == 0) ||
           !memchr(frame->function.data, '.', (size_t)frame->function.size);
}

/* The innermost function that is not the runtime's, with its line, and who called it. */
static void site_name(struct builder *builder, struct g2h_memprof memprof)
{
    enum { CALLERS = 3 };
    struct g2h_memprof_frame frame;
    unsigned shown = 0;
    builder->text.size = 0;
    while (shown <= CALLERS && g2h_memprof_next_frame(&memprof, &frame)) {
        size_t size;
        const char *file = base_name(&frame.file, &size);
        if (shown == 0 && memprof.frame_count > 0 && is_allocator(&frame))
            continue;
        if (shown++ > 0)
            text_append(&builder->text, " \xe2\x86\x90 ", 5);
        text_append_utf8(&builder->text, frame.function.data, frame.function.size, NAME_LIMIT / 8);
        text_printf(&builder->text, " ");
        text_append_utf8(&builder->text, (const uint8_t *)file, size, NAME_LIMIT / 16);
        text_printf(&builder->text, ":%llu", (unsigned long long)frame.line);
    }
    if (shown == 0)
        text_printf(&builder->text, "(no stack)");
}

/* Sampled objects point, weakly, to where they were allocated: MemProfileRate bytes of allocation
 * make one sample. */
static struct g2h_error *add_allocation_sites(struct builder *builder)
{
    struct g2h_graph *graph = builder->graph;
    const struct g2h_heap *heap = builder->heap;
    struct map profile_by_id = {0}, node_by_id = {0};
    uint32_t group = UINT32_MAX, node, name, number = 0;
    bool good = graph_intern(graph, "allocated at", &name);

    for (size_t i = 0; i < heap->records[G2H_RECORD_MEMPROF].count && good; i++) {
        struct g2h_record record;
        g2h_heap_record(heap, G2H_RECORD_MEMPROF, i, &record);
        good = map_put(&profile_by_id, record.memprof.id, (uint32_t)i, &node);
    }
    for (size_t i = 0; i < heap->records[G2H_RECORD_ALLOCSAMPLE].count && good; i++) {
        struct g2h_record record, profile;
        g2h_heap_record(heap, G2H_RECORD_ALLOCSAMPLE, i, &record);
        uint32_t object = heap_find(heap, record.allocsample.object);
        uint32_t place = map_get(&profile_by_id, record.allocsample.memprof);
        graph->account.samples++;
        if (object == UINT32_MAX || place == MAP_NONE) {
            graph->account.samples_missed++;
            continue;
        }
        node = map_get(&node_by_id, record.allocsample.memprof);
        if (node == MAP_NONE) {
            if (group == UINT32_MAX)
                good = add_group(builder, builder->root, "(allocation sites)", ID_ALLOCATION_SITES,
                                 &group);
            g2h_heap_record(heap, G2H_RECORD_MEMPROF, place, &profile);
            site_name(builder, profile.memprof);
            good = good &&
                   add_member(builder, group, ++number, ID_ALLOCATION_SITE,
                              record.allocsample.memprof, &node) &&
                   map_put(&node_by_id, record.allocsample.memprof, node, &node);
        }
        good = good &&
               graph_add_edge(graph, node_object(object), EDGE_WEAK, name, node_synthetic(node));
    }
    map_deinit(&profile_by_id);
    map_deinit(&node_by_id);
    return good ? NULL : &error_no_memory;
}

/* ---- all of it ---- */

static struct g2h_error *add_all(struct builder *builder)
{
    struct g2h_error *error = NULL;
    TRY(text_start(builder, "") && add_text_node(builder, ID_ROOT, &builder->root));
    TRY(add_group(builder, builder->root, "(GC roots)", ID_GC_ROOTS, &builder->gc_roots));
    error = collect_functions(builder);
    if (!error)
        error = find_pointed_frames(builder);
    if (!error)
        error = add_globals(builder);
    if (!error)
        error = add_threads(builder);
    if (!error)
        error = add_goroutines(builder);
    if (!error)
        error = add_finalizers(builder, G2H_RECORD_FINALIZER, "(finalizers)", ID_FINALIZERS);
    if (!error)
        error = add_finalizers(builder, G2H_RECORD_QUEUEDFINALIZER, "(queued finalizers)",
                               ID_QUEUED_FINALIZERS);
    if (!error)
        error = add_defers_and_panics(builder);
    if (!error)
        error = add_other_roots(builder);
    if (!error)
        error = add_allocation_sites(builder);
    return error;
}

struct g2h_error *graph_add_roots(struct g2h_graph *graph)
{
    struct builder builder = {.graph = graph, .heap = graph->heap, .globals = UINT32_MAX};
    struct g2h_error *error = add_all(&builder);
    text_deinit(&builder.text);
    free(builder.functions.data);
    map_deinit(&builder.function_by_entry);
    map_deinit(&builder.packages);
    map_deinit(&builder.goroutine_by_g);
    map_deinit(&builder.creation_sites);
    map_deinit(&builder.threads);
    map_deinit(&builder.frame_by_sp);
    return error;
}
