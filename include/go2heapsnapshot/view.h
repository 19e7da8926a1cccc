/*
 * A graph as outputs read it: its nodes, edges and names, retained sizes and dominators. The same
 * calls read a whole graph, a graph without garbage, and a folded graph.
 *
 * A view is constant once it is created, so several threads may read it; each thread that walks the
 * edges keeps its state in an iterator of its own. Names are neutral: valid UTF-8 as people know
 * them, with all characters that the program had in them, so they may contain newlines and other
 * controls. Each output escapes what its readers would misunderstand.
 */
#ifndef GO2HEAPSNAPSHOT_VIEW_H
#define GO2HEAPSNAPSHOT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <go2heapsnapshot/dump.h>
#include <go2heapsnapshot/error.h>
#include <go2heapsnapshot/graph.h>
#include <go2heapsnapshot/names.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

struct g2h_exe;
struct g2h_graph;
struct g2h_heap;
struct g2h_view;

struct g2h_view_options {
    bool reachable;     /* omits garbage: objects that are not reachable from the roots */
    uint64_t max_nodes; /* folds the nodes with the smallest retained sizes until at most this many
                           nodes are left, or everything that can be folded is folded; 0: no
                           limit */

    /* Nodes of the whole graph (g2h_node.whole), under_count of them. The view then is about these
     * and all that they dominate. It has their dominators besides, and the other holder_count
     * nodes, which may be the paths to them; everything else is folded: below each of these, into
     * one node of kind G2H_NODE_ELSE. NULL: the view is about the whole graph. */
    const uint32_t *under, *holders;
    size_t under_count, holder_count;
    const char *under_name; /* what these nodes are called; copied */
};

/*
 * Creates a view of a graph, which must outlive it; several views may be created of one graph, also
 * at the same time. options may be NULL: then the view is the whole graph. docs/snapshot-format.md,
 * "Folding", describes what folding preserves. Errors: G2H_ERROR_MEMORY; G2H_ERROR_LIMIT if the
 * graph has too many edges to be folded.
 */
G2H_PUBLIC struct g2h_error *g2h_view_create(const struct g2h_graph *graph,
                                             const struct g2h_view_options *options,
                                             struct g2h_view **ret);
G2H_PUBLIC void g2h_view_destroy(struct g2h_view *view);

/* Returns the executable that the graph's names come from; NULL: none. */
G2H_PUBLIC const struct g2h_exe *g2h_view_exe(const struct g2h_view *view);

/* Returns the graph's heap, which has the dump's records, and the objects that g2h_node.object
 * numbers. */
G2H_PUBLIC const struct g2h_heap *g2h_view_heap(const struct g2h_view *view);

/* The numbers of nodes and edges in the view, and of objects that are left out or folded. */
struct g2h_view_account {
    uint64_t nodes, edges;
    uint64_t synthetic_nodes;     /* all but objects, strings, and folded nodes of only these */
    uint64_t first_object;        /* number of the first node that is an object */
    uint64_t largest_node;        /* size of the largest node in bytes */
    uint64_t stacks, stack_bytes; /* goroutine stacks, folded or not, and their size */
    uint64_t texts;               /* nodes of kind G2H_NODE_TEXT that are not folded */
    uint64_t left_out_objects, left_out_bytes; /* garbage that is not in the view */
    uint64_t folded_objects, folded_nodes; /* objects in folded nodes; the number of these nodes */

    /* With g2h_view_options.under; none of these counts garbage. */
    bool is_under;
    uint64_t under_objects, under_bytes;   /* objects of what the view is about */
    uint64_t holder_objects, holder_bytes; /* objects that are in the view as they hold that */
    uint64_t else_objects, else_bytes;     /* objects in nodes of kind G2H_NODE_ELSE */
    uint64_t shared_objects, shared_bytes; /* of these, the objects that what the view is about
                                              points to, and all bytes that they retain */
};
G2H_PUBLIC const struct g2h_view_account *g2h_view_account(const struct g2h_view *view);

/* Returns what a view is about, as g2h_view_options.under_name says it; NULL: the whole graph. */
G2H_PUBLIC const char *g2h_view_under(const struct g2h_view *view);

/* Returns whether objects have been typed; if not, there are no strings and no keys. */
G2H_PUBLIC bool g2h_view_is_typed(const struct g2h_view *view);

/* Returns whether strings are redacted, so that contents of objects must not be shown. */
G2H_PUBLIC bool g2h_view_is_redacted(const struct g2h_view *view);

/* ---- names ---- */

/* Returns the number of names. Each name of nodes and edges has one number, from 0 up. */
G2H_PUBLIC uint32_t g2h_view_name_count(const struct g2h_view *view);

/* Returns the text of a name: UTF-8, not NUL-terminated, at most 1024 characters; it is valid as
 * long as the view. The text of G2H_NAME_NONE is empty. */
G2H_PUBLIC const char *g2h_view_name(const struct g2h_view *view, uint32_t name, size_t *ret_size);

