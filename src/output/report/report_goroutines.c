/*
 * report_goroutines: the section of a report about goroutines: in which places they are, how many,
 * what they retain, who started them, and which are leaked; see sections.h.
 *
 * A row's place is a long text, [select] main.f main.go:17 ← main.g, which is cut part by part to
 * a narrow column (place_fit). The last part lists the goroutines of one place or function, for
 * --show.
 */
#include <stdio.h>
#include <string.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/error.h"
#include "findings/goroutines.h"
#include "findings/patterns.h"
#include "output/report/page.h"
#include "output/report/sections.h"

/* Returns a string without the first of the words that it begins with. */
static struct g2h_bytes text_without(struct g2h_bytes text, const char *const *words)
{
    for (; *words; words++)
        if (text.size > strlen(*words) && bytes_begin(text, *words))
            return report_bytes(text.data + strlen(*words), (size_t)text.size - strlen(*words));
    return text;
}

/* Returns the last word of "go statement in main.run main.go:17", which is the place of the
 * statement, or the function if the place is not known; and what follows it, the function that
 * called main.run. */
static struct g2h_bytes site_of(struct g2h_bytes site)
{
    static const char *const words[] = {"go statement in ", NULL};
    const uint8_t *caller = bytes_find(site, " ← ");
    const uint64_t end = caller ? as_size(caller - site.data) : site.size;
    uint64_t at = end;
    while (at > 0 && site.data[at - 1] != ' ')
        at--;
    const struct g2h_bytes word = bytes_from(site, at);
    return at > 0 && word.size > 0 && bytes_contain(word, ":") ? word : text_without(site, words);
}

/* Says how long goroutines have waited, between two other texts: "5 to 12 minutes" (median and
 * most). Nothing for less than a minute. */
void report_put_minutes(const struct report *report, const struct stack_place *place,
                        const char *before, const char *after)
{
    if (place->oldest == 0)
        return;
    PUT(report->page, "%s", before);
    if (place->median < place->oldest)
        PUT(report->page, "%n{minutes} to ", place->median);
    else
        PUT(report->page, "|%n{minutes}", place->median);
    PUT(report->page, "%n{most_minutes} %s%s", place->oldest,
        place->oldest == 1 ? "minute" : "minutes", after);
}

/* Adds what JSON says of the goroutines of a row, if there is an example: the function that they
 * run, where they wait, the number of one of them, unless that is redacted, and for how many
 * minutes they wait, in the middle and at most. */
static struct g2h_error *put_details(const struct report *report, uint32_t place)
{
    _cleanup_(text_deinit) struct text frames = {0}, function = {0};
    struct g2h_view_goroutine goroutine;
    struct stack_place found;
    if (!report->page->is_json)
        return NULL;
    TRY(stack_place_find(report->findings, place, &found));
    if (found.example == UINT32_MAX)
        return NULL;
    g2h_view_goroutine(report->findings->view, found.example, &goroutine);
    const bool has_frames = stack_append_frames(report->findings, found.example, &frames);
    stack_append_function(report->findings, &goroutine, &function);
    TRY_MEMORY(!frames.failed && !function.failed);
    PUT(report->page, "|%s{runs}%?s{waits_at}%?n{goroutine}", &function, has_frames, &frames,
        !g2h_view_is_redacted(report->findings->view), found.goid);
    PUT(report->page, "|%n{minutes}%n{most_minutes}", found.median, found.oldest);
    return NULL;
}

/* Returns the name of a place without the go statement that tells it from others, which has a
 * column. */
static struct g2h_bytes without_statement(struct g2h_bytes name)
{
    const uint8_t *statement = bytes_find(name, " (go ");
    return statement ? bytes_between(name.data, statement) : name;
}

/* ---- locations in a narrow column ---- */

enum { ARROW = 3 /* characters of " ← " */ };

/* Returns the number of characters of UTF-8 from begin to end. */
static size_t place_characters(const uint8_t *begin, const uint8_t *end)
{
    return page_characters(begin, as_size(end - begin));
}

