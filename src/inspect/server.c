/*
 * server: the process with the sockets: who may connect, and the loop that waits for all sockets at
 * once; see server.h. The parts:
 *
 * peer    whose process is at the other end of a connection within this machine
 * rights  gives up all rights before the first byte is read from the network
 * server  the address, signals as bytes of a pipe, clients and their bytes; turn() handles once all
 *        that is ready, by poll(2)
 *
 * What bytes mean is hub.c's matter.
 */
#include "inspect/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/port.h"
#include "inspect/http.h"
#include "inspect/hub.h"

#ifdef __linux__
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

/* ==== whose process is at the other end of a connection within this machine ====
 *
 * Linux lists the sockets of TCP in /proc/net/tcp and tcp6, with both addresses and the owner
 * (proc(5)). An address is in hexadecimal: its words as they are in memory, and the port.
 */

/* The results of peer_find(). */
enum peer_kind {
    PEER_REMOTE,  /* another machine, or a system that does not say */
    PEER_LOCAL,   /* a process of the user *ret */
    PEER_UNKNOWN, /* a process of this machine that cannot be found: it has closed its end, or is in
                   * another network namespace */
};

/* An address as IPv6 has it; one of IPv4 is mapped. */
struct end {
    struct in6_addr address;
    uint16_t port;
};

/* Reads an address and a port; one of IPv4 becomes the IPv6 address that stands for it. Returns
 * false for other kinds. */
static bool read_end(const struct sockaddr_storage *from, struct end *ret)
{
    const struct sockaddr_in *four = (const struct sockaddr_in *)from;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)from;
    *ret = (struct end){0};
    if (from->ss_family == AF_INET6) {
        ret->address = six->sin6_addr;
        ret->port = ntohs(six->sin6_port);
        return true;
    }
    ret->address.s6_addr[10] = ret->address.s6_addr[11] = 0xff;
    memcpy(&ret->address.s6_addr[12], &four->sin_addr, sizeof(four->sin_addr));
    ret->port = ntohs(four->sin_port);
    return from->ss_family == AF_INET;
}

/* Returns whether an address is of this machine only. */
static bool is_loopback(const struct end *end)
{
    struct end mapped = {0};
    mapped.address.s6_addr[10] = mapped.address.s6_addr[11] = 0xff;
    mapped.address.s6_addr[12] = 127;
    return IN6_IS_ADDR_LOOPBACK(&end->address) || memcmp(&end->address, &mapped.address, 13) == 0;
}

/* Returns whether two ends have the same address and port. */
static bool is_same(const struct end *one, const struct end *other)
{
    return one->port == other->port &&
           memcmp(&one->address, &other->address, sizeof(one->address)) == 0;
}

/* Reads an end of a connection as /proc/net/tcp and tcp6 have it: 8 or 32 hexadecimal digits, the
 * address's words as this machine reads them, a colon and a port. One of IPv4 becomes
 * ::ffff:a.b.c.d. Returns false if the text has another form. */
static bool read_hexadecimal(const char *text, struct end *ret)
{
    uint32_t words[4] = {0, 0, htonl(0xffff), 0};
    const char *colon = strchr(text, ':');
    const size_t digits = colon ? as_size(colon - text) : 0;
    if (digits != 8 && digits != 32)
        return false;
    for (unsigned i = digits == 8 ? 3 : 0; i < 4; i++, text += 8)
        if (sscanf(text, "%8" SCNx32, &words[i]) != 1)
            return false;
    memcpy(&ret->address, words, sizeof(words));
    return sscanf(colon, ":%4" SCNx16, &ret->port) == 1;
}

/* Looks for the socket from one end to the other in a list of the kernel's. Returns whether it is
 * there; *ret is then its owner. */
static bool peer_find_in(const char *path, const struct end *from, const struct end *to, uid_t *ret)
{
    char line[512], local_words[64], remote_words[64];
    unsigned state, uid;
    unsigned long inode;
    struct end local, remote;
    bool found = false;
    FILE *list = fopen(path, "re");
    while (list && !found && fgets(line, sizeof(line), list)) {
        if (sscanf(line, " %*u: %63s %63s %x %*s %*s %*s %u %*u %lu", local_words, remote_words,
                   &state, &uid, &inode) != 5)
            continue;
        /* A socket that its process has closed has no inode, and seems to be root's. */
        found = inode != 0 && read_hexadecimal(local_words, &local) &&
                read_hexadecimal(remote_words, &remote) && is_same(&local, from) &&
                is_same(&remote, to);
        *ret = uid;
    }
    if (list)
        fclose(list);
    return found;
}

