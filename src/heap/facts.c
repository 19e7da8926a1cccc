/*
 * facts: reads what follows the end of a dump that was made from outside the process; see facts.h.
 * Each fact is a tag and its numbers (dump/dump_facts.h); a fact that is invalid ends the reading,
 * as if the dump were cut there. Facts about how the process ended, RSS and the collector that only
 * contradict themselves are left out; a sample, or ages, that do end the reading, too.
 */
#include "heap/facts.h"

#include <string.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "dump/dump_facts.h"
#include "heap/heap_ages.h"

/* Orders parts of data by address. */
static int compare_data(const void *a, const void *b)
{
    const struct fact_data *one = a;
    const struct fact_data *other = b;
    return COMPARE(one->address, other->address);
}

/* Orders spans of which pages are absent by address. */
static int compare_absent(const void *a, const void *b)
{
    const struct fact_absent *one = a;
    const struct fact_absent *other = b;
    return COMPARE(one->address, other->address);
}

/* Reads a part of the program's data: its address, its size and its bytes; or of memory that has
 * only zeros (is_zeros), which has no bytes in the file: ret->bytes then is NULL with a size.
 * Returns false if it is invalid. */
static bool read_data(struct cursor *cursor, bool is_zeros, struct fact_data *ret)
{
    uint64_t size;
    if (!cursor_uvarint(cursor, &ret->address) || !cursor_uvarint(cursor, &size) ||
        size > UINT64_MAX - ret->address || size > SIZE_MAX)
        return false;
    ret->bytes = bytes_at(is_zeros ? NULL : cursor->at, size);
    return is_zeros || cursor_skip(cursor, size);
}

/* Reads how the process ended. A time after the year 9999, or a status of more than 16 bits, cannot
 * be: then nothing is set. Returns false if it is cut. */
static bool read_ending(struct cursor *cursor, struct facts *ret)
{
    const uint64_t year_10000 = 253402300800;
    uint64_t seconds, status, flags, resident, peak, limit;
    if (!cursor_uvarint(cursor, &seconds) || !cursor_uvarint(cursor, &status) ||
        !cursor_uvarint(cursor, &flags) || !cursor_uvarint(cursor, &resident) ||
        !cursor_uvarint(cursor, &peak) || !cursor_uvarint(cursor, &limit))
        return false;
    if (seconds >= year_10000 || status > UINT16_MAX)
        return true;
    ret->has_ending = true;
    ret->ending = (struct g2h_ending){.seconds = (int64_t)seconds,
                                      .status = (unsigned)status,
                                      .by_oom = (flags & FACT_BY_OOM) != 0,
                                      .by_group = (flags & FACT_BY_GROUP) != 0,
                                      .resident = resident,
                                      .peak = peak,
                                      .limit = limit};
    return true;
}

/* Reads how much of a process could not be read. Returns false if it is cut. */
static bool read_unread(struct cursor *cursor, struct facts *ret)
{
    return cursor_uvarint(cursor, &ret->conservative_objects) &&
           cursor_uvarint(cursor, &ret->conservative_frames) &&
           cursor_uvarint(cursor, &ret->incomplete_stacks) &&
           cursor_uvarint(cursor, &ret->unread_threads) &&
           cursor_uvarint(cursor, &ret->unread_words);
}

/* Reads RSS and its parts; those that contradict each other change nothing. Returns false if they
 * are cut. Parts that this version does not know are only added up. */
static bool read_resident(struct cursor *cursor, struct facts *ret)
{
    struct g2h_memory memory = {0};
    uint64_t has_counters, count, bytes, sum = 0;
    if (!cursor_uvarint(cursor, &memory.resident) || !cursor_uvarint(cursor, &has_counters) ||
        !cursor_uvarint(cursor, &count))
        return false;
    memory.has_counters = has_counters != 0;
    for (uint64_t i = 0; i < count; i++) {
        if (!cursor_uvarint(cursor, &bytes))
            return false;
        sum = bytes <= UINT64_MAX - sum ? sum + bytes : UINT64_MAX;
        if (i < G2H_MEMORY_PARTS)
            memory.parts[i] = bytes;
    }
    if (sum <= memory.resident)
        ret->memory = memory;
    return true;
}

/* Reads what the collector goes by. With GOGC, more bytes marked than the goal allows contradict
 * each other: then nothing is set. Returns false if it is cut. */
