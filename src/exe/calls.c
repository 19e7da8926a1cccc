/* calls: the functions at an address of code, of which all but the outermost are inlined; and the
 * function that a wrapper calls. See exe.h. */
#include "base/bytes.h"
#include "base/scope.h"
#include "exe/exe.h"
#include "exe/go/code.h"

/* ---- what is inlined at an address ---- */

/* Go 1.17 calls the closures that it makes of go statements "main.run·dwrap·1". Later ones have an
 * id. */
static bool calls_is_wrapper(const struct pclntab *pclntab, uint8_t wrapper, uint8_t id,
                             struct g2h_bytes function)
{
    return pclntab->record_size > 0 ? id == wrapper && wrapper > 0
                                    : bytes_contain(function, "·dwrap·");
}

/* The tables of a function. */
struct calls_tables {
    struct code code; /* only what code_inlined() reads */
    struct pclntab_function function;
    uint32_t nodes; /* the table of nodes of the inline tree; 0: none */
};

static void calls_open(const struct pclntab *pclntab, const struct moduledata *module,
                       uint64_t index, struct calls_tables *ret)
{
    *ret = (struct calls_tables){.code = {.pclntab = pclntab, .index = index}};
    if (pclntab_function(pclntab, index, &ret->function))
        code_find_tree(&ret->code, &ret->function, module, &ret->nodes);
}

/* Returns the node of the inline tree at an offset of the code, or -1. */
static int32_t calls_node_at(const struct calls_tables *tables, uint64_t offset, uint64_t *left)
{
    int64_t node = -1;
    if (tables->nodes == 0 || *left == 0 ||
        !pclntab_value(tables->code.pclntab, tables->nodes, tables->code.index, offset, left,
                       &node))
        return -1;
    return node >= 0 && node <= INT32_MAX ? (int32_t)node : -1;
}

/* A node's caller is at an offset of the code that has the line of the call. In a damaged
 * executable callers may be circular, which the limit ends. */
size_t exe_calls(const struct g2h_exe *exe, uint64_t address, uint64_t *left,
                 struct exe_call ret[EXE_MOST_CALLS])
{
    const struct pclntab *pclntab = exe_pclntab(exe);
    struct calls_tables tables;
    uint64_t index, offset;
    size_t count = 0;
    if (!exe_text_offset(exe, address, &offset) || !pclntab_find(pclntab, offset, &index))
        return 0;
    const uint64_t entry = pclntab_entry(pclntab, index);
    calls_open(pclntab, exe_module(exe), index, &tables);
    while (count < EXE_MOST_CALLS) {
        struct exe_call *call = &ret[count++];
        struct inlined_call inlined;
        const bool is_inlined =
            code_inlined(&tables.code, calls_node_at(&tables, offset, left), &inlined);
        *call = (struct exe_call){.function =
                                      is_inlined ? inlined.function : pclntab_name(pclntab, index)};
        call->is_wrapper =
            calls_is_wrapper(pclntab, exe_wrapper_id(exe),
                             is_inlined ? inlined.id : tables.function.id, call->function);
        if (*left == 0 || !pclntab_line(pclntab, index, offset, left, &call->file, &call->line))
            call->line = 0;
        if (!is_inlined)
            break;
        offset = entry + inlined.caller;
    }
    return count;
}

/* ---- what a wrapper calls ---- */

/* Finds the outermost function that is inlined in a function's code, first in its order. */
static bool calls_find_inlined(const struct code *code, struct g2h_bytes *ret)
{
    for (size_t i = 0; i < code->parts.count; i++) {
        const struct code_part *part = &code->parts.data[i];
        struct inlined_call inlined;
        unsigned depth = 0;
        while (part && depth < EXE_MOST_CALLS && code_inlined(code, part->node, &inlined)) {
            *ret = inlined.function;
            part = code_at(code, inlined.caller);
            depth++;
        }
        if (depth > 0 && !bytes_begin(*ret, "runtime."))
            return true;
    }
    return false;
}

/* Finds the first function outside the runtime that a function calls. */
static struct g2h_error *calls_find_called(const struct g2h_exe *exe, uint64_t index,
                                           uint64_t *left, struct g2h_bytes *ret)
{
    struct call_sites sites;
    struct call_site_list list = {{0}};
    call_sites_init(&sites, exe_pclntab(exe), exe_module(exe));
    struct g2h_error *error = call_sites_find(&sites, index, left, &list);
    for (size_t i = 0; !error && ret->size == 0 && i < list.sites.count; i++) {
        const struct g2h_bytes callee = pclntab_name(exe_pclntab(exe), list.sites.data[i].callee);
        if (!bytes_begin(callee, "runtime."))
            *ret = callee;
    }
    free(list.sites.data);
    call_sites_deinit(&sites);
    return error;
}

struct g2h_error *exe_wrapped(const struct g2h_exe *exe, uint64_t address, uint64_t *left,
                              struct g2h_bytes *ret)
{
    const struct pclntab *pclntab = exe_pclntab(exe);
    struct pclntab_function function;
    _cleanup_(code_deinit) struct code code = {0};
    uint64_t index, offset;
    *ret = bytes_none;
    if (!exe_text_offset(exe, address, &offset) || !pclntab_find(pclntab, offset, &index) ||
        !pclntab_function(pclntab, index, &function) ||
        !calls_is_wrapper(pclntab, exe_wrapper_id(exe), function.id, pclntab_name(pclntab, index)))
        return NULL;
    TRY(code_read(&code, pclntab, exe_module(exe), index, left));
    if (calls_find_inlined(&code, ret))
        return NULL;
    *ret = bytes_none;
    return calls_find_called(exe, index, left, ret);
}