#ifdef __linux__

enum { NOT_LISTED = PEER_UNKNOWN };

#else

enum { NOT_LISTED = PEER_REMOTE }; /* there are no lists */

#endif

/* Finds out whose program is at the other end of a connected socket: on another machine, or of
 * which user on this one, from the kernel's list of connections; PEER_UNKNOWN: it is not listed.
 * *ret is set for PEER_LOCAL only. */
static enum peer_kind peer_find(int fd, uid_t *ret)
{
    struct sockaddr_storage here, there;
    socklen_t here_size = sizeof(here);
    socklen_t there_size = sizeof(there);
    struct end to, from;
    if (getsockname(fd, (struct sockaddr *)&here, &here_size) < 0 ||
        getpeername(fd, (struct sockaddr *)&there, &there_size) < 0 || !read_end(&here, &to) ||
        !read_end(&there, &from))
        return PEER_UNKNOWN;
    if (!is_loopback(&from) && memcmp(&from.address, &to.address, sizeof(from.address)) != 0)
        return PEER_REMOTE;
    return peer_find_in("/proc/net/tcp", &from, &to, ret) ||
                   peer_find_in("/proc/net/tcp6", &from, &to, ret)
               ? PEER_LOCAL
               : (enum peer_kind)NOT_LISTED;
}

/* ==== limits what this process may do, and who may connect ====
 *
 * The server drops its rights before it reads the first byte from the network: then it has no
 * user's but the caller's, no capabilities(7), no group, and no program that it might start could
 * have more.
 */

#ifdef __linux__

#endif

enum { NOBODY = 65534 /* the user "nobody", and the group "nogroup" */ };

/* The user who called the program, found before the rights are dropped. */
static uid_t caller;

static bool is_dropped;

/* Returns the id of a user or group that sudo provides in an environment variable, or NOBODY if it
 * has none, or root's. */
static uint32_t told_by_sudo(const char *variable)
{
    const char *text = getenv(variable);
    char *end;
    if (!text || *text < '0' || *text > '9')
        return NOBODY;
    errno = 0;
    const unsigned long number = strtoul(text, &end, 10);
    return errno == 0 && !*end && number > 0 && number < UINT32_MAX ? as_u32(number) : NOBODY;
}

/* Returns whether processes of this user may connect: the user who called the program, also by
 * sudo, root, and owner, which is (uid_t)-1 for none. */
static bool rights_may_connect(uid_t user, uid_t owner)
{
    const uid_t own = is_dropped ? caller : getuid();
    return user == 0 || user == own || (owner != (uid_t)-1 && user == owner);
}

#ifdef __linux__

/* Drops the capabilities, including those that a file gave this program. */
static struct g2h_error *drop_capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return error_system(errno, "cannot give up new privileges");
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); /* kernels before 4.3 have none */
    if (syscall(SYS_capset, &head, none) < 0)
        return error_system(errno, "cannot give up capabilities");
    return NULL;
}

#endif

/* Becomes a user with one group, and gives up root's rights for good. Error: they could not be
 * given up. */
static struct g2h_error *become(uid_t user, gid_t group)
{
    if (geteuid() == 0 && setgroups(1, &group) < 0)
        return error_system(errno, "cannot give up root's groups");
#ifdef __APPLE__
    const bool good = setgid(group) == 0 && setuid(user) == 0;
#else
    const bool good = setresgid(group, group, group) == 0 && setresuid(user, user, user) == 0;
#endif
    if (!good)
        return error_system(errno, "cannot become user %u", (unsigned)user);
    if (user != 0 && setuid(0) == 0)
        return error_create(G2H_ERROR_SYSTEM, "root's rights could not be given up");
    return NULL;
}

/* Drops the rights of this process for good. If it is root, becomes the user who has called sudo,
 * or nobody; then gives up capabilities. */
