/* lines: writes single nodes and edges of a snapshot as lines. */
#ifndef OUTPUT_HEAPSNAPSHOT_LINES_H
#define OUTPUT_HEAPSNAPSHOT_LINES_H

#include "base/workers.h"
#include "output/json.h"
#include "output/labels.h"

enum {
    NODE_FIELDS = 7,
    NODE_LINE = 7 * (JSON_U32_MAX + 1) + 1,
    EDGE_LINE = 3 * (JSON_U32_MAX + 1) + 1,
    LINE_SLACK = 8 /* bytes after a line that its writing may change */
};

/* The digits of the numbers of names, since nodes and edges contain these: json_short() by number.
 */
struct name_digits {
    uint64_t *digits;
    uint32_t count;
};

static inline char *lines_write_name(char *at, const struct name_digits *names, uint32_t name)
{
    return name < names->count ? json_u32_short(at, names->digits[name]) : json_u32(at, name);
}

enum { LARGE_BUFFER = 8 << 20 /* bytes of lines from which on they are flushed */ };

/* Writes a line's first field, the type, between commas. */
static inline char *write_type(char *at, unsigned type)
{
    const char text[] = {',', (char)('0' + type), ','};
    memcpy(at, text, sizeof(text));
    return at + sizeof(text);
}

static inline char *lines_write_node(char *at, const struct name_digits *names, enum node_type type,
                                     uint32_t name, uint32_t id, uint32_t size, uint32_t edge_count,
                                     uint32_t detachedness)
{
    at = lines_write_name(write_type(at, type), names, name);
    *at++ = ',';
    at = json_u32(at, id);
    *at++ = ',';
    at = json_u32(at, size);
    *at++ = ',';
    at = json_u32(at, edge_count);
    const char end[] = {',', '0', ',', (char)('0' + detachedness), '\n'};
    memcpy(at, end, sizeof(end));
    return at + sizeof(end);
}

/* Writes the end of an edge's line: its target, which is written as number node. */
static inline char *write_target(char *at, uint32_t node)
{
    *at++ = ',';
    at = json_u32(at, node * NODE_FIELDS);
    *at++ = '\n';
    return at;
}

static inline char *write_element(char *at, uint32_t index, uint32_t node)
{
    return write_target(json_u32(write_type(at, EDGE_ELEMENT), index), node);
}

/* Writes an edge of a type other than EDGE_ELEMENT, which has a name. */
static inline char *write_edge(char *at, const struct name_digits *names, enum edge_type type,
                               uint32_t name, uint32_t node)
{
    return write_target(lines_write_name(write_type(at, type), names, name), node);
}

#endif
