/*
 * builder: shared by the files that make the nodes above the objects: nodes and edges, the function
 * at a program counter, and the memory outside the heap.
 *
 * roots.c assembles the tree; globals.c, goroutine_roots.c and remarks.c each make branches of it.
 * Names are made in the builder's text, then interned.
 */
#ifndef ROOTS_BUILDER_H
#define ROOTS_BUILDER_H

#include "base/bytes.h"
#include "base/error.h"
#include "base/map.h"
#include "naming/symbols.h"
#include "roots/roots.h"

/* A function that has frames in the dump: the addresses from its entry to the highest pc seen
 * belong to it. */
struct function {
    uint64_t entry, last_pc;
    struct g2h_bytes name;
};

/* Values of g2h_goroutine.status (runtime/runtime2.go: _Grunnable …). */
enum {
    GOROUTINE_RUNNABLE = 1,
    GOROUTINE_RUNNING = 2, /* only read from outside; WriteHeapDump stops all */
    GOROUTINE_SYSCALL = 3,
    GOROUTINE_WAITING = 4,
    GOROUTINE_COPYSTACK = 8,
    GOROUTINE_PREEMPTED = 9,
    GOROUTINE_LEAKED = 10
};

/* The fields that lead from a goroutine's record to the channels that it waits on. */
struct waiting_fields {
    uint32_t type;                    /* the type that has them, plus 1; 0: not looked up yet */
    const struct type_field *waiting; /* NULL: the type has no such fields */
    const struct type_field *channel, *next; /* of runtime.sudog */
};

/* The fields of a goroutine's record that runtime_g.c reads: NULL if the type has none. */
struct starter_fields {
    uint32_t type; /* as in waiting_fields */
    const struct type_field *parent, *labels, *ancestors;
};

/* The first thread's record, the variable runtime.m0. */
struct first_thread {
    uint64_t address;
    uint32_t type; /* runtime.m; TYPE_NONE: not known */
};

/* A word of data or bss that does not point to an object: maybe to a value in data or bss. */
struct static_pointer {
    uint64_t value, address;
};

/* A variable of a package. One with several objects gets a node: globals.c. */
struct variable {
    uint32_t object; /* that its first pointer leads to */
    uint32_t node;   /* UINT32_MAX: not added */
    bool has_several;
    uint64_t first; /* where its first pointer is */
    bool is_map; /* its pointers are those of a sync.Map of before Go 1.24, and it has no others */
};

/* A word of a variable whose type is not known. distance: it is an element, or a field of one, of
 * an array, and the bytes from element to element; the first one is at first. 0: it is none. */
struct variable_word {
    uint64_t start; /* where the variable begins */
    uint64_t address, first, distance;
    uint64_t like; /* the type of the object that it leads to, or else the object's size */
    bool is_far;   /* it is of this variable only if it goes on with an array */
};

struct builder {
    struct roots *roots;
    const struct g2h_heap *heap;
    const struct g2h_exe *exe;   /* may be NULL */
    const struct typing *typing; /* may be NULL */
    const struct targets *targets;
    struct names *names;
    struct waiting_fields waiting;
    struct starter_fields starters;
    uint32_t channels; /* beyond OWN_CHANNELS of a goroutine: see runtime_g.c */
    struct first_thread first_thread;
    /* Ascending by value; if the executable has no symbols. */
    VECTOR(struct static_pointer) static_pointers;
    const struct g2h_memory *memory; /* of the process; may be NULL */
    bool no_stacks;                  /* makes no nodes for goroutines' stacks */
    struct g2h_bytes named; /* the function that the frame is named after whose words are named */
    struct text text;       /* the name under construction */
    uint32_t root, globals, mappings;   /* the last two: UINT32_MAX if not added yet */
    struct map mapping_nodes;           /* number of a mapping → node */
    struct map packages;                /* string of the name → node */
    VECTOR(struct variable) variables;  /* of data and bss, with pointers to objects */
    struct map variable_at;             /* where one begins → its index in variables */
    VECTOR(struct variable_word) words; /* those of arrays are in word_at: address → index */
    struct map word_at;
    /* The variable that the text names, if it does: where it begins, and its size in the text; the
     * rest is the path to a word. */
    uint64_t named_at;
    size_t named_size;