/* Returns whether a part of a name begins here: not within the type arguments of a function. */
static bool begins_a_part(const uint8_t *at, const uint8_t *end)
{
    if (at[-1] != '.' && at[-1] != '/')
        return false;
    while (at < end && *at != '[' && *at != ']')
        at++;
    return at == end || *at == '[';
}

/* Appends the end of a function's name, at most most characters of it with the ellipsis in front:
 * from the begin of one of its parts on, if that is near. */
static void place_append_end(struct text *text, struct g2h_bytes name, size_t most)
{
    enum { NEAR = 8 };
    const uint8_t *end = name.data + name.size;
    const uint8_t *cut = end; /* where what is shown begins */
    if (place_characters(name.data, end) <= most) {
        text_append(text, name.data, name.size);
        return;
    }
    while (cut > name.data && place_characters(cut - 1, end) < most)
        cut--;
    for (const uint8_t *at = cut; at < end && at < cut + NEAR; at++)
        if (begins_a_part(at, end)) {
            cut = at;
            break;
        }
    text_append_string(text, "…");
    text_append(text, cut, as_size(end - cut));
}

/* Returns the characters of a function's name that are shown at least: its last part, if that is
 * short. */
static size_t place_least(struct g2h_bytes name)
{
    enum { MOST = 7 };
    const uint8_t *end = name.data + name.size;
    const uint8_t *part = end;
    while (part > name.data && part[-1] != '.' && part[-1] != '/')
        part--;
    const size_t all = place_characters(name.data, end);
    const size_t last = place_characters(part, end) + 1;
    const size_t least = MIN(all, last);
    return MIN(least, MOST);
}

/* Returns the characters of the last two parts of a function's name, which tell it from others:
 * "(*conn).serve", "run.func1". */
static size_t place_wanted(struct g2h_bytes name)
{
    const uint8_t *end = name.data + name.size;
    const uint8_t *part = end;
    for (int parts = 0; part > name.data && part[-1] != '/'; part--)
        if (part[-1] == '.' && ++parts == 2)
            break;
    return place_characters(part, end);
}

/* The parts of a location: "[chan send] main.step main.go:31 ← main.worker". */
struct place_parts {
    struct g2h_bytes state, function, line, runs; /* the line begins with a blank */
};

/* Splits a location into its parts. A part that it does not have is empty. "[select] main.f
 * main.go:17 ← main.g": the state in brackets, the function, the line, and what the goroutine runs.
 */
static struct place_parts place_parts_of(const void *data, size_t size)
{
    struct g2h_bytes rest = report_bytes(data, size);
    struct place_parts parts = {.state = {rest.data, 0}};
    const uint8_t *caller = bytes_find(rest, " ← ");
    const uint8_t *state = bytes_find(rest, "] ");
    if (caller) {
        const uint64_t skip = as_size(caller - rest.data) + strlen(" ← ");
        parts.runs = bytes_from(rest, skip);
        rest = bytes_between(rest.data, caller);
    }
    if (state && state < rest.data + rest.size) {
        parts.state.size = as_size(state - rest.data) + 1;
        rest.data += parts.state.size + 1;
        rest.size -= parts.state.size + 1;
    }
    size_t end = rest.size;
    while (end > 0 && rest.data[end - 1] != ' ')
        end--;
    parts.line = (struct g2h_bytes){rest.data + rest.size, 0};
    if (end > 0 && bytes_contain(bytes_from(rest, end), ":"))
        parts.line = bytes_from(rest, end - 1);
    parts.function = (struct g2h_bytes){rest.data, rest.size - parts.line.size};
    return parts;
}

/* Returns the line without its file, ":31", if the last parts of the function's name have no place
 * beside the file's name. */
static struct g2h_bytes place_line(const struct place_parts *parts, size_t most)
{
    const struct g2h_bytes line = parts->line;
    const uint8_t *colon = bytes_find(line, ":");
    const size_t wanted = place_wanted(parts->function),
                 file = place_characters(line.data, line.data + line.size);
    size_t needed = wanted + file;
    needed += wanted < (size_t)parts->function.size; /* the ellipsis */
    if (parts->state.size > 0)
        needed += (size_t)parts->state.size + 1;
    if (!colon || needed <= most)
        return line;
    return bytes_between(colon, line.data + line.size);
}

