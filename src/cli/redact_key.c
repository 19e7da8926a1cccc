/* redact_key; see redact_key.h. */
#include "cli/redact_key.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/port.h"
#include "base/scope.h"
#include "base/siphash.h"

/* Limits of a file of random bytes: it has at least the bytes of a key, and no more than a
 * deliberately made key. Random bytes hardly ever have fewer different values, even if they are
 * digits. */
enum { KEY_LEAST = G2H_REDACT_KEY, KEY_MOST = 4096, DIFFERENT_LEAST = 8 };

#define HOW_TO "(umask 077; head -c 32 /dev/urandom > FILE) makes a key"

static struct g2h_error *redact_key_read_all(const char *path, int file, uint8_t *data, size_t *ret)
{
    size_t size = 0;
    for (;;) {
        const ssize_t count = read(file, data + size, KEY_MOST + 1 - size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return error_system(errno, "%s: cannot read", path);
        size += (size_t)count;
        if (count == 0 || size > KEY_MOST)
            break;
    }
    *ret = size;
    return NULL;
}

struct key_file {
    int file;
    uint8_t data[KEY_MOST + 1];
};

static void redact_key_forget(struct key_file *key)
{
    explicit_bzero(key->data, sizeof(key->data));
    if (key->file >= 0)
        close(key->file);
}

static int count_different(const uint8_t *data, size_t size)
{
    uint8_t seen[256] = {0};
    int count = 0;
    for (size_t i = 0; i < size; i++) {
        count += seen[data[i]] == 0;
        seen[data[i]] = 1;
    }
    return count;
}

/* Refuses a file that everybody can read or write: with the key, anyone could test guesses of
 * strings. */
static struct g2h_error *check_status(const char *path, int file)
{
    struct stat status;
    if (fstat(file, &status) != 0)
        return error_system(errno, "%s: cannot read", path);
    if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode))
        return error_create(G2H_ERROR_SYSTEM, "%s: is not a key file; " HOW_TO, path);
    if ((status.st_mode & (S_IROTH | S_IWOTH)) != 0)
        return error_create(G2H_ERROR_SYSTEM,
                            "%s: is a key that everyone can read or write; chmod 600 it if "
                            "no one has, or make a new one",
                            path);
    return NULL;
}

static struct g2h_error *check_bytes(const char *path, const uint8_t *data, size_t size)
{
    if (size < KEY_LEAST)
        return error_create(
            G2H_ERROR_SYSTEM,
            "%s: is too short for a key: %zu bytes, at least %d are needed; " HOW_TO, path, size,
            KEY_LEAST);
    if (size > KEY_MOST)
        return error_create(G2H_ERROR_SYSTEM,
                            "%s: is too large for a key, which has at most %d bytes; " HOW_TO, path,
                            KEY_MOST);
    if (count_different(data, size) < DIFFERENT_LEAST)
        return error_create(G2H_ERROR_SYSTEM,
                            "%s: is not a random key: has only %d different bytes; " HOW_TO, path,
                            count_different(data, size));
    return NULL;
}

struct g2h_error *redact_key_read(const char *path, uint8_t ret[G2H_REDACT_KEY])
{
    static const uint8_t no_key[SIPHASH_KEY];
    _cleanup_(redact_key_forget) struct key_file key;
    size_t size = 0;
    key.file = open(path, O_RDONLY | O_CLOEXEC);
    if (key.file < 0)
        return error_system(errno, "%s: cannot open", path);
    TRY(check_status(path, key.file));
    TRY(redact_key_read_all(path, key.file, key.data, &size));
    TRY(check_bytes(path, key.data, size));
    siphash(no_key, key.data, size, ret); /* each byte counts, so the key may be digits, too */
    return NULL;
}