struct g2h_error *server_drop_rights(void)
{
    const bool is_root = getuid() == 0;
    const uid_t user = is_root ? told_by_sudo("SUDO_UID") : getuid();
    const gid_t group = is_root ? told_by_sudo("SUDO_GID") : getgid();
    caller = is_root && user == NOBODY ? 0 : user;
    is_dropped = true;
    TRY(become(user, group));
#ifdef __linux__
    TRY(drop_capabilities());
#endif
    return NULL;
}

/* ==== sockets and time ====
 *
 * One thread waits for all sockets at once. It never waits for a single one of them: neither for a
 * slow client nor for the session, which may be busy for long.
 */

enum {
    PORT = 9229, /* where chrome://inspect looks by default */
    BACKLOG = 64,
    AT_ONCE = 64 << 10,                 /* bytes that are received or sent in one call */
    IN_MOST = WEBSOCKET_MOST + AT_ONCE, /* bytes of a client that wait to be read */
    FAREWELL = 1000,                    /* milliseconds for the last messages */
    YOUNG = 1000 /* milliseconds for which a client is not dropped for another one's sake */
};

/* ---- the address ---- */

/* Reads a port. Returns false if it is not a number up to 65,535. */
static bool parse_port(const char *text, uint16_t *ret)
{
    unsigned port = 0;
    if (!*text)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        port = 10 * port + (unsigned)(*text - '0');
        if (port > UINT16_MAX)
            return false;
    }
    *ret = (uint16_t)port;
    return true;
}

/* Reads a host of size characters: an IPv4 address, an IPv6 address in brackets, or localhost,
 * which becomes 127.0.0.1. Sets is_loopback. Returns false if it is none of these. */
