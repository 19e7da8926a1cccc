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

/* The tests of a file, in its order. */
struct unit_tests {
    struct CMUnitTest tests[64];
    size_t count;
};

static inline struct unit_tests *unit_tests(void)
{
    static struct unit_tests tests;
    return &tests;
}

static inline void unit_add(const char *name, CMUnitTestFunction function)
{
    struct unit_tests *tests = unit_tests();
    if (tests->count == sizeof(tests->tests) / sizeof(*tests->tests))
        abort();
    tests->tests[tests->count++] = (struct CMUnitTest){.name = name, .test_func = function};
}

/* Begins a test: TEST(name) { ... }. */
#define TEST(name) \
    static void name(void **unit_state); \
    __attribute__((constructor)) static void unit_add_##name(void) \
    { \
        unit_add(#name, name); \
    } \
    static void name(__attribute__((unused)) void **unit_state)

/* Begins what a file does before or after its tests: FIXTURE(start) { ... }. */
#define FIXTURE(name) \
    static void do_##name(void); \
    static int name(__attribute__((unused)) void **unit_state) \
    { \
        do_##name(); \
        return 0; \
    } \
    static void do_##name(void)

static inline int unit_main(CMFixtureFunction start, CMFixtureFunction end,
                            CMFixtureFunction start_all, CMFixtureFunction end_all)
{
    struct unit_tests *tests = unit_tests();
    for (size_t i = 0; i < tests->count; i++) {
        tests->tests[i].setup_func = start;
        tests->tests[i].teardown_func = end;
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests->tests, start_all, end_all);
}

/* Ends a file: main() runs its tests, with start() before each and end() after it, or NULL. */
#define UNIT_MAIN(start, end) \
    int main(void) \
    { \
        return unit_main(start, end, NULL, NULL); \
    }

/* Does the same, with start() before the first test and end() after the last. */
#define UNIT_MAIN_ONCE(start, end) \
    int main(void) \
    { \
        return unit_main(NULL, NULL, start, end); \
    }

/* Fails the test with the error's message if there is an error. */
#define assert_no_error(expression) \
    do { \
        struct g2h_error *unit_error = (expression); \
        if (unit_error) \
            fail_msg("%s: %s", #expression, unit_error->message); \
    } while (0)

/* Fails the test unless there is an error of the code whose message has the words; destroys it. */
#define assert_error(expression, wanted, words) \
    do { \
        struct g2h_error *unit_error = (expression); \
        if (!unit_error || !strstr(unit_error->message, words)) \
            fail_msg("'%s' is not in: %s", words, unit_error ? unit_error->message : "no error"); \
        assert_int_equal(unit_error->code, wanted); \
        g2h_error_destroy(unit_error); \
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
