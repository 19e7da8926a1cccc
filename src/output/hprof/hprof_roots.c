/*
 * hprof_roots: writes what holds the objects.
 *
 * A package is a class whose statics are its globals, and so is any other group of roots. A
 * goroutine is a thread. The objects that its frames hold are separate roots, with the number of
 * the frame; their names are in the frame's signature. Goroutines in one place are a group of
 * threads.
 */
#include <stdlib.h>

#include "output/hprof/file.h"
#include "output/hprof/java_string.h"

enum { MOST_STATICS = INT16_MAX, MANY = 64 };

struct hprof_roots_making {
    struct file *file;
    struct g2h_edges *edges;
    struct hprof_segment segment;
    struct map groups;     /* node of a goroutine → id of its thread group */
    struct text text;      /* a name that is being made */
    VECTOR(uint32_t) list; /* ids: frames of a stack, or what a thread holds */
    uint32_t threads, frames;
};

/* ---- classes with statics ---- */

/* Returns the name of the class that has the edges of all nodes of a kind as statics; NULL: each
 * node has a class of its own name. */
static const char *hprof_roots_group_of(enum g2h_node_kind kind)
{
    switch (kind) {
    case G2H_NODE_FINALIZER:
        return "(finalizers)";
    case G2H_NODE_QUEUED_FINALIZER:
        return "(queued finalizers)";
    case G2H_NODE_DEFER:
    case G2H_NODE_DEFERRED_CALLS:
    case G2H_NODE_PANIC:
        return "(defers and panics)";
    case G2H_NODE_OS_THREAD:
        return "(OS threads)";
    case G2H_NODE_CLEANUP:
        return "(cleanups)";
    case G2H_NODE_FOLDED_SYNTHETICS:
        return "(folded)";
    default:
        return NULL;
    }
}

/* Finds the name of an edge as a static: the edge's name or index, with its node's name in front if
 * the class is that of several nodes. */
static struct g2h_error *static_name(struct hprof_roots_making *making, const struct g2h_node *node,
                                     const struct g2h_edge *edge, uint32_t *ret)
{
    struct java_names *names = &making->file->names;
    struct text *text = &making->text;
    const bool is_of_several = hprof_roots_group_of(node->kind) != NULL;
    size_t size;
    const char *name;
    if (!is_of_several && edge->name != G2H_NAME_NONE) {
        TRY_MEMORY(java_names_of_view(names, edge->name, ret));
        return NULL;
    }
    text->size = 0;
    if (is_of_several) {
        name = g2h_view_name(making->file->view, node->name, &size);
        text_append(text, name, size);
        text_append_string(text, ".");
    }
    name = g2h_view_name(making->file->view, edge->name, &size);
    text_append(text, name, size);
    if ((edge->flags & G2H_EDGE_BY_INDEX) != 0)
        text_append_number(text, edge->index);
    TRY_MEMORY(!text->failed && java_names_text(names, text->data, text->size, ret));
    return NULL;
}

/* Finds the class of a node's statics, such that another static can be added at its end. */
static struct g2h_error *class_for(struct hprof_roots_making *making, const struct g2h_node *node,
                                   uint32_t *ret)
{
    struct classes *classes = &making->file->classes;
    size_t size;
    uint32_t name;
    const char *text = hprof_roots_group_of(node->kind);
    making->text.size = 0;
    if (text)
        size = strlen(text);
    else
        text = g2h_view_name(making->file->view, node->name, &size);
    java_class_name(text, size, &making->text);
    TRY_MEMORY(!making->text.failed &&
               java_names_text(&making->file->names, making->text.data, making->text.size, &name));
    TRY(classes_named(classes, name, ret));
    struct class *class = &classes->list.data[*ret];
    if (class->statics == 0)
        class->first_static = (uint32_t)classes->statics.count;
    if (class->first_static + class->statics == classes->statics.count &&
        class->statics < MOST_STATICS) {
        class->is_root = true;
        return NULL;
    }
    TRY(classes_add(classes, name, ret)); /* another class of that name */
    classes->list.data[*ret].is_root = true;
    map_set(&classes->by_name, name, *ret);
    return NULL;
}

static struct g2h_error *add_statics(struct hprof_roots_making *making, uint32_t number,
                                     const struct g2h_node *node)
{
    struct classes *classes = &making->file->classes;
    struct g2h_edge edge;
    g2h_edges_begin(making->edges, number, number + 1);
    while (g2h_edges_next(making->edges, &edge)) {
        struct class_static made = {.value = making->file->id_of[edge.target],
                                    .type = TYPE_OF_OBJECT};
        uint32_t class;
        if ((edge.flags & G2H_EDGE_WEAK) != 0 || made.value == 0)
            continue;
        TRY(static_name(making, node, &edge, &made.name));
        TRY(class_for(making, node, &class));
        TRY_MEMORY(vector_push(&classes->statics, made));
        classes->list.data[class].statics++;
    }
    return NULL;
}

