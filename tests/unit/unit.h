/* What every unit test begins with: cmocka and its prerequisites, and TAP as its output. */
#ifndef UNIT_UNIT_H
#define UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

/* Runs an array of tests; its name heads the output. */
#define UNIT_RUN(tests) \
    (cmocka_set_message_output(CM_OUTPUT_TAP), cmocka_run_group_tests(tests, NULL, NULL))

/* Fails with the error's message. */
#define assert_no_error(expression) \
    do { \
        struct g2h_error *unit_error = (expression); \
        if (unit_error) \
            fail_msg("%s: %s", #expression, unit_error->message); \
    } while (0)

/* A generator of numbers that are the same in each run (xorshift64). */
static inline uint64_t unit_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#define UNIT_SANITIZED false
#ifdef __SANITIZE_ADDRESS__
#undef UNIT_SANITIZED
#define UNIT_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) /* clang's */
#undef UNIT_SANITIZED
#define UNIT_SANITIZED true
#endif
#endif

/*
 * Of rounds that are tried one by one these try every 7th under sanitizers, which are slow, and
 * every 2nd without. With $CHECK_ALL all.
 */
static inline unsigned unit_step(void)
{
    const char *all = getenv("CHECK_ALL");
    return all && *all ? 1 : UNIT_SANITIZED ? 7 : 2;
}

#endif
