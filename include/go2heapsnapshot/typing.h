/*
 * What each object of a heap is, by the executable that wrote it.
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
    const struct g2h_redaction *redaction; /* of what the graph will have; NULL: none */
};

/*
 * Finds the types of all objects. exe has been matched with the heap; both, and the redaction, must
 * outlive the typing. *ret is NULL where there is nothing to type by: dumps before Go 1.5 say
 * themselves what their objects are, and descriptors can be read from Go 1.7 on. options may be
 * NULL.
 * Errors: G2H_ERROR_MEMORY.
 */
G2H_PUBLIC struct g2h_error *g2h_typing_create(const struct g2h_heap *heap,
                                               const struct g2h_exe *exe,
                                               const struct g2h_typing_options *options,
                                               struct g2h_typing **ret);
G2H_PUBLIC void g2h_typing_destroy(struct g2h_typing *typing);

/* By what objects were typed; the first is trusted most. */
enum { G2H_TYPE_SOURCES = 7 };

/* Objects of one kind, how many and the bytes of their slots; and of them those that live, which
 * the roots reach. The others are garbage. */
struct g2h_type_sum {
    uint64_t objects, bytes;
    uint64_t living_objects, living_bytes;
};

/* What became of the objects' types, of the whole heap, whatever of it is left out or folded: the
 * sources, text, part and untyped add up to all. See g2h_graph_type_account(). */
struct g2h_type_account {
    struct g2h_type_sum sources[G2H_TYPE_SOURCES]; /* malloc header, the runtime's records,
        interface, typed pointer, closure, words that look like an interface, guess */
    struct g2h_type_sum text;                      /* contents of strings */
    struct g2h_type_sum part;                      /* of which only a part is known */
    struct g2h_type_sum untyped;                   /* of which nothing is */
    struct g2h_type_sum
        typed; /* known as a whole and no guess: all sources but the last, and text */
    struct g2h_type_sum all;
};

G2H_END

#endif
