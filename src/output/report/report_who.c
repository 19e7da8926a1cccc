/*
 * report_who: the section of a report with the suspects: what retains most, or with a base has
 * grown most; see sections.h.
 *
 * report_put_suspects() writes what findings/suspects.h has found, a struct who for each suspect,
 * by put_suspect(): its size, number and holder (put_head), its goroutines that can never run again
 * (put_leaked), its details by its kind (put_details: goroutines, deferred calls, objects, a
 * stack), such as an example and the path to it, its age or its keys, and its pages (put_pages).
 * Long paths are cut in the middle. Lines are templates, for text and JSON: see page.h.
 */
#include "findings/memory_use.h"
#include "findings/suspects.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "findings/ages.h"
#include "findings/goroutines.h"
#include "findings/keys.h"
#include "findings/path.h"
#include "findings/patterns.h"
#include "findings/pinned.h"
#include "output/report/sections.h"

/* Returns the name of a node. A struct type without a name is called by all of its fields, so that
 * name is clipped to MOST characters, and so is that of a pointer, slice, map or channel with such
 * a struct in it. All other names stay whole. */
static struct page_value name_of_class(const struct report *report, uint32_t node)
{
    enum { MOST = 40 };
    const struct g2h_bytes name = report_name(report, node);
    const enum g2h_class_form form = merged_form(&report->findings->merged, node);
    const bool is_composed = form == G2H_FORM_POINTER || form == G2H_FORM_SLICE ||
                             form == G2H_FORM_MAP || form == G2H_FORM_CHAN;
    const bool is_long =
        (is_composed || form == G2H_FORM_STRUCT) && bytes_contain(name, "struct { ");
    return (struct page_value){.kind = PAGE_VALUE_STRING, .text = name, .most = is_long ? MOST : 0};
}

/* Appends the variable instead of the fields of a sync.Pool that lead to what is in it:
 * "main.buffers  (in a sync.Pool: the next collections free it)". Returns false, and appends
 * nothing, for other paths. */
static bool append_pool(const struct who *who, struct text *text)
{
    static const char in_pool[] = "  (in a sync.Pool",
                      *const fields[] = {".local[", ".victim["}; /* victim: after a collection */
    if (who->path.size == 0)
        return false;
    const char *path = who->path.data,
               *owner = memmem(path, who->path.size, in_pool, strlen(in_pool));
    for (size_t i = 0; i < COUNT_OF(fields) && owner; i++) {
        const char *field = memmem(path, as_size(owner - path), fields[i], strlen(fields[i]));
        if (!field)
            continue;
        text_append(text, path, as_size(field - path));
        text_append(text, owner, as_size(path + who->path.size - owner));
        return true;
    }
    return false;
}

/* Reports what deferred calls hold, by class: MOST classes at most, each with at least a fiftieth
 * of the whole. */
static struct g2h_error *put_deferred(const struct report *report, uint32_t calls)
{
    enum { MOST = 6 };
    _cleanup_vector_ deferred_vector list = {0};
    const uint64_t least = report_node(report, calls)->retained / 50;
    TRY(deferred_find(report->findings, calls, &list));
    PUT(report->page, "[hold]");
    for (size_t i = 0; i < list.count && i < MOST && list.data[i].retained >= least; i++)
        PUT(report->page, "<>%s%n{count} %s{class} %b{retained}</>",
            i == 0 ? "      hold        " : ", ", list.data[i].count,
            name_of_class(report, list.data[i].node), list.data[i].retained);
    PUT(report->page, list.count > 0 ? "[/]\n" : "[/]");
    return NULL;
}

/* Reports the keys of maps that hold most of a suspect, each with its share; nothing if there are
 * none. */
static void put_keys(const struct report *report, const struct held_keys *keys)
{
    enum { BESIDE = 26 /* characters of a line that are not of the key */ };
    if (keys->count == 0)
        return;
    PUT(report->page, "[keys]");
    for (size_t i = 0; i < keys->count; i++)
        PUT(report->page, "<>%s%.*s{key} %p\n|%b{retained}|</>",
            i == 0 ? "      by key      " : "                  ", report->page->columns - BESIDE,
            &keys->list[i].path, keys->list[i].retained, keys->retained, keys->list[i].retained);
    PUT(report->page, "[/]");
}

/* Reports how many frames a goroutine, a node of the view, has on its stack, and which function has
 * most of them; nothing if they are few. */
static struct g2h_error *put_frames(const struct report *report, uint32_t goroutine)
{
    enum { DEEP = 100 }; /* frames from which on a stack is worth mentioning */
    struct goroutine_frames frames;
    TRY(goroutines_find_frames(report->findings, goroutine, &frames));
    if (frames.count >= DEEP)
        PUT(report->page,
            "<frames>      frames      %n{count}, %n{most} of them of %s{function}\n</>",
            frames.count, frames.most, report_bytes(frames.function, frames.function_size));
    return NULL;
}

/* Reports how many objects of a suspect, or of those that it holds, are in slots that no slice
 * uses, and which slices leave them out, with the length of the one that is named. */
static struct g2h_error *put_stale(const struct report *report, const struct who *who)
{
    const struct suspect *suspect = &who->suspect;
    _cleanup_(text_deinit) struct text expression = {0};
    struct page *page = report->page;
    struct stale_part found;
    uint32_t end;
    /* A few are said, too, if they are why there are more objects than the container has entries.
     */
    const bool is_why = who->length.kind && who->length.count < suspect->count;
    TRY(stale_find_part(report->findings, suspect->item, is_why ? 0 : suspect->count, &found));
    if (found.arrays == 0)
        return NULL;
    TRY(path_append(report->findings->paths, report->findings->stale.arrays.data[found.most].node,
                    &expression, &end));
    TRY_MEMORY(!expression.failed);
    if (found.is_of_items)
        PUT(page, "<stale>      stale       %n{count} of them ", found.beyond + found.before);
    else
        PUT(page, "<stale>      stale       %b{retained}: %n{count} objects ", found.retained,
            found.beyond + found.before);
    const char *where = "beyond the length or before the start";
    if (found.before == 0)
        where = "beyond the length";
    else if (found.beyond == 0)
        where = "before the start";
    PUT(page, "%s of ", where);
    if (found.arrays > 1)
        PUT(page, "%n slices, such as ", found.arrays);
    PUT(page, "%.*s{of}%s (length %n{length})\n|%n{beyond}%n{before}%n{slices}|</>",
        2 * page->columns, &expression, expression.size > 0 ? "" : "a slice", found.length,
        found.beyond, found.before, found.arrays);
    return NULL;
}