/* Returns the uses and properties of a name: bits of enum g2h_name_use (names.h). */
G2H_PUBLIC unsigned g2h_view_name_uses(const struct g2h_view *view, uint32_t name);

/* Return the form of the type that a class is named after, and the structure of the runtime that
 * the class is. */
G2H_PUBLIC enum g2h_class_form g2h_view_class_form(const struct g2h_view *view, uint32_t name);

G2H_PUBLIC enum g2h_runtime_class g2h_view_runtime_class(const struct g2h_view *view,
                                                         uint32_t name);

/* Returns the name of the map type whose entries are in objects with this name: a
 * G2H_NAME_OF_ENTRIES name without its suffix. It is valid as long as the view. */
G2H_PUBLIC const char *g2h_view_map_of(const struct g2h_view *view, uint32_t name,
                                       size_t *ret_size);

/* Returns whether objects with the name map are maps whose entries are in objects with the name
 * entries. A map type may have a name of its own: those of "net/http.Header" are in
 * "map[string][]string entries". */
G2H_PUBLIC bool g2h_view_is_map_of(const struct g2h_view *view, uint32_t map, uint32_t entries);

/* Finds the number of the name with this text; returns false if there is none. */
G2H_PUBLIC bool g2h_view_find_name(const struct g2h_view *view, const char *text, size_t size,
                                   uint32_t *ret);

/* A buffer for text that is generated on request. Initialize it with {0}; it can be reused any
 * number of times. */
struct g2h_text {
    char *data;            /* size bytes of UTF-8, not NUL-terminated */
    size_t size, capacity; /* size of the text; number of bytes that data has space for */
    bool failed;           /* memory ran out: the text is incomplete */
};
G2H_PUBLIC void g2h_text_deinit(struct g2h_text *text);

/* ---- nodes ---- */

struct g2h_node {
    enum g2h_node_kind kind;
    uint32_t name;    /* name of the node; the class of an object; an empty name for the root.
                         G2H_NAME_NONE: the name is g2h_view_text(), only for kind G2H_NODE_TEXT */
    uint32_t object;  /* number of the object in the heap; UINT32_MAX: none, or several */
    uint32_t members; /* number of members of a folded node (g2h_view_member()); 0 if the node is
                         not folded */
    uint64_t address; /* address of an object */
    uint64_t size;    /* in bytes; of a folded node, the sum of its members. Among nodes other than
                         objects only stacks have a size, the space reserved for the stack */
    uint64_t key;     /* distinguishes the nodes of one kind that are not objects; the same in every
                         dump of one process. It is the goid of a goroutine, and of its stack; for a
                         frame, goid << 24 | its number from the bottom of the stack */
    uint32_t edges;   /* number of edges that begin here */
    uint32_t whole; /* number of this node in a view of the same graph in which nothing is folded or
                       left out; UINT32_MAX if that view does not have it */
};

/*
 * Returns the number of nodes. They are numbered from 0, which is the root. First come synthetic
 * nodes, that is, all but objects; then objects in the order of their addresses; then folded nodes.
 * Each node can be reached from the root without weak edges. A heap snapshot of the view numbers
 * its nodes in the same way.
 */
G2H_PUBLIC uint32_t g2h_view_node_count(const struct g2h_view *view);

/* Reads count nodes from number first on, or fewer if the view ends before; returns how many.
 * Reading nodes in ascending order is fastest. */
G2H_PUBLIC size_t g2h_view_nodes(const struct g2h_view *view, uint32_t first, size_t count,
                                 struct g2h_node *ret);

/* Reads a node, whose number must be less than g2h_view_node_count(). */
G2H_PUBLIC void g2h_view_node(const struct g2h_view *view, uint32_t node, struct g2h_node *ret);

/* Does the same without counting the node's edges, which takes time for each edge: for callers that
 * read the target of every edge. */
G2H_PUBLIC void g2h_view_brief(const struct g2h_view *view, uint32_t node, struct g2h_node *ret);

/* Returns the node of an object of the heap, or the folded node that contains it; UINT32_MAX if the
 * object is left out. */
G2H_PUBLIC uint32_t g2h_view_object(const struct g2h_view *view, uint32_t object);

/* Returns whether an object of the heap is garbage, that is, not reachable from the roots; the
 * object need not be in the view. The members of a folded node are either all garbage or all
 * reachable. */
G2H_PUBLIC bool g2h_view_is_garbage(const struct g2h_view *view, uint32_t object);

/* Returns whether an object of the heap is in a node of kind G2H_NODE_ELSE. */
G2H_PUBLIC bool g2h_view_is_else(const struct g2h_view *view, uint32_t object);

/* Returns how many of the objects [first, end) of the heap are not garbage: much faster than asking
 * of each. */
G2H_PUBLIC uint32_t g2h_view_live_count(const struct g2h_view *view, uint32_t first, uint32_t end);

/* Returns the name of the class of an object of the heap, which need not be in the view;
 * G2H_NAME_NONE if it holds the contents of strings. */
G2H_PUBLIC uint32_t g2h_view_class(const struct g2h_view *view, uint32_t object);

