/* chunks; see chunks.h. */
#include "chunks.h"

#include <string.h>

#include "base/error.h"

/* A message, as far as it has been read. */
struct message {
    struct json *json;
    struct text method;
    const uint8_t *parameters; /* where their value begins; NULL: there are none */
};

static void message_deinit(struct message *message)
{
    text_deinit(&message->method);
}

static struct g2h_error *read_entry(void *context, const struct text *key)
{
    struct message *message = context;
    struct json *json = message->json;
    if (json_is(key, "method") && json_kind(json) == JSON_STRING)
        return json_string(json, &message->method);
    if (json_is(key, "params"))
        message->parameters = json->at;
    return json_skip(json);
}

/* The chunk among a message's parameters. */
struct chunk {
    struct json *json;
    struct text *text;
    struct text part;
    bool is_there;
};

static struct g2h_error *read_parameter(void *context, const struct text *key)
{
    static const char first[] = "{\"snapshot\":";
    struct chunk *chunk = context;
    if (!json_is(key, "chunk") || chunk->is_there)
        return json_skip(chunk->json);
    TRY(json_string(chunk->json, &chunk->part));
    if (chunk->text->size > 0 && chunk->part.size > strlen(first) &&
        memcmp(chunk->part.data, first, strlen(first)) == 0)
        return json_error(chunk->json, "a second snapshot begins, and only one can be read");
    text_append(chunk->text, chunk->part.data, chunk->part.size);
    TRY_MEMORY(!chunk->text->failed);
    chunk->is_there = true;
    return NULL;
}

static struct g2h_error *read_chunk(const struct json *json, const uint8_t *parameters,
                                    struct text *text)
{
    struct json here = *json;
    struct chunk chunk = {&here, text, {0}, false};
    here.at = parameters;
    struct g2h_error *error = json_object(&here, read_parameter, &chunk);
    text_deinit(&chunk.part);
    TRY(error);
    return chunk.is_there ? NULL : json_error(&here, "the message before has no chunk");
}

/* Reads the next message, and appends its chunk, if it has one, to the text. */
static struct g2h_error *read_message(struct json *json, struct text *text)
{
    static const char wanted[] = "HeapProfiler.addHeapSnapshotChunk";
    _cleanup_(message_deinit) struct message message = {.json = json};
    TRY(json_object(json, read_entry, &message));
    return json_is(&message.method, wanted) && message.parameters
               ? read_chunk(json, message.parameters, text)
               : NULL;
}

/* Reads the first key of the first message. */
static struct g2h_error *read_first_key(struct json *json, struct text *ret)
{
    bool more = false;
    if (json_kind(json) == JSON_LIST)
        TRY(json_open(json, '['));
    TRY(json_open(json, '{'));
    TRY(json_next(json, '{', true, &more));
    return more ? json_string(json, ret) : NULL;
}

bool chunks_are_in(const struct json *json)
{
    static const char *const keys[] = {"method", "params", "id", "sessionId"};
    struct json here = *json;
    _cleanup_(text_deinit) struct text key = {0};
    struct g2h_error *error = read_first_key(&here, &key);
    bool is_key = false;
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys) && !error; i++)
        is_key = is_key || json_is(&key, keys[i]);
    g2h_error_destroy(error);
    return is_key;
}

static struct g2h_error *read_list(struct json *json, struct text *text)
{
    bool more;
    TRY(json_open(json, '['));
    for (bool is_first = true;; is_first = false) {
        TRY(json_next(json, '[', is_first, &more));
        if (!more)
            return json_finish(json);
        TRY(read_message(json, text));
    }
}

struct g2h_error *chunks_join(const struct json *json, struct text *ret)
{
    struct json here = *json;
    *ret = (struct text){0};
    if (json_kind(&here) == JSON_LIST)
        TRY(read_list(&here, ret));
    else
        while (json_kind(&here), here.at < here.end)
            TRY(read_message(&here, ret));
    return ret->size > 0 ? NULL
                         : error_create(G2H_ERROR_DAMAGED,
                                        "%s: is a log of the DevTools protocol without "
                                        "HeapProfiler.addHeapSnapshotChunk: it has no snapshot",
                                        json->name);
}
