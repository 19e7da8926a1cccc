/*
 * asks: questions to the session, which answers when it can.
 *
 * Neither asking nor reading an answer waits: the session may be busy for long, and clients want
 * answers that need no session meanwhile.
 */
#ifndef INSPECT_ASKS_H
#define INSPECT_ASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/text.h"
#include "inspect/channel.h"

struct hub;

/* The client for whom a question is asked, and the parts of its request that the answer repeats. */
struct reply_to {
    uint64_t connection; /* 0: for no one */
    char id[24];         /* JSON; empty: none */
    char session[136];   /* likewise */
};

/* Processes the answer: CHANNEL_ANSWER or CHANNEL_ERROR. If the client has gone, it is not
 * called. */
typedef void asks_done(struct hub *hub, const struct reply_to *to, enum channel_kind kind,
                       const char *body, size_t size);

struct ask {
    uint32_t number;
    struct reply_to to;
    asks_done *done;
};

struct asks {
    uint32_t last;   /* the number of the last question */
    struct text out; /* messages to the session */
    size_t sent;     /* bytes of out that are */
    struct text in;  /* of the session */
    VECTOR(struct ask) list;
};

/* Returns a number for a question. */
uint32_t asks_number(struct asks *asks);

/* Appends a message to the session's queue. Returns false if memory runs out. */
bool asks_put(struct asks *asks, enum channel_kind kind, uint32_t number, const void *body,
              size_t size);

/* Asks the session. done is called with the answer. Returns false if memory runs out. */
bool asks_ask(struct asks *asks, enum channel_kind kind, const void *body, size_t size,
              const struct reply_to *to, asks_done *done);

/* Removes a question from the list. Returns false if none has this number. */
bool asks_take(struct asks *asks, uint32_t number, struct ask *ret);

/* Returns whether in has a message as a whole; body is part of in. *ret_size is its size with its
 * head. *ret_broken: it cannot be one. */
bool asks_message(const struct asks *asks, size_t from, struct channel_head *ret, const char **body,
                  bool *ret_broken);

void asks_deinit(struct asks *asks);

#endif
