/*
 * Findings about a heap: its classes, the parts to look at first, and what keeps an object alive.
 * Reports are written from the same findings.
 *
 * Strings are UTF-8, NUL-terminated, and can be shown on a terminal (g2h_printable()). A returned
 * struct begins with its size, which the library sets; later versions append members. One thread at
 * a time may use findings.
 */
#ifndef GO2HEAPSNAPSHOT_FINDINGS_H
#define GO2HEAPSNAPSHOT_FINDINGS_H

#include <go2heapsnapshot/view.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

struct g2h_findings;

/* Set size to sizeof(struct g2h_findings_options), and all unused members to 0. */
struct g2h_findings_options {
    size_t size;
    unsigned threads;                        /* 0: one per processor */
    const struct g2h_dominators *dominators; /* of the view; NULL: they are computed */
};

/* Creates the findings of a view, which must outlive them, as must the options' dominators;
 * g2h_session_findings() does it for a session. Takes 4 bytes of memory per node, and temporarily
 * 20 more. options may be NULL. Errors: those of g2h_view_dominators(). */
G2H_PUBLIC struct g2h_error *g2h_findings_create(const struct g2h_view *view,
                                                 const struct g2h_findings_options *options,
                                                 struct g2h_findings **ret);

/* Frees findings and all that their functions returned. findings may be NULL. */
G2H_PUBLIC void g2h_findings_destroy(struct g2h_findings *findings);

/* ---- classes ---- */

/* The objects of a class, as Summary counts them in DevTools, except that the memory in which the
 * runtime keeps the entries of a map is not an object but counts as bytes of the map. The class of
 * a stack is its goroutine's location; contents of strings are of class (string). */
struct g2h_class {
    size_t size;
    const char *name;
    uint64_t objects, bytes;
    uint64_t retained; /* bytes; what an object retains that is retained by another object of the
                          class counts once */
    uint64_t garbage;  /* how many of the objects are garbage */
    uint32_t example;  /* one of them, a node of the view */
};

/* Finds the classes, and their number. g2h_findings_class() then returns them by index from 0,
 * largest retained size first; NULL after the last one. Errors: G2H_ERROR_MEMORY. */
G2H_PUBLIC struct g2h_error *g2h_findings_classes(struct g2h_findings *findings, size_t *ret);
G2H_PUBLIC const struct g2h_class *g2h_findings_class(const struct g2h_findings *findings,
                                                      size_t index);

/* ---- suspects ---- */

/* A part of the heap to look at first: many objects of a class in one location with all that they
 * retain, or many goroutines. docs/report-json.md has the criteria. */
struct g2h_suspect {
    size_t size;
    const char *sentence; /* a description: "2,000 main.Watcher, in 4 × map[uint64]*main.Watcher" */
    const char *name;     /* of the objects' class, or of the goroutines' location */
    const char *held_by;  /* g2h_findings_expression() of an object; empty for goroutines */
    uint64_t objects;     /* or goroutines, or deferred calls */
    uint64_t retained;    /* bytes */
    double share;         /* share of the heap without garbage, at most 1 */
    uint32_t example;     /* a node of the view: a goroutine, or the object that retains most, among
                             the objects of the largest holder if there is one */
    bool
        is_container; /* held_by and example are of the sync.Map or the list that has the objects */
};

/* Does the same as g2h_findings_classes() and g2h_findings_class() for suspects. */
G2H_PUBLIC struct g2h_error *g2h_findings_suspects(struct g2h_findings *findings, size_t *ret);
G2H_PUBLIC const struct g2h_suspect *g2h_findings_suspect(const struct g2h_findings *findings,
                                                          size_t index);

/* ---- what keeps an object alive ---- */

/* A node of a path. */
struct g2h_step {
    size_t size;
    const char *edge; /* the edge that leads here: the name of a variable or field, "[3]", or the
                         key of a map's entry, "["alice"]"; empty for the root */
    const char *name; /* of the node: an object's class, (root), (string) */
    uint64_t address; /* of an object; 0: not an object, or several */
    uint32_t node;    /* its number in the view */
};

/*
 * Finds a shortest path of strong edges from the root to a node of the view, and its number of
 * nodes, both ends included. g2h_findings_step() then returns one, from the root on; NULL after the
 * last one. They are valid until the next path is found. The path of garbage leads through the node
 * of kind G2H_NODE_UNREACHABLE. The first call allocates 12 bytes of memory per node, which stay
 * allocated, and visits each edge at most once; so do all later calls together. Errors:
 * G2H_ERROR_MEMORY.
 */
G2H_PUBLIC struct g2h_error *g2h_findings_path(struct g2h_findings *findings, uint32_t node,
                                               size_t *ret);
G2H_PUBLIC const struct g2h_step *g2h_findings_step(const struct g2h_findings *findings,
                                                    size_t index);

/*
 * Returns how a program gets to a node of the view, or to one that is like it, as a Go expression:
 * main.previews.byName["chair, 338 wide"]. It begins with a variable whose name is certain, if
 * there is one, and so need not be the shortest path; docs/report-json.md describes it. It is empty
 * if no variable leads to the node, and valid until the next call. Errors: G2H_ERROR_MEMORY.
 */
G2H_PUBLIC struct g2h_error *g2h_findings_expression(struct g2h_findings *findings, uint32_t node,
                                                     const char **ret);

G2H_END

#endif
