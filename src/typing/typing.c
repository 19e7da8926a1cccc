/*
 * typing: the order of the steps that find the types of all objects, and their tasks for threads;
 * see typing.h.
 *
 * find_types() is the list of sources, the surest first: malloc headers, records of the runtime,
 * variables and frames by DWARF or by code, interfaces and closures in untyped objects, spill
 * slots, cleanups, maps by their contents, and guesses. A source proposes types for some objects,
 * which become claims (candidates, claims.h); waves_follow() then follows the pointers of all new
 * claims to further objects, until there is nothing new. When all sources are done, typing_judge()
 * picks one claim for each object.
 */
#include "typing/typing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/workers.h"
#include "typing/coded.h"
#include "typing/exe_match.h"
#include "typing/fit.h"
#include "typing/map_finder.h"
#include "typing/typer.h"

enum { OBJECTS_PER_TASK = 1 << 16 };

struct typing_run {
    struct typing *typing;
    struct waves waves;
    struct guesses guesses;
    struct map *memories; /* caches of typer_guess(), by thread */
    struct map_finder maps;
    struct coded coded;
    struct map *map_memories; /* caches of map_finder_seed(), by thread */
};

/* ---- collecting types ---- */

/* Finds the offset of hchan.elemtype, the address of a channel's element type, and maps the
 * addresses of element types to the types of channels. Both stay empty if no type of the program
 * has such a field. */
static struct g2h_error *collect_channels(struct typing *typing)
{
    const struct types *types = typing->types;
    uint32_t name, first;
    if (!string_pool_find(&types->names, "elemtype", strlen("elemtype"), &name))
        return NULL;
    for (uint32_t i = 0; i < types->list.count; i++) {
        const struct type *type = types_get(types, i);
        for (uint32_t j = 0; type->role == ROLE_CHAN && j < type->field_count; j++)
            if (types_fields(types, type)[j].name == name)
                typing->elemtype_offset = types_fields(types, type)[j].offset;
        if (type->role != ROLE_CHAN || type->elem >= types->list.count)
            continue;
        const uint32_t elem = types_get(types, type->elem)->elem;
        if (elem < types->list.count && types_get(types, elem)->address != 0 &&
            !map_put(&typing->channel_by_elem, types_get(types, elem)->address, i, &first))
            return &error_no_memory;
    }
    return NULL;
}

/* Returns the release of Go. Dumps name it from about 1.17 on; executables have named it for
 * longer, and otherwise it is inferred from the runtime in the executable. */
static struct go_release release_of(const struct typing *typing)
{
    struct go_release release = go_release_parse(g2h_heap_go_version(typing->heap));
    char version[64];
    const struct g2h_bytes built_by = exe_version(typing->exe);
    if (release.minor > 0)
        return release;
    snprintf(version, sizeof(version), "%.*s", as_width(bytes_at_most(built_by, 64).size),
             built_by.data);
    release = go_release_parse(version);
    release.minor = exe_built_by(typing->exe)->minor;
    return release;
}

/* Collects all types that objects may have: the executable's, those made by reflect, and those that
 * the runtime and closures have without a name. From here on no type is added. */
static struct g2h_error *collect_types(struct typing *typing)
{
    struct types *types = &typing->own_types;
    struct runtime_types runtime;
    typing->release = release_of(typing);
    typing->has_red_zones = exe_built_by(typing->exe)->is_asan;
    typing->types = types;
    typing->dwarf_info = exe_dwarf_info(typing->exe);
    typing->scopes = exe_scopes(typing->exe);
    if (!types_copy(types, exe_types(typing->exe)))
        return &error_no_memory;
    TRY(typing_add_reflected(typing, types));
    TRY(typing_add_itab_tables(typing, types));
    runtime_types_init(&runtime, types, &typing->release);
    const bool good = runtime_types_add(&runtime);
    runtime_types_deinit(&runtime);
    TRY_MEMORY(good);
    TRY(typing_add_closures(typing, types));
    if (types->list.count >= CLAIM_TYPE)
        return error_create(G2H_ERROR_LIMIT, "%s: has too many types", typing->heap->input->name);
    TRY(collect_channels(typing));
    TRY(typing_find_cleanups(typing));
    TRY(typing_find_arrays(typing));
    TRY(typing_find_once(typing));
    return pointer_maps_init(&typing->pointer_maps, types);
}

