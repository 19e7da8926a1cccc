/* check: what must be so for any input. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "is not so: %s\n", #condition); \
            abort(); \
        } \
    } while (0)

#endif
