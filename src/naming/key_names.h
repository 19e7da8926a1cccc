/*
 * key_names: the entries of maps, named by their keys.
 *
 * A bucket (before Go 1.24) or a group has eight slots for entries. An edge from an entry has the
 * name of the entry's key, ["alice"], [42], [true], or the number of its slot if the key cannot be
 * shown, [#3]. Like the contents of strings (names.h), such names are not stored but made again
 * from the dump. If names are redacted, only keys that are strings are shown, redacted.
 */
#ifndef NAMING_KEY_NAMES_H
#define NAMING_KEY_NAMES_H

#include "naming/names.h"

/* KEY_LIMIT: the characters of a string that are shown; and the bytes of a struct or array after
 * which further parts are left out. */
enum { SLOTS = 8, KEY_LIMIT = 64 };

/* The kinds of key types. */
enum key_kind {
    KEYS_WITHOUT_TEXT, /* keys that are not shown */
    KEYS_TEXTUAL,      /* strings, integers, bools */
    KEYS_INTERFACE,    /* interfaces, which may hold textual keys */
};

/* The layout of entries in a type of buckets or groups. */
struct map_entries {
    uint32_t key, elem; /* types as stored in the slot: pointers to large ones */
    uint64_t keys, key_stride, elems,
        elem_stride; /* offsets of the first key and elem; distances from slot to slot */
    uint64_t size;
    enum key_kind kind;
    bool is_swiss;
    bool is_single;        /* one entry, as in a HashTrieMap: it has only slot 0, always in use */
    uint8_t *slot_of_word; /* by word of a value: its slot, with SLOT_IN_KEY if it is in the key; or
                               SLOT_NONE */
    uint32_t *path_of_word; /* by word: the suffix that follows the key, in names->paths */
    uint16_t *pointers;     /* offsets of the words that may be pointers, slot by slot: those of */
    uint32_t first_pointer[SLOTS + 2]; /* slot i begin at [i]; the last ones belong to no slot */
};
enum { SLOT_IN_KEY = 0x80, SLOT_NONE = 0xff };

/* Creates the entries of a type; *ret is NULL if the type is neither a bucket nor a group. Returns
 * false if memory runs out. */
bool map_entries_create(const struct types *types, uint32_t type, struct map_entries **ret);

/* Does the same for the struct of one entry with its key and value: an entry of a HashTrieMap, of
 * sync.Map. */
bool map_entries_create_single(const struct types *types, uint32_t type, struct map_entries **ret);
void map_entries_destroy(struct map_entries *entries);

/* Adds the suffixes that follow the keys: ".Name", " (key)". Returns false if memory runs out. */
bool map_entries_add_paths(const struct types *types, struct map_entries *entries,
                           struct string_pool *paths);

/* Records which words may be pointers; words has their offsets, ascending. Returns false if memory
 * runs out. */
bool map_entries_add_pointers(struct map_entries *entries, const uint32_t *words, uint32_t count,
                              unsigned word_shift);

/* Returns the slot of the entry that contains the word at an offset of a bucket or group. */
static inline unsigned map_entries_slot(const struct map_entries *entries,
                                        const struct names *names, uint64_t offset)
{
    return entries->slot_of_word[offset >> names->word_shift] & (SLOTS - 1);
}

/* Returns which slots of the bucket or group at value are in use: a bit for each. */
unsigned map_entries_used(const struct names *names, const struct map_entries *entries,
                          const uint8_t *value);

/* Returns whether an object has pointers that belong to no entry in use. contents are the object's
 * bytes in the input; base is the offset of its first bucket or group. */
bool map_entries_have_others(const struct names *names, const struct map_entries *entries,
                             const struct g2h_bytes *contents, uint64_t base);

/*
 * Appends the name of the pointer at an offset of a bucket or group: [#index], or […] if there is
 * only one entry, then (key) if the pointer is in the key, and the path in the key or elem. index
 * is the number of its slot in the array.
 */
void map_entries_append_index(const struct types *types, const struct map_entries *entries,
                              uint64_t offset, uint64_t index, struct text *text);

/* The arguments of key_read() besides the entries. */
struct key_reader {
    const struct names *names;
    uint32_t hint; /* an object that may contain the string; UINT32_MAX: none */
};

enum key_form { KEY_NONE, KEY_TEXT, KEY_INTEGER };

/* The key of a slot, without the suffix that follows it. */
struct slot_key {
    enum key_form form;
    uint32_t integer; /* for KEY_INTEGER */
    uint32_t object;  /* for KEY_TEXT: the object that contains the string's bytes, at offset, size;
                       * UINT32_MAX: the key is not a string, or no object contains it */
    uint64_t offset, size;
};

/* Reads the key of a used slot of the bucket or group at value, and appends it: ["alice"], [42]. If
 * the key cannot be shown, sets KEY_NONE and appends nothing. */
void key_read(const struct key_reader *reader, const struct map_entries *entries,
              const uint8_t *value, unsigned slot, struct text *text, struct slot_key *ret);

/* The most bytes of an edge's name that is made from a key. */
enum { KEY_BYTES = 4 * (KEY_LIMIT + NAME_LIMIT / 2) + REDACTED_MOST + 64 };

/* The suffix of most keys: an empty one. */
enum { PATH_EMPTY = 0 };

/* Appends the suffix that follows a key: path is an element of path_of_word. */
void key_append_path(const struct names *names, uint32_t path, struct text *text);

/* key_origin() returns a number from which key_append_again() makes the name of the pointer at an
 * offset of an object again. path is the suffix that follows the key. offset is less than 2^32. */
uint64_t key_origin(const struct slot_key *key, uint32_t path, uint32_t object, uint64_t offset);
void key_append_again(const struct names *names, uint64_t origin, struct text *text);

/* Prefetches what key_append_again() needs: the object's contents, or, if contents is false, the
 * record of where these are. */
void key_prefetch(const struct names *names, uint64_t origin, bool contents);

#endif
