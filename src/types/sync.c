/*
 * sync: the types of the library that hold unsafe.Pointers, though it is known to what.
 *
 * Generic ones carry their arguments in their names, "sync/atomic.Pointer[net/http.response]". A
 * type in brackets is looked for by its name, as it stands there.
 */
#include "types/structures.h"

#include <stdio.h>
#include <string.h>

/* Of the names that are put together here. */
#define TEXT_LIMIT 4096

struct text {
    char data[TEXT_LIMIT];
    size_t size;
};

static bool text_add(struct text *text, const char *data, size_t size)
{
    if (size > sizeof(text->data) - text->size)
        return false;
    memcpy(text->data + text->size, data, size);
    text->size += size;
    return true;
}

static bool text_is(const char *text, size_t size, const char *other)
{
    return size == strlen(other) && memcmp(text, other, size) == 0;
}

/* ---- fields ---- */

/* A field that is no more than a word of unknown content: unsafe.Pointer, or atomic's own. */
static struct type_field *find_untyped(struct runtime_types *runtime, uint32_t number,
                                       const char *name)
{
    const struct types *types = runtime->types;
    const struct type *type = &types->list.data[number];
    for (uint32_t i = 0; i < type->field_count; i++) {
        struct type_field *field = &types->fields.data[type->first_field + i];
        size_t size;
        const char *text = string_pool_text(&types->names, field->name, &size);
        if (!text_is(text, size, name) || field->type >= types->list.count)
            continue;
        if (types->list.data[field->type].kind == TYPE_UNSAFE_POINTER ||
            build_is_named(runtime, field->type, "internal/runtime/atomic.UnsafePointer") ||
            build_is_named(runtime, field->type, "runtime/internal/atomic.UnsafePointer"))
            return field;
    }
    return NULL;
}

/* Makes such a field a pointer, or whatever type is. */
static void retype(struct runtime_types *runtime, uint32_t number, const char *name, uint32_t type)
{
    struct type_field *field = type == TYPE_NONE ? NULL : find_untyped(runtime, number, name);
    if (field)
        field->type = type;
}

/* ---- arguments of generic types ---- */

/* The text of the argument, 0 or 1, of a generic type's name, "a" and "b" in "x[a,b]". */
static bool argument_text(const struct runtime_types *runtime, uint32_t type, unsigned which,
                          const char **ret_text, size_t *ret_size)
{
    size_t size, depth = 0;
    const char *text = build_text(runtime, type, &size);
    const char *start = memchr(text, '[', size);
    if (!start || text[size - 1] != ']')
        return false;
    start++;
    for (const char *at = start; at < text + size; at++) {
        if (depth == 0 && (*at == ',' || at == text + size - 1)) {
            if (which-- == 0) {
                *ret_text = start;
                *ret_size = (size_t)(at - start);
                return true;
            }
            start = at + 1;
        } else if (*at == '[' || *at == '(' || *at == '{') {
            depth++;
        } else if ((*at == ']' || *at == ')' || *at == '}') && depth > 0) {
            depth--;
        }
    }
    return false;
}

/* A type by the name that it has in brackets, where dots of an import path's last part may be "%2e"
 * as in symbols. */
static uint32_t resolve(struct runtime_types *runtime, const char *name, size_t size)
{
    const uint32_t type = build_type(runtime, name, size, NULL);
    struct text plain = {.size = 0};
    if (type != TYPE_NONE || !memchr(name, '%', size) || size > sizeof(plain.data))
        return type;
    for (size_t i = 0; i < size; i++) {
        const bool dot = size - i >= 3 && memcmp(name + i, "%2e", 3) == 0;
        plain.data[plain.size++] = dot ? '.' : name[i];
        i += dot ? 2 : 0;
    }
    return build_type(runtime, plain.data, plain.size, NULL);
}

static uint32_t argument(struct runtime_types *runtime, uint32_t type, unsigned which)
{
    const char *text;
    size_t size;
    return argument_text(runtime, type, which, &text, &size) ? resolve(runtime, text, size)
                                                             : TYPE_NONE;
}

/* The type that a generic pointer is of: from its field _ [0]*T, from its name where it has none.
 */
