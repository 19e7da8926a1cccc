/*
 * descriptors: finds and reads the type descriptors (abi.Type) of an executable; see descriptors.h.
 * Each word at which a valid header begins is a candidate; candidates whose name or whose parts are
 * not valid are dropped, and then those that are composed of dropped ones, until all that are left
 * agree. Offsets are from the start of the section with the types.
 */
#include "exe/go/descriptors.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/contract.h"

/* ==== the offsets of the parts of descriptors ====
 *
 * Layouts are those of internal/abi/type.go and map*.go, before Go 1.21 runtime/type.go and
 * reflect/type.go, and of cmd/compile/internal/reflectdata/reflect.go. The header has been the same
 * from 1.7 to 1.27: Size_, PtrBytes, Hash, TFlag, Align_, FieldAlign_, Kind_, Equal, GCData, Str,
 * PtrToThis. The part after the header has been the same as well, except in map types.
 *
 * All offsets count from runtime.types.
 */

enum { UNCOMMON_SIZE = 16 }; /* of abi.UncommonType */

/* The bit of abi.FuncType.OutCount by which the last parameter is "...". */
enum { OUT_VARIADIC = 0x8000 };

#define RANGE_MOST ((uint64_t)INT32_MAX) /* NameOff and TypeOff have no more bits */

/* Returns the word at an offset of the range. */
static inline uint64_t descriptor_word_at(const struct descriptors *all, uint64_t offset)
{
    return image_word(all->image, all->data + offset);
}

/* Returns the number of 32 bits at an offset of the range. */
static inline uint32_t u32_at(const struct descriptors *all, uint64_t offset)
{
    return image_u32(all->image, all->data + offset);
}

/* Returns whether the range has size bytes at an offset. */
static inline bool descriptors_have(const struct descriptors *all, uint64_t offset, uint64_t size)
{
    return offset <= all->size && size <= all->size - offset;
}

/* Returns the size of the header that all kinds of types have. */
static inline unsigned descriptor_header_size(const struct descriptors *all)
{
    return 4 * all->word + 16;
}

/* The bytes of the header from TFlag on: TFlag, Align_, FieldAlign_, Kind_ (internal/abi/type.go).
 */
enum { BYTE_TFLAG, BYTE_ALIGN, BYTE_FIELD_ALIGN, BYTE_KIND };

/* Returns the offset of TFlag of the header that begins at an offset. */
static inline uint64_t descriptor_flags_of(const struct descriptors *all, uint64_t offset)
{
    return offset + 2 * all->word + 4;
}

/* Returns the offset of Str of the header that begins at an offset. */
static inline uint64_t string_of(const struct descriptors *all, uint64_t offset)
{
    return offset + 4 * all->word + 8;
}

/* Returns the TFlag of the header that begins at an offset. */
static inline uint8_t flags_at(const struct descriptors *all, uint64_t offset)
{
    return all->data[descriptor_flags_of(all, offset)];
}

/* Returns the kind of the type whose header begins at an offset. */
static inline uint8_t kind_at(const struct descriptors *all, uint64_t offset)
{
    return all->data[descriptor_flags_of(all, offset) + BYTE_KIND] & KIND_MASK;
}

/* Returns the index in all->references where the references of a descriptor end. */
static inline uint64_t reference_end(const struct descriptors *all, size_t index)
{
    return index + 1 < all->list.count ? all->list.data[index + 1].first_reference
                                       : all->references.count;
}

/* ==== the parts of descriptors ====
 *
 * Reads the parts of descriptors that have been found, see below.
 */

enum { NAME_CHECKED = 64 }; /* first bytes of a name, which must be text; checking all is slow */

/* ---- layout ---- */

/*
 * Returns the size of a descriptor of a kind, up to its uncommon type.
 *
 * The kind-specific fields follow the header (internal/abi/type.go).
 */
static unsigned descriptor_base_size(const struct descriptors *all, uint8_t kind)
{
    switch (kind) {
    case TYPE_POINTER:
    case TYPE_SLICE:
    case TYPE_FUNC: /* two counts of 16 bits, and padding */
        return descriptor_header_size(all) + all->word;
    case TYPE_CHAN:
        return descriptor_header_size(all) + 2 * all->word;
    case TYPE_ARRAY:
        return descriptor_header_size(all) + 3 * all->word;
    case TYPE_INTERFACE:
    case TYPE_STRUCT: /* PkgPath and a slice */
        return descriptor_header_size(all) + 4 * all->word;
    case TYPE_MAP:
        return all->map_size;
    default:
        return descriptor_header_size(all);
    }
}

