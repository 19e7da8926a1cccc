/* report_who: the section with the suspects; see sections.h. */
#include "findings/who.h"

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "findings/deferred.h"
#include "findings/goroutines.h"
#include "findings/keys.h"
#include "findings/stale.h"
#include "findings/path.h"
#include "output/report/sections.h"

enum { MOST_PARTS = 4 /* parts that "each" of a suspect lists */ };

/* Returns the name of a node, which is clipped if it is a class that has a struct without a name in
 * its own: such names have all fields. */
static struct page_field name_of_class(const struct report *report, const char *key, uint32_t node)
{
    enum { MOST = 40 };
    const struct page_field name = report_name(report, key, node);
    const enum g2h_class_form form = merged_form(&report->findings->merged, node);
    const bool is_literal = form > G2H_FORM_DECLARED && form < G2H_FORM_FUNC;
    return page_clipped(name, (is_literal || form == G2H_FORM_STRUCT) &&
                                      memmem(name.data, name.size, "struct { ", 9)
                                  ? MOST
                                  : 0);
}

/* Reports what deferred calls hold, by class. */
static struct g2h_error *put_deferred(const struct report *report, uint32_t calls)
{
    enum { MOST = 6 };
    _cleanup_vector_ deferred_vector list = {0};
    const uint64_t least = report_node(report, calls)->retained / 50;
    struct page *page = report->page;
    TRY(deferred_find(report->findings, calls, &list));
    page_open_list(page, "hold");
    for (size_t i = 0; i < list.count && i < MOST; i++) {
        const struct deferred_held *held = &list.data[i];
        if (held->retained < least)
            break;
        page_open(page, NULL);
        page_say(page, i == 0 ? "      hold        " : ", ");
        PAGE_PUT(page, "% % %", page_count("count", held->count),
                 name_of_class(report, "class", held->node),
                 page_bytes("retained", held->retained));
        page_close(page);
    }
    page_close(page);
    if (list.count > 0)
        page_say(page, "\n");
    return NULL;
}

static void put_keys(const struct report *report, const struct held_keys *keys)
{
    enum { BESIDE = 26 /* characters of a line that are not of the key */ };
    struct page *page = report->page;
    if (keys->count == 0)
        return;
    page_open_list(page, "keys");
    for (size_t i = 0; i < keys->count; i++) {
        const uint64_t retained = keys->list[i].retained;
        page_open(page, NULL);
        page_say(page, i == 0 ? "      by key      " : "                  ");
        PAGE_PUT(page, "% %\n",
                 page_clipped(page_made("key", &keys->list[i].path), page->columns - BESIDE),
                 page_percent(retained, keys->retained));
        PAGE_DATA(page, page_bytes("retained", retained));
        page_close(page);
    }
    page_close(page);
}

/* Reports how many frames a goroutine, a node of the view, has on its stack, and which function has
 * most of them; nothing if they are few. */
static struct g2h_error *put_frames(const struct report *report, uint32_t goroutine)
{
    enum { DEEP = 100 }; /* frames from which on a stack is worth mentioning */
    struct goroutine_frames frames;
    struct page *page = report->page;
    TRY(goroutines_find_frames(report->findings, goroutine, &frames));
    if (frames.count < DEEP)
        return NULL;
    page_open(page, "frames");
    PAGE_PUT(page, "      frames      %, % of them of %\n", page_count("count", frames.count),
             page_count("most", frames.most),
             page_text("function", frames.function, frames.function_size));
    page_close(page);
    return NULL;
}

