/*
 * types: the model of Go types.
 *
 * A type comes from a descriptor (abi.Type), from DWARF, or from the tables of the runtime's
 * structures. All three make the same struct; a type that has a descriptor and is in DWARF is one
 * type. Types are numbered, and their numbers do not change. Sizes and offsets are those of the
 * process, in bytes.
 *
 *   types, build        the model, whatever the source of a type, and how it is made
 *   pointer_map         where a type has pointers
 *   runtime_types       the structures behind maps, channels and sync.Map in every release
 */
#ifndef TYPES_TYPES_H
#define TYPES_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <go2heapsnapshot/bytes.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/strings.h"

/* The values of internal/abi.Kind. */
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

/* What a pointer points to: one value, except for pointers in structures of the runtime and package
 * reflect, about which runtime_types.c knows more. */
enum type_target {
    TARGET_ONE,  /* a value of type elem */
    TARGET_MANY, /* an array of elem, whose length is not in this type */
    /* An array of elem; its length is in the word that is length bytes from the pointer (length may
     * be negative). The buffer of a channel is an example; if that word is 0, the pointer points to
     * no value, since the buf of an unbuffered channel is its own address. */
    TARGET_COUNTED,
    /* One elem if the word that is length bytes from the pointer is 0, else an array of other.
     * Example: the directory of a Swiss map, which depends on dirLen. */
    TARGET_BY_WORD,
    /* One elem if the first byte of the target is 0, else one other. Example: a node of a
     * HashTrieMap, which depends on isEntry. */
    TARGET_BY_CONTENT,
    /* In reflect.Value: a value of the type that the word before the pointer is the address of, or,
     * if a flag in the word behind it is not set, what the data word of an interface has. */
    TARGET_BY_TYPE,
};

/* The role of a type in the runtime. All but ROLE_MAP_DIRECTORY are structs. */
enum type_role {
    ROLE_NONE,
    ROLE_MAP, /* the struct that a map value points to: runtime.hmap, internal/runtime/maps.Map */
    ROLE_MAP_BUCKET,    /* tophash, keys, elems, overflow of a classic map; elem is the map type */
    ROLE_MAP_GROUP,     /* ctrl and slots of a Swiss map; elem is the map type */
    ROLE_MAP_DIRECTORY, /* pointers to the tables of a Swiss map; elem is the table */
    ROLE_CHAN,          /* runtime.hchan; elem is the channel's type */
    ROLE_INTERNAL, /* other parts of maps and channels, such as tables and sudogs, which hold no
                      values. elem is the map type, or TYPE_NONE for parts of channels */
    ROLE_RUNTIME,  /* any other structure of the runtime */
    /* The object that a func value points to: the address of the code, then the captured
     * variables. */
    ROLE_CLOSURE,
};

struct type_field {
    uint32_t name; /* string; "_" for a blank field */
    uint32_t type;
    uint64_t offset;
    bool embedded;
};

struct type {
    uint32_t name;         /* string, with full import paths: "*net/http.conn", "map[string]int" */
    uint8_t kind;          /* TYPE_… */
    uint8_t target;        /* of a pointer: TARGET_… */
    uint8_t role;          /* ROLE_… */
    bool is_generic;       /* other types of the same size describe a value better; for example
                              runtime.hmap */
    bool may_be_noscan;    /* the runtime may have declared values noscan to the collector */
    bool direct_interface; /* the data word of an interface is the value itself, not its address */
    bool empty_interface;  /* an interface without methods: its first word is a type, not an itab */
    bool from_dwarf;       /* DWARF has it */
    uint64_t size;
    uint64_t pointer_bytes; /* abi.Type.PtrBytes: the words from there on are not pointers;
                               UINT64_MAX if the type has no descriptor */
    const uint8_t *gc_mask; /* abi.Type.GCData: a bit per word of pointer_bytes, lowest bit first;
                               NULL: the fields determine which words are pointers. It points into
                               the executable or the dump. */
    uint64_t address;       /* address of the descriptor in the process; 0: none */
    uint32_t elem;          /* of an array, channel, map, pointer, slice or role; else TYPE_NONE */
    union {
        uint32_t key;         /* of a map; TYPE_NONE if none of the three applies */
        uint32_t other;       /* of a pointer: see type_target */
        uint32_t alternative; /* of ROLE_CLOSURE: another possible type of the same closure */
    };
    uint32_t header; /* of a map or channel: the struct that a value points to; else TYPE_NONE */
    uint64_t length; /* of an array; of a pointer: see type_target */
    uint32_t first_field, field_count; /* of a struct: in types->fields, ascending by offset */
};

