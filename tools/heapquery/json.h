/*
 * json: reads JSON (RFC 8259) from front to back, without a tree: the caller knows what should come
 * next, or passes over it.
 *
 * Only strings are allocated, and nothing recurses, however deeply lists are nested. If the input
 * is not as it should be, the error says at which byte.
 */
#ifndef HEAPQUERY_JSON_H
#define HEAPQUERY_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

struct json {
    const char *name; /* of the file */
    const uint8_t *begin, *at, *end;
};

/* Returns the error "FILE: byte 12: WHAT" for the byte that would be read next. */
struct g2h_error *json_error(const struct json *json, const char *what);

/* Steps into a list or an object, '[' or '{'. */
struct g2h_error *json_open(struct json *json, char bracket);

/* Steps to the first or next entry of a list or an object, or out of it if there are no more
 * entries; *ret_more says which. bracket: as for json_open(). is_first: no entry has been read. */
struct g2h_error *json_next(struct json *json, char bracket, bool is_first, bool *ret_more);

/* Reads an object: each() gets the key of each entry, and must read the value or pass over it. */
typedef struct g2h_error *json_entry(void *context, const struct text *key);
struct g2h_error *json_object(struct json *json, json_entry *each, void *context);

/* Returns whether a key, or a string, equals a text. */
bool json_is(const struct text *string, const char *text);

/* The kind of the next value. Numbers, true, false and null are JSON_OTHER, and so are bytes that
 * begin no value. */
enum json_kind { JSON_LIST, JSON_OBJECT, JSON_STRING, JSON_OTHER };
enum json_kind json_kind(struct json *json);

/* Reads a whole number from 0 to most, which may be written as 12.0 or 1e3, too. */
struct g2h_error *json_number(struct json *json, uint64_t most, uint64_t *ret);

/* Reads a string as UTF-8. Halves of a surrogate pair without the other half, and bytes that are
 * not UTF-8, become U+FFFD. */
struct g2h_error *json_string(struct json *json, struct text *ret);

/* Passes over a value of any kind. The brackets in it are counted, but not matched. */
struct g2h_error *json_skip(struct json *json);

/* Returns an error if anything but space follows. */
struct g2h_error *json_finish(struct json *json);

#endif
