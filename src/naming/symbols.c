/*
 * symbols: makes names of the linker readable; see symbols.h. A symbol has some bytes escaped
 * ("%2e"), and full import paths. The first part undoes escapes; the second finds import paths in a
 * name and replaces each by the package's own name, if that is unique in the program.
 */
#include "naming/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/error.h"

/* ==== the linker's names in readable form ==== */

/* Returns the value of a hexadecimal digit, or -1. */
static int symbols_hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the byte whose escape, "%2e", is at data, or -1 if there is no escape, or the linker
 * would not escape that byte. */
static int unescaped(const uint8_t *data, size_t size)
{
    if (size < 3 || data[0] != '%' || symbols_hex_digit(data[1]) < 0 ||
        symbols_hex_digit(data[2]) < 0)
        return -1;
    const int c = symbols_hex_digit(data[1]) << 4 | symbols_hex_digit(data[2]);
    return c <= ' ' || c == '.' || c == '%' || c == '"' || c >= 0x7f ? c : -1;
}

/* Appends a linker's name without escapes. Copies up to each escape at once; a % that begins none
 * is copied as it is. */
void text_append_unescaped(struct text *text, const void *name, size_t size)
{
    const uint8_t *data = name;
    while (size > 0) {
        const uint8_t *escape = memchr(data, '%', size);
        const size_t before = escape ? as_size(escape - data) : size;
        const int c = unescaped(data + before, size - before);
        const char byte = (char)c;
        text_append(text, data, (size_t)before + (escape && c < 0));
        if (c >= 0)
            text_append(text, &byte, 1);
        const size_t done = before + (c >= 0 ? 3 : escape != NULL);
        data += done;
        size -= done;
    }
}

/* Appends a linker's name. Replaces escapes such as %2e in import paths, if there are any. Returns
 * the number of characters. */
size_t text_append_symbol(struct text *text, const void *data, size_t size, size_t limit)
{
    struct text name = {0};
    if (size == 0 || !memchr(data, '%', size))
        return text_append_utf8(text, data, size, limit);
    text_append_unescaped(&name, data, size);
    const size_t characters = text_append_utf8(text, name.data, name.size, limit);
    text->failed = text->failed || name.failed;
    text_deinit(&name);
    return characters;
}

/* Appends the replacement for bytes that must not be shown. */
void text_append_redacted(struct text *text, const struct g2h_redaction *redaction,
                          const uint8_t *data, size_t size)
{
    char redacted[REDACTED_MOST];
    text_append(text, redacted, redaction_write(redaction, data, size, redacted));
}

/* ==== import paths in names, and the short names that may replace them ==== */

#define PACKAGE_SEVERAL (UINT32_MAX - 1)

/* ---- paths in names ---- */

/* Returns whether a byte may be part of an import path, or of a name after it: a letter, a digit,
 * one of ./-_~+%, or a byte of a character beyond ASCII. */
static bool is_of_path(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '/' || c == '-' || c == '_' || c == '~' || c == '+' || c == '%' || c >= 0x80;
}

/* Returns how many bytes from data on may be part of an import path. */
static size_t path_run(const uint8_t *data, size_t size)
{
    size_t run = 0;
    while (run < size && is_of_path(data[run]))
        run++;
    return run;
}

/* Returns the package of a function, by its symbol. In the escaped symbol the last element of a
 * path has no dot. The result is empty for functions that the compiler makes for a type
 * ("type:.eq.main.T"), and for functions of C. */
static struct g2h_bytes package_of_function(struct g2h_bytes symbol)
{
    const struct g2h_bytes none = {symbol.data, 0};
    const size_t run = path_run(symbol.data, symbol.size);
    size_t end = run;
    for (size_t i = run; i > 0 && symbol.data[i - 1] != '/'; i--) /* the first dot, in the end */
        if (symbol.data[i - 1] == '.')
            end = i - 1;
    /* No dot: C's functions. A colon after the run, and "type..": what the compiler makes. */
    if (end == run || (run < symbol.size && symbol.data[run] == ':') ||
        bytes_begin(symbol, "type.."))
        return none;
    return (struct g2h_bytes){symbol.data, end};
}

/* Returns whether a path's element is v2, v3 … */
static bool is_major_version(struct g2h_bytes element)
{
    bool is_number = element.size > 1 && element.data[0] == 'v';
    for (size_t i = 1; i < element.size; i++)
        is_number = is_number && element.data[i] >= '0' && element.data[i] <= '9';
    return is_number;
}

