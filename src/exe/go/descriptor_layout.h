/*
 * descriptor_layout: the offsets of the parts of descriptors, for descriptors.c and
 * descriptors_find.c; the rest of the program uses descriptors.h.
 *
 * Layouts are those of internal/abi/type.go and map*.go, before Go 1.21 runtime/type.go and
 * reflect/type.go, and of cmd/compile/internal/reflectdata/reflect.go. The header has been the same
 * from 1.7 to 1.27: Size_, PtrBytes, Hash, TFlag, Align_, FieldAlign_, Kind_, Equal, GCData, Str,
 * PtrToThis. The part after the header has been the same as well, except in map types.
 *
 * All offsets count from runtime.types.
 */
#ifndef EXE_GO_DESCRIPTOR_LAYOUT_H
#define EXE_GO_DESCRIPTOR_LAYOUT_H

#include "exe/go/descriptors.h"

enum { UNCOMMON_SIZE = 16 }; /* of abi.UncommonType */

#define RANGE_MOST ((uint64_t)INT32_MAX) /* NameOff and TypeOff have no more bits */

static inline uint64_t descriptor_word_at(const struct descriptors *all, uint64_t offset)
{
    return image_word(all->image, all->data + offset);
}

static inline uint32_t u32_at(const struct descriptors *all, uint64_t offset)
{
    return image_u32(all->image, all->data + offset);
}

/* Returns whether the range has size bytes at an offset. */
static inline bool descriptors_have(const struct descriptors *all, uint64_t offset, uint64_t size)
{
    return offset <= all->size && size <= all->size - offset;
}

static inline unsigned descriptor_header_size(const struct descriptors *all)
{
    return 4 * all->word + 16;
}

/* Return the offsets of TFlag and Str of the header that begins at an offset. */
static inline uint64_t descriptor_flags_of(const struct descriptors *all, uint64_t offset)
{
    return offset + 2 * all->word + 4;
}

static inline uint64_t string_of(const struct descriptors *all, uint64_t offset)
{
    return offset + 4 * all->word + 8;
}

static inline uint8_t flags_at(const struct descriptors *all, uint64_t offset)
{
    return all->data[descriptor_flags_of(all, offset)];
}

static inline uint8_t kind_at(const struct descriptors *all, uint64_t offset)
{
    return all->data[descriptor_flags_of(all, offset) + 3] & KIND_MASK;
}

/* Returns the size of a descriptor of a kind, up to its uncommon type. */
unsigned descriptor_base_size(const struct descriptors *all, uint8_t kind);

/* Returns the offset of a descriptor's parameters, methods or fields: they follow its uncommon
 * type. */
uint64_t descriptor_parts_offset(const struct descriptors *all, uint64_t offset);

/* Returns whether a header may begin at an offset: whether its fields are valid by themselves. */
bool descriptor_is_header(const struct descriptors *all, uint64_t offset);

/* Reads a name, which is a byte of flags, the length and the bytes. A long name is cut. Returns
 * false if the name is not in the range, or is not text. */
bool descriptor_read_name(const struct descriptors *all, uint64_t offset, struct g2h_bytes *ret,
                          uint8_t *ret_flags);

/* Returns the name of the type whose header is at an offset; it is empty if the header is
 * damaged. */
struct g2h_bytes descriptor_header_name(const struct descriptors *all, uint64_t offset);

/* Returns the index in all->references where the references of a descriptor end. */
static inline uint64_t reference_end(const struct descriptors *all, size_t index)
{
    return index + 1 < all->list.count ? all->list.data[index + 1].first_reference
                                       : all->references.count;
}

#endif
