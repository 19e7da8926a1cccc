/* Covers graph/mark: graphs of many forms on several numbers of threads, compared with the simplest
 * possible marking. */
#include "unit.h"

#include <errno.h>
#include <pthread.h>

#include "graph/mark.h"

static const unsigned thread_counts[] = {1, 2, 3, 8, 64};
enum { THREAD_COUNTS = sizeof(thread_counts) / sizeof(thread_counts[0]) };

/* ---- threads that cannot be started ---- */

static int threads_left = -1; /* how many threads can still be started; -1: any number */

/* The linker's names (--wrap) for the function that the library calls and for the real one, which
 * may be a sanitizer's. */
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument)
{
    if (threads_left == 0)
        return EAGAIN;
    threads_left -= threads_left > 0;
    return __real_pthread_create(thread, attributes, start, argument);
}

/* ---- graphs ---- */

struct links {
    uint32_t objects;
    VECTOR(uint32_t) targets; /* of all objects, in order */
    uint32_t *first;          /* by object: its first target; one entry more */
};

static void link_to(struct links *links, uint32_t target)
{
    assert_true(vector_push(&links->targets, target));
}

/* Links each object with a function that calls link_to(). */
static void links_init(struct links *links, uint32_t objects,
                       void (*link)(struct links *links, uint32_t object))
{
    *links = (struct links){.objects = objects};
    links->first = calloc((size_t)objects + 1, sizeof(*links->first));
    assert_non_null(links->first);
    for (uint32_t i = 0; i < objects; i++) {
        link(links, i);
        links->first[i + 1] = (uint32_t)links->targets.count;
    }
}

static void links_deinit(struct links *links)
{
    free(links->targets.data);
    free(links->first);
}

/* Converts the links to the form that the marker needs. */
static void targets_of_links(struct targets *targets, const struct links *links)
{
    const size_t blocks = (links->objects + (size_t)BLOCK_OBJECTS - 1) >> BLOCK_SHIFT;
    struct target_chunk chunk = {.used = links->targets.count,
                                 .capacity = links->targets.count + 1};
    *targets = (struct targets){.block_count = blocks, .start_count = links->objects + blocks};
    targets->blocks = calloc(blocks + 1, sizeof(*targets->blocks));
    targets->leading = calloc((size_t)links->objects / 64 + 1, sizeof(*targets->leading));
    targets->starts = large_alloc(targets->start_count, sizeof(*targets->starts));
    chunk.data = large_alloc(chunk.capacity, sizeof(*chunk.data));
    assert_true(targets->blocks && targets->leading && targets->starts && chunk.data &&
                vector_push(&targets->chunks, chunk));
    if (chunk.used > 0)
        memcpy(chunk.data, links->targets.data, chunk.used * sizeof(*chunk.data));
    for (uint32_t i = 0; i < links->objects; i++)
        targets->leading[i / 64] |= (uint64_t)(links->first[i] < links->first[i + 1]) << (i % 64);
    for (size_t i = 0; i < blocks; i++) {
        const uint32_t object = (uint32_t)(i << BLOCK_SHIFT), left = links->objects - object;
        struct target_block *block = &targets->blocks[i];
        *block = (struct target_block){.starts = targets->starts + object + i,
                                       .targets = chunk.data + links->first[object],
                                       .objects = left < BLOCK_OBJECTS ? left : BLOCK_OBJECTS};
        for (uint32_t j = 0; j <= block->objects; j++)
            block->starts[j] = links->first[object + j] - links->first[object];
    }
}

/* Marks the objects that object reaches. */
static void mark(const struct links *links, uint32_t object, bool *marks)
{
    VECTOR(uint32_t) stack = {0};
    if (!marks[object])
        assert_true(vector_push(&stack, object));
    marks[object] = true;
    while (stack.count > 0) {
        const uint32_t from = stack.data[--stack.count];
        for (uint32_t i = links->first[from]; i < links->first[from + 1]; i++) {
            const uint32_t to = links->targets.data[i];
            if (to != NO_TARGET && !marks[to]) {
                marks[to] = true;
                assert_true(vector_push(&stack, to));
            }
        }
    }
    free(stack.data);
}