/* Appends a location that is too long so that it fits. The line comes last to be left out: first
 * goes the function that the goroutine runs, then the begin of the name of the function that it
 * waits in, then the file of the line, the rest of that function's name, and the end of its state.
 */
static void place_fit(struct text *text, const char *data, size_t size, size_t most)
{
    enum { OF_STATE = 6, LEAST = 3, OF_RUNS = 6 };
    struct place_parts parts = place_parts_of(data, size);
    parts.line = place_line(&parts, most);
    /* Characters of each part; left: those that the parts before the line may have. */
    const size_t line = place_characters(parts.line.data, parts.line.data + parts.line.size);
    const size_t function =
        place_characters(parts.function.data, parts.function.data + parts.function.size);
    const size_t least = place_least(parts.function);
    size_t state = parts.state.size;
    size_t left = most > line ? most - line : 0;
    if (state > 0 && state + 1 + least > left) {
        state = left > OF_STATE + 1 + least ? left - 1 - least : OF_STATE;
        page_append_clipped(text, data, (size_t)parts.state.size - 1, state - 1);
        text_append_string(text, "]");
    } else {
        text_append(text, data, state);
    }
    state += state > 0; /* the blank after it */
    left -= MIN(state, left);
    if (left >= LEAST) {
        text_append_string(text, state > 0 ? " " : "");
        place_append_end(text, parts.function, left);
    }
    text_append(text, parts.line.data, parts.line.size);
    if (parts.runs.size > 0 && function + ARROW < left) {
        const size_t room = left - function - ARROW;
        text_append_string(text, " ← ");
        place_append_end(text, room < OF_RUNS ? report_bytes("", 0) : parts.runs, room);
        text_append_string(text, room < OF_RUNS ? "…" : "");
    }
}

/* Appends a go statement that is too long: the name of the function that called its function goes
 * first, then the begin of the file's name. Of that function its line stays, if there is room. */
static void site_fit(struct text *text, const char *data, size_t size, size_t most)
{
    struct g2h_bytes site = report_bytes(data, size);
    const uint8_t *caller = bytes_find(site, " ← ");
    if (caller)
        site = bytes_between(site.data, caller);
    if (bytes_contain(site, ":"))
        place_append_end(text, site, most);
    else
        page_append_clipped(text, data, size, most);
    const size_t count = page_characters(data, site.size);
    if (!caller || count + ARROW >= most)
        return;
    const struct g2h_bytes line =
        place_parts_of(caller + strlen(" ← "),
                       as_size(data + size - (const char *)caller) - strlen(" ← "))
            .line; /* with a blank in front */
    text_append_string(text, line.size > 0 ? " ← " : " ← …");
    if (line.size > 0)
        place_append_end(text, bytes_from(line, 1), most - count - ARROW);
}

/* Returns whether a page has room for labels beside the rest of a row. */
static bool is_wide_page(const struct page *page)
{
    enum { WIDE = 120 };
    return page->columns >= WIDE;
}

/* The table of places. */
struct goroutines_report {
    const struct report *report;
    struct table *table;
    struct leaks leaks;
    struct goroutine_labels labels;
};

static void goroutines_report_deinit(struct goroutines_report *goroutines)
{
    leaks_deinit(&goroutines->leaks);
    goroutine_labels_deinit(&goroutines->labels);
}

/* Adds a row; its columns depend on whether there is a base, and on whether goroutines are leaked
 * or have labels. */
