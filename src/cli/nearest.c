/* nearest; see nearest.h. */
#include "cli/nearest.h"

#include <stdint.h>
#include <string.h>

enum { LONGEST = 32 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns how many edits turn one string into the other (optimal string alignment). Both have at
 * most LONGEST bytes. */
static size_t distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t rows[LONGEST + 1][LONGEST + 1];
    for (size_t i = 0; i <= a_size; i++)
        for (size_t j = 0; j <= b_size; j++) {
            if (i == 0 || j == 0) {
                rows[i][j] = i + j;
                continue;
            }
            rows[i][j] = least(rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
                               least(rows[i - 1][j], rows[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                rows[i][j] = least(rows[i][j], rows[i - 2][j - 2] + 1);
        }
    return rows[a_size][b_size];
}

const char *nearest_name(const char *wrong, size_t size, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    size_t most = size / 3;
    if (size > LONGEST)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(names[i]);
        if (length >= size && memcmp(names[i], wrong, size) == 0)
            return NULL;
        const size_t edits = length > LONGEST ? SIZE_MAX : distance(wrong, size, names[i], length);
        if (edits <= most) {
            nearest = names[i];
            most = edits > 0 ? edits - 1 : 0;
        }
    }
    return nearest;
}
