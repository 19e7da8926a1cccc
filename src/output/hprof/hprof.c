/*
 * hprof: writes a view as a heap dump of Java, for Eclipse MAT and VisualVM. docs/hprof.md says
 * what stands for what.
 *
 * Strings, classes and stacks come first in the file, and are made before anything is written. The
 * objects follow by blocks of nodes; each block is one heap dump segment or several.
 *
 *   hprof               the file, with packages, threads and frames
 *   hprof_classes       the Java classes and arrays that Go's objects become; names that Java
 *                       allows, java.lang.String
 *   hprof_objects       instances and arrays
 *   file, hprof_records bytes
 */
#include <stdlib.h>

#include "base/contract.h"
#include "base/limits.h"
#include "output/hprof/file.h"
#include "output/hprof/hprof_classes.h"
#include "output/sink.h"

/* ==== what holds the objects ====
 *
 * A package is a class whose statics are its globals, and so is any other group of roots. A
 * goroutine is a thread. The objects that its frames hold are separate roots, with the number of
 * the frame; their names are in the frame's signature. Goroutines in one place are a group of
 * threads.
 */

/* The most statics of a class, which are counted in 16 bits; how many nodes are read at a time. */
enum { MOST_STATICS = INT16_MAX, MANY = 64 };

struct roots_making {
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
static const char *group_of(enum g2h_node_kind kind)
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
static struct g2h_error *static_name(struct roots_making *making, const struct g2h_node *node,
                                     const struct g2h_edge *edge, uint32_t *ret)
{
    struct java_names *names = &making->file->names;
    struct text *text = &making->text;
    const bool is_of_several = group_of(node->kind) != NULL;
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

/* Finds the class of a node's statics, such that another static can be added at its end: the class
 * that has the name, unless it is full, or statics of another class follow its own in the list;
 * then one more class of that name. Marks it as a root. */
static struct g2h_error *class_for(struct roots_making *making, const struct g2h_node *node,
                                   uint32_t *ret)
{
    struct classes *classes = &making->file->classes;
    size_t size;
    uint32_t name;
    const char *text = group_of(node->kind);
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
        class->first_static = as_u32(classes->statics.count);
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

/* Adds the strong edges of a node as statics of its class; edges to what the file does not have are
 * left out. */
static struct g2h_error *add_statics(struct roots_making *making, uint32_t number,
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

/* Returns where " file.go:17" begins at the end of a name, or size if the name has no such end.
 * *ret_line is then the number, of up to 9 digits. */
static size_t find_file(const char *name, size_t size, uint32_t *ret_line)
{
    enum { DIGITS = 9 }; /* such a number fits into 32 bits */
    size_t at = size;
    uint32_t line = 0, unit = 1;
    for (; at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9' && size - at < DIGITS; unit *= 10)
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
static size_t find_package(const char *name, size_t size)
{
    size_t end = 0, slash = 0;
    while (end < size && name[end] != '[' && name[end] != '(' && name[end] != ' ')
        if (name[end++] == '/')
            slash = end;
    const char *point = memchr(name + slash, '.', end - slash);
    return point ? as_size(point - name) : 0;
}

/* Splits a frame's name into its parts. Those that it does not have are empty. */
static struct frame_name split_frame_name(const char *name, size_t size)
{
    struct frame_name ret = {.package = name, .line = UINT32_MAX};
    const size_t end = find_file(name, size, &ret.line);
    ret.package_size = find_package(name, end);
    ret.function = name + ret.package_size + (ret.package_size > 0);
    ret.function_size = end - as_size(ret.function - name);
    if (end < size) {
        static const char colon = ':';
        ret.file = name + end + 1;
        for (ret.file_size = size - end - 1; ret.file[ret.file_size - 1] != colon;)
            ret.file_size--;
        ret.file_size--;
    }
    return ret;
}

/* Writes the record of a stack frame (HPROF_FRAME): id, function, signature, file, serial number of
 * the class, line; the function's package is its class. Adds the frame's id to making->list. */
static struct g2h_error *write_frame(struct roots_making *making, const struct g2h_node *node,
                                     uint32_t signature)
{
    enum { FRAME = 4 * ID_SIZE + 4 + 4 };
    static const char go[] = "go"; /* of functions without a package */
    struct java_names *names = &making->file->names;
    struct worker_buffer *buffer = &making->file->before;
    size_t size;
    const char *text = g2h_view_name(making->file->view, node->name, &size);
    const struct frame_name name = split_frame_name(text, size);
    uint32_t function, file, package, class;
    making->text.size = 0;
    if (name.package_size > 0)
        java_class_name(name.package, name.package_size, &making->text);
    else
        java_class_name(go, sizeof(go) - 1, &making->text);
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

/* Writes what a frame holds as roots of its thread, and makes the frame's signature of the names,
 * "(a, b)": *ret_signature is its string. Weak edges, and nodes that the file does not get, are
 * left out. */
static struct g2h_error *write_locals(struct roots_making *making, uint32_t number, uint32_t depth,
                                      uint32_t *ret_signature)
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
struct held {
    uint32_t stack; /* its id */
    VECTOR(uint32_t) frame_nodes;
    VECTOR(uint32_t) others; /* ids */
};

static void held_deinit(struct held *held)
{
    free(held->frame_nodes.data);
    free(held->others.data);
}

/* Divides the targets of a goroutine's strong edges: its frames, its stack, and others that the
 * file has. */
static struct g2h_error *find_held(struct roots_making *making, uint32_t number, struct held *ret)
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

/* Writes the frames of a thread, the objects that each holds, and the stack trace that lists the
 * frames. */
static struct g2h_error *write_stack(struct roots_making *making, const struct held *held)
{
    struct worker_buffer *buffer = &making->file->before;
    const uint32_t count = as_u32(held->frame_nodes.count);
    const uint32_t size = 4 + 4 + 4 + count * ID_SIZE;
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

/* Writes a String with a node's name; *ret is its id, and that of its bytes is the next one. Ids
 * are 2 apart. */
static struct g2h_error *write_name(struct roots_making *making, const struct g2h_node *node,
                                    uint32_t *ret)
{
    size_t size;
    const char *text = g2h_view_name(making->file->view, node->name, &size);
    *ret = take_ids(making->file, 2);
    return *ret == 0 ? file_is_too_large(making->file)
                     : java_string_write(&making->segment, *ret, *ret + 2, text, size);
}

/* Writes an array of the other objects that a thread holds; *ret is its id, or 0 without any. */
static struct g2h_error *write_others(struct roots_making *making, const struct held *held,
                                      uint32_t *ret)
{
    const uint32_t count = as_u32(held->others.count);
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

/* Writes a goroutine as a thread: its root, its stack trace, and an instance of Thread with its
 * name, its group, its stack, and all else that it holds. The fields are those of CLASS_THREAD in
 * hprof_classes.c; NORMAL is Java's Thread.NORM_PRIORITY. */
static struct g2h_error *write_thread(struct roots_making *making, uint32_t number,
                                      const struct g2h_node *node)
{
    enum { ROOT = 1 + ID_SIZE + 4 + 4, FIELDS = 4 * ID_SIZE + 8 + 4 + 4 + 1, NORMAL = 5 };
    _cleanup_(held_deinit) struct held held = {0};
    const uint32_t id = node_ids_of(&making->file->ids, number, node);
    uint32_t name, others;
    uint32_t group = map_get(&making->groups, number);
    char *at;
    making->threads++;
    TRY(find_held(making, number, &held));
    TRY(segment_reserve(&making->segment, ROOT, &at));
    at = put_u4(put_u1(at, HEAP_ROOT_THREAD), id);
    put_u4(put_u4(at, making->threads), making->threads); /* its stack trace has the same number */
    TRY(write_stack(making, &held));
    TRY(write_name(making, node, &name));
    TRY(write_others(making, &held, &others));
    TRY(segment_reserve(&making->segment, INSTANCE_HEADER + FIELDS, &at));
    at = put_instance(at, id, class_id(CLASS_THREAD), FIELDS);
    at = put_u4(put_u4(at, name), group == MAP_NONE ? 0 : group);
    at = put_u8(put_u4(put_u4(at, held.stack), others), node->key);
    put_u1(put_u4(put_u4(at, NORMAL), 0), 0);
    return NULL;
}

/* Writes a group of threads, and records which goroutines are in it. */
static struct g2h_error *write_group(struct roots_making *making, uint32_t number,
                                     const struct g2h_node *node)
{
    const uint32_t id = take_ids(making->file, 1);
    struct g2h_edge edge;
    uint32_t name, known;
    char *at;
    if (id == 0)
        return file_is_too_large(making->file);
    TRY(write_name(making, node, &name));
    TRY(segment_reserve(&making->segment, INSTANCE_HEADER + ID_SIZE, &at));
    put_u4(put_instance(at, id, class_id(CLASS_THREAD_GROUP), ID_SIZE), name);
    g2h_edges_begin(making->edges, number, number + 1);
    while (g2h_edges_next(making->edges, &edge))
        TRY_MEMORY(map_put(&making->groups, edge.target, id, &known));
    return NULL;
}

/* ---- all roots ---- */

typedef struct g2h_error *visit(struct roots_making *making, uint32_t number,
                                const struct g2h_node *node);

/* Writes a group of threads; these come before all other roots. */
static struct g2h_error *visit_group(struct roots_making *making, uint32_t number,
                                     const struct g2h_node *node)
{
    return node->kind == G2H_NODE_GOROUTINES_IN_PLACE ? write_group(making, number, node) : NULL;
}

/* Writes a node that is not a group of threads: a goroutine as a thread, any other root as
 * statics. */
static struct g2h_error *visit_other(struct roots_making *making, uint32_t number,
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

/* Calls one for the nodes from first to end. */
static struct g2h_error *visit_range(struct roots_making *making, uint32_t first, uint32_t end,
                                     visit *one)
{
    struct g2h_node nodes[MANY];
    for (uint32_t node = first; node < end; node += MANY) {
        const size_t count = g2h_view_nodes(making->file->view, node, MIN(end - node, MANY), nodes);
        for (size_t i = 0; i < count; i++)
            TRY(one(making, node + as_u32(i), &nodes[i]));
    }
    return NULL;
}

/* Visits the nodes before the objects, groups of threads first, and then the folded nodes, some of
 * which are roots; these come after the objects. An array has an element for each edge, also for
 * several to one folded node: hence g2h_edges_repeat(). */
static struct g2h_error *visit_all(struct roots_making *making)
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

/* Makes the records of the roots, and the contents of packages' classes: the statics of classes,
 * file->before and file->roots. Errors: G2H_ERROR_MEMORY; G2H_ERROR_LIMIT: there are not enough
 * ids. */
static struct g2h_error *roots_make(struct file *file)
{
    struct roots_making making = {.file = file};
    struct g2h_error *error = visit_all(&making);
    g2h_edges_destroy(making.edges);
    map_deinit(&making.groups);
    text_deinit(&making.text);
    free(making.list.data);
    return error;
}

/* ==== the file ====
 *
 * Its first task writes all before the objects, the others write blocks of nodes.
 */

enum {
    BLOCK = 1 << 14 /* nodes that are written together */,
};

struct hprof_writing {
    struct file file;
    const struct g2h_progress *progress;
    struct writer **writers; /* by thread */
    size_t blocks;           /* of nodes, BLOCK in each */
};

/* ---- preparation ---- */

/* Stores the ids and shapes of a task's nodes, of those that the file gets. */
static struct g2h_error *look_at_nodes(void *context, size_t task, unsigned worker)
{
    struct file *file = context;
    struct g2h_node nodes[MANY];
    const uint32_t first = as_u32(task) * BLOCK;
    size_t count = MANY;
    (void)worker;
    for (uint32_t node = first; node - first < BLOCK && count == MANY; node += MANY) {
        count = g2h_view_nodes(file->view, node, MANY, nodes);
        for (uint32_t i = 0; i < count; i++) {
            if (!is_written(&file->classes, node + i, &nodes[i]))
                continue;
            const struct shape_key key = shape_key_of(&file->classes, node + i, &nodes[i]);
            file->id_of[node + i] = node_ids_of(&file->ids, node + i, &nodes[i]);
            file->shape_of[node + i] = map_get(&file->classes.by_key, key.hash);
        }
    }
    return NULL;
}

struct hprof_finding {
    struct hprof_writing *writing;
    bool *has_rest; /* by shape */
};

/* A task: finds which shapes have, in a block of nodes, objects with an edge that no field is
 * for. */
static struct g2h_error *find_rests(void *context, size_t task, unsigned worker)
{
    const struct hprof_finding *finding = context;
    const uint32_t first = as_u32(task) * BLOCK;
    const uint32_t nodes = finding->writing->file.nodes;
    writer_find_rests(finding->writing->writers[worker], first,
                      nodes - first < BLOCK ? nodes : first + BLOCK, finding->has_rest);
    return NULL;
}

/* Adds a field for edges without one to shapes that need it. Only reading all edges shows which
 * shapes do. */
static struct g2h_error *add_rests(struct hprof_writing *writing, unsigned threads)
{
    struct classes *classes = &writing->file.classes;
    _cleanup_free_ bool *has_rest = calloc(classes->shapes.count + 1, sizeof(*has_rest));
    struct hprof_finding finding = {writing, has_rest};
    TRY_MEMORY(has_rest);
    TRY(workers_run(threads, writing->blocks, find_rests, &finding));
    for (size_t i = 0; i < classes->shapes.count; i++)
        if (has_rest[i])
            TRY(classes_add_rest(classes, i));
    return NULL;
}

/* Finds the nodes that are too large for one record, gives each as many pieces as it needs, and the
 * pieces ids. A node's record has its elements, and after them its edges that are in none of them:
 * all its edges are counted, which is never too few. Error: there are not enough ids. */
static struct g2h_error *find_pieces(struct file *file)
{
    struct g2h_node node;
    if (g2h_view_account(file->view)->largest_node < PIECE)
        return NULL;
    for (uint32_t i = 0; i < file->nodes; i++) {
        g2h_view_node(file->view, i, &node);
        const uint64_t elements = array_elements(written_size(&file->written, i, &node));
        if (file->id_of[i] == 0 || elements + node.edges <= PIECE_ELEMENTS)
            continue;
        const uint64_t count = (elements + node.edges) / PIECE_ELEMENTS + 1;
        struct pieces pieces = {.node = i, .count = (uint32_t)count};
        pieces.first_id = count < END_OF_FREE ? take_ids(file, pieces.count - 1) : 0;
        if (pieces.first_id == 0)
            return file_is_too_large(file);
        TRY_MEMORY(vector_push(&file->pieces, pieces));
    }
    assert(IS_ORDERED(i, file->pieces.count,
                      file->pieces.data[i - 1].node < file->pieces.data[i].node));
    return NULL;
}

/* Creates a writer for each thread. */
static struct g2h_error *create_writers(struct hprof_writing *writing, unsigned threads)
{
    writing->writers = calloc(threads, sizeof(*writing->writers));
    TRY_MEMORY(writing->writers);
    for (unsigned i = 0; i < threads; i++)
        TRY(writer_create(&writing->file, &writing->writers[i]));
    return NULL;
}

/* Makes names, ids, classes and roots, in the order in which they need each other; a helper's id
 * for each node. Error: there are more of them than ids (G2H_ERROR_LIMIT). */
static struct g2h_error *hprof_prepare(struct hprof_writing *writing, unsigned threads)
{
    struct file *file = &writing->file;
    writing->blocks = ((size_t)file->nodes + BLOCK - 1) / BLOCK;
    TRY_MEMORY(java_names_init(&file->names, file->view));
    TRY(node_ids_init(&file->ids, file->view, NULL));
    TRY(classes_init(&file->classes, file->view, &file->names));
    file->classes.largest_array = file->written.largest_array;
    TRY(classes_find(&file->classes, threads));
    file->id_of = large_alloc(count_and_end(file->nodes), sizeof(*file->id_of));
    file->shape_of = large_alloc(count_and_end(file->nodes), sizeof(*file->shape_of));
    TRY_MEMORY(file->id_of && file->shape_of);
    TRY(workers_run(threads, writing->blocks, look_at_nodes, file));
    TRY(create_writers(writing, threads));
    TRY(add_rests(writing, threads));
    assert(limits.hprof_ids <= END_OF_FREE);
    file->last_free = (uint32_t)limits.hprof_ids;
    file->first_helper = take_ids(file, file->nodes);
    if (file->first_helper == 0)
        return file_is_too_large(file);
    TRY(find_pieces(file));
    TRY(roots_make(file)); /* which adds classes, too */
    return class_id(as_u32(file->classes.list.count)) <= file->last_free ? NULL
                                                                         : file_is_too_large(file);
}

static void file_deinit(struct file *file)
{
    java_names_deinit(&file->names);
    node_ids_deinit(&file->ids);
    classes_deinit(&file->classes);
    large_free(file->id_of, count_and_end(file->nodes), sizeof(*file->id_of));
    large_free(file->shape_of, count_and_end(file->nodes), sizeof(*file->shape_of));
    free(file->pieces.data);
    worker_buffer_deinit(&file->before);
    worker_buffer_deinit(&file->roots);
}

/* ---- writing ---- */

/* Writes the first bytes of the file: version, size of ids, time. */
static struct g2h_error *hprof_write_header(struct worker_buffer *buffer)
{
    static const char version[] = "JAVA PROFILE 1.0.2"; /* with its NUL */
    char *at = worker_buffer_reserve(buffer, sizeof(version) + 4 + 8);
    TRY_MEMORY(at);
    memcpy(at, version, sizeof(version));
    put_u8(put_u4(at + sizeof(version), ID_SIZE), 0); /* the time, which a dump does not contain */
    buffer->size += sizeof(version) + 4 + 8;
    return NULL;
}

/* Writes a record for each string; its id is its number plus 1. */
static struct g2h_error *hprof_write_strings(const struct string_pool *pool,
                                             struct worker_buffer *buffer)
{
    for (uint32_t i = 0; i < pool->count; i++) {
        size_t size;
        const char *text = string_pool_text(pool, i, &size);
        char *at = worker_buffer_reserve(buffer, RECORD_HEADER + ID_SIZE + size);
        TRY_MEMORY(at);
        at = put_u4(put_record(at, RECORD_STRING, (uint32_t)(ID_SIZE + size)), i + 1);
        if (size > 0)
            memcpy(at, text, size);
        buffer->size += RECORD_HEADER + ID_SIZE + size;
        if (buffer->size > SEGMENT_MOST)
            TRY(worker_buffer_flush(buffer));
    }
    return NULL;
}

/* Writes all that comes before the objects. */
static struct g2h_error *write_begin(const struct file *file, struct worker_buffer *buffer)
{
    TRY(hprof_write_header(buffer));
    TRY(hprof_write_strings(&file->names.pool, buffer));
    TRY(classes_write_loads(&file->classes, buffer));
    TRY_MEMORY(worker_buffer_put(buffer, file->before.data, file->before.size));
    TRY(classes_write(&file->classes, buffer));
    TRY_MEMORY(worker_buffer_put(buffer, file->roots.data, file->roots.size));
    return NULL;
}

/* Writes the record that ends the heap dump. */
static struct g2h_error *write_end(struct worker_buffer *buffer)
{
    char *at = worker_buffer_reserve(buffer, RECORD_HEADER);
    TRY_MEMORY(at);
    put_record(at, RECORD_HEAP_END, 0);
    buffer->size += RECORD_HEADER;
    return NULL;
}

/* Returns the number of tasks, each of which writes a part of the file: what comes before the
 * nodes, one block of nodes after the other, and the end. */
static size_t hprof_tasks(const struct hprof_writing *writing)
{
    return writing->blocks + 2;
}

/* Writes the part of one task. The first has all before the objects, the last the end, and the
 * others a block of nodes each. */
static struct g2h_error *hprof_produce(void *context, size_t task, unsigned worker,
                                       struct worker_buffer *buffer)
{
    const struct hprof_writing *writing = context;
    const uint32_t nodes = writing->file.nodes;
    if (writing->progress && worker == 0) /* worker 0 is the thread of the caller */
        writing->progress->update(writing->progress->context, "writing", task, hprof_tasks(writing),
                                  0);
    if (task == 0)
        return write_begin(&writing->file, buffer);
    if (task > writing->blocks)
        return write_end(buffer);
    const uint32_t first = as_u32(task - 1) * BLOCK,
                   end = nodes - first < BLOCK ? nodes : first + BLOCK;
    return writer_write(writing->writers[worker], first, end, buffer);
}

/* Finds all that the beginning of the file lists, then writes it, one task after the other. */
static struct g2h_error *hprof_write_file(struct hprof_writing *writing, unsigned threads,
                                          const struct g2h_output_options *options)
{
    TRY(hprof_prepare(writing, threads));
    return sink_run(options, threads, hprof_tasks(writing), hprof_produce, writing);
}

/* Writes the view as a dump of Java. hprof has no retained sizes, so dominators are not used. Other
 * bytes than those of a big-endian heap are swapped, since the format is big-endian. */
struct g2h_error *g2h_write_hprof(const struct g2h_view *view,
                                  const struct g2h_dominators *dominators,
                                  const struct g2h_output_options *given)
{
    struct g2h_output_options known;
    const struct g2h_output_options *options = OPTIONS_COPY(&known, given);
    const unsigned threads = sink_threads(view, options);
    struct hprof_writing writing = {.progress = options->progress};
    (void)dominators;
    writing.file.view = view;
    writing.file.written = written_begin(view, options);
    writing.file.heap = g2h_view_heap(view);
    writing.file.name = options->name;
    writing.file.nodes = g2h_view_node_count(view);
    writing.file.is_redacted = g2h_view_is_redacted(view);
    writing.file.swaps = !g2h_heap_params(writing.file.heap)->big_endian;
    struct g2h_error *error = hprof_write_file(&writing, threads, options);
    for (unsigned i = 0; writing.writers && i < threads; i++)
        writer_destroy(writing.writers[i]);
    free(writing.writers);
    file_deinit(&writing.file);
    return error;
}
