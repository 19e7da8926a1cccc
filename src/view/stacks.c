/*
 * stacks: the goroutines of a view with their frames and calls, and the groups of roots with what
 * each owns; see include/go2heapsnapshot/view.h. A frame has one call, or several if functions are
 * inlined in it. All of it is in the graph's roots; here numbers of nodes become the view's.
 */
#include "dominators/several.h"
#include "view/view.h"

/* Returns the view's node of a synthetic node of the graph. */
static uint32_t stacks_node_of(const struct g2h_view *view, uint32_t synthetic)
{
    return view->is_folded ? view->fold.number_of[synthetic] : synthetic;
}

size_t g2h_view_goroutine_count(const struct g2h_view *view)
{
    return view->graph->roots.goroutines.count;
}

/* Copies what the roots know about the goroutine; its node becomes the one of the view. */
void g2h_view_goroutine(const struct g2h_view *view, size_t goroutine,
                        struct g2h_view_goroutine *ret)
{
    const struct root_goroutine *root = &view->graph->roots.goroutines.data[goroutine];
    *ret = (struct g2h_view_goroutine){
        .record = view->graph->heap->goroutines.data[root->goroutine].record,
        .node = stacks_node_of(view, root->node),
        .minutes = root->minutes,
        .first_frame = root->first_frame,
        .frame_count = root->frame_count,
        .function = root->function,
        .at = root->at,
        .parent = root->parent};
}

/* Copies what the roots and the heap know about the frame; its node becomes the one of the view. */
void g2h_view_frame(const struct g2h_view *view, size_t number, struct g2h_view_frame *ret)
{
    const struct root_frame *root = &view->graph->roots.frames.data[number];
    const struct heap_stack_frame frame = heap_frame(view->graph->heap, root->frame);
    *ret = (struct g2h_view_frame){.node = stacks_node_of(view, root->node),
                                   .function = frame.function,
                                   .sp = frame.sp,
                                   .entry = frame.entry,
                                   .pc = frame.pc,
                                   .contents = frame.contents};
}

/* Gets a function, inlined or not, that a frame is in; false if there are no more. The innermost
 * function of a site has its number in front, the frame's own is the last. */
bool g2h_view_call(const struct g2h_view *view, size_t frame, uint32_t index,
                   struct g2h_view_call *ret)
{
    const struct roots *roots = &view->graph->roots;
    const struct root_site *site = &roots->sites.data[roots->frames.data[frame].site];
    if (index >= site->count)
        return false;
    const struct root_call *call = &roots->calls.data[site->first + index];
    *ret = (struct g2h_view_call){.function = call->function,
                                  .file = call->file,
                                  .line = call->line,
                                  .is_inlined = index + 1 < site->count,
                                  .is_wrapper = call->is_wrapper,
                                  .number = site->first + index};
    return true;
}

/* Appends the function, and the line if it is known. */
void g2h_view_call_text(const struct g2h_view *view, const struct g2h_view_call *call,
                        struct g2h_text *text)
{
    const struct root_call of = {call->function, call->file, call->line, false};
    struct text made = view_borrow(text);
    root_call_append(&view->graph->names, &of, &made);
    view_give_back(text, &made);
}

/* Replaces the text by the goroutine's state. */
void g2h_view_state(const struct g2h_view *view, size_t goroutine, struct g2h_text *text)
{
    struct text made = view_borrow(text);
    made.size = 0;
    root_goroutine_append_state(view->graph->heap, &view->graph->roots.goroutines.data[goroutine],
                                &made);
    view_give_back(text, &made);
}

size_t g2h_view_owner_count(const struct g2h_view *view)
{
    return view->graph->owners.count;
}

/* Finds the name of the holders that share a node. Sharers are known by the graph's numbers. Folded
 * nodes have none: returns false, as for nodes of one holder. */
bool g2h_view_sharers(const struct g2h_view *view, uint32_t node, const char **ret,
                      size_t *ret_size)
{
    const struct g2h_graph *graph = view->graph;
    const uint32_t synthetics = graph_synthetics(graph);
    if (node >= view_kept(view))
        return false;
    if (view_is_object(view, node))
        node = synthetics + view_object_of(view, node);
    else if (view->is_folded && node >= view->fold.synthetic_count)
        return false;
    else
        node = view_synthetic_of(view, node);
    return sharing_find(&graph->sharing, node, ret, ret_size);
}

/* Gets an owner. The node is UINT32_MAX if the view has none for the owner, or it is not a
 * synthetic one. */
void g2h_view_owner(const struct g2h_view *view, size_t number, struct g2h_view_owner *ret)
{
    const struct graph_owner *owner = &view->graph->owners.data[number];
    const uint32_t node =
        owner->node == UINT32_MAX ? UINT32_MAX : stacks_node_of(view, owner->node);
    *ret = (struct g2h_view_owner){.node = node < view_first_object(view) ? node : UINT32_MAX,
                                   .bytes = owner->bytes};
}
