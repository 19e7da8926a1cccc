/*
 * presses: clients that have requested a snapshot, and the one that is being made.
 *
 * At most one is made at a time. Requests that come before it is ready share it; all later ones
 * share the next one. The bytes of a snapshot are fetched when all waiting clients have taken the
 * previous ones, so that the slowest client, and not our memory, sets the pace.
 */
#ifndef INSPECT_PRESSES_H
#define INSPECT_PRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/text.h"
#include "inspect/asks.h"
#include "inspect/channel.h"

enum { PRESSES_PAUSE = 2000 }; /* milliseconds between two snapshots */

struct press_client {
    struct reply_to to;
    bool has_progress; /* it wants to see progress */
};

struct press {
    uint32_t number; /* of the question; 0: the session has not been asked */
    bool is_ready;   /* there are bytes to fetch, */
    bool is_asked;   /* and they have been requested */
    unsigned percent;
    char rest[4]; /* the beginning of a character, whose end comes with the next bytes */
    size_t rest_size;
    VECTOR(struct press_client) clients;
};

struct presses {
    struct press current, next;
    int64_t not_before; /* milliseconds: when the next one may begin */
};

struct hub;

/* Adds a snapshot request of the client that an answer goes to. */
void presses_add(struct hub *hub, const struct reply_to *to, bool has_progress);

/* Begins a snapshot if one is wanted, and asks for the next bytes if all clients have taken those
 * before. */
void presses_tick(struct hub *hub);

/* Returns how many milliseconds it is until presses_tick() has something to do; -1: it waits for
 * others. */
int presses_patience(const struct hub *hub);

/* Processes a message of the session about a snapshot. Returns false if it is about something
 * else. */
bool presses_answered(struct hub *hub, const struct channel_head *head, const char *body);

void presses_deinit(struct presses *presses);

#endif