/* Reads a member of a folded node as if it were not folded, except that its edges are not
 * counted. */
G2H_PUBLIC void g2h_view_member(const struct g2h_view *view, uint32_t node, uint32_t member,
                                struct g2h_node *ret);

struct g2h_leaks {
    enum g2h_leak_proof proof;
    uint64_t
        blocked;     /* goroutines that wait for a channel, a lock, a sync.WaitGroup or sync.Cond */
    uint64_t leaked; /* those that can never run again, because nothing that runs reaches what they
                        wait on; 0 if there is no proof */
    const char *reason; /* why there is no proof, in plain words; NULL: there is one */
};
G2H_PUBLIC struct g2h_leaks g2h_view_leaks(const struct g2h_view *view);

/* Returns whether a node is a goroutine that can never run again. The main goroutine is not, if it
 * waits as main functions do: select {}, or to receive, or for a sync.WaitGroup. */
G2H_PUBLIC bool g2h_view_is_leaked(const struct g2h_view *view, uint32_t node);

/* Returns the global variable that has the lock, sync.WaitGroup or sync.Cond on which a goroutine
 * waits, "main.mu" of *ret_size bytes, or its address. NULL: it is in the heap, where the goroutine
 * has an edge "waiting on" to it, or not known. */
G2H_PUBLIC const char *g2h_view_waits_on(const struct g2h_view *view, uint32_t node,
                                         size_t *ret_size);

/* Returns the contents of a node of kind G2H_NODE_TEXT that is not folded: *ret_size bytes, in text
 * or in the dump; long contents are cut to about a thousand bytes. Empty if the dump lacks the
 * bytes that the string points to. Redacted if the graph is redacted. */
G2H_PUBLIC const char *g2h_view_text(const struct g2h_view *view, uint32_t node,
                                     struct g2h_text *text, size_t *ret_size);

/* Returns how many bytes of such a node belong to strings, from the object's start to the end of
 * the last string; not limited to the bytes that g2h_view_text() returns. */
G2H_PUBLIC uint64_t g2h_view_text_size(const struct g2h_view *view, uint32_t node);

/* Returns a hash of these bytes, as far as the dump has them, that is the same in every run on
 * machines of one byte order. */
G2H_PUBLIC uint64_t g2h_view_text_hash(const struct g2h_view *view, uint32_t node);

/* Returns whether several short strings share such a node, a block of 16 bytes. Its text is all of
 * them, separated by " | ". */
G2H_PUBLIC bool g2h_view_text_is_shared(const struct g2h_view *view, uint32_t node);

/* Returns the first node from first on that has a g2h_view_text(); end if no node before end has
 * one. */
G2H_PUBLIC uint32_t g2h_view_next_text(const struct g2h_view *view, uint32_t first, uint32_t end);

/*
 * Prefetches the memory that reading a node will need: with G2H_SOON_NODE the node's contents, with
 * G2H_SOON_TARGETS where the objects that its edges lead to are recorded, with G2H_SOON_KEYS the
 * contents of these objects. Each step needs the data that the previous step fetched. Any number is
 * allowed as node, also one beyond the last node.
 */
enum g2h_soon { G2H_SOON_NODE, G2H_SOON_TARGETS, G2H_SOON_KEYS };
G2H_PUBLIC void g2h_view_prefetch(const struct g2h_view *view, uint32_t node, enum g2h_soon soon);

/* ---- edges ---- */

/* Properties of an edge: a bit for each. */
enum g2h_edge_flag {
    G2H_EDGE_BY_INDEX = 1,  /* its name is an index, of an array's element or a group's member;
                               otherwise a string, such as the name of a field or variable */
    G2H_EDGE_WEAK = 2,      /* it does not keep its target alive */
    G2H_EDGE_INTERNAL = 4,  /* it leads to a runtime object, or is not a pointer of the program */
    G2H_EDGE_OF_KEY = 8,    /* it is in the key of a map's entry, or */
    G2H_EDGE_OF_ELEM = 16,  /* in the elem; g2h_edges_key() may have a better name */
    G2H_EDGE_REPEATED = 32, /* an earlier edge leads to the same folded node: g2h_edges_repeat() */
    G2H_EDGE_STALE = 64, /* it is an element of an array that no slice uses: it is beyond the length
                            of each slice, or before its start */
    G2H_EDGE_DOUBTFUL = 128, /* its name is G2H_NAME_DOUBTFUL */
    G2H_EDGE_SHORTCUT = 256, /* it leads from the root to the program's variables, or, if it is
                                weak, from a map to its entries */
    G2H_EDGE_FOREIGN = 512,  /* it connects two of: data of the program's variables, goroutines,
                                other roots. It is a pointer like others, but counts for neither
                                dominators nor retained sizes. Unless it leads to data of the
                                program, it is G2H_EDGE_WEAK, too */
    G2H_EDGE_ADDED = 1024,   /* folding has added it: to a node that folded nodes lead to */
};

/* Returns whether an edge is a pointer that the collector follows, between any two tiers. */
static inline bool g2h_edge_leads(uint32_t flags)
{
    return (flags & G2H_EDGE_WEAK) == 0 || (flags & G2H_EDGE_FOREIGN) != 0;
}

