/*
 * report_trend: the course of the places that hold memory over a series of heaps: which grow
 * steadily, which have stopped growing, which go up and down; see docs/watch.md.
 *
 * It reports how long the heaps were watched, and never claims a leak: a cache that is still
 * filling and the first half of a cycle grow in the same way.
 */
#include "findings/trend.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/contract.h"
#include "base/error.h"
#include "output/report/page.h"
#include "output/report/sections.h"
#include "output/sink.h"

/* The version of the JSON. It changes when a member changes its name or its meaning. */
enum { TREND_VERSION = 1 };

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };
static const int64_t DAY = 24 * (int64_t)HOUR;

struct trend_report {
    const struct g2h_trend *trend;
    const trend_found_vector *found; /* by kind */
    int64_t elapsed;                 /* milliseconds; 0: not known */
    struct page *page;
    struct trend_course beside, outside; /* of RSS without objects; and without free heap */
};

/* ---- words ---- */

static const struct trend_heap *heap_at(const struct trend_report *report, size_t number)
{
    return &report->trend->heaps.data[number];
}

static const struct trend_heap *last_heap(const struct trend_report *report)
{
    return heap_at(report, report->trend->heaps.count - 1);
}

/* Appends how long something takes, in its two largest units: 29 min, 2 h 10 min, 14 days. */
static void append_duration(struct text *text, int64_t milliseconds)
{
    const int64_t seconds = (milliseconds + SECOND / 2) / SECOND;
    const int64_t minutes = seconds / 60;
    const int64_t hours = minutes / 60;
    if (hours >= 48)
        text_printf(text, "%" PRId64 " days", (hours + 12) / 24);
    else if (hours > 0)
        text_printf(text, minutes % 60 > 0 ? "%" PRId64 " h %" PRId64 " min" : "%" PRId64 " h",
                    hours, minutes % 60);
    else if (minutes > 0)
        text_printf(text, seconds % 60 > 0 ? "%" PRId64 " min %" PRId64 " s" : "%" PRId64 " min",
                    minutes, seconds % 60);
    else
        text_printf(text, "%" PRId64 " s", seconds);
}

/* The unit of time of a rate. */
struct per {
    int64_t time;
    const char *words;
};

/* Returns the shortest of some units in which a number grows by at least one. */
static struct per per_of(uint64_t grown, int64_t elapsed)
{
    static const struct per minute = {MINUTE, "a minute"};
    static const struct per hour = {HOUR, "an hour"};
    static const struct per day = {DAY, "a day"};
    const double rate = (double)grown / (double)elapsed;
    if (rate * (double)MINUTE >= 1)
        return minute;
    return rate * (double)HOUR >= 1 ? hour : day;
}

/* Returns by how much a number grows in a time, if it has grown by so much while elapsed. */
static uint64_t rate_of(uint64_t grown, int64_t elapsed, int64_t time)
{
    return (uint64_t)((double)grown * (double)time / (double)elapsed + 0.5);
}

/* ---- places ---- */

typedef VECTOR(uint32_t) way_vector;

/* Finds the places above a place, and itself, from below upwards; not the root, and not the groups
 * below it that packages and goroutines are in. */
static struct g2h_error *find_way(const struct g2h_trend *trend, uint32_t place, way_vector *ret)
{
    const struct trend_place *places = trend->places.data;
    for (uint32_t at = place; at != 0; at = places[at].parent)
        TRY_MEMORY(vector_push(ret, at));
    while (ret->count > 1 && places[ret->data[ret->count - 1]].kind == MERGED_SYNTHETIC &&
           places[ret->data[ret->count - 2]].kind == MERGED_SYNTHETIC &&
           !places[ret->data[ret->count - 1]].is_goroutines)
        ret->count--;
    return NULL;
}

/* Reports the way to a place: main › reg › main.Registry › main.Session. The middle of a long one
 * is left out, and what is wider than two lines is cut. JSON has all names, as a list. */
