/* connection; see connection.h. */
#include "inspect/connection.h"

size_t connection_left(const struct connection *connection)
{
    return connection->out.size - connection->sent;
}

void connection_move(struct connection *connection, enum connection_state state, int64_t now)
{
    connection->state = state;
    connection->since = now;
}

void connection_send(struct connection *connection, const char *data, size_t size)
{
    if (connection->state == CONNECTION_OPEN)
        websocket_write(&connection->out, WEBSOCKET_TEXT, data, size);
}

void connection_leave(struct connection *connection, enum websocket_status why, int64_t now)
{
    const char reason[] = {(char)(why >> 8), (char)(unsigned char)(why & 0xff)};
    if (connection->state == CONNECTION_OPEN)
        websocket_write(&connection->out, WEBSOCKET_CLOSE, reason, sizeof(reason));
    connection_move(connection, CONNECTION_LEAVES, now);
}

void connection_end(struct connection *connection)
{
    connection->state = CONNECTION_GONE;
}

void connection_deinit(struct connection *connection)
{
    text_deinit(&connection->in);
    text_deinit(&connection->out);
    text_deinit(&connection->joined);
}
