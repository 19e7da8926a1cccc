/*
 * websocket: frames of RFC 6455 as a server reads and writes them, and the answer to the handshake.
 *
 * What is sent is one frame per message, as a message in fragments does not come through
 * chrome://inspect. No extension is agreed on.
 */
#ifndef INSPECT_WEBSOCKET_H
#define INSPECT_WEBSOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum {
    WEBSOCKET_MOST = 1 << 20, /* bytes of a client's message */
    WEBSOCKET_ACCEPT = 29     /* characters of the answer to a key, and a zero */
};

enum websocket_opcode {
    WEBSOCKET_CONTINUATION = 0,
    WEBSOCKET_TEXT = 1,
    WEBSOCKET_CLOSE = 8,
    WEBSOCKET_PING = 9,
    WEBSOCKET_PONG = 10,
};

/* Why a connection ends: RFC 6455, 7.4.1. */
enum websocket_status {
    WEBSOCKET_NORMAL = 1000,
    WEBSOCKET_AWAY = 1001,
    WEBSOCKET_PROTOCOL_ERROR = 1002,
    WEBSOCKET_UNSUPPORTED = 1003,
    WEBSOCKET_NOT_UTF8 = 1007,
    WEBSOCKET_TOO_LARGE = 1009,
    WEBSOCKET_INTERNAL_ERROR = 1011,
};

/* A frame of a client, whose bytes are not masked any more. */
struct websocket_frame {
    enum websocket_opcode opcode;
    bool is_last; /* of its message */
    char *data;
    size_t size;
};

/* Computes Sec-WebSocket-Accept, with a zero at its end. Returns false if the key is none: 16 bytes
 * in base64. */
bool websocket_accept(const char *key, size_t size, char ret[WEBSOCKET_ACCEPT]);

/*
 * Reads the frame that begins the data, and removes its mask in place. *ret_size is its size; 0: it
 * is not there as a whole. Returns 0, or why the connection must end.
 */
unsigned websocket_read(char *data, size_t size, struct websocket_frame *ret, size_t *ret_size);

/* Appends a frame that is the whole message. */
void websocket_write(struct text *out, enum websocket_opcode opcode, const char *data, size_t size);

/* Returns whether bytes are UTF-8. */
bool websocket_is_utf8(const char *data, size_t size);

#endif
