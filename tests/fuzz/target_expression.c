/*
 * target_expression: an input is the text of --path-to or --show: an address, a class, a variable
 * or an expression. It is looked up in one heap of the corpus, with types, and what it leads to is
 * shown. What an expression leads to must have a path of its own, which leads to a node again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../conversion.h"
#include "base/error.h"
#include "base/text.h"
#include "check.h"
#include "findings/findings.h"
#include "findings/lookup.h"
#include "findings/path.h"
#include "fuzz_target.h"
#include "pair.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { LONGEST = 4096 };

/* The heap in which all inputs are looked up. */
static struct {
    struct g2h_input *input;
    struct g2h_exe *exe;
    struct g2h_heap *heap;
    struct conversion conversion;
    struct findings findings;
} all;

static uint8_t *read_pair(size_t *ret_size)
{
    enum { LARGEST = 1 << 20 };
    FILE *file = fopen(FUZZ_CORPUS "/exe/elf-64-1.27", "rb");
    uint8_t *data = malloc(LARGEST);
    CHECK(file && data);
    *ret_size = fread(data, 1, LARGEST, file);
    fclose(file);
    return data;
}

static void must(struct g2h_error *error)
{
    if (error)
        fprintf(stderr, "%s\n", error->message);
    CHECK(!error);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    size_t size;
    char path[FUZZ_PATH];
    uint8_t *data = read_pair(&size);
    const size_t exe_size = pair_split(data, size);
    const int file = fuzz_file(data, exe_size, path);
    must(g2h_input_from_memory("fuzz", data + exe_size, size - exe_size, &all.input));
    must(g2h_heap_load(all.input, &(struct g2h_heap_options){.threads = 1}, &all.heap));
    must(g2h_exe_open(path, &all.exe));
    must(g2h_exe_match(all.exe, all.heap));
    close(file);
    const struct conversion_options options = {.exe = all.exe, .threads = 1};
    must(conversion_init(&all.conversion, all.heap, &options));
    all.findings.view = all.conversion.view;
    all.findings.threads = 1;
    must(findings_begin(&all.findings, false));
    must(findings_merge(&all.findings));
    return 0;
}

/* Checks that the path to what has been found is read as one to a node that has the same. */
static void read_back(const struct lookup *lookup)
{
    struct text path = {0}, again = {0};
    uint32_t end, read;
    if (findings_is_dead(all.findings.view, lookup->node))
        return;
    must(path_append(all.findings.paths, lookup->node, &path, &end));
    text_append(&path, "", 1);
    CHECK(!path.failed);
    if (path.size > 1 && !strstr(path.data, " … ")) {
        must(expression_read(all.findings.view, paths_edges(all.findings.paths), path.data,
                             EXPRESSION_OWNER_SAID, &read, NULL));
        CHECK(read != UINT32_MAX);
        must(path_append(all.findings.paths, read, &again, &end));
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
    struct g2h_error *error =
        g2h_write_report(all.findings.view, all.findings.dominators, &options);
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
        struct g2h_error *error = lookup_find(&all.findings, text, &lookup);
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
