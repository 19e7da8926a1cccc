/*
 * json: JSON (RFC 8259) read from front to back, without a tree of it: who reads knows what should
 * come next, or passes over it.
 *
 * Nothing is allocated but for strings, and nothing recurs, however deep lists stand in lists. What
 * is not as it should be is an error that says the byte.
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

/* "FILE: byte 12: WHAT", at what would be read next. */
struct g2h_error *json_error(const struct json *json, const char *what);

/* Steps into a list or an object, '[' or '{'. */
struct g2h_error *json_open(struct json *json, char bracket);

/* Steps to the first or next entry, or out of what json_open() was given; *ret_more says which.
 * is_first: nothing of it has been read. */
struct g2h_error *json_next(struct json *json, char bracket, bool is_first, bool *ret_more);

/* Reads an object: each() gets the key of each entry, and must read the value or pass over it. */
typedef struct g2h_error *json_entry(void *context, const struct text *key);
struct g2h_error *json_object(struct json *json, json_entry *each, void *context);

/* Whether a key, or a string, is a text. */
bool json_is(const struct text *string, const char *text);

/* What a value is. Bytes that no value begins with are JSON_OTHER, as numbers, true … are. */
enum json_kind { JSON_LIST, JSON_OBJECT, JSON_STRING, JSON_OTHER };
enum json_kind json_kind(struct json *json);

/* A whole number from 0 to most. */
struct g2h_error *json_number(struct json *json, uint64_t most, uint64_t *ret);

/* A string as UTF-8: halves of a surrogate pair without the other one, and what is no UTF-8, become
 * U+FFFD. */
struct g2h_error *json_string(struct json *json, struct text *ret);

/* Passes over any value. Of what is in it, brackets are counted, but not matched. */
struct g2h_error *json_skip(struct json *json);

/* That nothing but space follows. */
struct g2h_error *json_finish(struct json *json);

#endif