/* Reports the size of one entry and its parts, which add up to it: "355 B = main.counter 176 B +
 * slots 65 B + []string 65 B + 49 B". Nothing of a single entry; and no parts if one is all. */
static void put_each(const struct report *report, const struct suspect *suspect)
{
    enum { LEAST = 50 /* divisor: the share of an entry that a part has at least to be named */ };
    struct page *page = report->page;
    const uint64_t count = suspect_entries(suspect);
    if (count < 2 || suspect->part_count == 0)
        return;
    const uint64_t each = suspect->all / count;
    const uint64_t slots = suspect->slots / count;
    uint64_t rest = each;
    const char *sign = " = ";
    PUT(page, "<each>      each        %b{retained}", each);
    if (suspect->parts[0].bytes / count == each) {
        PUT(page, "</>\n");
        return;
    }
    PUT(page, "[parts]");
    for (size_t i = 0; i < suspect->part_count; i++) {
        const uint64_t bytes = suspect->parts[i].bytes / count;
        if (bytes == 0 || (i > 0 && bytes < each / LEAST))
            continue;
        PUT(page, "<>%s%s{class} %b{bytes}</>", sign, name_of_class(report, suspect->parts[i].node),
            bytes);
        rest -= bytes;
        sign = " + ";
    }
    PUT(page, "[/]");
    if (slots > 0)
        PUT(page, "%sslots %b{slots}", sign, slots);
    rest -= slots;
    if (rest > 0)
        PUT(page, " + %b{rest}", rest);
    PUT(page, "</>\n");
}

/* Adds the address of an object, in JSON only. A node that is not an object has none. */
static void put_address(const struct report *report, uint32_t number)
{
    struct g2h_node node;
    g2h_view_brief(report->findings->view, number, &node);
    if (node.object != UINT32_MAX)
        PUT(report->page, "|%a{address}", node.address);
}

/* Adds the location of a goroutine to its name, as its place has it: "goroutine 7 [chan receive]
 * main.main.gowrap1" becomes "goroutine 7 [chan receive] main.consume ← main.main.gowrap1". Leaves
 * a name of another form. */
static void name_by_place(const struct report *report, uint32_t place, struct text *name)
{
    const struct g2h_bytes of_place = report_name(report, place);
    const uint8_t *functions = bytes_find(of_place, "] ");
    const char *own = name->size > 0 ? memmem(name->data, name->size, "] ", 2) : NULL;
    if (!functions || !own)
        return;
    name->size = as_size(own - name->data);
    text_append(name, functions, as_size(of_place.data + of_place.size - functions));
}

/* Replaces a path by the class and address of the object that it leads to; keeps it if it leads to
 * no object. */
static void name_by_address(const struct report *report, uint32_t number, struct text *name)
{
    struct g2h_node node;
    size_t size;
    g2h_view_brief(report->findings->view, number, &node);
    const char *class = g2h_view_name(report->findings->view, node.name, &size);
    if (node.object == UINT32_MAX)
        return;
    name->size = 0;
    text_append(name, class, size);
    text_printf(name, " at 0x%" PRIx64, node.address);
}

/* Returns the most characters of a path that fits on a line, with how large the container is. */
static size_t most_of_path(const struct report *report)
{
    enum { BESIDE = 46, LEAST = 60 }; /* characters: what else a line has; a path on any page */
    const size_t columns = report->page->columns;
    return columns > BESIDE + LEAST ? columns - BESIDE : LEAST;
}

/* Returns whether the holder that has most of a suspect is the suspect's container itself. */
static bool is_its_container(const struct findings *findings, const struct suspect *suspect,
                             const struct example *example)
{
    const uint32_t container = suspect->container.node;
    const uint32_t number = g2h_dominators_number(findings->dominators, example->most);
    return container != MERGED_NONE && findings->merged.of[number] == container;
}

/* Reports the holder that alone has most of a suspect: "main.rooms["room137"].last alone has 50,010
 * of the 52,000, 3.20 MB (96 %)". Nothing if there is none (example->most). */
static struct g2h_error *put_most(const struct report *report, const struct suspect *suspect,
                                  const struct example *example)
{
    _cleanup_(text_deinit) struct text expression = {0};
    const struct findings *findings = report->findings;
    struct page *page = report->page;
    if (example->most == UINT32_MAX)
        return NULL;
    TRY(who_append_holder(report->findings, example->most, &expression));
    PUT(page, "<most>|%s{held_by}", &expression);
    if (suspect->is_goroutines)
        name_by_place(report, suspect->item, &expression);
    else if (expression.size > most_of_path(report))
        name_by_address(report, example->most, &expression);
    TRY_MEMORY(!expression.failed);
    uint64_t retained = example->retained;
    uint64_t whole = report_node(report, suspect->item)->retained;
    if (is_its_container(findings, suspect, example)) { /* all that it retains counts */
        retained = g2h_dominators_retained_size(findings->dominators, example->most);
        whole = suspect->all;
    }
    if (example->holders == 1)
        PUT(page, "      all in      %.*s\n|%n{count}%b{retained}", 2 * page->columns, &expression,
            example->count, example->retained);
    else if (example->grown > 0)
        PUT(page,
            "      mostly      %.*s alone has grown by %b{retained_grown}\n|%n{count}%b{retained}",
            2 * page->columns, &expression, example->grown, example->count, retained);
    else {
        PUT(page, "      mostly      %.*s alone has ", 2 * page->columns, &expression);
        PUT_IF(example->count > 1 && !suspect->is_entries, page, "%n{count} of the %n, ",
               example->count, who_count(report->findings, suspect));
        PUT(page, "%b{retained} (%p)\n", retained, retained, whole);
    }
    PUT(page, "|%n{holders}", example->holders);
    put_address(report, example->most);
    PUT(page, "</>");
    return NULL;
}

/* Reports how few elements of arrays are pointed to, if that keeps the arrays alive. */
static void put_pinned(const struct report *report, const struct pinned *pinned)
{
    if (pinned->arrays > 0)
        PUT(report->page,
            "<pinned>      pinned by   pointers to %n{referred} of up to %n{elements} elements; "
            "nothing refers to "
            "the others\n|%n{arrays}|</>",
            pinned->referred, pinned->elements, pinned->arrays);
}