static void expect_marks(const struct links *links, const uint64_t *marks, const bool *expected)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < links->objects; i++) {
        if (is_marked(marks, i) != expected[i])
            fail_msg("object %u is %smarked", i, expected[i] ? "not " : "");
        if (!expected[i]) {
            assert_int_equal(next_unmarked(marks, next, links->objects), i);
            next = i + 1;
        }
    }
    assert_int_equal(next_unmarked(marks, next, links->objects), links->objects);
}

/* Marks from count objects, every step-th from first on: all at once, and in two halves. */
static void check(const struct links *links, uint32_t first, uint32_t step, uint32_t count)
{
    const size_t words = (size_t)links->objects / 64 + 1;
    bool *expected = calloc((size_t)links->objects + 1, sizeof(*expected));
    uint64_t *marks = malloc(words * sizeof(*marks));
    struct targets targets;
    assert_true(expected && marks);
    targets_of_links(&targets, links);
    for (uint32_t i = 0; i < count; i++)
        mark(links, first + i * step, expected);
    for (size_t i = 0; i < THREAD_COUNTS * 2; i++) {
        struct marker marker = {
            .targets = &targets, .marks = marks, .threads = thread_counts[i / 2]};
        memset(marks, 0, words * sizeof(*marks));
        for (uint32_t j = 0; j < count; j++) {
            if (i % 2 == 1 && j == count / 2)
                assert_no_error(marker_drain(&marker));
            assert_true(marker_push(&marker, first + j * step));
        }
        assert_no_error(marker_drain(&marker));
        expect_marks(links, marks, expected);
        marker_deinit(&marker);
    }
    targets_deinit(&targets);
    free(expected);
    free(marks);
}

/* Checks the owners of the objects that the same starts reach; three owners take turns in holding
 * the starts. */
static void check_owners(const struct links *links, uint32_t first, uint32_t step, uint32_t count)
{
    enum { OWNERS = 3 };
    const size_t objects = (size_t)links->objects + 1;
    bool *reached = calloc(objects, sizeof(*reached));
    owner_number *expected = calloc(objects, sizeof(*expected)),
                 *owners = malloc(objects * sizeof(*owners));
    struct targets targets;
    assert_true(reached && expected && owners);
    targets_of_links(&targets, links);
    for (uint32_t i = 0; i < OWNERS; i++) {
        memset(reached, 0, objects);
        for (uint32_t j = i; j < count; j += OWNERS)
            mark(links, first + j * step, reached);
        for (size_t j = 0; j < objects; j++)
            if (reached[j])
                expected[j] =
                    expected[j] == OWNER_NONE ? (owner_number)(OWNER_FIRST + i) : OWNER_SEVERAL;
    }
    for (size_t i = 0; i < THREAD_COUNTS * 2; i++) {
        struct marker marker = {
            .targets = &targets, .owners = owners, .threads = thread_counts[i / 2]};
        memset(owners, 0, objects * sizeof(*owners));
        for (uint32_t j = 0; j < count; j++) {
            if (i % 2 == 1 && j == count / 2)
                assert_no_error(marker_drain(&marker));
            marker.owner = (owner_number)(OWNER_FIRST + j % OWNERS);
            assert_true(marker_push(&marker, first + j * step));
        }
        assert_no_error(marker_drain(&marker));
        assert_memory_equal(owners, expected, objects * sizeof(*owners));
        marker_deinit(&marker);
    }
    targets_deinit(&targets);
    free(reached);
    free(expected);
    free(owners);
}

static void check_all(uint32_t objects, void (*link)(struct links *links, uint32_t object),
                      uint32_t first, uint32_t step, uint32_t count)
{
    struct links links;
    links_init(&links, objects, link);
    check(&links, first, step, count);
    check_owners(&links, first, step, count);
    links_deinit(&links);
}

