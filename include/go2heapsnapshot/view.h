/*
 * What outputs read of a graph: its nodes, edges and names, retained sizes and dominators; whole,
 * without garbage or folded, by the same calls.
 *
 * A view is constant once it is made, so several threads may read it; what a thread changes while
 * it goes along the edges is in an iterator of its own. Names are neutral: valid UTF-8 as people
 * know them, with whatever characters the program had in them, so also ends of lines and other
 * controls. What the reader of an output would misunderstand is that output's business.
 */
#ifndef GO2HEAPSNAPSHOT_VIEW_H
#define GO2HEAPSNAPSHOT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <go2heapsnapshot/dump.h>
#include <go2heapsnapshot/error.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

struct g2h_exe;
struct g2h_graph;
struct g2h_heap;
struct g2h_view;

struct g2h_view_options {
    bool reachable;     /* leaves out garbage: what the roots do not reach */
    uint64_t max_nodes; /* folds what retains least until there are at most so many nodes, or all is
                           folded that can be; 0: any number */
};

/*
 * Makes a view of a graph, which must outlive it; several views may be made of one graph, at the
 * same time too. options may be NULL: all of it. What folding keeps is as it was: docs/snapshot.md,
 * "Folding". Errors: G2H_ERROR_MEMORY; G2H_ERROR_LIMIT where a graph has too many edges to be
 * folded.
 */
G2H_PUBLIC struct g2h_error *g2h_view_create(const struct g2h_graph *graph,
                                             const struct g2h_view_options *options,
                                             struct g2h_view **ret);
G2H_PUBLIC void g2h_view_destroy(struct g2h_view *view);

/* The executable that the graph has names of; NULL: none. */
G2H_PUBLIC const struct g2h_exe *g2h_view_exe(const struct g2h_view *view);

/* The graph's heap, whose objects g2h_node.object counts, for what is known of the dump. */
G2H_PUBLIC const struct g2h_heap *g2h_view_heap(const struct g2h_view *view);

/* What became of all nodes. */
struct g2h_view_account {
    uint64_t nodes, edges;
    uint64_t synthetic_nodes;
    uint64_t first_object;        /* the number of the first node that is an object */
    uint64_t largest_node;        /* the most bytes that a node has */
    uint64_t stacks, stack_bytes; /* of goroutines, folded or not */
    uint64_t texts;               /* nodes of kind G2H_NODE_TEXT that are no folded ones */
    uint64_t left_out_objects, left_out_bytes; /* garbage that is not in the view */
    uint64_t folded_objects, folded_nodes; /* objects that are in nodes with others, and these */
};
G2H_PUBLIC const struct g2h_view_account *g2h_view_account(const struct g2h_view *view);

/* Whether its objects have been typed; if not, there are no texts and no keys. */
G2H_PUBLIC bool g2h_view_is_typed(const struct g2h_view *view);

/* Whether texts are redacted, and what is in objects is not to be shown. */
G2H_PUBLIC bool g2h_view_is_redacted(const struct g2h_view *view);

/* ---- names ---- */

#define G2H_NAME_NONE UINT32_MAX

/* The names of nodes and edges, each once: numbers below the result. */
G2H_PUBLIC uint32_t g2h_view_name_count(const struct g2h_view *view);

/* The text of a name: UTF-8, not terminated, at most 1024 characters; it lives as long as the view.
 * G2H_NAME_NONE has an empty one. */
G2H_PUBLIC const char *g2h_view_name(const struct g2h_view *view, uint32_t name, size_t *ret_size);

/* What a name is used for: a bit for each. */
enum g2h_name_use { G2H_NAME_OF_NODE = 1, G2H_NAME_OF_EDGE = 2 };
G2H_PUBLIC unsigned g2h_view_name_uses(const struct g2h_view *view, uint32_t name);

/* The number of a name; false where there is none of that text. */
G2H_PUBLIC bool g2h_view_find_name(const struct g2h_view *view, const char *text, size_t size,
                                   uint32_t *ret);

