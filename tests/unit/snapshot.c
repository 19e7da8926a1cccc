/* snapshot; see snapshot.h. */
#include "snapshot.h"

/* Returns how many numbers the array named key has, in groups of fields; *ret has them, from
 * malloc(). */
static size_t parse_numbers(const char *text, const char *key, size_t fields, uint32_t **ret)
{
    char pattern[32];
    snprintf(pattern, sizeof(pattern), "\n\"%s\":[", key);
    const char *at = strstr(text, pattern);
    size_t count = 0, capacity = 1024;
    uint32_t *numbers = malloc(capacity * sizeof(*numbers));
    assert_non_null(at);
    at += strlen(pattern);
    while (*at != ']') {
        if (*at < '0' || *at > '9') {
            assert_true(*at == ',' || *at == '\n');
            at++;
            continue;
        }
        char *end;
        unsigned long long value = strtoull(at, &end, 10);
        assert_true(value <= UINT32_MAX);
        at = end;
        if (count == capacity) {
            capacity *= 2;
            numbers = realloc(numbers, capacity * sizeof(*numbers));
        }
        assert_non_null(numbers);
        numbers[count++] = (uint32_t)value;
    }
    assert_int_equal(count % fields, 0);
    *ret = numbers;
    return count / fields;
}

static void parse_strings(struct snapshot *snapshot)
{
    char *at = strstr(snapshot->text, "\n\"strings\":[");
    size_t capacity = 0;
    assert_non_null(at);
    at += strlen("\n\"strings\":[");
    while (*at == '"' || *at == ',' || *at == '\n') {
        if (*at++ != '"')
            continue;
        if (snapshot->string_count == capacity) {
            capacity = 2 * capacity + 256;
            snapshot->strings = realloc(snapshot->strings, capacity * sizeof(char *));
            assert_non_null(snapshot->strings);
        }
        char *to = at;
        snapshot->strings[snapshot->string_count++] = to;
        while (*at != '"') {
            assert_true((unsigned char)*at >= 0x20);
            if (*at == '\\' && at[1] != 'u')
                at++;
            *to++ = *at++;
        }
        at++;
        *to = '\0';
    }
    assert_string_equal(at, "]}\n");
}

static uint64_t header_number(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    assert_non_null(at);
    return strtoull(at + strlen(key), NULL, 10);
}

void snapshot_parse(struct snapshot *snapshot, char *text)
{
    uint32_t *nodes, *edges, first = 0;
    *snapshot = (struct snapshot){.text = text};
    snapshot->node_count = parse_numbers(text, "nodes", 7, &nodes);
    snapshot->edge_count = parse_numbers(text, "edges", 3, &edges);
    assert_int_equal(header_number(text, "\"node_count\":"), snapshot->node_count);
    assert_int_equal(header_number(text, "\"edge_count\":"), snapshot->edge_count);
    parse_strings(snapshot);
    snapshot->nodes = calloc(snapshot->node_count + 1, sizeof(*snapshot->nodes));
    snapshot->edges = calloc(snapshot->edge_count + 1, sizeof(*snapshot->edges));
    assert_true(snapshot->nodes && snapshot->edges);
    for (size_t i = 0; i < snapshot->node_count; i++) {
        const uint32_t *at = nodes + 7 * i;
        snapshot->nodes[i] = (struct snapshot_node){at[0], at[1], at[2], at[3], at[4], first};
        assert_true(at[1] < snapshot->string_count);
        first += at[4];
    }
    assert_int_equal(first, snapshot->edge_count);
    for (size_t i = 0; i < snapshot->edge_count; i++) {
        const uint32_t *at = edges + 3 * i;
        assert_int_equal(at[2] % 7, 0);
        assert_true(at[2] / 7 < snapshot->node_count);
        assert_true(at[0] < 7);
        assert_true(at[0] == S_ELEMENT || at[1] < snapshot->string_count);
        snapshot->edges[i] = (struct snapshot_edge){at[0], at[1], at[2] / 7};
    }
    free(nodes);
    free(edges);
}

void snapshot_of(struct snapshot *snapshot, struct dump *dump, unsigned threads)
{
    size_t size;
    snapshot_parse(snapshot, dump_snapshot(dump, threads, false, &size));
}

void snapshot_deinit(struct snapshot *snapshot)
{
    free(snapshot->text);
    free(snapshot->nodes);
    free(snapshot->edges);
    free(snapshot->strings);
}

const char *snapshot_name(const struct snapshot *snapshot, uint32_t node)
{
    return snapshot->strings[snapshot->nodes[node].name];
}

bool snapshot_has(const struct snapshot *snapshot, const char *name)
{
    for (uint32_t i = 0; i < snapshot->node_count; i++)
        if (strcmp(snapshot_name(snapshot, i), name) == 0)
            return true;
    return false;
}

uint32_t snapshot_find(const struct snapshot *snapshot, const char *name)
{
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < snapshot->node_count; i++) {
        if (strcmp(snapshot_name(snapshot, i), name) != 0)
            continue;
        if (found != UINT32_MAX)
            fail_msg("more than one node is called %s", name);
        found = i;
    }
    if (found == UINT32_MAX)
        fail_msg("no node is called %s", name);
    return found;
}

uint32_t snapshot_object(const struct snapshot *snapshot, const struct dump *dump, uint64_t address)
{
    uint32_t object;
    assert_true(g2h_heap_find(dump->heap, address, &object));
    const uint32_t node = g2h_view_object(dump->view, object);
    assert_true(node < snapshot->node_count);
    return node;
}

const struct snapshot_edge *snapshot_edge(const struct snapshot *snapshot, uint32_t from,
                                          uint32_t to)
{
    const struct snapshot_node *node = &snapshot->nodes[from];
    for (uint32_t i = node->first_edge; i < node->first_edge + node->edge_count; i++)
        if (snapshot->edges[i].target == to)
            return &snapshot->edges[i];
    return NULL;
}

const char *snapshot_edge_name(const struct snapshot *snapshot, const struct snapshot_edge *edge)
{
    assert_non_null(edge);
    assert_int_not_equal(edge->type, S_ELEMENT);
    return snapshot->strings[edge->name];
}

bool *snapshot_program(const struct snapshot *snapshot)
{
    bool *program = calloc(snapshot->node_count + 1, sizeof(*program));
    uint32_t *stack = malloc((snapshot->node_count + 1) * sizeof(*stack));
    size_t depth = 0;
    assert_true(program && stack);
    for (uint32_t i = 0; i < snapshot->nodes[0].edge_count; i++)
        if (snapshot->edges[i].type == S_SHORTCUT && !program[snapshot->edges[i].target]) {
            program[snapshot->edges[i].target] = true;
            stack[depth++] = snapshot->edges[i].target;
        }
    while (depth > 0) {
        const struct snapshot_node *from = &snapshot->nodes[stack[--depth]];
        for (uint32_t i = from->first_edge; i < from->first_edge + from->edge_count; i++) {
            const struct snapshot_edge *edge = &snapshot->edges[i];
            if (edge->type == S_WEAK || program[edge->target])
                continue;
            program[edge->target] = true;
            stack[depth++] = edge->target;
        }
    }
    free(stack);
    return program;
}

bool snapshot_holds(const struct snapshot *snapshot, const bool *program, uint32_t source,
                    const struct snapshot_edge *edge)
{
    (void)snapshot;
    return edge->type != S_WEAK && (source == 0 || (edge->type != S_SHORTCUT &&
                                                    (program[source] || !program[edge->target])));
}