static uint32_t pointed_at(struct runtime_types *runtime, uint32_t number)
{
    const struct types *types = runtime->types;
    const struct type *type = &types->list.data[number];
    for (uint32_t i = 0; i < type->field_count; i++) {
        const uint32_t array = types->fields.data[type->first_field + i].type;
        if (array >= types->list.count || types->list.data[array].kind != TYPE_ARRAY ||
            types->list.data[array].length != 0)
            continue;
        const uint32_t pointer = types->list.data[array].elem;
        if (pointer < types->list.count && types->list.data[pointer].kind == TYPE_POINTER &&
            types->list.data[pointer].elem < types->list.count)
            return types->list.data[pointer].elem;
    }
    return argument(runtime, number, 0);
}

/* ---- weak.Pointer ---- */

/* $0 what fills the object up to 16 bytes */
static const struct member weak_handle[] = {
    FIELD("h", "uintptr"),
    SINCE(26, "_", "$0"),
};

/* $0 a pointer to the handle */
static const struct member weak_pointer_members[] = {
    FIELD("u", "$0"),
};

/* A pointer to the word that has the address, unseen by the collector: getOrAddWeakHandle(). */
static uint32_t weak_handle_pointer(struct runtime_types *runtime)
{
    const char name[] = "weak.Pointer handle";
    uint32_t handle = build_find(runtime, name, strlen(name)), number;
    if (handle == TYPE_NONE) {
        if (!types_intern(runtime->types, name, strlen(name), &number)) {
            runtime->no_memory = true;
            return TYPE_NONE;
        }
        const uint32_t rest = build_array(runtime, build_type(runtime, "uint8", 5, NULL),
                                          16 - runtime->types->pointer_size);
        handle = build_struct(runtime, ROLE_RUNTIME, TYPE_NONE, number);
        if (handle == TYPE_NONE || !BUILD_FILL(runtime, handle, weak_handle, rest) ||
            !build_register(runtime, handle))
            return TYPE_NONE;
    }
    return build_pointer(runtime, handle);
}

static void weak_pointer(struct runtime_types *runtime, uint32_t type)
{
    retype(runtime, type, "u", weak_handle_pointer(runtime));
}

/* ---- HashTrieMap, of sync.Map and unique ---- */

/* $0 node, $1 key, $2 value, $3 the entry */
static const struct member trie_entry[] = {
    EMBEDDED("node", "$0"),
    FIELD("overflow", "*$3"),
    FIELD("key", "$1"),
    FIELD("value", "$2"),
};

/* $0 node, $1 weak.Pointer[T], $2 the entry */
static const struct member unique_entry[] = {
    EMBEDDED("node", "$0"),
    FIELD("overflow", "*$2"),
    FIELD("key", "$1"),
    FIELD("hash", "uintptr"),
};

/* The package whose node it is, with its dot; NULL where type is no node. */
static const char *trie_package(const struct runtime_types *runtime, uint32_t type)
{
    static const char *const packages[] = {"internal/sync.", "internal/concurrent.", "unique."};
    char prefix[64];
    for (size_t i = 0; i < sizeof(packages) / sizeof(*packages); i++) {
        snprintf(prefix, sizeof(prefix), "%snode[", packages[i]);
        if (build_has_prefix(runtime, type, prefix))
            return packages[i];
    }
    return NULL;
}

/* "internal/sync.entry[K,V]" for that node's K and V. */
static bool sibling_name(const struct runtime_types *runtime, uint32_t node, const char *package,
                         const char *word, struct text *ret)
{
    size_t size;
    const char *text = build_text(runtime, node, &size);
    const size_t skip = strlen(package) + strlen("node");
    ret->size = 0;
    return text_add(ret, package, strlen(package)) && text_add(ret, word, strlen(word)) &&
           text_add(ret, text + skip, size - skip);
}

static uint32_t new_struct(struct runtime_types *runtime, const struct text *name)
{
    uint32_t number;
    if (!types_intern(runtime->types, name->data, name->size, &number)) {
        runtime->no_memory = true;
        return TYPE_NONE;
    }
    return build_struct(runtime, ROLE_RUNTIME, TYPE_NONE, number);
}