/* Returns the offset of a descriptor's parameters, methods or fields: they follow its uncommon
 * type. */
static uint64_t descriptor_parts_offset(const struct descriptors *all, uint64_t offset)
{
    return offset + descriptor_base_size(all, kind_at(all, offset)) +
           (flags_at(all, offset) & TFLAG_UNCOMMON ? UNCOMMON_SIZE : 0);
}

/* ---- names ---- */

/* Returns whether the first bytes of a name are text: none is a control character. Eight are tested
 * at once: a byte that is less than n borrows from its highest bit when n is subtracted. */
static bool starts_as_text(const uint8_t *at, uint64_t size)
{
    const uint64_t ones = 0x0101010101010101;
    const uint64_t most = MIN(size, NAME_CHECKED);
    uint64_t i = 0, eight;
    for (; most - i >= 8; i += 8) {
        memcpy(&eight, at + i, 8);
        const uint64_t deleted = eight ^ ones * 0x7f;
        if ((((eight - ones * 0x20) & ~eight) | ((deleted - ones) & ~deleted)) & ones * 0x80)
            return false;
    }
    for (; i < most; i++)
        if (at[i] < 0x20 || at[i] == 0x7f)
            return false;
    return true;
}

/* Reads a name: a byte of flags, the length (a varint since Go 1.17, before that two bytes), and
 * the text. A long name is cut. Returns false if it is not in the range, or is not text. */
static bool descriptor_read_name(const struct descriptors *all, uint64_t offset,
                                 struct g2h_bytes *ret, uint8_t *ret_flags)
{
    const uint8_t known_flags = 15; /* exported, tag, package path, embedded (from 1.19) */
    if (!descriptors_have(all, offset, 3) || all->data[offset] > known_flags)
        return false;
    struct cursor cursor = {all->data + offset + 1, all->data + all->size};
    uint64_t size;
    if (all->varint_names) {
        if (!cursor_uvarint(&cursor, &size))
            return false;
    } else {
        size = (uint64_t)cursor.at[0] << 8 | cursor.at[1];
        cursor.at += 2;
    }
    if (size > cursor_left(&cursor))
        return false;
    if (!starts_as_text(cursor.at, size))
        return false;
    *ret = bytes_at(cursor.at, MIN(size, NAME_MOST));
    *ret_flags = all->data[offset];
    return true;
}

/* Returns the name at an offset; it is empty if there is none. */
static struct g2h_bytes descriptors_name_at(const struct descriptors *all, uint64_t offset)
{
    struct g2h_bytes name = bytes_none;
    uint8_t flags;
    if (offset != 0)
        descriptor_read_name(all, offset, &name, &flags);
    return name;
}

/*
 * Returns the name of the type whose header is at an offset; it is empty if the header is
 * damaged.
 *
 * With TFLAG_EXTRA_STAR the string is "*T" though the type is T: the linker shares the string with
 * the type *T.
 */
static struct g2h_bytes descriptor_header_name(const struct descriptors *all, uint64_t offset)
{
    const struct g2h_bytes name = descriptors_name_at(all, u32_at(all, string_of(all, offset)));
    if ((flags_at(all, offset) & TFLAG_EXTRA_STAR) == 0)
        return name;
    if (name.size == 0 || name.data[0] != '*')
        return bytes_none;
    return bytes_from(name, 1);
}

/* ---- headers ---- */

/* The sizes of types by their kind, in bytes or, if negative, in words; 0: any size. */
static const int8_t sizes[TYPE_KINDS] = {
    [TYPE_BOOL] = 1,     [TYPE_INT] = -1,    [TYPE_INT8] = 1,       [TYPE_INT16] = 2,
    [TYPE_INT32] = 4,    [TYPE_INT64] = 8,   [TYPE_UINT] = -1,      [TYPE_UINT8] = 1,
    [TYPE_UINT16] = 2,   [TYPE_UINT32] = 4,  [TYPE_UINT64] = 8,     [TYPE_UINTPTR] = -1,
    [TYPE_FLOAT32] = 4,  [TYPE_FLOAT64] = 8, [TYPE_COMPLEX64] = 8,  [TYPE_COMPLEX128] = 16,
    [TYPE_CHAN] = -1,    [TYPE_FUNC] = -1,   [TYPE_INTERFACE] = -2, [TYPE_MAP] = -1,
    [TYPE_POINTER] = -1, [TYPE_SLICE] = -3,  [TYPE_STRING] = -2,    [TYPE_UNSAFE_POINTER] = -1,
};