/* ---- frames ---- */

/* The parts of a frame's name: "net/http.(*conn).serve server.go:2000". */
struct frame_name {
    const char *package, *function, *file;
    size_t package_size, function_size, file_size;
    uint32_t line; /* UINT32_MAX: unknown */
};

/* Returns where " file.go:17" begins at the end of a name, or size if the name has no such end. */
static size_t hprof_roots_find_file(const char *name, size_t size, uint32_t *ret_line)
{
    size_t at = size;
    uint32_t line = 0, unit = 1;
    for (; at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9' && size - at < 9; unit *= 10)
        line += (uint32_t)(name[--at] - '0') * unit;
    if (at == size || at == 0 || name[at - 1] != ':')
        return size;
    while (at > 0 && name[at - 1] != ' ')
        at--;
    if (at == 0)
        return size;
    *ret_line = line;
    return at - 1;
}

/* Returns where a function's package ends: at the first dot after the last slash, in the part
 * before any brackets; or 0 if it has no package. */
static size_t hprof_roots_find_package(const char *name, size_t size)
{
    size_t end = 0, slash = 0;
    while (end < size && name[end] != '[' && name[end] != '(' && name[end] != ' ')
        if (name[end++] == '/')
            slash = end;
    const char *point = memchr(name + slash, '.', end - slash);
    return point ? (size_t)(point - name) : 0;
}

static struct frame_name split_frame_name(const char *name, size_t size)
{
    struct frame_name ret = {.package = name, .line = UINT32_MAX};
    const size_t end = hprof_roots_find_file(name, size, &ret.line);
    ret.package_size = hprof_roots_find_package(name, end);
    ret.function = name + ret.package_size + (ret.package_size > 0);
    ret.function_size = end - (size_t)(ret.function - name);
    if (end < size) {
        static const char colon = ':';
        ret.file = name + end + 1;
        for (ret.file_size = size - end - 1; ret.file[ret.file_size - 1] != colon;)
            ret.file_size--;
        ret.file_size--;
    }
    return ret;
}

static struct g2h_error *write_frame(struct hprof_roots_making *making, const struct g2h_node *node,
                                     uint32_t signature)
{
    enum { FRAME = 4 * ID_SIZE + 4 + 4 };
    static const char go[] = "go";
    struct java_names *names = &making->file->names;
    struct worker_buffer *buffer = &making->file->before;
    size_t size;
    const char *text = g2h_view_name(making->file->view, node->name, &size);
    const struct frame_name name = split_frame_name(text, size);
    uint32_t function, file, package, class;
    making->text.size = 0;
    java_class_name(name.package_size > 0 ? name.package : go,
                    name.package_size > 0 ? name.package_size : sizeof(go) - 1, &making->text);
    char *at = worker_buffer_reserve(buffer, RECORD_HEADER + FRAME);
    TRY_MEMORY(at && !making->text.failed &&
               java_names_text(names, name.function, name.function_size, &function) &&
               java_names_text(names, name.file ? name.file : "", name.file_size, &file) &&
               java_names_text(names, making->text.data, making->text.size, &package));
    TRY(classes_named(&making->file->classes, package, &class));
    at = put_record(at, RECORD_STACK_FRAME, FRAME);
    at = put_u4(put_u4(at, ++making->frames), function);
    put_u4(put_u4(put_u4(put_u4(at, signature), file), class + 1), name.line);
    buffer->size += RECORD_HEADER + FRAME;
    TRY_MEMORY(vector_push(&making->list, making->frames));
    return NULL;
}

/* Writes what a frame holds as roots of its thread, and makes the frame's signature. */
static struct g2h_error *write_locals(struct hprof_roots_making *making, uint32_t number,
                                      uint32_t depth, uint32_t *ret_signature)
{
    enum { ROOT = 1 + ID_SIZE + 4 + 4 };
    struct g2h_edge edge;
    struct text *text = &making->text;
    char *at;
    text->size = 0;
    text_append_string(text, "(");
    g2h_edges_begin(making->edges, number, number + 1);
    while (g2h_edges_next(making->edges, &edge)) {
        const uint32_t id = making->file->id_of[edge.target];
        size_t size;
        if ((edge.flags & G2H_EDGE_WEAK) != 0 || id == 0)
            continue;
        const char *name = g2h_view_name(making->file->view, edge.name, &size);
        if (text->size > 1)
            text_append_string(text, ", ");
        text_append(text, name, size);
        TRY(segment_reserve(&making->segment, ROOT, &at));
        at = put_u4(put_u1(at, HEAP_ROOT_FRAME), id);
        put_u4(put_u4(at, making->threads), depth);
    }
    text_append_string(text, ")");
    TRY_MEMORY(!text->failed &&
               java_names_text(&making->file->names, text->data, text->size, ret_signature));
    return NULL;
}

/* ---- threads ---- */

/* The targets of a goroutine's edges. */
struct hprof_roots_held {
    uint32_t stack; /* its id */
    VECTOR(uint32_t) frame_nodes;
    VECTOR(uint32_t) others; /* ids */
};

static void held_deinit(struct hprof_roots_held *held)
{
    free(held->frame_nodes.data);
    free(held->others.data);
}

static struct g2h_error *hprof_roots_find_held(struct hprof_roots_making *making, uint32_t number,
                                               struct hprof_roots_held *ret)
{
    struct g2h_edge edge;
    struct g2h_node target;
    g2h_edges_begin(making->edges, number, number + 1);
    while (g2h_edges_next(making->edges, &edge)) {
        const uint32_t id = making->file->id_of[edge.target];
        if ((edge.flags & G2H_EDGE_WEAK) != 0)
            continue;
        g2h_view_brief(making->file->view, edge.target, &target);
        if (target.kind == G2H_NODE_FRAME)
            TRY_MEMORY(vector_push(&ret->frame_nodes, edge.target));
        else if (target.kind == G2H_NODE_STACK && ret->stack == 0)
            ret->stack = id;
        else if (id != 0)
            TRY_MEMORY(vector_push(&ret->others, id));
    }
    return NULL;
}

static struct g2h_error *write_stack(struct hprof_roots_making *making,
                                     const struct hprof_roots_held *held)
{
    struct worker_buffer *buffer = &making->file->before;
    const uint32_t count = (uint32_t)held->frame_nodes.count, size = 4 + 4 + 4 + count * ID_SIZE;
    making->list.count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct g2h_node frame;
        uint32_t signature;
        g2h_view_brief(making->file->view, held->frame_nodes.data[i], &frame);
        TRY(write_locals(making, held->frame_nodes.data[i], i, &signature));
        TRY(write_frame(making, &frame, signature));
    }
    char *at = worker_buffer_reserve(buffer, RECORD_HEADER + size);
    TRY_MEMORY(at);
    at = put_record(at, RECORD_STACK_TRACE, size);
    at = put_u4(put_u4(put_u4(at, making->threads), making->threads), count);
    for (uint32_t i = 0; i < count; i++)
        at = put_u4(at, making->list.data[i]);
    buffer->size += RECORD_HEADER + size;
    return NULL;
}

