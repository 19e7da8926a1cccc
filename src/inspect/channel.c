/* channel: sends and receives the messages between the two processes of --inspect; see channel.h.
 * Both functions wait until a whole message has passed, or the other process is gone. */
#include "inspect/channel.h"

#include <errno.h>
#include <unistd.h>

#include "base/contract.h"

/* Sends all bytes. Returns false if the other process is gone. */
static bool send_all(int fd, const void *body, size_t size)
{
    const uint8_t *data = body;
    while (size > 0) {
        const ssize_t sent = write(fd, data, size);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        data += sent;
        size -= as_size(sent);
    }
    return true;
}

/* Sends a message. size is at most CHANNEL_MOST. Returns false if the other process is gone. */
bool channel_send(int fd, enum channel_kind kind, uint32_t number, const void *body, size_t size)
{
    assert(size <= CHANNEL_MOST); /* the other process refuses more */
    const struct channel_head head = {(uint32_t)size, number, kind};
    return send_all(fd, &head, sizeof(head)) && send_all(fd, body, size);
}

/* Receives size bytes. Returns false if the other process is gone. */
static bool receive_all(int fd, char *data, size_t size)
{
    while (size > 0) {
        const ssize_t received = read(fd, data, size);
        if (received < 0 && errno == EINTR)
            continue;
        if (received <= 0)
            return false;
        data += received;
        size -= as_size(received);
    }
    return true;
}

/* Waits for a whole message: its head, and then its body, which gets a null after it. Returns what
 * came of it: see enum channel_state. */
enum channel_state channel_receive(int fd, struct channel_head *ret, struct text *body)
{
    body->size = 0;
    if (!receive_all(fd, (char *)ret, sizeof(*ret)))
        return CHANNEL_CLOSED;
    if (ret->size > CHANNEL_MOST_ASKED || !text_grow(body, ret->size + 1))
        return CHANNEL_BROKEN;
    if (!receive_all(fd, body->data, ret->size))
        return CHANNEL_CLOSED;
    body->size = ret->size;
    body->data[body->size] = '\0';
    return CHANNEL_RECEIVED;
}