/* ---- sources ---- */

/* Returns the end of the objects of a task that begins with first. */
static uint32_t typing_task_end(const struct typing *typing, uint32_t first)
{
    const uint32_t left = typing->heap->object_count - first;
    return first + MIN(left, OBJECTS_PER_TASK);
}

/* Proposes the types that the malloc headers of a task's objects name. */
static struct g2h_error *headers_task(void *context, size_t task, unsigned worker)
{
    struct typing_run *run = context;
    const uint32_t first = as_u32(task) * OBJECTS_PER_TASK;
    typer_seed_headers(&run->waves.typers[worker], first, typing_task_end(run->typing, first));
    return run->waves.typers[worker].no_memory ? &error_no_memory : NULL;
}

/* Returns whether an object is to be swept: it had no type before the sweep began (claims of the
 * sweep do not count), and it has pointers or may be a channel. */
static bool is_sweepable(const struct typing *typing, uint32_t object)
{
    const uint32_t claim = __atomic_load_n(&typing->claims[object], __ATOMIC_RELAXED);
    if (claim != 0 && (claim & CLAIM_SOURCE) >> CLAIM_SOURCE_SHIFT < SOURCE_SWEEP)
        return false;
    /* A channel without pointers is larger than the offset of its elemtype. */
    return object_has_pointers(typing->heap, object) ||
           heap_object_size(typing->heap, object) > typing->elemtype_offset;
}

/* Searches a task's untyped objects for words that look like an interface, a closure or a
 * channel. */
static struct g2h_error *sweep_task(void *context, size_t task, unsigned worker)
{
    struct typing_run *run = context;
    struct typer *typer = &run->waves.typers[worker];
    const uint32_t first = as_u32(task) * OBJECTS_PER_TASK,
                   end = typing_task_end(run->typing, first);
    for (uint32_t object = first; object < end; object++)
        if (is_sweepable(run->typing, object))
            typer_sweep(typer, object);
    typer_flush(typer);
    return typer->no_memory ? &error_no_memory : NULL;
}

/* Types the objects of a task that must be maps, or their tables, by their contents. */
static struct g2h_error *maps_task(void *context, size_t task, unsigned worker)
{
    struct typing_run *run = context;
    struct typer *typer = &run->waves.typers[worker];
    const uint32_t first = as_u32(task) * OBJECTS_PER_TASK,
                   end = typing_task_end(run->typing, first);
    for (uint32_t object = first; object < end; object++)
        if (map_finder_role(&run->maps, run->typing->heap, object) != NO_MAP)
            map_finder_seed(typer, &run->maps, &run->map_memories[worker], object);
    typer_flush(typer);
    return typer->no_memory ? &error_no_memory : NULL;
}

/* Returns whether an object is left to guess_task(): no type of the whole object was known before
 * guessing began, and it has pointers but no malloc header. */
static bool is_left_to_guess(const struct typing *typing, uint32_t object)
{
    const uint32_t claim = __atomic_load_n(&typing->claims[object], __ATOMIC_RELAXED);
    if ((claim & CLAIM_EXACT) != 0 && (claim & CLAIM_SOURCE) >> CLAIM_SOURCE_SHIFT != SOURCE_GUESS)
        return false;
    return object_has_pointers(typing->heap, object) && heap_object_base(typing->heap, object) == 0;
}

/* Proposes the only type that fits for each of a task's objects that is still unknown. */
static struct g2h_error *guess_task(void *context, size_t task, unsigned worker)
{
    struct typing_run *run = context;
    struct typer *typer = &run->waves.typers[worker];
    const uint32_t first = as_u32(task) * OBJECTS_PER_TASK,
                   end = typing_task_end(run->typing, first);
    for (uint32_t object = first; object < end; object++)
        if (is_left_to_guess(run->typing, object) &&
            !typer_guess(typer, &run->guesses, &run->memories[worker], object))
            return &error_no_memory;
    return typer->no_memory ? &error_no_memory : NULL;
}

