/*
 * estimates: how many objects and bytes of a heap a set has, such as a class, judged by a sample of
 * its spans, and how sure that is; see class_rows.h.
 *
 * A ratio estimate for each kind of spans: the objects of the kind, which are known, times the part
 * of those that were read that belong to the set. The objects of a span are not independent of each
 * other, since neighbours are often of one class, so the error is that of a sample of spans
 * (clusters), drawn without replacement from all spans of the kind. The kinds are independent.
 */
#include <math.h>
#include <stdlib.h>

#include "base/contract.h"
#include "base/error.h"
#include "findings/class_rows.h"

static double real(uint64_t number)
{
    return (double)number;
}

void estimates_deinit(struct estimates *estimates)
{
    free(estimates->objects_of);
    free(estimates->squares_of);
    map_deinit(&estimates->by_key);
    free(estimates->sums.data);
    free(estimates->sets);
    *estimates = (struct estimates){0};
}

/* Begins estimates by a sample. Counts the objects of each span that was read, and their squares
 * for each kind of span: the variance is made of these. */
struct g2h_error *estimates_begin(const struct g2h_heap *heap, struct estimates *ret)
{
    const struct g2h_sample *sample = g2h_heap_sample(heap);
    assert(sample);
    *ret = (struct estimates){.heap = heap, .sample = sample};
    ret->objects_of = calloc(count_and_end(sample->span_count), sizeof(*ret->objects_of));
    ret->squares_of = calloc(count_and_end(sample->kind_count), sizeof(*ret->squares_of));
    TRY_MEMORY(ret->objects_of && ret->squares_of);
    for (uint32_t i = 0; i < g2h_heap_object_count(heap); i++) {
        const uint32_t span = g2h_heap_sample_span(heap, i);
        if (span != UINT32_MAX)
            ret->objects_of[span]++;
    }
    for (uint32_t i = 0; i < sample->span_count; i++)
        ret->squares_of[sample->spans[i].kind] +=
            real(ret->objects_of[i]) * real(ret->objects_of[i]);
    return NULL;
}

/* Adds what a span has of a set to the sums, and empties in_span for the next one; nothing if it
 * has none. */
static void end_span(const struct estimates *estimates, struct estimate_sums *sums)
{
    const double in_span = real(sums->in_span);
    if (sums->in_span == 0)
        return;
    sums->spans++;
    sums->mixed += sums->in_span < estimates->objects_of[sums->span] / 2;
    sums->objects += sums->in_span;
    sums->squares += in_span * in_span;
    sums->products += in_span * real(estimates->objects_of[sums->span]);
    sums->in_span = 0;
}

/* Adds an object of the sample to a set. Objects must come in ascending order: so do their spans,
 * and one sum for the current span of each kind is enough. */
struct g2h_error *estimates_add(struct estimates *estimates, uint32_t set, uint32_t object)
{
    const uint32_t span = g2h_heap_sample_span(estimates->heap, object);
    uint32_t at = as_u32(estimates->sums.count);
    if (span == UINT32_MAX)
        return NULL;
    const uint32_t kind = estimates->sample->spans[span].kind;
    TRY_MEMORY(map_put(&estimates->by_key, (uint64_t)set << 32 | kind, at, &at));
    if (at == estimates->sums.count)
        TRY_MEMORY(vector_push(&estimates->sums,
                               ((struct estimate_sums){.set = set, .kind = kind, .span = span})));
    struct estimate_sums *sums = &estimates->sums.data[at];
    assert(span >= sums->span); /* objects are in ascending order */
    if (span != sums->span)
        end_span(estimates, sums);
    sums->span = span;
    sums->in_span++;
    sums->bytes += g2h_heap_size(estimates->heap, object);
    return NULL;
}

/* Returns the variance of the estimated number of objects: 0 if all spans of the kind were read,
 * the square of all objects if only one was; else that of a ratio estimate over spans, and a part
 * for spans of the set that the sample may have missed. */