/* Returns the name that a package most likely gives itself: etcd.io/server/v3 is server,
 * gopkg.in/yaml.v3 is yaml. */
static struct g2h_bytes guess_name(struct g2h_bytes path)
{
    struct g2h_bytes name = bytes_base_name(path);
    /* An element is before the version, which is not the whole path. */
    if (name.size + 1 < path.size && is_major_version(name)) {
        path.size -= name.size + 1;
        name = bytes_base_name(path);
    }
    for (size_t i = name.size; i > 1; i--)
        if (name.data[i - 1] == '.') {
            if (is_major_version(bytes_from(name, i)))
                name.size = i - 1;
            break;
        }
    return name;
}

/* ---- known paths in names ---- */

/*
 * Finds the package that a run begins with; returns the size of its path, or 0 if it begins with
 * none. The path ends at a dot after the last slash, but only the known paths show which dot:
 * gopkg.in/yaml.v3.Node. The longest known path wins; few runs have more than one candidate.
 */
static size_t find_path(const struct packages *packages, const uint8_t *run, size_t size,
                        uint32_t *ret_path)
{
    enum { DOTS_MOST = 4 };
    size_t found = 0;
    size_t last_element = size; /* where it begins */
    unsigned dots = 0;
    uint32_t path;
    while (last_element > 0 && run[last_element - 1] != '/')
        last_element--;
    if (last_element == 0) /* a path without a slash is its own short name: nothing to replace */
        return 0;
    for (size_t end = last_element; end <= size && dots <= DOTS_MOST; end++) {
        if (end < size && run[end] != '.')
            continue;
        dots++;
        if (string_pool_find(&packages->paths, run, (size_t)end, &path)) {
            found = end;
            *ret_path = path;
        }
    }
    return found;
}

/*
 * Returns whether a run begins with an unexported method of another package's type, which a type
 * gets by embedding: its name contains the paths of both packages,
 * etcd/client.option.google.golang.org/grpc.before. Sets the end of the first path and the start of
 * the second.
 */
static bool find_embedded(const struct packages *packages, const uint8_t *run, size_t size,
                          size_t *ret_end, size_t *ret_start)
{
    enum { DOTS_MOST = 8 };
    const uint8_t *end = memchr(run, '.', size);
    uint32_t path;
    for (unsigned dots = 0; end && dots < DOTS_MOST; dots++) {
        const size_t at = as_size(end - run);
        const uint8_t *next = memchr(end + 1, '.', (size_t)(size - at - 1));
        *ret_end = at;
        *ret_start = next ? as_size(next - run) + 1 : size;
        if (next && string_pool_find(&packages->paths, run, (size_t)at, &path) &&
            find_path(packages, run + *ret_start, size - *ret_start, &path) > 0)
            return true;
        end = next;
    }
    return false;
}

/* ---- the packages of an executable ---- */

/* Adds a package. Two packages with the same name keep their paths in names: PACKAGE_SEVERAL.
 * Returns false if memory runs out. */
bool packages_add(struct packages *packages, struct g2h_bytes path, struct g2h_bytes name)
{
    uint32_t path_number, name_number;
    if (!string_pool_intern(&packages->paths, path.data, path.size, &path_number))
        return false;
    if (path_number < packages->name_of.count) /* it is known */
        return true;
    if (bytes_base_name(path).size == path.size) /* a path of one element stays as it is */
        name = path;
    if (!string_pool_intern(&packages->names, name.data, name.size, &name_number) ||
        !vector_push(&packages->name_of, name_number))
        return false;
    if (name_number == packages->owner_of.count) /* no package had this name before */
        return vector_push(&packages->owner_of, path_number);
    packages->owner_of.data[name_number] = PACKAGE_SEVERAL;
    return true;
}

/* Returns whether a function is of the last package or of none: its symbol begins with the package
 * and a dot, and no slash follows. */
static bool is_of_last_package(const struct packages *packages, struct g2h_bytes symbol)
{
    const struct g2h_bytes last = bytes_at(packages->last.data, packages->last.size);
    return last.size > 0 && symbol.size > last.size && symbol.data[last.size] == '.' &&
           bytes_begin_with(symbol, last) &&
           !memchr(symbol.data + last.size, '/', symbol.size - last.size);
}

/* Adds the package of a function. Functions come in the order of their packages, so comparing with
 * the last package saves most look-ups. Methods of embedded types have two paths in their names,
 * and are left out. Returns false if memory runs out. */
