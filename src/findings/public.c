/*
 * public: the findings for users of the library, include/go2heapsnapshot/findings.h: classes,
 * suspects, and the path to an object.
 *
 * Each question has a struct answer, which owns the structs and strings that it returns: it is
 * filled by the first call and freed with the findings. All results are copies of what findings.h,
 * class_rows.h and suspects.h find, with names made printable.
 */
#include <go2heapsnapshot/findings.h>

#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/bytes.h>

#include "base/contract.h"
#include "base/error.h"
#include "findings/class_rows.h"
#include "findings/findings.h"
#include "findings/path.h"
#include "findings/suspects.h"

/* The structs that answer a question, and all memory that they are made of. */
struct answer {
    VECTOR(void *) structs;
    VECTOR(void *) memory;
    bool is_whole;
};

struct g2h_findings {
    struct findings findings;
    struct answer classes, suspects, path, expression;
    struct path_search from_root; /* view NULL: it has not begun */
};

static void answer_deinit(struct answer *answer)
{
    for (size_t i = 0; i < answer->memory.count; i++)
        free(answer->memory.data[i]);
    free(answer->memory.data);
    free(answer->structs.data);
    *answer = (struct answer){.is_whole = false};
}

/* Adds a zeroed struct of this size, whose first member is its size: users of older headers see how
 * much of it they know. Returns NULL if memory runs out. */
static void *public_add(struct answer *answer, size_t size)
{
    void *made = calloc(1, size);
    if (!made || !vector_push(&answer->memory, made)) {
        free(made);
        return NULL;
    }
    memcpy(made, &size, sizeof(size));
    return vector_push(&answer->structs, made) ? made : NULL;
}

/* Moves a string to an answer, which frees it; text becomes empty. Makes it printable, since names
 * come from the dump. */
static struct g2h_error *keep(struct answer *answer, struct text *text, const char **ret)
{
    text_append(text, "", 1);
    TRY_MEMORY(!text->failed && vector_push(&answer->memory, text->data));
    text->data[g2h_printable(text->data, text->size - 1)] = '\0';
    *ret = text->data;
    *text = (struct text){0};
    return NULL;
}

/* Keeps a copy of a name as long as the answer. */
static struct g2h_error *keep_name(struct answer *answer, const char *name, size_t size,
                                   const char **ret)
{
    _cleanup_(text_deinit) struct text text = {0};
    text_append(&text, name, size);
    return keep(answer, &text, ret);
}

static void *struct_at(const struct answer *answer, size_t index)
{
    return index < answer->structs.count ? answer->structs.data[index] : NULL;
}

/* ---- the basis ---- */

CLEANUP_POINTER(public_destroy, struct g2h_findings, g2h_findings_destroy);

/* Makes the merged tree now; the answers are found when they are asked for. */
struct g2h_error *g2h_findings_create(const struct g2h_view *view,
                                      const struct g2h_findings_options *given,
                                      struct g2h_findings **ret)
{
    struct g2h_findings_options options;
    _cleanup_(public_destroy) struct g2h_findings *made = calloc(1, sizeof(*made));
    TRY_MEMORY(made);
    OPTIONS_COPY(&options, given);
    made->findings.view = view;
    made->findings.dominators = options.dominators;
    made->findings.threads = options.threads;
    TRY(findings_begin(&made->findings, false));
    TRY(findings_merge(&made->findings));
    *ret = take_pointer(made);
    return NULL;
}

void g2h_findings_destroy(struct g2h_findings *findings)
{
    if (!findings)
        return;
    answer_deinit(&findings->classes);
    answer_deinit(&findings->suspects);
    answer_deinit(&findings->path);
    answer_deinit(&findings->expression);
    path_search_deinit(&findings->from_root);
    findings_deinit(&findings->findings);
    free(findings);
}

/* Answers a question once, or again if memory ran out the last time. */
static struct g2h_error *answer_once(struct g2h_findings *findings, struct answer *answer,
                                     struct g2h_error *(*find)(struct g2h_findings *findings),
                                     size_t *ret)
{
    if (!answer->is_whole) {
        answer_deinit(answer);
        TRY(find(findings));
        answer->is_whole = true;
    }
    *ret = answer->structs.count;
    return NULL;
}

/* ---- classes ---- */

