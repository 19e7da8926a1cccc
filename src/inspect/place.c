/*
 * place: objectIds, "o:3:1234:0:0:0:Config"; see remote.h.
 *
 * They say where something is in a snapshot, and nothing needs to be kept for them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/remote.h"

void place_append(const struct taken *taken, const struct remote_place *place, struct text *text)
{
    text_printf(text, "%c:%u:%u:%" PRIu64 ":%" PRIu64 ":%zu:", (char)place->kind, taken->number,
                place->node, place->first, place->second, place->name_size);
    text_append(text, place->name, place->name_size);
    text_append(text, place->path, place->path_size);
}

/* Reads a number and the colon after it. */
static bool read_number(const char **at, uint64_t most, uint64_t *ret)
{
    char *end;
    errno = 0;
    if (**at < '0' || **at > '9')
        return false;
    *ret = strtoull(*at, &end, 10);
    if (errno != 0 || *ret > most || *end != ':')
        return false;
    *at = end + 1;
    return true;
}

bool place_read(const struct taken *taken, const char *text, struct remote_place *ret,
                bool *ret_is_old)
{
    static const char kinds[] = {PLACE_NODE,     PLACE_OBJECT,  PLACE_SLICE,
                                 PLACE_VARIABLE, PLACE_LOCAL,   PLACE_ENTRY,
                                 PLACE_CLASS,    PLACE_PACKAGE, PLACE_GOROUTINES};
    uint64_t number, node, name;
    *ret_is_old = false;
    *ret = (struct remote_place){.kind = (enum place_kind)text[0]};
    if (text[0] == '\0' || !memchr(kinds, text[0], sizeof(kinds)) || text[1] != ':')
        return false;
    const char *at = text + 2;
    if (!read_number(&at, UINT32_MAX, &number) || !read_number(&at, UINT32_MAX, &node) ||
        !read_number(&at, UINT64_MAX, &ret->first) || !read_number(&at, UINT64_MAX, &ret->second) ||
        !read_number(&at, PLACE_TEXT - 1, &name))
        return false;
    const size_t left = strlen(at);
    if (name > left || left - name >= PLACE_TEXT)
        return false;
    ret->node = (uint32_t)node;
    ret->name_size = (size_t)name;
    ret->path_size = left - (size_t)name;
    memcpy(ret->name, at, ret->name_size);
    memcpy(ret->path, at + name, ret->path_size);
    *ret_is_old = number != taken->number;
    return taken->made.view && ret->node < g2h_view_node_count(taken->made.view);
}
