/*
 * chans: runtime.hchan, and runtime.sudog, which waits on one.
 *
 * Where the elements hold no pointers, header and buffer are one noscan object; where there is no
 * buffer, the header is noscan too, and buf is its own address.
 */
#include "types/structures.h"

#include <string.h>

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

/* $0 sudog, $1 a pointer to the element, $2 to the channel; from 1.26 on structs with them */
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
    FIELD("waitlink", "*runtime.sudog"), /* of a select: of another channel */
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

/* The pointer of a sudog, which from 1.26 on is two words: for the collector it may be off. */
static uint32_t traceable(struct runtime_types *runtime, uint32_t pointer)
{
    uint32_t name;
    if (runtime->release.minor < 26 || pointer == TYPE_NONE)
        return pointer;
    if (!types_intern(runtime->types, "runtime.maybeTraceablePtr", 25, &name)) {
        runtime->no_memory = true;
        return TYPE_NONE;
    }
    const uint32_t type = build_struct(runtime, ROLE_INTERNAL, TYPE_NONE, name);
    return BUILD_FILL(runtime, type, traceable_ptr, pointer) ? type : TYPE_NONE;
}

/* The same, once more wrapped. */
static uint32_t traceable_channel(struct runtime_types *runtime, uint32_t pointer)
{
    const uint32_t inner = traceable(runtime, pointer);
    uint32_t name;
    if (runtime->release.minor < 26 || inner == TYPE_NONE)
        return inner;
    if (!types_intern(runtime->types, "runtime.maybeTraceableChan", 26, &name)) {
        runtime->no_memory = true;
        return TYPE_NONE;
    }
    const uint32_t type = build_struct(runtime, ROLE_INTERNAL, TYPE_NONE, name);
    return BUILD_FILL(runtime, type, traceable_chan, inner) ? type : TYPE_NONE;
}

bool chans_sudog(struct runtime_types *runtime, uint32_t sudog, uint32_t elem, uint32_t header)
{
    const uint32_t to_elem = traceable(runtime, build_pointer(runtime, elem));
    const uint32_t to_channel = traceable_channel(runtime, build_pointer(runtime, header));
    return to_elem != TYPE_NONE && to_channel != TYPE_NONE &&
           BUILD_FILL(runtime, sudog, sudog_members, sudog, to_elem, to_channel);
}

/* The name of the header: a channel that may only be received from was made as any other. */
static uint32_t name_of(struct runtime_types *runtime, uint32_t channel, uint32_t elem,
                        bool *ret_unnamed)
{
    const bool receive = build_has_prefix(runtime, channel, "<-chan ");
    const bool send = build_has_prefix(runtime, channel, "chan<- ");
    *ret_unnamed = receive || send || build_has_prefix(runtime, channel, "chan ");
    if (!receive && !send)
        return runtime->types->list.data[channel].name;
    return build_channel_name(runtime, elem);
}

uint32_t chans_header(struct runtime_types *runtime, uint32_t channel)
{
    struct types *types = runtime->types;
    const uint32_t elem = types->list.data[channel].elem;
    const uint64_t word = types->pointer_size;
    bool unnamed;
    const uint32_t name = name_of(runtime, channel, elem, &unnamed);
    uint32_t header = unnamed ? build_made(runtime, TYPE_CHAN, elem, 0) : TYPE_NONE;
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
    /* dataqsiz is the word before buf. */
    const uint32_t buffer = build_target(runtime, TARGET_COUNTED, elem, TYPE_NONE, 0 - word);
    if (!BUILD_FILL(runtime, header, hchan, buffer, queue))
        return TYPE_NONE;
    types->list.data[header].may_be_noscan = true;
    if (unnamed)
        build_keep(runtime, TYPE_CHAN, elem, 0, header);
    return header;
}
