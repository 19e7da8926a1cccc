/*
 * types: the model of Go types.
 *
 * A type comes from a descriptor (abi.Type), from DWARF, or from what is known of the runtime. All
 * three make the same struct; a type that has a descriptor and is in DWARF is one type. Types are
 * numbered, and numbers do not change. Sizes and offsets are those of the process, in bytes.
 */
#ifndef TYPES_TYPES_H
#define TYPES_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <go2heapsnapshot/bytes.h>

#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/strings.h"

/* internal/abi.Kind, by its numbers. */
enum type_kind {
    TYPE_INVALID, /* only name and size are known */
    TYPE_BOOL,
    TYPE_INT,
    TYPE_INT8,
    TYPE_INT16,
    TYPE_INT32,
    TYPE_INT64,
    TYPE_UINT,
    TYPE_UINT8,
    TYPE_UINT16,
    TYPE_UINT32,
    TYPE_UINT64,
    TYPE_UINTPTR,
    TYPE_FLOAT32,
    TYPE_FLOAT64,
    TYPE_COMPLEX64,
    TYPE_COMPLEX128,
    TYPE_ARRAY,
    TYPE_CHAN,
    TYPE_FUNC,
    TYPE_INTERFACE,
    TYPE_MAP,
    TYPE_POINTER,
    TYPE_SLICE,
    TYPE_STRING,
    TYPE_STRUCT,
    TYPE_UNSAFE_POINTER,
    TYPE_KINDS,
};

#define TYPE_NONE UINT32_MAX

/* What a pointer points to: one value, unless it is in a structure of the runtime, of which
 * runtime.c knows more. */
enum type_target {
    TARGET_ONE,  /* a value of type elem */
    TARGET_MANY, /* an array of elem; its length is not known from here */
    /* An array of elem: how long it is is in the word that is length bytes from the pointer (length
     * may be negative). So is the buffer of a channel; with 0, the pointer points to nothing, since
     * the buf of an unbuffered channel is its own address. */
    TARGET_COUNTED,
    /* One elem if the word that is length bytes from the pointer is 0, else an array of other: the
     * directory of a Swiss map, by its dirLen. */
    TARGET_BY_WORD,
    /* One elem if the first byte of the target is 0, else one other: a node of a HashTrieMap, by
     * its isEntry. */
    TARGET_BY_CONTENT,
};

/* What a type is to the runtime. All but ROLE_MAP_DIRECTORY are structs. */
enum type_role {
    ROLE_NONE,
    ROLE_MAP, /* what a value of a map type points to: runtime.hmap, internal/runtime/maps.Map */
    ROLE_MAP_BUCKET,    /* tophash, keys, elems, overflow of a classic map; elem is the map type */
    ROLE_MAP_GROUP,     /* ctrl and slots of a Swiss map; elem is the map type */
    ROLE_MAP_DIRECTORY, /* pointers to the tables of a Swiss map; elem is the table */
    ROLE_CHAN,          /* runtime.hchan; elem is the channel's type */
    ROLE_INTERNAL,      /* other parts of maps and channels: tables, sudogs; they hold no values.
                           elem is the map type; TYPE_NONE of a channel's */
    ROLE_RUNTIME,       /* any other structure of the runtime */
    /* What a func value points to: the address of the code, then the captured variables. */
    ROLE_CLOSURE,
};

struct type_field {
    uint32_t name; /* string; "_" for blank ones */
    uint32_t type;
    uint64_t offset;
    bool embedded;
};

struct type {
    uint32_t name;         /* string: with full import paths, "*net/http.conn", "map[string]int" */
    uint8_t kind;          /* TYPE_… */
    uint8_t target;        /* of pointers: TARGET_… */
    uint8_t role;          /* ROLE_… */
    bool is_generic;       /* other types of the same size say more of a value: runtime.hmap */
    bool may_be_noscan;    /* the runtime may have told the collector that it holds no pointers */
    bool direct_interface; /* the data word of an interface is the value itself, not its address */
    bool empty_interface;  /* an interface without methods: its first word is a type, no itab */
    bool from_dwarf;       /* DWARF has it */
    uint64_t size;
    uint64_t pointer_bytes; /* abi.Type.PtrBytes: there are no pointers after these; UINT64_MAX of
                               types that are not from descriptors */
    const uint8_t *gc_mask; /* abi.Type.GCData: a bit per word of pointer_bytes, lowest first; NULL:
                               it follows from the fields. It is in the executable or the dump. */
    uint64_t address;       /* of the descriptor in the process; 0: none */
    uint32_t elem;          /* of arrays, channels, maps, pointers, slices, roles; else TYPE_NONE */
    union {
        uint32_t key;         /* of maps; TYPE_NONE of types that have none of the three */
        uint32_t other;       /* of pointers: see target */
        uint32_t alternative; /* of ROLE_CLOSURE: another type that the same closure may have */
    };
    uint32_t header; /* of maps and channels: the struct that a value points to; else TYPE_NONE */
    uint64_t length; /* of arrays, and where target says so */
    uint32_t first_field, field_count; /* of structs, in types->fields, ascending by offset */
};

