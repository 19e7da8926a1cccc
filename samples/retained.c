/* Prints the ten classes that retain most, as Summary in DevTools counts them: retained DUMP [EXE]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

/* A class. Classes with names have their names' numbers; after these come the strings, and all
 * nodes that are no objects. */
struct row {
    uint64_t retained;
    uint32_t objects;
    uint32_t above; /* how many nodes of this class dominate the node that is visited */
};

/* A node in the tree of dominators; 0 stands for no node, for the root is nobody's child. */
struct place {
    uint32_t child, sibling, class;
};

static void make_tree(const struct g2h_view *view, const struct g2h_dominators *dominators,
                      struct place *tree)
{
    struct g2h_node node;
    for (uint32_t i = g2h_view_node_count(view); i-- > 0;) {
        const uint32_t above = g2h_dominators_of(dominators, i);
        g2h_view_node(view, i, &node);
        tree[i].class = node.size == 0               ? g2h_view_name_count(view) + 1
                        : node.kind == G2H_NODE_TEXT ? g2h_view_name_count(view)
                                                     : node.name;
        if (i > 0) {
            tree[i].sibling = tree[above].child;
            tree[above].child = i;
        }
    }
}

/* Walks down the tree and up again. An object that another object of its class dominates adds no
 * retained size, for the other one's includes it. */
static void visit(const struct g2h_dominators *dominators, const struct place *tree,
                  struct row *rows)
{
    for (uint32_t node = 0;; node = tree[node].sibling) {
        for (;; node = tree[node].child) {
            struct row *row = &rows[tree[node].class];
            row->objects++;
            if (row->above++ == 0)
                row->retained += g2h_dominators_retained_size(dominators, node);
            if (tree[node].child == 0)
                break;
        }
        for (; tree[node].sibling == 0; node = g2h_dominators_of(dominators, node)) {
            if (node == 0)
                return;
            rows[tree[node].class].above--;
        }
        rows[tree[node].class].above--;
    }
}

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

static bool print(const struct g2h_view *view, const struct g2h_dominators *dominators)
{
    const uint32_t names = g2h_view_name_count(view);
    struct row *rows = calloc((size_t)names + 2, sizeof(*rows));
    struct place *tree = calloc(g2h_view_node_count(view), sizeof(*tree));
    const bool good = rows && tree;
    if (good) {
        make_tree(view, dominators, tree);
        visit(dominators, tree, rows);
    }
    for (int i = 0; good && i < 10; i++) {
        uint32_t best = 0;
        size_t size = sizeof("(string)") - 1;
        for (uint32_t class = 1; class <= names; class ++)
            if (rows[class].retained > rows[best].retained)
                best = class;
        const char *name = best < names ? g2h_view_name(view, best, &size) : "(string)";
        if (rows[best].retained > 0) {
            printf("%12" PRIu64 " bytes by %" PRIu32 " of ", rows[best].retained,
                   rows[best].objects);
            print_text(name, size);
            putchar('\n');
        }
        rows[best].retained = 0;
    }
    free(rows);
    free(tree);
    return good;
}

int main(int argc, char **argv)
{
    struct g2h_session *session = NULL;
    const struct g2h_dominators *dominators = NULL;
    if (argc != 2 && argc != 3)
        return 2;
    struct g2h_error *error = g2h_open(argv[1], argv[2], NULL, &session);
    if (!error)
        error = g2h_session_dominators(session, &dominators);
    if (error)
        fprintf(stderr, "%s\n", error->message);
    const int status =
        !error && print(g2h_session_view(session), dominators) && fflush(stdout) == 0 ? 0 : 1;
    g2h_error_destroy(error);
    g2h_close(session);
    return status;
}
