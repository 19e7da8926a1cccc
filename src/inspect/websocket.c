/* websocket; see websocket.h. */
#include "inspect/websocket.h"

#include <string.h>

#include "base/contract.h"
#include "base/utf8.h"
#include "inspect/sha1.h"

enum {
    FIN = 0x80,
    RESERVED = 0x70,
    OPCODE = 0x0f,
    MASKED = 0x80,
    LENGTH = 0x7f,
    LENGTH_16 = 126, /* the length is in the next 2 bytes, */
    LENGTH_64 = 127, /* or 8 bytes */
    CONTROL_MOST = 125,
    MASK = 4
};

static void put_base64(const uint8_t *data, size_t size, char *ret)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t at = 0; at < size; at += 3) {
        const size_t left = size - at;
        uint32_t bits = (uint32_t)data[at] << 16;
        if (left > 1)
            bits |= (uint32_t)data[at + 1] << 8;
        if (left > 2)
            bits |= data[at + 2];
        for (unsigned i = 0; i < 4; i++)
            *ret++ = i <= left ? digits[bits >> (18 - 6 * i) & 63] : '=';
    }
    *ret = '\0';
}

bool websocket_accept(const char *key, size_t size, char ret[WEBSOCKET_ACCEPT])
{
    static const char uuid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    enum { KEY = 24 };
    char both[KEY + sizeof(uuid)];
    uint8_t digest[SHA1_SIZE];
    if (size != KEY || memcmp(key + KEY - 2, "==", 2) != 0)
        return false;
    memcpy(both, key, KEY);
    memcpy(both + KEY, uuid, sizeof(uuid));
    sha1(both, sizeof(both) - 1, digest);
    put_base64(digest, sizeof(digest), ret);
    return true;
}

/* Reads a length in network byte order. */
static uint64_t read_length(const uint8_t *at, unsigned bytes)
{
    uint64_t length = 0;
    for (unsigned i = 0; i < bytes; i++)
        length = length << 8 | at[i];
    return length;
}

/* Returns how many bytes after the head have the length, given the one in the head. */
static unsigned length_bytes(unsigned in_head)
{
    if (in_head == LENGTH_16)
        return 2;
    return in_head == LENGTH_64 ? 8 : 0;
}

/* Returns why a frame with this head is refused, or 0. */
static unsigned refusal(uint8_t first, bool is_masked, uint64_t length)
{
    const unsigned opcode = first & OPCODE;
    const bool is_control = opcode >= WEBSOCKET_CLOSE;
    if ((first & RESERVED) || !is_masked || opcode > WEBSOCKET_PONG)
        return WEBSOCKET_PROTOCOL_ERROR;
    if (is_control && (!(first & FIN) || length > CONTROL_MOST))
        return WEBSOCKET_PROTOCOL_ERROR;
    if (!is_control && opcode > WEBSOCKET_TEXT)
        return opcode == 2 ? WEBSOCKET_UNSUPPORTED : WEBSOCKET_PROTOCOL_ERROR;
    return length > WEBSOCKET_MOST ? WEBSOCKET_TOO_LARGE : 0;
}

unsigned websocket_read(char *data, size_t size, struct websocket_frame *ret, size_t *ret_size)
{
    const uint8_t *head = (const uint8_t *)data;
    *ret_size = 0;
    if (size < 2)
        return 0;
    const unsigned short_length = head[1] & LENGTH, more = length_bytes(short_length);
    const bool is_masked = (head[1] & MASKED) != 0;
    const bool has_length = size >= 2 + more;
    uint64_t length =
        short_length; /* if it is not there yet, at least as long as a control frame */
    if (more > 0 && has_length)
        length = read_length(head + 2, more);
    const unsigned status = refusal(head[0], is_masked, length);
    if (status != 0)
        return status;
    const size_t head_size = 2 + more + MASK;
    if (!has_length || size < head_size + length)
        return 0;
    *ret = (struct websocket_frame){.opcode = head[0] & OPCODE,
                                    .is_last = (head[0] & FIN) != 0,
                                    .data = data + head_size,
                                    .size = (size_t)length};
    for (size_t i = 0; i < ret->size; i++)
        ret->data[i] = (char)(ret->data[i] ^ data[head_size - MASK + i % MASK]);
    *ret_size = head_size + ret->size;
    return 0;
}

void websocket_write(struct text *out, enum websocket_opcode opcode, const char *data, size_t size)
{
    uint8_t head[10] = {(uint8_t)(FIN | opcode)};
    if (size < LENGTH_16)
        head[1] = (uint8_t)size;
    else
        head[1] = size <= UINT16_MAX ? LENGTH_16 : LENGTH_64;
    assert(opcode < WEBSOCKET_CLOSE || size <= CONTROL_MOST);
    const unsigned more = length_bytes(head[1]);
    for (unsigned i = 0; i < more; i++)
        head[2 + i] = (uint8_t)((uint64_t)size >> 8 * (more - 1 - i));
    text_append(out, (const char *)head, 2 + more);
    text_append(out, data, size);
}

bool websocket_is_utf8(const char *data, size_t size)
{
    uint32_t character;
    for (size_t at = 0; at < size;) {
        at += (size_t)text_ascii_run((const uint8_t *)data + at, size - at);
        if (at == size)
            break;
        const size_t read = utf8_read((const uint8_t *)data + at, size - at, &character);
        if (read == 0)
            return false;
        at += read;
    }
    return true;
}