/* weak.Pointer[T] of the node[T]. */
static uint32_t weak_pointer_of(struct runtime_types *runtime, uint32_t node)
{
    struct text name = {.size = 0};
    const char *argument_of;
    size_t size;
    if (!argument_text(runtime, node, 0, &argument_of, &size) ||
        !text_add(&name, "weak.Pointer[", 13) || !text_add(&name, argument_of, size) ||
        !text_add(&name, "]", 1))
        return TYPE_NONE;
    const uint32_t found = build_find(runtime, name.data, name.size);
    if (found != TYPE_NONE)
        return found;
    const uint32_t handle = weak_handle_pointer(runtime);
    const uint32_t type = handle == TYPE_NONE ? TYPE_NONE : new_struct(runtime, &name);
    return BUILD_FILL(runtime, type, weak_pointer_members, handle) && build_register(runtime, type)
               ? type
               : TYPE_NONE;
}

static uint32_t trie_entry_of(struct runtime_types *runtime, uint32_t node, const char *package)
{
    struct text name;
    if (!sibling_name(runtime, node, package, "entry", &name))
        return TYPE_NONE;
    const uint32_t found = build_find(runtime, name.data, name.size);
    if (found != TYPE_NONE)
        return found;
    const bool of_unique = strcmp(package, "unique.") == 0;
    const uint32_t key = of_unique ? weak_pointer_of(runtime, node) : argument(runtime, node, 0);
    const uint32_t value = of_unique ? TYPE_NONE : argument(runtime, node, 1);
    if (key == TYPE_NONE || (!of_unique && value == TYPE_NONE))
        return TYPE_NONE;
    const uint32_t entry = new_struct(runtime, &name);
    if (of_unique ? BUILD_FILL(runtime, entry, unique_entry, node, key, entry)
                  : BUILD_FILL(runtime, entry, trie_entry, node, key, value, entry))
        return build_register(runtime, entry) ? entry : TYPE_NONE;
    return TYPE_NONE;
}

/* A pointer to a node is one to an indirect or to an entry, which begin with it. */
static uint32_t node_pointer(struct runtime_types *runtime, uint32_t node, const char *package)
{
    struct text name;
    if (!sibling_name(runtime, node, package, "indirect", &name))
        return TYPE_NONE;
    const uint32_t indirect = build_find(runtime, name.data, name.size);
    const uint32_t entry = trie_entry_of(runtime, node, package);
    if (indirect == TYPE_NONE || entry == TYPE_NONE)
        return TYPE_NONE;
    return build_target(runtime, TARGET_BY_CONTENT, indirect, entry, 0);
}

/* ---- sync/atomic.Pointer ---- */

static void atomic_pointer(struct runtime_types *runtime, uint32_t type)
{
    const uint32_t elem = pointed_at(runtime, type);
    if (elem == TYPE_NONE)
        return;
    const char *package = trie_package(runtime, elem);
    uint32_t pointer = package ? node_pointer(runtime, elem, package) : TYPE_NONE;
    if (pointer == TYPE_NONE)
        pointer = build_pointer(runtime, elem);
    retype(runtime, type, "v", pointer);
    retype(runtime, type, "u", pointer); /* of the runtime's own atomic */
}

/* ---- sync ---- */

/* $0 what fills it up to a cache line */
static const struct member pool_local[] = {
    EMBEDDED("poolLocalInternal", "sync.poolLocalInternal"),
    FIELD("pad", "$0"),
};

static void sync_pool(struct runtime_types *runtime, uint32_t pool)
{
    uint32_t local = build_find(runtime, "sync.poolLocal", 14);
    if (local == TYPE_NONE) {
        const uint32_t inner = build_type(runtime, "sync.poolLocalInternal", 22, NULL);
        if (inner == TYPE_NONE)
            return;
        const struct text name = {.data = "sync.poolLocal", .size = 14};
        const uint64_t pad = 128 - runtime->types->list.data[inner].size % 128;
        local = new_struct(runtime, &name);
        const uint32_t bytes = build_array(runtime, build_type(runtime, "uint8", 5, NULL), pad);
        if (!BUILD_FILL(runtime, local, pool_local, bytes) || !build_register(runtime, local))
            return;
    }
    /* Each is followed by its size; that of the victims becomes 0 once none is left. */
    const uint32_t many =
        build_target(runtime, TARGET_COUNTED, local, TYPE_NONE, runtime->types->pointer_size);
    retype(runtime, pool, "local", many);
    retype(runtime, pool, "victim", build_target(runtime, TARGET_MANY, local, TYPE_NONE, 0));
}