/* Returns whether a number is a power of 2 up to 64. */
static bool is_alignment(uint8_t number)
{
    return number != 0 && number <= 64 && (number & (number - 1)) == 0;
}

/*
 * Returns whether a header may begin at an offset, but for its name: whether its fields are valid
 * by themselves.
 *
 * Tests what the compiler guarantees, the cheapest first, since each word of read-only data is
 * tested.
 */
static bool descriptor_is_header(const struct descriptors *all, uint64_t offset)
{
    const uint8_t *bytes = all->data + descriptor_flags_of(all, offset);
    const uint8_t kind = bytes[BYTE_KIND] & KIND_MASK;
    const uint8_t align = bytes[BYTE_ALIGN];
    if (kind == TYPE_INVALID || kind >= TYPE_KINDS || bytes[BYTE_TFLAG] > TFLAG_MOST ||
        !is_alignment(align) || !is_alignment(bytes[BYTE_FIELD_ALIGN]))
        return false;
    const uint64_t size = descriptor_word_at(all, offset),
                   pointers = descriptor_word_at(all, offset + all->word);
    if (pointers > size || pointers % all->word != 0 || size % align != 0 ||
        (sizes[kind] > 0 && size != (uint64_t)sizes[kind]) ||
        (sizes[kind] < 0 && size != (uint64_t)-sizes[kind] * all->word))
        return false;
    const uint32_t pointer_to_this = u32_at(all, string_of(all, offset) + 4);
    return pointer_to_this < all->size && pointer_to_this % all->word == 0;
}

/* Returns the name in the descriptor's header at an address, or nothing if there is no valid
 * header, or it is outside of data, the bytes from start on. */
struct g2h_bytes descriptors_peek(const struct image *image, uint64_t start, const uint8_t *data,
                                  uint64_t size, bool varint_names, uint64_t address)
{
    const uint64_t most = MIN(size, RANGE_MOST);
    const struct descriptors all = {.image = image,
                                    .start = start,
                                    .data = data,
                                    .size = most,
                                    .word = image->is_64 ? 8 : 4,
                                    .varint_names = varint_names};
    const uint64_t offset = address - start;
    if (address < start || offset % all.word != 0 ||
        !descriptors_have(&all, offset, descriptor_header_size(&all)) ||
        !descriptor_is_header(&all, offset))
        return bytes_none;
    return descriptor_header_name(&all, offset);
}

/* ---- queries ---- */

/* Returns the index of the descriptor at an address of the file, or list.count if none is there. */
size_t descriptors_find(const struct descriptors *all, uint64_t address)
{
    const uint64_t offset = address - all->start;
    size_t at;
    BISECT(at, all->list.count, all->list.data[at].offset < offset);
    return at < all->list.count && all->list.data[at].offset == offset ? at : all->list.count;
}

uint64_t descriptor_size(const struct descriptors *all, size_t index)
{
    assert(index < all->list.count);
    return descriptor_word_at(all, all->list.data[index].offset);
}

uint64_t descriptor_pointer_bytes(const struct descriptors *all, size_t index)
{
    assert(index < all->list.count);
    return descriptor_word_at(all, all->list.data[index].offset + all->word);
}

uint8_t descriptor_flags(const struct descriptors *all, size_t index)
{
    return flags_at(all, all->list.data[index].offset);
}

uint8_t descriptor_kind(const struct descriptors *all, size_t index)
{
    assert(index < all->list.count);
    return all->data[descriptor_flags_of(all, all->list.data[index].offset) + BYTE_KIND];
}

/* Returns the name as package reflect prints it: with the package's name, not its path. */
struct g2h_bytes descriptor_name(const struct descriptors *all, size_t index)
{
    assert(index < all->list.count);
    return descriptor_header_name(all, all->list.data[index].offset);
}

/* Returns the path of the type's package, empty if it is in none. Only types with tflagUncommon
 * have a package: its name's offset is in the abi.UncommonType behind the descriptor. */
