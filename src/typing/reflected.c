/*
 * reflected: types that package reflect made at run time.
 *
 * Their descriptors (abi.Type) are objects of the heap. An object may be one if Equal and GCData
 * are the only pointers among the header's words, and if the offset of its name is negative, which
 * is so only for names of package reflect. It is accepted if all its fields are valid, and if all
 * types that it consists of are known: types of the executable, or other types that package reflect
 * made. Its name is composed of their names, as in exe/go/rtype.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/redaction.h"
#include "base/text.h"
#include "exe/go/descriptors.h"
#include "typing/typer.h"

enum {
    MOST_TYPES = 1 << 16,
    MOST_PARTS = 1 << 20, /* of all types together */
    MOST_PARAMETERS = 128,
    DEPTH_MOST = 64,
    SINCE_VARINT_NAMES = 17,
    SINCE_EMBEDDED_FLAG = 19, /* before, since 1.9, it was the lowest bit of the offset */
    SINCE_SHIFTED_OFFSET = 9,
};

struct made {
    uint32_t object, type;
    enum { MADE_NEW, MADE_BUSY, MADE_DONE } state;
};

struct reflected_reader {
    struct typing *typing;
    struct types *types;
    VECTOR(struct made) list; /* ascending */
    struct map by_address;
    uint64_t parts; /* parts that may still be read */
    bool no_memory;
};

/* ---- memory ---- */

/* abi.Type, which a descriptor begins with: Size_ and PtrBytes, a word each; Hash, 4 bytes; TFlag,
 * Align_, FieldAlign_ and Kind_, a byte each; Equal and GCData, a word each; Str and PtrToThis, 4
 * bytes each. Below are the bytes after Hash, and the offsets by the size of a word. */
enum { BYTE_TFLAG = 0, BYTE_ALIGN = 1, BYTE_KIND = 3 };

static inline uint64_t offset_of_bytes(uint64_t word)
{
    return 2 * word + 4;
}

static inline uint64_t offset_of_gc_data(uint64_t word)
{
    return 3 * word + 8;
}

static inline uint64_t offset_of_str(uint64_t word)
{
    return 4 * word + 8;
}

static inline uint64_t size_of_header(uint64_t word)
{
    return 4 * word + 16;
}

/* Returns size bytes of the process at an address; NULL: neither the dump nor the executable has
 * them. */
static const uint8_t *reflected_memory_at(const struct reflected_reader *reader, uint64_t address,
                                          uint64_t size)
{
    return typing_memory(reader->typing, address, size, UINT32_MAX);
}

/* Reads a number of 32 bits in the dump's byte order. */
static uint32_t u32_of(const struct g2h_heap *heap, const uint8_t *at)
{
    return heap->params.big_endian ? u32_big(at) : u32_little(at);
}

/* Reads a number of 16 bits in the dump's byte order. */
static unsigned u16_of(const struct g2h_heap *heap, const uint8_t *at)
{
    return heap->params.big_endian ? u16_big(at) : u16_little(at);
}

/* Reads the name of a struct's field from its encoding: a byte of flags, the length (a uvarint
 * since Go 1.17, before that two bytes), the bytes. Returns false if there is none, if it is too
 * long, or if it has control characters. */
static bool reflected_read_name(const struct reflected_reader *reader, uint64_t address,
                                struct g2h_bytes *ret, uint8_t *ret_flags)
{
    const uint8_t *at = reflected_memory_at(reader, address, 1 + 2);
    uint64_t size;
    if (!at)
        return false;
    struct cursor cursor = {at + 1, at + 3};
    *ret_flags = at[0];
    if (reader->typing->release.minor < SINCE_VARINT_NAMES) {
        size = (uint64_t)at[1] << 8 | at[2];
        cursor.at += 2;
    } else if (!cursor_uvarint(&cursor, &size)) {
        return false; /* no name has 2^14 bytes */
    }
    const uint64_t skip = as_size(cursor.at - at);
    if (size == 0 || size > NAME_MOST || !(at = reflected_memory_at(reader, address + skip, size)))
        return false;
    for (uint64_t i = 0; i < size; i++)
        if (at[i] < 0x20 || at[i] == 0x7f)
            return false;
    *ret = bytes_at(at, size);
    return true;
}

