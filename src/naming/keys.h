/*
 * keys: the entries of maps, named by their keys.
 *
 * A bucket (before Go 1.24) or a group has eight slots for entries. What an entry leads to is
 * called by its key, ["alice"], [42], [true], and by the slot where the key has no text, [#3]. Like
 * the contents of strings (texts.h), such names are not kept but made again from the dump. Where
 * names redact, keys that are no strings have no text, and of strings it is redacted.
 */
#ifndef NAMING_KEYS_H
#define NAMING_KEYS_H

#include "naming/names.h"

enum { SLOTS = 8, KEY_LIMIT = 64 /* characters of a key's text */ };

/* What the types of keys are like. */
enum key_kind {
    KEYS_PLAIN,     /* have no text */
    KEYS_TEXTUAL,   /* strings, integers, bools */
    KEYS_INTERFACE, /* may hold such */
};

/* Where a type of buckets or groups has its entries. */
struct map_entries {
    uint32_t key, elem; /* types, as they are in their place: large ones are pointers */
    uint64_t keys, key_stride, elems,
        elem_stride; /* of the first key and elem; from slot to slot */
    uint64_t size;
    enum key_kind kind;
    bool is_swiss;
    uint8_t *place_of_word; /* by word of a value: its slot, maybe with PLACE_KEY; PLACE_NONE */
    uint32_t *path_of_word; /* what stands behind the key, in names->paths */
    uint16_t *pointers;     /* offsets of the words that may be pointers, slot by slot: those of */
    uint32_t first_pointer[SLOTS + 2]; /* slot i from [i] on; at last those of no slot */
};
enum { PLACE_KEY = 0x80, PLACE_NONE = 0xff };

/* NULL in *ret where the type is none of these. False where there is no memory. */
bool map_entries_create(const struct types *types, uint32_t type, struct map_entries **ret);
void map_entries_destroy(struct map_entries *entries);

/* Adds what stands behind the keys: ".Name", " (key)". False where there is no memory. */
bool map_entries_add_paths(const struct types *types, struct map_entries *entries,
                           struct string_pool *paths);

/* Notes which words may be pointers: words, ascending. False where there is no memory. */
bool map_entries_add_pointers(struct map_entries *entries, const uint32_t *words, uint32_t count,
                              unsigned word_shift);

/* The slot of the entry that the word at offset of a bucket or group is of. */
static inline unsigned map_entries_slot(const struct map_entries *entries,
                                        const struct names *names, uint64_t offset)
{
    return entries->place_of_word[offset >> names->word_shift] & (SLOTS - 1);
}

/* The slots of the bucket or group at value that are in use: a bit for each. */
unsigned map_entries_used(const struct names *names, const struct map_entries *entries,
                          const uint8_t *value);

/* Whether an object of so many bytes, of which the contents are in the input, has pointers that are
 * of no entry in use, from base on, where its first bucket or group begins. */
bool map_entries_have_others(const struct names *names, const struct map_entries *entries,
                             const struct g2h_bytes *contents, uint64_t base);

/*
 * Appends the name of the pointer at offset of a bucket's or group's slot place, as of the array's
 * slot index: [#index], or (key) behind it, and the way in the key or elem.
 */
void map_entries_append_index(const struct types *types, const struct map_entries *entries,
                              uint64_t offset, uint64_t index, struct text *text);

/* What keys are read with. */
struct key_reader {
    const struct names *names;
    uint32_t hint; /* an object that a string may be in; UINT32_MAX: none */
};

enum key_form { KEY_NONE, KEY_TEXT, KEY_INTEGER };

/* The key of a slot, without what stands behind it. */
struct slot_key {
    enum key_form form;
    uint32_t integer; /* KEY_INTEGER */
    uint32_t object;  /* KEY_TEXT: a string's bytes are [offset, + size) of it; UINT32_MAX: it is
                         no string, or not in an object */
    uint64_t offset, size;
};

/* Reads the key of a used slot of the bucket or group at value, and appends its text: ["alice"],
 * [42]. KEY_NONE: it has none, and nothing was appended. */
void key_read(const struct key_reader *reader, const struct map_entries *entries,
              const uint8_t *value, unsigned slot, struct text *text, struct slot_key *ret);

/* So many bytes has the name of an edge by a key at most. */
enum { KEY_BYTES = 4 * (KEY_LIMIT + NAME_LIMIT / 2) + REDACTED_MOST + 64 };

/* What stands behind most keys: nothing. */
enum { PATH_EMPTY = 0 };

/* Appends what stands behind a key: one of path_of_word. */
void key_append_path(const struct names *names, uint32_t path, struct text *text);

/* A number by which the name of the pointer at offset of an object can be made again. path is what
 * stands behind the key. offset is below 2^32. */
uint64_t key_place(const struct slot_key *key, uint32_t path, uint32_t object, uint64_t offset);
void key_append_again(const struct names *names, uint64_t place, struct text *text);

/* Brings to the cache what that needs: where the contents of an object are, or these. */
void key_prefetch(const struct names *names, uint64_t place, bool contents);

#endif
