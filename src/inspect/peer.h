/* peer: whose process is at the other end of a connection within this machine. */
#ifndef INSPECT_PEER_H
#define INSPECT_PEER_H

#include <stdbool.h>
#include <sys/types.h>

/* The results of peer_find(). */
enum peer_kind {
    PEER_REMOTE,  /* another machine, or a system that does not say */
    PEER_LOCAL,   /* a process of the user *ret */
    PEER_UNKNOWN, /* a process of this machine that cannot be found: it has closed its end, or is in
                   * another network namespace */
};

/* Looks for the other end of a connected socket. */
enum peer_kind peer_find(int fd, uid_t *ret);

#endif
