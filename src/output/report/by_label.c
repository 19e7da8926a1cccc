/*
 * by_label: answers --by label: what the goroutines with each value of a label retain; see
 * sections.h.
 */
#include <string.h>

#include "base/scope.h"
#include "findings/labels_of.h"
#include "output/report/sections.h"
#include "output/report/table.h"

/* Reports the values of a label. */
static struct g2h_error *by_label_put_key(const struct report *report,
                                          const struct goroutine_labels *labels, uint32_t key)
{
    _cleanup_(table_deinit) struct table table = {.page = NULL};
    _cleanup_vector_ label_values values = {0};
    struct page *page = report->page;
    size_t size, shown;
    const char *name = string_pool_text(&labels->texts, key, &size);
    TRY(label_values_find(report->findings, labels, key, &values));
    PUT(page, "<>");
    page_head(page, "LABEL");
    PUT(page, " %#s{key}\n", report_bytes(name, size));
    shown = report_rows(report, REPORT_ROWS);
    table_init(&table, page, "values", "VALUE,>goroutines,>retained,>of the heap", shown);
    for (size_t i = 0; i < values.count; i++) {
        const struct label_value *value = &values.data[i];
        const bool is_none = value->value == UINT32_MAX;
        const char *text =
            is_none ? "no label" : string_pool_text(&labels->texts, value->value, &size);
        const struct g2h_bytes words = report_bytes(text, is_none ? strlen(text) : size);
        TABLE_PUT(&table, "%s%n{goroutines}%b{retained}%p|%?s{value}", words, value->count,
                  value->retained, value->retained, report->findings->reachable, !is_none, words);
    }
    TRY(table_end(&table));
    if (values.count > shown)
        PUT(page, "  %n more\n", values.count - shown);
    PUT(page, "</>");
    return NULL;
}

struct g2h_error *report_put_labels(const struct report *report, const char *asked)
{
    _cleanup_(goroutine_labels_deinit) struct goroutine_labels labels = {.list = {0}};
    _cleanup_(map_deinit) struct map seen = {0};
    uint32_t keys = 0;
    if (!g2h_view_is_typed(report->findings->view))
        return error_create(G2H_ERROR_NOT_FOUND,
                            "without types it is not known where labels are: --exe gives them");
    TRY(goroutine_labels_read(report->findings, &labels));
    PUT(report->page, "[labels]");
    for (size_t i = 0; i < labels.list.count; i++) {
        const uint32_t key = labels.list.data[i].key;
        uint32_t number = keys;
        size_t size;
        const char *name = string_pool_text(&labels.texts, key, &size);
        if (*asked != '\0' && (size != strlen(asked) || memcmp(name, asked, size) != 0))
            continue;
        TRY_MEMORY(map_put(&seen, key, keys, &number));
        if (number != keys)
            continue;
        keys++;
        TRY(by_label_put_key(report, &labels, key));
    }
    PUT(report->page, "[/]");
    if (keys == 0 && *asked != '\0')
        return error_create(G2H_ERROR_NOT_FOUND, "no goroutine has a label '%s'", asked);
    if (keys == 0)
        return error_create(G2H_ERROR_NOT_FOUND,
                            "no goroutine has labels: pprof.Do and pprof.SetGoroutineLabels set "
                            "them");
    return NULL;
}