bool packages_add_function(struct packages *packages, struct g2h_bytes symbol)
{
    if (is_of_last_package(packages, symbol))
        return true;
    const struct g2h_bytes package = package_of_function(symbol);
    _cleanup_(text_deinit) struct text unescaped = {0};
    if (package.size == 0 ||
        bytes_same(package, bytes_at(packages->last.data, packages->last.size)))
        return true;
    packages->last.size = 0;
    text_append(&packages->last, package.data, package.size);
    text_append_unescaped(&unescaped, package.data, package.size);
    const struct g2h_bytes path = bytes_at(unescaped.data, unescaped.size);
    size_t end, start;
    if (find_embedded(packages, path.data, path.size, &end, &start))
        return true;
    return !unescaped.failed && !packages->last.failed &&
           packages_add(packages, path, guess_name(path));
}

/* Adds the packages of all types with descriptors, which have the package's own name, and then
 * those of functions, whose names are guessed. Returns false if memory runs out. */
static bool add_packages(struct packages *packages, const struct g2h_exe *exe)
{
    const struct types *types = exe_types(exe);
    /* Names from types take precedence. Package unsafe has neither functions nor descriptors. */
    bool good = packages_add_function(packages, bytes_of("unsafe.Pointer"));
    for (size_t i = 0; good && i < types->packages.count; i++)
        good = packages_add(packages, types_text(types, types->packages.data[i].path),
                            types_text(types, types->packages.data[i].name));
    for (size_t i = 0; good && i < exe_function_count(exe); i++) {
        struct g2h_bytes name;
        exe_function(exe, i, &name);
        good = packages_add_function(packages, name);
    }
    return good;
}

/* Adds all packages of an executable: of its functions, and of its types that have descriptors. */
struct g2h_error *packages_init(struct packages *packages, const struct g2h_exe *exe)
{
    assert(packages->paths.count == 0);
    return add_packages(packages, exe) ? NULL : &error_no_memory;
}

void packages_deinit(struct packages *packages)
{
    string_pool_deinit(&packages->paths);
    string_pool_deinit(&packages->names);
    free(packages->name_of.data);
    free(packages->owner_of.data);
    text_deinit(&packages->last);
}

/* ---- names ---- */

/* Appends the path that a run begins with, replaced by the short name if that is unique. Returns
 * the size of the path in the run. */
static size_t append_path(struct text *text, const struct packages *packages, const uint8_t *run,
                          size_t size)
{
    uint32_t path = 0;
    size_t length;
    const size_t path_size = find_path(packages, run, size, &path);
    if (path_size == 0)
        return 0;
    const uint32_t name = packages->name_of.data[path];
    const char *short_name = string_pool_text(&packages->names, name, &length);
    if (packages->owner_of.data[name] == path)
        text_append(text, short_name, length);
    else
        text_append(text, run, path_size);
    return path_size;
}

/* Appends a run of bytes of paths: "...net/http.Request" becomes "...http.Request". Leading dots
 * stay; of a method of an embedded type both paths are replaced. */
static void append_run(struct text *text, const struct packages *packages, const uint8_t *run,
                       size_t size)
{
    size_t dots = 0, end, start;
    while (dots < size && run[dots] == '.')
        dots++;
    text_append(text, run, dots);
    run += dots;
    size -= dots;
    size_t replaced = append_path(text, packages, run, size); /* from run on */
    /* A known path wins: what looks like two paths may be one. */
    if (replaced == 0 && find_embedded(packages, run, size, &end, &start)) {
        replaced = append_path(text, packages, run, end);
        text_append(text, run + replaced, start - replaced);
        replaced = start + append_path(text, packages, run + start, size - start);
    }
    text_append(text, run + replaced, size - replaced);
}

/* Returns the size of a quoted string including its quotes; \" does not end it. */
static size_t run_of_quoted(const uint8_t *data, size_t size)
{
    size_t at = 1;
    while (at < size && data[at] != '"')
        at += data[at] == '\\' ? 2 : 1;
    return at < size ? at + 1 : size;
}

/* Appends a name with short paths. Splits a name into runs of characters that paths may have;
 * quoted strings in it are copied. */
void text_append_short(struct text *text, const struct packages *packages, const void *name,
                       size_t size)
{
    const uint8_t *data = name;
    if (size == 0 || !memchr(data, '/', size)) { /* most names */
        text_append(text, data, size);
        return;
    }
    for (size_t at = 0, run; at < size; at += run) {
        run = path_run(data + at, size - at);
        if (run > 0) {
            append_run(text, packages, data + at, run);
            continue;
        }
        run = data[at] == '"' ? run_of_quoted(data + at, size - at) : 1;
        text_append(text, data + at, (size_t)run);
    }
}