/* A package that declares types: for example path "gopkg.in/yaml.v3", name "yaml". */
struct type_package {
    uint32_t path, name; /* strings */
};

struct types {
    VECTOR(struct type) list;
    VECTOR(struct type_field) fields;
    struct string_pool names;
    VECTOR(struct type_package)
    packages; /* of the types with descriptors; may contain duplicates. types_copy() does not copy
                 them */
    struct map by_address; /* address of a descriptor in the process → type */
    unsigned pointer_size;
    /* Addresses of descriptors are in [low, high) or, if the program made the type at run time, in
     * [made_low, made_high). */
    uint64_t low, high;
    uint64_t made_low, made_high;
};

void types_init(struct types *types, unsigned pointer_size);

void types_deinit(struct types *types);

/* Makes types a copy of others. Returns false if memory runs out. */
bool types_copy(struct types *types, const struct types *others);

/* Adds a type, also to by_address if it has an address, and sets *ret to its number. Returns false
 * if memory runs out. */
bool types_add(struct types *types, const struct type *type, uint32_t *ret);

/* Like types_add(), for a type that the program made: its descriptor is in the heap. */
bool types_add_made(struct types *types, const struct type *type, uint32_t *ret);

/* Return a type by its number, and its size. The pointer is valid until another type is added. */
static inline const struct type *types_get(const struct types *types, uint32_t type)
{
    assert(type < types->list.count);
    return &types->list.data[type];
}

static inline uint64_t types_size(const struct types *types, uint32_t type)
{
    return types_get(types, type)->size;
}

/* Returns the fields of a struct, ascending by offset. Another type with fields makes the pointer
 * invalid. */
static inline const struct type_field *types_fields(const struct types *types,
                                                    const struct type *type)
{
    assert(type->first_field + (size_t)type->field_count <= types->fields.count);
    return &types->fields.data[type->first_field];
}

/* Return a string by its number, and the name of a type. The bytes are valid until another string
 * is interned. */
struct g2h_bytes types_text(const struct types *types, uint32_t string);

struct g2h_bytes types_name(const struct types *types, uint32_t type);

/* Interns a string and gets its number. Returns false if memory runs out. */
bool types_intern(struct types *types, const void *text, size_t size, uint32_t *ret);

/* Returns the field of a struct that contains the byte at an offset, or NULL. */
const struct type_field *types_field_at(const struct types *types, const struct type *type,
                                        uint64_t offset);

/* Goes from a struct or an array to its field or element that contains the byte at an offset: gets
 * the part's type, and the offset in the part. Returns false if there is no such part. */
bool types_step_into(const struct types *types, uint32_t *type, uint64_t *offset);

/* Returns the first type that has this name and a size greater than 0, or TYPE_NONE. Searches all
 * types. */
uint32_t types_find(const struct types *types, const char *name);

/* Returns the field of a struct with this name, or NULL. */
const struct type_field *types_field(const struct types *types, uint32_t type, const char *name);

/*
 * Writes the path from a value to the innermost part at an offset, that is, the part that is
 * neither a struct nor an array: "Config.TLS", "[3].Name"; "" if the value itself is that part. The
 * path is cut if it does not fit. Returns the number of bytes written, without the terminating 0.
 */
size_t types_path(const struct types *types, uint32_t type, uint64_t offset, char *buffer,
                  size_t size);

/* Returns whether a type is a part of a map that is allocated separately. The allocator was given
 * another, less specific type. */
static inline bool type_is_map_part(const struct type *type)
{
    return type->role == ROLE_MAP_BUCKET || type->role == ROLE_MAP_GROUP ||
           type->role == ROLE_MAP_DIRECTORY;
}

/*
 * Returns the map type to whose internals a type belongs: a bucket, group, table or mapextra, or an
 * array, slice or pointer of these, such as directories and lists of overflow buckets. Returns
 * TYPE_NONE for all other types, including the map's header.
 */
uint32_t types_map_inside(const struct types *types, uint32_t type);

/* Returns whether an address is in the range of the descriptors that the program made. */
static inline bool types_is_made(const struct types *types, uint64_t address)
{
    return address - types->made_low < types->made_high - types->made_low;
}

/* Returns the type whose descriptor is at an address of the process, or TYPE_NONE if none is known
 * there. */
static inline uint32_t types_at(const struct types *types, uint64_t address)
{
    if (address - types->low >= types->high - types->low && !types_is_made(types, address))
        return TYPE_NONE;
    uint32_t found = map_get(&types->by_address, address);
    return found == MAP_NONE ? TYPE_NONE : found;
}

#endif
