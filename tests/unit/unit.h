/* What every unit test begins with: cmocka, the headers that it needs, and TAP output. */
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

/* With $UNIT_TEST only the tests run whose names match. */
__attribute__((constructor)) static void unit_filter(void)
{
    const char *name = getenv("UNIT_TEST");
    if (name)
        cmocka_set_test_filter(name);
}

/* Runs an array of tests; the array's name heads the output. */
#define UNIT_RUN(tests) \
    (cmocka_set_message_output(CM_OUTPUT_TAP), cmocka_run_group_tests(tests, NULL, NULL))

/* Fails the test with the error's message if there is an error. */
#define assert_no_error(expression) \
    do { \
        struct g2h_error *unit_error = (expression); \
        if (unit_error) \
            fail_msg("%s: %s", #expression, unit_error->message); \
    } while (0)

/* Returns the next number of a generator that is the same in each run (xorshift64). */
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
#if __has_feature(address_sanitizer) /* for clang */
#undef UNIT_SANITIZED
#define UNIT_SANITIZED true
#endif
#endif

/*
 * Returns the step of a test's rounds: sanitized tests, which are slow, try every 7th round, others
 * every 2nd. With $CHECK_ALL they try all rounds.
 */
static inline unsigned unit_step(void)
{
    const char *all = getenv("CHECK_ALL");
    return all && *all ? 1 : getenv("QUICK") ? 15 : UNIT_SANITIZED ? 7 : 2;
}

#endif