static struct g2h_error *put_way(const struct trend_report *report, const char *key, uint32_t place)
{
    enum { FIRST = 3, LAST = 4 };
    _cleanup_vector_ way_vector way = {0};
    _cleanup_(text_deinit) struct text text = {0};
    TRY(find_way(report->trend, place, &way));
    page_open_list(report->page, key);
    for (size_t i = way.count; i-- > 0;) {
        const size_t number = way.count - 1 - i;
        size_t size;
        const char *name = trend_name(report->trend, way.data[i], &size);
        PUT(report->page, "|%s{}", report_bytes(name, size));
        if (way.count > FIRST + LAST && number >= FIRST && i >= LAST) {
            text_append_string(&text, number == FIRST ? " › …" : "");
            continue;
        }
        text_append_string(&text, number > 0 ? " › " : "");
        text_append(&text, name, size);
    }
    page_close(report->page);
    TRY_MEMORY(!text.failed);
    PUT(report->page, "%#.*s\n", 2 * report->page->columns, &text);
    return NULL;
}

/* Reports the place. If it sums up a class wherever it is held, because its holders change, also
 * reports the place that holds most of it in the last heap. */
static struct g2h_error *report_trend_put_place(const struct trend_report *report, uint32_t place)
{
    const uint32_t holder = trend_last_holder(report->trend, place);
    page_say(report->page, "  ");
    TRY(put_way(report, "place", place));
    if (holder == MERGED_NONE)
        return NULL;
    page_say(report->page, "      now in ");
    return put_way(report, "now_in", holder);
}

/* Adds the values of a place, or of its container, in each heap, in JSON. */
static void put_values(const struct trend_report *report, const struct trend_found *found)
{
    static const char *const keys[] = {"retained", "count"};
    for (int i = 0; i < 2; i++) {
        page_open_list(report->page, keys[i]);
        for (size_t j = 0; j < report->trend->heaps.count; j++) {
            const struct trend_value value = trend_found_value(report->trend, j, found);
            PUT(report->page, "|%n{}", i == 0 ? value.retained : value.count);
        }
        page_close(report->page);
    }
}

/* Appends the rate of a growth in bytes (is_bytes) or objects to it: " (36 a minute)". Nothing if
 * there was no growth, or if the time is unknown. */
static void put_rate(const struct trend_report *report, struct per per, int64_t grown,
                     bool is_bytes)
{
    if (report->elapsed == 0 || grown <= 0)
        return;
    PUT(report->page, is_bytes ? " (%b %s)" : " (%n %s)",
        rate_of((uint64_t)grown, report->elapsed, per.time), per.words);
}

/* Returns what was found in the last heap. */
static struct trend_value value_now(const struct trend_report *report,
                                    const struct trend_found *found)
{
    return trend_found_value(report->trend, report->trend->heaps.count - 1, found);
}

/* Appends what of a container has become more: " entries in main.cache". The path is left out if it
 * leads to none, or to one of several that have these entries together. */
static void put_entries(const struct trend_report *report, const struct trend_found *found)
{
    const struct trend_held *held = trend_held_of(report->trend, found->place);
    page_say(report->page, found->count.grown == 1 ? " entry" : " entries");
    if (!held || held->path.size == 0)
        return;
    const bool has_all = found->has_entries && held->length.kind &&
                         held->length.count == value_now(report, found).count;
    if (has_all || (held->containers == 1 && (held->example.size > 0 || held->length.kind)))
        PUT(report->page, " in %.*s", 2 * report->page->columns, &held->path);
}

/* Reports by how much a place has grown: objects if there are more of them, and bytes; and the
 * rate, if that is useful. has_rate: it is useful. */
