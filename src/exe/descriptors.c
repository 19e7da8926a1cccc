/*
 * descriptors; see descriptors.h. Layouts: internal/abi/type.go and map*.go, before Go 1.21
 * runtime/type.go and reflect/type.go, and cmd/compile/internal/reflectdata/reflect.go.
 *
 * The header is the same from 1.7 to 1.27, and so is what follows it but for map types: Size_,
 * PtrBytes, Hash, TFlag, Align_, FieldAlign_, Kind_, Equal, GCData, Str, PtrToThis.
 */
#include "exe/descriptors.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"

enum {
    UNCOMMON_SIZE = 16,
    NAME_CHECKED = 64, /* so many bytes of a name must be text: no more, lest damage cost time */
};

#define NONE       UINT32_MAX
#define RANGE_MOST ((uint64_t)INT32_MAX) /* of a NameOff or TypeOff */

/* ---- numbers ---- */

static uint64_t word_at(const struct descriptors *all, uint64_t offset)
{
    return image_word(all->image, all->data + offset);
}

static uint32_t u32_at(const struct descriptors *all, uint64_t offset)
{
    return image_u32(all->image, all->data + offset);
}

static unsigned header_size(const struct descriptors *all)
{
    return 4 * all->word + 16;
}

/* Where parts of the header are. */
static uint64_t flags_of(const struct descriptors *all, uint64_t offset)
{
    return offset + 2 * all->word + 4;
}

static uint64_t string_of(const struct descriptors *all, uint64_t offset)
{
    return offset + 4 * all->word + 8;
}

static uint8_t flags_at(const struct descriptors *all, uint64_t offset)
{
    return all->data[flags_of(all, offset)];
}

static uint8_t kind_at(const struct descriptors *all, uint64_t offset)
{
    return all->data[flags_of(all, offset) + 3] & KIND_MASK;
}

/* The size of what is there of each descriptor of a kind. */
static unsigned base_size(const struct descriptors *all, uint8_t kind)
{
    switch (kind) {
    case TYPE_POINTER:
    case TYPE_SLICE:
    case TYPE_FUNC: /* two counts of 16 bits, and padding */
        return header_size(all) + all->word;
    case TYPE_CHAN:
        return header_size(all) + 2 * all->word;
    case TYPE_ARRAY:
        return header_size(all) + 3 * all->word;
    case TYPE_INTERFACE:
    case TYPE_STRUCT: /* PkgPath and a slice */
        return header_size(all) + 4 * all->word;
    case TYPE_MAP:
        return all->map_size;
    default:
        return header_size(all);
    }
}

/* The parameters, methods or fields follow base and uncommon type. */
static uint64_t behind(const struct descriptors *all, uint64_t offset)
{
    return offset + base_size(all, kind_at(all, offset)) +
           (flags_at(all, offset) & TFLAG_UNCOMMON ? UNCOMMON_SIZE : 0);
}

static bool has(const struct descriptors *all, uint64_t offset, uint64_t size)
{
    return offset <= all->size && size <= all->size - offset;
}

/* ---- names ---- */

/* A byte of flags, the length, the text, which is cut where it is long; false where that is not in
 * the range or is no text. */