struct g2h_bytes descriptor_package(const struct descriptors *all, size_t index)
{
    const uint64_t offset = all->list.data[index].offset;
    if ((flags_at(all, offset) & TFLAG_UNCOMMON) == 0)
        return descriptors_name_at(all, 0);
    return descriptors_name_at(
        all, u32_at(all, offset + descriptor_base_size(all, kind_at(all, offset))));
}

/* Returns the mask of the type's pointers. NULL for types without pointers, those with a GC program
 * in place of a mask, and those whose mask is made at run time. */
const uint8_t *descriptor_mask(const struct descriptors *all, size_t index)
{
    /* GCData follows the bytes from TFlag on, and Equal. */
    const uint64_t at = descriptor_flags_of(all, all->list.data[index].offset) + 4 + all->word;
    const uint64_t words = descriptor_pointer_bytes(all, index) / all->word,
                   mask = descriptor_word_at(all, at);
    if (words == 0 || (descriptor_kind(all, index) & KIND_GC_PROG) != 0 ||
        (descriptor_flags(all, index) & TFLAG_GC_MASK_ON_DEMAND) != 0)
        return NULL;
    return image_at(all->image, mask, (words + 7) / 8);
}

size_t descriptor_reference_count(const struct descriptors *all, size_t index)
{
    return (size_t)(reference_end(all, index) - all->list.data[index].first_reference);
}

/* Returns the index of a descriptor that this one refers to. */
uint32_t descriptor_reference(const struct descriptors *all, size_t index, size_t number)
{
    assert(number < descriptor_reference_count(all, index));
    return all->references.data[all->list.data[index].first_reference + number];
}

uint64_t descriptor_length(const struct descriptors *all, size_t index)
{
    return descriptor_word_at(all, all->list.data[index].offset + descriptor_header_size(all) +
                                       2 * all->word);
}

unsigned descriptor_direction(const struct descriptors *all, size_t index)
{
    return (unsigned)descriptor_word_at(all, all->list.data[index].offset +
                                                 descriptor_header_size(all) + all->word);
}

/* Returns how many of a function's references are parameters; the others are its results.
 * *ret_variadic: the last parameter is "...". The counts of both, InCount and OutCount, follow the
 * header. */
unsigned descriptor_parameters(const struct descriptors *all, size_t index, bool *ret_variadic)
{
    const uint8_t *counts = all->data + all->list.data[index].offset + descriptor_header_size(all);
    *ret_variadic = (image_u16(all->image, counts + 2) & OUT_VARIADIC) != 0;
    return image_u16(all->image, counts);
}

/* Returns a field of a struct. Until Go 1.18 the lowest bit of the offset says whether the field is
 * embedded, since 1.19 a flag of its name. */
struct descriptor_field descriptor_field(const struct descriptors *all, size_t index, size_t number)
{
    assert(number < descriptor_reference_count(all, index));
    const uint64_t at = descriptor_parts_offset(all, all->list.data[index].offset) +
                        3 * (uint64_t)number * all->word;
    struct descriptor_field field = {bytes_none, 0, false};
    uint8_t flags = 0;
    descriptor_read_name(all, descriptor_word_at(all, at) - all->start, &field.name, &flags);
    field.offset = descriptor_word_at(all, at + 2 * all->word);
    field.embedded = (flags & NAME_EMBEDDED) != 0 || field.name.size == 0;
    if (all->shifted_fields) {
        field.embedded = (field.offset & 1) != 0;
        field.offset >>= 1;
    }
    return field;
}

/* ==== finds the descriptors of an executable ====
 *
 * Each word at which a header may begin is a candidate. A candidate is bad if a type that it is
 * composed of is not a candidate or is bad, or if it disagrees with the types that it is composed
 * of.
 */

/* ---- components of descriptors ---- */

struct descriptor_search {
    uint32_t *by_offset; /* per word: index of the descriptor that begins there, plus 1; 0: none */
    bool *bad;           /* per descriptor */
    uint64_t work;       /* number of references followed */
};

/* Adds the type at an address to the types that the last descriptor is composed of. Sets *good to
 * false if no candidate is at the address. Returns false if memory runs out. */
