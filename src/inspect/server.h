/*
 * server: the side that DevTools connect to: HTTP, WebSocket, and the Chrome DevTools Protocol
 * (docs/inspect.md); who may connect to it, and what this process may do.
 */
#ifndef INSPECT_SERVER_H
#define INSPECT_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* Where the server listens. */
struct server_address {
    char host[64]; /* a numeric address, without brackets */
    uint16_t port; /* the assigned one, if 0 was requested */
    bool is_loopback;
    char path[40]; /* "/" and random bits: the path of the WebSocket */
};

struct server_options {
    const char *program; /* "go2heapsnapshot" and its version, without a slash */
    const char *name;    /* of the target, for the console */
    uid_t owner;     /* of the process that is inspected: its peers may ask, too; (uid_t)-1: none */
    bool is_private; /* /json/list names no target */
    void (*say_ready)(const void *context); /* called once signals end the server; or NULL */
    const void *context;
};

/* Reads the value of --inspect, [HOST:]PORT or NULL, which is 127.0.0.1:9229. A host is an IPv4
 * address, an IPv6 address in brackets, or localhost. Returns false if it has none of these
 * forms. */
bool server_parse(const char *text, struct server_address *ret);

/* Listens at an address. Errors: G2H_ERROR_SYSTEM, whose message suggests what to do if the port is
 * taken. */
struct g2h_error *server_listen(struct server_address *address, int *ret_fd);

/* Drops all rights of this process except those of the user who called it, for good: if it is root,
 * it becomes SUDO_UID or nobody, without capabilities, groups, or new rights by programs that it
 * starts. Errors: G2H_ERROR_SYSTEM. */
struct g2h_error *server_drop_rights(void);

/* Serves until SIGINT or SIGTERM comes, or the session ends. listener is from server_listen(),
 * channel the socket to the session. Both stay open. Errors: G2H_ERROR_SYSTEM, G2H_ERROR_MEMORY. */
struct g2h_error *server_run(const struct server_options *options,
                             const struct server_address *address, int listener, int channel);

#endif
