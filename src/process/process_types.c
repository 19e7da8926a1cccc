/* process_types; see process_types.h. Layouts: internal/abi/type.go, runtime/type.go of each
 * release. */
#include "process/process_types.h"

#include "base/cursor.h"
#include "base/release.h"

/* Bits of tflag and kind. */
enum { UNCOMMON = 1, EXTRA_STAR = 2, NAMED = 4, KIND_MASK = 31, DIRECT_IFACE = 32 };

enum { KIND_ARRAY = 17, CHAN, FUNC, INTERFACE, MAP, POINTER, SLICE, STRING, STRUCT };

/* Returns the size of a kind's descriptor; it is followed by the uncommon part, which not all types
 * have. */
static uint64_t process_types_descriptor_size(const struct runtime *runtime, unsigned kind)
{
    const bool is_swiss = runtime->minor >= 24 && !go_release_parse(runtime->version).no_swiss_maps;
    switch (kind) {
    case POINTER:
    case SLICE:
    case FUNC:
        return 56;
    case CHAN:
        return 64;
    case KIND_ARRAY:
        return 72;
    case STRUCT:
    case INTERFACE:
        return 80;
    case MAP:
        if (!is_swiss)
            return 88;
        return runtime->minor >= 27 ? 136 : 112;
    default:
        return 48;
    }
}

/* Returns the string at an offset from the start of types, which is preceded by flags and a length
 * of up to ten bytes, the last of which is below 80 (hex). It is empty if its bytes are missing. */
static struct g2h_bytes name_at(const struct runtime *runtime, uint64_t types, uint64_t offset)
{
    enum { SHORTEST_HEADER = 2, LONGEST_HEADER = 11 };
    const struct g2h_bytes none = {(const uint8_t *)"", 0};
    const uint64_t address = types + offset;
    const uint8_t *bytes = NULL;
    uint64_t header = SHORTEST_HEADER - 1, size;
    do {
        bytes = memory_at(runtime->memory, address, ++header);
    } while (bytes && (bytes[header - 1] & 0x80) != 0 && header < LONGEST_HEADER);
    if (offset == 0 || !bytes)
        return none;
    struct cursor cursor = {bytes + 1, bytes + header};
    if (!cursor_uvarint(&cursor, &size))
        return none;
    const uint8_t *text = memory_at(runtime->memory, address + (uint64_t)(cursor.at - bytes), size);
    return text ? (struct g2h_bytes){text, size} : none;
}

/* Returns the name of a named type without its package: the part after the last dot outside type
 * arguments. */
static struct g2h_bytes without_package(struct g2h_bytes text)
{
    int brackets = 0;
    uint64_t at = text.size;
    for (; at > 0 && (text.data[at - 1] != '.' || brackets != 0); at--)
        brackets += (text.data[at - 1] == ']') - (text.data[at - 1] == '[');
    return (struct g2h_bytes){text.data + at, text.size - at};
}

/* The name is given as the runtime's dumper does: package path and name apart. */
bool process_type_read(const struct runtime *runtime, uint64_t address, struct process_type *ret)
{
    const uint64_t types = runtime_types_of(runtime, address);
    uint64_t pointers, flags, kind, offset;
    if (!runtime_peek(runtime, address, LAYOUT_TYPE_SIZE, &ret->size) ||
        !runtime_peek(runtime, address, LAYOUT_TYPE_PTR_BYTES, &pointers) ||
        !runtime_peek(runtime, address, LAYOUT_TYPE_HASH, &ret->hash) ||
        !runtime_peek(runtime, address, LAYOUT_TYPE_TFLAG, &flags) ||
        !runtime_peek(runtime, address, LAYOUT_TYPE_KIND, &kind) ||
        !runtime_peek(runtime, address, LAYOUT_TYPE_STR, &offset))
        return false;
    const uint64_t direct = runtime->minor >= 26 ? flags : kind;
    ret->is_indirect = (direct & DIRECT_IFACE) == 0 || pointers != 0;
    ret->name = name_at(runtime, types, offset);
    if ((flags & EXTRA_STAR) != 0 && ret->name.size > 0)
        ret->name = (struct g2h_bytes){ret->name.data + 1, ret->name.size - 1};
    ret->package = (struct g2h_bytes){(const uint8_t *)"", 0};
    const uint64_t uncommon = address + process_types_descriptor_size(runtime, kind & KIND_MASK);
    if ((flags & UNCOMMON) != 0 && memory_read(runtime->memory, uncommon, 4, &offset))
        ret->package = name_at(runtime, types, offset);
    if (ret->package.size > 0)
        ret->name = (flags & NAMED) != 0 ? without_package(ret->name)
                                         : (struct g2h_bytes){ret->name.data, 0};
    return true;
}