static void put_growth(const struct trend_report *report, const struct trend_found *found,
                       bool has_rate)
{
    const struct trend_course *course = &found->retained;
    const struct trend_value now = value_now(report, found);
    const bool is_more = found->count.grown > 0;
    const uint64_t slower = (uint64_t)(is_more ? found->count.grown : course->grown);
    const struct per per =
        report->elapsed > 0 ? per_of(slower, report->elapsed) : (struct per){0, ""};
    page_say(report->page, "      ");
    if (is_more) {
        const bool is_entries = found->is_container || found->has_entries;
        PUT(report->page, "%c", found->count.grown);
        if (is_entries) {
            put_entries(report, found);
            PUT(report->page, ", now %n", now.count);
        }
        put_rate(report, per, has_rate ? found->count.grown : 0, false);
        if (!is_entries)
            PUT(report->page, ", now %n", now.count);
        page_say(report->page, "; ");
    }
    PUT(report->page, "%d", course->grown);
    put_rate(report, per, has_rate ? course->grown : 0, true);
    PUT(report->page,
        ", now %b|%c{count_grown}%d{retained_grown}%n{straightness}%n{intervals}%n{grew_in}",
        now.retained, found->count.grown, course->grown, course->straightness, course->intervals,
        course->ups);
    PUT(report->page, "|%f{is_container}", found->is_container || found->has_entries);
}

/* ---- sections ---- */

/* Reports when a place will have filled the rest of the process's memory limit; outside of JSON
 * only for the place that grows most, which is the first to do so. */
static void put_limit(const struct trend_report *report, const struct trend_found *found)
{
    const uint64_t limit = report->trend->limit;
    const int64_t time = trend_full_in(report->trend, found->retained.grown);
    _cleanup_(text_deinit) struct text size = {0}, duration = {0};
    if (time == 0)
        return;
    PUT(report->page, "|%n{limit_in_ms}", time);
    if (found != report->found[TREND_STEADY].data)
        return;
    if (limit % (1 << 30) == 0)
        text_printf(&size, "%" PRIu64 " GiB", limit >> 30);
    else if (limit % (1 << 20) == 0)
        text_printf(&size, "%" PRIu64 " MiB", limit >> 20);
    else
        text_append_bytes(&size, limit);
    append_duration(&duration, time);
    report->page->out.failed |= size.failed || duration.failed;
    PUT(report->page, "      at this rate its limit of %s is reached within %s\n", &size,
        &duration);
}

/* Ends a line on goroutines that only some of a place are like: ", as 60 of 80 do"; 0: it is not
 * known how many. */
static void put_alike(const struct trend_report *report, uint64_t alike, uint64_t all)
{
    if (alike > 0 && alike < all)
        PUT(report->page, ", as %n of %n do", alike, all);
    page_say(report->page, "\n");
}

/* Reports what is known of the goroutines that a place is, or that hold it. Only those facts that
 * are known. */
static void put_goroutines(const struct trend_report *report, const struct trend_held *held)
{
    const size_t most = 2 * report->page->columns;
    if (held->leaked == 1 && held->goroutines == 1)
        PUT(report->page, "      leaked: it can never run again: %s{reason}\n|%n{leaked}",
            &held->reason, held->leaked);
    else if (held->leaked > 0 && held->leaked == held->goroutines)
        PUT(report->page, "      leaked: all %n{leaked} can never run again: %s{reason}\n",
            held->leaked, &held->reason);
    else if (held->leaked > 0)
        PUT(report->page, "      leaked: %n{leaked} of %n can never run again: %s{reason}\n",
            held->leaked, held->goroutines, &held->reason);
    if (held->waits_at.size > 0) {
        PUT(report->page, "      waits at %.*s{waits_at}", most, &held->waits_at);
        put_alike(report, held->alike, held->goroutines);
    }
    if (held->wait_on.size > 0) {
        PUT(report->page, "      wait on %.*s{wait_on}", most, &held->wait_on);
        put_alike(report, held->wait_alike, held->goroutines);
    }
    if (held->started_by.size > 0)
        PUT(report->page, "      started by %.*s{started_by}\n", most, &held->started_by);
    PUT(report->page, "      each %b{each}\n|%n{goroutines}", held->each, held->goroutines);
}

/* Reports what holds what was found, and what that is: a map of so many entries, one of 50; or one
 * of the objects that were found. */