/* ---- names ---- */

/* Appends bytes to a name, which is cut at NAME_MOST bytes. */
static void reflected_append(struct text *name, const void *text, size_t size)
{
    text_append(name, text, MIN(size, NAME_MOST - name->size));
}

static void append_text(struct text *name, const char *text)
{
    reflected_append(name, text, strlen(text));
}

/* Appends the name of a type. */
static void reflected_append_type(const struct reflected_reader *reader, struct text *name,
                                  uint32_t type)
{
    const struct g2h_bytes text = types_name(reader->types, type);
    reflected_append(name, text.data, text.size);
}

/* ---- descriptors ---- */

static uint32_t read_made(struct reflected_reader *reader, uint32_t number, unsigned depth);

/* Returns the type whose descriptor is at an address, or TYPE_NONE. */
static uint32_t type_at(struct reflected_reader *reader, uint64_t address, unsigned depth)
{
    const uint32_t known = types_at(reader->types, address);
    if (known != TYPE_NONE)
        return known;
    const uint32_t number = map_get(&reader->by_address, address);
    return number == MAP_NONE ? TYPE_NONE : read_made(reader, number, depth + 1);
}

/* Returns a type by its index among the types that a descriptor's contents list from offset on, or
 * TYPE_NONE. */
static uint32_t reflected_part_at(struct reflected_reader *reader, const struct g2h_bytes *contents,
                                  uint64_t offset, unsigned index, unsigned depth)
{
    const struct g2h_heap *heap = reader->typing->heap;
    const uint64_t word = heap->params.pointer_size;
    const uint64_t at = offset + index * word;
    if (reader->parts == 0 || contents->size < word || at > contents->size - word)
        return TYPE_NONE;
    reader->parts--;
    return type_at(reader, heap_word(heap, contents->data + at), depth);
}

/* Reads the direction of a channel, the word after the element type, and appends the name of the
 * type. Returns false if it is invalid. */
static bool read_chan(struct reflected_reader *reader, const struct g2h_bytes *contents,
                      uint64_t parts, struct type *type, struct text *name)
{
    enum { RECEIVE = 1, SEND = 2 };
    const struct g2h_heap *heap = reader->typing->heap;
    const uint64_t direction = heap_word(heap, contents->data + parts + heap->params.pointer_size);
    if (direction < RECEIVE || direction > (RECEIVE | SEND))
        return false;
    if (direction == RECEIVE)
        append_text(name, "<-");
    append_text(name, direction == SEND ? "chan<- " : "chan ");
    const struct g2h_bytes elem = types_name(reader->types, type->elem);
    /* "chan <-chan T" would read as a channel to which chan T is sent. */
    const bool ambiguous =
        direction == (RECEIVE | SEND) && elem.size > 2 && bytes_begin(elem, "<-");
    append_text(name, ambiguous ? "(" : "");
    reflected_append_type(reader, name, type->elem);
    append_text(name, ambiguous ? ")" : "");
    return true;
}

/* Reads the types of parameters and results, and appends the name of the func type. Both counts are
 * 16-bit numbers, and the highest bit of the second says variadic; the types follow, after the
 * methods (uncommonType) if there are any. Returns false if a type is unknown. */
