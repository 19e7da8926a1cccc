/*
 * goroutines: goroutines by place, their stacks, what their deferred calls hold, and their labels.
 */
#ifndef FINDINGS_GOROUTINES_H
#define FINDINGS_GOROUTINES_H

#include "base/text.h"
#include "findings/findings.h"

/* ==== goroutines by place ====
 *
 * The places where goroutines are, their stacks, and goroutines that have ended.
 *
 * leaks: the goroutines that can never run again, by their places, and what they retain.
 *
 * deferred: the memory that a function's deferred calls hold, by class.
 *
 * finalized: objects whose finalizers or cleanups never run.
 */

/* ---- goroutines ---- */

/* The goroutines in one place: in one state, with the same functions on their stacks. */
struct goroutine_place {
    uint32_t node;   /* of merged: a group, or a goroutine that is alone */
    uint64_t weight; /* findings_weight(), the rank of the place */
    uint64_t count, retained;
    int64_t grown; /* by how many goroutines since the base; 0 without one */
};

typedef VECTOR(struct goroutine_place) goroutine_place_vector;

/* Finds all places, the heaviest first. The caller frees ret->data. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *goroutines_find_places(const struct findings *findings,
                                         goroutine_place_vector *ret);

/* Returns whether a query is what reports call the goroutines of a place, which has this name, or
 * begins so before a blank: "[select] main.serve server.go:80", also after how many there are, and
 * with an ellipsis for what is left out in a narrow column. */
bool goroutines_are_called(struct g2h_bytes name, const char *asked);

/* Returns the bytes of the stacks of the goroutines in a place, a node of merged. */
uint64_t goroutines_stack_bytes(const struct findings *findings, uint32_t place);

/* The frames on the stack of a goroutine, and the function that has most of them: its name is that
 * of the view, not terminated. */
struct goroutine_frames {
    uint64_t count, most;
    const char *function;
    size_t function_size;
};

/* Counts the frames of a goroutine, a node of the view. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *goroutines_find_frames(const struct findings *findings, uint32_t goroutine,
                                         struct goroutine_frames *ret);

/* Finds the object by which iter.Pull resumes a goroutine, a node of the view. *ret becomes
 * UINT32_MAX if there is none, if the goroutine alone holds it, or if it waits on something else
 * now. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *goroutines_find_coroutine(const struct findings *findings, uint32_t goroutine,
                                            uint32_t *ret);

/* Finds one of the functions next and stop, a node that is not held by the goroutine alone, that
 * has the object; UINT32_MAX if there is none. Reads all edges. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *goroutines_find_resumer(const struct findings *findings, uint32_t goroutine,
                                          uint32_t coroutine, uint32_t *ret);

/* What the goroutines in one place wait on. */
struct goroutines_waited {
    uint32_t goroutine; /* a node of the view: one of those that wait on what most do, or UINT32_MAX
                           if there is nothing that more than half of them wait on */
    struct text paths;  /* to what this one waits on, first to what most do, as path_append() has
                           them; classes take the place of what no variable of a package leads to:
                           "main.stop, chan int"; empty if these are all */
    uint64_t count, of; /* how many goroutines wait on what most do; all of the place */
};

/* Finds this for a place, a node of merged. The caller calls text_deinit() for ret->paths in any
 * case. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *goroutines_find_waited(const struct findings *findings, uint32_t place,
                                         struct goroutines_waited *ret);

/* Appends the classes of what a goroutine, a node of the view, waits on: "chan int, chan bool". */
void goroutines_append_classes(const struct findings *findings, uint32_t goroutine,
                               struct text *text);

/* The objects of class runtime.g that no goroutine has any more: the runtime keeps them for reuse.
 */
struct goroutines_ended {
    uint64_t count, bytes;
};

/* Counts them. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *goroutines_find_ended(const struct findings *findings,
                                        struct goroutines_ended *ret);

/* ---- leaks ---- */

/* The leaked goroutines in one place. */
struct leaks_place {
    uint32_t node;    /* of merged: a group of goroutines, or one that is alone */
    uint32_t example; /* one of these goroutines: a node of the view */
    uint64_t count;
    uint64_t retained; /* by all that are in the place, if all are leaked; else by each of the
                          leaked ones alone */
};

