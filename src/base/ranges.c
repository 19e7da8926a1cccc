/* ranges; see ranges.h. */
#include "base/contract.h"
#include "base/ranges.h"

#include "base/bisect.h"

bool ranges_add(struct ranges *ranges, uint64_t begin, uint64_t end)
{
    struct range *last = ranges->list.count > 0 ? &ranges->list.data[ranges->list.count - 1] : NULL;
    if (begin >= end)
        return true;
    assert(!last || last->end <= begin);
    if (last && last->end == begin) {
        last->end = end;
        return true;
    }
    return vector_push(&ranges->list, ((struct range){begin, end}));
}

static int ranges_compare(const void *a, const void *b)
{
    const struct range *one = a, *other = b;
    return (one->begin > other->begin) - (one->begin < other->begin);
}

/* Sorts the ranges, and joins those that overlap or touch, in place. */
void ranges_sort(struct ranges *ranges)
{
    struct range *list = ranges->list.data, *last = NULL;
    const size_t count = ranges->list.count;
    vector_sort(&ranges->list, ranges_compare);
    ranges->list.count = 0;
    for (size_t i = 0; i < count; i++) {
        if (last && list[i].begin <= last->end) {
            last->end = list[i].end > last->end ? list[i].end : last->end;
        } else if (list[i].begin < list[i].end) {
            last = &list[ranges->list.count++];
            *last = list[i];
        }
    }
}

/* Holes shorter than LEAST_HOLE are not worth the look-up. */
void ranges_drop_short(struct ranges *ranges)
{
    struct range *list = ranges->list.data;
    size_t kept = 0;
    for (size_t i = 0; i < ranges->list.count; i++)
        if (list[i].end - list[i].begin >= LEAST_HOLE)
            list[kept++] = list[i];
    ranges->list.count = kept;
}

/* Finds the first range that ends after from by bisection, and cuts it to [from, end). */
bool ranges_next(const struct ranges *ranges, uint64_t from, uint64_t end, struct range *ret)
{
    const struct range *list = ranges->list.data;
    size_t at;
    BISECT(at, ranges->list.count, list[at].end <= from);
    assert(at == 0 || at == ranges->list.count || list[at - 1].end <= list[at].begin);
    if (at == ranges->list.count || list[at].begin >= end || from >= end) {
        *ret = (struct range){end, end};
        return false;
    }
    *ret = range_intersect(list[at], (struct range){from, end});
    return true;
}

uint64_t ranges_trim(const struct ranges *ranges, uint64_t from, uint64_t end)
{
    const struct range *list = ranges->list.data;
    size_t at;
    BISECT(at, ranges->list.count, list[at].end < end);
    if (at == ranges->list.count || list[at].begin >= end)
        return end;
    return list[at].begin > from ? list[at].begin : from;
}

uint64_t ranges_bytes(const struct ranges *ranges, uint64_t from, uint64_t end)
{
    struct range range;
    uint64_t bytes = 0;
    for (; ranges_next(ranges, from, end, &range); from = range.end)
        bytes += range.end - range.begin;
    return bytes;
}

void ranges_deinit(struct ranges *ranges)
{
    free(ranges->list.data);
    *ranges = (struct ranges){0};
}