/* Runs a task for all objects on all threads; the claims that it makes are not followed yet. */
static struct g2h_error *propose_for_all_objects(struct typing_run *run, workers_task *task)
{
    const size_t objects = run->typing->heap->object_count;
    return waves_run(&run->waves, (objects + OBJECTS_PER_TASK - 1) / OBJECTS_PER_TASK, task, run);
}

/* Finds the maps that no typed pointer leads to. */
static struct g2h_error *typing_find_maps(struct typing_run *run)
{
    if (run->maps.parts.list.count == 0)
        return NULL;
    TRY(propose_for_all_objects(run, maps_task));
    return waves_follow(&run->waves);
}

/* Proposes the only type that fits for each unknown object. The guesses and the caches of threads
 * remain for the caller to free. */
static struct g2h_error *make_guesses(struct typing_run *run)
{
    run->memories = calloc(run->typing->threads, sizeof(*run->memories));
    TRY_MEMORY(run->memories);
    TRY(guesses_init(&run->guesses, run->typing));
    return propose_for_all_objects(run, guess_task);
}

/* Guesses the types of unknown objects, and follows these guesses. */
static struct g2h_error *guess_types(struct typing_run *run)
{
    struct g2h_error *error = make_guesses(run);
    for (unsigned i = 0; run->memories && i < run->typing->threads; i++)
        map_deinit(&run->memories[i]);
    free(run->memories);
    guesses_deinit(&run->guesses);
    return error ? error : waves_follow(&run->waves);
}

/* Returns whether the type that is claimed for an object's start has strings. */
static inline bool has_strings(const struct typing *typing, uint64_t object)
{
    const uint32_t claim = object < typing->heap->object_count ? typing->claims[object] : 0;
    const struct pointer_map *map =
        claim != 0 ? pointer_map_of(&typing->pointer_maps, (claim & CLAIM_TYPE) - 1) : NULL;
    return map && map->has_strings;
}

/* Follows the strings of objects. Strings lead no further, so this is done last, by the claims that
 * won, and in the order of addresses. */
static struct g2h_error *texts_task(void *context, size_t task, unsigned worker)
{
    struct typing_run *run = context;
    struct typing *typing = run->typing;
    struct typer *typer = &run->waves.typers[worker];
    const uint32_t first = as_u32(task) * OBJECTS_PER_TASK,
                   end = typing_task_end(run->typing, first);
    typer->texts_only = true;
    for (uint32_t object = first; object < end; object++) {
        if (has_strings(typing, (uint64_t)object + OBJECTS_AHEAD))
            heap_prefetch(typing->heap, (uint64_t)object + OBJECTS_AHEAD);
        if (!object_has_pointers(typing->heap, object))
            continue;
        if (has_strings(typing, object))
            typer_follow_item(typer, &(struct item){object, ITEM_START});
        if (!typing_has_parts(typing, object))
            continue;
        const struct shard *shard = shard_of(typing, object);
        const uint32_t part = map_get(&shard->first, object);
        for (uint32_t i = part; i != MAP_NONE; i = shard->parts.data[i].next)
            typer_follow_item(typer, &(struct item){object, i});
    }
    typer_flush(typer);
    return typer->no_memory ? &error_no_memory : NULL;
}

/* Runs all steps in their order: each source that depends on the types found before comes after
 * them, and waves_follow() follows what a source has found before the next one. A surer source
 * comes first, since the later ones look only at objects without a type. */