static bool read_func(struct reflected_reader *reader, const struct g2h_bytes *contents,
                      uint64_t parts, bool is_uncommon, struct text *name, unsigned depth)
{
    const struct g2h_heap *heap = reader->typing->heap;
    enum { UNCOMMON_SIZE = 16 /* abi.UncommonType: four numbers of 4 bytes */ };
    const uint64_t first = parts + heap->params.pointer_size + (is_uncommon ? UNCOMMON_SIZE : 0);
    const unsigned in = u16_of(heap, contents->data + parts);
    const unsigned flagged = u16_of(heap, contents->data + parts + 2);
    const unsigned out = flagged & 0x7fff;
    const bool is_variadic = out != flagged;
    if (in + out > MOST_PARAMETERS)
        return false;
    append_text(name, "func(");
    for (unsigned i = 0; i < in + out; i++) {
        uint32_t type = reflected_part_at(reader, contents, first, i, depth);
        if (type == TYPE_NONE)
            return false;
        if (i == in)
            append_text(name, out > 1 ? ") (" : ") ");
        else if (i > 0)
            append_text(name, ", ");
        if (is_variadic && i + 1 == in && types_get(reader->types, type)->kind == TYPE_SLICE &&
            types_get(reader->types, type)->elem < reader->types->list.count) {
            append_text(name, "...");
            type = types_get(reader->types, type)->elem;
        }
        reflected_append_type(reader, name, type);
    }
    append_text(name, out == 1 ? "" : ")");
    return true;
}

/* Reads the fields of a struct, three words each (name, type, offset), adds them, and appends the
 * name of the struct type. Fields must ascend and end within the struct. Returns false if one is
 * invalid. In some releases the lowest bit of the offset says that a field is embedded, in later
 * ones its name's flags. With --redact the names are hashes. */
static bool reflected_read_fields(struct reflected_reader *reader, const struct g2h_bytes *contents,
                                  uint64_t parts, struct type *type, struct text *name,
                                  unsigned depth)
{
    const struct g2h_heap *heap = reader->typing->heap;
    const uint64_t word = heap->params.pointer_size,
                   count = heap_word(heap, contents->data + parts + 2 * word);
    const int release = reader->typing->release.minor;
    const bool is_shifted = release >= SINCE_SHIFTED_OFFSET && release < SINCE_EMBEDDED_FLAG;
    /* Kept here until all have been read: nested types add theirs to reader->types meanwhile. */
    VECTOR(struct type_field) fields = {0};
    uint64_t end = 0;
    bool good = count <= reader->parts;
    const uint8_t *at =
        good && count > 0
            ? reflected_memory_at(reader, heap_word(heap, contents->data + parts + word),
                                  count * 3 * word)
            : NULL;
    good = good && (at || count == 0);
    append_text(name, "struct {");
    for (uint64_t i = 0; i < count && good; i++, at += 3 * word) {
        struct type_field field = {.offset = heap_word(heap, at + 2 * word)};
        struct g2h_bytes text;
        uint8_t flags;
        reader->parts -= reader->parts > 0; /* nested types may have used it up */
        field.type = type_at(reader, heap_word(heap, at + word), depth);
        good = field.type != TYPE_NONE &&
               reflected_read_name(reader, heap_word(heap, at), &text, &flags);
        if (!good)
            break;
        char redacted[REDACTED_MOST];
        if (reader->typing->redaction)
            text = (struct g2h_bytes){
                (const uint8_t *)redacted,
                redaction_write(reader->typing->redaction, text.data, text.size, redacted)};
        field.embedded = is_shifted ? (field.offset & 1) != 0 : (flags & NAME_EMBEDDED) != 0;
        field.offset >>= is_shifted ? 1 : 0;
        const uint64_t size = types_size(reader->types, field.type);
        good =
            field.offset >= end && field.offset <= type->size && size <= type->size - field.offset;
        end = field.offset + size;
        append_text(name, i > 0 ? "; " : " ");
        if (!field.embedded) {
            reflected_append(name, text.data, text.size);
            append_text(name, " ");
        }
        reflected_append_type(reader, name, field.type);
        if (good && (!types_intern(reader->types, text.data, text.size, &field.name) ||
                     !vector_push(&fields, field)))
            reader->no_memory = true;
    }
    append_text(name, count > 0 ? " }" : "}");
    type->first_field = as_u32(reader->types->fields.count);
    type->field_count = as_u32(fields.count);
    for (size_t i = 0; i < fields.count && good; i++)
        if (!vector_push(&reader->types->fields, fields.data[i]))
            reader->no_memory = true;
    free(fields.data);
    return good && !reader->no_memory;
}

