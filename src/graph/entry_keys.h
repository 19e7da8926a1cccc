/*
 * entry_keys: what edges of maps' entries are called by their keys; see g2h_edges_key().
 *
 * The keys of one bucket or group are remembered, for the edges of each of its entries: each key is
 * read once, and what stands behind it put behind its text, in which there is room for it.
 */
#ifndef GRAPH_ENTRY_KEYS_H
#define GRAPH_ENTRY_KEYS_H

#include "graph/view.h"
#include "naming/namer.h"

struct entry_keys {
    struct namer place; /* of the source: where its buckets or groups are */
    uint32_t source;    /* node; UINT32_MAX: none */
    uint64_t value;     /* offset of the bucket or group; UINT64_MAX: none */
    unsigned known;     /* a bit per slot whose key has been read */
    struct slot_key keys[SLOTS];
    struct text texts[SLOTS];
};

/* Makes room for the texts. False where there is no memory. */
bool entry_keys_init(struct entry_keys *keys);
void entry_keys_deinit(struct entry_keys *keys);

enum g2h_key entry_keys_name(struct entry_keys *keys, const struct g2h_view *view,
                             const struct g2h_edge *edge, struct g2h_key_name *ret);
void entry_keys_prefetch(const struct g2h_view *view, const struct g2h_edge *given, size_t count);

#endif