static bool parse_host(const char *text, size_t size, struct server_address *ret)
{
    struct in6_addr six;
    struct in_addr four;
    const bool is_bracketed = size > 2 && *text == '[' && text[size - 1] == ']';
    if (is_bracketed)
        text++, size -= 2;
    if (size == 0 || size >= sizeof(ret->host))
        return false;
    memcpy(ret->host, text, size);
    ret->host[size] = '\0';
    if (is_bracketed) {
        ret->is_loopback = inet_pton(AF_INET6, ret->host, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
        return inet_pton(AF_INET6, ret->host, &six) == 1;
    }
    if (strcmp(ret->host, "localhost") == 0)
        memcpy(ret->host, "127.0.0.1", sizeof("127.0.0.1"));
    if (inet_pton(AF_INET, ret->host, &four) != 1)
        return false;
    ret->is_loopback = ntohl(four.s_addr) >> 24 == IN_LOOPBACKNET;
    return true;
}

/* Reads "host:port", "port" or NULL: 127.0.0.1 and PORT stand for what is missing. Returns false if
 * either is invalid; *ret stays as it was. */
bool server_parse(const char *text, struct server_address *ret)
{
    static const char usual[] = "127.0.0.1";
    struct server_address address = {.port = PORT};
    const char *colon = text ? strrchr(text, ':') : NULL;
    const char *port = colon ? colon + 1 : text;
    const bool is_host_good = colon ? parse_host(text, as_size(colon - text), &address)
                                    : parse_host(usual, sizeof(usual) - 1, &address);
    if (!is_host_good || (port && !parse_port(port, &address.port)))
        return false;
    *ret = address;
    return true;
}

/* Makes ret, of so many bytes, "/" and a random UUID (RFC 9562, version 4), which cannot be
 * guessed. Error: there are no random numbers. */
static struct g2h_error *make_path(char *ret, size_t space)
{
    uint8_t random[16];
    const int number = port_random(random, sizeof(random), true);
    if (number != 0)
        return error_system(number, "no random numbers");
    random[6] = (uint8_t)(0x40 | (random[6] & 0x0f)); /* the version */
    random[8] = (uint8_t)(0x80 | (random[8] & 0x3f)); /* the variant */
    _cleanup_(text_deinit) struct text path = {0};
    text_append_string(&path, "/");
    for (unsigned i = 0; i < sizeof(random); i++)
        text_printf(&path, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", random[i]);
    text_append(&path, "", 1);
    TRY_MEMORY(!path.failed && path.size <= space);
    memcpy(ret, path.data, path.size);
    return NULL;
}

/* An address as the system takes it. */
union socket_address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

/* Converts an address to the system's form. Returns its size. */
static socklen_t fill(const struct server_address *address, union socket_address *ret)
{
    *ret = (union socket_address){0};
    if (inet_pton(AF_INET, address->host, &ret->four.sin_addr) == 1) {
        ret->four.sin_family = AF_INET;
        ret->four.sin_port = htons(address->port);
        return sizeof(ret->four);
    }
    inet_pton(AF_INET6, address->host, &ret->six.sin6_addr);
    ret->six.sin6_family = AF_INET6;
    ret->six.sin6_port = htons(address->port);
    return sizeof(ret->six);
}

/* Makes a descriptor non-blocking, and not inherited by other programs. Returns false if that
 * fails. */
static bool prepare(int fd)
{
    return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
}

/* Closes a descriptor, unless it is negative. */
static void close_fd(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

/* Makes the error that listening has failed: a port that is taken has a suggestion. */
static struct g2h_error *cannot_listen(const struct server_address *address, int number)
{
    const unsigned port = address->port;
    const unsigned other = port == PORT ? PORT + 1 : PORT;
    if (number == EADDRINUSE)
        return error_create(
            G2H_ERROR_SYSTEM,
            "port %u is taken, by another --inspect or by Node perhaps: take "
            "--inspect=%u%s",
            port, other, other == PORT ? "" : ", and add it in chrome://inspect under Configure");
    return error_system(number, "cannot listen at %s, port %u", address->host, port);
}

/* Opens the socket that clients connect to. The address's path becomes a random one, which a
 * browser must know, and its port becomes the one that the system chose, if it was 0. The
 * descriptor is closed on errors. */
struct g2h_error *server_listen(struct server_address *address, int *ret_fd)
{
    union socket_address name;
    socklen_t size = fill(address, &name);
    const int on = 1;
    _cleanup_(close_fd) int fd = socket(name.any.sa_family, SOCK_STREAM, 0);
    TRY(make_path(address->path, sizeof(address->path)));
    if (fd < 0 || !prepare(fd))
        return cannot_listen(address, errno);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)); /* of an --inspect that has ended */
    if (name.any.sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    if (bind(fd, &name.any, size) < 0 || listen(fd, BACKLOG) < 0 ||
        getsockname(fd, &name.any, &size) < 0)
        return cannot_listen(address, errno);
    address->port = ntohs(name.any.sa_family == AF_INET ? name.four.sin_port : name.six.sin6_port);
    *ret_fd = fd;
    fd = -1;
    return NULL;
}

/* ---- signals ---- */

static int wake[2] = {-1, -1}; /* a pipe that a signal writes to */

/* Handles a signal: puts a byte into the pipe that poll(2) waits for, too. */
static void on_signal(int number)
{
    const int before = errno;
    const char byte = (char)number;
    if (write(wake[1], &byte, 1) < 0) /* it is full: one byte is enough */
        errno = before;
    errno = before;
}

struct signals {
    struct sigaction interrupt, terminate, pipe;
};

/* Makes the pipe that on_signal() writes to, and catches the signals that end the server; SIGPIPE
 * is ignored. *ret gets the handlers from before. */
static struct g2h_error *catch_signals(struct signals *ret)
{
    struct sigaction action = {.sa_handler = on_signal};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    if (pipe(wake) < 0 || !prepare(wake[0]) || !prepare(wake[1]))
        return error_system(errno, "no pipe for signals");
    sigaction(SIGINT, &action, &ret->interrupt);
    sigaction(SIGTERM, &action, &ret->terminate);
    sigaction(SIGPIPE, &ignore, &ret->pipe);
    return NULL;
}

/* Restores the handlers, and closes the pipe. */
static void restore_signals(const struct signals *signals)
{
    sigaction(SIGINT, &signals->interrupt, NULL);
    sigaction(SIGTERM, &signals->terminate, NULL);
    sigaction(SIGPIPE, &signals->pipe, NULL);
    close(wake[0]);
    close(wake[1]);
    wake[0] = wake[1] = -1;
}

/* Returns whether a signal has come. */
static bool has_signal(void)
{
    char byte;
    return read(wake[0], &byte, 1) > 0;
}

/* ---- bytes ---- */

/* Returns the time in microseconds. */
static int64_t clock_fine(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t clock_now(void)
{
    return clock_fine() / 1000;
}

enum { SEND_FLAGS = MSG_DONTWAIT | MSG_NOSIGNAL };

/* Returns whether the last call failed only because nothing can be read or written now. */
static bool must_wait(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/* Sends the rest of a buffer from *sent on, as far as the socket takes it without waiting. Returns
 * how many bytes that was, or -1 if the other end is gone. A buffer that is sent is emptied, and
 * freed if it is large. */
static ssize_t send_some(int fd, struct text *text, size_t *sent)
{
    enum { KEPT = 64 << 10 /* bytes of an empty buffer that are kept */ };
    size_t all = 0;
    while (*sent < text->size) {
        const ssize_t count = send(fd, text->data + *sent, text->size - *sent, SEND_FLAGS);
        if (count < 0 && must_wait())
            break;
        if (count <= 0)
            return -1;
        *sent += as_size(count);
        all += as_size(count);
    }
    if (*sent == text->size) {
        *sent = text->size = 0;
        if (text->capacity > KEPT) {
            text_deinit(text);
            *text = (struct text){0};
        }
    }
    return (ssize_t)all;
}

/* Appends what a socket has, at most AT_ONCE. Returns how many bytes that was, 0 if there is
 * nothing now, or -1 at the end, or if memory runs out. */
static ssize_t receive_some(int fd, struct text *text)
{
    if (text->capacity - text->size < AT_ONCE && !text_grow(text, AT_ONCE))
        return -1;
    const ssize_t count = recv(fd, text->data + text->size, AT_ONCE, MSG_DONTWAIT);
    if (count < 0 && must_wait())
        return 0;
    if (count <= 0)
        return -1;
    text->size += as_size(count);
    return count;
}

/* ---- clients ---- */

/* Sends what a client's buffer has, and notes when it takes bytes: once it is empty, or each
 * CONNECTION_STEP bytes. One that leaves is shut down after the last byte. */
static void send_to(struct hub *hub, struct client *client)
{
    if (client_left(client) > 0) {
        const ssize_t count = send_some(client->fd, &client->out, &client->sent);
        client->taken += count > 0 ? as_size(count) : 0;
        if (client_left(client) == 0 || client->taken >= CONNECTION_STEP) {
            client->taken = 0;
            client->taken_at = hub->now;
        }
        if (count < 0)
            client_end(client);
    }
    if (client->state == CONNECTION_LEAVES && client_left(client) == 0 && !client->is_shut) {
        shutdown(client->fd, SHUT_WR);
        client->is_shut = true;
        client->since = hub->now;
    }
}

/* Receives what a client has sent. A client that has finished sending may still wait for an answer
 * of HTTP. */
static void receive_from(struct hub *hub, struct client *client)
{
    if (receive_some(client->fd, &client->in) >= 0)
        hub_feed(hub, client);
    else if (client->state == CONNECTION_WAITS || client_left(client) > 0)
        client->has_ended = true;
    else
        client_end(client);
}

/* Returns whether the other end may connect: another machine always, a process of this machine if
 * its user has the right, and nobody who cannot be found. */
static bool may_connect(const struct hub *hub, int fd)
{
    uid_t user;
    const enum peer_kind kind = peer_find(fd, &user);
    return kind == PEER_REMOTE ||
           (kind == PEER_LOCAL && rights_may_connect(user, hub->options->owner));
}

/* Accepts a connection. One of another user is refused, which the client is told. */
static void accept_one(struct hub *hub, int listener)
{
    static const char why[] = "this is another user's";
    const int fd = accept(listener, NULL, NULL);
    const int on = 1;
    if (fd < 0)
        return;
    struct client *client = prepare(fd) ? hub_add(hub, fd) : NULL;
    if (!client) {
        close(fd);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)); /* progress is tiny */
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)); /* and no client is ever pinged */
    if (!may_connect(hub, fd)) {
        http_refuse(&client->out, 403, why);
        client_leave(client, WEBSOCKET_PROTOCOL_ERROR, hub->now);
    }
}

/* Returns the client that has kept its place longest without a request, if it had time for one. */
static struct client *find_idle(const struct hub *hub)
{
    struct client *oldest = NULL;
    for (unsigned i = 0; i < HUB_CONNECTIONS; i++) {
        struct client *client = hub->connections[i];
        if (client && client->state == CONNECTION_HEAD && hub->now - client->since >= YOUNG &&
            (!oldest || client->since < oldest->since))
            oldest = client;
    }
    return oldest;
}

/* Returns whether all places for clients are taken. */
static bool is_full(const struct hub *hub)
{
    for (unsigned i = 0; i < HUB_CONNECTIONS; i++)
        if (!hub->connections[i])
            return false;
    return true;
}

/* Closes and frees the clients that are gone. */
static void server_remove_gone(struct hub *hub)
{
    for (unsigned i = 0; i < HUB_CONNECTIONS; i++) {
        struct client *client = hub->connections[i];
        if (!client || client->state != CONNECTION_GONE)
            continue;
        close(client->fd);
        hub_remove(hub, client);
    }
}

/* ---- the loop ---- */

struct loop {
    struct hub hub;
    int listener, channel;
    bool is_ended; /* by a signal */
};

enum { LISTENER, CHANNEL, SIGNAL, FIRST, PLACES = FIRST + HUB_CONNECTIONS };

/* Returns the events for which poll(2) waits at a client: that bytes have come, if there is space
 * for them, and that it takes bytes, if there are any. */
static short events_of(const struct client *client)
{
    const bool wants_more = client->in.size < IN_MOST && !client->has_ended;
    const short in = wants_more ? POLLIN : 0;
    const short out = client_left(client) > 0 ? POLLOUT : 0;
    return (short)(in | out);
}

/* Sets what poll() waits for; new clients only if there is a place for one, or an idle client to
 * drop for it. */
static void set_places(const struct loop *loop, struct pollfd places[PLACES])
{
    const struct hub *hub = &loop->hub;
    const bool has_place = (!is_full(hub) || find_idle(hub)) && hub_may_accept(hub);
    places[LISTENER] = (struct pollfd){.fd = has_place ? loop->listener : -1, .events = POLLIN};
    places[SIGNAL] = (struct pollfd){.fd = wake[0], .events = POLLIN};
    places[CHANNEL] = (struct pollfd){
        .fd = loop->channel,
        .events = (short)(POLLIN | (hub->questions.sent < hub->questions.out.size ? POLLOUT : 0))};
    for (unsigned i = 0; i < HUB_CONNECTIONS; i++) {
        const struct client *client = hub->connections[i];
        places[FIRST + i] = (struct pollfd){.fd = -1};
        if (client)
            places[FIRST + i] = (struct pollfd){.fd = client->fd, .events = events_of(client)};
    }
}

/* Exchanges messages with the session, the process that holds the heaps: sends what is waiting, and
 * handles its answers if there are events. Error: it has ended. */
static struct g2h_error *talk(struct loop *loop, short events)
{
    struct questions *questions = &loop->hub.questions;
    static const char gone[] = "the process that holds the heaps has ended";
    if (send_some(loop->channel, &questions->out, &questions->sent) < 0)
        return error_create(G2H_ERROR_SYSTEM, "%s", gone);
    if (!(events & (POLLIN | POLLHUP | POLLERR)))
        return NULL;
    if (receive_some(loop->channel, &questions->in) < 0)
        return error_create(G2H_ERROR_SYSTEM, "%s", gone);
    if (!hub_answered(&loop->hub))
        return error_create(G2H_ERROR_SYSTEM, "the process that holds the heaps talks nonsense");
    return NULL;
}

/* Accepts a client. If all places are taken, the client that is idle longest is dropped. */
static void welcome(struct loop *loop)
{
    struct hub *hub = &loop->hub;
    struct client *idle = is_full(hub) ? find_idle(hub) : NULL;
    if (idle)
        client_end(idle);
    server_remove_gone(hub);
    if (is_full(hub))
        return;
    const int64_t start = clock_fine();
    accept_one(hub, loop->listener);
    hub_accepted(hub, clock_fine() - start);
}

/* Returns how many milliseconds it may be until the next turn. */
static int patience(const struct loop *loop)
{
    const int most = hub_patience(&loop->hub);
    /* Clients may wait until one that has a place is no longer young. */
    return is_full(&loop->hub) && (most < 0 || most > YOUNG) ? YOUNG : most;
}

/* Waits for sockets, and handles everything that is ready once: a signal, the session's answers,
 * then what clients sent, what is due by time, what is to be sent, and new clients. */
static struct g2h_error *turn(struct loop *loop)
{
    struct hub *hub = &loop->hub;
    struct pollfd places[PLACES];
    set_places(loop, places);
    if (poll(places, PLACES, patience(loop)) < 0 && errno != EINTR)
        return error_system(errno, "cannot wait for clients");
    hub_wake(hub, clock_now());
    loop->is_ended = has_signal();
    if (loop->is_ended)
        return NULL;
    TRY(talk(loop, places[CHANNEL].revents));
    for (unsigned i = 0; i < HUB_CONNECTIONS; i++) {
        struct client *client = hub->connections[i];
        if (client && client->state != CONNECTION_GONE && (places[FIRST + i].revents & ~POLLOUT))
            receive_from(hub, client);
    }
    hub_tick(hub);
    for (unsigned i = 0; i < HUB_CONNECTIONS; i++) {
        struct client *client = hub->connections[i];
        if (client && client->state != CONNECTION_GONE)
            send_to(hub, client);
    }
    server_remove_gone(hub);
    if (places[LISTENER].revents & POLLIN)
        welcome(loop);
    TRY_MEMORY(!hub->failed);
    return NULL;
}

/* Discards what a client sends. */
static void drain(struct client *client)
{
    ssize_t count;
    do {
        client->in.size = 0;
        count = receive_some(client->fd, &client->in);
    } while (count > 0);
    if (count < 0)
        client_end(client);
}

/* Closes all connections, and waits at most FAREWELL milliseconds until what is left to send has
 * been sent and the clients have closed them, too. */
static void say_farewell(struct hub *hub, enum websocket_status why)
{
    const int64_t end = hub->now + FAREWELL;
    bool is_left = true;
    for (unsigned i = 0; i < HUB_CONNECTIONS; i++) {
        struct client *client = hub->connections[i];
        if (client && client->state != CONNECTION_LEAVES)
            client_leave(client, why, hub->now);
    }
    for (; is_left && hub->now < end; hub->now = clock_now()) {
        struct pollfd places[HUB_CONNECTIONS];
        is_left = false;
        for (unsigned i = 0; i < HUB_CONNECTIONS; i++) {
            struct client *client = hub->connections[i];
            places[i] = (struct pollfd){.fd = -1};
            if (!client)
                continue;
            send_to(hub, client);
            drain(client);
            if (client->state == CONNECTION_GONE)
                continue;
            places[i].fd = client->fd;
            places[i].events = (short)(POLLIN | (client_left(client) > 0 ? POLLOUT : 0));
            is_left = true;
        }
        server_remove_gone(hub);
        if (is_left)
            poll(places, HUB_CONNECTIONS, (int)(end - hub->now));
    }
}

/* Serves until a signal comes or the session ends. Each turn of the loop waits for one of the
 * sockets or a signal. At the end all clients get a farewell with the reason, and are closed. An
 * error in the session counts for nothing if a signal has come, too. */
struct g2h_error *server_run(const struct server_options *options,
                             const struct server_address *address, int listener, int channel)
{
    struct loop loop = {
        .hub = {.options = options, .address = address}, .listener = listener, .channel = channel};
    struct signals signals;
    struct g2h_error *error = NULL;
    TRY(catch_signals(&signals));
    if (options->say_ready)
        options->say_ready(options->context);
    loop.hub.now = clock_now();
    while (!error && !loop.is_ended)
        error = turn(&loop);
    if (error && has_signal()) { /* the session ended by the same signal */
        g2h_error_destroy(error);
        error = NULL;
    }
    say_farewell(&loop.hub, error ? WEBSOCKET_INTERNAL_ERROR : WEBSOCKET_AWAY);
    for (unsigned i = 0; i < HUB_CONNECTIONS; i++)
        if (loop.hub.connections[i])
            client_end(loop.hub.connections[i]);
    server_remove_gone(&loop.hub);
    hub_deinit(&loop.hub);
    restore_signals(&signals);
    return error;
}