/* A text that is made when it is asked for. Begins as {0}; the same may be used again and again. */
struct g2h_text {
    char *data;            /* size bytes of UTF-8, not terminated */
    size_t size, capacity; /* what is there; how much data has room for */
    bool failed;           /* there was no memory: the text is not whole */
};
G2H_PUBLIC void g2h_text_deinit(struct g2h_text *text);

/* ---- nodes ---- */

/* What a node stands for. Of the first ones, up to G2H_NODE_SEVERAL, there is one at most. */
enum g2h_node_kind {
    G2H_NODE_ROOT,
    G2H_NODE_GC_ROOTS,
    G2H_NODE_GLOBALS,
    G2H_NODE_DATA,
    G2H_NODE_BSS,
    G2H_NODE_GOROUTINES,
    G2H_NODE_FINALIZERS,
    G2H_NODE_QUEUED_FINALIZERS,
    G2H_NODE_DEFERS_AND_PANICS,
    G2H_NODE_OTHER_ROOTS,
    G2H_NODE_UNREACHABLE,
    G2H_NODE_OS_THREADS,
    G2H_NODE_ALLOCATION_SITES,
    G2H_NODE_FOLDED,
    G2H_NODE_CLEANUPS,
    G2H_NODE_GUESSES,
    G2H_NODE_PARTS,
    G2H_NODE_FUNCTIONS,
    G2H_NODE_SEVERAL, /* "(held by several)", which holds nothing: weak edges, largest first */

    G2H_NODE_GOROUTINE,
    G2H_NODE_FRAME,
    G2H_NODE_CREATION_SITE,
    G2H_NODE_FINALIZER,
    G2H_NODE_QUEUED_FINALIZER,
    G2H_NODE_DEFER,
    G2H_NODE_PANIC,
    G2H_NODE_OS_THREAD,
    G2H_NODE_ALLOCATION_SITE,
    G2H_NODE_PACKAGE,
    G2H_NODE_FOLDED_SYNTHETICS, /* nodes of the kinds above that are folded */
    G2H_NODE_CLEANUP,
    G2H_NODE_PART,
    G2H_NODE_FUNCTION,
    G2H_NODE_GOROUTINES_IN_PLACE, /* that do the same and have the same functions on their stacks */
    G2H_NODE_STACK,               /* of a goroutine */

    G2H_NODE_OBJECT,
    G2H_NODE_TEXT, /* an object that holds the contents of strings */
};

struct g2h_node {
    enum g2h_node_kind kind;
    uint32_t name;    /* what it is called, of objects their class, of the root nothing (it is an
                         empty one); G2H_NAME_NONE: g2h_view_text(), of kind G2H_NODE_TEXT only */
    uint32_t object;  /* of the heap; UINT32_MAX: none, or several */
    uint32_t members; /* how many it stands for, if it is folded: g2h_view_member(); else 0 */
    uint64_t address; /* of an object */
    uint64_t size;    /* in bytes; that of all members; of what is no object only a stack has more
                         than 0, the room that is reserved for it */
    uint64_t key;   /* of what is no object and there are several of: it tells them apart, in every
                       dump of one process. A goroutine's goid, which its stack has as well; a
                       frame's goid << 24 | its number from the bottom of the stack */
    uint32_t edges; /* how many begin here */
    uint32_t whole; /* its number in a view of the same graph in which nothing is folded or left
                       out; UINT32_MAX where it has none there */
};

/*
 * Nodes are numbered from 0, which is the root. First come synthetic ones, which are no objects;
 * then objects in the order of their addresses; then folded nodes. Each node has a way from the
 * root that has no weak edge, and a heap snapshot of the view has the same numbers.
 */
G2H_PUBLIC uint32_t g2h_view_node_count(const struct g2h_view *view);

/* count nodes from one on, or as many as there are: the result. Ascending ones are found fastest.
 */
G2H_PUBLIC size_t g2h_view_nodes(const struct g2h_view *view, uint32_t first, size_t count,
                                 struct g2h_node *ret);

/* Node number node < g2h_view_node_count(). */
G2H_PUBLIC void g2h_view_node(const struct g2h_view *view, uint32_t node, struct g2h_node *ret);

/* The node of an object of the heap, or the folded node that it is in; UINT32_MAX: it is left out.
 */
