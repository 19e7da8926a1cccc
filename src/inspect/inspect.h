/*
 * inspect: DevTools attached to a Go process, or to dumps of one (docs/inspect.md).
 *
 *   inspect             the two processes
 *   channel             the messages between them
 *
 * The process with the heaps:
 *   cdp_session         snapshots, by forks
 *   taken               a snapshot that questions are answered from, the command whose output may
 *                       be its dump, and its source files
 *   remote, evaluate    values as the protocol has them, and Go expressions
 *
 * The process with the sockets:
 *   server              sockets and time; which users may connect; what this process may do
 *   hub                 the state shared by all clients, and the processing of received bytes
 *   cdp                 the answers to the requests of DevTools, and to those for /json; questions
 *                       to the session, and the snapshots that clients wait for
 *   client              one client: its buffers, and the answers and events that it gets
 *   http                the messages of HTTP and WebSocket, as bytes
 *   inspect_json        JSON that clients send, and strings for them
 */
#ifndef INSPECT_INSPECT_H
#define INSPECT_INSPECT_H

#include "inspect/server.h"
#include "inspect/cdp_session.h"

struct inspect_options {
    struct session_options session;
    struct server_options server;
    struct server_address address;
};

/*
 * Listens, prints the address, and serves until a signal comes or the session ends. Errors: those
 * of server_listen(), server_drop_rights(), server_run() and g2h_process_check(); G2H_ERROR_SYSTEM.
 */
struct g2h_error *inspect_run(struct inspect_options *options);

#endif