/* Reports which slices leave out what was found, and the length of the one that is named. */
static struct g2h_error *report_who_put_slices(const struct report *report,
                                               const struct stale_part *found)
{
    _cleanup_(text_deinit) struct text expression = {0};
    struct page *page = report->page;
    uint32_t end;
    const struct stale_array *array = &report->findings->stale.arrays.data[found->most];
    TRY(path_append(report->findings->paths, array->node, &expression, &end));
    TRY_MEMORY(!expression.failed);
    page_say(page, found->before == 0   ? "beyond the length of "
                   : found->beyond == 0 ? "before the start of "
                                        : "beyond the length or before the start of ");
    if (found->arrays > 1)
        PAGE_PUT(page, "% slices, such as ", page_count(NULL, found->arrays));
    PAGE_PUT(page, expression.size > 0 ? "%" : "a slice",
             page_clipped(page_made("of", &expression), 2 * page->columns));
    PAGE_PUT(page, " (length %)\n", page_count("length", found->length));
    PAGE_DATA(page, page_count("beyond", found->beyond), page_count("before", found->before),
              page_count("slices", found->arrays));
    return NULL;
}

/* Reports how many objects of a suspect, or of those that it holds, are in slots that no slice
 * uses, and in which slices' arrays. */
static struct g2h_error *report_who_put_stale(const struct report *report,
                                              const struct suspect *suspect)
{
    struct stale_part found;
    TRY(stale_find_part(report->findings, suspect->item, suspect->count, &found));
    if (found.arrays == 0)
        return NULL;
    const struct page_field count = page_count("count", found.beyond + found.before);
    page_open(report->page, "stale");
    if (found.is_of_items)
        PAGE_PUT(report->page, "      stale       % of them ", count);
    else
        PAGE_PUT(report->page, "      stale       %: % objects ",
                 page_bytes("retained", found.retained), count);
    TRY(report_who_put_slices(report, &found));
    page_close(report->page);
    return NULL;
}

/* Reports the size of one object and its parts: "320 B = 24 B + main.Session 152 B + chan *main.Bid
 * 144 B". */
static struct g2h_error *report_who_put_each(const struct report *report,
                                             const struct suspect *suspect)
{
    const struct merged_node *node = report_node(report, suspect->item);
    const bool is_tree = suspect->count != node->count; /* parts of these are parts of others */
    struct page *page = report->page;
    _cleanup_vector_ ranking parts = {0};
    if (suspect->count < 2)
        return NULL;
    TRY(ranking_of_children(report->findings, suspect->item, &parts));
    page_open(page, "each");
    PAGE_PUT(page, "      each        %", page_bytes("retained", node->retained / suspect->count));
    if (suspect->own < node->retained)
        PAGE_PUT(page, is_tree ? " with % of its own" : " = %",
                 page_bytes("own", suspect->own / suspect->count));
    page_open_list(page, "parts");
    for (size_t i = 0; i < parts.count && i < MOST_PARTS && !is_tree; i++) {
        const struct merged_node *part = report_node(report, parts.data[i].node);
        if (part->retained < node->retained / 50)
            break;
        page_open(page, NULL);
        PAGE_PUT(page, " + % %", name_of_class(report, "class", parts.data[i].node),
                 page_bytes("bytes", part->retained / suspect->count));
        page_close(page);
    }
    page_close(page);
    page_close(page);
    page_say(page, "\n");
    return NULL;
}

/* Adds the address of an object, in JSON only. A node that is not an object has none. */
static void report_who_put_address(const struct report *report, uint32_t number)
{
    struct g2h_node node;
    g2h_view_brief(report->findings->view, number, &node);
    if (node.object != UINT32_MAX)
        PAGE_DATA(report->page, page_address("address", node.address));
}

/* Adds the location of a goroutine to its name, as its place has it: "goroutine 7 [chan receive]
 * main.main.gowrap1" becomes "goroutine 7 [chan receive] main.consume ← main.main.gowrap1". */
static void name_by_place(const struct report *report, uint32_t place, struct text *name)
{
    size_t size;
    const char *of_place = merged_name(&report->findings->merged, place, &size),
               *functions = memmem(of_place, size, "] ", 2),
               *own = name->size > 0 ? memmem(name->data, name->size, "] ", 2) : NULL;
    if (!functions || !own)
        return;
    name->size = (size_t)(own - name->data);
    text_append(name, functions, (size_t)(of_place + size - functions));
}