/* Returns whether an edge counts for dominators and retained sizes. */
static inline bool g2h_edge_holds(uint32_t flags)
{
    return (flags & (G2H_EDGE_WEAK | G2H_EDGE_FOREIGN)) == 0;
}

struct g2h_edge {
    uint32_t source, target; /* nodes */
    uint32_t flags;          /* enum g2h_edge_flag */
    uint32_t name;   /* of an edge with an index: G2H_NAME_NONE, or "element" if it is weak, because
                        some formats cannot give weak edges an index */
    uint64_t index;  /* of an edge with an index; else 0 */
    uint64_t offset; /* offset of the pointer in its object; UINT64_MAX: not a pointer in an
                        object */
};

/* An iterator over the edges of nodes; each thread needs its own. If the view is folded, each
 * iterator takes 4 bytes of memory per node. Errors: G2H_ERROR_MEMORY. */
struct g2h_edges;
G2H_PUBLIC struct g2h_error *g2h_edges_create(const struct g2h_view *view, struct g2h_edges **ret);
G2H_PUBLIC void g2h_edges_destroy(struct g2h_edges *edges);

/* Starts with the edges of the nodes from first up to end (exclusive), which may exceed the number
 * of nodes. Any order of calls is allowed; ascending nodes are fastest. */
G2H_PUBLIC void g2h_edges_begin(struct g2h_edges *edges, uint32_t first, uint32_t end);

/* Does the same for edges of which only source, target and what they hold is needed, in a fraction
 * of the time: those that are pointers in objects have neither name (G2H_NAME_NONE), index (0) nor
 * offset (UINT64_MAX), and of the flags only G2H_EDGE_WEAK, _FOREIGN and _REPEATED. */
G2H_PUBLIC void g2h_edges_begin_targets(struct g2h_edges *edges, uint32_t first, uint32_t end);

/*
 * Gets the next edge; returns false at the end. Edges come source by source, and for each source in
 * the order of V8's FillChildren: pointers in the order in which they are in the object, then all
 * other edges. The edges are the same each time, unless the dump has been written to meanwhile
 * (g2h_input_check()). Allocates nothing.
 */
G2H_PUBLIC bool g2h_edges_next(struct g2h_edges *edges, struct g2h_edge *ret);

/* Reads as many of the next edges as there are, at most most; returns their number, which is 0 at
 * the end. This is faster than reading one edge at a time. */
G2H_PUBLIC size_t g2h_edges_read(struct g2h_edges *edges, struct g2h_edge *ret, size_t most);

/* Gets the next edge that leads to a target; returns false at the end. */
G2H_PUBLIC bool g2h_edges_next_to(struct g2h_edges *edges, uint32_t target, struct g2h_edge *ret);

/* Sets whether the iterator returns all edges from a node that is not folded to the same folded
 * node, or only the first one (the default). */
G2H_PUBLIC void g2h_edges_repeat(struct g2h_edges *edges, bool repeat);

/* An element of a long list, chain or ring, and the first element: nodes. All elements can be
 * reached from the first one by way of others of the same class, some only in more than 64
 * steps. */
struct g2h_chain_link {
    uint32_t first, element;
};

/* Finds the elements of long chains, but for the first ones and those to which these point,
 * ascending by first and then by element: *ret_count in *ret, which the caller frees. A folded view
 * has none. Errors: G2H_ERROR_MEMORY. */
G2H_PUBLIC struct g2h_error *g2h_view_chains(const struct g2h_view *view,
                                             struct g2h_chain_link **ret, size_t *ret_count);

/* A member of a group of a package's variables that hold memory together, or an object that several
 * of them hold. All numbers but that of the group are of nodes. */
struct g2h_held_together {
    uint32_t package, group;
    uint32_t node;  /* of a member: a variable, or an object to which the package has edges */
    bool is_shared; /* it is not a member */
};

/* Finds the groups of variables of one package that together hold more than one percent of what the
 * package holds, which none of them holds alone. Sets *ret_count and *ret, which the caller frees.
 * The list ascends by group. Of each group the members come first, that with most of its own before
 * the others. All that the members hold, alone and together, only they lead to. A folded view has
 * none. Errors: G2H_ERROR_MEMORY. */
G2H_PUBLIC struct g2h_error *g2h_view_held_together(const struct g2h_view *view,
                                                    struct g2h_held_together **ret,
                                                    size_t *ret_count);

/* Finds the objects of the heap whose finalizers and cleanups never run, because these, or the
 * object with the finalizer, lead to the object, and nothing else does: *ret has a bit for each
 * object, in words of 64, and is freed by the caller. NULL: there are none. Errors:
 * G2H_ERROR_MEMORY. */
G2H_PUBLIC struct g2h_error *g2h_view_never_run(const struct g2h_view *view, uint64_t **ret);

