/*
 * descriptors_find: finds the descriptors of an executable; see descriptors.h.
 *
 * Each word at which a header may begin is a candidate. A candidate is bad if a type that it is
 * composed of is not a candidate or is bad, or if it disagrees with the types that it is composed
 * of.
 */
#include <stdlib.h>

#include "base/contract.h"
#include "exe/go/descriptor_layout.h"

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

/* Reads the length of a descriptor's slice of parts. The compiler writes the parts after the
 * descriptor; returns false if they are elsewhere, or not in the range. */
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
    const uint64_t parts = offset + descriptor_header_size(all), word = all->word;
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
    case TYPE_ARRAY:
        count = 2;
        first = parts;
        break;
    case TYPE_MAP:
        count = 3;
        first = parts;
        break;
    case TYPE_FUNC:
        count = (uint64_t)image_u16(all->image, all->data + parts) +
                (image_u16(all->image, all->data + parts + 2) & 0x7fff);
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

/* Lists all offsets where a header may begin. Returns false if memory runs out. */
static bool list_headers(struct descriptors *all)
{
    const unsigned header = descriptor_header_size(all);
    all->list.count = 0;
    for (uint64_t offset = 0; descriptors_have(all, offset, header); offset += all->word) {
        struct descriptor found = {(uint32_t)offset, 0};
        if (descriptor_is_header(all, offset) && !vector_push(&all->list, found))
            return false;
    }
    return true;
}

/* Finds the types that each candidate is composed of, and marks a candidate as bad if one of them
 * is missing. Returns false if memory runs out. */
static bool resolve_references(struct descriptors *all, struct descriptor_search *search)
{
    for (size_t i = 0; i < all->list.count; i++)
        search->by_offset[all->list.data[i].offset / all->word] = (uint32_t)i + 1;
    for (size_t i = 0; i < all->list.count; i++) {
        struct descriptor *own = &all->list.data[i];
        bool good;
        own->first_reference = (uint32_t)all->references.count;
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
enum { MAP_FORMS = sizeof(map_forms) / sizeof(map_forms[0]) };

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
    const uint64_t parts = all->list.data[index].offset + descriptor_header_size(all),
                   word = all->word, size_at = parts + form->size_words * word + form->size_bytes;
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
    const uint64_t fifth = descriptor_word_at(all, parts + 5 * word),
                   seventh = descriptor_word_at(all, parts + 7 * word);
    return form->words == 7 ? fifth == (size - 8) / 8 : fifth == 8 && seventh >= 8;
}

/* Returns whether the fields of a struct ascend and are inside it; shifted: their offsets are
 * shifted. */
static bool fields_fit(const struct descriptors *all, size_t index, bool shifted)
{
    uint64_t end = 0, size = descriptor_size(all, index);
    for (size_t i = 0; i < descriptor_reference_count(all, index); i++) {
        uint64_t offset = descriptor_field(all, index, i).offset;
        if (shifted && !all->shifted_fields)
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
    const uint64_t offset = all->list.data[index].offset, size = descriptor_size(all, index);
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
    const size_t count = all->list.count, references = all->references.count;
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
                users[first[all->references.data[j] + 1]++] = (uint32_t)i;
            if (bad[i])
                stack[depth++] = (uint32_t)i;
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

struct g2h_error *descriptors_init(struct descriptors *all, const struct image *image,
                                   uint64_t start, uint64_t size)
{
    *all = (struct descriptors){.image = image, .start = start, .word = image->is_64 ? 8 : 4};
    all->size = size < RANGE_MOST ? size : RANGE_MOST;
    all->data = image_at(image, start, all->size);
    if (!all->data || all->size < descriptor_header_size(all) || start % all->word != 0)
        return NULL;
    /* If names are read in the wrong way, most descriptors have no name: both ways are tried. */
    if (!list_headers(all))
        return &error_no_memory;
    const size_t with_two_bytes = all->list.count;
    all->varint_names = true;
    if (!list_headers(all))
        return &error_no_memory;
    all->varint_names = all->list.count >= with_two_bytes;
    if ((!all->varint_names && !list_headers(all)) || !descriptor_check(all))
        return &error_no_memory;
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
