/*
 * remote: the contents of a heap, as the Chrome DevTools Protocol has them: RemoteObjects, their
 * ids, and their properties. A snapshot is in taken.h; evaluate.c has Go expressions.
 */
#ifndef INSPECT_REMOTE_H
#define INSPECT_REMOTE_H

#include <go2heapsnapshot/values.h>

#include "base/text.h"
#include "inspect/channel.h"
#include "inspect/taken.h"

/* ==== values and nodes as RemoteObjects ==== */

/* ---- places: the targets of objectIds ---- */

enum place_kind {
    PLACE_NODE = 'n',     /* a node: its edges */
    PLACE_OBJECT = 'o',   /* an object: its values */
    PLACE_SLICE = 's',    /* first: the address, second: the length */
    PLACE_VARIABLE = 'v', /* of a package; name */
    PLACE_LOCAL = 'l',    /* first: the frame, second: the variable's index */
    PLACE_ENTRY = 'e',    /* of the map that is the object node; first: the entry, second: 0 for its
                             key, 1 for the element */
    PLACE_CLASS = 'c',    /* the objects of the class name */
    PLACE_PACKAGE = 'p',  /* the variables of a package, which is node */
    PLACE_GOROUTINES = 'g',
    PLACE_LOCALS = 'a', /* all variables of the frames of the goroutine node; only to look one up */
};

enum { PLACE_TEXT = 1024 };

struct remote_place {
    enum place_kind kind;
    uint32_t node;
    uint64_t first, second;
    size_t name_size, path_size;
    char name[PLACE_TEXT];
    char path[PLACE_TEXT]; /* of the values that are meant, "Config.Limits", if it is not all */
};

/* Reads an objectId of a snapshot. Returns false if it is invalid: it comes from the network. For
 * one of another snapshot, *ret_is_old is set. */
bool place_read(const struct taken *taken, const char *text, struct remote_place *ret,
                bool *ret_is_old);

/* ---- RemoteObjects ---- */

enum remote_kind {
    REMOTE_VALUE, /* value, at place if it has parts */
    REMOTE_NODE,
    REMOTE_PARTS,   /* of a struct or an array, or a list: those at place */
    REMOTE_NUMBER,  /* number */
    REMOTE_WORDS,   /* words */
    REMOTE_NOTHING, /* undefined */
};

struct remote {
    enum remote_kind kind;
    struct g2h_value value;
    uint32_t node;
    uint64_t number;
    struct g2h_bytes words; /* of a list at place: its name */
    struct remote_place place;
};

/* Appends a RemoteObject, as JSON. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *remote_write(struct taken *taken, const struct remote *remote, struct text *text);

/* Finds the place of the parts of a RemoteObject, which its objectId refers to. Returns false if it
 * has none. */
bool remote_place(struct taken *taken, const struct remote *remote, struct remote_place *ret);

/* Returns the node that a value leads to, or that a RemoteObject is; UINT32_MAX: none. */
uint32_t remote_node(struct taken *taken, const struct remote *remote);

/* Gets the length of a string, slice, map or channel. Returns false if it has none. */
bool remote_length(struct taken *taken, const struct remote *remote, uint64_t *ret);

/* ---- properties ---- */

/* Gets a property; returns false to stop. */
typedef bool (*property_visit)(void *context, const char *name, size_t size,
                               const struct remote *property);

/* Visits the contents of a place. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *properties_visit(struct taken *taken, const struct remote_place *place,
                                   property_visit visit, void *context);

/* Appends the result of Runtime.getProperties. The first thousand are in it, and at most a
 * megabyte. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *properties_write(struct taken *taken, const struct remote_place *place,
                                   struct text *text);

/* Gets a variable by its name with its package's, size characters; REMOTE_NOTHING if none has
 * it. */
enum g2h_variable properties_variable(struct taken *taken, const char *name, size_t size,
                                      struct remote *ret);

/* ==== Go expressions in the Console ==== */

/*
 * Evaluates what --show and --path-to take, and more: variables, main.cache.items["a"].Name, the
 * contents of $0 or an address, goroutine 17 · v, and len(x), retained(x),
 * instances("main.Session") and goroutines(). Appends the result of Runtime.evaluate; errors in the
 * expression, and expressions that lead nowhere, are in exceptionDetails. A program that attaches
 * may send JavaScript: that gets undefined, if it cannot be Go. Errors: G2H_ERROR_MEMORY.
 */
struct g2h_error *evaluate(struct taken *taken, const struct channel_evaluate *options,
                           const char *expression, struct text *text);

#endif