    uint8_t *frame_pointed;            /* by frame: whether something points into its contents */
    VECTOR(struct function) functions; /* ascending by entry, after all frames have been read */
    struct map function_by_entry;
    struct map goroutine_by_g; /* address of a g → index in heap->goroutines */
    struct map creation_sites; /* key of a go statement → node */
    struct map statements;     /* the same → string: its name */
    struct map threads;        /* address of an m → node */
    struct map site_by_pc;     /* hash of entry and pc → index in roots->sites */
    struct map call_by_pc;     /* return address on the stack of a starter → index in calls */
    uint32_t *site_of;         /* by frame: index in roots->sites plus 1; 0: not known yet */
    struct map frame_by_sp;    /* 2013: sp → node of a frame, for stackroot records */
    uint64_t newest_wait;      /* the newest wait_since of all goroutines: the dump is not older */
    uint64_t lines_left;       /* the remaining work budget of exe_line() */
};

void builder_init(struct builder *builder, struct roots *roots, const struct root_sources *sources);

void builder_deinit(struct builder *builder);

/* ---- nodes and edges; the functions return false if memory runs out ---- */

/* Sets the builder's text. */
bool builder_text(struct builder *builder, const char *text);

/* Appends a name from the dump or the executable, in the form in which names are shown. */
void builder_append(struct builder *builder, const struct g2h_bytes *bytes);

/* Appends the dynamic type of the word at offset, if the word before it is the first word of an
 * interface. */
void builder_append_dynamic_type(struct builder *builder, const struct g2h_bytes *contents,
                                 uint64_t offset);

/* Interns the name of an edge: the builder's text, or label. Returns its string in *ret. */
bool builder_label(struct builder *builder, uint32_t *ret);

bool builder_label_of(struct builder *builder, const char *label, uint32_t *ret);

/* Interns the builder's text as the name of a node. Returns its string in *ret. */
bool builder_node_name(struct builder *builder, uint32_t *ret);

/* Adds a node with the builder's text as its name. */
bool builder_add_node(struct builder *builder, enum g2h_node_kind kind, uint64_t key,
                      uint32_t *ret);

/* Adds an edge between any two nodes. */
bool builder_add_edge(struct builder *builder, struct node source, enum roots_edge_type type,
                      uint32_t name, struct node target);

/* Adds a group below parent. Groups are elements of their parent, and their indexes give their
 * order. */
bool builder_add_group(struct builder *builder, uint32_t parent, const char *name,
                       enum g2h_node_kind kind, uint32_t *ret);

/* Adds a node to a group, with the builder's text as its name and index as its number in the
 * group. */
bool builder_add_member(struct builder *builder, uint32_t group, uint32_t index,
                        enum g2h_node_kind kind, uint64_t key, uint32_t *ret);

/* Makes a node that has been added the member of a group. */
bool builder_join_group(struct builder *builder, uint32_t group, uint32_t index, uint32_t node);

/* ---- functions ---- */

/* Collects the functions that have frames in the dump. */
struct g2h_error *builder_collect_functions(struct builder *builder);

/*
 * Appends the function that contains pc. It comes from the executable, or else from the dump's
 * frames if they are conclusive; otherwise "pc 0x…" is appended. pc may be a return address, which
 * belongs to the line of the call before it.
 */
void builder_append_function(struct builder *builder, uint64_t pc, bool is_return);

/* Appends a space, and the file and line of a code address, if the executable knows them. */
void builder_append_line(struct builder *builder, uint64_t pc);

/* ---- words outside all variables (globals.c) ---- */

/* Appends the path to a word in a value of a type: ".TLS", "[3].Name"; "Name" if the text is
 * empty. A map's pointer to its entries has the map's own name. */
void builder_append_path(struct builder *builder, uint32_t type, uint64_t offset);

/* Appends a variable of a frame and the path in it. If the variable belongs to an inlined function,
 * appends that function in parentheses. */
void builder_append_local(struct builder *builder, const struct dwarf_local *local,
                          uint64_t offset);