/* Writes a String with a node's name; *ret is its id. */
static struct g2h_error *hprof_roots_write_name(struct hprof_roots_making *making,
                                                const struct g2h_node *node, uint32_t *ret)
{
    size_t size;
    const char *text = g2h_view_name(making->file->view, node->name, &size);
    *ret = take_ids(making->file, 2);
    return *ret == 0 ? file_is_too_large(making->file)
                     : java_string_write(&making->segment, *ret, *ret + 2, text, size);
}

/* Writes an array of the other objects that a thread holds; *ret is its id, or 0 without any. */
static struct g2h_error *write_others(struct hprof_roots_making *making,
                                      const struct hprof_roots_held *held, uint32_t *ret)
{
    const uint32_t count = (uint32_t)held->others.count;
    char *at;
    *ret = 0;
    if (count == 0)
        return NULL;
    *ret = take_ids(making->file, 1);
    if (*ret == 0)
        return file_is_too_large(making->file);
    TRY(segment_reserve(&making->segment, OBJECTS_HEADER + (size_t)count * ID_SIZE, &at));
    at = put_objects(at, *ret, class_id(CLASS_OBJECTS), count);
    for (uint32_t i = 0; i < count; i++)
        at = put_u4(at, held->others.data[i]);
    return NULL;
}

