/* number_set; see number_set.h. */
#include "base/contract.h"
#include "base/number_set.h"

#include <stdlib.h>

#include "base/memory.h"

/* Doubles the table and moves all entries. Returns false if memory runs out. */
static bool number_set_grow(struct number_set *set)
{
    const size_t slots = set->entries ? (set->mask + 1) * 2 : 64;
    const struct number_set old = *set;
    struct number_entry *entries = zeroed_alloc(slots, sizeof(*entries));
    if (!entries)
        return false;
    set->entries = entries;
    set->mask = slots - 1;
    for (size_t i = 0; old.entries && i <= old.mask; i++)
        if (old.entries[i].bits != 0)
            *number_slot(set, old.entries[i].group) = old.entries[i];
    free(old.entries);
    return true;
}

/* At most half of the slots are used, so that searches stay short. */
bool number_set_add_group(struct number_set *set, uint64_t number)
{
    const uint64_t turned = number_turned(number);
    if ((!set->entries || set->used * 2 > set->mask) && !number_set_grow(set))
        return false;
    *number_slot(set, turned >> 5) =
        (struct number_entry){.group = turned >> 5, .bits = (uint32_t)1 << (turned & 31)};
    set->used++;
    set->count++;
    return true;
}

/* Undoes number_turned() for each bit. */
void number_set_members(const struct number_set *set, uint64_t *ret)
{
    for (size_t i = 0; set->entries && i <= set->mask; i++)
        for (uint32_t bits = set->entries[i].bits; bits != 0; bits &= bits - 1) {
            const uint64_t turned = set->entries[i].group << 5 | (unsigned)__builtin_ctz(bits);
            *ret++ = turned << 2 | turned >> 62;
        }
}

void number_set_rank(struct number_set *set)
{
    uint32_t rank = 0;
    for (size_t i = 0; set->entries && i <= set->mask; i++) {
        set->entries[i].rank = rank;
        rank += (uint32_t)__builtin_popcount(set->entries[i].bits);
    }
    assert(rank == set->count);
}

void number_set_deinit(struct number_set *set)
{
    free(set->entries);
    *set = (struct number_set){0};
}