/* ---- forms ---- */

static void link_to_next(struct links *links, uint32_t object)
{
    if (object + 1 < links->objects)
        link_to(links, object + 1);
}

/* There is never more than one object to visit, so there is nothing to share. */
TEST(chain)
{
    check_all(300000, link_to_next, 1000, 1, 1);
    check_all(300000, link_to_next, 299999, 1, 1);
}

static void link_from_hub(struct links *links, uint32_t object)
{
    for (uint32_t i = 1; object == 70000 && i < links->objects; i += 2)
        link_to(links, i);
}

TEST(fan)
{
    check_all(400000, link_from_hub, 70000, 1, 1);
}

static void link_to_children(struct links *links, uint32_t object)
{
    for (uint32_t i = 1; i <= 2; i++)
        if (2 * object + i < links->objects)
            link_to(links, 2 * object + i);
}

TEST(tree)
{
    check_all((1 << 18) - 1, link_to_children, 0, 1, 1);
    check_all((1 << 18) - 1, link_to_children, 1, 1, 1);
}

/* Links rings of 1000 objects, each of which points into the ring after the next. Each object also
 * points to itself and nowhere. */
static void link_rings(struct links *links, uint32_t object)
{
    const uint32_t ring = object / 1000;
    link_to(links, ring * 1000 + (object + 1) % 1000);
    link_to(links, NO_TARGET);
    link_to(links, object);
    if (object % 1000 == 0 && object + 2500 < links->objects)
        link_to(links, object + 2500);
}

TEST(cycles)
{
    check_all(250000, link_rings, 500, 1, 1);
    check_all(250000, link_rings, 3, 3000, 80);
}

static uint64_t seed;

static void link_at_random(struct links *links, uint32_t object)
{
    (void)object;
    for (uint64_t i = unit_random(&seed) % 3; i > 0; i--)
        link_to(links, unit_random(&seed) % 8 == 0
                           ? NO_TARGET
                           : (uint32_t)(unit_random(&seed) % links->objects));
}

TEST(random_graphs)
{
    seed = 1;
    for (unsigned round = 0; round < 30; round += unit_step()) {
        const uint32_t objects = (uint32_t)(unit_random(&seed) % 200000) + 1000;
        check_all(objects, link_at_random, 7, 100, objects / 200);
    }
}

/* Pushes all objects, or many that each reach some, in steps that are no multiples of a word of
 * marks. */
TEST(many_roots)
{
    check_all(200000, link_to_next, 0, 1, 200000);
    check_all(200000, link_to_children, 3, 5, 39999);
    seed = 99;
    check_all(200001, link_at_random, 2, 3, 60000);
}

/* ---- threads ---- */

/* About as many objects as a thread visits alone; nothing to visit; no objects. */
TEST(more_threads_than_work)
{
    for (int round = 0; round < 5; round++) {
        for (uint32_t count = MARK_ALONE - 1; count < MARK_ALONE + 4; count++) {
            check_all(count, link_to_next, 0, 1, 1);
            check_all(count, link_to_next, 0, 1, count);
        }
        check_all(100, link_to_next, 0, 1, 0);
        check_all(0, link_to_next, 0, 1, 0);
    }
}

/* A thread does the tasks of the threads that could not be started. */
TEST(fewer_threads_than_asked_for)
{
    for (int left = 0; left < 3; left++) {
        struct links links;
        struct targets targets;
        uint64_t marks[200000 / 64 + 1] = {0};
        struct marker marker = {.targets = &targets, .marks = marks, .threads = 8};
        links_init(&links, 200000, link_to_children);
        targets_of_links(&targets, &links);
        assert_true(marker_push(&marker, 0));
        threads_left = left;
        assert_no_error(marker_drain(&marker));
        threads_left = -1;
        assert_int_equal(next_unmarked(marks, 0, links.objects), links.objects);
        marker_deinit(&marker);
        targets_deinit(&targets);
        links_deinit(&links);
    }
}

UNIT_MAIN(NULL, NULL)
