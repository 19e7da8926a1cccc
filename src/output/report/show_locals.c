/*
 * show_locals: the variables of a goroutine's frames, by their names; see sections.h.
 *
 * DWARF says which variables are in memory at the frame's program counter. Without it, a frame has
 * no variables.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "findings/lookup.h"
#include "findings/path.h"
#include "output/report/show.h"

/* A goroutine that is asked for, and which of its variables. */
struct asked_goroutine {
    uint64_t number;             /* goid */
    const char *function, *name; /* of function_size and name_size bytes; none: any, all */
    size_t function_size, name_size;
};

static void show_locals_trim(const char **text, size_t *size)
{
    for (; *size > 0 && **text == ' '; ++*text)
        --*size;
    while (*size > 0 && (*text)[*size - 1] == ' ')
        --*size;
}

/* Reads "goroutine 17", also with the state that reports print after it, "goroutine 17 · v" and
 * "goroutine 17 · main.serve · v"; a colon may replace the dot. Returns false if the query has none
 * of these forms. */
static bool show_locals_read_goroutine(const char *asked, struct asked_goroutine *ret)
{
    static const char word[] = "goroutine ", dot[] = "·";
    char *end;
    *ret = (struct asked_goroutine){.name = ""};
    if (strncmp(asked, word, strlen(word)) != 0 || asked[strlen(word)] < '0' ||
        asked[strlen(word)] > '9')
        return false;
    ret->number = strtoull(asked + strlen(word), &end, 10);
    const char *at = end;
    const size_t blanks = strspn(at, " "), step = at[blanks] == ':' ? 1
                                                  : strncmp(at + blanks, dot, strlen(dot)) == 0
                                                      ? strlen(dot)
                                                      : 0;
    at += blanks;
    if (step == 0)
        return *at == '\0' || *at == '[';
    at += step;
    const char *behind = strstr(at, dot);
    if (behind) {
        ret->function = at;
        ret->function_size = (size_t)(behind - at);
        show_locals_trim(&ret->function, &ret->function_size);
        at = behind + strlen(dot);
    }
    ret->name = at;
    ret->name_size = strlen(at);
    show_locals_trim(&ret->name, &ret->name_size);
    return ret->name_size > 0;
}

/* A frame whose variables are shown. */
struct shown_frame {
    size_t number, caller; /* caller: SIZE_MAX: none */
    const char *name;      /* size bytes: main.serve server.go:80 */
    size_t size;
};

/* A function of a frame: an inlined one, or the frame's own. */
struct shown_call {
    const struct shown_frame *frame;
    struct g2h_view_call call;
    bool is_last; /* it has the variables of functions that are not among the frame's, too */
};

static struct shown_frame frame_at(const struct show *show,
                                   const struct g2h_view_goroutine *goroutine, size_t index)
{
    struct shown_frame ret = {.number = goroutine->first_frame + index};
    struct g2h_view_frame frame;
    ret.caller = index + 1 < goroutine->frame_count ? ret.number + 1 : SIZE_MAX;
    g2h_view_frame(show->view, ret.number, &frame);
    ret.name = findings_name_of(show->view, frame.node, &ret.size);
    return ret;
}

static bool show_locals_is_text(const char *one, size_t size, const char *other, size_t other_size)
{
    return size == other_size && memcmp(one, other, size) == 0;
}

/* Returns whether a variable has a name. One that has escaped to the heap is &name in DWARF. */
static bool show_locals_is_called(const struct g2h_local *local,
                                  const struct asked_goroutine *asked)
{
    const bool has_escaped = local->name_size > 0 && local->name[0] == '&' && asked->name[0] != '&';
    return show_locals_is_text(local->name + has_escaped, local->name_size - has_escaped,
                               asked->name, asked->name_size);
}

/* Finds the goroutine with a number. */
static bool find_goroutine(const struct show *show, uint64_t number, struct g2h_view_goroutine *ret,
                           size_t *ret_index)
{
    for (size_t i = 0; i < g2h_view_goroutine_count(show->view); i++) {
        struct g2h_node node;
        g2h_view_goroutine(show->view, i, ret);
        g2h_view_brief(show->view, ret->node, &node);
        *ret_index = i;
        if (node.kind == G2H_NODE_GOROUTINE && node.key == number)
            return true;
    }
    return false;
}