static bool read_collector(struct cursor *cursor, struct facts *ret)
{
    uint64_t percent, limit, marked, goal;
    if (!cursor_uvarint(cursor, &percent) || !cursor_uvarint(cursor, &limit) ||
        !cursor_uvarint(cursor, &marked) || !cursor_uvarint(cursor, &goal))
        return false;
    if (percent > 0 && marked > goal)
        return true;
    ret->collector = (struct g2h_collector){.is_known = true,
                                            .is_off = percent == 0,
                                            .gogc = percent > 0 ? percent - 1 : 0,
                                            .limit = limit,
                                            .marked = marked,
                                            .goal = goal};
    return true;
}

/* Reads count kinds of spans of a sample. Returns false if they are cut, are more than MOST, have
 * numbers beyond any heap, or say that more spans were read than there are; and if memory runs out,
 * in which case *error is set. */
static bool read_kinds(struct cursor *cursor, uint64_t count, struct fact_sample *ret,
                       struct g2h_error **error)
{
    enum { MOST = 256 };
    const uint64_t most = UINT64_C(1) << 40;
    for (uint64_t i = 0; i < count; i++) {
        struct g2h_sample_kind kind = {0};
        uint64_t class;
        if (i == MOST || !cursor_uvarint(cursor, &class) ||
            !cursor_uvarint(cursor, &kind.slot_size) || !cursor_uvarint(cursor, &kind.spans) ||
            !cursor_uvarint(cursor, &kind.spans_read) || !cursor_uvarint(cursor, &kind.objects) ||
            class > UINT8_MAX || kind.slot_size > most || kind.spans > most ||
            kind.objects > most || kind.spans_read > kind.spans)
            return false;
        kind.span_class = (unsigned)class;
        if (!vector_push(&ret->kinds, kind)) {
            *error = &error_no_memory;
            return false;
        }
    }
    return true;
}

/* Reads what a sample has: how many spans there are to one that was read, the number of kinds, the
 * kinds, and the spans (size, kind, and distance from the span before), after which comes a 0 in
 * place of a size. Returns false if it is cut or contradicts itself, or if memory runs out: *error.
 * A second sample is a contradiction. Its spans are in the order of their addresses, do not
 * overlap, and are as many as its kinds say. There are fewer than UINT32_MAX, which as the number
 * of a span stands for none. */
static bool read_sample(struct cursor *cursor, struct fact_sample *ret, struct g2h_error **error)
{
    uint64_t every, count, size = 1, kind, distance, address = 0, left = 0;
    if (ret->all.every > 0 || !cursor_uvarint(cursor, &every) || !cursor_uvarint(cursor, &count) ||
        every == 0 || !read_kinds(cursor, count, ret, error))
        return false;
    VECTOR_EACH(const struct g2h_sample_kind, sampled, ret->kinds)
        left += sampled->spans_read;
    while (cursor_uvarint(cursor, &size) && size > 0) {
        if (left-- == 0 || !cursor_uvarint(cursor, &kind) || !cursor_uvarint(cursor, &distance) ||
            kind >= ret->kinds.count || ret->spans.count == UINT32_MAX - 1 ||
            distance > UINT64_MAX - address || size > UINT64_MAX - address - distance)
            return false;
        const struct g2h_sample_span *before =
            ret->spans.count > 0 ? &ret->spans.data[ret->spans.count - 1] : NULL;
        if (before && distance < before->size)
            return false;
        address += distance;
        if (!vector_push(&ret->spans, ((struct g2h_sample_span){address, size, (uint32_t)kind}))) {
            *error = &error_no_memory;
            return false;
        }
    }
    /* If the numbers are cut before the 0, cursor_uvarint() has left size as it was: above 0. */
    if (left > 0 || size > 0)
        return false;
    ret->all = (struct g2h_sample){.every = every,
                                   .kind_count = (uint32_t)ret->kinds.count,
                                   .kinds = ret->kinds.data,
                                   .span_count = (uint32_t)ret->spans.count,
                                   .spans = ret->spans.data};
    return true;
}

/* Reads the facts behind the end of a dump, which begin with a text; none if they do not. Facts
 * follow each other, each with its number first. Unknown or damaged ones end the list, since their
 * sizes are not known: unknown ones make it partial (they are of a later version), others damaged.
 * FACT_PARTIAL may come after them. */
