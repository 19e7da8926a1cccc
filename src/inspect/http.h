/*
 * http: the head of a request as clients of DevTools send it (RFC 9112), and answers.
 *
 * Whatever is unusual is refused: lines that are continued, a target with a host in it, spaces
 * before a colon. A request has no body, and each connection has one request.
 */
#ifndef INSPECT_HTTP_H
#define INSPECT_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

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
bool http_is_case(struct http_part part, const char *text);

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
