/*
 * texts: the contents of Go's strings as names of their nodes.
 *
 * There may be millions, so they are not kept: a text is known by the object that holds it and is
 * read from the dump again when it is written. Each is in the snapshot's strings once, behind those
 * of the graph's pool, unless the pool has it.
 */
#ifndef GRAPH_TEXTS_H
#define GRAPH_TEXTS_H

#include "base/strings.h"
#include "graph/names.h"
#include "typing/typing.h"

struct text_entry {
    uint32_t object;
    uint32_t extent; /* what typing knew of it: see struct typing, texts */
};

struct texts {
    const struct g2h_heap *heap;
    bool redact;
    VECTOR(struct text_entry) entries;
    uint32_t *slots; /* a hash table of entries, UINT32_MAX where free */
    size_t mask;
    uint32_t first; /* number of the first one's string */
};

/*
 * Numbers the texts of all objects that typing takes for strings, once strings has all others.
 * typing->texts of such an object becomes the number of its string. redact: names tell a text's
 * length and a hash of it only.
 */
struct g2h_error *texts_init(struct texts *texts, struct typing *typing,
                             const struct string_pool *strings, bool redact);
void texts_deinit(struct texts *texts);

/* Appends the text of an entry. reader is the caller's own copy of the heap's. */
void texts_append(const struct texts *texts, struct g2h_reader *reader,
                  const struct text_entry *entry, struct text *text);

#endif