static struct g2h_error *put_place(const struct goroutines_report *goroutines,
                                   struct g2h_edges *edges, const struct goroutine_place *place)
{
    const struct report *report = goroutines->report;
    const struct leaks *leaks = &goroutines->leaks;
    const struct goroutine_labels *labels = &goroutines->labels;
    static const char *const words[] = {"goroutines ", "goroutine ", NULL};
    const struct leaks_place *leaked = leaks_at(leaks, report->findings, place->node);
    enum { OF_LABELS = 40 /* characters of labels in a column */ };
    const bool has_leaks = leaks->places.count > 0;
    const bool is_wide = is_wide_page(report->page);
    const bool has_labels = labels->list.count > 0 && !report->page->hides_texts;
    _cleanup_(text_deinit) struct text site = {0}, of_place = {0};
    findings_append_targets(report->findings, edges,
                            findings_example_goroutine(report->findings, place->node), NULL,
                            G2H_NODE_CREATION_SITE, &site);
    if (has_labels)
        TRY(goroutine_labels_append(report->findings, labels, place->node, &of_place));
    TRY_MEMORY(!site.failed && !of_place.failed);
    const struct g2h_bytes name = text_without(report_name(report, place->node), words);
    TABLE_OPEN(goroutines->table,
               "%s%?c{grown}%n{count}%?n{leaked}%b{retained}%s{started_at}%?.*s{labels}|%s{place}"
               "%?b{leaked_retained}",
               without_statement(name), report->findings->base != NULL, place->grown, place->count,
               has_leaks, leaked ? leaked->count : 0, place->retained,
               site_of(report_bytes(site.data, site.size)), has_labels, is_wide ? OF_LABELS : 0,
               &of_place, name, has_leaks, leaked ? leaked->retained : 0);
    TRY(put_details(report, place->node));
    page_close(report->page);
    return NULL;
}

/* Adds the numbers of the leaked goroutines, which are in JSON only, and not if the heap is
 * redacted. */
static void put_goids(const struct report *report)
{
    const struct g2h_view *view = report->findings->view;
    const uint64_t synthetics = g2h_view_account(view)->first_object;
    struct g2h_node node;
    PUT(report->page, "[goroutines]");
    for (uint32_t i = 0; report->page->is_json && !g2h_view_is_redacted(view) && i < synthetics;
         i++)
        if (g2h_view_is_leaked(view, i)) {
            g2h_view_brief(view, i, &node);
            PUT(report->page, "|<>%n{goid}</>", node.key);
        }
    PUT(report->page, "[/]");
}

/* Reports how many goroutines can never run again, or why that is not known. Nothing if no
 * goroutine is blocked. */
static void put_leaks(const struct report *report, const struct leaks *leaks)
{
    static const char *const proofs[] = {
        [G2H_LEAKS_PROVED] = "proved",
        [G2H_LEAKS_INCOMPLETE] = "incomplete",
        [G2H_LEAKS_OF_RELEASE_UNKNOWN] = "unknown release",
    };
    struct page *page = report->page;
    const bool are_many = leaks->all.leaked > 1;
    if (leaks->all.blocked == 0)
        return;
    PUT(page, "<leaked>|%s{proof}%n{blocked}", proofs[leaks->all.proof], leaks->all.blocked);
    if (leaks->all.leaked > 0)
        PUT(page,
            "  leaked: %n{count} can never run again: nothing alive reaches what %s on. %s "
            "%b{retained}\n",
            leaks->all.leaked, are_many ? "they wait" : "it waits",
            are_many ? "They retain" : "It retains", leaks->retained);
    else if (leaks->all.reason)
        PUT(page, "  which of them can never run again is not known: %s{reason}\n",
            leaks->all.reason);
    put_goids(report);
    PUT(page, "</>");
}

/* Reports how many goroutines have ended, if what the runtime keeps of them is large enough to
 * matter. */
static struct g2h_error *report_goroutines_put_ended(const struct report *report)
{
    enum { OF_ALL = 50 }; /* the part of the heap that matters */
    struct goroutines_ended ended;
    TRY(goroutines_find_ended(report->findings, &ended));
    if (ended.bytes > 0 && ended.bytes >= report->findings->reachable / OF_ALL)
        PUT(report->page,
            "<ended>  %n{count} have ended: the runtime keeps their runtime.g, %b{bytes}, for "
            "reuse\n</>",
            ended.count, ended.bytes);
    return NULL;
}

/* Writes a table of places, of which `shown` are rows outside of JSON, and sums up the others in a
 * line. Which columns there are depends on whether there is a base, and on whether goroutines are
 * leaked or have labels. */