static void put_path_of(const struct trend_report *report, const struct trend_held *held)
{
    const size_t most = 2 * report->page->columns;
    PUT(report->page,
        held->is_example ? "      example %.*s{held_by}" : "      held by %.*s{held_by}", most,
        &held->path);
    if (held->length.kind)
        PUT(report->page, "<container>, a %s{kind} of %n{entries} %s</>", held->length.kind,
            held->length.count, held->length.count == 1 ? "entry" : "entries");
    if (held->length.kind && held->containers > 1)
        PUT(report->page, ", one of %n", held->containers);
    PUT(report->page, "\n");
    if (held->example.size > 0)
        PUT(report->page, "      example %.*s{example}\n", most, &held->example);
}

/* Reports what is known of how a place is held in the last heap: goroutines, a path, and the ages
 * of its objects; nothing if nothing is known. */
static void report_trend_put_held_by(const struct trend_report *report, uint32_t place)
{
    const struct trend_held *held = trend_held_of(report->trend, place);
    if (!held)
        return;
    if (held->goroutines > 0)
        put_goroutines(report, held);
    if (held->path.size > 0)
        put_path_of(report, held);
    report_put_age(report->page, "      age ", bytes_at(held->aged.data, held->aged.size),
                   &held->age);
}

/* Says how closely the growth follows a straight line. */
static const char *how_straight(unsigned straightness)
{
    enum { NEARLY = 90 };
    if (straightness == 100)
        return "straight";
    return straightness >= NEARLY ? "nearly straight" : "uneven";
}

/* Reports what grew in every interval, or in nearly all: by how much, how linearly, when it reaches
 * the limit, and who holds it. */
static void put_steady(const struct trend_report *report, const struct trend_found *found)
{
    const struct trend_course *course = &found->retained;
    put_growth(report, found, true);
    if (course->ups < course->intervals)
        PUT(report->page, "; in %n of %n intervals", course->ups, course->intervals);
    PUT(report->page, "; %s growth (%p)\n", how_straight(course->straightness),
        course->straightness, 100);
    put_limit(report, found);
    report_trend_put_held_by(report, found->place);
}

/* Appends the time of day of a heap, with the date if the trend takes a day or more, or its name if
 * the times are of no use. */
static void append_moment(const struct trend_report *report, size_t number, struct text *text)
{
    const struct trend_heap *heap = heap_at(report, number);
    const time_t seconds = (time_t)(heap->time / SECOND);
    struct tm parts;
    char words[64];
    if (heap->time != 0 && (report->elapsed > 0 || report->trend->heaps.count == 1) &&
        localtime_r(&seconds, &parts) &&
        strftime(words, sizeof(words), report->elapsed < DAY ? "%H:%M:%S" : "%F %H:%M", &parts) > 0)
        text_append_string(text, words);
    else
        text_append_string(text, heap->name);
}

/* Reports what has grown and then stopped: by how much, since when, and who holds it. */
static void put_stopped(const struct trend_report *report, const struct trend_found *found)
{
    _cleanup_(text_deinit) struct text since = {0};
    append_moment(report, found->retained.since, &since);
    report->page->out.failed |= since.failed;
    put_growth(report, found, false);
    PUT(report->page, " since %s\n|%n{since}", &since, found->retained.since);
    report_trend_put_held_by(report, found->place);
}

/* Reports also how much of the growth is in the last third of the time. */
static void put_slowing(const struct trend_report *report, const struct trend_found *found)
{
    put_growth(report, found, false);
    PUT(report->page, "; %d{grown_lately} in the last third of the time\n", found->retained.tail);
    report_trend_put_held_by(report, found->place);
}

/* Reports what grew in some intervals only. */
static void put_uneven(const struct trend_report *report, const struct trend_found *found)
{
    put_growth(report, found, true);
    PUT(report->page, "; in %n of %n intervals\n", found->retained.ups, found->retained.intervals);
    report_trend_put_held_by(report, found->place);
}

/* Reports what goes up and down: the least, the most, and what it is now. */
static void put_waves(const struct trend_report *report, const struct trend_found *found)
{
    const struct trend_value now = value_now(report, found);
    if (found->count.most > found->count.least)
        PUT(report->page, "      %n to %n, now %n; ", found->count.least, found->count.most,
            now.count);
    else
        page_say(report->page, "      ");
    PUT(report->page, "%b to %b, now %b\n", found->retained.least, found->retained.most,
        now.retained);
}