static struct g2h_error *find_types(struct typing_run *run)
{
    struct typer *alone = &run->waves.typers[0];
    TRY(propose_for_all_objects(run, headers_task));
    typer_seed_facts(alone);
    typing_seed_roots(alone);
    TRY(coded_init(&run->coded, run->typing));
    if (run->typing->dwarf_info->globals.count == 0)
        TRY(typing_seed_coded(alone, &run->coded));
    if (run->typing->static_words->users.count > 0)
        TRY(typing_find_cells(run->typing));
    typing_seed_reflected(alone);
    typing_seed_itab_tables(alone);
    TRY_MEMORY(!alone->no_memory);
    TRY(waves_follow(&run->waves));
    TRY(propose_for_all_objects(run, sweep_task));
    TRY(waves_follow(&run->waves));
    TRY(typing_seed_spilled(alone, &run->coded));
    TRY_MEMORY(!alone->no_memory);
    TRY(waves_follow(&run->waves));
    typing_gather_cleanups(alone);
    TRY_MEMORY(!alone->no_memory);
    TRY(waves_follow(&run->waves));
    TRY_MEMORY(map_finder_init(&run->maps, run->typing));
    run->map_memories = calloc(run->typing->threads, sizeof(*run->map_memories));
    TRY_MEMORY(run->map_memories);
    TRY(typing_find_maps(run));
    TRY(guess_types(run)); /* without DWARF the types of the runtime's processors are guesses */
    TRY(typing_find_maps(run)); /* large groups have no malloc header, and may have been guessed */
    typing_seed_timers(alone);
    TRY_MEMORY(!alone->no_memory);
    TRY(waves_follow(&run->waves));
    TRY(typing_judge(run->typing));
    return propose_for_all_objects(run, texts_task);
}

/* ---- sums ---- */

struct accounting {
    const struct typing *typing;
    const uint64_t *live;
    struct g2h_type_account *accounts; /* by worker */
};

/* Adds a sum to another one. */
static void add_sum(struct g2h_type_sum *sum, const struct g2h_type_sum *more)
{
    sum->objects += more->objects;
    sum->bytes += more->bytes;
    sum->living_objects += more->living_objects;
    sum->living_bytes += more->living_bytes;
}

/* Returns the sum that an object counts for, apart from the totals. */
static struct g2h_type_sum *sum_of(const struct typing *typing, uint32_t object,
                                   struct g2h_type_account *account)
{
    switch (typing_object(typing, object).form) {
    case OBJECT_TEXT:
        return &account->text;
    case OBJECT_PART:
        return &account->part;
    case OBJECT_UNTYPED:
        return &account->untyped;
    default: /* only a tiny block may have no claim; then it has a part */
        return &account->sources[typing->claims[object] != 0
                                     ? (typing->claims[object] & CLAIM_SOURCE) >> CLAIM_SOURCE_SHIFT
                                     : first_part(typing, object)->source];
    }
}

/* Adds the objects of a task to the worker's sums. */
static struct g2h_error *account_task(void *context, size_t task, unsigned worker)
{
    const struct accounting *accounting = context;
    const struct g2h_heap *heap = accounting->typing->heap;
    const uint32_t first = as_u32(task) * OBJECTS_PER_TASK;
    const uint32_t end = typing_task_end(accounting->typing, first);
    for (uint32_t object = first; object < end; object++) {
        const bool lives = !accounting->live || bits_have(accounting->live, object);
        const uint64_t size = heap_object_size(heap, object);
        const struct g2h_type_sum one = {1, size, lives, lives ? size : 0};
        add_sum(sum_of(accounting->typing, object, &accounting->accounts[worker]), &one);
    }
    return NULL;
}

/* Computes the totals from the sums of sources and kinds. */
static void add_up_account(struct g2h_type_account *account)
{
    account->typed = account->text;
    for (int i = 0; i < SOURCE_GUESS; i++)
        add_sum(&account->typed, &account->sources[i]);
    account->all = account->typed;
    add_sum(&account->all, &account->sources[SOURCE_GUESS]);
    add_sum(&account->all, &account->part);
    add_sum(&account->all, &account->untyped);
}

/* Sums up objects by the source of their type. Each worker sums up its own tasks, so that none
 * waits for another; the sums are added at the end. */
struct g2h_error *typing_account(const struct typing *typing, const uint64_t *live,
                                 struct g2h_type_account *ret)
{
    _cleanup_free_ struct g2h_type_account *accounts = calloc(typing->threads, sizeof(*accounts));
    struct accounting accounting = {typing, live, accounts};
    TRY_MEMORY(accounts);
    const size_t tasks =
        ((size_t)typing->heap->object_count + OBJECTS_PER_TASK - 1) / OBJECTS_PER_TASK;
    TRY(workers_run(typing->threads, tasks, account_task, &accounting));
    struct g2h_type_account sums = {.all = {0}};
    for (unsigned i = 0; i < typing->threads; i++) {
        const struct g2h_type_account *more = &accounts[i];
        for (int j = 0; j < SOURCES; j++)
            add_sum(&sums.sources[j], &more->sources[j]);
        add_sum(&sums.text, &more->text);
        add_sum(&sums.part, &more->part);
        add_sum(&sums.untyped, &more->untyped);
    }
    add_up_account(&sums);
    *ret = sums;
    return NULL;
}

