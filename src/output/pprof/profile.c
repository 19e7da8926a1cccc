/* profile; see profile.h. */
#include "output/pprof/profile.h"

#include <string.h>

#include "base/printable.h"
#include "base/text.h"

/* Wire types of protocol buffers. */
enum { VARINT = 0, BYTES = 2 };

bool profile_init(struct profile *profile, struct worker_buffer *out)
{
    uint32_t number;
    *profile = (struct profile){.out = out};
    return string_pool_intern(&profile->strings, "", 0, &number);
}

void profile_deinit(struct profile *profile)
{
    worker_buffer_deinit(&profile->message);
    string_pool_deinit(&profile->strings);
}

bool profile_put_varint(struct worker_buffer *buffer, uint64_t value)
{
    char *at = worker_buffer_reserve(buffer, 10);
    if (!at)
        return false;
    do {
        *at++ = (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        buffer->size++;
    } while ((value >>= 7) != 0);
    return true;
}

bool profile_put_number(struct worker_buffer *buffer, unsigned field, uint64_t value)
{
    return value == 0 ||
           (profile_put_varint(buffer, field << 3 | VARINT) && profile_put_varint(buffer, value));
}

bool profile_put_bytes(struct worker_buffer *buffer, unsigned field, const char *data, size_t size)
{
    return profile_put_varint(buffer, field << 3 | BYTES) && profile_put_varint(buffer, size) &&
           worker_buffer_put(buffer, data, size);
}

bool profile_put_string(struct profile *profile, struct worker_buffer *buffer, unsigned field,
                        const char *text, size_t size)
{
    uint32_t number;
    return string_pool_intern(&profile->strings, text, size, &number) &&
           profile_put_number(buffer, field, number);
}

bool profile_put_text(struct profile *profile, unsigned field, const char *text)
{
    return profile_put_string(profile, &profile->message, field, text, strlen(text));
}

bool profile_put_message(struct profile *profile, unsigned field)
{
    struct worker_buffer *message = &profile->message;
    const bool good = profile_put_bytes(profile->out, field, message->data, message->size);
    message->size = 0;
    return good;
}

bool profile_put_type(struct profile *profile, unsigned field, const char *type, const char *unit)
{
    return profile_put_text(profile, VALUE_TYPE_TYPE, type) &&
           profile_put_text(profile, VALUE_TYPE_UNIT, unit) && profile_put_message(profile, field);
}

bool profile_put_mapping(struct profile *profile, const char *program, unsigned flags)
{
    bool good = profile_put_number(&profile->message, MAPPING_ID, 1) &&
                (!program || profile_put_text(profile, MAPPING_FILENAME, program));
    for (unsigned i = MAPPING_HAS_FUNCTIONS; i <= MAPPING_HAS_INLINE_FRAMES && good; i++)
        good = profile_put_number(&profile->message, i, flags >> i & 1);
    return good && profile_put_message(profile, PROFILE_MAPPING);
}

/* Appends a string in a form that is safe to show: go tool pprof writes it to a terminal as it
 * is. */
static bool put_shown(struct profile *profile, const char *text, size_t size)
{
    struct text shown = {0};
    text_append(&shown, text, size);
    const size_t left = shown.failed ? 0 : g2h_printable(shown.data, size);
    const bool good =
        !shown.failed && profile_put_bytes(profile->out, PROFILE_STRING_TABLE, shown.data, left);
    text_deinit(&shown);
    return good;
}

bool profile_put_strings(struct profile *profile)
{
    for (uint32_t i = 0; i < profile->strings.count; i++) {
        size_t size;
        const char *text = string_pool_text(&profile->strings, i, &size);
        if (!(printable_is(text, size)
                  ? profile_put_bytes(profile->out, PROFILE_STRING_TABLE, text, size)
                  : put_shown(profile, text, size)))
            return false;
    }
    return true;
}

struct g2h_error *profile_write(const struct g2h_output_options *options, workers_produce *produce,
                                void *context)
{
    struct g2h_output_options packed = *options;
    packed.gzip = true;
    return sink_run(&packed, 1, 1, produce, context);
}
