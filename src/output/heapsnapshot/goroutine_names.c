/*
 * goroutine_names: adds the labels that a program has set (pprof.Do) to the names of goroutines;
 * see goroutine_names.h.
 *
 * For each node that is a goroutine, or a group of them, names_collect() reads the labels of its
 * members into maker->keys: at most MOST_KEYS keys, with MOST_VALUES values each.
 * names_append_labels() then writes those that few values describe. Only goroutines with labels get
 * a new name; all others keep the view's.
 */
#include "output/heapsnapshot/goroutine_names.h"

#include "base/contract.h"
#include "base/error.h"
#include "base/text.h"

/* A label has so many values in one name at most, and a name so many labels. */
enum { MOST_VALUES = 3, MOST_KEYS = 4, MOST_CHARACTERS = 64 };

struct names_value {
    uint32_t text, members;
};

/* A label of some goroutines: its key, and how many of them have which value. */
struct names_key {
    uint32_t key;
    bool are_many; /* it has more values than are shown */
    size_t count;
    struct names_value values[MOST_VALUES];
};

struct names_maker {
    const struct g2h_view *view;
    struct g2h_edges *edges;
    struct string_pool texts;
    struct map goroutine_of; /* node → number of the goroutine */
    struct names_key keys[MOST_KEYS];
    size_t key_count;
};

static void names_maker_deinit(struct names_maker *maker)
{
    g2h_edges_destroy(maker->edges);
    string_pool_deinit(&maker->texts);
    map_deinit(&maker->goroutine_of);
}

/* Counts a value of a label; those of most goroutines stay first. A key with more than MOST_VALUES
 * is noted as such. */
static void names_count_value(struct names_key *key, uint32_t text)
{
    size_t at = 0;
    while (at < key->count && key->values[at].text != text)
        at++;
    if (at == MOST_VALUES) {
        key->are_many = true;
        return;
    }
    if (at == key->count)
        key->values[key->count++] = (struct names_value){text, 0};
    key->values[at].members++;
    for (; at > 0 && key->values[at - 1].members < key->values[at].members; at--) {
        const struct names_value more = key->values[at];
        key->values[at] = key->values[at - 1];
        key->values[at - 1] = more;
    }
}

/* Counts a label of a goroutine. Keys after the first MOST_KEYS are left out. Returns false if
 * memory runs out, which ends the visit. */
static bool names_add_label(void *context, const struct g2h_label *label)
{
    struct names_maker *maker = context;
    uint32_t key, value;
    size_t at = 0;
    if (!string_pool_intern(&maker->texts, label->key, label->key_size, &key) ||
        !string_pool_intern(&maker->texts, label->value, label->value_size, &value))
        return false;
    while (at < maker->key_count && maker->keys[at].key != key)
        at++;
    if (at == MOST_KEYS)
        return true;
    if (at == maker->key_count)
        maker->keys[maker->key_count++] = (struct names_key){.key = key};
    names_count_value(&maker->keys[at], value);
    return true;
}

/* Collects the labels of a node if it is a goroutine, and counts it. */
static struct g2h_error *names_collect(struct names_maker *maker, uint32_t node, uint32_t *count)
{
    const uint32_t number = map_get(&maker->goroutine_of, node);
    if (number == MAP_NONE)
        return NULL;
    ++*count;
    return g2h_view_labels(maker->view, number, names_add_label, maker);
}

/* Appends a key or value, cut to MOST_CHARACTERS. */
static void names_append_text(const struct names_maker *maker, uint32_t number, struct text *text)
{
    size_t size;
    const char *data = string_pool_text(&maker->texts, number, &size);
    text_append_utf8(text, data, size, MOST_CHARACTERS);
}

/* Appends the labels that have been collected of some goroutines: " {key=value; key2=v 3, w 4}".
 * After a value is the number of goroutines with it, unless all of the members have it. Keys with
 * many values are left out. Returns whether there is any. */
static bool names_append_labels(const struct names_maker *maker, uint32_t members,
                                struct text *text)
{
    bool has_some = false;
    for (size_t i = 0; i < maker->key_count; i++) {
        const struct names_key *key = &maker->keys[i];
        if (key->are_many)
            continue;
        text_append_string(text, has_some ? "; " : " {");
        names_append_text(maker, key->key, text);
        for (size_t j = 0; j < key->count; j++) {
            text_append_string(text, j == 0 ? "=" : ", ");
            names_append_text(maker, key->values[j].text, text);
            if (key->values[j].members < members)
                text_append_string(text, " ");
            if (key->values[j].members < members)
                text_append_grouped(text, key->values[j].members);
        }
        has_some = true;
    }
    text_append_string(text, has_some ? "}" : "");
    return has_some;
}

/* Names a goroutine, or a group of them, with their labels; one without labels keeps its name. Of a
 * group the edges lead to the members. */
static struct g2h_error *names_make(struct names_maker *maker, uint32_t number,
                                    const struct g2h_node *node, struct strings *strings,
                                    struct goroutine_names *ret)
{
    _cleanup_(text_deinit) struct text text = {0};
    struct g2h_edge edge;
    uint32_t members = 0, string, known;
    size_t size;
    maker->key_count = 0;
    g2h_edges_begin(maker->edges, number, number + 1);
    while (node->kind == G2H_NODE_GOROUTINES_IN_PLACE && g2h_edges_next(maker->edges, &edge))
        TRY(names_collect(maker, edge.target, &members));
    if (node->kind == G2H_NODE_GOROUTINE)
        TRY(names_collect(maker, number, &members));
    const char *name = g2h_view_name(maker->view, node->name, &size);
    text_append(&text, name, size);
    if (!names_append_labels(maker, members, &text))
        return NULL;
    TRY_MEMORY(!text.failed && strings_add(strings, text.data, text.size, &string) &&
               map_put(&ret->by_node, number, string, &known));
    return NULL;
}

/* Makes the names of goroutines. No names without types, or if texts are hidden. */
struct g2h_error *goroutine_names_init(const struct g2h_view *view, struct strings *strings,
                                       struct goroutine_names *ret)
{
    _cleanup_(names_maker_deinit) struct names_maker maker = {.view = view};
    const uint32_t synthetics = as_u32(g2h_view_account(view)->synthetic_nodes);
    uint32_t known;
    *ret = (struct goroutine_names){0};
    if (g2h_view_is_redacted(view) || !g2h_view_is_typed(view))
        return NULL;
    TRY(g2h_edges_create(view, &maker.edges));
    for (size_t i = 0; i < g2h_view_goroutine_count(view); i++) {
        struct g2h_view_goroutine goroutine;
        g2h_view_goroutine(view, i, &goroutine);
        TRY_MEMORY(map_put(&maker.goroutine_of, goroutine.node, as_u32(i), &known));
    }
    for (uint32_t i = 0; i < synthetics; i++) {
        struct g2h_node node;
        g2h_view_brief(view, i, &node);
        if (node.kind == G2H_NODE_GOROUTINE || node.kind == G2H_NODE_GOROUTINES_IN_PLACE)
            TRY(names_make(&maker, i, &node, strings, ret));
    }
    return NULL;
}

void goroutine_names_deinit(struct goroutine_names *names)
{
    map_deinit(&names->by_node);
}
