/*
 * Prints what keeps an object alive: a shortest chain of strong edges from the root to it.
 *
 * Usage: path DUMP ADDRESS [EXE]. The address is hexadecimal, and may be that of any byte of the
 * object.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

/* An entry of before is the node that leads to a node, or NONE if the node has not been reached.
 * The root is node 0. */
static const uint32_t NONE = UINT32_MAX;

/* Prints a text of the heap, without characters that a terminal would act upon. */
static void print_text(const char *text, size_t size)
{
    char *copy = malloc(size + 1);
    if (!copy)
        return;
    memcpy(copy, text, size);
    fwrite(copy, 1, g2h_printable(copy, size), stdout);
    free(copy);
}

/* Searches breadth first, until the wanted node is reached. queue has room for all nodes. */
static void search(struct g2h_edges *edges, uint32_t wanted, uint32_t *before, uint32_t *queue)
{
    struct g2h_edge edge;
    queue[0] = before[0] = 0;
    for (uint32_t at = 0, end = 1; at < end && before[wanted] == NONE; at++) {
        g2h_edges_begin(edges, queue[at], queue[at] + 1);
        while (g2h_edges_next(edges, &edge))
            if ((edge.flags & G2H_EDGE_WEAK) == 0 && before[edge.target] == NONE) {
                before[edge.target] = edge.source;
                queue[end++] = edge.target;
            }
    }
}

/* Prints the name of the first strong edge between two nodes or, if the edge belongs to a map's
 * entry, its key. */
static void print_edge(const struct g2h_view *view, struct g2h_edges *edges, uint32_t source,
                       uint32_t target)
{
    struct g2h_edge edge;
    struct g2h_key_name named;
    size_t size;
    g2h_edges_begin(edges, source, source + 1);
    while (g2h_edges_next_to(edges, target, &edge) && (edge.flags & G2H_EDGE_WEAK) != 0)
        ;
    const enum g2h_key key = g2h_edges_key(edges, &edge, &named);
    const char *name = g2h_view_name(view, edge.name, &size);
    if (key == G2H_KEY_TEXT)
        print_text(named.text, named.size);
    else if (key == G2H_KEY_INDEX || (edge.flags & G2H_EDGE_BY_INDEX) != 0)
        printf("[%" PRIu64 "]", key == G2H_KEY_INDEX ? named.index : edge.index);
    else
        print_text(name, size);
    printf(" -> ");
}

static void print_node(const struct g2h_view *view, uint32_t number)
{
    struct g2h_node node;
    size_t size;
    g2h_view_node(view, number, &node);
    const char *name = g2h_view_name(view, node.name, &size);
    if (node.kind == G2H_NODE_ROOT)
        printf("(root)"); /* the root has no name */
    else if (node.kind == G2H_NODE_TEXT)
        printf("(string)");
    else
        print_text(name, size);
    if (node.object != UINT32_MAX)
        printf(" @%" PRIx64, node.address);
    putchar('\n');
}

/* Prints the chain to the object at the address. Returns false if there is no object or no chain,
 * or if memory runs out. */
static bool print(const struct g2h_view *view, struct g2h_edges *edges, uint64_t address)
{
    const uint32_t nodes = g2h_view_node_count(view);
    uint32_t *before = malloc(nodes * sizeof(*before)), *chain = malloc(nodes * sizeof(*chain));
    uint32_t object, length = 0;
    bool found = before && chain && g2h_heap_find(g2h_view_heap(view), address, &object);
    if (found) {
        const uint32_t wanted = g2h_view_object(view, object);
        for (uint32_t i = 0; i < nodes; i++)
            before[i] = NONE;
        search(edges, wanted, before, chain);
        found = before[wanted] != NONE; /* true unless somebody writes to the dump */
        for (uint32_t node = wanted; found && node != 0; node = before[node])
            chain[length++] = node;
        print_node(view, 0);
    }
    for (uint32_t node = 0; length > 0; node = chain[length]) {
        print_edge(view, edges, node, chain[--length]);
        print_node(view, chain[length]);
    }
    free(before);
    free(chain);
    return found;
}

int main(int argc, char **argv)
{
    struct g2h_session *session = NULL;
    struct g2h_edges *edges = NULL;
    int status = 1;
    if (argc != 3 && argc != 4)
        return 2;
    struct g2h_error *error = g2h_open(argv[1], argv[3], NULL, &session);
    if (!error)
        error = g2h_edges_create(g2h_session_view(session), &edges);
    if (error)
        fprintf(stderr, "%s\n", error->message);
    else if (!print(g2h_session_view(session), edges, strtoull(argv[2], NULL, 16)))
        fprintf(stderr, "%s: nothing is found at %s\n", argv[1], argv[2]);
    else
        status = fflush(stdout) == 0 ? 0 : 1;
    g2h_error_destroy(error);
    g2h_edges_destroy(edges);
    g2h_close(session);
    return status;
}