static bool add_reference(struct descriptors *all, struct descriptor_search *search,
                          uint64_t address, bool *good)
{
    const uint64_t offset = address - all->start;
    const uint32_t found =
        offset < all->size && offset % all->word == 0 ? search->by_offset[offset / all->word] : 0;
    search->work++;
    *good = *good && found != 0;
    return !*good || vector_push(&all->references, found - 1);
}

/* Reads the length of the slice of methods or fields that the descriptor of an interface or a
 * struct has behind its header and PkgPath: address, length, capacity. Returns false if the
 * capacity is another number; if the address, unless the length is 0, is not that of the parts,
 * which the compiler writes after the descriptor (descriptor_parts_offset()); or if the parts, of
 * entry_size bytes each, go beyond the section with the types. */
static bool read_slice(const struct descriptors *all, uint64_t offset, uint64_t entry_size,
                       uint64_t *ret)
{
    const uint64_t slice = offset + descriptor_header_size(all) + all->word,
                   first = descriptor_parts_offset(all, offset);
    *ret = descriptor_word_at(all, slice + all->word);
    return descriptor_word_at(all, slice + 2 * all->word) == *ret &&
           (*ret == 0 || descriptor_word_at(all, slice) == all->start + first) &&
           first <= all->size && *ret <= (all->size - first) / entry_size;
}

/* Adds the types that a descriptor is composed of. *ret_good: all of them are candidates and the
 * descriptor's parts are valid. Returns false if memory runs out. */
static bool add_references(struct descriptors *all, struct descriptor_search *search,
                           uint64_t offset, bool *ret_good)
{
    const uint8_t kind = kind_at(all, offset);
    const uint64_t parts = offset + descriptor_header_size(all);
    const uint64_t word = all->word;
    uint64_t count = 0, first = 0;
    struct g2h_bytes name;
    uint8_t flags;
    *ret_good = descriptors_have(all, offset,
                                 kind == TYPE_MAP ? descriptor_header_size(all) + 3 * word
                                                  : descriptor_base_size(all, kind));
    if (!*ret_good)
        return true;
    switch (kind) {
    case TYPE_CHAN:
        *ret_good = descriptor_word_at(all, parts + word) - 1 < 3; /* receive, send, both */
        /* fall through */
    case TYPE_POINTER:
    case TYPE_SLICE:
        count = 1;
        first = parts;
        break;
    case TYPE_ARRAY: /* Elem and Slice */
        count = 2;
        first = parts;
        break;
    case TYPE_MAP: /* Key, Elem, and Bucket or Group */
        count = 3;
        first = parts;
        break;
    case TYPE_FUNC: /* InCount and OutCount; the types follow the uncommon type */
        count = (uint64_t)image_u16(all->image, all->data + parts) +
                (image_u16(all->image, all->data + parts + 2) & ~(unsigned)OUT_VARIADIC);
        first = descriptor_parts_offset(all, offset);
        *ret_good = descriptors_have(all, first, count * word);
        break;
    case TYPE_INTERFACE: /* of abi.Imethod: Name and Typ, which are offsets */
        *ret_good = read_slice(all, offset, 8, &count);
        first = descriptor_parts_offset(all, offset);
        for (uint64_t i = 0; *ret_good && i < count; i++, first += 8) {
            *ret_good = descriptor_read_name(all, u32_at(all, first), &name, &flags);
            if (!add_reference(all, search, all->start + u32_at(all, first + 4), ret_good))
                return false;
        }
        return true;
    case TYPE_STRUCT: /* of abi.StructField: Name, Typ, Offset */
        *ret_good = read_slice(all, offset, 3 * word, &count);
        first = descriptor_parts_offset(all, offset);
        for (uint64_t i = 0; *ret_good && i < count; i++, first += 3 * word) {
            *ret_good = descriptor_read_name(all, descriptor_word_at(all, first) - all->start,
                                             &name, &flags);
            if (!add_reference(all, search, descriptor_word_at(all, first + word), ret_good))
                return false;
        }
        return true;
    }
    for (uint64_t i = 0; *ret_good && i < count; i++)
        if (!add_reference(all, search, descriptor_word_at(all, first + i * word), ret_good))
            return false;
    return true;
}

/* ---- candidates ---- */

/* Lists all offsets where a header may begin, but for its name. Returns false if memory runs
 * out. */