static struct g2h_error *put_places(struct goroutines_report *goroutines,
                                    const goroutine_place_vector *places, size_t shown)
{
    const struct report *report = goroutines->report;
    _cleanup_(table_deinit) struct table table = {.page = NULL};
    _cleanup_(findings_destroy_edges) struct g2h_edges *edges = NULL;
    uint64_t others = 0, bytes = 0;
    const bool has_labels = goroutines->labels.list.count > 0 && !report->page->hides_texts;
    const char *labels = is_wide_page(report->page) ? ",labels" : ",_labels";
    enum { SHORT = 24, LONG = 40, MIDDLE = 100 }; /* characters of go statements, and of pages */
    char titles[96];
    TRY(g2h_edges_create(report->findings->view, &edges));
    snprintf(titles, sizeof(titles), "GOROUTINES%s,>count%s,>retained,started by%s",
             report->findings->base ? ",>grown" : "",
             goroutines->leaks.places.count > 0 ? ",>leaked" : "", has_labels ? labels : "");
    table_init(&table, report->page, "goroutines", titles, shown);
    size_t site = report->findings->base ? 4 : 3; /* the index of "started by" in the titles */
    site += goroutines->leaks.places.count > 0;
    table.columns[0].fit = place_fit;
    table.columns[site].fit = site_fit;
    table.columns[site].most = report->page->columns < MIDDLE ? SHORT : LONG;
    table.has_long_names = true;
    goroutines->table = &table;
    for (size_t i = 0; i < places->count; i++) {
        TRY(put_place(goroutines, edges, &places->data[i]));
        others += i < shown ? 0 : places->data[i].count;
        bytes += i < shown ? 0 : places->data[i].retained;
    }
    TRY(table_end(&table));
    if (others > 0 && shown > 0)
        PUT(report->page, "  %n more at %n other location%s, %b\n", others, places->count - shown,
            places->count - shown == 1 ? "" : "s", bytes);
    return NULL;
}

/* Lists the places where goroutines wait, by weight, or with a base those with more goroutines than
 * before; then leaked goroutines, and what has ended. */
struct g2h_error *report_put_goroutines(const struct report *report)
{
    _cleanup_(goroutines_report_deinit) struct goroutines_report goroutines = {.report = report};
    _cleanup_vector_ goroutine_place_vector places = {0};
    size_t shown = 0;
    TRY(goroutines_find_places(report->findings, &places));
    TRY(leaks_find(report->findings, &goroutines.leaks));
    TRY(goroutine_labels_read(report->findings, &goroutines.labels));
    while (shown < places.count && shown < report_rows(report, REPORT_ROWS) &&
           places.data[shown].weight > 0)
        shown++; /* with a base, only places that have grown */
    TRY(put_places(&goroutines, &places, shown));
    put_leaks(report, &goroutines.leaks);
    return report_goroutines_put_ended(report);
}

/* ---- the goroutines of a function ---- */

/* Returns whether a function is called as in a query: by its name in the report, or the linker's.
 */
static bool report_goroutines_is_called(const struct report *report,
                                        const struct g2h_view_call *call, const char *asked)
{
    _cleanup_(g2h_text_deinit) struct g2h_text name = {0};
    const struct g2h_view_call without = {.function = call->function};
    g2h_view_call_text(report->findings->view, &without, &name);
    return bytes_are(call->function, asked) ||
           (!name.failed && name.size == strlen(asked) && memcmp(name.data, asked, name.size) == 0);
}

/* Returns whether a query is a line of code on the stack of a goroutine: "main.serve server.go:80",
 * or "server.go:80". */
static bool report_goroutines_has_line(const struct report *report, uint32_t goroutine,
                                       struct g2h_bytes asked)
{
    _cleanup_(g2h_text_deinit) struct g2h_text line = {0};
    struct stack_walk walk;
    struct g2h_view_call call;
    if (!bytes_contain(asked, ":"))
        return false;
    stack_walk_begin(&walk, report->findings->view, goroutine, true);
    if (walk.goroutine.at == UINT32_MAX) /* a stack of the runtime alone */
        return false;
    while (stack_walk_next(&walk, &call)) {
        line.size = 0;
        g2h_view_call_text(report->findings->view, &call, &line);
        const struct g2h_bytes text = report_made(&line);
        if (!line.failed && bytes_end_with(text, asked) &&
            (text.size == asked.size || text.data[text.size - asked.size - 1] == ' '))
            return true;
    }
    return false;
}

