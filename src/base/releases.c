/*
 * releases: parses the version that runtime.Version() names, and has the table of the slots of Go's
 * heap: their sizes, and the bytes of the spans that they are cut from; see releases.h. A red zone
 * is what a program that was built with -asan allocates after an object.
 */
#include "base/releases.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

/* ==== the release of Go that runtime.Version() names ==== */

/* Returns whether the version of a program names an experiment. Only whole words of the list after
 * "X:" count: "noswissmap" contains "swissmap". */
bool go_release_has_experiment(const char *version, const char *name)
{
    const char *list = strstr(version, "X:");
    for (const char *at = list; at && (at = strstr(at, name)) != NULL; at += strlen(name)) {
        const char before = at == list ? ',' : at[-1];
        const char after = at[strlen(name)];
        if ((before == ',' || before == ':') && (after == ',' || after == ' ' || after == 0))
            return true;
    }
    return false;
}

/* Parses what runtime.Version() returns: "go1.24.3 X:noswissmap". .minor is 0 if it names no
 * release. Experiments of the build ("X:") may differ from the release's defaults. */
struct go_release go_release_parse(const char *version)
{
    struct go_release release = {0};
    const char *at = strstr(version, "go1.");
    if (at) /* no release has more digits; the bound only prevents an overflow */
        for (at += strlen("go1."); *at >= '0' && *at <= '9' && release.minor < 1000; at++)
            release.minor = 10 * release.minor + (*at - '0');
    release.no_swiss_maps = go_release_has_experiment(version, "noswissmap");
    release.no_sync_hash_trie = go_release_has_experiment(version, "nosynchashtriemap");
    release.split_groups = go_release_has_experiment(version, "mapsplitgroup");
    return release;
}

/* Returns a version that names no release, or "unknown" if it is empty, with the release that it is
 * read as: "unknown (read as go1.27)". The caller frees it; NULL: memory ran out. */
char *go_release_guessed(struct g2h_bytes version, int minor)
{
    const struct g2h_bytes shown = version.size > 0 ? version : bytes_of("unknown");
    char *text;
    const int status =
        asprintf(&text, "%.*s (read as go1.%d)", as_width(shown.size), shown.data, minor);
    return status < 0 ? NULL : text;
}

/* ==== the slots of Go's heap, and their spans ==== */

/* The size classes of all releases (runtime/sizeclasses.go): bytes of a slot, and the pages of a
 * span of them, of SPAN_UNIT bytes each. */
static const struct {
    uint16_t size, pages;
} classes[] = {{8, 1},     {16, 1},     {24, 1},    {32, 1},    {48, 1},    {64, 1},    {80, 1},
               {96, 1},    {112, 1},    {128, 1},   {144, 1},   {160, 1},   {176, 1},   {192, 1},
               {208, 1},   {224, 1},    {240, 1},   {256, 1},   {288, 1},   {320, 1},   {352, 1},
               {384, 1},   {416, 1},    {448, 1},   {480, 1},   {512, 1},   {576, 1},   {640, 1},
               {704, 1},   {768, 1},    {896, 1},   {1024, 1},  {1152, 1},  {1280, 1},  {1408, 2},
               {1536, 1},  {1792, 2},   {2048, 1},  {2304, 2},  {2688, 1},  {3072, 3},  {3200, 2},
               {3456, 3},  {4096, 1},   {4864, 3},  {5376, 2},  {6144, 3},  {6528, 4},  {6784, 5},
               {6912, 6},  {8192, 1},   {9472, 7},  {9728, 6},  {10240, 5}, {10880, 4}, {12288, 3},
               {13568, 5}, {14336, 7},  {16384, 2}, {18432, 9}, {19072, 7}, {20480, 5}, {21760, 8},
               {24576, 3}, {27264, 10}, {28672, 7}, {32768, 4}};

/* Returns the index of the smallest size class that has this many bytes, or the number of classes
 * if all have fewer. */
static size_t size_classes_find(uint64_t size)
{
    size_t at;
    BISECT(at, COUNT_OF(classes), classes[at].size < size);
    return at;
}

/* Returns the slot size for an object of so many bytes, or 0 if it is too large for one. */
uint64_t size_class(uint64_t size)
{
    const size_t at = size_classes_find(size);
    return at < COUNT_OF(classes) ? classes[at].size : 0;
}

/* Returns the bytes that -asan adds to an object: the more, the larger it is, as computeRZlog() of
 * runtime/malloc.go has it, which got it from LLVM: most is the size of the object and its zone up
 * to which a zone of 16, 32, 64 … bytes is used. */
uint64_t size_class_red_zone(uint64_t size)
{
    static const uint64_t most[] = {64, 128, 512, 4096, 1 << 14, 1 << 15, 1 << 16};
    uint64_t zone = 16;
    for (size_t i = 0; i < COUNT_OF(most) && size + zone > most[i]; i++)
        zone *= 2;
    return zone;
}

/* Returns how many bytes of a slot are left if a red zone follows them. The inverse of
 * size_class_red_zone(): the zone depends on the size that is wanted, so zones are tried from the
 * smallest. */
uint64_t size_class_without_red_zone(uint64_t size)
{
    uint64_t zone = 16;
    while (zone < size && size_class_red_zone(size - zone) > zone)
        zone *= 2;
    return zone < size ? size - zone : 0;
}

/* Returns the bytes of a span of slots of exactly this size, or 0 if there is no such size
 * class. */
uint64_t size_class_span(uint64_t slot)
{
    const size_t at = size_classes_find(slot);
    return at < COUNT_OF(classes) && classes[at].size == slot
               ? (uint64_t)classes[at].pages * SPAN_UNIT
               : 0;
}