/* Reports how little of arrays is in use by the slices that keep them, or of strings; nothing if
 * there are none. */
static void put_views(const struct report *report, const struct who *who)
{
    const struct views *views = &who->views;
    if (views->count == 0)
        return;
    if (views->is_text)
        PUT(report->page,
            "<views>      pinned by   %n{count} substrings, which keep %b{bytes} of documents and "
            "use %b{used}\n</>",
            views->count, views->bytes, views->used);
    else
        PUT(report->page,
            "<views>      pinned by   slices that use %b of %b each, in %n{count} arrays\n"
            "|%b{bytes}%b{used}|</>",
            views->used / views->count, views->bytes / views->count, views->count, views->bytes,
            views->used);
}

/* ---- long paths ---- */

/* Returns how much of a path names what it begins with: "main.cache" of main.cache.items["a"].next,
 * or "the global used by main.add (0x574f20)"; 0 if that is cut. Dots in the path of the package,
 * before its last slash, do not count. */
static size_t size_of_variable(const struct text *path)
{
    static const char unnamed[] = "the global ";
    const char *end = path->data + path->size;
    const char *bracket = memchr(path->data, '[', path->size);
    const char *at = path->data;
    if (path->size > strlen(unnamed) && memcmp(at, unnamed, strlen(unnamed)) == 0) {
        const char *close = memmem(at, path->size, "(0x", 3);
        close = close ? memchr(close, ')', (size_t)(end - close)) : NULL;
        return close ? (size_t)(close + 1 - at) : 0;
    }
    const char *slash = memrchr(at, '/', (size_t)((bracket ? bracket : end) - at));
    for (int dots = 0; dots < 2; dots++) { /* one of the package, one of the variable */
        const char *from = dots == 0 && slash ? slash : at + dots;
        const char *dot = memchr(from, '.', (size_t)(end - from));
        if (!dot || (bracket && dot > bracket))
            return bracket ? (size_t)(bracket - path->data) : path->size;
        at = dot;
    }
    return (size_t)(at - path->data);
}

/* Appends the field that alone leads to a container, with the type that has it:
 * "main.MemoryStorage.ents". Appends nothing if the path (who->path) does not end with the name of
 * such a field. */
static void append_field_of_holder(const struct report *report, const struct who *who,
                                   struct text *text)
{
    const struct findings *findings = report->findings;
    const struct g2h_dominators *dominators = findings->dominators;
    const uint32_t number = g2h_dominators_number(dominators, who->path_end);
    const uint32_t above = number > 0 ? g2h_dominators_above(dominators, number) : 0;
    const uint32_t holder = above > 0 ? g2h_dominators_node(dominators, above) : UINT32_MAX;
    const uint32_t line = above > 0 ? findings->merged.of[above] : MERGED_NONE;
    struct g2h_edge edge;
    size_t size;
    if (holder == UINT32_MAX || line == MERGED_NONE ||
        findings_node(findings, line)->kind != MERGED_CLASS ||
        merged_form(&findings->merged, line) != G2H_FORM_DECLARED)
        return;
    struct g2h_edges *edges = paths_edges(findings->paths);
    g2h_edges_begin(edges, holder, holder + 1);
    while (text->size == 0 && g2h_edges_next(edges, &edge)) {
        if (edge.target != who->path_end || (edge.flags & G2H_EDGE_BY_INDEX) != 0 ||
            !g2h_edge_holds(edge.flags))
            continue;
        const char *name = g2h_view_name(findings->view, edge.name, &size);
        if (size == 0 || who->path.size <= size + 1 ||
            memcmp(who->path.data + who->path.size - size, name, size) != 0 ||
            who->path.data[who->path.size - size - 1] != '.')
            continue;
        const struct g2h_bytes class = report_name(report, line);
        text_append(text, (const char *)class.data, class.size);
        text_append_string(text, ".");
        text_append(text, name, size);
    }
}

/* Appends a path, and the class of a word without a name. A word of a frame that is no variable is
 * called after its offset: appends the class of what is there, too, "f88, a []main.Finding  (local
 * of main.scan find.go:54)". Appends nothing for other paths, and of a map in a frame, whose length
 * follows. */
static void append_with_class(const struct report *report, const struct who *who, struct text *text)
{
    static const char local[] = "  (local of ";
    const char *owner;
    const char *path = who->path.data;
    size_t digits = 0;
    const uint32_t line =
        report->findings->merged
            .of[g2h_dominators_number(report->findings->dominators, who->path_end)];
    if (who->path.size < 2 || path[0] != 'f' || line == MERGED_NONE ||
        findings_is_entries(report->findings->view,
                            report->findings->merged.nodes.data[line].name) ||
        merged_form(&report->findings->merged, line) == G2H_FORM_OTHER)
        return;
    while (1 + digits < who->path.size && isdigit((unsigned char)path[1 + digits]))
        digits++;
    owner = memmem(path, who->path.size, local, strlen(local));
    if (digits == 0 || path + 1 + digits != owner)
        return; /* or the field says what it is: f40.open */
    const struct g2h_bytes class = report_name(report, line);
    text_append(text, path, (size_t)(owner - path));
    text_append_string(text, ", a ");
    text_append(text, (const char *)class.data, class.size);
    text_append(text, owner, (size_t)(path + who->path.size - owner));
}

/* The path to a suspect in the form that text has; a text is empty where that of struct who is
 * good. */
struct short_paths {
    struct text path, below, example; /* below: what the path begins with, if it was left out */
    bool is_pool;                     /* the path leads to what is in a sync.Pool */
};

static void short_paths_deinit(struct short_paths *paths)
{
    text_deinit(&paths->path);
    text_deinit(&paths->below);
    text_deinit(&paths->example);
}

/* Makes the path of a suspect, and that of its example, short if it does not fit on a line: path
 * becomes the field that leads to it, below the variable, example the rest of the example's path.
 * Otherwise path becomes that with its class, if its word has no name. */
