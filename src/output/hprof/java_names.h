/*
 * java_names: the strings of an HPROF file, each once, by their ids; and the Java names of Go's
 * types.
 */
#ifndef OUTPUT_HPROF_JAVA_NAMES_H
#define OUTPUT_HPROF_JAVA_NAMES_H

#include <go2heapsnapshot/view.h>

#include "base/strings.h"
#include "base/text.h"

struct java_names {
    const struct g2h_view *view;
    struct string_pool pool;
    uint32_t *of_view; /* by name of the view: the string's id; 0: it has none yet */
};

/* Returns false if memory runs out; even then *names must be passed to java_names_deinit(). */
bool java_names_init(struct java_names *names, const struct g2h_view *view);
void java_names_deinit(struct java_names *names);

/* Find the id of a string, or of a name of the view. It is not 0. They return false if memory runs
 * out. */
bool java_names_text(struct java_names *names, const char *text, size_t size, uint32_t *ret);
bool java_names_of_view(struct java_names *names, uint32_t name, uint32_t *ret);

/*
 * Appends the class name for instances of a Go type. Dots become slashes, which readers turn back.
 * Readers would take a name that begins with a bracket for an array, so the brackets go to the end:
 * [4]main.Bid becomes main/Bid[4]. A name that Java has itself gets a suffix.
 */
void java_class_name(const char *name, size_t size, struct text *ret);

/* Appends the class name for arrays of this many bytes that are written as instances: main/Bid[][]
 * (48 bytes) for [][]main.Bid. */
void java_sized_name(const char *name, size_t size, uint64_t bytes, struct text *ret);

/* Appends the class name for object arrays; name is that of an element. */
void java_array_name(const char *name, size_t size, struct text *ret);

#endif