static bool list_headers(struct descriptors *all)
{
    const unsigned header = descriptor_header_size(all);
    for (uint64_t offset = 0; descriptors_have(all, offset, header); offset += all->word) {
        struct descriptor found = {(uint32_t)offset, 0};
        if (descriptor_is_header(all, offset) && !vector_push(&all->list, found))
            return false;
    }
    return true;
}

/* Returns how many candidates have a name. */
static size_t count_named(const struct descriptors *all)
{
    size_t count = 0;
    VECTOR_EACH(const struct descriptor, descriptor, all->list)
        count += descriptor_header_name(all, descriptor->offset).size > 0;
    return count;
}

/* Drops the candidates without a name. */
static void drop_nameless(struct descriptors *all)
{
    size_t count = 0;
    VECTOR_EACH(const struct descriptor, descriptor, all->list)
        if (descriptor_header_name(all, descriptor->offset).size > 0)
            all->list.data[count++] = *descriptor;
    all->list.count = count;
}

/* Finds the types that each candidate is composed of, and marks a candidate as bad if one of them
 * is missing. Returns false if memory runs out. */
static bool resolve_references(struct descriptors *all, struct descriptor_search *search)
{
    for (size_t i = 0; i < all->list.count; i++)
        search->by_offset[all->list.data[i].offset / all->word] = as_u32(i) + 1;
    for (size_t i = 0; i < all->list.count; i++) {
        struct descriptor *own = &all->list.data[i];
        bool good;
        own->first_reference = as_u32(all->references.count);
        if (!add_references(all, search, own->offset, &good))
            return false;
        search->bad[i] = !good;
        if (!good)
            all->references.count = own->first_reference;
        /* Sound descriptors do not overlap, so they cannot have more references than this. */
        if (search->work > all->size / 4) {
            all->list.count = all->references.count = 0;
            return true;
        }
    }
    return true;
}

/* A layout of map types: the offset of the size of the bucket or group type in a map type, and the
 * size of the map type. The layouts of 1.24 and 1.27 differ only after GroupSize. */
struct map_form {
    uint8_t size_words, size_bytes; /* offset of the bucket's or group's size, after the header */
    uint8_t words, bytes;           /* size of everything after the header */
    bool is_swiss;
};

/* The newest first: with 32 bits, an older layout may fit as well. */
static const struct map_form map_forms[] = {
    {4, 0, 10, 4, true}, /* 1.27: KeysOff, KeyStride, ElemsOff, ElemStride, ElemOff, Flags */
    {4, 0, 7, 4, true},  /* 1.24 to 1.26: group, hasher, GroupSize, SlotSize, ElemOff, Flags */
    {4, 2, 4, 8, false}, /* 1.14 to 1.23, and later X:noswissmap: bucket, hasher, sizes */
    {3, 2, 3, 8, false}, /* 1.12, 1.13: bucket, sizes */
    {3, 4, 3, 8, false}, /* 1.11: bucket, sizes and flags */
    {4, 4, 4, 8, false}, /* 1.7 to 1.10: bucket, hmap, sizes and flags */
};

enum { MAP_FORMS = COUNT_OF(map_forms) };

/* Returns the size of a map type's descriptor with a layout, rounded up to words. */
static unsigned map_form_size(const struct descriptors *all, const struct map_form *form)
{
    unsigned size = descriptor_header_size(all) + form->words * all->word + form->bytes;
    return (size + all->word - 1) / all->word * all->word;
}

/* Returns whether a map type's descriptor has a layout: its sizes are those of its bucket or
 * group. */
static bool map_fits(const struct descriptors *all, size_t index, const struct map_form *form)
{
    const uint64_t parts = all->list.data[index].offset + descriptor_header_size(all);
    const uint64_t word = all->word;
    const uint64_t size_at = parts + form->size_words * word + form->size_bytes;
    if (!descriptors_have(all, parts, 12 * word))
        return false;
    uint64_t size = form->is_swiss ? descriptor_word_at(all, size_at)
                                   : image_u16(all->image, all->data + size_at);
    if (size != descriptor_size(all, descriptor_reference(all, index, 2)))
        return false;
    if (!form->is_swiss)
        return true;
    /* A group consists of eight control bytes and eight slots or, since 1.27, of control bytes,
     * keys and elements. */
    enum { CONTROL_BYTES = 8, SLOTS_OF_GROUP = 8 };
    const uint64_t slot_size = descriptor_word_at(all, parts + 5 * word), keys_off = slot_size,
                   elems_off = descriptor_word_at(all, parts + 7 * word);
    return form->words == 7 ? slot_size == (size - CONTROL_BYTES) / SLOTS_OF_GROUP
                            : keys_off == CONTROL_BYTES && elems_off >= CONTROL_BYTES;
}

