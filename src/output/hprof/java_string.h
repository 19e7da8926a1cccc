/* java_string: a string as Java stores it: a String and the array of its bytes. The bytes are
 * Latin-1 if all characters are in that set, otherwise UTF-16. */
#ifndef OUTPUT_HPROF_JAVA_STRING_H
#define OUTPUT_HPROF_JAVA_STRING_H

#include "output/hprof/hprof_records.h"

/* A string, and how it is written. */
struct java_string {
    const char *text; /* UTF-8 */
    size_t size;
    uint32_t bytes; /* the size of the array; at most twice size */
    bool is_wide, is_ascii;
};

/* Finds out how a string is written. Only its first 2^30 bytes are used. */
struct java_string java_string_of(const char *text, size_t size);

/* Writes the bytes of the array, and returns the position after them. */
char *java_string_put(char *at, const struct java_string *string);

/* Writes the String with id id, and its array with id bytes, to a segment. Errors:
 * G2H_ERROR_MEMORY; those of worker_buffer_flush(). */
struct g2h_error *java_string_write(struct hprof_segment *segment, uint32_t id, uint32_t bytes,
                                    const char *text, size_t size);

/* The sizes of a String's fields and record, and the function that writes that record. */
enum { STRING_FIELDS = ID_SIZE + 1, STRING_RECORD = INSTANCE_HEADER + STRING_FIELDS };
char *java_string_put_instance(char *at, uint32_t id, uint32_t bytes, bool is_wide);

#endif