/*
 * The retainers of all nodes, as DevTools calls them: the nodes whose edges, strong or weak, lead
 * to a node. They take 8 bytes of memory per node and 4 per edge. The view must outlive them.
 * g2h_retainers_of() returns how many edges lead to a node, which must be of the view, and their
 * sources, ascending, each once for each of its edges; g2h_edges_next_to() gets the edges
 * themselves. Errors: G2H_ERROR_MEMORY.
 */
struct g2h_retainers;
G2H_PUBLIC struct g2h_error *g2h_retainers_create(const struct g2h_view *view,
                                                  struct g2h_retainers **ret);
G2H_PUBLIC void g2h_retainers_destroy(struct g2h_retainers *retainers);
G2H_PUBLIC uint64_t g2h_retainers_of(const struct g2h_retainers *retainers, uint32_t node,
                                     const uint32_t **ret);

/*
 * The name that the key of a map's entry gives to an edge. It is either just an index, or a string,
 * ["alice"] or [42].Name: size bytes of UTF-8 that are valid until the next one is requested. again
 * is a number with which g2h_view_key() generates the same string again.
 */
struct g2h_key_name {
    uint64_t index;   /* set for G2H_KEY_INDEX */
    const char *text; /* text, size and again are set for G2H_KEY_TEXT */
    size_t size;
    uint64_t again;
};

/*
 * Gets the name that the entry's key gives to an edge that the iterator has returned. Returns
 * G2H_KEY_NONE if the key gives no name: always for edges that are neither G2H_EDGE_OF_KEY nor
 * G2H_EDGE_OF_ELEM, and often for others. The edge's own name applies then, and *ret is unchanged.
 * If edges are passed in the order in which they were returned, a key is read only once for all
 * edges of its entry. Allocates nothing.
 */
enum g2h_key { G2H_KEY_NONE, G2H_KEY_TEXT, G2H_KEY_INDEX };
G2H_PUBLIC enum g2h_key g2h_edges_key(struct g2h_edges *edges, const struct g2h_edge *edge,
                                      struct g2h_key_name *ret);

/* Gets the name that the entry's key gives to a value (values.h) in an object of a class with
 * G2H_NAME_OF_ENTRIES: an index, or ["alice"].Count; if the key has no text, the number of its
 * slot, [#3]. *ret_form is G2H_KEY_NONE if the value is not in the elem of an entry in use, or is
 * an element of an array there. ret->again is not set. Errors: G2H_ERROR_MEMORY. */
struct g2h_value;
G2H_PUBLIC struct g2h_error *g2h_edges_value_key(struct g2h_edges *edges, uint32_t node,
                                                 const struct g2h_value *value,
                                                 enum g2h_key *ret_form, struct g2h_key_name *ret);

/* Prefetches the data that g2h_edges_key() will need for count edges. */
G2H_PUBLIC void g2h_edges_prefetch_keys(const struct g2h_edges *edges, const struct g2h_edge *given,
                                        size_t count);

/* Appends the text of a key's name again; again is the number from its g2h_key_name. */
G2H_PUBLIC void g2h_view_key(const struct g2h_view *view, uint64_t again, struct g2h_text *text);

/* Prefetches the data that g2h_view_key() will need: call it first with G2H_SOON_NODE, then with
 * G2H_SOON_KEYS. */
G2H_PUBLIC void g2h_view_prefetch_key(const struct g2h_view *view, uint64_t again,
                                      enum g2h_soon soon);

/* Returns the first node from first on that has edges named by keys, or may have such edges; end if
 * there is none before end. */
G2H_PUBLIC uint32_t g2h_view_next_keyed(const struct g2h_view *view, uint32_t first, uint32_t end);

/* ---- goroutines ---- */

struct g2h_view_goroutine {
    struct g2h_goroutine record; /* as the dump has it */
    uint32_t node;    /* the node that represents it, alone or with others; UINT32_MAX: none */
    uint32_t minutes; /* how long it has waited, in minutes, at least */
    uint32_t first_frame, frame_count; /* its frames, topmost first */
    struct g2h_bytes function;         /* what it runs: not the wrapper that the compiler made of a
                                          go statement with arguments */
    uint32_t at;     /* number of the g2h_view_call that it is at: of the innermost function that
                        belongs neither to the runtime nor to the packages just above it, such as sync;
                        UINT32_MAX: none */
    uint64_t parent; /* number of the goroutine that has started it; 0: not known, as before Go 1.21
                      */
};

struct g2h_view_frame {
    uint32_t node;             /* as in g2h_view_goroutine */
    struct g2h_bytes function; /* the linker's name of the function, from the dump */
    uint64_t sp, entry, pc;    /* pc: after a call, except in the topmost frame */
    struct g2h_bytes contents;
};

/* A function that a frame is in, and the line it is at. An inlined function has no frame of its
 * own, so a frame may be in several. */
struct g2h_view_call {
    struct g2h_bytes function, file; /* the linker's names */
    uint32_t line;                   /* 0: not known */
    bool is_inlined;
    bool is_wrapper; /* the compiler has made the function: tracebacks leave it out */
    uint32_t number; /* the same of all frames that are at the same program counter */
};