/*
 * Appends the name of the word at an address outside the heap, by the pointers that lead there from
 * a variable: cache.items. from is the kind of that variable: global (HOLDER_WORD) or local.
 * Returns the holder of the first value of that path, or NULL, and appends nothing, if none leads
 * there.
 */
const struct outside_holder *builder_append_path_to(struct builder *builder, uint64_t address,
                                                    enum holder_kind from);

/* ---- branches ---- */

/* (globals): globals.c */
struct g2h_error *builder_add_globals(struct builder *builder);

/* Appends the variable that contains the word at an address of data or bss, without its package,
 * and sets *ret_package to the package's name. Returns false, and appends nothing, if no variable
 * contains the word. */
bool builder_append_global(struct builder *builder, uint64_t address,
                           struct g2h_bytes *ret_package);

/* (goroutines): goroutine_roots.c. builder_find_pointed_frames() finds the frames that something
 * points into, which must be known before the frames' edges are made. */
struct g2h_error *builder_find_pointed_frames(struct builder *builder);

struct g2h_error *builder_add_goroutines(struct builder *builder);

/* ---- places.c ---- */

/* Finds the functions that a frame of the heap is in; callee is the number of the frame above it,
 * UINT32_MAX: none. Returns false if memory runs out. */
bool builder_find_site(struct builder *builder, uint32_t frame, uint32_t callee);

/* Returns these functions. */
static inline const struct root_site *builder_site(const struct builder *builder, uint32_t frame)
{
    return &builder->roots->sites.data[builder->site_of[frame] - 1];
}

/* Returns the outermost function of a site that the compiler has not made, or the outermost one. */
const struct root_call *builder_site_call(const struct builder *builder,
                                          const struct root_site *site);

/* Gets the name of a site's frames, main.walk walk.go:17. Returns false if memory runs out. */
bool builder_site_name(struct builder *builder, uint32_t frame, uint32_t *ret);

/* Returns the outermost function on the goroutine's stack, without runtime.goexit, without
 * runtime.main if that calls a function outside the runtime, and without the wrapper that the
 * compiler made of the go statement. Error: G2H_ERROR_MEMORY. */
struct g2h_error *builder_find_entry(struct builder *builder, const uint32_t *frames,
                                     uint32_t count, struct g2h_bytes *ret);

/* Reads what the record of a goroutine at address g says of its starters and labels. Returns false
 * if memory runs out: runtime_g.c */
bool builder_find_starters(struct builder *builder, uint64_t g, struct root_goroutine *ret);

/* Adds the channels that the goroutine at address g waits on: runtime_g.c */
struct g2h_error *builder_add_waiting(struct builder *builder, uint32_t node, uint64_t g);

/* Gets the function that a coroutine runs, if the goroutine at address g is one. Returns false if
 * it is not a coroutine or its function is not known: runtime_g.c */
bool builder_coroutine_function(const struct builder *builder, uint64_t g, const uint32_t *frames,
                                uint32_t count, struct g2h_bytes *ret);

/* (defers and panics), and the pointers from one deferred call to the next: goroutine_roots.c */
struct g2h_error *builder_add_defers_and_panics(struct builder *builder);

/* (allocation sites): remarks.c */
struct g2h_error *builder_add_allocation_sites(struct builder *builder);

/* (guesses), (parts): remarks.c */
struct g2h_error *builder_add_remarks(struct builder *builder);

/* (mappings), and the list of the objects' words that point into them: builder.c */
struct g2h_error *builder_add_mappings(struct builder *builder);

/* Finds the mapping outside the heap that value, which hits no object, points into. Returns false
 * if there is none, or if value is the runtime's description of a type. */
bool builder_find_mapping(const struct builder *builder, uint64_t value, uint32_t *ret);

/* ---- pointers of roots ---- */

/* Adds an edge to the object that value points to, or a weak one to the mapping; none if it points
 * to neither. The edge's name is the builder's text, or name. */
bool builder_add_pointer(struct builder *builder, uint32_t source, enum roots_edge_type type,
                         uint64_t value);

bool builder_add_named_pointer(struct builder *builder, uint32_t source, enum roots_edge_type type,
                               const char *name, uint64_t value);

#endif
