/*
 * peer; see peer.h.
 *
 * Linux lists the sockets of TCP in /proc/net/tcp and tcp6, with both addresses and the owner
 * (proc(5)). An address is in hexadecimal: its words as they are in memory, and the port.
 */
#include "inspect/peer.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* An address as IPv6 has it; one of IPv4 is mapped. */
struct end {
    struct in6_addr address;
    uint16_t port;
};

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

static bool is_loopback(const struct end *end)
{
    struct end mapped = {0};
    mapped.address.s6_addr[10] = mapped.address.s6_addr[11] = 0xff;
    mapped.address.s6_addr[12] = 127;
    return IN6_IS_ADDR_LOOPBACK(&end->address) || memcmp(&end->address, &mapped.address, 13) == 0;
}

static bool is_same(const struct end *one, const struct end *other)
{
    return one->port == other->port &&
           memcmp(&one->address, &other->address, sizeof(one->address)) == 0;
}

/* Reads 8 or 32 hexadecimal digits, a colon and a port. */
static bool read_hexadecimal(const char *text, struct end *ret)
{
    uint32_t words[4] = {0, 0, htonl(0xffff), 0};
    const char *colon = strchr(text, ':');
    const size_t digits = colon ? (size_t)(colon - text) : 0;
    if (digits != 8 && digits != 32)
        return false;
    for (unsigned i = digits == 8 ? 3 : 0; i < 4; i++, text += 8)
        if (sscanf(text, "%8" SCNx32, &words[i]) != 1)
            return false;
    memcpy(&ret->address, words, sizeof(words));
    return sscanf(colon, ":%4" SCNx16, &ret->port) == 1;
}

/* Looks for the socket from one end to the other in a list. */
static bool peer_find_in(const char *path, const struct end *from, const struct end *to, uid_t *ret)
{
    char line[512], one[64], other[64];
    unsigned state, uid;
    unsigned long inode;
    struct end local, remote;
    bool found = false;
    FILE *list = fopen(path, "re");
    while (list && !found && fgets(line, sizeof(line), list)) {
        if (sscanf(line, " %*u: %63s %63s %x %*s %*s %*s %u %*u %lu", one, other, &state, &uid,
                   &inode) != 5)
            continue;
        /* A socket that its process has closed has no inode, and seems to be root's. */
        found = inode != 0 && read_hexadecimal(one, &local) && read_hexadecimal(other, &remote) &&
                is_same(&local, from) && is_same(&remote, to);
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

enum peer_kind peer_find(int fd, uid_t *ret)
{
    struct sockaddr_storage here, there;
    socklen_t here_size = sizeof(here), there_size = sizeof(there);
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