/* Goroutines are numbered from 0 in the order of the dump. Frames are numbered from 0 too, across
 * all goroutines. */
G2H_PUBLIC size_t g2h_view_goroutine_count(const struct g2h_view *view);
G2H_PUBLIC void g2h_view_goroutine(const struct g2h_view *view, size_t goroutine,
                                   struct g2h_view_goroutine *ret);
G2H_PUBLIC void g2h_view_frame(const struct g2h_view *view, size_t frame,
                               struct g2h_view_frame *ret);

/* Gets a function that a frame is in; the innermost one has index 0, the frame's own is the last.
 * Returns false if the frame has no index-th function. */
G2H_PUBLIC bool g2h_view_call(const struct g2h_view *view, size_t frame, uint32_t index,
                              struct g2h_view_call *ret);

/* Appends a function, as names of frames have it, and its line if that is known: "main.step
 * main.go:31". */
G2H_PUBLIC void g2h_view_call_text(const struct g2h_view *view, const struct g2h_view_call *call,
                                   struct g2h_text *text);

/* A label that a program has set for its profiles (pprof.Do): UTF-8 or any other bytes, not
 * NUL-terminated. Of a redacted graph, both are hashes. */
struct g2h_label {
    const char *key;
    size_t key_size;
    const char *value;
    size_t value_size;
};

/* Gets a label; returns false to stop the visit. */
typedef bool (*g2h_label_visit)(void *context, const struct g2h_label *label);

/* Visits the labels of a goroutine, in the order of the keys since Go 1.24. There are none if
 * nothing is typed. Errors: G2H_ERROR_MEMORY. */
G2H_PUBLIC struct g2h_error *g2h_view_labels(const struct g2h_view *view, size_t goroutine,
                                             g2h_label_visit visit, void *context);

/* Return how many goroutines are known that have started a goroutine, the first of them, or its
 * starter, or that one's; the number of one of them, and a function on its stack then, which had
 * the go statement if index is 0. Programs have this only with tracebackancestors in GODEBUG. */
G2H_PUBLIC size_t g2h_view_starter_count(const struct g2h_view *view, size_t goroutine);
G2H_PUBLIC uint64_t g2h_view_starter(const struct g2h_view *view, size_t goroutine, size_t starter);
G2H_PUBLIC bool g2h_view_starter_call(const struct g2h_view *view, size_t goroutine, size_t starter,
                                      uint32_t index, struct g2h_view_call *ret);

/* Formats the goroutine's state, as a traceback shows it: "select", "chan receive". It replaces the
 * contents of text. */
G2H_PUBLIC void g2h_view_state(const struct g2h_view *view, size_t goroutine,
                               struct g2h_text *text);

/* ---- groups of roots ---- */

/* A group of roots: the globals of a package, the goroutines at one location, the finalizers …;
 * garbage is a group too. */
struct g2h_view_owner {
    uint32_t node;  /* the node that represents the group; UINT32_MAX: none, because it is folded or
                       left out */
    uint64_t bytes; /* size of the nodes that no other group reaches, including stacks */
};

/* Groups are numbered from 0. Nodes that several groups reach count for no group: their size is
 * g2h_graph_account.shared_bytes, and they are below the node of kind G2H_NODE_SEVERAL. */
G2H_PUBLIC size_t g2h_view_owner_count(const struct g2h_view *view);
G2H_PUBLIC void g2h_view_owner(const struct g2h_view *view, size_t owner,
                               struct g2h_view_owner *ret);

/*
 * Gets the groups that together hold a node, such as "main and 22 goroutines". Returns false unless
 * several groups hold the node and no other node that they hold together dominates it. The text is
 * *ret_size bytes of UTF-8, valid as long as the view's graph.
 */
G2H_PUBLIC bool g2h_view_sharers(const struct g2h_view *view, uint32_t node, const char **ret,
                                 size_t *ret_size);

/* ---- values in objects ---- */

enum g2h_value_kind {
    G2H_VALUE_BOOL,
    G2H_VALUE_INT,
    G2H_VALUE_UINT,
    G2H_VALUE_FLOAT,
    G2H_VALUE_COMPLEX,
    G2H_VALUE_STRING,
    G2H_VALUE_SLICE,
    G2H_VALUE_INTERFACE,
    G2H_VALUE_POINTER, /* pointers, maps, channels and functions */
    /* Only after g2h_values_begin_at() (values.h), or in entries of maps: */
    G2H_VALUE_TIME,  /* time.Time */
    G2H_VALUE_BYTES, /* an array of bytes */
    G2H_VALUE_OTHER, /* any other struct or array */
};

/* A leaf value: a part of an object that has no parts of its own. */
struct g2h_value {
    enum g2h_value_kind kind;
    uint64_t offset, size; /* offset in the object; size in bytes */
    const uint8_t *data;   /* in the dump's byte order */
    const char *type;      /* type_size bytes of UTF-8, with full import paths: "*net/http.conn" */
    size_t type_size;
    uint32_t number;  /* of the type; the numbers have no other meaning */
    const char *path; /* path_size bytes: "Config.Timeout", "[3].Name"; until the next value */
    size_t path_size;
};

