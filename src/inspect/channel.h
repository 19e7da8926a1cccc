/*
 * channel: the pipe between the two processes of --inspect.
 *
 * The server (server.h) has the sockets and no rights; the session (cdp_session.h) has the heaps
 * and the right to read the process, and no socket. The server asks, the session answers. Both are
 * this program at the same moment, so numbers have the machine's byte order; but whoever takes over
 * the server by what it reads from the network must not take over the session as well, so the
 * session checks each message as it would a file.
 *
 * A message is a head and its body. It is read as a whole and no byte of the next one is read: in
 * the middle of a stream another process may become the session.
 */
#ifndef INSPECT_CHANNEL_H
#define INSPECT_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

enum {
    CHANNEL_CHUNK = 1 << 20,           /* bytes of a snapshot in one message, */
    CHANNEL_MOST = CHANNEL_CHUNK + 64, /* in any message to the server, */
    CHANNEL_MOST_ASKED = 64 << 10      /* and in any message to the session */
};

/* The kinds of messages. A request has the number that its answer repeats. */
enum channel_kind {
    /* Requests; the body is in brackets. */
    CHANNEL_TAKE = 1, /* take a snapshot [] */
    CHANNEL_MORE,     /* the next bytes of the snapshot whose request has this number [] */
    CHANNEL_TARGET,   /* the target [] → what /json/list says about it except its address, members
                       * of an object: "title":…,"url":…; empty: it has ended */
    CHANNEL_USAGE,    /* Runtime.getHeapUsage [] → the result */
    CHANNEL_OBJECT,   /* HeapProfiler.getObjectByHeapObjectId [id] → the RemoteObject */
    CHANNEL_HEAP_ID,  /* HeapProfiler.getHeapObjectId [objectId] → the id as a string */
    CHANNEL_PROPERTIES, /* Runtime.getProperties [objectId] → the result */
    CHANNEL_EVALUATE,   /* Runtime.evaluate [struct channel_evaluate, expression] → the result */
    CHANNEL_SCRIPTS,    /* the source files that snapshots link [] → Debugger.scriptParsed, whole
                           messages of the protocol, a line each */
    CHANNEL_LINES,      /* the messages so far [] → Runtime.consoleAPICalled, likewise */
    CHANNEL_SOURCE,     /* Debugger.getScriptSource [scriptId] → the path of the file */
    /* Answers: */
    CHANNEL_ANSWER = 64, /* to all requests except TAKE: the body is above, after the arrows; to
                          * MORE: bytes of the snapshot, at most CHANNEL_CHUNK */
    CHANNEL_ERROR,       /* to any request: it failed [message for users]. To TAKE and MORE: the
                          * snapshot has failed, and nothing else follows */
    CHANNEL_PROGRESS,    /* to TAKE, any number of times [a byte: percent] */
    CHANNEL_READY,       /* to TAKE: from now on there is something for MORE [] */
    CHANNEL_END,         /* to MORE: the snapshot is complete [] */
};

/* The head of the body of CHANNEL_EVALUATE, before the expression. */
enum { CHANNEL_INSPECTED = 5 };
struct channel_evaluate {
    uint32_t inspected[CHANNEL_INSPECTED]; /* ids of the rows that were selected last, $0 first; 0:
                                              none */
    uint32_t flags;                        /* CHANNEL_EAGER … */
};
enum {
    CHANNEL_EAGER = 1,      /* while the user types: nothing that takes long is started */
    CHANNEL_COMPLETION = 2, /* what precedes the dot, whose properties are asked for next */
};

/* Heads every message. */
struct channel_head {
    uint32_t size;   /* bytes of the body */
    uint32_t number; /* of the request */
    uint32_t kind;   /* enum channel_kind */
};

/*
 * Sends a message. size is at most CHANNEL_MOST. The descriptor blocks, and SIGPIPE is ignored.
 * Returns false if the other process is gone.
 */
bool channel_send(int fd, enum channel_kind kind, uint32_t number, const void *body, size_t size);

/* The other results of channel_receive(). */
enum channel_state {
    CHANNEL_RECEIVED,
    CHANNEL_CLOSED, /* the other process is gone */
    CHANNEL_BROKEN, /* a message is larger than CHANNEL_MOST_ASKED, or memory ran out */
};

/* Waits for a message to the session, and replaces the contents of body by its body. A zero follows
 * it, which size does not count. */
enum channel_state channel_receive(int fd, struct channel_head *ret, struct text *body);

#endif