/* Reports the holder that alone has most of a suspect: "main.rooms["room137"].last alone has 50,010
 * of the 52,000, 3.20 MB (96 %)". */
static struct g2h_error *report_who_put_most(const struct report *report,
                                             const struct suspect *suspect,
                                             const struct example *example)
{
    _cleanup_(text_deinit) struct text expression = {0};
    struct page *page = report->page;
    if (example->most == UINT32_MAX)
        return NULL;
    TRY(who_append_holder(report->findings, example->most, &expression));
    page_open(page, "most");
    PAGE_DATA(page, page_made("held_by", &expression));
    if (suspect->is_goroutines)
        name_by_place(report, suspect->item, &expression);
    TRY_MEMORY(!expression.failed);
    const struct page_field holder = page_clipped(page_made(NULL, &expression), 2 * page->columns);
    if (example->holders == 1) {
        PAGE_PUT(page, "      all in      %\n", holder);
        PAGE_DATA(page, page_count("count", example->count),
                  page_bytes("retained", example->retained));
    } else {
        PAGE_PUT(page, "      mostly      % alone has ", holder);
        PAGE_PUT(page, example->count > 1 ? "% of the %, " : NULL,
                 page_count("count", example->count),
                 page_count(NULL, who_count(report->findings, suspect)));
        PAGE_PUT(page, "% (%)\n", page_bytes("retained", example->retained),
                 page_percent(example->retained, report_node(report, suspect->item)->retained));
    }
    PAGE_DATA(page, page_count("holders", example->holders));
    report_who_put_address(report, example->most);
    page_close(page);
    return NULL;
}

/* Reports how many timers all of the runtime's heaps of timers have, if a suspect is only those of
 * some of them. */
static void put_timers(const struct report *report, const struct suspect *suspect)
{
    struct who_timers all;
    if (!who_are_timers(report->findings, suspect, &all))
        return;
    page_open(report->page, "timers");
    PAGE_PUT(report->page, "      in all      % of these, % (%), in % heaps, one per processor\n",
             page_count("count", all.count), page_bytes("retained", all.retained),
             page_percent(all.retained, report->findings->reachable),
             page_count("heaps", all.heaps));
    page_close(report->page);
}

/* Reports how few elements of arrays are pointed to, if that keeps the arrays alive. */
static void report_who_put_pinned(const struct report *report, const struct pinned *pinned)
{
    if (pinned->arrays == 0)
        return;
    page_open(report->page, "pinned");
    PAGE_PUT(report->page,
             "      pinned by   pointers to % of up to % elements; nothing refers to the others\n",
             page_count("referred", pinned->referred), page_count("elements", pinned->elements));
    PAGE_DATA(report->page, page_count("arrays", pinned->arrays));
    page_close(report->page);
}

static struct g2h_error *report_who_put_holders(const struct report *report, const struct who *who)
{
    const uint32_t sharers = who_shares(report->findings, who->suspect.item);
    if (who->path.size > 0)
        PAGE_PUT(report->page, "      held by     %\n",
                 page_clipped(page_made("held_by", &who->path), 2 * report->page->columns));
    if (who->suspect.held_at != MERGED_NONE)
        PAGE_DATA(report->page, page_flag("is_container", true));
    report_who_put_address(report, who->path_end);
    TRY(report_put_finalized(report, who->path_end, "      "));
    if (sharers != MERGED_NONE)
        PAGE_PUT(report->page, "      shared by   %\n", report_name(report, "shared_by", sharers));
    else if (who->sharers.size > 0)
        PAGE_PUT(report->page, "      shared by   %\n",
                 page_clipped(page_made("shared_by", &who->sharers), 2 * report->page->columns));
    return suspects_are_timers(&report->findings->merged, who->suspect.holder)
               ? NULL
               : report_who_put_most(report, &who->suspect, &who->example);
}

