/*
 * leak_proof: whether a heap lacks nothing that could make a leaked goroutine run again; see
 * leak_proof.h. leak_proof_of() goes through all ways in which an object, a root or a pointer may
 * be unknown, and returns the first one that applies as the reason.
 */
#include "graph/leak_proof.h"

enum { FIRST_RELEASE = 19 /* 1.19: older ones have other names of reasons, or were never tried */ };

/* Returns whether the contents of an object with pointers are not wholly in the dump. */
static bool lacks_contents(const struct g2h_heap *heap)
{
    if (heap->account.short_objects == 0)
        return false;
    VECTOR_EACH(const struct slot_class, class, heap->slot_classes.list)
        if (class->has_pointers && class->stored < class->size)
            return true;
    return false;
}

/* Returns whether variables of plugins may be missing: WriteHeapDump writes those of the program
 * itself only. */
static bool lacks_plugins(const struct g2h_heap *heap, const struct g2h_exe *exe)
{
    return exe && !heap->facts.has_stack_objects && exe_function_count(exe) > 0 &&
           exe_has_function(exe, "plugin.open");
}

/* Returns why a heap of a release that is known is not complete, or NULL. */
static const char *leak_proof_gap(const struct g2h_heap *heap, const struct g2h_exe *exe)
{
    const struct facts *facts = &heap->facts;
    const struct {
        bool is_open;
        const char *reason;
    } gaps[] = {
        {heap->damage || heap->input->damage, "the dump is cut or damaged"},
        {facts->is_damaged, "the end of the dump is cut or damaged"},
        {heap->account.misplaced + heap->account.overlapping > 0,
         "damaged objects of the dump were left out"},
        {lacks_contents(heap), "the dump lacks the contents of large objects"},
        {facts->is_cut, "memory of the process is missing"},
        {facts->conservative_objects + facts->conservative_frames > 0,
         "it is not known which words of some objects or stacks are pointers"},
        {facts->unread_threads > 0, "the registers of some threads could not be read"},
        {facts->incomplete_stacks > 0, "some stacks could not be read to their end"},
        {facts->unread_words > 0, "some of the runtime's memory could not be read"},
        {facts->is_partial, "parts of the process could not be read"},
        {!heap_is_exact(heap), "the dump is not complete"},
    };
    for (size_t i = 0; i < COUNT_OF(gaps); i++)
        if (gaps[i].is_open)
            return gaps[i].reason;
    return lacks_plugins(heap, exe) ? "variables of plugins are not in a dump of WriteHeapDump"
                                    : NULL;
}

/* Decides whether this heap can prove leaks. *ret_reason says why a goroutine that seems to be
 * leaked need not be, or is NULL. */
enum g2h_leak_proof leak_proof_of(const struct g2h_heap *heap, const struct g2h_exe *exe,
                                  const char **ret_reason)
{
    *ret_reason = heap->go_minor < FIRST_RELEASE
                      ? "the release of Go is older than 1.19, or not known"
                      : leak_proof_gap(heap, exe);
    if (heap->go_minor < FIRST_RELEASE)
        return G2H_LEAKS_OF_RELEASE_UNKNOWN;
    return *ret_reason ? G2H_LEAKS_INCOMPLETE : G2H_LEAKS_PROVED;
}
