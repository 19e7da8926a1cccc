/*
 * target_expression: an input is the text of --path-to or --show: an address, a class, a variable
 * or an expression. It is looked up in one heap of the corpus, with types, and what it leads to is
 * shown. What an expression leads to must have a path of its own, which leads to a node again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "corpus_heap.h"
#include "findings/findings.h"
#include "findings/lookup.h"
#include "findings/path.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { LONGEST = 4096 };

static struct corpus_heap corpus; /* all inputs are looked up in it */
static struct findings findings;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    corpus_heap_open(&corpus);
    findings.view = corpus.conversion.view;
    findings.threads = 1;
    must(findings_begin(&findings, false));
    must(findings_merge(&findings));
    return 0;
}

/* Checks that the path to what has been found is read as one to a node that has the same. */
static void read_back(const struct lookup *lookup)
{
    struct text path = {0}, again = {0};
    uint32_t end, read;
    if (findings_is_dead(findings.view, lookup->node))
        return;
    must(path_append(findings.paths, lookup->node, &path, &end));
    text_append(&path, "", 1);
    CHECK(!path.failed);
    if (path.size > 1 && !strstr(path.data, " … ")) {
        must(expression_read(findings.view, paths_edges(findings.paths), path.data,
                             EXPRESSION_OWNER_SAID, &read, NULL));
        CHECK(read != UINT32_MAX);
        must(path_append(findings.paths, read, &again, &end));
        CHECK(again.size > 0);
    }
    text_deinit(&path);
    text_deinit(&again);
}

static void show(const char *text, bool is_show, bool json)
{
    const struct g2h_report_options report = {.size = sizeof(report),
                                              .json = json,
                                              .path_to = is_show ? NULL : text,
                                              .show = is_show ? text : NULL};
    const struct g2h_output_options options = {.size = sizeof(options),
                                               .fd = fuzz_nowhere(),
                                               .name = "nowhere",
                                               .threads = 1,
                                               .report = &report};
    struct g2h_error *error = g2h_write_report(findings.view, findings.dominators, &options);
    CHECK(!error || error->code == G2H_ERROR_NOT_FOUND);
    g2h_error_destroy(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lookup lookup;
    char *text = malloc(size + 1);
    CHECK(text);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    if (size <= LONGEST) {
        struct g2h_error *error = lookup_find(&findings, text, &lookup);
        CHECK(!error || error->code == G2H_ERROR_NOT_FOUND);
        if (!error && lookup.kind == LOOKUP_OBJECT)
            read_back(&lookup);
        lookup_deinit(&lookup);
        g2h_error_destroy(error);
        show(text, size % 2 == 0, size % 3 == 0);
    }
    free(text);
    return 0;
}
