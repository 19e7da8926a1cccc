/* spoil; see spoil.h. */
#include "spoil.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "differences.h"

/* The number of bytes at the begin of a record, and at its end, that are changed one by one; about
 * STEPS bytes between them are changed too. */
enum { BEGIN = 24, END = 12, STEPS = 16 };

enum outcome { EQUAL, DIFFERS, UNREADABLE };

static enum outcome compare_bytes(const uint8_t *ours, uint64_t size,
                                  const struct listing *reference)
{
    struct comparison comparison = {.both_by_program = true, .reference = *reference};
    struct g2h_input *input = NULL;
    struct g2h_error *error = g2h_input_from_memory("spoiled", ours, size, &input);
    enum outcome ret = UNREADABLE;
    if (!error)
        error = listing_load(input, &comparison.ours);
    if (!error)
        error = compare(&comparison);
    if (!error)
        ret = comparison_differences(&comparison) > 0 ? DIFFERS : EQUAL;
    g2h_error_destroy(error);
    comparison.reference = (struct listing){0}; /* it is the caller's */
    comparison_deinit(&comparison);
    g2h_input_close(input);
    return ret;
}

struct spoiling {
    const struct g2h_input *dump;
    const struct listing *listing;
    uint8_t *copy; /* twice as long as the dump */
    uint64_t tried, unnoticed, differ;
    const char *what;
};

static void try(struct spoiling *spoiling, uint64_t size, const char *how, uint64_t place)
{
    const enum outcome outcome = compare_bytes(spoiling->copy, size, spoiling->listing);
    spoiling->tried++;
    spoiling->differ += outcome == DIFFERS;
    if (outcome != EQUAL)
        return;
    if (spoiling->unnoticed++ < 5)
        printf("# not noticed: %s %s, byte %" PRIu64 "\n", spoiling->what, how, place);
}

/* Flips one bit after the other. */
static void flip(struct spoiling *spoiling, struct g2h_bytes record)
{
    const uint64_t begin = (uint64_t)(record.data - spoiling->dump->data);
    const uint64_t step = record.size / STEPS + 1;
    for (uint64_t i = 0; i < record.size; i += i < BEGIN || i + END >= record.size ? 1
                                               : i + END + step < record.size
                                                   ? step
                                                   : record.size - END - i) {
        uint8_t *byte = &spoiling->copy[begin + i];
        *byte ^= 1;
        try(spoiling, spoiling->dump->size, "flipped", i);
        *byte ^= 1;
    }
}

/* Leaves the record out, writes it twice, or puts it behind the next one. */
static void move(struct spoiling *spoiling, struct g2h_bytes record, struct g2h_bytes next)
{
    const uint8_t *data = spoiling->dump->data;
    const uint64_t size = spoiling->dump->size, begin = (uint64_t)(record.data - data),
                   end = begin + record.size;
    memcpy(spoiling->copy + begin, data + end, size - end);
    try(spoiling, size - record.size, "left out", 0);
    memcpy(spoiling->copy, data, end);
    memcpy(spoiling->copy + end, data + begin, size - begin);
    try(spoiling, size + record.size, "twice", 0);
    memcpy(spoiling->copy, data, size);
    if (next.size == 0)
        return;
    memcpy(spoiling->copy + begin, next.data, next.size);
    memcpy(spoiling->copy + begin + next.size, record.data, record.size);
    try(spoiling, size, "behind the next one", 0);
    memcpy(spoiling->copy + begin, data + begin, record.size + next.size);
}

bool spoil_test(const struct g2h_input *dump)
{
    struct listing listing = {0};
    struct spoiling spoiling = {.dump = dump, .listing = &listing, .copy = malloc(2 * dump->size)};
    bool good = true;
    int tests = 0;
    struct g2h_error *error = listing_load(dump, &listing);
    if (error || !spoiling.copy) {
        printf("not ok - the dump can be read\n");
        return false;
    }
    memcpy(spoiling.copy, dump->data, dump->size);
    if (compare_bytes(dump->data, dump->size, &listing) != EQUAL) {
        printf("not ok - a dump is the same as itself\n");
        good = false;
    } else
        printf("ok %d - a dump is the same as itself\n", ++tests);
    for (int kind = 0; kind < G2H_RECORD_KINDS; kind++) {
        const size_t count = listing.of_kind[kind].count;
        if (count == 0)
            continue;
        spoiling.what = g2h_record_kind_name((enum g2h_record_kind)kind);
        spoiling.tried = spoiling.unnoticed = spoiling.differ = 0;
        for (int third = 1; third <= (count > 2 ? 2 : 1); third++) {
            const uint32_t number = listing.of_kind[kind].data[count * (size_t)third / 3];
            const struct g2h_bytes record = listing_bytes(&listing, number);
            struct g2h_bytes next = {0};
            if (number + 1 < listing.kinds.count)
                next = listing_bytes(&listing, number + 1);
            if (third == 1)
                flip(&spoiling, record);
            if (next.data == record.data + record.size && kind != G2H_RECORD_EOF)
                move(&spoiling, record, next);
        }
        if (kind == G2H_RECORD_EOF)
            flip(&spoiling, listing_bytes(&listing, listing.of_kind[kind].data[0]));
        const bool is_good = spoiling.unnoticed == 0 && spoiling.tried > 0;
        good &= is_good;
        printf("%s %d - %s: what is spoiled is noticed (%" PRIu64 " of %" PRIu64 ", %" PRIu64
               " as a difference)\n",
               is_good ? "ok" : "not ok", ++tests, spoiling.what,
               spoiling.tried - spoiling.unnoticed, spoiling.tried, spoiling.differ);
    }
    printf("1..%d\n", tests);
    listing_deinit(&listing);
    free(spoiling.copy);
    return good;
}
