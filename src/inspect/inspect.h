/*
 * inspect: DevTools attached to a Go process, or to dumps of one (docs/inspect.md).
 *
 *   inspect             the two processes
 *   session (session.h) what has the heaps
 *   server (server.h)   what has the sockets
 *   channel             the messages between them
 */
#ifndef INSPECT_INSPECT_H
#define INSPECT_INSPECT_H

#include "inspect/server.h"
#include "inspect/session.h"

struct inspect_options {
    struct session_options session;
    struct server_options server;
    struct server_address address;
};

/*
 * Listens, says where, and serves until a signal comes or the session ends. Errors: those of
 * server_listen(), server_drop_rights(), server_run() and g2h_process_check(); G2H_ERROR_SYSTEM.
 */
struct g2h_error *inspect_run(struct inspect_options *options);

#endif
