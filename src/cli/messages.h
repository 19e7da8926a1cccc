/* messages: the messages of the program on stderr. */
#ifndef CLI_MESSAGES_H
#define CLI_MESSAGES_H

#include <go2heapsnapshot/go2heapsnapshot.h>

#include "cli/options.h"
#include "library/pipeline.h"
#include "cli/target.h"

/*
 * Prints a line on stderr; format follows printf's rules, without a newline at its end. The
 * progress line is removed first. All messages of the program go through this function: it replaces
 * characters that are not plain text (base/text.h) by '?'.
 */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From now on, a line that would have to wait, because nobody reads the pipe or terminal, is left
 * out; the next one says how many were. */
void messages_never_wait(void);

/* Returns whether a line may be printed now; it may be called by a signal handler. */
bool messages_can_print(void);

/* Prints "go2heapsnapshot: " and the error's message. */
void message_error(const struct g2h_error *error);

/* Explains how to handle an executable that did not write the dump. */
void message_no_exe(void);

/* Prints that the format is not for a terminal, and how to write it to a file. */
void message_not_for_terminal(const struct options *options);

/* Explains why the output is a report, and how to get a snapshot. */
void message_default(void);

/* Says that a pipe gets a snapshot, and how to get a report. */
void message_piped(void);

/* Warns if the base is newer than the dump, so that growth is the reverse of what has happened, by
 * the collections until each of them. is_other: another build of the program wrote it. */
void message_base_order(const char *base, const struct g2h_input *input,
                        const struct collections *of_base, const struct collections *of_dump,
                        bool is_other);

/* Explains the same about the executable of the base. */
void message_no_base_exe(void);

/* Prints that the executable is not used, and why. */
void message_untyped(const struct g2h_error *error);

/* Hints to users at a terminal where a dump's types come from; nothing if they want it untyped. */
void message_untyped_hint(const struct options *options, const struct g2h_input *input);

/* Reports what the executable of a heap lacks, and what that costs; nothing if it is complete. */
void message_missing_in_exe(const struct g2h_exe *exe, const struct g2h_heap *heap);

/* Prints which process runs the program if a process runs the go command (go run, go test). */
void message_go_command(uint64_t pid);

/* Reports how many collections of a live process were watched, and what that cost; process is its
 * name. Nothing if ages is NULL. */
void message_ages(const struct g2h_ages *ages, const char *process);

/* Reports how a process or core file was read, and which parts are missing or doubtful; if
 * says_stopped is set, also how long a live process was paused. Nothing for a dump. */
void message_process(const struct origin *origin, bool says_stopped);

/* Prints the account of a process for -v: its memory, and how it was read. */
void message_process_account(const struct origin *origin);

/* Reports damage of the input and the heap, and what a dump lacks. */
void message_warnings(const struct origin *origin, const struct g2h_heap *heap);

/* Reports damage of an input that was written as a dump: that of its stream, and that at which
 * writing ended; NULL: none. */
void message_dump_damage(const struct g2h_input *input, const struct g2h_error *damage);

/*
 * Reports how much was left out or folded. If it was to be folded, warns if that is not enough;
 * else, of a graph that is so large that DevTools would take long to load it, how long that takes
 * and how to make the graph smaller.
 */
void message_size(const struct options *options, const struct g2h_input *input,
                  const struct g2h_graph *graph, const struct g2h_view *view);

/* Prints a note if DevTools does not load files of that name. */
void message_name(const struct g2h_format *format, const char *path, bool gzip);

/* Reports that a file to which something was added has lost permissions, if it has. */
void message_narrowed(const struct target *target);

/* Prints the account of -v: the contents of the dump and their processing. exe may be NULL. */
void message_account(const struct options *options, const struct g2h_input *input,
                     const struct g2h_exe *exe, const struct g2h_graph *graph,
                     const struct g2h_view *view, const struct g2h_numbers_account *numbers);

/* Adds to the error that memory has run out how much this program had, which limit is in force, and
 * what takes less. */
void message_memory(void);

/* Prints, for -v, how often this program has waited for a page to come from a disk since
 * port_disk_faults() was before. */
void message_disk_faults(uint64_t before);

/* Reports, for a dump of a series, how many of its objects were in the dump before. */
void message_survivors(const struct g2h_input *input, const struct g2h_input *before,
                       const struct g2h_identity *identity, const struct g2h_graph *graph,
                       const struct g2h_view *view);

/* Reports, in the last line, which share of the live bytes has a type; if the share is small, also
 * why. */
void message_typed(const struct g2h_input *input, const struct g2h_heap *heap,
                   const struct g2h_exe *exe, const struct g2h_graph *graph);

#endif