struct g2h_error *facts_read(const uint8_t *data, uint64_t size, struct facts *ret,
                             uint64_t *ret_size)
{
    const size_t text = sizeof(FACTS_TEXT) - 1;
    struct cursor cursor = {data, data + size};
    uint64_t fact = FACT_STACK_OBJECTS; /* the last one that was read; any but FACT_END so far */
    struct g2h_error *error = NULL;
    *ret_size = 0;
    /* The text was cut. */
    ret->is_damaged = size > 0 && size < text && memcmp(data, FACTS_TEXT, (size_t)size) == 0;
    if (size < text || memcmp(data, FACTS_TEXT, text) != 0)
        return NULL;
    cursor.at += text;
    ret->are_there = true;
    while (cursor_uvarint(&cursor, &fact) && fact != FACT_END) {
        /* Facts that cannot be read fall through to the last test, and end the list. */
        struct fact_type type;
        struct fact_data part;
        uint64_t begin, bytes;
        if (fact == FACT_STACK_OBJECTS)
            ret->has_stack_objects = true;
        else if (fact == FACT_PARTIAL)
            ret->is_partial = true;
        else if (fact == FACT_TYPE && cursor_uvarint(&cursor, &type.address) &&
                 cursor_uvarint(&cursor, &type.type))
            TRY_MEMORY(vector_push(&ret->types, type));
        else if (fact == FACT_SECRET && cursor_uvarint(&cursor, &begin))
            TRY_MEMORY(vector_push(&ret->secrets, begin));
        else if (fact == FACT_UNTOUCHED && cursor_uvarint(&cursor, &begin) &&
                 cursor_uvarint(&cursor, &bytes) && bytes <= UINT64_MAX - begin)
            TRY_MEMORY(vector_push(&ret->untouched.list, ((struct range){begin, begin + bytes})));
        else if ((fact == FACT_DATA || fact == FACT_ZEROS) &&
                 read_data(&cursor, fact == FACT_ZEROS, &part))
            TRY_MEMORY(vector_push(&ret->data, part));
        else if (fact == FACT_CUT && cursor_uvarint(&cursor, &ret->missing_bytes) &&
                 cursor_uvarint(&cursor, &ret->missing_objects) &&
                 cursor_uvarint(&cursor, &ret->missing_spans))
            ret->is_cut = true;
        else if (fact == FACT_RATE && cursor_uvarint(&cursor, &ret->alloc_rate))
            ret->has_alloc_rate = true;
        else if (fact == FACT_ABSENT && cursor_uvarint(&cursor, &begin) &&
                 cursor_uvarint(&cursor, &bytes))
            TRY_MEMORY(vector_push(&ret->absent, ((struct fact_absent){begin, bytes})));
        else if (!(fact == FACT_ENDING && read_ending(&cursor, ret)) &&
                 !(fact == FACT_SAMPLE && read_sample(&cursor, &ret->sample, &error)) &&
                 !(fact == FACT_AGES && heap_ages_read(&cursor, &ret->ages)) &&
                 !(fact == FACT_COLLECTOR && read_collector(&cursor, ret)) &&
                 !(fact == FACT_RESIDENT && read_resident(&cursor, ret)) &&
                 !(fact == FACT_UNREAD && read_unread(&cursor, ret)))
            break;
    }
    TRY(error);
    /* A known fact that ended the list, or after which no number followed. */
    ret->is_damaged = fact != FACT_END && fact <= FACT_LAST;
    ret->is_partial |= fact > FACT_LAST;
    vector_sort(&ret->data, compare_data);
    vector_sort(&ret->absent, compare_absent);
    ranges_sort(&ret->untouched);
    *ret_size = as_size(cursor.at - data);
    return NULL;
}

/* Finds the bytes of the dump's facts from an address on. Returns false if there are none. Zeros
 * are not stored, so all of them share one page, and at most a page of them is returned. */
bool facts_data_at(const struct facts *facts, uint64_t address, struct g2h_bytes *ret)
{
    static const uint8_t zeros[4096];
    size_t not_after;
    BISECT(not_after, facts->data.count, facts->data.data[not_after].address <= address);
    const struct fact_data *part = not_after > 0 ? &facts->data.data[not_after - 1] : NULL;
    if (!part || address - part->address >= part->bytes.size)
        return false;
    const uint64_t offset = address - part->address;
    const uint64_t zero_bytes = MIN(part->bytes.size - offset, sizeof(zeros));
    *ret = part->bytes.data ? bytes_from(part->bytes, offset) : bytes_at(zeros, zero_bytes);
    return true;
}
