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
};
enum { PLACE_KEY = 0x80, PLACE_NONE = 0xff };

/* NULL in *ret where the type is none of these. False where there is no memory. */
bool map_entries_create(const struct types *types, uint32_t type, struct map_entries **ret);
void map_entries_destroy(struct map_entries *entries);

/* Whether a slot of the bucket or group at value is in use. */
bool map_entries_is_used(const struct names *names, const struct map_entries *entries,
                         const uint8_t *value, unsigned slot);

/*
 * Appends the name of the pointer at offset of a bucket's or group's slot place, as of the array's
 * slot index: [#index], or (key) behind it, and the way in the key or elem.
 */
void map_entries_append_index(const struct types *types, const struct map_entries *entries,
                              uint64_t offset, uint64_t index, struct text *text);

/* What keys are read with. */
struct key_reader {
    const struct names *names;
    struct key_memo *memo; /* by slot; NULL: none */
    uint32_t hint;         /* an object that a string may be in; UINT32_MAX: none */
};

/* Where a slot's key is, for the other pointers of the slot. */
struct key_memo {
    const uint8_t *key, *data;
    uint64_t size; /* of the text; what the word says now may be another one */
};

/*
 * Names the pointer at offset of the bucket or group at value, which is one of a used slot, by its
 * key. KEY_INTEGER: by *ret_integer, and nothing was appended.
 */
enum key_form { KEY_NONE, KEY_TEXT, KEY_INTEGER };
enum key_form key_append(const struct key_reader *key, const struct map_entries *entries,
                         const uint8_t *value, uint64_t offset, struct text *text,
                         uint32_t *ret_integer);

/* The same, of a pointer at offset of an object that has had a KEY_TEXT before. */
void key_append_again(const struct key_reader *key, uint32_t object, uint64_t offset,
                      struct text *text);

#endif