/* Finds a variable by its name, in the innermost frame that has one of that name in memory. */
static bool show_locals_find(const struct show *show, const struct asked_goroutine *asked,
                             const struct g2h_view_goroutine *goroutine,
                             struct shown_frame *ret_frame, struct g2h_local *ret)
{
    for (size_t i = 0; i < goroutine->frame_count; i++) {
        const struct shown_frame frame = frame_at(show, goroutine, i);
        const size_t function = expression_without_line(frame.name, frame.size);
        const bool is_asked =
            asked->function_size == 0 ||
            show_locals_is_text(frame.name, frame.size, asked->function, asked->function_size) ||
            show_locals_is_text(frame.name, function, asked->function, asked->function_size);
        for (uint32_t j = 0; g2h_view_local(show->view, frame.number, frame.caller, j, ret); j++)
            if (ret->is_there && show_locals_is_called(ret, asked) &&
                (is_asked || show_locals_is_text(ret->function, ret->function_size, asked->function,
                                                 asked->function_size))) {
                *ret_frame = frame;
                return true;
            }
    }
    return false;
}

static struct g2h_error *show_locals_put(struct show *show, uint64_t goroutine,
                                         const struct shown_frame *frame,
                                         const struct g2h_local *local)
{
    _cleanup_(text_deinit) struct text number = {0};
    struct page *page = show->report->page;
    show->type.size = 0;
    g2h_location_type(show->view, &local->location, &show->type);
    TRY_MEMORY(!show->type.failed);
    page_open(page, "variable");
    page_head(page, "LOCAL");
    PUT(page, "   %#s{name} of type %s{type} at %a{address}, %n{bytes} B\n",
        report_bytes(local->name, local->name_size), report_made(&show->type),
        local->location.address, local->location.bytes.size);
    text_append_number(&number, goroutine);
    TRY_MEMORY(!number.failed);
    PUT(page, "  of %s{of}, goroutine %s\n|%n{goroutine}", report_bytes(frame->name, frame->size),
        &number, goroutine);
    if (local->is_doubtful) {
        PUT(page, "|%f{is_doubtful}", true);
        page_say(page, "  it may be dead: its pointers are not among those that are alive\n");
    }
    show->is_doubtful = local->is_doubtful;
    struct g2h_error *error = show_put_values(show, &local->location);
    show->is_doubtful = false;
    TRY(error);
    page_close(page);
    return NULL;
}

/* Returns whether a variable belongs to a function that is inlined in a frame. */
static bool show_locals_is_of(const struct g2h_local *local, const struct g2h_view_call *call)
{
    return show_locals_is_text(local->function, local->function_size,
                               (const char *)call->function.data, (size_t)call->function.size);
}

/* Returns whether a variable is shown below a function of a frame. */
static bool show_locals_is_below(const struct show *show, const struct shown_call *shown,
                                 const struct g2h_local *local)
{
    struct g2h_view_call call;
    if (local->is_made)
        return false;
    if (local->function_size == 0 || show_locals_is_of(local, &shown->call))
        return local->function_size > 0 || !shown->call.is_inlined || shown->is_last;
    for (uint32_t i = 0;
         shown->is_last && g2h_view_call(show->view, shown->frame->number, i, &call); i++)
        if (!call.is_wrapper && show_locals_is_of(local, &call))
            return false;
    return shown->is_last;
}

/* Adds the values of a variable as rows of its frame's table. */
static struct g2h_error *put_row_of_local(struct show *show, struct table *table,
                                          const struct shown_call *shown,
                                          const struct g2h_local *local, uint64_t *left)
{
    _cleanup_(text_deinit) struct text name = {0};
    struct g2h_value value;
    text_append(&name, local->name, local->name_size);
    if (local->function_size > 0 && !show_locals_is_of(local, &shown->call)) {
        text_printf(&name, " (inlined ");
        text_append(&name, local->function, local->function_size);
        text_append_string(&name, ")");
    }
    if (local->is_doubtful)
        text_append_string(&name, "?");
    TRY_MEMORY(!name.failed);
    show->prefix = name.data;
    show->prefix_size = name.size;
    show->is_doubtful = local->is_doubtful;
    struct g2h_error *error = NULL;
    if (local->is_there) {
        g2h_values_begin_at(show->values, &local->location);
        while (!error && *left > 0 && g2h_values_next(show->values, &value)) {
            error = show_put_value(show, table, &value, 0);
            --*left;
        }
    } else {
        TABLE_PUT(table, "%s{name}%s%s%s%s", &name, "", "(not in memory as a whole)", "", "");
    }
    show->prefix_size = 0;
    show->is_doubtful = false;
    return error;
}