static void shorten_paths(const struct report *report, const struct who *who,
                          struct short_paths *ret)
{
    const struct text *known = &who->path;
    ret->is_pool = append_pool(who, &ret->path);
    if (ret->is_pool)
        return;
    if (known->size > most_of_path(report))
        append_field_of_holder(report, who, &ret->path);
    if (ret->path.size > 0) {
        text_append(&ret->below, known->data, size_of_variable(known));
        if (who->entry.size > known->size &&
            memcmp(who->entry.data, known->data, known->size) == 0) {
            text_append(&ret->example, ret->path.data, ret->path.size);
            text_append(&ret->example, who->entry.data + known->size,
                        who->entry.size - known->size);
        }
    } else if (known->size > 0) {
        append_with_class(report, who, &ret->path);
    }
}

/* Returns the container whose objects the path to a suspect may lead to one of: the sync.Maps, if
 * its entries are in several of these. */
static uint32_t who_container(const struct report *report, const struct who *who)
{
    return suspect_is_in_maps(&report->findings->merged, &who->suspect)
               ? who->suspect.held_at
               : who->suspect.container.node;
}

/* Returns how many containers there are like the one that the path to a suspect leads to, if the
 * path is that of one of them only; else 0. */
static uint64_t count_alike(const struct report *report, const struct who *who)
{
    const struct findings *findings = report->findings;
    const uint32_t container = who_container(report, who);
    if (container == MERGED_NONE || who->example.most != UINT32_MAX ||
        who->path_end == who->example.node ||
        findings->merged.of[g2h_dominators_number(findings->dominators, who->path_end)] !=
            container)
        return 0;
    return container == who->suspect.holder &&
                   findings_is_entries(findings->view, report_node(report, container)->name)
               ? who->holders.count
               : report_node(report, container)->count;
}

/* Reports the path to a suspect, of how many suspects it is the same, and the container that it
 * leads to: its kind, its entries, and the number of those alike. */
static void put_path(const struct report *report, const struct who *who,
                     const struct short_paths *paths)
{
    struct page *page = report->page;
    const size_t most = 2 * page->columns;
    PUT(page, "      held by     %.*s|%.*s{held_by}", most,
        paths->path.size > 0 ? &paths->path : &who->path, most, &who->path);
    if (who->path_of > 0)
        PUT_IF(who->path_count < who->path_of, page, ", as %n{held} of %n{held_of} are",
               who->path_count, who->path_of);
    if (who->length.kind && paths->is_pool)
        PUT(page, "<container>|%s{kind}%n{entries}|</>", who->length.kind, who->length.count);
    else if (who->length.kind)
        PUT(page, "<container>, a %s{kind} of %n{entries} %s</>", who->length.kind,
            who->length.count, who->length.count == 1 ? "entry" : "entries");
    const uint64_t alike = paths->is_pool ? 0 : count_alike(report, who);
    if (alike > 1)
        PUT(page, ", one of %n", alike);
    if (paths->below.size > 0)
        PUT(page, ", below %s", &paths->below);
    PUT(page, "\n");
}

/* Reports the path to an example of a suspect, if that is in a container; in JSON also what the
 * container is to it. */
static void put_example(const struct report *report, const struct who *who,
                        const struct short_paths *paths)
{
    const struct container *container = &who->suspect.container;
    struct page *page = report->page;
    const size_t most = 2 * page->columns;
    if (who->suspect.held_at != MERGED_NONE || who->entry.size > 0 || who->is_container)
        PUT(page, "|%f{is_container}", true);
    if (who->entry.size == 0)
        return;
    if (container->node != MERGED_NONE && container->beside_count == 0 &&
        !merged_is_island(&report->findings->merged, container->node))
        PUT(page, "|%f{is_whole}", container->is_all);
    if (paths->is_pool)
        PUT(page, "|%.*s{example}", most, &who->entry);
    else
        PUT(page, "      example     %.*s\n|%.*s{example}", most,
            paths->example.size > 0 ? &paths->example : &who->entry, most, &who->entry);
}

/* Reports how the program gets to a suspect, and an example of it: the path; who else shares it; a
 * finalizer that keeps it; and the holder that has most. JSON has the whole path where text has a
 * short one. */
static struct g2h_error *put_held_by(const struct report *report, const struct who *who)
{
    const uint32_t sharers = who_shares(report->findings, who->suspect.item);
    struct page *page = report->page;
    _cleanup_(short_paths_deinit) struct short_paths paths = {.is_pool = false};
    shorten_paths(report, who, &paths);
    TRY_MEMORY(!paths.path.failed && !paths.below.failed && !paths.example.failed);
    if (who->path.size > 0)
        put_path(report, who, &paths);
    put_example(report, who, &paths);
    put_address(report, who->path_end);
    TRY(report_put_finalized(report, who->path_end, "      "));
    if (sharers != MERGED_NONE)
        PUT(page, "      shared by   %s{shared_by}\n", report_name(report, sharers));
    else if (who->sharers.size > 0)
        PUT(page, "      shared by   %.*s{shared_by}\n", 2 * page->columns, &who->sharers);
    return suspects_are_timers(&report->findings->merged, who->suspect.holder)
               ? NULL
               : put_most(report, &who->suspect, &who->example);
}

/* Reports the names of edges' targets on a line, see findings_append_targets(), or nothing without
 * such edges. Unless is_said, the line is in JSON only. */
static struct g2h_error *put_target(const struct report *report, bool is_said, const char *template,
                                    uint32_t node, const char *label, enum g2h_node_kind kind)
{
    _cleanup_(text_deinit) struct text text = {0};
    _cleanup_(findings_destroy_edges) struct g2h_edges *edges = NULL;
    TRY(g2h_edges_create(report->findings->view, &edges));
    findings_append_targets(report->findings, edges, node, label, kind, &text);
    TRY_MEMORY(!text.failed);
    if (text.size > 0)
        PUT_IF(is_said, report->page, template, &text);
    return NULL;
}

/* Reports the go statement that started a goroutine, if it is known. */
static struct g2h_error *put_started_by(const struct report *report, uint32_t goroutine)
{
    return put_target(report, true, "      started by  %s{started_by}\n", goroutine, NULL,
                      G2H_NODE_CREATION_SITE);
}

/* Reports a variable of goroutines (number is its index in locals) and what each of the `many`
 * goroutines holds by it; or the total, if one of them holds most (has_most); and, in JSON only,
 * the variables that are part of it. */