static struct g2h_error *put_allocator(const struct report *report, uint32_t item)
{
    struct allocator allocator;
    if (!allocated_by(&report->findings->allocated, report_node(report, item)->name, item,
                      &allocator))
        return NULL;
    return report_put_allocator(report, &allocator, true);
}

/* Reports the names of edges' targets on a line, see findings_append_targets(), or nothing without
 * such edges. template has the words before the name. */
static struct g2h_error *put_target(const struct report *report, const char *template,
                                    const char *key, uint32_t node, const char *label,
                                    enum g2h_node_kind kind)
{
    _cleanup_(text_deinit) struct text text = {0};
    struct g2h_edges *edges;
    TRY(g2h_edges_create(report->findings->view, &edges));
    findings_append_targets(report->findings, edges, node, label, kind, &text);
    g2h_edges_destroy(edges);
    TRY_MEMORY(!text.failed);
    if (text.size > 0)
        PAGE_PUT(report->page, template, page_made(key, &text));
    return NULL;
}

/* Reports a variable of goroutines and what each goroutine holds by it; or the total, if one of
 * them holds most. */
static void report_who_put_local(const struct report *report, const struct who_local *local,
                                 uint64_t each, bool has_most, bool is_first)
{
    const struct merged_node *node = report_node(report, local->node);
    page_open(report->page, NULL);
    page_say(report->page, is_first ? "      hold        " : "                  ");
    if (node->kind == MERGED_VARIABLE)
        PAGE_PUT(report->page, "% of %", report_name(report, "variable", local->node),
                 report_name(report, "of", node->parent));
    if (node->kind == MERGED_VARIABLE && node->child != MERGED_NONE)
        PAGE_PUT(report->page, ": %", name_of_class(report, "class", node->child));
    if (node->kind == MERGED_CLASS)
        PAGE_PUT(report->page, "%", name_of_class(report, "class", local->node));
    if (node->kind == MERGED_CLASS)
        PAGE_DATA(report->page, report_name(report, "of", node->parent));
    if (has_most)
        PAGE_PUT(report->page, ", % in all\n", page_bytes(NULL, local->retained));
    else
        PAGE_PUT(report->page, ", %", page_bytes(NULL, each));
    PAGE_DATA(report->page, page_bytes("each", each));
}

/* Adds the variables that are part of a variable, in JSON only. */
static void put_parts_of(const struct report *report, const struct who_local *locals, size_t count,
                         uint32_t variable)
{
    page_open_list(report->page, "with");
    for (size_t i = 0; i < count; i++) {
        if (locals[i].part_of != variable)
            continue;
        page_open(report->page, NULL);
        if (report_node(report, locals[i].node)->kind == MERGED_VARIABLE)
            PAGE_DATA(report->page, report_name(report, "variable", locals[i].node),
                      report_name(report, "of", report_node(report, locals[i].node)->parent));
        else
            PAGE_DATA(report->page, report_name(report, "class", locals[i].node),
                      report_name(report, "of", report_node(report, locals[i].node)->parent));
        page_close(report->page);
    }
    page_close(report->page);
}

/* Returns which share (1 / result) of what goroutines retain a variable must retain to be shown.
 * Variables of the runtime's functions, such as the channel that they wait on, are less
 * interesting. */
static uint64_t least_share(const struct report *report, const struct who_local *local)
{
    static const char runtime[] = "runtime.";
    size_t size;
    const char *of =
        merged_name(&report->findings->merged, report_node(report, local->node)->parent, &size);
    return size >= sizeof(runtime) - 1 && memcmp(of, runtime, sizeof(runtime) - 1) == 0 ? 10 : 50;
}

