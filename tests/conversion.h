/*
 * conversion: makes of a loaded heap what src/main.c makes of it: its types, its graph and a view.
 * All tests in C that convert a heap use this.
 */
#ifndef TESTS_CONVERSION_H
#define TESTS_CONVERSION_H

#include <go2heapsnapshot/go2heapsnapshot.h>

struct conversion_options {
    const struct g2h_exe *exe; /* it matches the heap; NULL: no executable */
    unsigned threads;
    bool redact, full_names;
    const uint8_t *redact_key; /* redacts with this key; NULL: redacts only if redact is set */
    struct g2h_view_options view;
};

struct conversion {
    struct g2h_redaction *redaction;
    struct g2h_typing *typing;
    struct g2h_graph *graph;
    struct g2h_view *view;
};

/* Converts a heap. conversion must be given to conversion_deinit() also after an error. */
static inline struct g2h_error *conversion_init(struct conversion *conversion,
                                                const struct g2h_heap *heap,
                                                const struct conversion_options *options)
{
    struct g2h_error *error = NULL;
    *conversion = (struct conversion){.graph = NULL};
    if (options->redact || options->redact_key)
        error = g2h_redaction_create(options->redact_key, &conversion->redaction);
    const struct g2h_typing_options typing_options = {options->threads, conversion->redaction};
    if (!error && options->exe)
        error = g2h_typing_create(heap, options->exe, &typing_options, &conversion->typing);
    const struct g2h_graph_options graph_options = {.exe = options->exe,
                                                    .typing = conversion->typing,
                                                    .threads = options->threads,
                                                    .redaction = conversion->redaction,
                                                    .full_names = options->full_names};
    if (!error)
        error = g2h_graph_build(heap, &graph_options, &conversion->graph);
    if (!error)
        error = g2h_view_create(conversion->graph, &options->view, &conversion->view);
    return error;
}

static inline void conversion_deinit(struct conversion *conversion)
{
    g2h_view_destroy(conversion->view);
    g2h_graph_destroy(conversion->graph);
    g2h_typing_destroy(conversion->typing);
    g2h_redaction_destroy(conversion->redaction);
}

#endif
