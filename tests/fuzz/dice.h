/* dice: the random numbers of what damages inputs: splitmix64. Its seed is the state that is set:
 * by libFuzzer, or the number of a way to damage. */
#ifndef FUZZ_DICE_H
#define FUZZ_DICE_H

#include <stddef.h>
#include <stdint.h>

static uint64_t state;

static inline uint64_t next_random(void)
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Returns a random number below limit, which is at least 1. */
static inline size_t below(size_t limit)
{
    return (size_t)(next_random() % limit);
}

#endif
