/*
 * profile: the messages of profile.proto (github.com/google/pprof/proto), a protocol buffer that is
 * compressed by gzip.
 *
 * A message is made in profile->message, and then put into the message that it is part of: the
 * profile itself, or one that the caller makes. Functions return false if memory runs out.
 *
 *   profile             messages
 *   pprof_retained, alloc
 *                       who holds the memory, and who allocated it, by sampling
 */
#ifndef OUTPUT_PPROF_PROFILE_H
#define OUTPUT_PPROF_PROFILE_H

#include "base/strings.h"
#include "output/sink.h"

/* The numbers of fields, by message. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING_TABLE = 6,
    PROFILE_TIME_NANOS = 9,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,
    VALUE_TYPE_TYPE = 1,
    VALUE_TYPE_UNIT = 2,
    SAMPLE_LOCATION_ID = 1,
    SAMPLE_VALUE = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_NUM = 3,
    MAPPING_ID = 1,
    MAPPING_FILENAME = 5,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILENAMES = 8,
    MAPPING_HAS_LINE_NUMBERS = 9,
    MAPPING_HAS_INLINE_FRAMES = 10,
    LOCATION_ID = 1,
    LOCATION_MAPPING_ID = 2,
    LOCATION_LINE = 4,
    LINE_FUNCTION_ID = 1,
    LINE_LINE = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILENAME = 4,
    FUNCTION_START_LINE = 5,
};

struct profile {
    struct worker_buffer *out;    /* the profile's bytes */
    struct worker_buffer message; /* the message that is being made */
    struct string_pool strings;   /* the table of strings; string 0 is the empty one */
};

/* Begins a profile, whose bytes are appended to out. */
bool profile_init(struct profile *profile, struct worker_buffer *out);
void profile_deinit(struct profile *profile);

/* Appends a varint without a field, as packed fields contain them. */
bool profile_put_varint(struct worker_buffer *buffer, uint64_t value);

/* Append a field: a number; bytes; or a string, by its number in the table of strings. A number 0
 * is left out, since readers of profile.proto do not need it. */
bool profile_put_number(struct worker_buffer *buffer, unsigned field, uint64_t value);
bool profile_put_bytes(struct worker_buffer *buffer, unsigned field, const char *data, size_t size);
bool profile_put_string(struct profile *profile, struct worker_buffer *buffer, unsigned field,
                        const char *text, size_t size);

/* Appends a NUL-terminated string as a field of profile->message. */
bool profile_put_text(struct profile *profile, unsigned field, const char *text);

/* Appends profile->message as a field of the profile, and empties it. */
bool profile_put_message(struct profile *profile, unsigned field);

/* Appends a ValueType; field is PROFILE_SAMPLE_TYPE or PROFILE_PERIOD_TYPE. */
bool profile_put_type(struct profile *profile, unsigned field, const char *type, const char *unit);

/* Appends the only mapping, with id 1. program is its file, or NULL if unknown. flags has a bit for
 * each field from MAPPING_HAS_FUNCTIONS on that is true. */
bool profile_put_mapping(struct profile *profile, const char *program, unsigned flags);

/* Appends the table of strings, which comes last. */
bool profile_put_strings(struct profile *profile);

/* Writes the bytes that produce makes as a file for pprof. */
struct g2h_error *profile_write(const struct g2h_output_options *options, workers_produce *produce,
                                void *context);

#endif