/* An iterator over the values in an object, by its type; each thread needs its own. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_values;
G2H_PUBLIC struct g2h_error *g2h_values_create(const struct g2h_view *view,
                                               struct g2h_values **ret);
G2H_PUBLIC void g2h_values_destroy(struct g2h_values *values);

/* Starts with a node. A node that is not an object, is folded, or whose type is not known as a
 * whole has no values. */
G2H_PUBLIC void g2h_values_begin(struct g2h_values *values, uint32_t node);

/*
 * Returns a number that identifies the layout of an object of the heap: objects with equal numbers
 * and sizes have values of the same kinds, types and paths at the same offsets, as far as the dump
 * has their contents. 0: the object has no values. The numbers have no other meaning, and differ
 * between graphs.
 */
G2H_PUBLIC uint64_t g2h_values_layout(const struct g2h_view *view, uint32_t object);

/* Gets the next value, in ascending order of offsets; returns false at the end, or where the dump
 * lacks the rest of the object. */
G2H_PUBLIC bool g2h_values_next(struct g2h_values *values, struct g2h_value *ret);

/* Formats a value as Go's %v does: 42, true, 1.5; a string as its contents in quotation marks, up
 * to 1024 characters; a pointer as 0x and the address, or nil. The result replaces the contents of
 * text. If the graph is redacted, so is the result, which then shows no numbers. */
G2H_PUBLIC void g2h_value_text(const struct g2h_view *view, const struct g2h_value *value,
                               struct g2h_text *text);

/* ---- capacities: how much of slices and maps is used; graph.h has the visits ---- */

/*
 * The declarations of slices, strings and maps in the types of objects and of variables. It takes
 * some bytes for each such field, and is constant: several threads may visit objects. If nothing is
 * typed it has no declarations. Errors: G2H_ERROR_MEMORY.
 */
G2H_PUBLIC struct g2h_error *g2h_capacities_create(const struct g2h_view *view,
                                                   struct g2h_capacities **ret);
/* Does the same for slices only whose elements have no pointers, such as bytes and numbers. */
G2H_PUBLIC struct g2h_error *g2h_capacities_create_noscan(const struct g2h_view *view,
                                                          struct g2h_capacities **ret);

/* Returns the number of declarations: fields of types and variables that are slices or strings, and
 * types of maps. All maps with the same types of keys and elements are one declaration, because the
 * objects that contain their entries have one type too (internal/runtime/maps, Map; runtime/map.go
 * before Go 1.24). */
G2H_PUBLIC uint32_t g2h_capacities_declaration_count(const struct g2h_capacities *capacities);

/* Writes the name of a declaration: "main.Server.buffers" for a field of a type, with "[]" for all
 * elements of an array; "main.history" for a variable; "map[string]int". The name replaces the
 * contents of text. */
G2H_PUBLIC void g2h_capacities_declaration(const struct g2h_capacities *capacities,
                                           uint32_t declaration, struct g2h_text *text);

/* ---- layouts: how much of a slot its value needs ---- */

/* A group of values with the same kind of layout: the values of a type, the arrays of a type, or
 * the contents of strings. */
struct g2h_layout_class {
    uint32_t name; /* of the class; G2H_NAME_NONE: the contents of strings */
    bool is_array;
    uint64_t size;      /* bytes of one value, or of one element; 1 for strings */
    uint64_t padding;   /* of these, known padding bytes */
    uint64_t reordered; /* the smallest size that reordering the struct's own fields yields; size if
                           not smaller, or if the order must not change because of a blank field */
};

/* An object whose type is known as a whole and for certain. */
struct g2h_layout {
    uint32_t number; /* of its g2h_layout_class */
    uint64_t header; /* bytes before the value: the malloc header */
    uint64_t slot;   /* size of the slot */
    uint64_t size;   /* bytes of the value; of strings, from the object's start to the end of the
                        last string; 0 for an array, since only slices know its length */
};

/* The layouts of all types that objects have. It takes some bytes for each type, and is constant.
 * Without types it has no classes. Errors: G2H_ERROR_MEMORY. */
struct g2h_layouts;
G2H_PUBLIC struct g2h_error *g2h_layouts_create(const struct g2h_view *view,
                                                struct g2h_layouts **ret);
G2H_PUBLIC void g2h_layouts_destroy(struct g2h_layouts *layouts);

/* Return the number of classes, and the class with a number. */
G2H_PUBLIC uint32_t g2h_layouts_count(const struct g2h_layouts *layouts);
G2H_PUBLIC struct g2h_layout_class g2h_layouts_class(const struct g2h_layouts *layouts,
                                                     uint32_t number);

/* Gets the layout of an object of the heap, which need not be in the view. Returns false if the
 * object's type is not known as a whole, is a guess, or if values share the slot. */
G2H_PUBLIC bool g2h_layouts_find(const struct g2h_layouts *layouts, uint32_t object,
                                 struct g2h_layout *ret);

