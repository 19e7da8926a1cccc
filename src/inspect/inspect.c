/*
 * inspect: starts --inspect: opens the port, forks the session, which has the heaps, and becomes
 * the server, which gives up its rights; see inspect.h. The server is not the session's parent for
 * long, since the session forks for each snapshot: it only closes the channel to end it.
 */
#include "inspect/inspect.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

/* Prints how to connect. The address is in the form that Chrome takes. */
static void say_where(const void *context)
{
    const struct inspect_options *options = context;
    const struct server_address *address = &options->address;
    const bool is_ipv6 = strchr(address->host, ':') != NULL;
    void (*const say)(const char *) = options->session.say;
    char line[512];
    if (!address->is_loopback)
        say("warning: whoever can reach this address can read the process's memory, for nothing is "
            "encrypted: ssh -L 9229:localhost:9229 is safer");
    snprintf(line, sizeof(line),
             "%s waits for DevTools: chrome://inspect, or in Chrome's address bar",
             options->session.title);
    say(line);
    static const char page[] =
        "devtools://devtools/bundled/js_app.html?v8only=true&panel=heap-profiler";
    const unsigned port = address->port;
    snprintf(line, sizeof(line), is_ipv6 ? "  %s&ws=[%s]:%u%s" : "  %s&ws=%s:%u%s", page,
             address->host, port, address->path);
    say(line);
}

/* Returns an error if the process cannot be read, or one of the dumps does not exist. */
static struct g2h_error *check_sources(const struct session_options *options)
{
    struct stat status;
    if (options->taken.pid != 0)
        return g2h_process_check(options->taken.pid);
    for (size_t i = 0; i < options->input_count; i++)
        if (stat(options->inputs[i], &status) != 0)
            return error_system(errno, "%s", options->inputs[i]);
    return NULL;
}

/* Runs the server, in a process that can read no other's memory. */
static struct g2h_error *serve(struct inspect_options *options, int listener, int channel)
{
    TRY(server_drop_rights());
    options->server.say_ready = say_where; /* who reads it may end the program at once */
    options->server.context = options;
    return server_run(&options->server, &options->address, listener, channel);
}

/* Serves a heap to DevTools. Listens first, so that errors of the address come before anything
 * else. Then the session runs in a child process, connected by a pair of sockets, and this process
 * serves; the session ends when its socket is closed. */
struct g2h_error *inspect_run(struct inspect_options *options)
{
    int listener, channel[2];
    TRY(check_sources(&options->session));
    TRY(server_listen(&options->address, &listener));
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, channel) != 0)
        return error_system(errno, "cannot make a channel");
    const pid_t session = fork();
    if (session < 0)
        return error_system(errno, "cannot start the session");
    if (session == 0) {
        close(listener);
        close(channel[0]);
        session_run(&options->session, channel[1]);
    }
    close(channel[1]);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_IGN); /* the session is not waited for; by then it may be another process */
    struct g2h_error *error = serve(options, listener, channel[0]);
    close(channel[0]); /* which ends the session */
    close(listener);
    return error;
}