static void put_local(const struct report *report, const struct who_local *locals, size_t count,
                      size_t number, uint64_t many, bool has_most)
{
    const struct who_local *local = &locals[number];
    const struct merged_node *node = report_node(report, local->node);
    struct page *page = report->page;
    PUT(page, "<>%s", number == 0 ? "      hold        " : "                  ");
    if (node->kind == MERGED_VARIABLE)
        PUT(page, "%s{variable} of %s{of}", report_name(report, local->node),
            report_name(report, node->parent));
    if (node->kind == MERGED_VARIABLE && node->child != MERGED_NONE)
        PUT(page, ": %s{class}", name_of_class(report, node->child));
    if (node->kind == MERGED_CLASS)
        PUT(page, "%s{class}|%s{of}", name_of_class(report, local->node),
            report_name(report, node->parent));
    PUT(page, has_most ? ", %b in all\n" : ", %b",
        has_most ? local->retained : local->retained / many);
    PUT(page, "|%b{each}[with]", local->retained / many);
    for (size_t i = 0; i < count; i++) {
        if (locals[i].part_of != local->node)
            continue;
        const struct merged_node *part = report_node(report, locals[i].node);
        PUT(page, "|<>%s{*}%s{of}</>", report_name(report, locals[i].node),
            part->kind == MERGED_VARIABLE ? "variable" : "class",
            report_name(report, part->parent));
    }
    if (has_most) /* the line has ended above */
        PUT(page, "[/]</>");
    else
        PUT(page, many > 1 ? "[/]</> each\n" : "[/]</>\n");
}

/* Reports the MOST variables by which goroutines hold most. A variable of the program counts from a
 * fiftieth of what the place retains, one of a runtime function from a tenth. The list has the
 * heaviest variables first and then those that are part of others: it stops at the first that holds
 * less than that, or is such a part. put_local() adds the parts to their variable, in JSON.
 * has_most: one goroutine holds most of it. */
static struct g2h_error *put_locals(const struct report *report, uint32_t place, bool has_most)
{
    enum { MOST = 2, LEAST = 50, LEAST_OF_RUNTIME = 10 };
    struct who_local locals[WHO_LOCALS];
    size_t count;
    TRY(who_find_locals(report->findings, place, locals, &count));
    const uint64_t goroutines = findings_members(report->findings, place);
    const uint64_t many = MAX(goroutines, 1); /* a divisor */
    PUT(report->page, "[hold]");
    for (size_t i = 0; i < count && i < MOST && locals[i].part_of == MERGED_NONE; i++) {
        /* Variables of the runtime's functions, such as the channel that they wait on, are less
         * interesting. */
        const struct g2h_bytes function =
            report_name(report, report_node(report, locals[i].node)->parent);
        const uint64_t divisor = bytes_begin(function, "runtime.") ? LEAST_OF_RUNTIME : LEAST;
        if (locals[i].retained < report_node(report, place)->retained / divisor)
            break;
        put_local(report, locals, count, i, many, has_most);
    }
    PUT(report->page, "[/]");
    return NULL;
}

/* Reports how large the stacks of goroutines are; as text if they are a twentieth of what the place
 * retains, or more. */
static void put_stacks(const struct report *report, uint32_t place)
{
    const uint64_t goroutines = findings_members(report->findings, place),
                   bytes = goroutines_stack_bytes(report->findings, place),
                   retained = report_node(report, place)->retained;
    if (bytes > 0 && goroutines > 0)
        PUT_IF(bytes >= retained / 20, report->page,
               "      stack       %b{stack} each, %p of this\n", bytes / goroutines, bytes,
               retained);
}

/* Reports what can resume or stop a coroutine: what holds the functions next and stop of iter.Pull.
 * Nothing if the goroutine is none, or nothing holds them. If the shortest path to the coroutine is
 * its own frame, that of a function counts instead. */
static struct g2h_error *put_coroutine(const struct report *report, uint32_t goroutine)
{
    const struct findings *findings = report->findings;
    _cleanup_(text_deinit) struct text path = {0};
    struct g2h_node holder = {.kind = G2H_NODE_OBJECT};
    uint32_t coroutine, end, by;
    TRY(goroutines_find_coroutine(findings, goroutine, &coroutine));
    if (coroutine == UINT32_MAX)
        return NULL;
    TRY(path_append(findings->paths, coroutine, &path, &end));
    if (path_goes_by(findings->paths, end, &by))
        g2h_view_brief(findings->view, by, &holder);
    if (holder.kind != G2H_NODE_OBJECT) {
        path.size = 0;
        TRY(goroutines_find_resumer(findings, goroutine, coroutine, &by));
        if (by != UINT32_MAX)
            TRY(path_append_by(findings->paths, by, coroutine, coroutine, &path, &end));
    }
    if (path.size > 0)
        PUT(report->page, "      resumed by  %.*s{resumed_by}\n", 2 * report->page->columns, &path);
    return NULL;
}

/* Reports where goroutines wait, how long, and one of those with the most frequent stack, a node of
 * the view: UINT32_MAX if there is none. */
static struct g2h_error *put_waits_at(const struct report *report, uint32_t place,
                                      uint32_t *ret_example)
{
    _cleanup_(text_deinit) struct text frames = {0}, number = {0};
    struct g2h_view_goroutine goroutine;
    struct stack_place found;
    struct page *page = report->page;
    TRY(stack_place_find(report->findings, place, &found));
    *ret_example = UINT32_MAX;
    if (found.example == UINT32_MAX)
        return NULL;
    g2h_view_goroutine(report->findings->view, found.example, &goroutine);
    *ret_example = goroutine.node;
    if (stack_append_frames(report->findings, found.example, &frames)) {
        PUT(page, "      waits at    %.*s{waits_at}", 2 * page->columns, &frames);
        PUT_IF(found.alike < found.of, page, ", as %n{waits_at_count} of %n do", found.alike,
               found.of);
        PUT(page, "\n");
    }
    TRY_MEMORY(!frames.failed);
    report_put_minutes(report, &found, "      for         ", "\n");
    if (g2h_view_is_redacted(report->findings->view))
        return NULL;
    text_append_number(&number, found.goid);
    TRY_MEMORY(!number.failed);
    PUT_IF(found.of > 1, page, "      e.g.        goroutine %s\n", &number);
    PUT(page, "|%n{goroutine}", found.goid);
    return NULL;
}

