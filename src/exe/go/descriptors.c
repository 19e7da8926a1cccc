/* descriptors: reads the parts of descriptors; see descriptors.h. descriptors_find.c finds them. */
#include "exe/go/descriptors.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/bytes.h"
#include "base/contract.h"
#include "base/cursor.h"
#include "exe/go/descriptor_layout.h"

enum { NAME_CHECKED = 64 }; /* first bytes of a name, which must be text; checking all is slow */

/* ---- layout ---- */

/* The kind-specific fields follow the header (internal/abi/type.go). */
unsigned descriptor_base_size(const struct descriptors *all, uint8_t kind)
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

uint64_t descriptor_parts_offset(const struct descriptors *all, uint64_t offset)
{
    return offset + descriptor_base_size(all, kind_at(all, offset)) +
           (flags_at(all, offset) & TFLAG_UNCOMMON ? UNCOMMON_SIZE : 0);
}

/* ---- names ---- */

/* A name is a byte of flags, its length, and its text. The length is a varint since Go 1.17, and
 * two bytes before. */
bool descriptor_read_name(const struct descriptors *all, uint64_t offset, struct g2h_bytes *ret,
                          uint8_t *ret_flags)
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
    for (uint64_t i = 0; i < size && i < NAME_CHECKED; i++)
        if (cursor.at[i] < 0x20 || cursor.at[i] == 0x7f)
            return false;
    *ret = (struct g2h_bytes){cursor.at, size < NAME_MOST ? size : NAME_MOST};
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

/* With TFLAG_EXTRA_STAR the string is "*T" though the type is T: the linker shares the string with
 * the type *T. */
struct g2h_bytes descriptor_header_name(const struct descriptors *all, uint64_t offset)
{
    const struct g2h_bytes name = descriptors_name_at(all, u32_at(all, string_of(all, offset)));
    if ((flags_at(all, offset) & TFLAG_EXTRA_STAR) == 0)
        return name;
    if (name.size == 0 || name.data[0] != '*')
        return bytes_none;
    return (struct g2h_bytes){name.data + 1, name.size - 1};
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

/* Tests what the compiler guarantees, the cheapest first, since each word of read-only data is
 * tested. */
bool descriptor_is_header(const struct descriptors *all, uint64_t offset)
{
    const uint8_t *flags = all->data + descriptor_flags_of(all, offset);
    const uint8_t known_flags = 63, kind = flags[3] & KIND_MASK;
    if (kind == TYPE_INVALID || kind >= TYPE_KINDS || flags[0] > known_flags ||
        !is_alignment(flags[1]) || !is_alignment(flags[2]))
        return false;
    const uint64_t size = descriptor_word_at(all, offset),
                   pointers = descriptor_word_at(all, offset + all->word);
    if (pointers > size || pointers % all->word != 0 || size % flags[1] != 0 ||
        (sizes[kind] > 0 && size != (uint64_t)sizes[kind]) ||
        (sizes[kind] < 0 && size != (uint64_t)-sizes[kind] * all->word))
        return false;
    const uint32_t pointer_to_this = u32_at(all, string_of(all, offset) + 4);
    return pointer_to_this < all->size && pointer_to_this % all->word == 0 &&
           descriptor_header_name(all, offset).size > 0;
}

struct g2h_bytes descriptors_peek(const struct image *image, uint64_t start, const uint8_t *data,
                                  uint64_t size, bool varint_names, uint64_t address)
{
    const uint64_t most = size < RANGE_MOST ? size : RANGE_MOST;
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
    return all->data[descriptor_flags_of(all, all->list.data[index].offset) + 3];
}

struct g2h_bytes descriptor_name(const struct descriptors *all, size_t index)
{
    assert(index < all->list.count);
    return descriptor_header_name(all, all->list.data[index].offset);
}

struct g2h_bytes descriptor_package(const struct descriptors *all, size_t index)
{
    const uint64_t offset = all->list.data[index].offset;
    if ((flags_at(all, offset) & TFLAG_UNCOMMON) == 0)
        return descriptors_name_at(all, 0);
    return descriptors_name_at(
        all, u32_at(all, offset + descriptor_base_size(all, kind_at(all, offset))));
}

const uint8_t *descriptor_mask(const struct descriptors *all, size_t index)
{
    const uint64_t words = descriptor_pointer_bytes(all, index) / all->word,
                   mask = descriptor_word_at(all, all->list.data[index].offset + 3 * all->word + 8);
    if (words == 0 || (descriptor_kind(all, index) & KIND_GC_PROG) != 0 ||
        (descriptor_flags(all, index) & TFLAG_GC_MASK_ON_DEMAND) != 0)
        return NULL;
    return image_at(all->image, mask, (words + 7) / 8);
}

size_t descriptor_reference_count(const struct descriptors *all, size_t index)
{
    return (size_t)(reference_end(all, index) - all->list.data[index].first_reference);
}

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

unsigned descriptor_parameters(const struct descriptors *all, size_t index, bool *ret_variadic)
{
    const uint8_t *counts = all->data + all->list.data[index].offset + descriptor_header_size(all);
    *ret_variadic = (image_u16(all->image, counts + 2) & 0x8000) != 0;
    return image_u16(all->image, counts);
}

/* Until Go 1.18 the lowest bit of the offset says whether the field is embedded, since 1.19 a flag
 * of its name. */
struct descriptor_field descriptor_field(const struct descriptors *all, size_t index, size_t number)
{
    assert(number < descriptor_reference_count(all, index));
    const uint64_t at = descriptor_parts_offset(all, all->list.data[index].offset) +
                        3 * (uint64_t)number * all->word;
    struct descriptor_field field = {bytes_none, 0, false};
    const uint8_t embedded = 8;
    uint8_t flags = 0;
    descriptor_read_name(all, descriptor_word_at(all, at) - all->start, &field.name, &flags);
    field.offset = descriptor_word_at(all, at + 2 * all->word);
    field.embedded = (flags & embedded) != 0 || field.name.size == 0;
    if (all->shifted_fields) {
        field.embedded = (field.offset & 1) != 0;
        field.offset >>= 1;
    }
    return field;
}
