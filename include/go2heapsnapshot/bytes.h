/* A part of an input, or a text, which is not terminated by a 0. The function that returns it says
 * how long it stays valid. */
#ifndef GO2HEAPSNAPSHOT_BYTES_H
#define GO2HEAPSNAPSHOT_BYTES_H

#include <stdint.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

struct g2h_bytes {
    const uint8_t *data;
    uint64_t size;
};

G2H_END

#endif
