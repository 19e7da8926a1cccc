/*
 * keys: which keys of maps hold most of a suspect's memory.
 *
 * A document that was read from JSON or YAML consists of nested maps: their classes say nothing,
 * but their keys do.
 */
#ifndef FINDINGS_KEYS_H
#define FINDINGS_KEYS_H

#include "findings/findings.h"

enum { KEYS_MOST = 4 };

/* The keys, each as the names of fields and keys from the suspect's objects on: ["items"][].name.
 */
struct held_keys {
    struct {
        struct text path;
        uint64_t retained;
    } list[KEYS_MOST]; /* the one that retains most comes first */
    size_t count;
    uint64_t retained; /* by the objects of the suspect */
};

/* Finds the keys below the objects of a node of merged that hold a tenth or more of the memory that
 * these retain. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *keys_find(const struct findings *findings, uint32_t node, struct held_keys *ret);
void held_keys_deinit(struct held_keys *keys);

#endif