/* Returns how many words of a type's descriptor follow what all types have, for each kind of type.
 */
static uint64_t words_of_parts(enum type_kind kind)
{
    switch (kind) {
    case TYPE_STRUCT:
        return 4;
    case TYPE_ARRAY:
    case TYPE_MAP:
        return 3;
    case TYPE_CHAN:
        return 2;
    default:
        return 1;
    }
}

/* Reads what follows the header of a descriptor, which depends on the kind, and appends the name of
 * the type. parts is where it begins. type has what is in the header, such as kind and size, and
 * gets the rest: elem, key, length or fields. Returns false if it is invalid. */
static bool read_parts(struct reflected_reader *reader, const struct g2h_bytes *contents,
                       uint64_t parts, bool is_uncommon, struct type *type, struct text *name,
                       unsigned depth)
{
    const struct g2h_heap *heap = reader->typing->heap;
    const uint64_t word = heap->params.pointer_size;
    if (contents->size < parts + words_of_parts(type->kind) * word)
        return false;
    if (type->kind == TYPE_FUNC)
        return type->size == word && read_func(reader, contents, parts, is_uncommon, name, depth);
    if (type->kind == TYPE_STRUCT)
        return reflected_read_fields(reader, contents, parts, type, name, depth);
    type->elem = reflected_part_at(reader, contents, parts, type->kind == TYPE_MAP, depth);
    if (type->elem == TYPE_NONE)
        return false;
    uint64_t size;
    switch (type->kind) {
    case TYPE_POINTER:
        append_text(name, "*");
        reflected_append_type(reader, name, type->elem);
        return type->size == word;
    case TYPE_SLICE:
        append_text(name, "[]");
        reflected_append_type(reader, name, type->elem);
        return type->size == 3 * word;
    case TYPE_CHAN:
        return type->size == word && read_chan(reader, contents, parts, type, name);
    case TYPE_ARRAY:
        type->length = heap_word(heap, contents->data + parts + 2 * word);
        text_printf(name, "[%llu]", (unsigned long long)type->length);
        reflected_append_type(reader, name, type->elem);
        return !__builtin_mul_overflow(type->length, types_size(reader->types, type->elem),
                                       &size) &&
               size == type->size;
    case TYPE_MAP:
        type->key = reflected_part_at(reader, contents, parts, 0, depth);
        if (type->key == TYPE_NONE)
            return false;
        append_text(name, "map[");
        reflected_append_type(reader, name, type->key);
        append_text(name, "]");
        reflected_append_type(reader, name, type->elem);
        return type->size == word;
    default:
        return false;
    }
}

/* Returns the collector's mask of pointers (GCData), or NULL if the descriptor has none. In it the
 * first words of interfaces are pointers as well. */
static const uint8_t *reflected_read_mask(const struct reflected_reader *reader,
                                          const uint8_t *header)
{
    const struct g2h_heap *heap = reader->typing->heap;
    const uint64_t word = heap->params.pointer_size;
    const uint64_t words = heap_word(heap, header + word) / word;
    const uint8_t *bytes = header + offset_of_bytes(word);
    if (words == 0 || (bytes[BYTE_KIND] & KIND_GC_PROG) != 0 ||
        (bytes[BYTE_TFLAG] & TFLAG_GC_MASK_ON_DEMAND) != 0)
        return NULL;
    return reflected_memory_at(reader, heap_word(heap, header + offset_of_gc_data(word)),
                               (words + 7) / 8);
}

/* Adds the type that a descriptor describes, unless that has been done. Returns the type, or
 * TYPE_NONE if the object is not a descriptor, is part of itself by way of its own parts
 * (MADE_BUSY), or is nested too deeply, or if memory runs out: reader->no_memory. */
