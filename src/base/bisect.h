/* bisect: binary search. */
#ifndef BASE_BISECT_H
#define BASE_BISECT_H

/*
 * Sets at, a variable of an unsigned type, to the first index in [0, count) for which is_before, an
 * expression that uses at, is false, or to count if there is none. If is_before is false for an
 * index, it must be false for all larger ones, as in a sorted list.
 *
 *     size_t at;
 *     BISECT(at, areas->count, areas->data[at].address <= address);
 */
#define BISECT(at, count, is_before) BISECT_FROM(at, 0, count, is_before)

/* Does what BISECT() does, for indexes in [first, count). */
#define BISECT_FROM(at, first, count, is_before) \
    do { \
        __typeof__(at) bisect_from = (first), bisect_to = (count); \
        while (bisect_from < bisect_to) { \
            (at) = bisect_from + (bisect_to - bisect_from) / 2; \
            if (is_before) \
                bisect_from = (at) + 1; \
            else \
                bisect_to = (at); \
        } \
        (at) = bisect_from; \
    } while (0)

#endif