/* Orders classes by what they retain, the most first. */
static int by_retained(const void *a, const void *b)
{
    const struct class_row *one = a;
    const struct class_row *other = b;
    if (one->retained != other->retained)
        return COMPARE(other->retained, one->retained);
    return COMPARE(one->node, other->node);
}

/* Fills the answer to g2h_findings_classes(): the rows of all classes and stacks, the one that
 * retains most first. */
static struct g2h_error *public_find_classes(struct g2h_findings *found)
{
    const struct findings *findings = &found->findings;
    _cleanup_(class_rows_deinit) struct class_rows rows = {0};
    TRY(class_rows_find(findings, true, &rows));
    vector_sort(&rows.list, by_retained);
    VECTOR_EACH(const struct class_row, row, rows.list) {
        struct g2h_class *made = public_add(&found->classes, sizeof(*made));
        size_t size;
        TRY_MEMORY(made);
        const char *name = merged_name(&findings->merged, row->node, &size);
        TRY(keep_name(&found->classes, name, size, &made->name));
        made->objects = row->count;
        made->bytes = row->bytes;
        made->retained = row->retained;
        made->garbage = row->garbage;
        made->example = findings_node(findings, row->node)->example;
    }
    return NULL;
}

struct g2h_error *g2h_findings_classes(struct g2h_findings *findings, size_t *ret)
{
    return answer_once(findings, &findings->classes, public_find_classes, ret);
}

const struct g2h_class *g2h_findings_class(const struct g2h_findings *findings, size_t index)
{
    return struct_at(&findings->classes, index);
}

/* Appends the name of a node of merged. */
static void public_append_name(const struct findings *findings, uint32_t node, struct text *text)
{
    size_t size;
    const char *name = merged_name(&findings->merged, node, &size);
    text_append(text, name, size);
}

/* Composes "1,234 main.Session, in 3 × main.Store": how many objects, and in what. */
static struct g2h_error *keep_sentence(struct g2h_findings *found, const struct suspect *suspect,
                                       const struct example *example, const char **ret)
{
    const struct findings *findings = &found->findings;
    _cleanup_(text_deinit) struct text text = {0};
    text_append_grouped(&text, who_count(findings, suspect));
    text_append_string(&text, " ");
    public_append_name(findings, suspect->item, &text);
    if (suspect->holder != MERGED_NONE) {
        struct who_holders holders;
        TRY(who_find_holders(findings, suspect, example, &holders));
        text_printf(&text, ", in ");
        if (holders.part) {
            text_printf(&text, "one %s of ", holders.part);
        } else if (holders.count > 1) {
            text_append_grouped(&text, holders.count);
            text_printf(&text, " × ");
        }
        public_append_name(findings, suspect->holder, &text);
    }
    return keep(&found->suspects, &text, ret);
}

/* Stores an example of a suspect in ret, and the path to it unless that begins with the example
 * itself, as goroutines' does. */
static struct g2h_error *keep_example(struct g2h_findings *found, const struct suspect *suspect,
                                      const struct example *example, struct g2h_suspect *ret)
{
    const struct findings *findings = &found->findings;
    _cleanup_(text_deinit) struct text held_by = {0};
    ret->example = example->node;
    if (findings_node(findings, suspect->item)->kind == MERGED_CLASS)
        TRY(who_append_path(findings, suspect, example, &held_by, &ret->example));
    ret->is_container = suspect->held_at != MERGED_NONE;
    return keep(&found->suspects, &held_by, &ret->held_by);
}

/* Fills the answer to g2h_findings_suspects(). */
static struct g2h_error *find_suspects(struct g2h_findings *found)
{
    const struct findings *findings = &found->findings;
    _cleanup_vector_ suspect_vector suspects = {0};
    TRY(suspects_find(findings, &suspects));
    VECTOR_EACH(const struct suspect, suspect, suspects) {
        struct g2h_suspect *made = public_add(&found->suspects, sizeof(*made));
        _cleanup_(text_deinit) struct text name = {0};
        struct example example;
        TRY_MEMORY(made);
        public_append_name(findings, suspect->item, &name);
        TRY(keep(&found->suspects, &name, &made->name));
        TRY(example_find(findings, suspect->item, &example));
        TRY(keep_sentence(found, suspect, &example, &made->sentence));
        TRY(keep_example(found, suspect, &example, made));
        made->objects = who_count(findings, suspect);
        made->retained = suspect->bytes;
        made->share = as_ratio(suspect->bytes, findings->reachable);
    }
    return NULL;
}

