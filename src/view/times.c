/*
 * times: formats time.Time and time.Duration.
 *
 * A Time has a number "wall", a number "ext", and a pointer to its zone (time/time.go). If the
 * highest bit of wall is set, wall has the seconds since 1885 and ext a reading of the monotonic
 * clock; else ext has the seconds since the year 1. The zone is nil for UTC; else it has a list of
 * offsets, and a list of the seconds from which they apply (time/zoneinfo.go). After the last of
 * these, a rule string applies, which is not parsed: the offset of such a time is known only if it
 * is in the range of the zone's cache, which is mostly the current one.
 */
#include <inttypes.h>
#include <string.h>

#include "view/locations.h"

enum {
    DAY = 86400,
    TO_1885_DAYS = 1884 * 365 + 1884 / 4 - 1884 / 100 + 1884 / 400,
    TO_1970_DAYS = 1969 * 365 + 1969 / 4 - 1969 / 100 + 1969 / 400,
    MOST_ZONES = 256, /* an index of a zone has a byte */
    MOST_TRANSITIONS = 4096,
};
#define HAS_MONOTONIC (UINT64_C(1) << 63)

/* wall: the seconds since 1885, if HAS_MONOTONIC, have 33 bits, the nanoseconds the lowest 30. */
enum { NANOSECOND_BITS = 30 };

/* Where the fields of a Time are, in bytes; its zone is a pointer. */
enum { TIME_WALL, TIME_EXT = 8, TIME_ZONE = 16 };

/* Where the fields of a Location and its parts are (time/zoneinfo.go), in words. The fields of the
 * cache follow the rule string, which exists since Go 1.15. */
enum {
    LOCATION_ZONES = 2,       /* a slice of zone, after the name */
    LOCATION_ZONE_COUNT = 3,  /* its length */
    LOCATION_TX = 5,          /* a slice of zoneTrans: the transitions */
    LOCATION_TX_COUNT = 6,    /* its length */
    LOCATION_EXTEND_SIZE = 9, /* the length of the rule string */
    LOCATION_SIZE = 10,       /* up to the cache; two words less before Go 1.15 */
    ZONE_OFFSET = 2,          /* after the name */
    ZONE_IS_DST = 3,          /* a bool */
    ZONE_SIZE = 4,
};

/* The same in bytes: of the cache (cacheStart, cacheEnd, cacheZone), and of a zoneTrans, which has
 * the time before the index. */
enum { CACHE_START, CACHE_END = 8, CACHE_ZONE = 16, TRANSITION_INDEX = 8 };

/* Returns whether a type is time.Time, by its name, size and first field: another package may be
 * called time as well. */
bool times_is_time(const struct types *types, uint32_t number)
{
    const struct g2h_bytes name = types_name(types, number);
    const struct type *type = types_get(types, number);
    return name.size == strlen("time.Time") && memcmp(name.data, "time.Time", name.size) == 0 &&
           type->size == TIME_ZONE + types->pointer_size && types_field(types, number, "wall");
}

/* Returns the seconds since the year 1 of the Time at some memory, which may be negative. */
static int64_t seconds_of(const struct g2h_heap *heap, const uint8_t *at)
{
    const uint64_t wall = heap_number(heap, at + TIME_WALL, 8);
    const uint64_t ext = heap_number(heap, at + TIME_EXT, 8);
    const uint64_t since_1885 = (wall & ~HAS_MONOTONIC) >> NANOSECOND_BITS;
    return (int64_t)((wall & HAS_MONOTONIC) != 0 ? since_1885 + (uint64_t)TO_1885_DAYS * DAY : ext);
}

/* Returns the nanoseconds of the second of the Time at some memory. */
static uint64_t nanoseconds_of(const struct g2h_heap *heap, const uint8_t *at)
{
    return heap_number(heap, at + TIME_WALL, 8) & ((1 << NANOSECOND_BITS) - 1);
}

/* Returns nanoseconds since 1970, moved so that they are not negative; border is the last second of
 * which all nanoseconds fit. Times beyond it get the first or last number. */
uint64_t times_order(const struct g2h_view *view, const uint8_t *at)
{
    const struct g2h_heap *heap = view->graph->heap;
    const uint64_t second = 1000000000;
    const uint64_t border = INT64_MAX / 1000000000 - 1;
    const uint64_t fraction = nanoseconds_of(heap, at);
    const uint64_t since = (uint64_t)seconds_of(heap, at) - (uint64_t)TO_1970_DAYS * DAY + border;
    uint64_t kept = since;
    if (since > 2 * border)
        kept = since >> 63 != 0 ? 0 : 2 * border;
    return kept * second + (kept == since && fraction < second ? fraction : 0);
}

