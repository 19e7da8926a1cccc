/*
 * http: the bytes of HTTP and WebSocket messages; see http.h. Nothing here sends or waits:
 * functions read what has come so far, and append to a buffer. The parts: SHA-1, for the handshake;
 * frames of WebSocket (RFC 6455); and heads of requests (RFC 9112), of which only what clients of
 * DevTools send is accepted.
 */
#include "inspect/http.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "base/contract.h"

/* ==== SHA-1 (RFC 3174), which the handshake of WebSocket prescribes ====
 *
 * The names of variables are those of RFC 3174.
 */

enum { BLOCK = 64, LENGTH = 8 }; /* bytes of a block, and of the length at the end */

/* Rotates a word to the left. */
static uint32_t rotate(uint32_t value, unsigned bits)
{
    return value << bits | value >> (32 - bits);
}

/* Returns the function of step t of SHA-1, of 80, of three words of the state, with the constant of
 * that step. */
static uint32_t mix(unsigned t, uint32_t b, uint32_t c, uint32_t d)
{
    if (t < 20)
        return ((b & c) | (~b & d)) + 0x5a827999;
    if (t < 40)
        return (b ^ c ^ d) + 0x6ed9eba1;
    if (t < 60)
        return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
    return (b ^ c ^ d) + 0xca62c1d6;
}

/* Adds a block of 64 bytes to the hash. */
static void add_block(uint32_t h[5], const uint8_t block[BLOCK])
{
    uint32_t w[80];
    uint32_t a = h[0];
    uint32_t b = h[1];
    uint32_t c = h[2];
    uint32_t d = h[3];
    uint32_t e = h[4];
    for (unsigned t = 0; t < 16; t++)
        w[t] = u32_big(block + 4 * t);
    for (unsigned t = 16; t < 80; t++)
        w[t] = rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    for (unsigned t = 0; t < 80; t++) {
        const uint32_t temp = rotate(a, 5) + mix(t, b, c, d) + e + w[t];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = temp;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += e;
}

/* Computes the digest of some bytes: SHA-1 (FIPS 180-4): blocks of the data, and then one or two
 * with the rest, a bit, and the length. */
void sha1(const void *data, size_t size, uint8_t ret[SHA1_SIZE])
{
    uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    uint8_t last[2 * BLOCK] = {0};
    const uint8_t *at = data;
    const size_t left = size % BLOCK;
    const size_t padded = left + 1 + LENGTH <= BLOCK ? BLOCK : 2 * BLOCK;
    for (size_t done = 0; done + BLOCK <= size; done += BLOCK, at += BLOCK)
        add_block(h, at);
    if (left > 0)
        memcpy(last, at, left);
    last[left] = 0x80;
    for (unsigned i = 0; i < LENGTH; i++)
        last[padded - 1 - i] = (uint8_t)((uint64_t)size * 8 >> 8 * i);
    for (size_t done = 0; done < padded; done += BLOCK)
        add_block(h, last + done);
    for (unsigned i = 0; i < SHA1_SIZE; i++)
        ret[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
}

/* ==== frames of RFC 6455 as a server reads and writes them, and the answer to the handshake ====
 */

/* Bits of the head of a frame (RFC 6455, 5.2), values of its length, and sizes in bytes. */
enum {
    FIN = 0x80,
    RESERVED = 0x70,
    OPCODE = 0x0f,
    MASKED = 0x80,
    WEBSOCKET_LENGTH = 0x7f,
    LENGTH_16 = 126, /* the length is in the next 2 bytes, */
    LENGTH_64 = 127, /* or 8 bytes */
    CONTROL_MOST = 125,
    MASK = 4
};

/* Writes bytes in base64, with a NUL at the end. */
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
        for (unsigned i = 0; i < 4; i++) /* one byte gives two digits, two give three */
            *ret++ = i <= left ? digits[bits >> (18 - 6 * i) & 63] : '=';
    }
    *ret = '\0';
}

/* Computes the answer to the key in a handshake. RFC 6455, 4.2.2: the key and a fixed UUID, hashed.
 * Returns false if the key is not one of 16 bytes. */
