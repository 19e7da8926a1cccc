/* java_string: a text as Java keeps it: a String and the array of its bytes, which are Latin-1
 * where all characters are of it, else UTF-16. */
#ifndef OUTPUT_HPROF_JAVA_STRING_H
#define OUTPUT_HPROF_JAVA_STRING_H

#include "output/hprof/records.h"

/* How a text is written. */
struct java_string {
    const char *text; /* UTF-8 */
    size_t size;
    uint32_t bytes; /* that it takes; at most twice as many as size */
    bool is_wide, is_ascii;
};

/* What becomes of a text, of which no more than 2^30 bytes are looked at. */
struct java_string java_string_of(const char *text, size_t size);

/* Puts its bytes. */
char *java_string_put(char *at, const struct java_string *string);

/* Writes the String with id id, and its array with id bytes, to a segment. Error:
 * G2H_ERROR_MEMORY; what worker_buffer_flush() gives. */
struct g2h_error *java_string_write(struct segment *segment, uint32_t id, uint32_t bytes,
                                    const char *text, size_t size);

/* Room for the record of a String, and the record. */
enum { STRING_FIELDS = ID_SIZE + 1, STRING_RECORD = INSTANCE_HEADER + STRING_FIELDS };
char *java_string_put_instance(char *at, uint32_t id, uint32_t bytes, bool is_wide);

#endif