G2H_PUBLIC uint32_t g2h_view_object(const struct g2h_view *view, uint32_t object);

/* Whether the roots do not reach an object of the heap, in the view or not. Of a folded node all
 * members are garbage, or none. */
G2H_PUBLIC bool g2h_view_is_garbage(const struct g2h_view *view, uint32_t object);

/* Member number member of a folded node, as it would be without folding; its edges are not counted.
 */
G2H_PUBLIC void g2h_view_member(const struct g2h_view *view, uint32_t node, uint32_t member,
                                struct g2h_node *ret);

/* The contents of a node of kind G2H_NODE_TEXT that is not folded: *ret_size bytes, of text or of
 * the dump, the first thousand of longer ones. Empty where the dump does not have what is pointed
 * to. Redacted where the graph is. */
G2H_PUBLIC const char *g2h_view_text(const struct g2h_view *view, uint32_t node,
                                     struct g2h_text *text, size_t *ret_size);

/* How many bytes of it strings have, from its begin to where the last one ends: all of them. */
G2H_PUBLIC uint64_t g2h_view_text_size(const struct g2h_view *view, uint32_t node);

/* Of the nodes from first on the first that g2h_view_text() may be asked for; end where none before
 * it is. */
G2H_PUBLIC uint32_t g2h_view_next_text(const struct g2h_view *view, uint32_t first, uint32_t end);

/*
 * Says that a node will be asked for soon, so that the memory that this takes can be on its way:
 * what it is made of; where its edges lead; what is there. The later ones need what those before
 * have brought. Any number will do, also one behind the last.
 */
enum g2h_soon { G2H_SOON_NODE, G2H_SOON_TARGETS, G2H_SOON_KEYS };
G2H_PUBLIC void g2h_view_prefetch(const struct g2h_view *view, uint32_t node, enum g2h_soon soon);

/* ---- edges ---- */

/* What is to be said of an edge: a bit for each. */
enum g2h_edge_flag {
    G2H_EDGE_BY_INDEX = 1, /* it is called by index, an array's element or a group's member; else by
                              name, a field, a variable … */
    G2H_EDGE_WEAK = 2,     /* it keeps nothing alive */
    G2H_EDGE_INTERNAL =
        4,               /* it leads to what the runtime owns, or is no pointer of the program's */
    G2H_EDGE_OF_KEY = 8, /* it is of the key, */
    G2H_EDGE_OF_ELEM = 16,  /* or the elem, of a map's entry, whose key may name it better:
                               g2h_edges_key() */
    G2H_EDGE_REPEATED = 32, /* an earlier one leads to the same folded node: g2h_edges_repeat() */
};

struct g2h_edge {
    uint32_t source, target; /* nodes */
    uint32_t flags;          /* enum g2h_edge_flag */
    uint32_t name;   /* of one by index G2H_NAME_NONE; but of a weak one, which some formats cannot
                        call by index, "element" */
    uint64_t index;  /* of one by index; else 0 */
    uint64_t offset; /* of the pointer in its object; UINT64_MAX: it is no pointer of an object */
};

/* Goes along the edges of nodes; one for each thread. Of a view that is folded each has 4 bytes of
 * memory per node. */
struct g2h_edges;
G2H_PUBLIC struct g2h_error *g2h_edges_create(const struct g2h_view *view, struct g2h_edges **ret);
G2H_PUBLIC void g2h_edges_destroy(struct g2h_edges *edges);

/* Begins with the edges of the nodes from first to, but without, end, which may be more than there
 * are. Any order will do; ascending nodes are fastest. */
G2H_PUBLIC void g2h_edges_begin(struct g2h_edges *edges, uint32_t first, uint32_t end);

/*
 * The next edge; false at the end. Source by source, and of each in the order of V8's FillChildren:
 * as pointers stand in the object, then what else there is. The same edges each time, unless the
 * dump has been written to meanwhile (g2h_input_check()). Nothing is allocated.
 */
G2H_PUBLIC bool g2h_edges_next(struct g2h_edges *edges, struct g2h_edge *ret);

