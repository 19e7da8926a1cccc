/*
 * Covers library/origin.c: what an error about the executable of a core becomes.
 *
 * The core is any file, which is told to be one, and the functions that would read it and its
 * executable say what the test wants.
 */
#include "unit.h"

#include "base/error.h"
#include "library/origin.h"

/* ---- the core and its executable ---- */

static const char *recorded; /* the path in the core; NULL: none */
static enum g2h_error_code code;
static struct g2h_error *(*open_fails)(void); /* the error of opening the executable */

bool __wrap_g2h_input_is_core(const struct g2h_input *input);
bool __wrap_g2h_input_is_core(const struct g2h_input *input)
{
    (void)input;
    return true;
}

struct g2h_error *__wrap_g2h_core_modules(const struct g2h_input *core, struct g2h_modules *ret);
struct g2h_error *__wrap_g2h_core_modules(const struct g2h_input *core, struct g2h_modules *ret)
{
    (void)core;
    *ret = (struct g2h_modules){0};
    return NULL;
}

struct g2h_error *__wrap_g2h_core_executable(const struct g2h_input *core, char **ret);
struct g2h_error *__wrap_g2h_core_executable(const struct g2h_input *core, char **ret)
{
    (void)core;
    *ret = recorded ? strdup(recorded) : NULL;
    return NULL;
}

struct g2h_error *__wrap_g2h_exe_open(const char *path, struct g2h_exe **ret);
struct g2h_error *__wrap_g2h_exe_open(const char *path, struct g2h_exe **ret)
{
    assert_string_equal(path, recorded);
    *ret = NULL;
    return open_fails();
}

static struct g2h_error *without_memory(void)
{
    return &error_no_memory;
}

static struct g2h_error *with_code(void)
{
    return error_create(code, "an error");
}

/* Opens the core, and expects an error of this code, whose message has these words. */
static void expect(enum g2h_error_code wanted, const char *words)
{
    const struct origin_options options = {.path = "/proc/self/exe"};
    struct origin origin;
    assert_error(origin_open(&options, &origin), wanted, words);
    g2h_input_close(origin.input);
    g2h_exe_close(origin.exe);
    origin_deinit(&origin);
}

/* ---- tests ---- */

/* If memory runs out while the executable is opened, --exe would not help. */
TEST(memory_runs_out)
{
    recorded = "/x/app";
    open_fails = without_memory;
    expect(G2H_ERROR_MEMORY, "memory");
}

/* An executable that cannot be opened, or is not Go, has to be given. */
TEST(executable_is_not_opened)
{
    static const enum g2h_error_code codes[] = {G2H_ERROR_NOT_EXE, G2H_ERROR_SYSTEM};
    recorded = "/x/app";
    open_fails = with_code;
    for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
        code = codes[i];
        expect(G2H_ERROR_NOT_EXE, "--exe takes the executable that ran, which was /x/app");
    }
}

/* A core that names no executable. */
TEST(none_is_named)
{
    recorded = NULL;
    expect(G2H_ERROR_NOT_EXE, "--exe takes the executable that ran");
}

UNIT_MAIN(NULL, NULL)