/* Returns whether a query is what the report calls a place, its go statement, or its stack: by its
 * name, a line of code, or the functions on it. Words as "goroutine" before it do not count. */
static bool report_goroutines_are_at(const struct report *report, struct g2h_edges *edges,
                                     uint32_t place, const char *asked)
{
    static const char *const words[] = {"goroutines ", "goroutine stack ", "goroutine ",
                                        "go statement in ", NULL};
    _cleanup_(text_deinit) struct text site = {0}, frames = {0};
    const struct g2h_bytes own = text_without(bytes_of(asked), words);
    struct stack_place found = {.example = UINT32_MAX};
    findings_append_targets(report->findings, edges,
                            findings_example_goroutine(report->findings, place), NULL,
                            G2H_NODE_CREATION_SITE, &site);
    const struct g2h_bytes statement = text_without(report_bytes(site.data, site.size), words);
    if (goroutines_are_called(report_name(report, place), asked) ||
        (site.size > 0 && (bytes_same(own, statement) ||
                           bytes_same(own, site_of(report_bytes(site.data, site.size))))))
        return true;
    g2h_error_destroy(stack_place_find(report->findings, place, &found));
    if (found.example == UINT32_MAX)
        return false;
    stack_append_frames(report->findings, found.example, &frames);
    return (frames.size > 0 && bytes_same(own, report_bytes(frames.data, frames.size))) ||
           report_goroutines_has_line(report, found.example, own);
}

/* Returns whether the goroutines of a place run a function, or wait in it, or are what is asked for
 * by the words of the report. */
static bool report_goroutines_are_of(const struct report *report, struct g2h_edges *edges,
                                     uint32_t place, const char *asked)
{
    uint32_t count;
    const uint32_t *list = stack_index_of(report->findings, place, &count);
    struct stack_walk walk;
    struct g2h_view_call call;
    if (count == 0)
        return false;
    stack_walk_begin(&walk, report->findings->view, list[0], false);
    const struct g2h_view_call runs = {.function = walk.goroutine.function};
    return report_goroutines_is_called(report, &runs, asked) ||
           (walk.goroutine.at != UINT32_MAX && stack_walk_next(&walk, &call) &&
            report_goroutines_is_called(report, &call, asked)) ||
           report_goroutines_are_at(report, edges, place, asked);
}

/* Reports the places whose goroutines are meant, and gets the name of an example. Nothing if none
 * are. */
struct g2h_error *report_put_goroutines_of(const struct report *report, const char *asked,
                                           struct text *ret_example)
{
    _cleanup_(goroutines_report_deinit) struct goroutines_report goroutines = {.report = report};
    _cleanup_vector_ goroutine_place_vector places = {0};
    _cleanup_(findings_destroy_edges) struct g2h_edges *edges = NULL;
    struct stack_place found;
    size_t count = 0;
    TRY(g2h_edges_create(report->findings->view, &edges));
    TRY(goroutines_find_places(report->findings, &places));
    VECTOR_EACH(const struct goroutine_place, place, places)
        if (report_goroutines_are_of(report, edges, place->node, asked))
            places.data[count++] = *place;
    places.count = count;
    if (count == 0)
        return NULL;
    TRY(leaks_find(report->findings, &goroutines.leaks));
    TRY(goroutine_labels_read(report->findings, &goroutines.labels));
    const size_t rows = report_rows(report, REPORT_ROWS);
    TRY(put_places(&goroutines, &places, MIN(rows, count)));
    TRY(stack_place_find(report->findings, places.data[0].node, &found));
    text_append_string(ret_example, "goroutine ");
    text_append_number(ret_example, found.goid);
    text_append(ret_example, "", 1);
    TRY_MEMORY(!ret_example->failed);
    return NULL;
}
