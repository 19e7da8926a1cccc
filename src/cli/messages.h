/* messages: what the program says on stderr. */
#ifndef CLI_MESSAGES_H
#define CLI_MESSAGES_H

#include <go2heapsnapshot/go2heapsnapshot.h>

#include "cli/options.h"
#include "cli/origin.h"

/*
 * Prints a line on stderr, by printf's rules, without its end; the progress line gives way to it.
 * All that the program says goes through here: what in it is more than text (base/printable.h) is
 * '?'.
 */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "go2heapsnapshot: " and the error's message. */
void message_error(const struct g2h_error *error);

/* Says what to do about an executable that did not write the dump. */
void message_no_exe(void);

/* The same of the base. */
void message_no_base_exe(void);

/* Says that the executable is not used, and why. */
void message_untyped(const struct g2h_error *error);

/* Says what the executable lacks, and what that costs; nothing if it has all. */
void message_missing_in_exe(const struct g2h_exe *exe);

/* Says of a live process how long it stood still, and what was not there; nothing of a dump. */
void message_process(const struct origin *origin);

/* Prints what -v has of a process: its memory, and how it was read. */
void message_process_account(const struct origin *origin);

/* Says what is wrong with the input and the heap. */
void message_warnings(const struct g2h_input *input, const struct g2h_heap *heap);

/*
 * Says how much was left out or folded, as the options ask for; or, of a graph that DevTools would
 * take long to load, how long that takes and how it can be made smaller.
 */
void message_size(const struct options *options, const struct g2h_input *input,
                  const struct g2h_graph *graph, const struct g2h_view *view);

/* Says so if DevTools does not load files of that name. */
void message_name(const struct g2h_format *format, const char *path, bool gzip);

/* Prints the account of -v: what the dump holds and what became of it. exe may be NULL. */
void message_account(const struct options *options, const struct g2h_input *input,
                     const struct g2h_exe *exe, const struct g2h_graph *graph,
                     const struct g2h_view *view);

/* Says of a dump of a series how many objects were in the one before. */
void message_survivors(const struct g2h_input *input, const struct g2h_input *before,
                       const struct g2h_identity *identity, const struct g2h_graph *graph);

/* Says, in the last line, how much of what lives has a type; where that is little, also why. */
void message_typed(const struct g2h_input *input, const struct g2h_heap *heap,
                   const struct g2h_exe *exe, const struct g2h_graph *graph);

#endif