/* A section: the places of a kind. */
static const struct section {
    enum trend_kind kind;
    const char *key, *head;
    size_t rows; /* not in JSON */
    void (*put)(const struct trend_report *report, const struct trend_found *found);
} sections[] = {
    {TREND_STEADY, "steady", "GREW IN EVERY INTERVAL", 10, put_steady},
    {TREND_SLOWING, "slowing", "GROWS MORE AND MORE SLOWLY", 5, put_slowing},
    {TREND_STOPPED, "stopped", "GREW, AND HAS STOPPED GROWING", 5, put_stopped},
    {TREND_UNEVEN, "uneven", "GREW IN SOME INTERVALS", 5, put_uneven},
    {TREND_WAVES, "waves", "GOES UP AND DOWN", 5, put_waves},
};

/* Writes a section: at most section->rows places as text, all of them in JSON. */
static struct g2h_error *put_section(const struct trend_report *report,
                                     const struct section *section)
{
    const trend_found_vector *found = &report->found[section->kind];
    struct page *page = report->page;
    if (found->count > 0)
        page_head(page, section->head);
    page_say(page, found->count > 0 ? "\n" : "");
    page_open_list(page, section->key);
    for (size_t i = 0; i < found->count && (page->is_json || i < section->rows); i++) {
        PUT(page, "<>");
        TRY(report_trend_put_place(report, found->data[i].place));
        put_values(report, &found->data[i]);
        section->put(report, &found->data[i]);
        PUT(page, "</>");
    }
    page_close(page);
    if (found->count > section->rows)
        PUT(page, "  and %n more\n", found->count - section->rows);
    return NULL;
}

/* ---- the first lines and the last ---- */

/* Returns what grew of the memory that is not objects: memory that the Go heap has, and does not
 * use, is not outside of it. */
static const char *words_beside(const struct trend_report *report)
{
    return report->outside.kind == TREND_STEADY && report->outside.grown >= report->beside.grown / 2
               ? "memory outside of the heap"
               : "memory that is free in the heap, or outside of it";
}

/* Reports the resident memory, and what of it is not objects: its growth is in no place. */
static void put_beside(const struct trend_report *report)
{
    const struct trend_heap *first = heap_at(report, 0);
    const struct trend_heap *last = last_heap(report);
    const int64_t grown = as_growth(first->beside, last->beside);
    if (first->resident == 0 || last->resident == 0)
        return;
    PUT(report->page, "  RSS %b to %b; %b to %b of it not objects", first->resident, last->resident,
        first->beside, last->beside);
    if (report->beside.kind == TREND_STEADY)
        PUT(report->page, ", %d, which grew in every interval: %s", grown, words_beside(report));
    PUT(report->page, "|%d{rss_beside_objects_grown}%f{rss_beside_objects_is_steady}|\n", grown,
        report->beside.kind == TREND_STEADY);
}

/* Writes the first lines: how many heaps, of what, in what time, and how the first and the last
 * differ; in JSON the totals of each heap. */
