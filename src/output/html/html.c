/*
 * html: the findings as one page for browsers, which shows them as pictures and tables, and needs
 * nothing but itself: docs/html.md.
 *
 *   html                the page: its sources, the report as text, and the data in its place
 *   data                JSON values and names, the limits of all parts, and the bytes of page.html,
 *                       page.css and page.js:
 *   html_tree           the merged tree of dominators, and what only the base has of it
 *   html_objects        the largest objects with the paths to them, and layouts of structs
 *   html_series         trends over several dumps
 *
 * The report is in the page twice, by the code that writes it elsewhere: as JSON for the page's
 * script, and as text for readers without scripts. Whatever a program can name is in two places
 * only: in the JSON, where < > & are written as \u003c \u003e \u0026, so that nothing in it can end
 * the element or begin another one; and in the text and the title, where they are references. The
 * script adds it to elements as text only.
 */
#include <string.h>

#include <go2heapsnapshot/version.h>

#include "base/contract.h"
#include "base/error.h"
#include "output/html/data.h"
#include "output/report/report.h"
#include "output/sink.h"

/* Limits of each list of the report as JSON, and of its strings; and the width of its text. */
enum { MOST_ROWS = 5000, MOST_BYTES = 500000, MOST_CHARACTERS = 512, COLUMNS = 120 };

struct html {
    struct findings findings;
    struct page pages[2];         /* the report as JSON and as text */
    struct who_suspects suspects; /* of the report */
    struct data data;
    struct text out;
    const char *source;
};

static void html_deinit(struct html *html)
{
    findings_deinit(&html->findings);
    page_deinit(&html->pages[0]);
    page_deinit(&html->pages[1]);
    who_suspects_deinit(&html->suspects);
    data_deinit(&html->data);
    text_deinit(&html->out);
}

/* ---- escaping ---- */

/* Appends a string in which the characters in signs are replaced by the words at the same index of
 * names. */
static void append_escaped(struct text *out, const char *data, size_t size, const char *signs,
                           const char *const *names)
{
    size_t begin = 0;
    for (size_t i = 0; i < size; i++) {
        const char *sign = data[i] == '\0' ? NULL : strchr(signs, data[i]);
        if (!sign)
            continue;
        text_append(out, data + begin, i - begin);
        text_append_string(out, names[sign - signs]);
        begin = i + 1;
    }
    text_append(out, data + begin, size - begin);
}

/* Appends the text of an element. */
static void html_append_text(struct text *out, const char *data, size_t size)
{
    static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    append_escaped(out, data, size, "&<>\"'", names);
}

/* Appends JSON as the text of a script element. In JSON these characters are in strings only. */
static void append_json(struct text *out, const char *data, size_t size)
{
    static const char *const names[] = {"\\u0026", "\\u003c", "\\u003e"};
    append_escaped(out, data, size, "&<>", names);
}

/* ---- the data ---- */

/* Adds how much the limits have left out: branches of the tree and their bytes, rows of lists,
 * names. */
static void put_cut(struct data *data, const struct page *report, const struct html_tree *tree)
{
    static const char *const members[] = {"classes", "goroutines", "waste"};
    data_key(data, "cut");
    data_words(data, "{\"tree\":[");
    data_number(data, tree->cut_branches);
    data_words(data, ",");
    data_number(data, tree->cut_bytes);
    data_words(data, "]");
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        data_words(data, ",");
        data_key(data, members[i]);
        data_number(data, page_left_out(report, members[i]));
    }
    data_words(data, ",\"gone\":");
    data_number(data, data->cut_gone);
    data_words(data, ",\"names\":");
    data_number(data, data->cut_names + report->cut);
    data_words(data, "}");
}

/* Adds the table of names, by their numbers. */
static void put_names(struct data *data)
{
    data_key(data, "names");
    data_words(data, "[");
    text_append(&data->out.text, data->names_json.text.data, data->names_json.text.size);
    data_words(data, "],\n");
}