/* Reports what goroutines wait on: the paths to it, or else its classes. */
static struct g2h_error *put_waited(const struct report *report, uint32_t place, uint32_t example)
{
    struct goroutines_waited waited;
    struct page *page = report->page;
    struct g2h_error *error = goroutines_find_waited(report->findings, place, &waited);
    _cleanup_(text_deinit) struct text paths = waited.paths;
    TRY(error);
    if (example != UINT32_MAX) {
        _cleanup_(text_deinit) struct text classes = {0};
        goroutines_append_classes(report->findings, example, &classes);
        TRY_MEMORY(!classes.failed);
        if (classes.size > 0)
            PUT_IF(paths.size == 0, page, "      wait on     %s{wait_on}\n", &classes);
    }
    if (paths.size == 0)
        return NULL;
    PUT(page, "<waited>      wait on     %.*s{paths}", 2 * page->columns, &paths);
    PUT_IF(waited.count < waited.of, page, ", as %n{count} of %n{of} do", waited.count, waited.of);
    PUT(page, "</>\n");
    return NULL;
}

/* Reports what goroutines or objects mean, if that is certain. */
static void put_pattern(const struct report *report, const struct pattern *pattern, uint64_t all)
{
    if (!pattern->meaning)
        return;
    PUT(report->page, "      meaning     ");
    PUT_IF(pattern->count < all, report->page, "%n{meaning_count} of them: ", pattern->count);
    PUT(report->page, "%s{meaning}\n", pattern->meaning);
}

/* Reports a suspect that is goroutines: what they hold, what their function means, where and on
 * what they wait, who started them, and their variables and stacks. */
static struct g2h_error *put_goroutines_suspect(const struct report *report, const struct who *who)
{
    const struct suspect *suspect = &who->suspect;
    const uint32_t place = suspect->item;
    const uint32_t goroutine = who->example.node;
    struct pattern pattern;
    uint32_t example;
    TRY(put_most(report, suspect, &who->example));
    if (suspect->inside != 0) /* what they hold many of */
        PUT(report->page, "<inside>      of which    %n{count} %#s{class}, %b{retained}\n</>",
            suspect->inside_count, name_of_class(report, suspect->inside),
            report_node(report, suspect->inside)->retained);
    TRY(pattern_find(report->findings, place, &pattern));
    put_pattern(report, &pattern, findings_members(report->findings, place));
    TRY(put_waits_at(report, place, &example));
    TRY(put_waited(report, place, example));
    TRY(put_started_by(report, goroutine));
    TRY(put_coroutine(report, goroutine));
    TRY(put_locals(report, place, who->example.most != UINT32_MAX));
    put_stacks(report, place);
    return put_frames(report, goroutine);
}

/* Reports the number of a suspect: "2,000 main.Watcher", or "+1,600 main.Watcher, now 2,000"; of a
 * container whose entries are no objects of a class "+20,000 entries, now 30,000". */
static void put_number(const struct report *report, const struct suspect *suspect)
{
    struct page *page = report->page;
    const bool has_base = report->findings->base != NULL;
    const struct page_value class = name_of_class(report, suspect->named);
    if (suspect->is_entries) {
        if (has_base)
            PUT(page, "%c{entries_grown} entries, now %n{entries}", suspect->entries_grown,
                suspect->entries);
        else
            PUT(page, "%n{entries} %s", suspect->entries,
                suspect->entries == 1 ? "entry" : "entries");
        PUT(page, "|%n{count}%s{item}%?c{count_grown}%f{is_entries}",
            who_count(report->findings, suspect), class, has_base,
            who_grown(report->findings, suspect), true);
    } else if (has_base) {
        PUT(page, "%c{count_grown} %#s{item}, now %n{count}", who_grown(report->findings, suspect),
            class, who_count(report->findings, suspect));
    } else {
        PUT(page, "%n{count} %#s{item}", who_count(report->findings, suspect), class);
    }
}

/* Returns whether many of a suspect's objects are inside others of them, such as the maps of a
 * document read from JSON: its holder has only the outermost ones. Not timers, of which other heaps
 * than the example's have some. */
static bool is_nested(const struct report *report, const struct who *who)
{
    const uint64_t uppermost = who->example.uppermost;
    return uppermost > 1 && uppermost + uppermost / 8 < who->suspect.count &&
           !suspects_are_timers(&report->findings->merged, who->suspect.holder);
}

/* Says of a suspect that it is timers, and which function most of them call: the closure that
 * time.AfterFunc() was given is right below each. */
static void put_what_timers_call(const struct report *report, uint32_t item)
{
    const struct merged *merged = &report->findings->merged;
    const struct merged_node *nodes = merged->nodes.data;
    uint32_t most = MERGED_NONE;
    PUT(report->page, ", the runtime's timers");
    for (uint32_t i = nodes[item].child; i != MERGED_NONE; i = nodes[i].sibling)
        if (merged_form(merged, i) == G2H_FORM_CLOSURE &&
            (most == MERGED_NONE || nodes[i].count > nodes[most].count))
            most = i;
    if (most == MERGED_NONE || nodes[most].count <= nodes[item].count / 2)
        return;
    struct g2h_bytes function = report_name(report, most);
    const size_t skipped = MIN(function.size, strlen("func "));
    function.data += skipped;
    function.size -= skipped;
    PUT(report->page, ", %s call %s{calls}",
        nodes[most].count < nodes[item].count ? "most of which" : "which", function);
}

/* Reports the holder of a suspect by its class: ", in 4 × map[uint64]*main.Watcher", or ", in one
 * entry of map[string]*main.Node"; of documents ", of which 1,000 in 7 × map[int]main.Document". */
static void put_holder_class(const struct report *report, const struct who *who)
{
    const struct who_holders *holders = &who->holders;
    const uint32_t name = report_node(report, who->suspect.holder)->name;
    struct page_value class = name_of_class(report, who->suspect.holder);
    struct page *page = report->page;
    _cleanup_(text_deinit) struct text pool = {0};
    if (findings_is_entries(report->findings->view, name)) /* no object is the map itself */
        (void)g2h_view_map_of(report->findings->view, name, &class.text.size);
    PUT(page, "<in>,");
    if (is_nested(report, who))
        PUT(page, " of which %n{objects}", who->example.uppermost);
    if (append_pool(who, &pool))
        PUT(page, " in a sync.Pool|%s{class}%n{count}|", class, holders->count);
    else if (holders->part)
        PUT(page, " in one %s{part} of %s{class}|%n{count}", holders->part, class, holders->count);
    else if (holders->count > 1)
        PUT(page, " in %n{count} × %s{class}", holders->count, class);
    else
        PUT(page, " in %s{class}|%n{count}", class, holders->count);
    if (suspects_are_timers(&report->findings->merged, who->suspect.holder))
        put_what_timers_call(report, who->suspect.item);
    PUT(page, "</>");
}

