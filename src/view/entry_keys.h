/*
 * entry_keys: the names of map entries' edges by their keys; see g2h_edges_key().
 *
 * The keys of the last bucket or group are remembered, for the edges of all of its entries: each
 * key is formatted once, and the path after the key is appended to that buffer, which has space for
 * it.
 */
#ifndef VIEW_ENTRY_KEYS_H
#define VIEW_ENTRY_KEYS_H

#include "view/view.h"
#include "naming/namer.h"

struct entry_keys {
    struct namer namer; /* of the source: finds its buckets or groups */
    uint32_t source;    /* node, or UINT32_MAX */
    uint64_t value;     /* offset of the bucket or group, or UINT64_MAX */
    unsigned known;     /* a bit per slot whose key has been read */
    struct slot_key keys[SLOTS];
    struct text texts[SLOTS];
    struct map_entries *own; /* entries of a type without pointers, which names do not cover; */
    uint32_t own_type;       /* that type */
};

/* Allocates the buffers. Returns false if memory runs out. */
bool entry_keys_init(struct entry_keys *keys);
void entry_keys_deinit(struct entry_keys *keys);

enum g2h_key entry_keys_name(struct entry_keys *keys, const struct g2h_view *view,
                             const struct g2h_edge *edge, struct g2h_key_name *ret);

/* Names the key of the map's entry in whose elem a value of the node is; see g2h_edges_value_key().
 * *ret_form is G2H_KEY_INDEX or G2H_KEY_TEXT, which say what of *ret is set, or G2H_KEY_NONE if the
 * value is not in an entry in use. */
struct g2h_error *entry_keys_of_value(struct entry_keys *keys, const struct g2h_view *view,
                                      uint32_t node, const struct g2h_value *value,
                                      enum g2h_key *ret_form, struct g2h_key_name *ret);
void entry_keys_prefetch(const struct g2h_view *view, const struct g2h_edge *given, size_t count);

#endif
