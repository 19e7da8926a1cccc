/*
 * named: structures of the runtime and the library that are found by name, for executables that
 * have no types of these names.
 */
#include "types/structures.h"

/* In the tables below, $0 is the structure itself. */

static const struct member mutex[] = {
    FIELD("key", "uintptr"),
};

static const struct member atomic_uint8[] = {
    FIELD("value", "uint8"),
};

static const struct member atomic_int32[] = {
    FIELD("value", "int32"),
};

static const struct member atomic_uint64[] = {
    FIELD("_", "sync/atomic.align64"),
    FIELD("v", "uint64"),
};

/* time.NewTimer() and others return its address as the address of a time.Timer, which is
 * shorter. */
static const struct member time_timer[] = {
    FIELD("c", "unsafe.Pointer"),
    FIELD("init", "bool"),
    EMBEDDED("timer", "runtime.timer"),
};

static const struct member timer[] = {
    FIELD("mu", "runtime.mutex"),
    FIELD("astate", "internal/runtime/atomic.Uint8"),
    FIELD("state", "uint8"),
    FIELD("isChan", "bool"),
    SINCE(24, "isFake", "bool"),
    FIELD("blocked", "uint32"),
    SINCE(25, "rand", "uint32"),
    FIELD("when", "int64"),
    FIELD("period", "int64"),
    FIELD("f", "func()"),
    FIELD("arg", "interface {}"),
    FIELD("seq", "uintptr"),
    FIELD("ts", "*runtime.timers"),
    FIELD("sendLock", "runtime.mutex"),
    FIELD("isSending", "internal/runtime/atomic.Int32"),
};

/* The part of a sync.Pool that belongs to one processor. */
static const struct member pool_local_internal[] = {
    FIELD("private", "interface {}"),
    BEFORE(13, "shared", "[]interface {}"),
    SINCE(13, "shared", "sync.poolChain"),
    BEFORE(13, "Mutex", "uint64"),
};

static const struct member pool_chain[] = {
    FIELD("head", "*sync.poolChainElt"),
    FIELD("tail", "*sync.poolChainElt"),
};

static const struct member pool_chain_elt[] = {
    EMBEDDED("poolDequeue", "sync.poolDequeue"),
    FIELD("next", "*$0"),
    FIELD("prev", "*$0"),
};

static const struct member pool_dequeue[] = {
    BEFORE(22, "headTail", "uint64"),
    SINCE(22, "headTail", "sync/atomic.Uint64"),
    FIELD("vals", "[]sync.eface"),
};

static const struct member coro[] = {
    FIELD("gp", "uintptr"),       FIELD("f", "func(*runtime.coro)"), FIELD("mp", "*runtime.m"),
    FIELD("lockedExt", "uint32"), FIELD("lockedInt", "uint32"),
};

static const struct named {
    const char *name;
    const struct member *members;
    size_t count;
    int since;
} all[] = {
#define NAMED(name, members, since) \
    { \
        name, members, sizeof(members) / sizeof(*(members)), since \
    }
    NAMED("runtime.mutex", mutex, 0),
    NAMED("internal/runtime/atomic.Uint8", atomic_uint8, 0),
    NAMED("internal/runtime/atomic.Int32", atomic_int32, 0),
    {"sync/atomic.align64", NULL, 0, 0},
    NAMED("sync/atomic.Uint64", atomic_uint64, 0),
    NAMED("runtime.timer", timer, 23),
    NAMED("runtime.timeTimer", time_timer, 23),
    NAMED("runtime.coro", coro, 23),
    NAMED("sync.poolDequeue", pool_dequeue, 13),
    NAMED("sync.poolChainElt", pool_chain_elt, 13),
    NAMED("sync.poolChain", pool_chain, 13),
    NAMED("sync.poolLocalInternal", pool_local_internal, 9),
};

const char *named_struct_name(size_t i)
{
    return i < sizeof(all) / sizeof(*all) ? all[i].name : NULL;
}

/* Returns the type of a sudog that waits in sync.Cond or on a semaphore, not on a channel. */
static uint32_t named_sudog(struct runtime_types *runtime, struct g2h_bytes name)
{
    const uint32_t type =
        build_struct(runtime, ROLE_INTERNAL, TYPE_NONE, build_intern(runtime, name));
    return type != TYPE_NONE && build_register(runtime, type) &&
                   chans_sudog(runtime, type, TYPE_NONE, TYPE_NONE)
               ? type
               : TYPE_NONE;
}

/* Builds one of the structures of the table by its name, if the release has it. The sudog is built
 * apart, since its types depend on what it waits for. */
uint32_t named_struct(struct runtime_types *runtime, struct g2h_bytes name)
{
    if (bytes_are(name, "runtime.sudog"))
        return named_sudog(runtime, name);
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        const struct named *named = &all[i];
        if (!bytes_are(name, named->name))
            continue;
        if (runtime->release.minor < named->since)
            return TYPE_NONE;
        const uint32_t type =
            build_struct(runtime, ROLE_RUNTIME, TYPE_NONE, build_intern(runtime, name));
        /* The type is registered before it has members, because the members may point to the same
         * type. */
        if (type == TYPE_NONE || !build_register(runtime, type) ||
            !build_fill(runtime, type, named->members, named->count, &type))
            return TYPE_NONE;
        return type;
    }
    return TYPE_NONE;
}