/* As many of the next edges as there are, at most most of them: the result, which is 0 at the end.
 * It is faster than one by one. */
G2H_PUBLIC size_t g2h_edges_read(struct g2h_edges *edges, struct g2h_edge *ret, size_t most);

/* Whether the edges of a node that is not folded are all given, or, as at first, of those to one
 * folded node the first only. */
G2H_PUBLIC void g2h_edges_repeat(struct g2h_edges *edges, bool repeat);

/*
 * What an edge is called by the key of its map's entry. Either by an index and nothing else, or by
 * a text, ["alice"] or [42].Name: size bytes of UTF-8 that live until the next one is asked for.
 * again is the number by which g2h_view_key() makes the same text again.
 */
struct g2h_key_name {
    uint64_t index;   /* G2H_KEY_INDEX */
    const char *text; /* G2H_KEY_TEXT, and the others */
    size_t size;
    uint64_t again;
};

/*
 * The key's name for an edge that was given. G2H_KEY_NONE: there is none, as for all edges that are
 * neither G2H_EDGE_OF_KEY nor G2H_EDGE_OF_ELEM, and for many that are; then it is called as it says
 * itself, and *ret has not changed. A key is read once for all edges of its entry, if these are
 * asked for as they were given. Nothing is allocated.
 */
enum g2h_key { G2H_KEY_NONE, G2H_KEY_TEXT, G2H_KEY_INDEX };
G2H_PUBLIC enum g2h_key g2h_edges_key(struct g2h_edges *edges, const struct g2h_edge *edge,
                                      struct g2h_key_name *ret);

/* Says that the keys of so many edges will be asked for soon. */
G2H_PUBLIC void g2h_edges_prefetch_keys(const struct g2h_edges *edges, const struct g2h_edge *given,
                                        size_t count);

/* Appends a text once more, by the number that came with it. */
G2H_PUBLIC void g2h_view_key(const struct g2h_view *view, uint64_t again, struct g2h_text *text);

/* Says that this will be asked for soon: with G2H_SOON_NODE first, then with G2H_SOON_KEYS. */
G2H_PUBLIC void g2h_view_prefetch_key(const struct g2h_view *view, uint64_t again,
                                      enum g2h_soon soon);

/* Of the nodes from first on the first that has such edges, or may have; end where none before it
 * does. */
G2H_PUBLIC uint32_t g2h_view_next_keyed(const struct g2h_view *view, uint32_t first, uint32_t end);

/* ---- goroutines ---- */

struct g2h_view_goroutine {
    struct g2h_goroutine record; /* as the dump has it */
    uint32_t node;               /* that stands for it, if need be with others; UINT32_MAX: none */
    uint32_t minutes;            /* that it has waited for, at least */
    uint32_t first_frame, frame_count; /* the topmost one first */
};

struct g2h_view_frame {
    uint32_t node;             /* as of goroutines */
    struct g2h_bytes function; /* of the dump, as the linker calls it */
    uint64_t sp, entry, pc;    /* pc: in the function or, but for the topmost one, behind a call */
    struct g2h_bytes contents;
};

/* Goroutines are numbered from 0, in the order of the dump, and so are the frames of all of them.
 */
G2H_PUBLIC size_t g2h_view_goroutine_count(const struct g2h_view *view);
G2H_PUBLIC void g2h_view_goroutine(const struct g2h_view *view, size_t goroutine,
                                   struct g2h_view_goroutine *ret);
G2H_PUBLIC void g2h_view_frame(const struct g2h_view *view, size_t frame,
                               struct g2h_view_frame *ret);

/* What a goroutine does, as a traceback says it: "select", "chan receive"; text becomes it. */
G2H_PUBLIC void g2h_view_state(const struct g2h_view *view, size_t goroutine,
                               struct g2h_text *text);

/* ---- what the roots' groups hold ---- */

/* A group of the roots: the globals of a package, the goroutines in a place, the finalizers …;
 * garbage as well. */
struct g2h_view_owner {
    uint32_t node;  /* that stands for it; UINT32_MAX: none, it is folded or left out */
    uint64_t bytes; /* of what no other group reaches, stacks included */
};