/* Reports what a suspect is in: a variable, a tree, a map's entries without an object, or else its
 * holder; nothing if it has none. */
static void put_in(const struct report *report, const struct who *who)
{
    const struct suspect *suspect = &who->suspect;
    struct page *page = report->page;
    if (suspect_is_in_maps(&report->findings->merged, suspect)) {
        put_holder_class(report, who);
    } else if (suspect->container.node != MERGED_NONE &&
               findings_is_kind(report->findings, suspect->container.node, G2H_NODE_VARIABLE)) {
        const uint32_t example = report_node(report, suspect->container.node)->example;
        _cleanup_(text_deinit) struct text name = {0};
        expression_append_variable(report->findings->view, example, &name);
        page->out.failed |= name.failed;
        PUT(page, "<in>, in %s{variable}</>", &name);
    } else if (suspect->container.tree != MERGED_NONE) {
        PUT(page, "<in>, in a tree of %n{count} %s{class}</>",
            report_node(report, suspect->container.tree)->count,
            name_of_class(report, suspect->container.tree));
    } else if (suspect->is_entries && suspect->container.node == MERGED_NONE) {
        PUT(page, "<in>, in %s{class}|%n{count}</>", name_of_class(report, suspect->item), 1);
    } else if (suspect->holder != MERGED_NONE) {
        put_holder_class(report, who);
    }
}

/* Reports the name and number of a suspect, of several maps also how many entries they have; how
 * much of it takes memory, if that is far less than what it retains (less than a hundredth: not
 * resident); and what it is in. */
static void put_head(const struct report *report, const struct who *who)
{
    const struct suspect *suspect = &who->suspect;
    const struct merged_node *node = report_node(report, suspect->item);
    const uint64_t resident = node->retained - node->untouched;
    struct page *page = report->page;
    put_number(report, suspect);
    if (who->map_entries > 0)
        PUT(page, " with %n{entries} entries", who->map_entries);
    PUT(page, "|%f{is_goroutines}%f{is_deferred}", suspect->is_goroutines, suspect->is_deferred);
    if (resident < node->retained / 100)
        PUT(page, " (not resident)");
    else if (report_is_untouched(node->untouched, node->retained))
        PUT(page, " (%b resident)", resident);
    PUT(page, "|%b{not_resident}", node->untouched);
    put_in(report, who);
    PUT(page, "\n");
}

/* Reports how many of the goroutines that a suspect is, or that hold it, can never run again;
 * nothing if all can. */
static struct g2h_error *put_leaked(const struct report *report, const struct suspect *suspect)
{
    const struct findings *findings = report->findings;
    const struct leaks_place *place = leaks_at(&report->suspects->leaks, findings, suspect->item);
    _cleanup_(text_deinit) struct text reason = {0};
    if (!place)
        return NULL;
    const uint64_t count = place->count;
    const uint64_t all = findings_members(findings, place->node);
    leaks_append_reason(findings, place->example, count > 1, &reason);
    TRY_MEMORY(!reason.failed);
    PUT(report->page, "<leaked>      leaked      ");
    if (all == 1)
        PUT(report->page, "its goroutine can never run again: %s{reason}\n|%n{count}", &reason,
            count);
    else if (count == all)
        PUT(report->page, "all %n{count} can never run again: %s{reason}\n", count, &reason);
    else
        PUT(report->page, "%n{count} of %n{of} can never run again: %s{reason}\n", count, all,
            &reason);
    PUT(report->page, "|%b{retained}|</>", place->retained);
    return NULL;
}

/* Reports since when the objects live, and what that says; of what, if that is not the suspect
 * itself. */
static struct g2h_error *put_ages(const struct report *report, const struct suspect *suspect)
{
    struct ages_found found;
    TRY(ages_find(report->findings, suspect->item, &found));
    report_put_age(report->page, "      age         ",
                   found.node == suspect->item ? bytes_of("") : report_name(report, found.node),
                   &found);
    return NULL;
}

/* Reports a suspect that is objects: what it means, what an entry consists of, which keys, arrays
 * or strings hold it, the path, what is stale, ages, and who allocated it. */
static struct g2h_error *put_objects_suspect(const struct report *report, const struct who *who)
{
    const struct suspect *suspect = &who->suspect;
    struct allocator allocator;
    struct pattern pattern;
    uint64_t ended;
    TRY(who_find_ended(report->findings, suspect->item, &ended));
    if (ended > 0) /* what other goroutines hold, like labels of the profiler, is in use */
        PUT(report->page,
            "      meaning     %n{ended} goroutines have ended: a burst is over, the runtime keeps "
            "this for "
            "reuse\n",
            ended);
    TRY(pattern_find_objects(report->findings, suspect->item, &pattern));
    put_pattern(report, &pattern, report_node(report, suspect->item)->count);
    put_each(report, suspect);
    if (who->small_count > 0)
        PUT(report->page, "<small>      besides     %n{count} small ones, %b{bytes}\n</>",
            who->small_count, who->small_bytes);
    put_keys(report, &who->keys);
    put_pinned(report, &suspect->pinned);
    put_views(report, who);
    TRY(put_held_by(report, who));
    TRY(put_stale(report, who));
    TRY(put_ages(report, suspect));
    return allocated_by(&report->findings->allocated, report_node(report, suspect->item)->name,
                        suspect->item, &allocator)
               ? report_put_allocator(report, &allocator, true)
               : NULL;
}

/* Reports the pages that could be freed with a suspect: in JSON always, as text if these are more
 * than twice its bytes, or less than half of them, and more than LEAST bytes; not with a base. */