static bool read_name(const struct descriptors *all, uint64_t offset, struct g2h_bytes *ret,
                      uint8_t *ret_flags)
{
    const uint8_t known_flags = 15; /* exported, tag, package path, embedded (from 1.19) */
    if (!has(all, offset, 3) || all->data[offset] > known_flags)
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

/* The name at an offset from runtime.types, empty where there is none. */
static struct g2h_bytes name_at(const struct descriptors *all, uint64_t offset)
{
    struct g2h_bytes name = {(const uint8_t *)"", 0};
    uint8_t flags;
    if (offset != 0)
        read_name(all, offset, &name, &flags);
    return name;
}

/* The name of the type whose header is at offset; empty where it is none. */
static struct g2h_bytes type_name(const struct descriptors *all, uint64_t offset)
{
    struct g2h_bytes none = {(const uint8_t *)"", 0},
                     name = name_at(all, u32_at(all, string_of(all, offset)));
    if ((flags_at(all, offset) & TFLAG_EXTRA_STAR) == 0)
        return name;
    if (name.size == 0 || name.data[0] != '*')
        return none;
    return (struct g2h_bytes){name.data + 1, name.size - 1};
}

/* ---- one by one ---- */

/* Bytes; negative: words; 0: any. */
static const int8_t sizes[TYPE_KINDS] = {
    [TYPE_BOOL] = 1,     [TYPE_INT] = -1,    [TYPE_INT8] = 1,       [TYPE_INT16] = 2,
    [TYPE_INT32] = 4,    [TYPE_INT64] = 8,   [TYPE_UINT] = -1,      [TYPE_UINT8] = 1,
    [TYPE_UINT16] = 2,   [TYPE_UINT32] = 4,  [TYPE_UINT64] = 8,     [TYPE_UINTPTR] = -1,
    [TYPE_FLOAT32] = 4,  [TYPE_FLOAT64] = 8, [TYPE_COMPLEX64] = 8,  [TYPE_COMPLEX128] = 16,
    [TYPE_CHAN] = -1,    [TYPE_FUNC] = -1,   [TYPE_INTERFACE] = -2, [TYPE_MAP] = -1,
    [TYPE_POINTER] = -1, [TYPE_SLICE] = -3,  [TYPE_STRING] = -2,    [TYPE_UNSAFE_POINTER] = -1,
};

static bool is_alignment(uint8_t number)
{
    return number != 0 && number <= 64 && (number & (number - 1)) == 0;
}

/* Whether a header may begin at offset, by itself. */
static bool is_header(const struct descriptors *all, uint64_t offset)
{
    const uint8_t *flags = all->data + flags_of(all, offset);
    const uint8_t known_flags = 63, kind = flags[3] & KIND_MASK;
    if (kind == TYPE_INVALID || kind >= TYPE_KINDS || flags[0] > known_flags ||
        !is_alignment(flags[1]) || !is_alignment(flags[2]))
        return false;
    const uint64_t size = word_at(all, offset), pointers = word_at(all, offset + all->word);
    if (pointers > size || pointers % all->word != 0 || size % flags[1] != 0 ||
        (sizes[kind] > 0 && size != (uint64_t)sizes[kind]) ||
        (sizes[kind] < 0 && size != (uint64_t)-sizes[kind] * all->word))
        return false;
    const uint32_t pointer_to_this = u32_at(all, string_of(all, offset) + 4);
    return pointer_to_this < all->size && pointer_to_this % all->word == 0 &&
           type_name(all, offset).size > 0;
}

/* ---- what they are made of ---- */

struct search {
    uint32_t *by_offset; /* per word: index of the descriptor that begins there, plus 1 */
    bool *bad;           /* per descriptor */
    uint64_t work;       /* references that were followed */
};

/* Notes a type that the last descriptor is made of; *good becomes false where there is none at the
 * address. False where there is no memory. */
static bool add_reference(struct descriptors *all, struct search *search, uint64_t address,
                          bool *good)
{
    const uint64_t offset = address - all->start;
    const uint32_t found =
        offset < all->size && offset % all->word == 0 ? search->by_offset[offset / all->word] : 0;
    search->work++;
    *good = *good && found != 0;
    return !*good || vector_push(&all->references, found - 1);
}

/* The count of a slice whose entries follow the descriptor, as the compiler writes it; false where
 * they do not, or are not in the range. */
static bool read_slice(const struct descriptors *all, uint64_t offset, uint64_t entry_size,
                       uint64_t *ret)
{
    const uint64_t slice = offset + header_size(all) + all->word, first = behind(all, offset);
    *ret = word_at(all, slice + all->word);
    return word_at(all, slice + 2 * all->word) == *ret &&
           (*ret == 0 || word_at(all, slice) == all->start + first) && first <= all->size &&
           *ret <= (all->size - first) / entry_size;
}

/* False where there is no memory; *ret_good: whether the parts make sense, and are there. */
static bool add_references(struct descriptors *all, struct search *search, uint64_t offset,
                           bool *ret_good)
{
    const uint8_t kind = kind_at(all, offset);
    const uint64_t parts = offset + header_size(all), word = all->word;
    uint64_t count = 0, first = 0;
    struct g2h_bytes name;
    uint8_t flags;
    *ret_good =
        has(all, offset, kind == TYPE_MAP ? header_size(all) + 3 * word : base_size(all, kind));
    if (!*ret_good)
        return true;
    switch (kind) {
    case TYPE_CHAN:
        *ret_good = word_at(all, parts + word) - 1 < 3; /* receive, send, both */
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
        first = behind(all, offset);
        *ret_good = has(all, first, count * word);
        break;
    case TYPE_INTERFACE: /* of abi.Imethod: Name, Typ, both offsets */
        *ret_good = read_slice(all, offset, 8, &count);
        first = behind(all, offset);
        for (uint64_t i = 0; *ret_good && i < count; i++, first += 8) {
            *ret_good = read_name(all, u32_at(all, first), &name, &flags);
            if (!add_reference(all, search, all->start + u32_at(all, first + 4), ret_good))
                return false;
        }
        return true;
    case TYPE_STRUCT: /* of abi.StructField: Name, Typ, Offset */
        *ret_good = read_slice(all, offset, 3 * word, &count);
        first = behind(all, offset);
        for (uint64_t i = 0; *ret_good && i < count; i++, first += 3 * word) {
            *ret_good = read_name(all, word_at(all, first) - all->start, &name, &flags);
            if (!add_reference(all, search, word_at(all, first + word), ret_good))
                return false;
        }
        return true;
    }
    for (uint64_t i = 0; *ret_good && i < count; i++)
        if (!add_reference(all, search, word_at(all, first + i * word), ret_good))
            return false;
    return true;
}

/* ---- finding them ---- */

/* Lists all that look like descriptors. */
static bool list_headers(struct descriptors *all)
{
    const unsigned header = header_size(all);
    all->list.count = 0;
    for (uint64_t offset = 0; has(all, offset, header); offset += all->word) {
        struct descriptor found = {(uint32_t)offset, 0};
        if (is_header(all, offset) && !vector_push(&all->list, found))
            return false;
    }
    return true;
}

static uint64_t reference_end(const struct descriptors *all, size_t index)
{
    return index + 1 < all->list.count ? all->list.data[index + 1].first_reference
                                       : all->references.count;
}

/* Finds what each is made of; those that lack a part are bad. */
static bool resolve(struct descriptors *all, struct search *search)
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
        /* Sound descriptors do not overlap, so they cannot have more. */
        if (search->work > all->size / 4) {
            all->list.count = all->references.count = 0;
            return true;
        }
    }
    return true;
}