static uint32_t read_made(struct reflected_reader *reader, uint32_t number, unsigned depth)
{
    const struct g2h_heap *heap = reader->typing->heap;
    const uint64_t word = heap->params.pointer_size;
    struct made *made = &reader->list.data[number];
    struct g2h_object object;
    if (made->state != MADE_NEW || depth > DEPTH_MOST)
        return made->type; /* still TYPE_NONE for a type that contains itself */
    made->state = MADE_BUSY;
    heap_object(heap, made->object, &object);
    const uint8_t *at = object.contents.data;
    const uint8_t *bytes = at + offset_of_bytes(word);
    struct type type = {
        .kind = bytes[BYTE_KIND] & KIND_MASK,
        .direct_interface = (bytes[BYTE_KIND] & KIND_DIRECT_IFACE) != 0 ||
                            (bytes[BYTE_TFLAG] & TFLAG_DIRECT_IFACE) != 0,
        .size = heap_word(heap, at),
        .pointer_bytes = heap_word(heap, at + word),
        .gc_mask = reflected_read_mask(reader, at),
        .address = object.address,
        .elem = TYPE_NONE,
        .key = TYPE_NONE,
        .header = TYPE_NONE,
    };
    _cleanup_(text_deinit) struct text name = {0};
    uint32_t added;
    if (read_parts(reader, &object.contents, size_of_header(word),
                   (bytes[BYTE_TFLAG] & TFLAG_UNCOMMON) != 0, &type, &name, depth)) {
        if (!name.failed && types_intern(reader->types, name.data, name.size, &type.name) &&
            types_add_made(reader->types, &type, &added))
            made->type = added;
        else
            reader->no_memory = true;
    }
    made->state = MADE_DONE;
    return made->type;
}

/* ---- finding descriptors ---- */

/* Returns whether the objects of a slot class may be descriptors: Equal and GCData are the only
 * pointers among the words of the header. */
static bool may_be_descriptors(const struct g2h_heap *heap, const struct slot_class *slot_class)
{
    const unsigned word = (unsigned)heap->params.pointer_size;
    const unsigned header = (unsigned)size_of_header(word) / word; /* words */
    const unsigned equal = 2 + 8 / word;                           /* the word before GCData */
    const uint64_t mask = (UINT64_C(1) << header) - 1;
    const uint64_t wanted = UINT64_C(3) << equal;
    return slot_class->size >= (header + 1) * word && (slot_class->words & mask) == wanted &&
           !heap_has_malloc_header(heap, slot_class);
}

/* Returns whether an object begins with a valid abi.Type: its sizes, alignment and flags agree, it
 * is unnamed, and the offset of its string is negative; PtrToThis is 0. */
static bool is_header(const struct g2h_heap *heap, const struct g2h_object *object)
{
    const uint64_t word = heap->params.pointer_size;
    if (object->contents.size < size_of_header(word) + word)
        return false;
    const uint8_t *at = object->contents.data;
    const uint8_t *bytes = at + offset_of_bytes(word);
    const uint8_t *str = at + offset_of_str(word);
    const uint8_t align = bytes[BYTE_ALIGN];
    const uint64_t size = heap_word(heap, at);
    const uint64_t pointers = heap_word(heap, at + word);
    enum { MOST_ALIGN = 64 };
    return u32_of(heap, str) > INT32_MAX && u32_of(heap, str + 4) == 0 && size >= pointers &&
           pointers % word == 0 && bytes[BYTE_TFLAG] <= TFLAG_MOST &&
           (bytes[BYTE_TFLAG] & TFLAG_NAMED) == 0 && align != 0 && align <= MOST_ALIGN &&
           (align & (align - 1)) == 0 && size % align == 0;
}

/* Lists the objects that may be descriptors of types, by slot class and header, MOST_TYPES at most.
 * Returns false if memory runs out. */