struct leaks {
    struct g2h_leaks all;
    uint64_t retained;
    VECTOR(struct leaks_place) places;
    struct map by_node; /* node of merged → index in places */
};

/* Finds them. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *leaks_find(const struct findings *findings, struct leaks *ret);

void leaks_deinit(struct leaks *leaks);

/* Returns the leaked goroutines in the place that a node of merged is, or is below of; NULL: none.
 */
const struct leaks_place *leaks_at(const struct leaks *leaks, const struct findings *findings,
                                   uint32_t node);

/* Appends why a goroutine, a node of the view, can never run again: "nothing alive reaches the
 * channel it waits on", or "… they wait on" if are_many. */
void leaks_append_reason(const struct findings *findings, uint32_t goroutine, bool are_many,
                         struct text *text);

/* ---- deferred ---- */

/* The objects of a class that deferred calls hold. */
struct deferred_held {
    uint32_t node; /* of merged: some of these objects */
    uint64_t count, retained;
};

typedef VECTOR(struct deferred_held) deferred_vector;

/* Finds what the calls below a node of merged hold; the class that retains most comes first. The
 * caller frees ret->data. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *deferred_find(const struct findings *findings, uint32_t calls,
                                deferred_vector *ret);

/* ---- finalized ---- */

enum finalized {
    FINALIZED_CAN_RUN,     /* or it has neither a finalizer nor a cleanup */
    FINALIZED_SELF,        /* the object with the finalizer reaches itself */
    FINALIZED_BY_FUNCTION, /* the finalizer's function reaches the object */
    FINALIZED_BY_CLEANUP,  /* the cleanup's function or argument reaches the object */
};

/* Finds out why an object, a node of the view, is never freed, if only a finalizer, or an object
 * that is kept for a cleanup, holds it. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *finalized_find(const struct findings *findings, uint32_t node,
                                 enum finalized *ret);

/* The goroutine that runs finalizers or cleanups, while one of these blocks: others wait for it. */
struct finalized_blocker {
    uint32_t goroutine;   /* a node of the view, or UINT32_MAX */
    const char *how;      /* "finalizers run one after the other", for example */
    const char *function; /* the program's that it waits in: the view's name, not terminated */
    size_t function_size;
};

/* Finds the goroutine that runs finalizers or cleanups, if an object, a node of the view, waits for
 * its own; ret->goroutine is UINT32_MAX otherwise, or if no such goroutine is blocked. */
void finalized_find_blocker(const struct findings *findings, uint32_t node,
                            struct finalized_blocker *ret);

/* ==== labels, and what goroutines with each value retain ==== */

/* A label of a goroutine; key and value are strings of texts. */
struct goroutine_label {
    uint32_t key, value;
};

/* The labels of all goroutines. */
struct goroutine_labels {
    struct string_pool texts;
    VECTOR(struct goroutine_label) list; /* by goroutine */
    uint32_t *first; /* by goroutine: where its labels begin; one more at the end */
};

/* Reads them. The caller calls goroutine_labels_deinit() in any case; ret is {0} before. */
struct g2h_error *goroutine_labels_read(const struct findings *findings,
                                        struct goroutine_labels *ret);

void goroutine_labels_deinit(struct goroutine_labels *labels);

/* Appends the labels of the goroutines in a place: "tenant=acme"; "tenant=acme 27, globex 3" if
 * there are few values, else "id: 30 values". */
struct g2h_error *goroutine_labels_append(const struct findings *findings,
                                          const struct goroutine_labels *labels, uint32_t place,
                                          struct text *text);

/* What the goroutines with a value of a label retain: as a place, what all goroutines in it have
 * together, too; of a place with several values, what each has alone. */
struct label_value {
    uint32_t value; /* string of texts; UINT32_MAX: the goroutines without the label */
    uint64_t count, retained;
};

typedef VECTOR(struct label_value) label_values;

/* Finds the values of a label, those that retain most first, and then the goroutines without it.
 * The caller frees ret->data. */
struct g2h_error *label_values_find(const struct findings *findings,
                                    const struct goroutine_labels *labels, uint32_t key,
                                    label_values *ret);

#endif