/* Reports a function of a frame, and its variables. */
static struct g2h_error *show_locals_put_call(struct show *show, const struct shown_call *shown)
{
    struct page *page = show->report->page;
    const struct shown_frame *frame = shown->frame;
    _cleanup_(table_deinit) struct table table;
    struct g2h_local local;
    uint64_t left = SHOW_VALUES;
    show->text.size = 0;
    g2h_view_call_text(show->view, &shown->call, &show->text);
    TRY_MEMORY(!show->text.failed);
    page_open(page, NULL);
    PUT(page, "\n%#s{function}", report_made(&show->text));
    PUT_IF(shown->call.is_inlined && !shown->is_last, page, " (inlined)|%f{is_inlined}",
           shown->call.is_inlined);
    PUT(page, "\n");
    if (shown->call.line > 0)
        PUT(page, "|%s{file}%n{line}", shown->call.file, shown->call.line);
    table_init(&table, page, "fields", SHOW_COLUMNS, SHOW_ROWS);
    for (uint32_t i = 0; left > 0 && !page->hides_texts &&
                         g2h_view_local(show->view, frame->number, frame->caller, i, &local);
         i++)
        if (show_locals_is_below(show, shown, &local))
            TRY(put_row_of_local(show, &table, shown, &local, &left));
    TRY(table_end(&table));
    page_close(page);
    return NULL;
}

/* Reports the functions of a frame, the innermost first, but those that the compiler has made. */
static struct g2h_error *show_locals_put_frame(struct show *show, const struct shown_frame *frame)
{
    struct shown_call shown = {.frame = frame};
    uint32_t last = UINT32_MAX, count = 0;
    for (; g2h_view_call(show->view, frame->number, count, &shown.call); count++)
        last = shown.call.is_wrapper ? last : count;
    for (uint32_t i = 0; i < count; i++) {
        g2h_view_call(show->view, frame->number, i, &shown.call);
        shown.is_last = last == UINT32_MAX ? i + 1 == count : i == last;
        if (!shown.call.is_wrapper || shown.is_last)
            TRY(show_locals_put_call(show, &shown));
    }
    return NULL;
}

/* Adds a label of a goroutine to JSON, and to a line. */
struct shown_labels {
    struct page *page;
    struct text text;
};

static bool show_locals_put_label(void *context, const struct g2h_label *label)
{
    struct shown_labels *labels = context;
    PUT(labels->page, "|<>%s{key}%s{value}</>", report_bytes(label->key, label->key_size),
        report_bytes(label->value, label->value_size));
    text_append_string(&labels->text, labels->text.size > 0 ? ", " : "");
    text_append(&labels->text, label->key, label->key_size);
    text_append_string(&labels->text, "=");
    text_append(&labels->text, label->value, label->value_size);
    return true;
}

/* Reports the labels that the program has set on a goroutine for its profiles. */
static struct g2h_error *show_locals_put_labels(const struct show *show, size_t goroutine)
{
    struct shown_labels labels = {.page = show->report->page};
    if (labels.page->hides_texts)
        return NULL;
    page_open_list(labels.page, "labels");
    struct g2h_error *error =
        g2h_view_labels(show->view, goroutine, show_locals_put_label, &labels);
    page_close(labels.page);
    if (labels.text.size > 0)
        PUT(labels.page, "  labels      %.*s\n", 2 * labels.page->columns, &labels.text);
    text_deinit(&labels.text);
    return error;
}