/* A package that a named type is of: "gopkg.in/yaml.v3", which calls itself "yaml". */
struct type_package {
    uint32_t path, name; /* strings */
};

struct types {
    VECTOR(struct type) list;
    VECTOR(struct type_field) fields;
    struct string_pool names;
    VECTOR(struct type_package)
    packages;              /* of descriptors; several times the same. No copy has it */
    struct map by_address; /* of a descriptor in the process → type */
    unsigned pointer_size;
    /* Addresses of descriptors are in [low, high) or, if the program made the type while it ran, in
     * [made_low, made_high). */
    uint64_t low, high;
    uint64_t made_low, made_high;
};

void types_init(struct types *types, unsigned pointer_size);
void types_deinit(struct types *types);

/* Makes types a copy of others. False where there is no memory. */
bool types_copy(struct types *types, const struct types *others);

/* Adds a type, to by_address, too, where it has an address, and gives its number. False where there
 * is no memory. */
bool types_add(struct types *types, const struct type *type, uint32_t *ret);

/* The same of a type that the program made: its descriptor is in the heap. */
bool types_add_made(struct types *types, const struct type *type, uint32_t *ret);

/* The text of a string, by its number; the name of a type. Valid until another is interned. */
struct g2h_bytes types_text(const struct types *types, uint32_t string);
struct g2h_bytes types_name(const struct types *types, uint32_t type);

/* The number of a text. False where there is no memory. */
bool types_intern(struct types *types, const char *text, size_t size, uint32_t *ret);

/* The field of a struct that has the byte at an offset; NULL where none has it. */
const struct type_field *types_field_at(const struct types *types, const struct type *type,
                                        uint64_t offset);

/* The first type that has a name, and values of some size; TYPE_NONE. Goes through all types. */
uint32_t types_find(const struct types *types, const char *name);

/* The field of a struct by its name; NULL where it has none. */
const struct type_field *types_field(const struct types *types, uint32_t type, const char *name);

/*
 * Writes the path from a value to what is at an offset of it and is no struct or array:
 * "Config.TLS", "[3].Name"; "" where the value itself is none. The path is cut where it does not
 * fit. Gives the number of bytes written, but for the 0 at the end.
 */
size_t types_path(const struct types *types, uint32_t type, uint64_t offset, char *buffer,
                  size_t size);

/* Whether a type is a part of a map that is allocated by itself. The allocator was told another
 * type, which knows less of it. */
static inline bool type_is_map_part(const struct type *type)
{
    return type->role == ROLE_MAP_BUCKET || type->role == ROLE_MAP_GROUP ||
           type->role == ROLE_MAP_DIRECTORY;
}

/*
 * The map type whose inside a type is: a bucket, group, table or mapextra, or an array, slice or
 * pointer of such, as directories and lists of overflow buckets are. TYPE_NONE of all other types,
 * and of what the map itself points to.
 */
uint32_t types_map_inside(const struct types *types, uint32_t type);

/* Whether an address is among those of the descriptors that the program made. */
static inline bool types_is_made(const struct types *types, uint64_t address)
{
    return address - types->made_low < types->made_high - types->made_low;
}

/* The type whose descriptor is at an address of the process; TYPE_NONE where none is known there.
 */
static inline uint32_t types_at(const struct types *types, uint64_t address)
{
    if (address - types->low >= types->high - types->low && !types_is_made(types, address))
        return TYPE_NONE;
    uint32_t found = map_get(&types->by_address, address);
    return found == MAP_NONE ? TYPE_NONE : found;
}

#endif