/* The two words of an interface; the library has no other word for them. The collector looks at
 * both, other than at those of interfaces. */
static void sync_eface(struct runtime_types *runtime, uint32_t number)
{
    static const uint8_t both = 3;
    struct type *type = &runtime->types->list.data[number];
    if (type->size != 2 * (uint64_t)runtime->types->pointer_size)
        return;
    type->role = ROLE_RUNTIME;
    type->gc_mask = &both;
    type->pointer_bytes = type->size;
    type->kind = TYPE_INTERFACE;
    type->empty_interface = true;
    type->field_count = 0;
}

/* Of sync.Map before 1.24: a pointer to the value. */
static void sync_entry(struct runtime_types *runtime, uint32_t type)
{
    retype(runtime, type, "p", build_type(runtime, "*interface {}", 13, NULL));
}

/* Of sync.Cond. */
static void notify_list(struct runtime_types *runtime, uint32_t type)
{
    const uint32_t sudog = build_type(runtime, "*runtime.sudog", 14, NULL);
    retype(runtime, type, "head", sudog);
    retype(runtime, type, "tail", sudog);
}

/* ---- time ---- */

static void time_timer(struct runtime_types *runtime, uint32_t type)
{
    uint32_t channel = build_find(runtime, "chan time.Time", 14);
    if (channel == TYPE_NONE)
        channel = build_find(runtime, "<-chan time.Time", 16);
    retype(runtime, type, "c", channel);
}

/* Before 1.23 a time.Timer has a struct of its own, which is a runtime.timer: the runtime points to
 * it. */
static void runtime_timer(struct runtime_types *runtime, uint32_t type)
{
    const struct types *types = runtime->types;
    const struct type_field *field = types_field(types, type, "r");
    const uint32_t timer = build_find(runtime, "runtime.timer", 13);
    if (field && timer != TYPE_NONE && field->type < types->list.count &&
        build_is_named(runtime, field->type, "time.runtimeTimer") &&
        types->list.data[field->type].size == types->list.data[timer].size)
        runtime->types->fields.data[field - types->fields.data].type = timer;
}

void sync_retype_pointer(struct runtime_types *runtime, uint32_t number)
{
    const uint32_t elem = runtime->types->list.data[number].elem;
    if (runtime->release.minor < 23 || elem >= runtime->types->list.count)
        return;
    if (build_is_named(runtime, elem, "iter.coro")) { /* an empty struct, to that package */
        const uint32_t coro = build_type(runtime, "runtime.coro", 12, NULL);
        if (coro != TYPE_NONE)
            runtime->types->list.data[number].elem = coro;
        return;
    }
    if (!build_is_named(runtime, elem, "time.Timer") &&
        !build_is_named(runtime, elem, "time.Ticker"))
        return;
    const uint32_t timer = build_type(runtime, "runtime.timeTimer", 17, NULL);
    if (timer == TYPE_NONE)
        return;
    time_timer(runtime, timer);
    runtime->types->list.data[number].elem = timer;
}

/* ---- which is which ---- */

void sync_retype(struct runtime_types *runtime, uint32_t type)
{
    static const struct rule {
        const char *name;
        void (*apply)(struct runtime_types *runtime, uint32_t type);
    } rules[] = {
        {"sync/atomic.Pointer[", atomic_pointer},
        {"internal/runtime/atomic.Pointer[", atomic_pointer},
        {"runtime/internal/atomic.Pointer[", atomic_pointer},
        {"weak.Pointer[", weak_pointer},
        {"internal/weak.Pointer[", weak_pointer},
        {"sync.Pool", sync_pool},
        {"sync.eface", sync_eface},
        {"sync.entry", sync_entry},
        {"sync.notifyList", notify_list},
        {"runtime.timeTimer", time_timer},
        {"time.Timer", runtime_timer},
        {"time.Ticker", runtime_timer},
    };
    if (runtime->types->list.data[type].is_generic)
        return;
    for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
        const bool is_prefix = rules[i].name[strlen(rules[i].name) - 1] == '[';
        if (is_prefix ? build_has_prefix(runtime, type, rules[i].name)
                      : build_is_named(runtime, type, rules[i].name))
            rules[i].apply(runtime, type);
    }
}
