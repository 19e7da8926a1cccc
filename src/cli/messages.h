/* messages: what the program says on stderr. */
#ifndef CLI_MESSAGES_H
#define CLI_MESSAGES_H

#include <go2heapsnapshot/go2heapsnapshot.h>

/* "go2heapsnapshot: " and the error's message. */
void message_error(const struct g2h_error *error);

/* That the executable is not used, and why. */
void message_refused_exe(const struct g2h_error *error);

/* What the executable does not have, and what that costs; nothing if it has all. */
void message_missing_in_exe(const struct g2h_exe *exe);

/* Warnings on the input and the heap. */
void message_warnings(const struct g2h_input *input, const struct g2h_heap *heap);

/*
 * How much was left out or folded as the options ask for; or, of a graph that DevTools would take
 * long to load, for how long and how it can be made smaller.
 */
void message_size(const struct g2h_input *input, const struct g2h_heap *heap,
                  const struct g2h_graph *graph, const struct g2h_graph_options *options);

/* The account that -v prints: what the dump holds and what became of it. exe may be NULL. */
void message_account(const struct g2h_input *input, const struct g2h_heap *heap,
                     const struct g2h_exe *exe, const struct g2h_graph *graph);

#endif