/*
 * Releases of map types: where behind the header the size of the bucket or group type is, and the
 * size of all. 1.24 and 1.27 differ in what is behind GroupSize only.
 */
struct map_form {
    uint8_t size_words, size_bytes; /* where it is: so many words, and bytes more */
    uint8_t words, bytes;           /* size of all behind the header */
    bool is_swiss;
};

/* The newest first: at 32 bits, one of the older ones may fit as well. */
static const struct map_form map_forms[] = {
    {4, 0, 10, 4, true}, /* 1.27: KeysOff, KeyStride, ElemsOff, ElemStride, ElemOff, Flags */
    {4, 0, 7, 4, true},  /* 1.24 to 1.26: group, hasher, GroupSize, SlotSize, ElemOff, Flags */
    {4, 2, 4, 8, false}, /* 1.14 to 1.23, and later X:noswissmap: bucket, hasher, sizes */
    {3, 2, 3, 8, false}, /* 1.12, 1.13: bucket, sizes */
    {3, 4, 3, 8, false}, /* 1.11: bucket, sizes and flags */
    {4, 4, 4, 8, false}, /* 1.7 to 1.10: bucket, hmap, sizes and flags */
};
enum { MAP_FORMS = sizeof(map_forms) / sizeof(map_forms[0]) };

static unsigned map_form_size(const struct descriptors *all, const struct map_form *form)
{
    unsigned size = header_size(all) + form->words * all->word + form->bytes;
    return (size + all->word - 1) / all->word * all->word;
}