/* Frees what only the run needs, and returns its memory to the system: the result needs less. */
static void run_deinit(struct typing_run *run)
{
    waves_deinit(&run->waves);
    for (unsigned i = 0; run->map_memories && i < run->typing->threads; i++)
        map_deinit(&run->map_memories[i]);
    free(run->map_memories);
    map_finder_deinit(&run->maps);
    coded_deinit(&run->coded);
    memory_give_back();
}

/* Collects the types and the memory outside the heap, allocates the claims, and finds the types. */
static struct g2h_error *typing_run_steps(struct typing *typing)
{
    const uint32_t objects = typing->heap->object_count;
    TRY(collect_types(typing));
    TRY(outside_init(&typing->outside, typing->heap, exe_image(typing->exe),
                     exe_slide(typing->exe)));
    typing->claims = large_alloc(count_and_end(objects), sizeof(*typing->claims));
    typing->texts = large_alloc(count_and_end(objects), sizeof(*typing->texts));
    typing->has_parts = zeroed_alloc((size_t)objects / 64 + 1, sizeof(*typing->has_parts));
    if (!typing->claims || !typing->texts || !typing->has_parts)
        return &error_no_memory;
    _cleanup_(run_deinit) struct typing_run run = {.typing = typing};
    TRY(waves_init(&run.waves, typing));
    return find_types(&run);
}

static void typing_cleanup(struct typing **typing)
{
    typing_destroy(*typing);
}

/* Finds the types of all objects. Fills in what it was given and runs all steps. 0 threads means as
 * many as there are processors. *ret is set only without an error. */
struct g2h_error *typing_create(const struct g2h_heap *heap, const struct targets *targets,
                                const struct g2h_exe *exe, const struct g2h_redaction *redaction,
                                unsigned threads, struct typing **ret)
{
    static const struct static_words no_words;
    _cleanup_(typing_cleanup) struct typing *typing = calloc(1, sizeof(*typing));
    TRY_MEMORY(typing);
    typing->heap = heap;
    typing->targets = targets;
    typing->exe = exe;
    typing->static_words = &no_words;
    typing->redaction = redaction;
    typing->threads = threads ? threads : workers_available();
    TRY(typing_run_steps(typing));
    /* If memory for a pointer map ran out, its type was taken not to fit, and the snapshot would
     * differ. */
    TRY_MEMORY(!pointer_maps_failed(&typing->pointer_maps));
    *ret = take_pointer(typing);
    return NULL;
}

void typing_destroy(struct typing *typing)
{
    if (!typing)
        return;
    for (size_t i = 0; i < SHARDS; i++) {
        map_deinit(&typing->shards[i].first);
        free(typing->shards[i].parts.data);
        shard_forget(&typing->shards[i]);
    }
    free(typing->has_parts);
    pointer_maps_deinit(&typing->pointer_maps);
    map_deinit(&typing->closure_by_entry);
    map_deinit(&typing->closure_of_value);
    map_deinit(&typing->channel_by_elem);
    outside_deinit(&typing->outside);
    map_deinit(&typing->cleanup_by_entry);
    map_deinit(&typing->once_by_entry);
    map_deinit(&typing->frame_values_at);
    free(typing->frame_values.data);
    map_deinit(&typing->pool_of_word);
    free(typing->pools.data);
    free(typing->cleanup_parts.data);
    free(typing->static_values.data);
    free(typing->static_pointers.data);
    free(typing->static_cells.data);
    free(typing->itab_tables.data);
    free(typing->with_arrays.data);
    types_deinit(&typing->own_types);
    const size_t objects = (size_t)typing->heap->object_count + 1;
    large_free(typing->claims, objects, sizeof(*typing->claims));
    large_free(typing->texts, objects, sizeof(*typing->texts));
    free(typing);
}