/* Returns whether the fields of a struct ascend and are inside it. shifted: the words with their
 * offsets are those of Go 1.9 to 1.18, twice the offset plus the embedded flag. A field has three
 * words: name, type, offset. */
static bool fields_fit(const struct descriptors *all, size_t index, bool shifted)
{
    const uint64_t parts = descriptor_parts_offset(all, all->list.data[index].offset);
    uint64_t end = 0;
    uint64_t size = descriptor_size(all, index);
    for (size_t i = 0; i < descriptor_reference_count(all, index); i++) {
        uint64_t offset = descriptor_word_at(all, parts + (3 * i + 2) * all->word);
        if (shifted)
            offset >>= 1;
        uint64_t part = descriptor_size(all, descriptor_reference(all, index, i));
        if (offset < end || offset > size || part > size - offset)
            return false;
        end = offset + part;
    }
    return true;
}

/* Chooses the layout of map types, and whether the offsets of fields are shifted, by a majority of
 * descriptors: they record neither. */
static void choose_forms(struct descriptors *all, const struct descriptor_search *search)
{
    size_t maps[MAP_FORMS] = {0}, unshifted = 0, shifted = 0, best = 0;
    for (size_t i = 0; i < all->list.count; i++) {
        const uint8_t kind = descriptor_kind(all, i) & KIND_MASK;
        if (search->bad[i])
            continue;
        if (kind == TYPE_STRUCT) {
            unshifted += fields_fit(all, i, false);
            shifted += fields_fit(all, i, true);
        }
        for (size_t j = 0; kind == TYPE_MAP && j < MAP_FORMS; j++)
            maps[j] += map_fits(all, i, &map_forms[j]);
    }
    for (size_t j = 1; j < MAP_FORMS; j++)
        if (maps[j] > maps[best])
            best = j;
    all->map_size = map_form_size(all, &map_forms[best]);
    all->shifted_fields = shifted > unshifted;
}

/* Returns whether a descriptor agrees with the headers of the types that it is composed of: for
 * example, an array must be as large as all of its elements. */
static bool agrees_with_parts(const struct descriptors *all, size_t index)
{
    const uint64_t offset = all->list.data[index].offset;
    const uint64_t size = descriptor_size(all, index);
    const size_t count = descriptor_reference_count(all, index);
    const uint32_t *parts =
        count > 0 ? all->references.data + all->list.data[index].first_reference : NULL;
    const uint8_t kind = kind_at(all, offset);
    uint64_t product;
    if ((flags_at(all, offset) & TFLAG_UNCOMMON) != 0) {
        const uint64_t uncommon = offset + descriptor_base_size(all, kind);
        if (!descriptors_have(all, uncommon, UNCOMMON_SIZE) || u32_at(all, uncommon) >= all->size)
            return false;
    }
    switch (kind) {
    case TYPE_ARRAY:
        return !__builtin_mul_overflow(descriptor_length(all, index),
                                       descriptor_size(all, parts[0]), &product) &&
               product == size && kind_at(all, all->list.data[parts[1]].offset) == TYPE_SLICE;
    case TYPE_MAP:
        return kind_at(all, all->list.data[parts[2]].offset) == TYPE_STRUCT;
    case TYPE_INTERFACE:
        for (size_t i = 0; i < count; i++)
            if (kind_at(all, all->list.data[parts[i]].offset) != TYPE_FUNC)
                return false;
        return true;
    case TYPE_STRUCT:
        return fields_fit(all, index, all->shifted_fields);
    default:
        return true;
    }
}

/* Marks all descriptors as bad that are composed of a bad one, directly or not. Each reference is
 * followed once, from the bad ones to their users. Returns false if memory runs out. */
