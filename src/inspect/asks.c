/* asks; see asks.h. */
#include "inspect/asks.h"

#include <string.h>

uint32_t asks_number(struct asks *asks)
{
    return ++asks->last;
}

bool asks_put(struct asks *asks, enum channel_kind kind, uint32_t number, const void *body,
              size_t size)
{
    const struct channel_head head = {(uint32_t)size, number, kind};
    const size_t wanted = sizeof(head) + size;
    if (asks->out.capacity - asks->out.size < wanted && !text_grow(&asks->out, wanted))
        return false;
    text_append(&asks->out, (const char *)&head, sizeof(head));
    text_append(&asks->out, body, size);
    return true;
}

bool asks_ask(struct asks *asks, enum channel_kind kind, const void *body, size_t size,
              const struct reply_to *to, asks_done *done)
{
    const struct ask ask = {.number = asks_number(asks), .to = *to, .done = done};
    return vector_grow(&asks->list, 1) && asks_put(asks, kind, ask.number, body, size) &&
           vector_push(&asks->list, ask);
}

bool asks_take(struct asks *asks, uint32_t number, struct ask *ret)
{
    for (size_t i = 0; i < asks->list.count; i++) {
        if (asks->list.data[i].number != number)
            continue;
        *ret = asks->list.data[i];
        asks->list.data[i] = asks->list.data[--asks->list.count];
        return true;
    }
    return false;
}

bool asks_message(const struct asks *asks, size_t from, struct channel_head *ret, const char **body,
                  bool *ret_broken)
{
    const size_t left = asks->in.size - from;
    if (left < sizeof(*ret))
        return false;
    memcpy(ret, asks->in.data + from, sizeof(*ret));
    *ret_broken = ret->size > CHANNEL_MOST;
    *body = asks->in.data + from + sizeof(*ret);
    return !*ret_broken && left - sizeof(*ret) >= ret->size;
}

void asks_deinit(struct asks *asks)
{
    text_deinit(&asks->out);
    text_deinit(&asks->in);
    free(asks->list.data);
}
