/*
 * kept: reads the descriptions of roots that are kept for cleanups; see kept.h. kept_split()
 * divides one into what is kept and the address of the object that the cleanup is for; kept_boxes()
 * finds which box of an argument belongs to which closure.
 */
#include "base/contract.h"
#include "heap/kept.h"

#include <string.h>

/* Removes the address from the description of a kept object, and returns it, or 0. Parses the
 * hexadecimal address after " of 0x"; anything else there means that the description has none. */
uint64_t kept_split(struct g2h_bytes *description)
{
    static const char of[] = " of 0x";
    const size_t size = sizeof(of) - 1;
    const uint8_t *end = description->data + description->size;
    const uint8_t *found = NULL;
    if (description->size > 0)
        found = memmem(description->data, description->size, of, size);
    uint64_t address = 0;
    for (const uint8_t *at = found ? found + size : end; at < end; at++) {
        const char *digits = "0123456789abcdef";
        const char *digit = *at ? strchr(digits, *at) : NULL;
        if (!digit)
            return 0;
        address = address << 4 | as_size(digit - digits);
    }
    if (address != 0)
        description->size = as_size(found - description->data);
    return address;
}

/* Returns whether a description is exactly this name. */
static bool kept_is_named(const struct g2h_bytes *description, const char *name)
{
    return description->size == strlen(name) && memcmp(description->data, name, strlen(name)) == 0;
}

/* Finds the box with the argument of each cleanup. A cleanup's caller and the box with its argument
 * are two records, one after the other. Returns false if memory runs out. */
bool kept_boxes(const struct g2h_heap *heap, struct map *ret_boxes)
{
    uint32_t caller = UINT32_MAX, first;
    uint64_t of = 0;
    /* An object may have several cleanups, so a box belongs to the caller just before it. */
    for (size_t i = 0; i < heap->records[G2H_RECORD_OTHERROOT].count; i++) {
        struct g2h_record record;
        g2h_heap_record(heap, G2H_RECORD_OTHERROOT, i, &record);
        struct g2h_bytes description = record.otherroot.description;
        const uint64_t cleaned = kept_split(&description);
        const uint32_t object = heap_find(heap, record.otherroot.pointer);
        if (kept_is_named(&description, "argument of a cleanup") && cleaned != 0 && cleaned == of &&
            caller != UINT32_MAX && object != UINT32_MAX &&
            !map_put(ret_boxes, caller, object, &first))
            return false;
        of = kept_is_named(&description, "cleanup's caller") ? cleaned : 0;
        caller = object;
    }
    return true;
}