static bool mark_composed_of_bad(const struct descriptors *all, bool *bad)
{
    const size_t count = all->list.count;
    const size_t references = all->references.count;
    uint32_t *first = calloc(count + 2, sizeof(*first)); /* by descriptor: its first in users */
    uint32_t *users = malloc((references + 1) * sizeof(*users));
    uint32_t *stack = malloc((count + 1) * sizeof(*stack));
    const bool good = first && users && stack;
    size_t depth = 0;
    if (good) {
        /* A counting sort of the references by their target: users then has, from first[i] on, the
         * descriptors that are composed of descriptor i. */
        for (size_t i = 0; i < references; i++)
            first[all->references.data[i] + 2]++;
        for (size_t i = 2; i < count + 2; i++)
            first[i] += first[i - 1];
        for (size_t i = 0; i < count; i++) {
            for (size_t j = all->list.data[i].first_reference; j < reference_end(all, i); j++)
                users[first[all->references.data[j] + 1]++] = as_u32(i);
            if (bad[i])
                stack[depth++] = as_u32(i);
        }
    }
    while (depth > 0) {
        uint32_t i = stack[--depth];
        for (size_t j = first[i]; j < first[i + 1]; j++)
            if (!bad[users[j]]) {
                bad[users[j]] = true;
                stack[depth++] = users[j];
            }
    }
    free(first);
    free(users);
    free(stack);
    return good;
}

/* Drops the bad descriptors, and renumbers the others. */
static void drop_bad(struct descriptors *all, struct descriptor_search *search)
{
    size_t good = 0, references = 0;
    uint32_t *numbers = search->by_offset; /* its contents are not needed any more */
    const size_t count = all->list.count;
    for (size_t i = 0; i < count; i++)
        numbers[i] = search->bad[i] ? UINT32_MAX : (uint32_t)good++;
    good = 0;
    for (size_t i = 0; i < count; i++) {
        const struct descriptor own = all->list.data[i];
        const size_t end = (size_t)reference_end(all, i);
        if (search->bad[i])
            continue;
        all->list.data[good++] = (struct descriptor){own.offset, (uint32_t)references};
        for (size_t j = own.first_reference; j < end; j++)
            all->references.data[references++] = numbers[all->references.data[j]];
    }
    all->list.count = good;
    all->references.count = references;
}

/* Drops the candidates that are not descriptors: those with missing parts, those that disagree with
 * their parts, and all that are composed of these. Returns false if memory runs out. */
static bool descriptor_check(struct descriptors *all)
{
    struct descriptor_search search = {
        .by_offset = calloc((size_t)(all->size / all->word) + 1, sizeof(*search.by_offset)),
        .bad = calloc(all->list.count + 1, sizeof(*search.bad)),
    };
    bool good = search.by_offset && search.bad && resolve_references(all, &search);
    if (good) {
        choose_forms(all, &search);
        for (size_t i = 0; i < all->list.count; i++)
            if (!search.bad[i] && !agrees_with_parts(all, i))
                search.bad[i] = true;
        good = mark_composed_of_bad(all, search.bad);
    }
    if (good)
        drop_bad(all, &search);
    free(search.by_offset);
    free(search.bad);
    return good;
}

/* Lists what may be a descriptor by its header, tries both encodings of names (two bytes for the
 * length, or a varint since Go 1.17), keeps the one by which more have a name, and drops those
 * without; then checks that references lead to descriptors. */
struct g2h_error *descriptors_init(struct descriptors *all, const struct image *image,
                                   uint64_t start, uint64_t size)
{
    *all = (struct descriptors){.image = image, .start = start, .word = image->is_64 ? 8 : 4};
    all->size = MIN(size, RANGE_MOST);
    all->data = image_at(image, start, all->size);
    if (!all->data || all->size < descriptor_header_size(all) || start % all->word != 0)
        return NULL;
    /* If names are read in the wrong way, most descriptors have no name: both ways are tried. */
    TRY_MEMORY(list_headers(all));
    const size_t with_two_bytes = count_named(all);
    all->varint_names = true;
    drop_nameless(all);
    if (all->list.count < with_two_bytes) {
        all->list.count = 0;
        all->varint_names = false;
        TRY_MEMORY(list_headers(all));
        drop_nameless(all);
    }
    TRY_MEMORY(descriptor_check(all));
    assert(
        IS_ORDERED(i, all->list.count,
                   all->list.data[i - 1].offset < all->list.data[i].offset &&
                       all->list.data[i - 1].first_reference <= all->list.data[i].first_reference));
    return NULL;
}

void descriptors_deinit(struct descriptors *all)
{
    free(all->list.data);
    free(all->references.data);
    *all = (struct descriptors){0};
}