static struct g2h_error *put_locals(const struct report *report, uint32_t place, bool has_most)
{
    enum { MOST = 2 };
    struct who_local locals[WHO_LOCALS];
    size_t count;
    TRY(who_find_locals(report->findings, place, locals, &count));
    const uint64_t goroutines = findings_members(report->findings, place),
                   many = goroutines > 0 ? goroutines : 1;
    page_open_list(report->page, "hold");
    for (size_t i = 0; i < count && i < MOST && locals[i].part_of == MERGED_NONE; i++) {
        if (locals[i].retained <
            report_node(report, place)->retained / least_share(report, &locals[i]))
            break;
        report_who_put_local(report, &locals[i], locals[i].retained / many, has_most, i == 0);
        put_parts_of(report, locals, count, locals[i].node);
        page_close(report->page);
        if (!has_most)
            page_say(report->page, many > 1 ? " each\n" : "\n");
    }
    page_close(report->page);
    return NULL;
}

/* Reports what goroutines hold many of: "50,500 main.Span, 25.0 MB". */
static void put_inside(const struct report *report, const struct suspect *suspect)
{
    if (suspect->inside == 0)
        return;
    page_open(report->page, "inside");
    PAGE_PUT(report->page, "      of which    % %, %\n", page_count("count", suspect->inside_count),
             page_strong(name_of_class(report, "class", suspect->inside)),
             page_bytes("retained", report_node(report, suspect->inside)->retained));
    page_close(report->page);
}

/* Reports how large the stacks of goroutines are. */
static void put_stacks(const struct report *report, uint32_t place)
{
    const uint64_t goroutines = findings_members(report->findings, place),
                   bytes = goroutines_stack_bytes(report->findings, place);
    const uint64_t retained = report_node(report, place)->retained;
    if (bytes > 0 && goroutines > 0)
        PAGE_PUT(report->page,
                 bytes < retained / 20 ? NULL : "      stack       % each, % of this\n",
                 page_bytes("stack", bytes / goroutines), page_percent(bytes, retained));
}

/* Reports what can resume or stop a coroutine: what holds the functions next and stop of
 * iter.Pull. */
static struct g2h_error *put_coroutine(const struct report *report, uint32_t goroutine)
{
    _cleanup_(text_deinit) struct text path = {0};
    uint32_t coroutine, end;
    TRY(goroutines_find_coroutine(report->findings, goroutine, &coroutine));
    if (coroutine == UINT32_MAX)
        return NULL;
    TRY(path_append(report->findings->paths, coroutine, &path, &end));
    if (path.size > 0)
        PAGE_PUT(report->page, "      resumed by  %\n",
                 page_clipped(page_made("resumed_by", &path), 2 * report->page->columns));
    return NULL;
}

/* Reports what goroutines wait on: the paths to it, or else its classes. */
static struct g2h_error *report_who_put_waited(const struct report *report,
                                               const struct goroutines_waited *waited)
{
    struct page *page = report->page;
    const bool has_paths = waited->paths.size > 0;
    if (waited->goroutine != UINT32_MAX)
        TRY(put_target(report, has_paths ? NULL : "      wait on     %\n", "wait_on",
                       waited->goroutine, "waiting on", G2H_NODE_ROOT));
    if (!has_paths)
        return NULL;
    page_open(page, "waited");
    PAGE_PUT(page, "      wait on     %",
             page_clipped(page_made("paths", &waited->paths), 2 * page->columns));
    PAGE_PUT(page, waited->count < waited->of ? ", as % of % do" : NULL,
             page_count("count", waited->count), page_count("of", waited->of));
    page_close(page);
    page_say(page, "\n");
    return NULL;
}

/* Finds and reports what goroutines wait on. */
static struct g2h_error *report_who_find_waited(const struct report *report, uint32_t place)
{
    struct goroutines_waited waited;
    struct g2h_error *error = goroutines_find_waited(report->findings, place, &waited);
    if (!error)
        error = report_who_put_waited(report, &waited);
    text_deinit(&waited.paths);
    return error;
}

