/*
 * The contents of an object or a variable, as people read them: fields with names, types and
 * values, and the entries of maps by key.
 *
 * A location is memory of the process with a known type. Its values are read by an iterator of
 * view.h, g2h_values_next(). Some values of several words count as one: a time.Time, an array of
 * bytes, a number of sync/atomic.
 */
#ifndef GO2HEAPSNAPSHOT_VALUES_H
#define GO2HEAPSNAPSHOT_VALUES_H

#include <go2heapsnapshot/view.h>

G2H_BEGIN

/* ---- locations ---- */

/* One value, or values of one type in a row. */
struct g2h_location {
    uint32_t type;          /* number of the type; the numbers have no other meaning */
    bool is_array;          /* as many values as fit into the contents */
    uint64_t base;          /* offset of the first value in the contents */
    uint64_t address;       /* of the contents in the process */
    struct g2h_bytes bytes; /* the contents, as far as the dump has them */
    uint32_t object;        /* the object that contains them; UINT32_MAX: none */
};

/* Gets the location of an object of the heap. Returns false if its type is not known as a whole. */
G2H_PUBLIC bool g2h_location_of_object(const struct g2h_view *view, uint32_t object,
                                       struct g2h_location *ret);

/* Finds a variable of a package by its name, main.cache or net/http.DefaultClient, or http.
 * DefaultClient. A dump has only the variables that may contain pointers: Go does not write the
 * other data segments to it. For a pointer to static data, such as var cache = &Cache{}, gets the
 * value it points to. */
enum g2h_variable { G2H_VARIABLE_NONE, G2H_VARIABLE_NOT_IN_DUMP, G2H_VARIABLE_FOUND };
G2H_PUBLIC enum g2h_variable g2h_location_of_variable(const struct g2h_view *view, const char *name,
                                                      struct g2h_location *ret);

/* Reads the length of the slice of a package's variable that leads to an object, if the executable
 * has no symbols, and its code or the slice's capacity shows that it is one. Returns false if there
 * is none, more than one, or one that cannot be of the object. */
G2H_PUBLIC bool g2h_length_of_static_slice(const struct g2h_view *view, uint32_t object,
                                           uint64_t *ret);

/* A local variable or parameter of a frame, as DWARF has it. */
struct g2h_local {
    const char *name; /* name_size bytes */
    size_t name_size;
    const char *function; /* the inlined function that declares it, function_size bytes; none: the
                             frame's function */
    size_t function_size;
    bool is_parameter;
    bool is_made;     /* the compiler generated its name: ~r0, .autotmp_5, list.ptr */
    bool is_there;    /* it is entirely in memory, at location; otherwise in registers, or split */
    bool is_doubtful; /* it has pointers that the frame does not list as live: it may be a stale
                         value */
    struct g2h_location location;
};

/* Gets a variable of a frame (g2h_view_frame()). caller is the calling frame, which has its
 * parameters; SIZE_MAX: none. Returns false if the frame has no index-th variable. */
G2H_PUBLIC bool g2h_view_local(const struct g2h_view *view, size_t frame, size_t caller,
                               uint32_t index, struct g2h_local *ret);

/* Gets the location of the map whose header is in a frame, a node of the view, by the object of the
 * heap that it points to: the memory of its entries. Returns false if the frame has none. */
G2H_PUBLIC bool g2h_location_of_map_in_frame(const struct g2h_view *view, uint32_t node,
                                             uint32_t object, struct g2h_location *ret);

/* Appends the name of a location's type to a buffer, as the view's names have it. */
G2H_PUBLIC void g2h_location_type(const struct g2h_view *view, const struct g2h_location *location,
                                  struct g2h_text *text);

/* ---- values ---- */

/* Starts with a location. The values include those of kinds from G2H_VALUE_TIME on. */
G2H_PUBLIC void g2h_values_begin_at(struct g2h_values *values, const struct g2h_location *location);

/* Properties of a value besides its formatted content. */
struct g2h_content {
    bool is_nil;               /* a pointer, slice, map, interface … that is nil */
    bool has_length;           /* of a string, slice, map, channel or array of bytes */
    uint64_t length, capacity; /* capacity: of slices and channels; else the length */
    uint64_t target; /* the address it points to: of a string's or slice's bytes, of an interface's
                        value; 0: none */
};

enum { G2H_CONTENT_LIMIT = 200 /* most characters shown of a string, and most bytes */ };

/*
 * Formats a value as people read it, replacing the contents of text: numbers and bools as Go's %v
 * does, a time.Time as RFC 3339, a time.Duration as its String() does; the contents of strings and,
 * if they are printable, of bytes in quotation marks, of other bytes in hexadecimal, with "…" after
 * truncated ones; the length of a slice, map or channel; an interface as its dynamic type and
 * value, with the message of an error whose first field is a string; the name of a function; other
 * pointers as addresses. If the graph is redacted, the text is empty, and there is no length;
 * the text of what secret.Do has allocated is "(secret)".
 */
G2H_PUBLIC void g2h_value_content(const struct g2h_view *view, const struct g2h_value *value,
                                  struct g2h_text *text, struct g2h_content *ret);

/* Appends the name of a value's type, as the view's names have it; for an interface that is not
 * nil, its dynamic type if is_dynamic is set. */
G2H_PUBLIC void g2h_value_type(const struct g2h_view *view, const struct g2h_value *value,
                               bool is_dynamic, struct g2h_text *text);

/* Gets a number that orders values of one type: numbers, bools and times. Returns false for other
 * kinds, and if the graph is redacted. */
G2H_PUBLIC bool g2h_value_order(const struct g2h_view *view, const struct g2h_value *value,
                                uint64_t *ret);

/* ---- entries of maps ---- */

/* An entry of a map. */
struct g2h_entry {
    struct g2h_value key, elem; /* without path */
};

/* Gets an entry; returns false to stop the visit. */
typedef bool (*g2h_entry_visit)(void *context, const struct g2h_entry *entry);

/* Returns whether a location is a map, that is, the target of a value of a map type. */
G2H_PUBLIC bool g2h_location_is_map(const struct g2h_view *view,
                                    const struct g2h_location *location);

/*
 * Visits the entries of a map in memory order, as far as the dump has them; also while the map
 * grows. Each entry is visited once, unless the callback stops the visit before. Visits none if the
 * location is not a map. Errors: G2H_ERROR_MEMORY.
 */
G2H_PUBLIC struct g2h_error *g2h_location_entries(const struct g2h_view *view,
                                                  const struct g2h_location *location,
                                                  g2h_entry_visit visit, void *context);

/* Gets the location of a single value, or of one that has parts of its own. */
G2H_PUBLIC void g2h_location_of_value(const struct g2h_value *value, struct g2h_location *ret);

G2H_END

#endif