/* Groups are numbered from 0. What several of them reach is in none of them: it is
 * g2h_graph_account.shared_bytes, and below the node of kind G2H_NODE_SEVERAL. */
G2H_PUBLIC size_t g2h_view_owner_count(const struct g2h_view *view);
G2H_PUBLIC void g2h_view_owner(const struct g2h_view *view, size_t owner,
                               struct g2h_view_owner *ret);

/*
 * Who holds a node together, "main and 22 goroutines", where several groups do and no node that
 * these hold holds it alone; else false. *ret_size bytes of UTF-8 that live as long as the view's
 * graph.
 */
G2H_PUBLIC bool g2h_view_sharers(const struct g2h_view *view, uint32_t node, const char **ret,
                                 size_t *ret_size);

/* ---- what is in an object ---- */

enum g2h_value_kind {
    G2H_VALUE_BOOL,
    G2H_VALUE_INT,
    G2H_VALUE_UINT,
    G2H_VALUE_FLOAT,
    G2H_VALUE_COMPLEX,
    G2H_VALUE_STRING,
    G2H_VALUE_SLICE,
    G2H_VALUE_INTERFACE,
    G2H_VALUE_POINTER, /* maps, channels and functions as well */
};

/* A part of an object that has no parts itself. */
struct g2h_value {
    enum g2h_value_kind kind;
    uint64_t offset, size; /* in the object; bytes of it */
    const uint8_t *data;   /* in the dump's byte order */
    const char *type;      /* type_size bytes of UTF-8: with full import paths, "*net/http.conn" */
    size_t type_size;
    const char *path; /* path_size bytes: "Config.Timeout", "[3].Name"; until the next value */
    size_t path_size;
};

/* Goes along the values of an object, by its type; one for each thread. */
struct g2h_values;
G2H_PUBLIC struct g2h_error *g2h_values_create(const struct g2h_view *view,
                                               struct g2h_values **ret);
G2H_PUBLIC void g2h_values_destroy(struct g2h_values *values);

/* Begins with a node. One that is no object, or folded, or whose type is not known as a whole, has
 * no values. */
G2H_PUBLIC void g2h_values_begin(struct g2h_values *values, uint32_t node);

/*
 * A number for where the values of an object of the heap are: objects of the same number and size
 * have values of the same kinds, types and paths at the same offsets, as far as the dump has their
 * contents. 0: it has no values. Numbers say nothing else, and are others in another graph.
 */
G2H_PUBLIC uint64_t g2h_values_layout(const struct g2h_view *view, uint32_t object);

/* The next value, ascending; false at the end, or where the dump has no more of the object. */
G2H_PUBLIC bool g2h_values_next(struct g2h_values *values, struct g2h_value *ret);

/* Text becomes a value as Go's %v has it: 42, true, 1.5; of a string its contents, as far as 1024
 * characters, in quotation marks; of what points, 0x and the address, or nil. Redacted where the
 * graph is: then numbers are not shown. */
G2H_PUBLIC void g2h_value_text(const struct g2h_view *view, const struct g2h_value *value,
                               struct g2h_text *text);

/* ---- how much of what is allocated is used ---- */

enum g2h_capacity_kind {
    G2H_CAPACITY_SLICE,  /* a slice: its elements */
    G2H_CAPACITY_MAP,    /* a map: its entries; where these are is in the next */
    G2H_CAPACITY_SLOTS,  /* an object that maps have their entries in */
    G2H_CAPACITY_STRING, /* a string: its bytes, all of which are in use */
};

/* Room for elements of a slice or entries of a map, and how much of it is in use. */
struct g2h_capacity {
    enum g2h_capacity_kind kind;
    uint32_t place;     /* what has it: g2h_capacities_place() */
    uint32_t object;    /* that it is in; UINT32_MAX: it is in a variable of the program */
    uint64_t address;   /* of a slice or string: of its first element, as the dump has it, which may
                           be anywhere; else 0 */
    uint64_t used, all; /* elements or slots, as the dump has them: of slices used <= all, of
                           strings both are the length; of a map used only */
    uint64_t size;      /* of one of them, in bytes; of a map 0 */
};

