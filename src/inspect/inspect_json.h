/*
 * inspect_json: reads JSON that a client has sent, and writes strings as JSON for a program to
 * read.
 */
#ifndef INSPECT_INSPECT_JSON_H
#define INSPECT_INSPECT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* ==== reads JSON (RFC 8259) that a client has sent ====
 *
 * The input is checked once, as a whole. After that its values are parts of it, in which members
 * are looked up; no tree is built.
 */

enum { JSON_DEPTH = 32 }; /* the deepest nesting of objects and arrays */

/* A value of checked JSON, without space around it; size 0: no value. */
struct json_value {
    const char *data;
    size_t size;
};

/* Checks JSON; the value is a part of it. Returns false if it is invalid, or deeper than
 * JSON_DEPTH. Whether it is UTF-8 is not checked. */
bool json_read(const char *text, size_t size, struct json_value *ret);

/* Returns the value of an object's member; if several have this name the last one, as JSON.parse()
 * does. Returns an empty value if the object has no such member, or is not an object. */
struct json_value json_member(struct json_value object, const char *name);

/* Reads the next member of an object, *left, which is the object at first, and then what follows
 * the member. Appends its name. Returns false at the end. */
bool json_next_member(struct json_value *left, struct text *name, struct json_value *ret);

/* Appends the characters of a string. A surrogate without its other half becomes U+FFFD. Returns
 * false if the value is not a string. */
bool json_text(struct json_value value, struct text *ret);

/* Returns whether a value is the word true. */
bool json_is_true(struct json_value value);

/* Returns whether a value is a number without a fraction or an exponent. */
bool json_is_integer(struct json_value value);

/* ==== writes a string as JSON for a program to read ====
 *
 * It may not be shown on a terminal as it is; json_string() of output/json.h is for that, whose
 * escapes take more space.
 */

/* Appends UTF-8 as a JSON string with its quotes. Invalid bytes become U+FFFD. */
void json_write(struct text *text, const char *data, size_t size);

/* The same for a C string. */
void json_write_string(struct text *text, const char *string);

/* Appends an event Runtime.consoleAPICalled of this moment: a line for DevTools' console, with type
 * "log", "warning" or "error". */
void json_write_console(struct text *text, const char *type, const char *line);

#endif