static bool list_descriptors(struct reflected_reader *reader)
{
    const struct g2h_heap *heap = reader->typing->heap;
    const size_t slot_classes = heap->slot_classes.list.count;
    _cleanup_free_ bool *wanted = calloc(slot_classes + 1, sizeof(*wanted));
    bool any = false, good = true;
    if (!wanted)
        return false;
    for (size_t i = 0; i < slot_classes; i++)
        any |= wanted[i] = may_be_descriptors(heap, &heap->slot_classes.list.data[i]);
    for (uint32_t object = 0; any && good && object < heap->object_count; object++) {
        struct made made = {object, TYPE_NONE, MADE_NEW};
        struct g2h_object record;
        uint32_t number = as_u32(reader->list.count);
        if (!wanted[heap_slot_class(heap, object) - heap->slot_classes.list.data] ||
            number == MOST_TYPES)
            continue;
        heap_object(heap, object, &record);
        assert(number == 0 || reader->list.data[number - 1].object < object);
        if (is_header(heap, &record))
            good = vector_push(&reader->list, made) &&
                   map_put(&reader->by_address, record.address, number, &number);
    }
    return good;
}

/* Reads the types that the program made by package reflect, whose descriptors are objects. */
struct g2h_error *typing_add_reflected(struct typing *typing, struct types *types)
{
    struct reflected_reader reader = {.typing = typing, .types = types, .parts = MOST_PARTS};
    if (!list_descriptors(&reader))
        reader.no_memory = true;
    for (uint32_t i = 0; i < reader.list.count && !reader.no_memory; i++)
        read_made(&reader, i, 0);
    free(reader.list.data);
    map_deinit(&reader.by_address);
    return reader.no_memory ? &error_no_memory : NULL;
}

/* ---- the types of the descriptors themselves ---- */

/* Types the descriptors of types made at run time. reflect makes types at run time
 * (reflect.StructOf and others), whose descriptors are objects of the heap. What type these objects
 * have depends on the kind of type that was made, on the release, and, of functions and structs, on
 * what they have: all that the program knows are proposed, and the typer keeps the one that fits
 * the object's slot. */
void typing_seed_reflected(struct typer *typer)
{
    static const struct {
        uint8_t kind;
        const char *name;
    } kinds[] = {
        {TYPE_ARRAY, "internal/abi.ArrayType"},   {TYPE_ARRAY, "reflect.arrayType"},
        {TYPE_CHAN, "internal/abi.ChanType"},     {TYPE_CHAN, "reflect.chanType"},
        {TYPE_FUNC, "reflect.funcTypeFixed4"},    {TYPE_FUNC, "reflect.funcTypeFixed8"},
        {TYPE_FUNC, "reflect.funcTypeFixed16"},   {TYPE_FUNC, "reflect.funcTypeFixed32"},
        {TYPE_MAP, "internal/abi.MapType"},       {TYPE_MAP, "internal/abi.SwissMapType"},
        {TYPE_MAP, "internal/abi.OldMapType"},    {TYPE_MAP, "reflect.mapType"},
        {TYPE_POINTER, "internal/abi.PtrType"},   {TYPE_POINTER, "reflect.ptrType"},
        {TYPE_SLICE, "internal/abi.SliceType"},   {TYPE_SLICE, "reflect.sliceType"},
        {TYPE_STRUCT, "internal/abi.StructType"}, {TYPE_STRUCT, "reflect.structTypeUncommon"},
    };
    const struct types *types = typer->typing->types;
    if (types->made_high == 0)
        return;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const uint32_t type = types_find(types, kinds[i].name);
        for (uint32_t j = 0; j < types->list.count && type != TYPE_NONE; j++) {
            const struct type *made = types_get(types, j);
            if (made->kind == kinds[i].kind && types_is_made(types, made->address))
                typer_refer(typer, REFERENCE_VALUE, made->address, 0, type, NO_TARGET,
                            SOURCE_RUNTIME);
        }
    }
    typer_flush(typer);
}