static struct g2h_error *write_thread(struct hprof_roots_making *making, uint32_t number,
                                      const struct g2h_node *node)
{
    enum { ROOT = 1 + ID_SIZE + 4 + 4, FIELDS = 4 * ID_SIZE + 8 + 4 + 4 + 1, NORMAL = 5 };
    _cleanup_(held_deinit) struct hprof_roots_held held = {0};
    const uint32_t id = node_ids_of(&making->file->ids, number, node);
    uint32_t name, others, group = map_get(&making->groups, number);
    char *at;
    making->threads++;
    TRY(hprof_roots_find_held(making, number, &held));
    TRY(segment_reserve(&making->segment, ROOT, &at));
    at = put_u4(put_u1(at, HEAP_ROOT_THREAD), id);
    put_u4(put_u4(at, making->threads), making->threads); /* its stack trace has the same number */
    TRY(write_stack(making, &held));
    TRY(hprof_roots_write_name(making, node, &name));
    TRY(write_others(making, &held, &others));
    TRY(segment_reserve(&making->segment, INSTANCE_HEADER + FIELDS, &at));
    at = put_instance(at, id, class_id(CLASS_THREAD), FIELDS);
    at = put_u4(put_u4(at, name), group == MAP_NONE ? 0 : group);
    at = put_u8(put_u4(put_u4(at, held.stack), others), node->key);
    put_u1(put_u4(put_u4(at, NORMAL), 0), 0);
    return NULL;
}

/* Writes a group of threads, and records which goroutines are in it. */
static struct g2h_error *write_group(struct hprof_roots_making *making, uint32_t number,
                                     const struct g2h_node *node)
{
    const uint32_t id = take_ids(making->file, 1);
    struct g2h_edge edge;
    uint32_t name, known;
    char *at;
    if (id == 0)
        return file_is_too_large(making->file);
    TRY(hprof_roots_write_name(making, node, &name));
    TRY(segment_reserve(&making->segment, INSTANCE_HEADER + ID_SIZE, &at));
    put_u4(put_instance(at, id, class_id(CLASS_THREAD_GROUP), ID_SIZE), name);
    g2h_edges_begin(making->edges, number, number + 1);
    while (g2h_edges_next(making->edges, &edge))
        TRY_MEMORY(map_put(&making->groups, edge.target, id, &known));
    return NULL;
}

/* ---- all roots ---- */

typedef struct g2h_error *visit(struct hprof_roots_making *making, uint32_t number,
                                const struct g2h_node *node);

/* Writes a group of threads; these come before all other roots. */
static struct g2h_error *visit_group(struct hprof_roots_making *making, uint32_t number,
                                     const struct g2h_node *node)
{
    return node->kind == G2H_NODE_GOROUTINES_IN_PLACE ? write_group(making, number, node) : NULL;
}

static struct g2h_error *visit_other(struct hprof_roots_making *making, uint32_t number,
                                     const struct g2h_node *node)
{
    switch (node->kind) {
    case G2H_NODE_GOROUTINE:
        return write_thread(making, number, node);
    case G2H_NODE_FRAME: /* written with its goroutine */
        return NULL;
    default:
        return making->file->id_of[number] != 0 ? NULL : add_statics(making, number, node);
    }
}

static struct g2h_error *visit_range(struct hprof_roots_making *making, uint32_t first,
                                     uint32_t end, visit *one)
{
    struct g2h_node nodes[MANY];
    for (uint32_t node = first; node < end; node += MANY) {
        const size_t count =
            g2h_view_nodes(making->file->view, node, end - node < MANY ? end - node : MANY, nodes);
        for (size_t i = 0; i < count; i++)
            TRY(one(making, node + (uint32_t)i, &nodes[i]));
    }
    return NULL;
}

/* Visits the nodes before the objects, groups of threads first, and then the folded nodes, some of
 * which are roots; these come after the objects. An array has an element for each edge, also for
 * several to one folded node: hence g2h_edges_repeat(). */
static struct g2h_error *hprof_roots_make(struct hprof_roots_making *making)
{
    const struct file *file = making->file;
    TRY(g2h_edges_create(file->view, &making->edges));
    g2h_edges_repeat(making->edges, true);
    TRY(segment_open(&making->segment, &making->file->roots));
    TRY(visit_range(making, 0, file->ids.first_object, visit_group));
    TRY(visit_range(making, 0, file->ids.first_object, visit_other));
    TRY(visit_range(making, file->ids.first_folded, file->nodes, visit_other));
    segment_close(&making->segment);
    return NULL;
}

struct g2h_error *roots_make(struct file *file)
{
    struct hprof_roots_making making = {.file = file};
    struct g2h_error *error = hprof_roots_make(&making);
    g2h_edges_destroy(making.edges);
    map_deinit(&making.groups);
    text_deinit(&making.text);
    free(making.list.data);
    return error;
}