struct g2h_error *g2h_findings_suspects(struct g2h_findings *findings, size_t *ret)
{
    return answer_once(findings, &findings->suspects, find_suspects, ret);
}

const struct g2h_suspect *g2h_findings_suspect(const struct g2h_findings *findings, size_t index)
{
    return struct_at(&findings->suspects, index);
}

/* ---- what keeps an object alive ---- */

/* Finds the nodes of the path, from the root on, by a search that is kept for the next question.
 * Adds nothing if the node cannot be reached. */
static struct g2h_error *public_find_nodes(struct g2h_findings *found, uint32_t node,
                                           node_vector *ret)
{
    struct path_search *search = &found->from_root;
    bool more = true;
    if (!search->seen_by_node)
        TRY(path_search_begin(search, found->findings.view, paths_edges(found->findings.paths), 0,
                              PATH_STRONG, PATH_NO_LIMIT));
    while (search->seen_by_node[node] == 0 && more)
        TRY(path_search_extend(search, &more));
    if (search->seen_by_node[node] != 0)
        TRY_MEMORY(vector_push(ret, 0) &&
                   path_search_append(search, search->seen_by_node[node] - 1, ret));
    return NULL;
}

/* Keeps the name of the first strong edge between two nodes. Keeps an empty one if there is
 * none. */
static struct g2h_error *keep_edge(struct g2h_findings *found, uint32_t from, uint32_t to,
                                   const char **ret)
{
    const struct g2h_view *view = found->findings.view;
    struct g2h_edges *edges = paths_edges(found->findings.paths);
    _cleanup_(text_deinit) struct text text = {0};
    struct g2h_edge edge;
    g2h_edges_begin(edges, from, from + 1);
    while (g2h_edges_next_to(edges, to, &edge)) {
        if ((edge.flags & G2H_EDGE_WEAK) != 0)
            continue;
        expression_append_edge(view, edges, &edge, &text);
        break;
    }
    return keep(&found->path, &text, ret);
}

/* Adds a node of the path to the answer, and the name of the edge that leads there from the node
 * before it; the root has none. */
static struct g2h_error *add_step(struct g2h_findings *found, uint32_t from, uint32_t number)
{
    struct g2h_step *step = public_add(&found->path, sizeof(*step));
    struct g2h_node node;
    size_t size;
    TRY_MEMORY(step);
    g2h_view_brief(found->findings.view, number, &node);
    const char *name = findings_class_name(found->findings.view, &node, &size);
    step->node = number;
    step->address = node.object == UINT32_MAX ? 0 : node.address;
    step->edge = "";
    step->name = "(root)";
    if (number == 0)
        return NULL;
    TRY(keep_name(&found->path, name, size, &step->name));
    return keep_edge(found, from, number, &step->edge);
}

/* Finds the nodes of the path from a root to the node, and adds each as a step; *ret is the number
 * of steps. The steps of an earlier call are freed. */
struct g2h_error *g2h_findings_path(struct g2h_findings *findings, uint32_t node, size_t *ret)
{
    _cleanup_vector_ node_vector nodes = {0};
    answer_deinit(&findings->path);
    TRY(public_find_nodes(findings, node, &nodes));
    for (size_t i = 0; i < nodes.count; i++)
        TRY(add_step(findings, i > 0 ? nodes.data[i - 1] : 0, nodes.data[i]));
    *ret = nodes.count;
    return NULL;
}

const struct g2h_step *g2h_findings_step(const struct g2h_findings *findings, size_t index)
{
    return struct_at(&findings->path, index);
}

/* Makes the expression by which a program reaches the node. It is kept until the next call. */
struct g2h_error *g2h_findings_expression(struct g2h_findings *findings, uint32_t node,
                                          const char **ret)
{
    _cleanup_(text_deinit) struct text text = {0};
    uint32_t end;
    answer_deinit(&findings->expression);
    TRY(path_append(findings->findings.paths, node, &text, &end));
    return keep(&findings->expression, &text, ret);
}
