/*
 * The kinds of nodes, and the properties of names, of the graph of a heap (graph.h) and its views
 * (view.h).
 */
#ifndef GO2HEAPSNAPSHOT_NAMES_H
#define GO2HEAPSNAPSHOT_NAMES_H

#include <stdint.h>

#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

/* The number that stands for no name. */
#define G2H_NAME_NONE UINT32_MAX

/* The uses and properties of a name: a bit for each. */
enum g2h_name_use {
    G2H_NAME_OF_NODE = 1,
    G2H_NAME_OF_EDGE = 2,
    G2H_NAME_OF_ENTRIES = 4, /* of memory in which the runtime keeps the entries of a map: the name
                                of the map's type, and " entries" */
    G2H_NAME_DOUBTFUL = 8,   /* of an edge from a root: it may be a leftover on a stack, or the word
                                of another variable */
    G2H_NAME_OF_RUNTIME = 16, /* of package runtime: the package, a type, a frame of a function; or
                                 goroutines whose innermost function in their names is of that
                                 package */
    G2H_NAME_OF_LIBRARY = 32, /* of a frame of a function of the runtime, or of a package of the
                                 standard library that waits, or calls back, for its callers */
    G2H_NAME_OF_LINKS = 64,   /* of the parts of a sync.Map whose pointers a Go programmer does not
                                 see, and which paths leave out */
};

/* The form of the Go type that a class of objects is named after. */
enum g2h_class_form {
    G2H_FORM_OTHER,    /* a predeclared type, or no type: "ptr64", "(tiny block)", a root */
    G2H_FORM_DECLARED, /* declared by a package: main.Session */
    G2H_FORM_POINTER,
    G2H_FORM_SLICE, /* a slice or array */
    G2H_FORM_MAP,   /* also the memory with its entries: G2H_NAME_OF_ENTRIES */
    G2H_FORM_CHAN,
    G2H_FORM_FUNC,
    G2H_FORM_CLOSURE, /* named after its function: func main.main.func1 */
    G2H_FORM_STRUCT,
    G2H_FORM_INTERFACE,
};

/* Structures of the runtime and of Go's library that hold data of the program. */
enum g2h_runtime_class {
    G2H_RUNTIME_NONE,
    G2H_RUNTIME_G,          /* a goroutine's */
    G2H_RUNTIME_M,          /* a thread's */
    G2H_RUNTIME_DEFER,      /* a deferred call's */
    G2H_RUNTIME_DEFER_LIST, /* a pointer to these, or another type derived from the record's */
    G2H_RUNTIME_TIMER,      /* a timer of package time */
    G2H_RUNTIME_TIMERS,     /* an array of timers */
    G2H_RUNTIME_P,          /* a processor's */
    G2H_RUNTIME_SUDOG,      /* a goroutine's wait on a channel or a lock */
    G2H_RUNTIME_TRIE,       /* of sync.Map: what leads to the entries; also of unique */
    G2H_RUNTIME_ENTRY,      /* a container's node for one value: of list, ring */
    G2H_RUNTIME_TRIE_ENTRY, /* an entry of a sync.Map, with its key or its value */
};

/* The kind of a node. There is at most one node of each kind up to G2H_NODE_MAPPINGS. */
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
    G2H_NODE_SEVERAL, /* "(held by several)", which holds nothing: its edges are weak, largest
                         target first */
    G2H_NODE_MAPPINGS,

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
    G2H_NODE_FOLDED_SYNTHETICS, /* folded nodes of the kinds above */
    G2H_NODE_CLEANUP,
    G2H_NODE_PART,
    G2H_NODE_FUNCTION,
    G2H_NODE_GOROUTINES_IN_PLACE, /* goroutines in the same state that run the same function and
                                     have the same functions on their stacks */
    G2H_NODE_STACK,               /* the stack of a goroutine */
    G2H_NODE_DEFERRED_CALLS,      /* the calls that one function has deferred */
    G2H_NODE_MAPPING, /* memory outside the heap that something points into; its key is its
                         address */

    G2H_NODE_OBJECT,
    G2H_NODE_TEXT, /* an object that holds the contents of strings */

    G2H_NODE_POOLS, /* not an object: "(sync.Pool)", what pools cache until the next collections */
    G2H_NODE_VARIABLE, /* not an object: a variable of a package, whose words point to several
                          objects; its name has the package: main.cache */
    G2H_NODE_ELSE,     /* not an object: "(everything else)", the nodes that are neither under what
                          a view is of nor hold that (struct g2h_view_options) */
};

G2H_END

#endif
