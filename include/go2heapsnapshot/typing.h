/*
 * The type of each object of a heap, found with the executable that wrote the dump.
 */
#ifndef GO2HEAPSNAPSHOT_TYPING_H
#define GO2HEAPSNAPSHOT_TYPING_H

#include <go2heapsnapshot/exe.h>
#include <go2heapsnapshot/heap.h>
#include <go2heapsnapshot/redaction.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

struct g2h_typing;

struct g2h_typing_options {
    unsigned threads;                      /* 0: one per processor */
    const struct g2h_redaction *redaction; /* the redaction that the graph will use; NULL: none */
};

/*
 * Finds the types of all objects. exe must have been matched with the heap; both, and the
 * redaction, must outlive the typing. *ret is NULL if there is no source of types: dumps before Go
 * 1.5 state the types of their objects themselves, and descriptors can be read from Go 1.7 on.
 * options may be NULL.
 * Errors: G2H_ERROR_MEMORY.
 */
G2H_PUBLIC struct g2h_error *g2h_typing_create(const struct g2h_heap *heap,
                                               const struct g2h_exe *exe,
                                               const struct g2h_typing_options *options,
                                               struct g2h_typing **ret);
G2H_PUBLIC void g2h_typing_destroy(struct g2h_typing *typing);

/* The number of sources of types; see g2h_type_account.sources. The first one is trusted most. */
enum { G2H_TYPE_SOURCES = 7 };

/* The number of objects of one kind and the bytes of their slots; and the same for live objects,
 * which are reachable from the roots. The others are garbage. */
struct g2h_type_sum {
    uint64_t objects, bytes;
    uint64_t living_objects, living_bytes;
};

/* How the objects of the whole heap were typed, including those that are left out or folded.
 * sources, text, part and untyped add up to all. See g2h_graph_type_account(). */
struct g2h_type_account {
    /* malloc header, the runtime's records, interface, typed pointer, closure, words that look like
     * an interface, guess */
    struct g2h_type_sum sources[G2H_TYPE_SOURCES];
    struct g2h_type_sum text;    /* contents of strings */
    struct g2h_type_sum part;    /* objects with a type known only in part */
    struct g2h_type_sum untyped; /* objects without a known type */
    struct g2h_type_sum typed;   /* type known as a whole and not guessed: all sources but the last,
                                    and text */
    struct g2h_type_sum all;
};

G2H_END

#endif