/* Returns the size of the slot that Go allocates for a value of size bytes that is otherwise like
 * one with this header. */
G2H_PUBLIC uint64_t g2h_layouts_slot(const struct g2h_layouts *layouts, uint64_t header,
                                     uint64_t size);

/* ---- windows: arrays used only in part by slices ---- */

/*
 * An array that only slices refer to, and that they do not use completely: elements are before the
 * start of each slice, or beyond the length of each; or the capacity of the slices was cut, as in
 * b[100:112:112]. Slices in objects, in variables of packages and in variables of frames count.
 * Offsets are in the object, in bytes.
 */
struct g2h_window {
    uint32_t object;       /* the array; it is not garbage */
    uint64_t size;         /* of an element */
    uint64_t begin, end;   /* the elements in use, from the slice's start to its length; for several
                              slices, everything between their first and last elements */
    uint64_t capacity_end; /* of the largest capacity, */
    uint64_t first, last;  /* and the array's elements, without the allocator's size-class
                              rounding */
};

/* Finds them, ascending by object, on threads threads (0: one per processor). There are none if
 * nothing is typed. Errors: G2H_ERROR_MEMORY. */
struct g2h_windows;
G2H_PUBLIC struct g2h_error *g2h_windows_find(const struct g2h_view *view, unsigned threads,
                                              struct g2h_windows **ret);
G2H_PUBLIC void g2h_windows_destroy(struct g2h_windows *windows);
G2H_PUBLIC uint32_t g2h_windows_count(const struct g2h_windows *windows);
G2H_PUBLIC void g2h_windows_get(const struct g2h_windows *windows, uint32_t number,
                                struct g2h_window *ret);

/* Returns the number of the window of an object; UINT32_MAX: none. */
G2H_PUBLIC uint32_t g2h_windows_of(const struct g2h_windows *windows, uint32_t object);

/*
 * Finds the objects of which a pointer may use more than slices and strings say: one to an array of
 * several elements, such as a *[4096]byte, or to a struct that has the array; an unsafe.Pointer; or
 * one whose type is not known. asked and ret have a bit for each object of the heap: the bits of
 * those objects of asked are set in ret to which such a pointer leads, from an object that is not
 * garbage or from a variable of a package. Other roots are not examined. threads: as above. Errors:
 * G2H_ERROR_MEMORY.
 */
G2H_PUBLIC struct g2h_error *g2h_view_find_whole(const struct g2h_view *view, const uint64_t *asked,
                                                 unsigned threads, uint64_t *ret);

/* ---- dominators ---- */

/*
 * The dominator and the retained size of each node: the last node that all paths to it have in
 * common, and how much memory would be freed without the node. They are the values that DevTools
 * computes.
 */
struct g2h_dominators;

/*
 * Computes dominators and retained sizes, in near-linear time, on all threads of the graph. This
 * takes 28 bytes of memory per node of the graph, 4 per edge, and 50 for each node that several
 * groups of the roots hold directly; 20 bytes per node stay allocated. The view must outlive the
 * result.
 * Errors: G2H_ERROR_MEMORY; G2H_ERROR_LIMIT: 2^32 edges.
 */
G2H_PUBLIC struct g2h_error *g2h_view_dominators(const struct g2h_view *view,
                                                 struct g2h_dominators **ret);
G2H_PUBLIC void g2h_dominators_destroy(struct g2h_dominators *dominators);

/* Returns a node's immediate dominator: the last node before it that all strong paths from the root
 * to it have in common. The root's dominator is the root itself. */
G2H_PUBLIC uint32_t g2h_dominators_of(const struct g2h_dominators *dominators, uint32_t node);

/*
 * The numbers of nodes in an order in which each node comes after its dominator, so that a walk
 * over ascending numbers goes from the root to the leaves, and a walk over descending numbers goes
 * back. g2h_dominators_numbers() returns the upper bound of the numbers; the root's number is 0.
 * Some numbers may belong to no node.
 */
G2H_PUBLIC uint32_t g2h_dominators_numbers(const struct g2h_dominators *dominators);
G2H_PUBLIC uint32_t g2h_dominators_number(const struct g2h_dominators *dominators, uint32_t node);

/* Returns the node with a number; UINT32_MAX: none. */
G2H_PUBLIC uint32_t g2h_dominators_node(const struct g2h_dominators *dominators, uint32_t number);

/* Returns the number of the immediate dominator of the node with a number, which must be a node's
 * number. */
G2H_PUBLIC uint32_t g2h_dominators_above(const struct g2h_dominators *dominators, uint32_t number);

/* Returns the size in bytes of a node and of all nodes that it dominates. */
G2H_PUBLIC uint64_t g2h_dominators_retained_size(const struct g2h_dominators *dominators,
                                                 uint32_t node);

/* Reads the dominators and retained sizes of count nodes from first on, all of which must exist:
 * faster than one node at a time. */
G2H_PUBLIC void g2h_dominators_read(const struct g2h_dominators *dominators, uint32_t first,
                                    size_t count, uint32_t *ret_nodes, uint64_t *ret_sizes);

G2H_END

#endif
