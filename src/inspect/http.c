/* http; see http.h. */
#include "inspect/http.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "base/contract.h"

bool http_is(struct http_part part, const char *text)
{
    return part.data && part.size == strlen(text) && memcmp(part.data, text, part.size) == 0;
}

bool http_is_case(struct http_part part, const char *text)
{
    return part.data && part.size == strlen(text) && strncasecmp(part.data, text, part.size) == 0;
}

/* Returns the part before the first such character, or everything, and moves *rest after it. */
static struct http_part cut(struct http_part *rest, char character)
{
    const char *found = memchr(rest->data, character, rest->size);
    const struct http_part before = {rest->data, found ? (size_t)(found - rest->data) : rest->size};
    const size_t used = before.size + (found ? 1 : 0);
    rest->data += used;
    rest->size -= used;
    return before;
}

static struct http_part trim(struct http_part part)
{
    while (part.size > 0 && (*part.data == ' ' || *part.data == '\t'))
        part.data++, part.size--;
    while (part.size > 0 && (part.data[part.size - 1] == ' ' || part.data[part.size - 1] == '\t'))
        part.size--;
    return part;
}

/* Returns whether a part has graphic ASCII characters only; of a value also spaces, and others than
 * ASCII. */
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

/* Reads a line "Name: value". Returns false if it is none. */
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
    const struct http_part name = cut(&line, ':'), value = trim(line);
    if (name.size == 0 || !is_graphic(name, false) || !is_graphic(value, true))
        return false;
    for (size_t i = 0; i < sizeof(single) / sizeof(*single); i++) {
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

/* Reads "GET /path?query HTTP/1.1". */
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

enum http_state http_read(const char *data, size_t size, struct http_request *ret, size_t *ret_size)
{
    static const char end[] = "\r\n\r\n";
    const size_t most = size < HTTP_HEAD_MOST ? size : HTTP_HEAD_MOST;
    const char *found = most > 0 ? memmem(data, most, end, sizeof(end) - 1) : NULL;
    struct upgrade upgrade = {0};
    if (!found)
        return size < HTTP_HEAD_MOST ? HTTP_PARTIAL : HTTP_TOO_LARGE;
    *ret_size = (size_t)(found - data) + sizeof(end) - 1;
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

/* Removes ":PORT" from the end of a host. Returns false if the part after the colon is not a
 * number. */
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

bool http_host_is_here(struct http_part host, const char *bound)
{
    static const char *const loopbacks[] = {"127.0.0.1", "::1"};
    char text[64];
    struct in6_addr address;
    if (!host.data || host.size == 0)
        return false;
    const bool is_bracketed = *host.data == '[';
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
    for (size_t i = 0; i < sizeof(loopbacks) / sizeof(*loopbacks); i++)
        is_here |= strcmp(text, loopbacks[i]) == 0;
    return is_here;
}

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
    for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Service Unavailable";
}

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

void http_refuse(struct text *out, unsigned status, const char *why)
{
    struct text body = {0};
    assert(status >= 400);
    text_printf(&body, "%s\n", why);
    http_answer(out, status, "text/plain", body.data, body.size);
    out->failed |= body.failed;
    text_deinit(&body);
}