bool websocket_accept(const char *key, size_t size, char ret[WEBSOCKET_ACCEPT])
{
    static const char uuid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    enum { KEY = 24 /* characters of 16 bytes in base64 */ };
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

/* Returns a length of so many bytes in network byte order. */
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

/* Returns why a WebSocket frame with this head is refused, or 0: reserved bits, bytes that are not
 * masked as a client's must be (is_masked), an unknown opcode, a control frame that is in parts or
 * too long, a binary frame, or one longer than WEBSOCKET_MOST. */
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

/* Reads one frame, and removes its mask. Returns 0, with the frame's size in *ret_size, which is 0
 * if it has not come as a whole; or the status with which it is refused, as soon as its head shows
 * that. A frame is a head of 2 bytes, at most 8 bytes of length, a mask of 4 bytes and the data,
 * whose bytes are XORed with those of the mask. */
unsigned websocket_read(char *data, size_t size, struct websocket_frame *ret, size_t *ret_size)
{
    const uint8_t *head = (const uint8_t *)data;
    *ret_size = 0;
    if (size < 2)
        return 0;
    const unsigned short_length = head[1] & WEBSOCKET_LENGTH;
    const unsigned more = length_bytes(short_length);
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

/* Appends one frame, without a mask, as servers send them (RFC 6455, 5.2). */
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
    text_append(out, head, 2 + more);
    text_append(out, data, size);
}

/* Returns whether a text is valid UTF-8. Runs of ASCII are passed over at once. */
bool websocket_is_utf8(const char *data, size_t size)
{
    uint32_t character;
    for (size_t at = 0; at < size;) {
        at += text_ascii_run(data + at, size - at);
        if (at == size)
            break;
        const size_t read = utf8_read(data + at, size - at, &character);
        if (read == 0)
            return false;
        at += read;
    }
    return true;
}

/* ==== the head of a request as clients of DevTools send it (RFC 9112), and answers ==== */

/* Returns whether a part equals a string; false if there is no such part. */
bool http_is(struct http_part part, const char *text)
{
    return part.data && part.size == strlen(text) && memcmp(part.data, text, part.size) == 0;
}

/* Returns whether a part is this text, whatever the case of letters. */
static bool http_is_case(struct http_part part, const char *text)
{
    return part.data && part.size == strlen(text) && strncasecmp(part.data, text, part.size) == 0;
}

/* Returns the part before the first such character, or everything, and moves *rest after it. */
static struct http_part cut(struct http_part *rest, char character)
{
    const char *found = memchr(rest->data, character, rest->size);
    const struct http_part before = {rest->data, found ? as_size(found - rest->data) : rest->size};
    const size_t used = before.size + (found ? 1 : 0);
    rest->data += used;
    rest->size -= used;
    return before;
}

/* Leaves out blanks and tabs at both ends. */
static struct http_part trim(struct http_part part)
{
    while (part.size > 0 && (*part.data == ' ' || *part.data == '\t'))
        part.data++, part.size--;
    while (part.size > 0 && (part.data[part.size - 1] == ' ' || part.data[part.size - 1] == '\t'))
        part.size--;
    return part;
}

/* Returns whether a part has graphic ASCII characters only. If it is the value of a header
 * (is_value), it may also have spaces, tabs and bytes that are not ASCII. */
static bool is_graphic(struct http_part part, bool is_value)
{
    for (size_t i = 0; i < part.size; i++) {
        const unsigned char byte = (unsigned char)part.data[i];
        const bool is_word = byte > ' ' && byte < 0x7f;
        if (!is_word && !(is_value && (byte == ' ' || byte == '\t' || byte >= 0x80)))
            return false;
    }
    return true;
}

/* Returns whether a list has a word: Connection may be "keep-alive, Upgrade". */
static bool list_has(struct http_part list, const char *word)
{
    bool found = false;
    while (list.size > 0)
        found |= http_is_case(trim(cut(&list, ',')), word);
    return found;
}

/* The headers about an upgrade. */
struct upgrade {
    bool is_asked, is_websocket;
};

/* Reads a line "Name: value" of a request: some values are kept, and whether it asks for a
 * WebSocket. Of a header that must be single, a second one is noted. Returns false if the line has
 * another form. */
static bool read_header(struct http_part line, struct http_request *ret, struct upgrade *upgrade)
{
    const struct {
        const char *name;
        struct http_part *value;
    } single[] = {{"Host", &ret->host},
                  {"Origin", &ret->origin},
                  {"Sec-Fetch-Site", &ret->site},
                  {"Sec-WebSocket-Key", &ret->key},
                  {"Sec-WebSocket-Version", &ret->version}};
    if (!memchr(line.data, ':', line.size))
        return false;
    const struct http_part name = cut(&line, ':');
    const struct http_part value = trim(line);
    if (name.size == 0 || !is_graphic(name, false) || !is_graphic(value, true))
        return false;
    for (size_t i = 0; i < COUNT_OF(single); i++) {
        if (!http_is_case(name, single[i].name))
            continue;
        ret->is_twice |= single[i].value->data != NULL;
        *single[i].value = value;
    }
    upgrade->is_asked |= http_is_case(name, "Connection") && list_has(value, "upgrade");
    upgrade->is_websocket |= http_is_case(name, "Upgrade") && list_has(value, "websocket");
    return true;
}

/* Returns the next line without its end, which is CR LF. Its data is NULL if it has another end. */
static struct http_part next_line(struct http_part *rest)
{
    struct http_part line = cut(rest, '\n');
    if (line.size == 0 || line.data[line.size - 1] != '\r')
        return (struct http_part){0};
    line.size--;
    return line;
}

/* Reads the first line of a request, "GET /path?query HTTP/1.1"; the query is dropped. Returns
 * false if the line has another form, characters that are not printable, or a version other than
 * 1.0 and 1.1. */
static bool read_first(struct http_part line, struct http_request *ret)
{
    if (!line.data)
        return false;
    ret->method = cut(&line, ' ');
    struct http_part target = cut(&line, ' ');
    if (ret->method.size == 0 || target.size == 0 || *target.data != '/')
        return false;
    if (!is_graphic(ret->method, false) || !is_graphic(target, false))
        return false;
    ret->path = cut(&target, '?');
    return http_is(line, "HTTP/1.1") || http_is(line, "HTTP/1.0");
}

/* Reads a head when it is complete, up to the empty line. HTTP_PARTIAL: that has not come yet;
 * HTTP_TOO_LARGE: it has not come within HTTP_HEAD_MOST bytes; HTTP_BAD: a line is malformed.
 * *ret_size is the size of the head. */
enum http_state http_read(const char *data, size_t size, struct http_request *ret, size_t *ret_size)
{
    static const char end[] = "\r\n\r\n";
    const size_t most = MIN(size, HTTP_HEAD_MOST);
    const char *found = most > 0 ? memmem(data, most, end, sizeof(end) - 1) : NULL;
    struct upgrade upgrade = {0};
    if (!found)
        return size < HTTP_HEAD_MOST ? HTTP_PARTIAL : HTTP_TOO_LARGE;
    *ret_size = as_size(found - data) + sizeof(end) - 1;
    *ret = (struct http_request){0};
    struct http_part rest = {data, *ret_size - 2};
    if (!read_first(next_line(&rest), ret))
        return HTTP_BAD;
    while (rest.size > 0) {
        const struct http_part line = next_line(&rest);
        if (!line.data || !read_header(line, ret, &upgrade))
            return HTTP_BAD;
    }
    ret->is_upgrade = upgrade.is_asked && upgrade.is_websocket;
    return HTTP_COMPLETE;
}

/* Copies a part as a string. Returns false if it does not fit. */
static bool copy_part(struct http_part part, char *ret, size_t space)
{
    if (part.size >= space)
        return false;
    memcpy(ret, part.data, part.size);
    ret[part.size] = '\0';
    return true;
}

/* Removes ":PORT" from the end of a host, if it has one. Returns false if nothing, or more than
 * five digits, follow the colon. */
static bool cut_port(struct http_part *host)
{
    size_t size = host->size;
    while (size > 0 && host->data[size - 1] >= '0' && host->data[size - 1] <= '9')
        size--;
    if (size == 0 || host->data[size - 1] != ':') /* no port: an address, or a name */
        return true;
    const bool is_number = size < host->size && host->size - size <= 5;
    host->size = size - 1;
    return is_number;
}

/* Returns whether Host, without its port, is localhost, a loopback address, or the address that the
 * server is bound to (any address if that is 0.0.0.0): else a web page may have made a name point
 * here. */
bool http_host_is_here(struct http_part host, const char *bound)
{
    static const char *const loopbacks[] = {"127.0.0.1", "::1"};
    char text[64];
    struct in6_addr address;
    if (!host.data || host.size == 0)
        return false;
    const bool is_bracketed = *host.data == '['; /* an address of IPv6 */
    if (is_bracketed && host.data[host.size - 1] == ']')
        host = (struct http_part){host.data + 1, host.size - 2};
    else if (!cut_port(&host))
        return false;
    else if (is_bracketed) {
        if (host.size < 2 || host.data[host.size - 1] != ']')
            return false;
        host = (struct http_part){host.data + 1, host.size - 2};
    }
    if (!is_bracketed && http_is_case(host, "localhost"))
        return true;
    if (!copy_part(host, text, sizeof(text)) ||
        inet_pton(is_bracketed ? AF_INET6 : AF_INET, text, &address) != 1)
        return false;
    bool is_here =
        strcmp(text, bound) == 0 || strcmp(bound, "0.0.0.0") == 0 || strcmp(bound, "::") == 0;
    for (size_t i = 0; i < COUNT_OF(loopbacks); i++)
        is_here |= strcmp(text, loopbacks[i]) == 0;
    return is_here;
}

/* Returns the words that belong to a status. */
static const char *reason(unsigned status)
{
    static const struct {
        unsigned status;
        const char *reason;
    } reasons[] = {
        {200, "OK"},
        {400, "Bad Request"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {426, "Upgrade Required"},
        {431, "Request Header Fields Too Large"},
    };
    for (size_t i = 0; i < COUNT_OF(reasons); i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Service Unavailable";
}

/* Appends a whole answer; the connection is closed after it. */
void http_answer(struct text *out, unsigned status, const char *type, const char *body, size_t size)
{
    text_printf(out, "HTTP/1.1 %u %s\r\nContent-Type: %s; charset=UTF-8\r\n", status,
                reason(status), type);
    text_printf(out, "Cache-Control: no-cache\r\nContent-Length: %zu\r\n", size);
    if (status == 405)
        text_append_string(out, "Allow: GET\r\n");
    if (status == 426)
        text_append_string(out, "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n");
    text_append_string(out, "Connection: close\r\n\r\n");
    text_append(out, body, size);
}

/* Appends an answer of plain text that explains the error. */
void http_refuse(struct text *out, unsigned status, const char *why)
{
    struct text body = {0};
    assert(status >= 400);
    text_printf(&body, "%s\n", why);
    http_answer(out, status, "text/plain", body.data, body.size);
    out->failed |= body.failed;
    text_deinit(&body);
}