static double variance_of(const struct estimates *estimates, const struct estimate_sums *sums)
{
    const struct g2h_sample_kind *kind = &estimates->sample->kinds[sums->kind];
    const double spans = real(kind->spans_read);
    const double read = real(kind->objects_read);
    const double all = real(kind->objects);
    const double part = real(sums->objects) / read; /* of the objects that were read */
    if (kind->spans_read == kind->spans)
        return 0;
    if (kind->spans_read < 2)
        return all * all;                                /* one span says nothing about others */
    const double unread = 1 - spans / real(kind->spans); /* what was read has no error */
    const double squares =
        sums->squares - 2 * part * sums->products + part * part * estimates->squares_of[sums->kind];
    const double seen = squares > 0 ? spans / (spans - 1) * squares / (read * read) : 0;
    /* If hardly any span has the set, or hardly any is mostly something else, how much these differ
     * is not seen. Another one, which the sample has just missed, may do so. */
    const uint64_t others = kind->spans_read - sums->spans + sums->mixed;
    const double missed = others < ESTIMATE_LEAST_SPANS || sums->spans < ESTIMATE_LEAST_SPANS
                              ? 1 / (spans * spans)
                              : 0;
    return all * all * unread * (seen + missed);
}

/* Sums of a set before they are rounded. */
struct estimate_parts {
    double objects, bytes, objects_variance, bytes_variance;
};

/* Adds what a sample says about one kind of span to an estimate: numbers of objects that were read
 * are scaled up by the share of the kind's objects that was read, unless all of its spans were
 * read. Variances add up, as the kinds are independent. */
static void add_kind(const struct estimates *estimates, const struct estimate_sums *sums,
                     struct estimate *set, struct estimate_parts *parts)
{
    const struct g2h_sample_kind *kind = &estimates->sample->kinds[sums->kind];
    const bool is_exact = kind->spans_read == kind->spans;
    const double size = as_ratio(sums->bytes, sums->objects), /* all have the same */
        scale = is_exact ? 1 : as_ratio(kind->objects, kind->objects_read),
                 variance = variance_of(estimates, sums);
    set->read += sums->objects;
    set->spans += is_exact ? 0 : sums->spans;
    parts->objects += scale * real(sums->objects);
    parts->bytes += scale * real(sums->bytes);
    parts->objects_variance += variance;
    parts->bytes_variance += variance * size * size;
}

/* Rounds a number of objects or bytes; what contradicts itself in a damaged dump may be too large
 * for it. */
static uint64_t as_count(double number)
{
    const double most = 0x1p63;
    return (uint64_t)(MIN(number, most) + 0.5);
}

/* Adds up, for each set, what its kinds contribute. Errors add up as variances do, and the result
 * is ESTIMATE_ERRORS standard deviations. A set with objects in fewer than ESTIMATE_LEAST_SPANS
 * spans is vague. */
struct g2h_error *estimates_finish(struct estimates *estimates, uint32_t count)
{
    _cleanup_free_ struct estimate_parts *parts = calloc(count_and_end(count), sizeof(*parts));
    estimates->sets = calloc(count_and_end(count), sizeof(*estimates->sets));
    TRY_MEMORY(parts && estimates->sets);
    VECTOR_EACH(struct estimate_sums, sums, estimates->sums) {
        assert(sums->set < count);
        end_span(estimates, sums); /* the last one, which no other span has ended */
        add_kind(estimates, sums, &estimates->sets[sums->set], &parts[sums->set]);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct estimate *set = &estimates->sets[i];
        set->objects = as_count(parts[i].objects);
        set->bytes = as_count(parts[i].bytes);
        set->objects_error = as_count(ESTIMATE_ERRORS * sqrt(parts[i].objects_variance));
        set->bytes_error = as_count(ESTIMATE_ERRORS * sqrt(parts[i].bytes_variance));
        set->is_vague = set->spans > 0 && set->spans < ESTIMATE_LEAST_SPANS;
    }
    return NULL;
}

/* Returns the most bytes that a set may have of which no object was read. A set that fills a part p
 * of a kind's spans is in none of the m spans that were read with probability (1 - p)^m. p is
 * solved for the probability that a number is more than ESTIMATE_ERRORS standard errors off, 1 in
 * 16,000 of a normal distribution. */
uint64_t estimates_unseen(const struct g2h_sample *sample)
{
    const double probability = 1.0 / 16000;
    double most = 0;
    for (uint32_t i = 0; i < sample->kind_count; i++) {
        const struct g2h_sample_kind *kind = &sample->kinds[i];
        if (kind->spans_read == kind->spans)
            continue;
        const double part = kind->spans_read > 0 ? 1 - pow(probability, 1 / real(kind->spans_read))
                                                 : 1,
                     bytes = part * real(kind->objects) * real(kind->slot_size);
        most = MAX(bytes, most);
    }
    return as_count(most);
}