static bool map_fits(const struct descriptors *all, size_t index, const struct map_form *form)
{
    const uint64_t parts = all->list.data[index].offset + header_size(all), word = all->word,
                   place = parts + form->size_words * word + form->size_bytes;
    if (!has(all, parts, 12 * word))
        return false;
    uint64_t size = form->is_swiss ? word_at(all, place) : image_u16(all->image, all->data + place);
    if (size != descriptor_size(all, descriptor_reference(all, index, 2)))
        return false;
    if (!form->is_swiss)
        return true;
    /* Eight control bytes and eight slots; or keys behind the control bytes, then elements. */
    const uint64_t fifth = word_at(all, parts + 5 * word), seventh = word_at(all, parts + 7 * word);
    return form->words == 7 ? fifth == (size - 8) / 8 : fifth == 8 && seventh >= 8;
}

/* The two things that the descriptors do not say of themselves: which of the forms most fit. */
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

static void tell_forms(struct descriptors *all, const struct search *search)
{
    size_t maps[MAP_FORMS] = {0}, plain = 0, shifted = 0, best = 0;
    for (size_t i = 0; i < all->list.count; i++) {
        const uint8_t kind = descriptor_kind(all, i) & KIND_MASK;
        if (search->bad[i])
            continue;
        if (kind == TYPE_STRUCT) {
            plain += fields_fit(all, i, false);
            shifted += fields_fit(all, i, true);
        }
        for (size_t j = 0; kind == TYPE_MAP && j < MAP_FORMS; j++)
            maps[j] += map_fits(all, i, &map_forms[j]);
    }
    for (size_t j = 1; j < MAP_FORMS; j++)
        if (maps[j] > maps[best])
            best = j;
    all->map_size = map_form_size(all, &map_forms[best]);
    all->shifted_fields = shifted > plain;
}

