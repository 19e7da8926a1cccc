/*
 * named: structures of the runtime and the library that are built by their names, for executables
 * that have no types of these names: channels, and others.
 */
#include "types/structures.h"

/*
 * ---- channels ----
 *
 * runtime.hchan is the header of a channel, and a goroutine has a runtime.sudog while it waits on a
 * channel. If the elements hold no pointers, header and buffer are one noscan object. If there is
 * no buffer, the header is noscan as well, and its buf is its own address.
 */

/* $0 a pointer to the buffer, $1 waitq */
static const struct member hchan[] = {
    FIELD("qcount", "uint"),
    FIELD("dataqsiz", "uint"),
    FIELD("buf", "$0"),
    FIELD("elemsize", "uint16"),
    BETWEEN(24, 25, "synctest", "bool"),
    FIELD("closed", "uint32"),
    SINCE(23, "timer", "*runtime.timer"),
    FIELD("elemtype", "unsafe.Pointer"),
    FIELD("sendx", "uint"),
    FIELD("recvx", "uint"),
    FIELD("recvq", "$1"),
    FIELD("sendq", "$1"),
    SINCE(25, "bubble", "*runtime.synctestBubble"),
    FIELD("lock", "runtime.mutex"),
};

/* $0 sudog */
static const struct member waitq[] = {
    FIELD("first", "*$0"),
    FIELD("last", "*$0"),
};

/* $0 sudog, $1 a pointer to the element, $2 a pointer to the channel; from 1.26 on $1 and $2 are
 * wrapped in structs */
static const struct member sudog_members[] = {
    FIELD("g", "*runtime.g"),
    BEFORE(10, "selectdone", "*uint32"),
    BETWEEN(10, 15, "isSelect", "bool"),
    FIELD("next", "*$0"),
    FIELD("prev", "*$0"),
    FIELD("elem", "$1"),
    SINCE(8, "acquiretime", "int64"),
    FIELD("releasetime", "int64"),
    FIELD("ticket", "uint32"),
    SINCE(15, "isSelect", "bool"),
    SINCE(16, "success", "bool"),
    SINCE(22, "waiters", "uint16"),
    SINCE(9, "parent", "*$0"),
    FIELD("waitlink", "*runtime.sudog"), /* its type is that of any sudog: in a select, the next one
                                            waits on another channel */
    SINCE(9, "waittail", "*$0"),
    FIELD("c", "$2"),
};

/* $0 the pointer */
static const struct member traceable_ptr[] = {
    FIELD("vp", "$0"),
    FIELD("vu", "uintptr"),
};

static const struct member traceable_chan[] = {
    EMBEDDED("maybeTraceablePtr", "$0"),
};

/* Returns a new struct type with these members, whose $0 is a type, or TYPE_NONE if memory runs
 * out. */
static uint32_t wrap_in_struct(struct runtime_types *runtime, const char *name,
                               const struct member *members, size_t count, uint32_t type)
{
    const uint32_t wrapped =
        build_struct(runtime, ROLE_INTERNAL, TYPE_NONE, build_intern(runtime, bytes_of(name)));
    return build_fill(runtime, wrapped, members, count, &type) ? wrapped : TYPE_NONE;
}

/* Returns the type of a pointer in a sudog: from 1.26 on it has two words, because it may be hidden
 * from the collector. */
static uint32_t sudog_pointer(struct runtime_types *runtime, uint32_t pointer)
{
    return runtime->release.minor < 26 || pointer == TYPE_NONE
               ? pointer
               : wrap_in_struct(runtime, "runtime.maybeTraceablePtr", traceable_ptr,
                                sizeof(traceable_ptr) / sizeof(*traceable_ptr), pointer);
}

/* Like sudog_pointer(), for a pointer to a channel, which 1.26 wraps in one more struct. */
static uint32_t sudog_channel_pointer(struct runtime_types *runtime, uint32_t pointer)
{
    const uint32_t inner = sudog_pointer(runtime, pointer);
    return runtime->release.minor < 26 || inner == TYPE_NONE
               ? inner
               : wrap_in_struct(runtime, "runtime.maybeTraceableChan", traceable_chan,
                                sizeof(traceable_chan) / sizeof(*traceable_chan), inner);
}

bool chans_sudog(struct runtime_types *runtime, uint32_t sudog, uint32_t elem, uint32_t header)
{
    const uint32_t to_elem = sudog_pointer(runtime, build_pointer(runtime, elem));
    const uint32_t to_channel = sudog_channel_pointer(runtime, build_pointer(runtime, header));
    return to_elem != TYPE_NONE && to_channel != TYPE_NONE &&
           BUILD_FILL(runtime, sudog, sudog_members, sudog, to_elem, to_channel);
}

/* Returns the name of a channel's header, which is that of the channel with both directions.
 * *ret_unnamed: all channels of elem share the header. */
static uint32_t header_name(struct runtime_types *runtime, uint32_t channel, uint32_t elem,
                            bool *ret_unnamed)
{
    const bool receive = build_has_prefix(runtime, channel, "<-chan ");
    const bool send = build_has_prefix(runtime, channel, "chan<- ");
    *ret_unnamed = receive || send || build_has_prefix(runtime, channel, "chan ");
    if (!receive && !send)
        return runtime->types->list.data[channel].name;
    return build_channel_name(runtime, elem);
}

/* The header's type depends on the element type: it has pointers to the buffer and, through the
 * queues, to the sudogs of waiting goroutines, which point to an element. */
uint32_t chans_header(struct runtime_types *runtime, uint32_t channel)
{
    struct types *types = runtime->types;
    const uint32_t elem = types->list.data[channel].elem;
    const uint64_t word = types->pointer_size;
    bool unnamed;
    const uint32_t name = header_name(runtime, channel, elem, &unnamed);
    uint32_t header = unnamed ? build_find_derived(runtime, TYPE_CHAN, elem, 0) : TYPE_NONE;
    if (header != TYPE_NONE)
        return header;
    header = build_struct(runtime, ROLE_CHAN, channel, name);
    const uint32_t sudog = build_struct(runtime, ROLE_INTERNAL, TYPE_NONE,
                                        build_name(runtime, "sudog", elem, TYPE_NONE));
    const uint32_t queue = build_struct(runtime, ROLE_INTERNAL, TYPE_NONE,
                                        build_name(runtime, "waitq", elem, TYPE_NONE));
    if (header == TYPE_NONE || sudog == TYPE_NONE || queue == TYPE_NONE ||
        !chans_sudog(runtime, sudog, elem, header) || !BUILD_FILL(runtime, queue, waitq, sudog))
        return TYPE_NONE;
    /* The word before buf is dataqsiz. */
    const uint32_t buffer = build_target(runtime, TARGET_COUNTED, elem, TYPE_NONE, 0 - word);
    if (!BUILD_FILL(runtime, header, hchan, buffer, queue))
        return TYPE_NONE;
    types->list.data[header].may_be_noscan = true;
    if (unnamed)
        build_note_derived(runtime, TYPE_CHAN, elem, 0, header);
    return header;
}

/* ---- other structures ---- */

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
