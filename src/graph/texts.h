/*
 * texts: strings of the snapshot that are made of the heap's own: the contents of Go's strings, as
 * names of their nodes, and the names of map entries (keys.h).
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
    uint32_t extent; /* what typing knew of it: see struct typing, texts; or TEXT_KEY and where the
                        pointer is that has the name, in units of 4 bytes */
};
enum { TEXT_KEY = 1 << 30 };

struct texts {
    const struct names *names;
    const uint64_t *hidden; /* a bit per object that is not written; NULL: all are */
    VECTOR(struct text_entry) entries;
    uint32_t first; /* number of the first one's string */

    /* While they are being numbered: */
    const struct string_pool *strings;
    struct text text, other;
    VECTOR(uint32_t) hashes; /* by string, those of the pool first; not of objects' texts */
    uint32_t *slots;         /* a hash table: a string's number, above it bits of its hash, so that
                                few others need be looked at; UINT32_MAX where free */
    size_t slot_count;
    unsigned number_bits;
    struct recent_text *recent; /* by hash: maps tend to have the same few keys */
    uint64_t room; /* for the names of map entries, in bytes; 0 once one has not found any */
};

/*
 * Begins, once strings has all others. Where names redact, texts do.
 */
struct g2h_error *texts_init(struct texts *texts, const struct names *names,
                             const struct string_pool *strings);
void texts_deinit(struct texts *texts);

/*
 * Numbers the texts of all objects that typing takes for strings. typing->texts of such an object
 * becomes the number of its string, plus 1: texts_of_object().
 */
struct g2h_error *texts_number_objects(struct texts *texts, struct typing *typing,
                                       unsigned threads);

/* The string of an object that is one, once they have numbers. */
static inline uint32_t texts_of_object(const struct typing *typing, uint32_t object)
{
    return typing->texts[object] - 1;
}

/*
 * The number of the text in texts->text, which is what texts_append() makes of entry, and whose
 * map_hash_text() is hash; it is added where it is new. False where there is no memory.
 *
 * A new name of a map entry for which there is no room gets NAME_NONE.
 * Not to be asked once objects' texts have numbers: the table does not grow any more.
 */
bool texts_number(struct texts *texts, const struct text_entry *entry, uint32_t hash,
                  uint32_t *ret);

/* Brings to the cache where the table has a text of this hash. */
void texts_prefetch_number(const struct texts *texts, uint32_t hash);

/* Ends: frees what only numbering needs. */
void texts_finish(struct texts *texts);

/* Appends the text of an entry. */
void texts_append(const struct texts *texts, const struct text_entry *entry, struct text *text);

/* Brings what an entry's text is made of to the cache. */
static inline void texts_prefetch(const struct texts *texts, const struct text_entry *entry)
{
    const struct g2h_heap *heap = texts->names->heap;
    __builtin_prefetch(heap->input->data + heap_offset(heap, entry->object));
}

/* ---- names of map entries (entries.c) ---- */

struct g2h_graph;

/* Numbers the names of all map entries whose keys have a text: block->entry_names. */
struct g2h_error *graph_name_entries(struct g2h_graph *graph);

#endif
