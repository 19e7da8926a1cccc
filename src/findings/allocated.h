/*
 * calls: the stacks of allocation sites, with the calls that the compiler inlined.
 *
 * allocated: who allocated the objects of a class or of a suspect, by the samples of the heap
 * profile (runtime.MemProfile).
 *
 * A sample stands for many bytes if the object is large, and for about runtime.MemProfileRate bytes
 * otherwise. It counts for the innermost call of the program's own code on its stack: package main,
 * or the module that the program was built of. If there is none, it counts for the innermost call
 * of another module, or else for the call that allocates.
 */
#ifndef FINDINGS_ALLOCATED_H
#define FINDINGS_ALLOCATED_H

#include <go2heapsnapshot/dump.h>
#include <go2heapsnapshot/exe.h>

#include "base/memory.h"
#include "findings/merged.h"

/* ---- calls ---- */

/* The calls of one stack. */
struct calls {
    const struct g2h_exe *exe;     /* NULL: none */
    struct g2h_inlining *inlining; /* NULL: no executable, or no stack has been read yet */
    VECTOR(struct g2h_call) list;  /* innermost first */
    size_t first; /* the first call that is shown: the runtime's allocation functions are left out,
                   * unless it allocates for itself */
};

/* Prepares for reading the stacks of a heap. exe is the executable that wrote it; NULL: none is
 * known. The caller calls calls_deinit() in any case. */
void calls_init(struct calls *calls, const struct g2h_exe *exe);

void calls_deinit(struct calls *calls);

/* Reads the calls of a site. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *calls_read(struct calls *calls, struct g2h_memprof site);

/* ---- allocated ---- */

/* A call that samples count for. */
struct allocating_call {
    struct g2h_bytes function, file;
    uint32_t line;
};

/* A site that has samples. */
struct allocation_site {
    uint32_t call;           /* index in calls */
    uint64_t bytes;          /* that one of its samples stands for */
    struct g2h_bytes within; /* the function that allocates, if several calls of other code are
                              * between it and the call; else empty */
};

struct allocation_sample {
    uint32_t name, node; /* the class of the object, and its node: of struct merged */
    uint32_t call, site;
};

struct allocated {
    VECTOR(struct allocating_call) calls;
    VECTOR(struct allocation_site) sites;
    VECTOR(struct allocation_sample) samples; /* ascending by name, call and site */
};

/* Finds the calls of all samples whose objects are in the tree. The caller calls allocated_deinit()
 * in any case. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *allocated_find(const struct merged *merged, struct allocated *ret);

void allocated_deinit(struct allocated *allocated);

/* The call that allocated most bytes of some objects, as far as samples say. */
struct allocator {
    struct allocating_call call;
    struct g2h_bytes within;  /* of the site that has most of these bytes */
    uint64_t samples, of;     /* samples of this call, and of all calls */
    uint64_t bytes, bytes_of; /* that these samples stand for */
};

/* Finds who allocated the objects of a class, by its name, and of a node or, if node is
 * MERGED_NONE, of all nodes. Returns false if none of the objects has been sampled. */
bool allocated_by(const struct allocated *allocated, uint32_t name, uint32_t node,
                  struct allocator *ret);

#endif
