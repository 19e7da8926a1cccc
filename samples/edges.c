/*
 * Prints all edges of a heap as CSV (RFC 4180): edges DUMP [EXE]
 *
 * Nodes are numbered as in the view, and as in the snapshot of the same dump. Flags are words:
 * weak, internal, index, key, elem, shortcut, foreign.
 */
#include <inttypes.h>
#include <stdio.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

static void print_quoted(const char *text, size_t size)
{
    putchar('"');
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"')
            putchar('"');
        putchar(text[i]);
    }
    putchar('"');
}

/* Prints the name of an edge; for a map's entry the key, which says more than the name of its slot.
 */
static void print_label(const struct g2h_view *view, struct g2h_edges *edges,
                        const struct g2h_edge *edge)
{
    struct g2h_key_name named;
    const enum g2h_key key = g2h_edges_key(edges, edge, &named);
    if (key == G2H_KEY_TEXT) {
        print_quoted(named.text, named.size);
    } else if (key == G2H_KEY_INDEX || (edge->flags & G2H_EDGE_BY_INDEX) != 0) {
        printf("[%" PRIu64 "]", key == G2H_KEY_INDEX ? named.index : edge->index);
    } else {
        size_t size;
        const char *name = g2h_view_name(view, edge->name, &size);
        print_quoted(name, size);
    }
}

static void print_flags(uint32_t flags)
{
    static const struct {
        enum g2h_edge_flag flag;
        const char *word;
    } words[] = {{G2H_EDGE_BY_INDEX, "index"},    {G2H_EDGE_WEAK, "weak"},
                 {G2H_EDGE_INTERNAL, "internal"}, {G2H_EDGE_OF_KEY, "key"},
                 {G2H_EDGE_OF_ELEM, "elem"},      {G2H_EDGE_SHORTCUT, "shortcut"},
                 {G2H_EDGE_FOREIGN, "foreign"}};
    const char *between = "";
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if ((flags & words[i].flag) != 0) {
            printf("%s%s", between, words[i].word);
            between = " ";
        }
}

/* Prints all edges. Returns whether all of them could be written. */
static bool print(const struct g2h_view *view, struct g2h_edges *edges)
{
    struct g2h_edge edge;
    printf("source,target,label,flags\r\n");
    g2h_edges_begin(edges, 0, g2h_view_node_count(view));
    while (g2h_edges_next(edges, &edge)) {
        printf("%" PRIu32 ",%" PRIu32 ",", edge.source, edge.target);
        print_label(view, edges, &edge);
        putchar(',');
        print_flags(edge.flags);
        printf("\r\n");
    }
    return fflush(stdout) == 0 && !ferror(stdout);
}

int main(int argc, char **argv)
{
    struct g2h_session *session = NULL;
    struct g2h_edges *edges = NULL;
    if (argc != 2 && argc != 3)
        return 2;
    struct g2h_error *error = g2h_open(argv[1], argv[2], NULL, &session);
    if (!error)
        error = g2h_edges_create(g2h_session_view(session), &edges);
    if (error)
        fprintf(stderr, "%s\n", error->message);
    const int status = !error && print(g2h_session_view(session), edges) ? 0 : 1;
    g2h_error_destroy(error);
    g2h_edges_destroy(edges);
    g2h_close(session);
    return status;
}
