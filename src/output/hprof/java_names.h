/*
 * java_names: the strings of an HPROF file, each once, by their ids; and what Go's types are called
 * there.
 */
#ifndef OUTPUT_HPROF_JAVA_NAMES_H
#define OUTPUT_HPROF_JAVA_NAMES_H

#include <go2heapsnapshot/view.h>

#include "base/strings.h"
#include "base/text.h"

struct java_names {
    const struct g2h_view *view;
    struct string_pool pool;
    uint32_t *of_view; /* by name of the view: its id; 0: it has none yet */
};

/* False where there is no memory; then, too, *names goes to java_names_deinit(). */
bool java_names_init(struct java_names *names, const struct g2h_view *view);
void java_names_deinit(struct java_names *names);

/* The id of a text, and of a name of the view, which is not 0. False where there is no memory. */
bool java_names_text(struct java_names *names, const char *text, size_t size, uint32_t *ret);
bool java_names_of_view(struct java_names *names, uint32_t name, uint32_t *ret);

/*
 * Appends what instances of a Go type are called as a class. Dots become slashes, which readers
 * turn back; what begins with a bracket would be an array to them, so the brackets go to the end:
 * [4]main.Bid becomes main/Bid[4]. What Java has by itself is told apart by a suffix.
 */
void java_class_name(const char *name, size_t size, struct text *ret);

/* The same of arrays of so many bytes that are instances: of [][]main.Bid main/Bid[][] (48 bytes).
 */
void java_sized_name(const char *name, size_t size, uint64_t bytes, struct text *ret);

/* The same of object arrays; name is that of an element. */
void java_array_name(const char *name, size_t size, struct text *ret);

#endif