static struct g2h_error *put_goroutines_suspect(const struct report *report, const struct who *who)
{
    const uint32_t place = who->suspect.item, goroutine = who->example.node;
    TRY(report_who_put_most(report, &who->suspect, &who->example));
    put_inside(report, &who->suspect);
    TRY(report_who_find_waited(report, place));
    TRY(put_target(report, "      started by  %\n", "started_by", goroutine, NULL,
                   G2H_NODE_CREATION_SITE));
    TRY(put_coroutine(report, goroutine));
    TRY(put_locals(report, place, who->example.most != UINT32_MAX));
    put_stacks(report, place);
    return put_frames(report, goroutine);
}

/* Reports whose stack it is. */
static struct g2h_error *put_stack_suspect(const struct report *report, uint32_t stack)
{
    const uint32_t goroutine = report_node(report, report_node(report, stack)->parent)->example;
    TRY(put_target(report, "      started by  %\n", "started_by", goroutine, NULL,
                   G2H_NODE_CREATION_SITE));
    return put_frames(report, goroutine);
}

/* Reports how many of the objects of class runtime.g belong to goroutines that have ended, if most
 * of them do: what other goroutines hold, like labels of the profiler, is in use. */
static struct g2h_error *report_who_put_ended(const struct report *report, uint32_t item)
{
    uint64_t ended;
    TRY(who_find_ended(report->findings, item, &ended));
    if (ended == 0)
        return NULL;
    PAGE_PUT(
        report->page,
        "      meaning     % goroutines have ended: a burst is over, the runtime keeps this for "
        "reuse\n",
        page_count("ended", ended));
    return NULL;
}

/* Reports the name and number of a suspect: "2,000 main.Watcher", or "+1,600 main.Watcher, now
 * 2,000", or "+0 map[int]string, now 1 with 30,000 entries". */
static void put_item(const struct report *report, const struct who *who)
{
    const struct suspect *suspect = &who->suspect;
    const struct page_field name = page_strong(name_of_class(report, "item", suspect->item)),
                            count = page_count("count", who_count(report->findings, suspect));
    if (report->findings->base)
        PAGE_PUT(report->page, "% %, now %",
                 page_change("count_grown", who_grown(report->findings, suspect)), name, count);
    else
        PAGE_PUT(report->page, "% %", count, name);
    if (who->entries > 0)
        PAGE_PUT(report->page, " with % entries", page_count("entries", who->entries));
    PAGE_DATA(report->page, page_flag("is_goroutines", suspect->is_goroutines),
              page_flag("is_deferred", suspect->is_deferred));
}

/* Reports how much of a suspect takes memory, if that is far less than what it retains. */
static void report_who_put_resident(const struct report *report, const struct suspect *suspect)
{
    const struct merged_node *node = report_node(report, suspect->item);
    const uint64_t resident = node->retained - node->untouched;
    if (resident < node->retained / 100)
        page_say(report->page, " (not resident)");
    else if (report_is_untouched(node->untouched, node->retained))
        PAGE_PUT(report->page, " (% resident)", page_bytes(NULL, resident));
    PAGE_DATA(report->page, page_bytes("not_resident", node->untouched));
}

/* Reports the holder of a suspect: ", in 4 × map[uint64]*main.Watcher", or ", in one entry of
 * map[string]*main.Node". */
static void put_holder(const struct report *report, const struct who *who)
{
    const uint32_t node = who->suspect.holder;
    const struct who_holders holders = who->holders;
    page_open(report->page, "in");
    if (holders.part)
        PAGE_PUT(report->page, ", in one % of %", page_words("part", holders.part),
                 name_of_class(report, "class", node), page_count("count", holders.count));
    else if (holders.count > 1)
        PAGE_PUT(report->page, ", in % × %", page_count("count", holders.count),
                 name_of_class(report, "class", node));
    else
        PAGE_PUT(report->page, ", in %", name_of_class(report, "class", node),
                 page_count("count", holders.count));
    if (suspects_are_timers(&report->findings->merged, node))
        page_say(report->page, ", the runtime's timers");
    page_close(report->page);
}