/* Makes the data: the report as JSON first, then what only the page has. */
static struct g2h_error *html_put_data(struct html *html, const struct g2h_html_options *wanted)
{
    struct data *data = &html->data;
    const struct page *report = &html->pages[0];
    _cleanup_(tree_deinit) struct html_tree tree = {0};
    data_words(data, "{\"format\":\"go2heapsnapshot page\",\"version\":1,"
                     "\"made\":\"go2heapsnapshot " G2H_VERSION "\",\"redacted\":");
    data_words(data, g2h_view_is_redacted(html->findings.view) ? "true" : "false");
    data_words(data, ",\n\"report\":");
    text_append(&data->out.text, report->out.data, report->out.size);
    data_words(data, ",\n");
    TRY(data_put_tree(data, &tree));
    data_put_suspects(data, &tree, &html->suspects);
    TRY(data_put_examples(data, &html->suspects));
    TRY(data_put_gone(data, &tree));
    TRY(data_put_largest(data, &tree));
    TRY(data_put_layouts(data));
    if (wanted->series_count > 1)
        TRY(data_put_series(data, &tree, wanted, html->source));
    put_names(data);
    put_cut(data, report, &tree);
    data_words(data, "}");
    TRY_MEMORY(!data->out.text.failed);
    return NULL;
}

/* ---- the page ---- */

static void append_bytes(struct text *out, const unsigned char *bytes, size_t size)
{
    text_append(out, bytes, size);
}

/* Appends the name of the file that the heap was read from. */
static void append_title(struct html *html)
{
    const char *slash = strrchr(html->source, '/');
    const char *title = slash ? slash + 1 : html->source;
    _cleanup_(text_deinit) struct text shown = {0};
    page_append_clipped(&shown, title, strlen(title), 0);
    html_append_text(&html->out, shown.data, shown.size);
    html->out.failed |= shown.failed;
}

/* Appends what page.html has a place for, by the place's name: TITLE, STYLE, SCRIPT, TEXT (the
 * report) or DATA (the tree as JSON). Nothing for an unknown name. */
static void html_append_part(struct html *html, const char *name, size_t size)
{
    const struct page *text = &html->pages[1];
    if (size == 5 && memcmp(name, "TITLE", size) == 0)
        append_title(html);
    else if (size == 5 && memcmp(name, "STYLE", size) == 0)
        append_bytes(&html->out, html_style, html_style_size);
    else if (size == 6 && memcmp(name, "SCRIPT", size) == 0)
        append_bytes(&html->out, html_script, html_script_size);
    else if (size == 4 && memcmp(name, "TEXT", size) == 0)
        html_append_text(&html->out, text->out.data, text->out.size);
    else if (size == 4 && memcmp(name, "DATA", size) == 0)
        append_json(&html->out, html->data.out.text.data, html->data.out.text.size);
}

/* Appends page.html, in which %NAME% is replaced by a part. */
static void append_page(struct html *html)
{
    const char *page = (const char *)html_page;
    const char *end = page + html_page_size;
    while (page < end) {
        const char *begin = memchr(page, '%', as_size(end - page));
        const char *close = begin ? memchr(begin + 1, '%', as_size(end - begin - 1)) : NULL;
        if (!close)
            begin = end;
        text_append(&html->out, page, as_size(begin - page));
        if (close)
            html_append_part(html, begin + 1, as_size(close - begin - 1));
        page = close ? close + 1 : end;
    }
}

/* Makes the report twice, as JSON for the page's script and as text, and puts both into the
 * page. */
struct g2h_error *g2h_write_html(const struct g2h_view *view,
                                 const struct g2h_dominators *dominators,
                                 const struct g2h_output_options *given)
{
    struct g2h_output_options known;
    struct g2h_report_options report;
    struct g2h_html_options known_html;
    const struct g2h_output_options *options = OPTIONS_COPY(&known, given);
    const struct g2h_html_options *wanted = OPTIONS_COPY(&known_html, options->html);
    OPTIONS_COPY(&report, options->report);
    report.path_to = report.show = NULL; /* a page is about the whole */
    _cleanup_(html_deinit) struct html html = {
        .findings = {.view = view,
                     .dominators = dominators,
                     .base = report.base,
                     .memory = options->memory,
                     .threads = options->threads},
        .pages = {{.is_json = true, .limits = {MOST_ROWS, MOST_BYTES, MOST_CHARACTERS}},
                  {.columns = COLUMNS}},
        .source = options->source ? options->source : ""};
    html.data.findings = &html.findings;
    TRY(report_make(&html.findings, &report, html.source, html.pages, 2, &html.suspects));
    TRY(html_put_data(&html, wanted));
    append_page(&html);
    TRY_MEMORY(!html.out.failed);
    return sink_text(options, &html.out);
}
