/* map; see map.h. */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

static struct map_entry *find(struct map_entry *entries, size_t mask, uint64_t key)
{
    size_t slot = (size_t)map_hash(key) & mask;
    while (entries[slot].value != MAP_NONE && entries[slot].key != key)
        slot = (slot + 1) & mask;
    return &entries[slot];
}

static bool grow(struct map *map)
{
    size_t slots = map->entries ? (map->mask + 1) * 2 : 64;
    struct map_entry *entries = malloc(slots * sizeof(*entries));
    if (!entries)
        return false;
    memset(entries, 0xff, slots * sizeof(*entries));
    for (size_t i = 0; map->entries && i <= map->mask; i++)
        if (map->entries[i].value != MAP_NONE)
            *find(entries, slots - 1, map->entries[i].key) = map->entries[i];
    free(map->entries);
    map->entries = entries;
    map->mask = slots - 1;
    return true;
}

bool map_put(struct map *map, uint64_t key, uint32_t value, uint32_t *ret)
{
    if ((!map->entries || map->count * 2 > map->mask) && !grow(map))
        return false;
    struct map_entry *entry = find(map->entries, map->mask, key);
    if (entry->value == MAP_NONE) {
        *entry = (struct map_entry){key, value};
        map->count++;
    }
    *ret = entry->value;
    return true;
}

void map_set(struct map *map, uint64_t key, uint32_t value)
{
    find(map->entries, map->mask, key)->value = value;
}

void map_deinit(struct map *map)
{
    free(map->entries);
    *map = (struct map){0};
}