/* Reports how many of the goroutines that a suspect is, or that hold it, can never run again. */
static struct g2h_error *put_leaked(const struct report *report, const struct suspect *suspect)
{
    const struct findings *findings = report->findings;
    const struct leaks_place *place = leaks_at(&report->suspects->leaks, findings, suspect->item);
    _cleanup_(text_deinit) struct text reason = {0};
    if (!place)
        return NULL;
    const uint64_t count = place->count, all = findings_members(findings, place->node);
    leaks_append_reason(findings, place->example, count > 1, &reason);
    TRY_MEMORY(!reason.failed);
    page_open(report->page, "leaked");
    const struct page_field number = page_count("count", count), why = page_made("reason", &reason);
    if (all == 1) {
        PAGE_PUT(report->page, "      leaked      its goroutine can never run again: %\n", why);
        PAGE_DATA(report->page, number);
    } else if (count == all)
        PAGE_PUT(report->page, "      leaked      all % can never run again: %\n", number, why);
    else
        PAGE_PUT(report->page, "      leaked      % of % can never run again: %\n", number,
                 page_count(NULL, all), why);
    PAGE_DATA(report->page, page_bytes("retained", place->retained));
    page_close(report->page);
    return NULL;
}

static struct g2h_error *report_who_put_suspect(const struct report *report, const struct who *who,
                                                size_t number)
{
    const struct suspect *suspect = &who->suspect;
    struct page *page = report->page;
    const struct page_field bytes =
        report->findings->base ? page_bytes_change("retained_grown", (int64_t)suspect->bytes)
                               : page_bytes("retained", suspect->bytes);
    PAGE_PUT(page, "  %  %  % of the heap   ", page_count(NULL, number), page_wide(bytes, 9),
             page_wide(page_percent(suspect->bytes, report->findings->reachable), 5));
    if (report->findings->base)
        PAGE_DATA(page, page_bytes("retained", report_node(report, suspect->item)->retained));
    put_item(report, who);
    report_who_put_resident(report, suspect);
    if (suspect->holder != MERGED_NONE)
        put_holder(report, who);
    page_say(page, "\n");
    TRY(put_leaked(report, suspect));
    if (suspect->is_goroutines)
        return put_goroutines_suspect(report, who);
    if (suspect->is_deferred)
        return put_deferred(report, suspect->item);
    if (findings_is_kind(report->findings, suspect->item, G2H_NODE_STACK))
        return put_stack_suspect(report, suspect->item);
    put_timers(report, suspect);
    TRY(report_who_put_ended(report, suspect->item));
    TRY(report_who_put_each(report, suspect));
    put_keys(report, &who->keys);
    report_who_put_pinned(report, &suspect->pinned);
    TRY(report_who_put_holders(report, who));
    TRY(report_who_put_stale(report, suspect));
    return put_allocator(report, suspect->item);
}

struct g2h_error *report_put_suspects(const struct report *report)
{
    const struct who_suspects *suspects = report->suspects;
    struct page *page = report->page;
    bool is_outside;
    const size_t rows = report_rows(report, suspects->count),
                 shown = rows < suspects->count ? rows : suspects->count;
    page_head(page,
              report->findings->base ? "WHAT GREW, AND WHO HOLDS IT" : "WHO HOLDS THE MEMORY");
    page_say(page, "\n");
    page_open_list(page, "suspects");
    TRY(report_put_outside(report, &is_outside));
    for (size_t i = 0; i < shown; i++) {
        page_open(page, NULL);
        TRY(report_who_put_suspect(report, &suspects->list[i], is_outside + i + 1));
        page_close(page);
    }
    page_close(page);
    if (suspects->count == 0 && !is_outside)
        page_say(page, report->findings->base
                           ? "  Nothing grew by much.\n"
                           : "  Nothing that holds 5 % of the heap stands out.\n");
    if (suspects->all > shown)
        PAGE_PUT(page,
                 report->findings->base ? "     % more grew by much\n"
                                        : "     % more of % and above: see the tree below\n",
                 page_count("more_suspects", suspects->all - shown), page_words(NULL, "5 %"));
    return NULL;
}
