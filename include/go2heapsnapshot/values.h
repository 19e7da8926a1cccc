/*
 * What is in an object or a variable, as people read it: its fields with names, types and values,
 * and the entries of maps by key.
 *
 * A location is memory of the process of which the type is known. Its values are read by an
 * iterator of view.h, g2h_values_next(). Some values of several words are one for people: a
 * time.Time, an array of bytes, a number of sync/atomic.
 */
#ifndef GO2HEAPSNAPSHOT_VALUES_H
#define GO2HEAPSNAPSHOT_VALUES_H

#include <go2heapsnapshot/view.h>

G2H_BEGIN

/* ---- locations ---- */

/* One value, or values of one type in a row. */
struct g2h_location {
    uint32_t type;          /* number of the type; the numbers have no other meaning */
    bool is_array;          /* there are as many values as fit into the contents */
    uint64_t base;          /* offset of the first value in the contents */
    uint64_t address;       /* of the contents in the process */
    struct g2h_bytes bytes; /* the contents, as far as the dump has them */
    uint32_t object;        /* the object that has them; UINT32_MAX: none */
};

/* Gets the location of an object of the heap. Returns false if its type is not known as a whole. */
G2H_PUBLIC bool g2h_location_of_object(const struct g2h_view *view, uint32_t object,
                                       struct g2h_location *ret);

/* Finds a variable of a package by its name, main.cache or net/http.DefaultClient, or http.
 * DefaultClient. A dump has only the variables that may have pointers in them: all others lie in
 * parts of the program's data that Go does not write to it. Of a pointer to static data, as that of
 * var cache = &Cache{} is, gets the value that it leads to. */
enum g2h_variable { G2H_VARIABLE_NONE, G2H_VARIABLE_NOT_IN_DUMP, G2H_VARIABLE_FOUND };
G2H_PUBLIC enum g2h_variable g2h_location_of_variable(const struct g2h_view *view, const char *name,
                                                      struct g2h_location *ret);

/* A local variable or parameter of a frame, as DWARF has it. */
struct g2h_local {
    const char *name; /* name_size bytes */
    size_t name_size;
    const char *function; /* the inlined function that has it, function_size bytes; none: the
                             frame's function */
    size_t function_size;
    bool is_parameter;
    bool is_made;     /* the compiler made up its name: ~r0, .autotmp_5, list.ptr */
    bool is_there;    /* all of it is in memory, at location; else it is in registers, or cut up */
    bool is_doubtful; /* it has pointers that the frame does not list as alive: it may be of a value
                         from before */
    struct g2h_location location;
};

/* Gets a variable of a frame (g2h_view_frame()). caller is the frame that called it, which has its
 * parameters; SIZE_MAX: none. Returns false if the frame has no index-th variable. */
G2H_PUBLIC bool g2h_view_local(const struct g2h_view *view, size_t frame, size_t caller,
                               uint32_t index, struct g2h_local *ret);

/* Appends the name of a location's type to a text, as the view's names have it. */
G2H_PUBLIC void g2h_location_type(const struct g2h_view *view, const struct g2h_location *location,
                                  struct g2h_text *text);

/* ---- values ---- */

/* Starts with a location. The values come as people see them; of kinds from G2H_VALUE_TIME on, too.
 */
G2H_PUBLIC void g2h_values_begin_at(struct g2h_values *values, const struct g2h_location *location);

/* What there is to say of a value besides its text. */
struct g2h_content {
    bool is_nil;               /* a pointer, slice, map, interface … that is nil */
    bool has_length;           /* of a string, slice, map, channel or array of bytes */
    uint64_t length, capacity; /* capacity: of slices and channels; else the length */
    uint64_t target; /* the address that it leads to: of a string's or slice's bytes, of an
                        interface's value; 0: none */
};

enum { G2H_CONTENT_LIMIT = 200 /* characters of a string in a text, and bytes */ };

/*
 * Formats a value as people read it, in place of what text has: numbers and bools as Go's %v does,
 * a time.Time as RFC 3339, a time.Duration as its String() does; the contents of strings and, if
 * they are printable, of bytes in quotation marks, of other bytes in hexadecimal, with "…" behind
 * what is cut; the length of a slice, map or channel; an interface as its dynamic type and value,
 * with the text of an error whose first field is a string; the name of a function; other pointers
 * as addresses. If the graph is redacted, the text is empty, and there is no length.
 */
G2H_PUBLIC void g2h_value_content(const struct g2h_view *view, const struct g2h_value *value,
                                  struct g2h_text *text, struct g2h_content *ret);

/* Appends the name of a value's type, as the view's names have it; of an interface that is not nil,
 * that of the dynamic type if is_dynamic is set. */
G2H_PUBLIC void g2h_value_type(const struct g2h_view *view, const struct g2h_value *value,
                               bool is_dynamic, struct g2h_text *text);

/* Gets a number by which values of one type are in order: of numbers, bools and times. Returns
 * false for other kinds, and if the graph is redacted. */
G2H_PUBLIC bool g2h_value_order(const struct g2h_view *view, const struct g2h_value *value,
                                uint64_t *ret);

/* ---- entries of maps ---- */

/* An entry of a map. */
struct g2h_entry {
    struct g2h_value key, elem; /* without path */
};

/* Gets an entry; returns false to stop the visit. */
typedef bool (*g2h_entry_visit)(void *context, const struct g2h_entry *entry);

/* Returns whether a location is a map: what a value of a map type points to. */
G2H_PUBLIC bool g2h_location_is_map(const struct g2h_view *view,
                                    const struct g2h_location *location);

/*
 * Visits the entries of a map, in the order in which they are in memory, as far as the dump has
 * them; also while the map grows. Each entry comes once. Returns false if the callback stopped the
 * visit, or if the location is no map. Errors: G2H_ERROR_MEMORY.
 */
G2H_PUBLIC struct g2h_error *g2h_location_entries(const struct g2h_view *view,
                                                  const struct g2h_location *location,
                                                  g2h_entry_visit visit, void *context);

/* Gets the location of a value that has parts of its own, or that is alone. */
G2H_PUBLIC void g2h_location_of_value(const struct g2h_value *value, struct g2h_location *ret);

G2H_END

#endif