static void put_pages(const struct report *report, const struct suspect *suspect)
{
    enum { LEAST = 1 << 20 };
    const struct pages_sum *pages = &suspect->pages;
    const uint64_t bytes = suspect->bytes - report_node(report, suspect->item)->untouched;
    struct page *page = report->page;
    if (!report->findings->pages.retained)
        return;
    PUT(page, "<pages>|%b{bytes}%b{free_slots}%f{is_only_for_pages}|</>", pages->bytes,
        pages->empty, suspect->is_for_pages);
    if (report->findings->base)
        return;
    if (pages->bytes >= LEAST && pages->bytes / 2 > bytes)
        PUT(page, "      pages       %b could be freed without it, %b of that are free slots\n",
            pages->bytes, pages->empty);
    else if (bytes < LEAST || bytes > suspect->bytes || pages->bytes >= bytes / 2 ||
             suspect->container.beside_count > 0) /* the pages are those of its first part */
        return;
    else if (pages->absent >= bytes / 2)
        PUT(page, "      pages       only %b of it is resident\n", pages->bytes);
    else
        PUT(page,
            "      pages       only %b could be freed without it: others have objects there\n",
            pages->bytes);
}

/* Reports what is known of a suspect besides its size. */
static struct g2h_error *put_details(const struct report *report, const struct who *who)
{
    const struct suspect *suspect = &who->suspect;
    if (suspect->is_goroutines)
        return put_goroutines_suspect(report, who);
    if (suspect->is_deferred)
        return put_deferred(report, suspect->item);
    if (!findings_is_kind(report->findings, suspect->item, G2H_NODE_STACK))
        return put_objects_suspect(report, who);
    const uint32_t goroutine =
        report_node(report, report_node(report, suspect->item)->parent)->example;
    TRY(put_started_by(report, goroutine));
    return put_frames(report, goroutine);
}

/* Reports a suspect: its bytes or, with a base, its growth; its share of the heap; its name; and
 * its details. */
static struct g2h_error *put_suspect(const struct report *report, const struct who *who,
                                     size_t number)
{
    const struct suspect *suspect = &who->suspect;
    const bool has_base = report->findings->base != NULL;
    PUT(report->page, has_base ? "  %n  %9d{retained_grown}" : "  %n  %9b{retained}", number,
        suspect->bytes);
    if (suspect->bytes < report->findings->reachable / 200) /* it would be 0 % */
        page_say(report->page, "   <1 % of the heap   ");
    else
        PUT(report->page, "  %5p of the heap   ", suspect->bytes, report->findings->reachable);
    PUT(report->page, "|%?b{retained}", has_base,
        suspect->part_count > 0 ? suspect->all : report_node(report, suspect->item)->retained);
    put_head(report, who);
    TRY(put_leaked(report, suspect));
    TRY(put_details(report, who));
    put_pages(report, suspect);
    return NULL;
}

/* Reports how much has grown in no suspect, as text if that is most: "+1.80 MB has no single place:
 * +1.72 MB of map[int]*main.Entry, +64.0 kB of stacks". So what has grown is never denied. */
static void put_rest(const struct report *report)
{
    const struct who_rest *rest = &report->suspects->rest;
    struct page *page = report->page;
    const bool is_most = (uint64_t)rest->bytes > report->suspects->bytes;
    if (rest->bytes == 0)
        return;
    PUT_IF(is_most, page, "<grown_elsewhere>  %d{bytes} of the growth has no single place",
           rest->bytes);
    PUT(page, "[classes]");
    for (size_t i = 0; i < rest->count; i++) {
        const uint32_t node = rest->classes[i].node;
        const struct page_value class = node == MERGED_NONE ? page_value_words("goroutines' stacks")
                                                            : name_of_class(report, node);
        PUT_IF(is_most, page, "<>%s%d{grown} of %s{class}</>", i == 0 ? ": " : ", ",
               rest->classes[i].grown, class);
    }
    PUT(page, "[/]</>");
    page_say(page, is_most ? "\n" : "");
}

/* Says that there is no suspect, by what was compared and what grew. */
static void put_no_suspects(const struct report *report)
{
    enum { MUCH = 100 /* divisor: the part of the heap that is much for growth in no place */ };
    const struct findings *findings = report->findings;
    const uint64_t rest = (uint64_t)report->suspects->rest.bytes;
    if (!findings->base)
        page_say(report->page, "  Nothing that holds 5 % of the heap stands out.\n");
    else if (report_grown_outside(report) > 0)
        page_say(report->page, rest >= findings->reachable / MUCH
                                   ? "  No objects grew by much in a single place.\n"
                                   : "  No objects grew by much.\n");
    else if (rest > 0)
        page_say(report->page, "  Nothing grew by much in a single place.\n");
    else
        page_say(report->page, "  Nothing grew by much.\n");
}

/* Says that most of RSS is not objects, if the growth of objects is what a report is about, and
 * that of RSS is not known, because the base is a dump of WriteHeapDump. */
static void put_not_compared(const struct report *report)
{
    const struct g2h_memory *memory = report->findings->memory;
    enum g2h_memory_part part;
    if (!report->findings->base || report_put_memory_growth(report) ||
        !memory_is_mostly_outside(report->findings, &part))
        return;
    PUT(report->page,
        "  %b{rss_not_compared} of RSS %b is no object: how much of this grew is not known, the "
        "base has no RSS\n",
        memory->resident - memory->parts[G2H_MEMORY_OBJECTS], memory->resident);
}

/* Reports the suspects, as many as there are rows for, and what is left of them. */
struct g2h_error *report_put_suspects(const struct report *report)
{
    const struct who_suspects *suspects = report->suspects;
    const bool has_base = report->findings->base != NULL;
    struct page *page = report->page;
    bool is_outside;
    const size_t rows = report_rows(report, suspects->count);
    const size_t shown = MIN(rows, suspects->count);
    page_head(page, has_base ? "WHAT GREW, AND WHO HOLDS IT" : "WHO HOLDS THE MEMORY");
    PUT(page, "\n[suspects]");
    TRY(report_put_outside(report, &is_outside));
    for (size_t i = 0; i < shown; i++) {
        PUT(page, "<>");
        TRY(put_suspect(report, &suspects->list[i], is_outside + i + 1));
        PUT(page, "</>");
    }
    PUT(page, "[/]");
    if (suspects->count == 0 && !is_outside)
        put_no_suspects(report);
    if (suspects->all > shown) {
        uint64_t bytes = suspects->bytes;
        for (size_t i = 0; i < shown; i++)
            bytes -= suspects->list[i].suspect.bytes;
        PUT(page, "     %n{more_suspects} more", suspects->all - shown);
        if (has_base)
            PUT(page, " grew by much, %d{more_suspects_grown} together\n", bytes);
        else
            page_say(page, " of 5 % and above: see the tree below\n");
    }
    put_rest(report);
    put_not_compared(report);
    return NULL;
}