static void put_heaps(const struct trend_report *report)
{
    const struct trend_heap *first = heap_at(report, 0);
    const struct trend_heap *last = last_heap(report);
    struct page *page = report->page;
    _cleanup_(text_deinit) struct text elapsed = {0};
    append_duration(&elapsed, report->elapsed);
    page->out.failed |= elapsed.failed;
    const bool is_one = strcmp(first->name, last->name) == 0; /* a process */
    PUT(page, report->trend->added == 1 ? "%n{taken} heap" : "%n{taken} heaps",
        report->trend->added);
    if (report->elapsed > 0)
        PUT(page, " in %s", &elapsed);
    PUT(page, "|%n{elapsed_ms}|", report->elapsed);
    if (is_one)
        PUT(page, " of %s\n", first->name);
    else
        PUT(page, ", from %s to %s\n", first->name, last->name);
    PUT(page, "  reachable %b to %b, objects %n to %n, goroutines %n to %n\n", first->reachable,
        last->reachable, first->objects, last->objects, first->goroutines, last->goroutines);
    put_beside(report);
    if (report->trend->limit > 0)
        PUT(page, "|%b{limit}%b{limit_left}", report->trend->limit, report->trend->left);
    PUT(page, "[heaps]");
    for (size_t i = 0; i < report->trend->heaps.count; i++) {
        const struct trend_heap *heap = heap_at(report, i);
        PUT(page, "|<>%s{source}%b{reachable}%n{objects}%n{goroutines}%?n{time_ms}", heap->name,
            heap->reachable, heap->objects, heap->goroutines, heap->time != 0, heap->time);
        PUT(page, "|%?b{rss}%?b{rss_beside_objects}</>", heap->resident > 0, heap->resident,
            heap->resident > 0, heap->beside);
    }
    PUT(page, "[/]");
}

/* Says that no place has grown steadily. */
static void put_none(const struct trend_report *report)
{
    if (report->beside.kind == TREND_STEADY)
        PUT(report->page, "No objects grew steadily in every interval: %s did.\n",
            words_beside(report));
    else if (report->found[TREND_SLOWING].count > 0)
        page_say(report->page, "Nothing grew steadily in every interval.\n");
    else
        page_say(report->page, "Nothing grew in every interval.\n");
}

/* Returns how many of the places that grew steadily are goroutines some of which can never run
 * again; *ret_all: those where none can. */
static size_t count_leaked(const struct trend_report *report, size_t *ret_all)
{
    const trend_found_vector *found = &report->found[TREND_STEADY];
    size_t count = 0;
    *ret_all = 0;
    VECTOR_EACH(const struct trend_found, steady, *found) {
        const struct trend_held *held = trend_held_of(report->trend, steady->place);
        const bool is_any = held && held->leaked > 0;
        count += is_any;
        *ret_all += is_any && held->leaked == held->goroutines;
    }
    return count;
}

/* Adds what the sections mean, and what they cannot show: that snapshots are too few, that nothing
 * grew, that steady growth need not be a leak unless all of it is of leaked goroutines, that
 * slowing growth may be a cache, and how many places were not followed. */
static void put_meaning(const struct trend_report *report)
{
    const size_t heaps = report->trend->heaps.count;
    const size_t steady = report->found[TREND_STEADY].count;
    const size_t slowing = report->found[TREND_SLOWING].count;
    struct page *page = report->page;
    size_t all_leaked;
    const size_t leaked = count_leaked(report, &all_leaked);
    page_say(page, "\n");
    if (heaps < TREND_LEAST)
        PUT(page, "Fewer than %n snapshots are too few to be conclusive.\n", TREND_LEAST);
    else if (steady == 0)
        put_none(report);
    if (steady > 0 && all_leaked == steady) {
        page_say(page, "What grew in every interval is leaked: nothing can wake these "
                       "goroutines.\n");
    } else if (steady > 0) {
        page_wrap(page,
                  leaked > 0
                      ? "Goroutines that can never run again are a leak. What else grew in every "
                        "interval need not be one: a cache that still fills, and load that still "
                        "rises, look the same for as long as they do."
                      : "What grew in every interval need not be a leak: a cache that still fills, "
                        "and load that still rises, look the same for as long as they do.",
                  0);
    }
    if (slowing > 0) {
        page_wrap(page,
                  "What grows more and more slowly may be a cache that is nearly full, or a leak "
                  "whose load falls: more time or load shows which.",
                  0);
    }
    if (report->trend->left_out > 0)
        PUT(page,
            "%n{not_followed} places were not followed: the program makes new ones all the time.\n",
            report->trend->left_out);
}