/* Gets one; false: no more. */
typedef bool (*g2h_capacity_visit)(void *context, const struct g2h_capacity *capacity);

/*
 * What slices, strings and maps there are, by the types of objects and of variables. It is made
 * once, takes some bytes for each field that is one, and is constant: several threads may go over
 * objects. Where nothing is typed there are none. Errors: G2H_ERROR_MEMORY.
 */
struct g2h_capacities;
G2H_PUBLIC struct g2h_error *g2h_capacities_create(const struct g2h_view *view,
                                                   struct g2h_capacities **ret);
G2H_PUBLIC void g2h_capacities_destroy(struct g2h_capacities *capacities);

/* The number of places: fields of types and variables that are slices or strings, and types of
 * maps. All maps with the same types of keys and elements are one, for so is what they have their
 * entries in (internal/runtime/maps, Map; runtime/map.go before Go 1.24). */
G2H_PUBLIC uint32_t g2h_capacities_place_count(const struct g2h_capacities *capacities);

/* Text becomes the name of a place: "main.Server.buffers", a field of a type, of arrays "[]" for
 * all elements; "main.history", a variable; "map[string]int". */
G2H_PUBLIC void g2h_capacities_place(const struct g2h_capacities *capacities, uint32_t place,
                                     struct g2h_text *text);

/* Visits those of the heap's objects from first to, but without, end, which may be more than there
 * are, in the view or not; ascending. False where a visit was the last one. */
G2H_PUBLIC bool g2h_capacities_of_objects(const struct g2h_capacities *capacities, uint32_t first,
                                          uint32_t end, g2h_capacity_visit visit, void *context);

/* Visits those of variables of packages, and of what they point to outside of the heap. */
G2H_PUBLIC bool g2h_capacities_of_variables(const struct g2h_capacities *capacities,
                                            g2h_capacity_visit visit, void *context);

/* ---- what holds what ---- */

/*
 * What holds each node alone, and how much memory would be free without it: the same as DevTools
 * computes, for every node.
 */
struct g2h_dominators;

/*
 * Computes dominators and retained sizes, in near-linear time, on all threads of the graph. It
 * takes 28 bytes of memory per node of the graph, 4 per edge, and 50 for each node that several
 * groups of the roots hold directly; 20 per node stay. The view must outlive it.
 * Errors: G2H_ERROR_MEMORY; G2H_ERROR_LIMIT: 2^32 edges.
 */
G2H_PUBLIC struct g2h_error *g2h_view_dominators(const struct g2h_view *view,
                                                 struct g2h_dominators **ret);
G2H_PUBLIC void g2h_dominators_destroy(struct g2h_dominators *dominators);

/* The node that all strong ways from the root to node have last in common; the root's is itself. */
G2H_PUBLIC uint32_t g2h_dominators_of(const struct g2h_dominators *dominators, uint32_t node);

/*
 * The nodes in an order in which each comes behind what dominates it, so that a walk along it goes
 * from the root to the leaves, or back: their numbers in it are below the first result, and the
 * root's is 0. Not every number need be a node's.
 */
G2H_PUBLIC uint32_t g2h_dominators_numbers(const struct g2h_dominators *dominators);
G2H_PUBLIC uint32_t g2h_dominators_number(const struct g2h_dominators *dominators, uint32_t node);

/* The node of a number; UINT32_MAX: none. */
G2H_PUBLIC uint32_t g2h_dominators_node(const struct g2h_dominators *dominators, uint32_t number);

/* The number of what dominates the node of a number, which must be one's. */
G2H_PUBLIC uint32_t g2h_dominators_above(const struct g2h_dominators *dominators, uint32_t number);

/* The size of node and of all that it dominates, in bytes. */
G2H_PUBLIC uint64_t g2h_dominators_retained_size(const struct g2h_dominators *dominators,
                                                 uint32_t node);

/* Both, of count nodes from first on, which all must be there: faster than one by one. */
G2H_PUBLIC void g2h_dominators_read(const struct g2h_dominators *dominators, uint32_t first,
                                    size_t count, uint32_t *ret_nodes, uint64_t *ret_sizes);

G2H_END

#endif