/* Reports the go statement that has started a goroutine, and the goroutine that was in it. */
static struct g2h_error *show_locals_put_start(const struct show *show, uint32_t node,
                                               uint64_t parent)
{
    _cleanup_(text_deinit) struct text site = {0}, number = {0};
    _cleanup_(findings_destroy_edges) struct g2h_edges *edges = NULL;
    TRY(g2h_edges_create(show->view, &edges));
    findings_append_targets(show->report->findings, edges, node, NULL, G2H_NODE_CREATION_SITE,
                            &site);
    text_append_number(&number, parent);
    TRY_MEMORY(!site.failed && !number.failed);
    if (site.size == 0)
        return NULL;
    PUT(show->report->page, "  started by  %s{started_by}", &site);
    if (parent != 0)
        PUT(show->report->page, ", in goroutine %s|%n{parent}|", &number, parent);
    PUT(show->report->page, "\n");
    return NULL;
}

static struct g2h_error *show_locals_put_goroutine(struct show *show, uint64_t number, size_t index,
                                                   const struct g2h_view_goroutine *goroutine)
{
    struct page *page = show->report->page;
    size_t size;
    const char *name = findings_name_of(show->view, goroutine->node, &size);
    page_open(page, "goroutine");
    page_head(page, "GOROUTINE");
    PUT(page, "   %#s{name}\n|%n{number}", report_bytes(name, size), number);
    TRY(show_locals_put_start(show, goroutine->node, goroutine->parent));
    TRY(show_locals_put_labels(show, index));
    page_open_list(page, "frames");
    for (size_t i = 0; i < goroutine->frame_count; i++) {
        const struct shown_frame frame = frame_at(show, goroutine, i);
        TRY(show_locals_put_frame(show, &frame));
    }
    page_close(page);
    page_close(page);
    return NULL;
}

bool show_is_of_goroutine(const char *asked)
{
    struct asked_goroutine ignored;
    return show_locals_read_goroutine(asked, &ignored);
}

bool show_is_goroutine(const char *asked)
{
    struct asked_goroutine read;
    return show_locals_read_goroutine(asked, &read) && read.name_size == 0;
}

struct g2h_error *show_put_goroutine(struct show *show, const char *text)
{
    struct asked_goroutine asked;
    struct g2h_view_goroutine goroutine;
    struct shown_frame frame;
    struct g2h_local local;
    _cleanup_(lookup_deinit) struct lookup lookup = {.node = UINT32_MAX};
    char address[2 + 16 + 1];
    size_t index;
    show_locals_read_goroutine(text, &asked);
    if (!find_goroutine(show, asked.number, &goroutine, &index))
        return error_create(G2H_ERROR_NOT_FOUND, "'%s': there is no such goroutine", text);
    if (asked.name_size == 0)
        return show_locals_put_goroutine(show, asked.number, index, &goroutine);
    /* A field or an element of a variable: v.items[3]. */
    struct asked_goroutine whole = asked;
    const char *const end = asked.name + asked.name_size;
    bool is_found = show_locals_find(show, &whole, &goroutine, &frame, &local);
    for (size_t i = 1; !is_found && i < asked.name_size; i++) {
        whole.name_size = i;
        is_found = (asked.name[i] == '.' || asked.name[i] == '[') &&
                   show_locals_find(show, &whole, &goroutine, &frame, &local);
    }
    if (!is_found)
        return error_create(G2H_ERROR_NOT_FOUND,
                            "'%s': the goroutine has no such variable in memory; 'goroutine %llu' "
                            "shows those that it has",
                            text, (unsigned long long)asked.number);
    if (whole.name_size < asked.name_size) {
        _cleanup_(text_deinit) struct text name = {0}, steps = {0};
        text_append(&name, whole.name, whole.name_size);
        text_append(&name, "", 1);
        text_append(&steps, whole.name + whole.name_size,
                    (size_t)(end - whole.name) - whole.name_size);
        text_append(&steps, "", 1);
        TRY_MEMORY(!name.failed && !steps.failed);
        TRY(lookup_from(show->report->findings, &local.location, name.data, steps.data, &lookup));
        return lookup.kind == LOOKUP_PART
                   ? show_put_part(show, &lookup.part)
                   : show_put_object(show, lookup.node, lookup.address, lookup.offset);
    }
    const uint64_t target = show_leads_to(show, &local.location);
    if (target == 0)
        return show_locals_put(show, asked.number, &frame, &local);
    snprintf(address, sizeof(address), "0x%llx", (unsigned long long)target);
    TRY(lookup_find(show->report->findings, address, &lookup));
    return show_put_object(show, lookup.node, lookup.address, lookup.offset);
}
