/*
 * http: the messages of HTTP and WebSocket, as bytes: heads of requests and answers, frames, and
 * the handshake from one to the other.
 */
#ifndef INSPECT_HTTP_H
#define INSPECT_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* ==== SHA-1 (RFC 3174), which the handshake of WebSocket prescribes ====
 *
 * It protects nothing here.
 */

enum { SHA1_SIZE = 20 };

/* Computes the digest of size bytes. */
void sha1(const void *data, size_t size, uint8_t ret[SHA1_SIZE]);

/* ==== frames of RFC 6455 as a server reads and writes them, and the answer to the handshake ====
 *
 * What is sent is one frame per message, as a message in fragments does not come through
 * chrome://inspect. No extension is agreed on.
 */

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

/* ==== the head of a request as clients of DevTools send it (RFC 9112), and answers ====
 *
 * Whatever is unusual is refused: lines that are continued, a target with a host in it, spaces
 * before a colon. A request has no body, and each connection has one request.
 */

enum { HTTP_HEAD_MOST = 8192 }; /* bytes of a request */

/* A part of the request; of headers without the space around it. */
struct http_part {
    const char *data; /* NULL: not present */
    size_t size;
};

struct http_request {
    struct http_part method, path;                     /* the target without its query */
    struct http_part host, origin, site, key, version; /* site: Sec-Fetch-Site */
    bool is_upgrade;                                   /* to a WebSocket */
    bool is_twice; /* a header is repeated that may occur only once */
};

enum http_state {
    HTTP_PARTIAL, /* the head is not there as a whole */
    HTTP_COMPLETE,
    HTTP_BAD,
    HTTP_TOO_LARGE,
};

/* Reads a head at the beginning of size bytes. *ret_size is its size with the empty line at its
 * end. */
enum http_state http_read(const char *data, size_t size, struct http_request *ret,
                          size_t *ret_size);

/* Returns whether a part equals a string; _case: ignoring the case of ASCII letters. */
bool http_is(struct http_part part, const char *text);

/*
 * Returns whether the value of a Host header names this machine: localhost, 127.0.0.1, [::1], or
 * bound, the numeric address that is listened at, each with or without a port. If that is the
 * address that stands for all, any numeric address will do. Names are refused, as whoever owns one
 * may make it lead here (DNS rebinding: CVE-2018-7160); an address is what inet_pton() takes for
 * one, and nothing softer (CVE-2022-32212, CVE-2022-43548).
 */
bool http_host_is_here(struct http_part host, const char *bound);

/* Appends an answer to a request, after which the connection ends. */
void http_answer(struct text *out, unsigned status, const char *type, const char *body,
                 size_t size);

/* Appends an answer of plain text that explains the error. */
void http_refuse(struct text *out, unsigned status, const char *why);

#endif