/* ---- zones ---- */

/* Reads the offset of a zone; zones has the zone list's memory. Returns false if the zone is not in
 * the dump, or its offset is a day or more. */
static bool zone_offset(const struct g2h_view *view, const struct view_memory *zones,
                        uint64_t index, int64_t *ret)
{
    const uint64_t word = view->graph->heap->params.pointer_size;
    const uint64_t at = (index * ZONE_SIZE + ZONE_OFFSET) * word;
    if (zones->bytes.size < word || at > zones->bytes.size - word)
        return false;
    const uint64_t bits = heap_word(view->graph->heap, zones->bytes.data + at);
    *ret = word == 8 ? (int64_t)bits : (int32_t)bits;
    return *ret > -DAY && *ret < DAY;
}

/* Returns the number of the last transition that is not after a second; UINT64_MAX: none is. size
 * is that of a zoneTrans, which begins with its second. */
static uint64_t last_transition(const struct g2h_heap *heap, const uint8_t *list, uint64_t size,
                                uint64_t count, int64_t seconds)
{
    uint64_t low = 0;
    uint64_t high = count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if ((int64_t)heap_number(heap, list + middle * size, 8) <= seconds)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

/* Returns whether a zone of the list, which must be in its memory, is of summer time. */
static bool is_dst(const struct view_memory *zones, uint64_t word, uint64_t zone)
{
    return zones->bytes.data[(zone * ZONE_SIZE + ZONE_IS_DST) * word] != 0;
}

/* Returns which zone holds before the first transition, as lookupFirstZone() of time/zoneinfo.go
 * does: the first one if no transition leads there; else, if the first transition leads to summer
 * time, the last one before that which is not; else the first one. */
static uint64_t first_zone(const struct view_memory *zones, uint64_t word, const uint8_t *list,
                           uint64_t size, uint64_t count)
{
    uint64_t zone = list[TRANSITION_INDEX];
    for (uint64_t i = 0; list[i * size + TRANSITION_INDEX] != 0; i++)
        if (i + 1 == count)
            return 0;
    if ((zone + 1) * ZONE_SIZE * word > zones->bytes.size || !is_dst(zones, word, zone))
        return 0;
    while (zone > 0 && is_dst(zones, word, zone - 1))
        zone--;
    return zone > 0 ? zone - 1 : 0;
}

/* Finds the offset from UTC of a time in a zone; seconds count from 1970. Looks where
 * time.Location.lookup does, in this order: UTC, the cache, the list of transitions. Returns false
 * if the offset is not known: the zone is not in the dump, or the rule string would be needed. */
static bool find_zone_offset(const struct g2h_view *view, uint64_t location, int64_t seconds,
                             int64_t *ret)
{
    const struct g2h_heap *heap = view->graph->heap;
    const int minor = view->graph->typing->release.minor;
    const bool has_rules_field = minor == 0 || minor >= 15;
    const uint64_t word = heap->params.pointer_size;
    const uint64_t transition = word == 8 ? 16 : 12; /* size of a zoneTrans */
    const uint64_t cache_at = (has_rules_field ? LOCATION_SIZE : LOCATION_SIZE - 2) * word;
    struct view_memory memory, zones, cached, list;
    *ret = 0;
    if (location == 0)
        return true;
    if (!view_memory_at(view, location, &memory) || memory.is_of_file ||
        memory.bytes.size < cache_at + CACHE_ZONE + word)
        return false;
    const uint64_t zone_count = view_memory_word(view, &memory, LOCATION_ZONE_COUNT * word),
                   count = view_memory_word(view, &memory, LOCATION_TX_COUNT * word),
                   cache = view_memory_word(view, &memory, cache_at + CACHE_ZONE);
    if (zone_count == 0 || zone_count > MOST_ZONES)
        return false; /* nothing has asked for this zone yet */
    if (cache != 0 && view_memory_at(view, cache, &cached) &&
        (int64_t)heap_number(heap, memory.bytes.data + cache_at + CACHE_START, 8) <= seconds &&
        seconds < (int64_t)heap_number(heap, memory.bytes.data + cache_at + CACHE_END, 8))
        return zone_offset(view, &cached, 0, ret);
    if (!view_memory_at(view, view_memory_word(view, &memory, LOCATION_ZONES * word), &zones))
        return false;
    if (count == 0)
        return zone_count == 1 && zone_offset(view, &zones, 0, ret);
    if (!view_memory_at(view, view_memory_word(view, &memory, LOCATION_TX * word), &list) ||
        count > list.bytes.size / transition || count > MOST_TRANSITIONS)
        return false;
    const uint64_t at = last_transition(heap, list.bytes.data, transition, count, seconds);
    const bool has_rules =
        has_rules_field && view_memory_word(view, &memory, LOCATION_EXTEND_SIZE * word) != 0;
    if (at == UINT64_MAX)
        return zone_offset(view, &zones,
                           first_zone(&zones, word, list.bytes.data, transition, count), ret);
    return (at + 1 < count || !has_rules) &&
           zone_offset(view, &zones, list.bytes.data[at * transition + TRANSITION_INDEX], ret);
}

/* ---- formatting ---- */

/* Appends the date of a day, counted from 1970, in the proleptic Gregorian calendar:
 * civil_from_days() of Howard Hinnant's date algorithms. Years begin in March here, so that the
 * leap day is the last one: then the days before a month follow from one formula. */
static void append_date(int64_t day, struct text *text)
{
    enum { ERA = 146097 /* days in 400 years */, TO_MARCH = 719468 /* from 0000-03-01 to 1970 */ };
    const int64_t days = day + TO_MARCH;
    const int64_t era = (days >= 0 ? days : days - ERA + 1) / ERA;
    const int64_t of_era = days - era * ERA;
    const int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    const int64_t from_march = (5 * of_year + 2) / 153;
    const int64_t month = (from_march + 2) % 12 + 1;
    const int64_t whole = year + era * 400 + (month <= 2 ? 1 : 0);
    text_append_string(text, whole < 0 ? "-" : "");
    text_printf(text, "%04" PRId64 "-%02d-%02d", whole < 0 ? -whole : whole, (int)month,
                (int)(of_year - (153 * from_march + 2) / 5 + 1));
}

/* Appends a decimal point and the digits of a fraction without trailing zeros. */
static void append_fraction(uint64_t fraction, unsigned digits, struct text *text)
{
    if (fraction == 0)
        return;
    for (; fraction % 10 == 0; fraction /= 10)
        digits--;
    text_printf(text, ".%0*" PRIu64, (int)digits, fraction);
}

/* Appends a time as a date in the local zone. If the zone's offset is not known, UTC is as true, if
 * less convenient. */
void times_append(const struct g2h_view *view, const uint8_t *at, struct text *text)
{
    const struct g2h_heap *heap = view->graph->heap;
    const uint64_t fraction = nanoseconds_of(heap, at);
    const int64_t unix_time =
        (int64_t)((uint64_t)seconds_of(heap, at) - (uint64_t)TO_1970_DAYS * DAY);
    int64_t offset;
    if (!find_zone_offset(view, heap_word(heap, at + TIME_ZONE), unix_time, &offset))
        offset = 0;
    const int64_t local = (int64_t)((uint64_t)unix_time + (uint64_t)offset),
                  day = local / DAY - (local % DAY < 0 ? 1 : 0);
    const int seconds = (int)(local - day * DAY);
    const int minutes = (int)(offset / 60);
    append_date(day, text);
    text_printf(text, "T%02d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60);
    append_fraction(fraction, 9, text);
    if (offset == 0)
        text_append_string(text, "Z");
    else
        text_printf(text, "%c%02d:%02d", minutes < 0 ? '-' : '+', abs(minutes) / 60,
                    abs(minutes) % 60);
}

/* Appends a duration of so many nanoseconds as Go prints it: "1h2m3.5s"; units below a second are
 * used for durations below one. */
void times_append_duration(uint64_t number, struct text *text)
{
    static const struct {
        const char *name;
        uint64_t size;
        unsigned digits;
    } units[] = {{"ns", 1, 0}, {"µs", 1000, 3}, {"ms", 1000000, 6}};
    const bool is_negative = number >> 63 != 0;
    const uint64_t second = 1000000000;
    const uint64_t all = is_negative ? -number : number;
    const uint64_t seconds = all / second;
    if (is_negative)
        text_append_string(text, "-");
    if (all == 0) {
        text_append_string(text, "0s");
    } else if (all < second) {
        unsigned i = 0; /* of the largest unit that fits */
        while (i + 1 < COUNT_OF(units) && all >= units[i + 1].size)
            i++;
        text_append_number(text, all / units[i].size);
        append_fraction(all % units[i].size, units[i].digits, text);
        text_append_string(text, units[i].name);
    } else {
        if (seconds >= 3600)
            text_printf(text, "%" PRIu64 "h", seconds / 3600);
        if (seconds >= 60)
            text_printf(text, "%" PRIu64 "m", seconds / 60 % 60);
        text_append_number(text, seconds % 60);
        append_fraction(all % second, 9, text);
        text_append_string(text, "s");
    }
}