/* Whether a descriptor agrees with the headers of those it is made of. */
static bool agrees(const struct descriptors *all, size_t index)
{
    const uint64_t offset = all->list.data[index].offset, size = descriptor_size(all, index);
    const size_t count = descriptor_reference_count(all, index);
    const uint32_t *parts =
        count > 0 ? all->references.data + all->list.data[index].first_reference : NULL;
    const uint8_t kind = kind_at(all, offset);
    uint64_t product;
    if ((flags_at(all, offset) & TFLAG_UNCOMMON) != 0) {
        const uint64_t uncommon = offset + base_size(all, kind);
        if (!has(all, uncommon, UNCOMMON_SIZE) || u32_at(all, uncommon) >= all->size)
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

/* What is made of something bad is bad: from each bad one to those that refer to it. */
static bool spread(const struct descriptors *all, bool *bad)
{
    const size_t count = all->list.count, references = all->references.count;
    uint32_t *first = calloc(count + 2, sizeof(*first)); /* of those who refer to it */
    uint32_t *users = malloc((references + 1) * sizeof(*users));
    uint32_t *stack = malloc((count + 1) * sizeof(*stack));
    const bool good = first && users && stack;
    size_t depth = 0;
    if (good) {
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

/* Drops the bad ones; by_offset gets the new numbers. */
static void compact(struct descriptors *all, struct search *search)
{
    size_t kept = 0, references = 0;
    uint32_t *numbers = search->by_offset; /* its old contents are not needed any more */
    const size_t count = all->list.count;
    for (size_t i = 0; i < count; i++)
        numbers[i] = search->bad[i] ? NONE : (uint32_t)kept++;
    kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct descriptor own = all->list.data[i];
        const size_t end = reference_end(all, i);
        if (search->bad[i])
            continue;
        all->list.data[kept++] = (struct descriptor){own.offset, (uint32_t)references};
        for (size_t j = own.first_reference; j < end; j++)
            all->references.data[references++] = numbers[all->references.data[j]];
    }
    all->list.count = kept;
    all->references.count = references;
}

static bool check(struct descriptors *all)
{
    struct search search = {
        .by_offset = calloc((size_t)(all->size / all->word) + 1, sizeof(*search.by_offset)),
        .bad = calloc(all->list.count + 1, sizeof(*search.bad)),
    };
    bool good = search.by_offset && search.bad && resolve(all, &search);
    if (good) {
        tell_forms(all, &search);
        for (size_t i = 0; i < all->list.count; i++)
            if (!search.bad[i] && !agrees(all, i))
                search.bad[i] = true;
        good = spread(all, search.bad);
    }
    if (good)
        compact(all, &search);
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
    if (!all->data || all->size < header_size(all) || start % all->word != 0)
        return NULL;
    /* Names read the wrong way are none, mostly: more descriptors have one read the right way. */
    if (!list_headers(all))
        return &error_no_memory;
    const size_t with_two_bytes = all->list.count;
    all->varint_names = true;
    if (!list_headers(all))
        return &error_no_memory;
    all->varint_names = all->list.count >= with_two_bytes;
    if ((!all->varint_names && !list_headers(all)) || !check(all))
        return &error_no_memory;
    return NULL;
}

void descriptors_deinit(struct descriptors *all)
{
    free(all->list.data);
    free(all->references.data);
    *all = (struct descriptors){0};
}

struct g2h_bytes descriptors_peek(const struct image *image, uint64_t start, const uint8_t *data,
                                  uint64_t size, bool varint_names, uint64_t address)
{
    const struct descriptors all = {.image = image,
                                    .start = start,
                                    .data = data,
                                    .size = size < RANGE_MOST ? size : RANGE_MOST,
                                    .word = image->is_64 ? 8 : 4,
                                    .varint_names = varint_names};
    const uint64_t offset = address - start;
    if (address < start || offset % all.word != 0 || !has(&all, offset, header_size(&all)) ||
        !is_header(&all, offset))
        return (struct g2h_bytes){(const uint8_t *)"", 0};
    return type_name(&all, offset);
}

/* ---- asking ---- */

uint64_t descriptor_size(const struct descriptors *all, size_t index)
{
    return word_at(all, all->list.data[index].offset);
}

uint64_t descriptor_pointer_bytes(const struct descriptors *all, size_t index)
{
    return word_at(all, all->list.data[index].offset + all->word);
}

uint8_t descriptor_flags(const struct descriptors *all, size_t index)
{
    return flags_at(all, all->list.data[index].offset);
}

uint8_t descriptor_kind(const struct descriptors *all, size_t index)
{
    return all->data[flags_of(all, all->list.data[index].offset) + 3];
}

struct g2h_bytes descriptor_name(const struct descriptors *all, size_t index)
{
    return type_name(all, all->list.data[index].offset);
}

struct g2h_bytes descriptor_package(const struct descriptors *all, size_t index)
{
    const uint64_t offset = all->list.data[index].offset;
    if ((flags_at(all, offset) & TFLAG_UNCOMMON) == 0)
        return name_at(all, 0);
    return name_at(all, u32_at(all, offset + base_size(all, kind_at(all, offset))));
}

const uint8_t *descriptor_mask(const struct descriptors *all, size_t index)
{
    const uint64_t words = descriptor_pointer_bytes(all, index) / all->word,
                   mask = word_at(all, all->list.data[index].offset + 3 * all->word + 8);
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
    return all->references.data[all->list.data[index].first_reference + number];
}

uint64_t descriptor_length(const struct descriptors *all, size_t index)
{
    return word_at(all, all->list.data[index].offset + header_size(all) + 2 * all->word);
}

unsigned descriptor_direction(const struct descriptors *all, size_t index)
{
    return (unsigned)word_at(all, all->list.data[index].offset + header_size(all) + all->word);
}

unsigned descriptor_parameters(const struct descriptors *all, size_t index, bool *ret_variadic)
{
    const uint8_t *counts = all->data + all->list.data[index].offset + header_size(all);
    *ret_variadic = (image_u16(all->image, counts + 2) & 0x8000) != 0;
    return image_u16(all->image, counts);
}

struct descriptor_field descriptor_field(const struct descriptors *all, size_t index, size_t number)
{
    const uint64_t place =
        behind(all, all->list.data[index].offset) + 3 * (uint64_t)number * all->word;
    struct descriptor_field field = {{(const uint8_t *)"", 0}, 0, false};
    const uint8_t embedded = 8;
    uint8_t flags = 0;
    read_name(all, word_at(all, place) - all->start, &field.name, &flags);
    field.offset = word_at(all, place + 2 * all->word);
    field.embedded = (flags & embedded) != 0 || field.name.size == 0;
    if (all->shifted_fields) {
        field.embedded = (field.offset & 1) != 0;
        field.offset >>= 1;
    }
    return field;
}