/* Writes the whole report. Without a heap JSON has only its format and version. */
static struct g2h_error *report_trend_put_all(const struct trend_report *report)
{
    PUT(report->page, "<>|%s{format}%n{version}", "go2heapsnapshot trend", TREND_VERSION);
    if (report->trend->heaps.count > 0) {
        put_heaps(report);
        for (size_t i = 0; i < COUNT_OF(sections); i++)
            TRY(put_section(report, &sections[i]));
        put_meaning(report);
    }
    page_close(report->page);
    TRY_MEMORY(!report->page->out.failed);
    return NULL;
}

/* Joins JSON whose members are lines into one line: line breaks in strings are escaped. */
static void join_lines(struct text *text)
{
    size_t size = 0;
    for (size_t i = 0; i < text->size; i++)
        if (text->data[i] != '\n' || i + 1 == text->size)
            text->data[size++] = text->data[i];
    text->size = size;
}

/* Writes a complete page to the output: JSON as one line, text fitted to its columns. */
static struct g2h_error *report_trend_write_page(const struct g2h_output_options *options,
                                                 struct page *page)
{
    TRY_MEMORY(!page->out.failed);
    if (page->is_json)
        join_lines(&page->out);
    page_fit(page);
    TRY_MEMORY(!page->out.failed);
    return sink_text(options, &page->out);
}

/* Writes the report about a trend. *ret_steady is 0 for fewer than TREND_LEAST heaps: too few to
 * tell. */
struct g2h_error *g2h_write_trend(const struct g2h_trend *trend,
                                  const struct g2h_output_options *given, size_t *ret_steady)
{
    struct g2h_output_options known;
    const struct g2h_output_options *options = OPTIONS_COPY(&known, given);
    _cleanup_(trend_founds_deinit) struct trend_founds founds = {0};
    _cleanup_(page_deinit) struct page page;
    page_begin(options->report, &page);
    TRY(trend_find(trend, founds.by_kind));
    struct trend_report report = {
        .trend = trend, .found = founds.by_kind, .elapsed = trend_elapsed(trend), .page = &page};
    TRY(trend_beside(trend, &report.beside, &report.outside));
    TRY(report_trend_put_all(&report));
    if (ret_steady)
        *ret_steady = trend->heaps.count < TREND_LEAST ? 0 : founds.by_kind[TREND_STEADY].count;
    return report_trend_write_page(options, &page);
}

/* Writes a line about the last heap: what is reachable, how much it has grown, and for how long the
 * process was paused (stopped; negative: it was not). */
struct g2h_error *g2h_write_trend_last(const struct g2h_trend *trend, double stopped,
                                       const struct g2h_output_options *given)
{
    struct g2h_output_options known;
    const struct g2h_output_options *options = OPTIONS_COPY(&known, given);
    const struct trend_report report = {.trend = trend, .elapsed = trend_elapsed(trend)};
    _cleanup_(page_deinit) struct page page;
    _cleanup_(text_deinit) struct text moment = {0}, seconds = {0};
    page_begin(options->report, &page);
    if (trend->heaps.count == 0)
        return NULL;
    const struct trend_heap *heap = last_heap(&report);
    append_moment(&report, trend->heaps.count - 1, &moment);
    if (stopped >= 0)
        text_printf(&seconds, "%.3f s", stopped);
    PUT(&page, "<>|%s{format}%n{version}%n{time_ms}%?n{stopped_ms}", "go2heapsnapshot snapshot",
        TREND_VERSION, heap->time, stopped >= 0,
        (uint64_t)(stopped >= 0 ? stopped * (double)SECOND + 0.5 : 0));
    PUT(&page, "%s %9b{reachable} reachable, %9d{grown} %12n{objects}", &moment, heap->reachable,
        g2h_trend_growth(trend), heap->objects);
    PUT(&page, " objects, %n{goroutines} goroutines", heap->goroutines);
    if (heap->resident > 0)
        PUT(&page, "; RSS %b{rss}, %b{rss_beside_objects} of it not objects", heap->resident,
            heap->beside);
    if (stopped >= 0)
        PUT(&page, "; paused for %s", &seconds);
    page_say(&page, "\n");
    page_close(&page);
    page.out.failed |= moment.failed || seconds.failed;
    return report_trend_write_page(options, &page);
}
