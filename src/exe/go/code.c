/*
 * code: what the tables of a function's code say, part by part: file, line, and inlined function;
 * and which calls its instructions make; see code.h. A part is consecutive code for which no table
 * changes. Calls are found without decoding all instructions: any byte that looks like a call to
 * the start of a function counts. The second part of the file is the table of functions whose calls
 * are evidence of types (runtime.newobject takes a type).
 */
#include "exe/go/code.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/elf_format.h"
#include "base/error.h"
#include "base/port.h"

/* ==== files, lines and inlined functions ==== */

/* Constants of internal/abi/symtab.go, the same since Go 1.16. */
enum { PCDATA_INL_TREE_INDEX = 2, FUNCDATA_INL_TREE = 3 };

enum { FILES, LINES, NODES, TABLES };

/* ---- reading ---- */

/* Returns an entry, of 32 bits, of a function's list of tables, or UINT32_MAX if the list is
 * shorter. */
static uint32_t code_table_of(const struct pclntab *pclntab, const uint8_t *list, uint32_t count,
                              uint32_t index)
{
    return index < count ? image_u32(pclntab->image, list + 4 * (size_t)index) : UINT32_MAX;
}

/* Returns the value of a table as it is stored: -1 for one that is out of range. */
static int32_t index_in_table(int64_t value)
{
    return value >= 0 && value <= INT32_MAX ? (int32_t)value : -1;
}

/* Appends the part that begins at start, with the current values of the tables. Returns false if
 * memory runs out. */
static bool code_put_part(struct code *code, const struct pclntab_parts *tables, uint64_t start)
{
    const int64_t line = tables[LINES].value;
    const struct code_part part = {
        .start = (uint32_t)start,
        .line = line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0,
        .file = index_in_table(tables[FILES].value),
        .node = index_in_table(tables[NODES].value),
    };
    return vector_push(&code->parts, part);
}

/* Reads the tables side by side: a part ends where any of them changes its value. A function
 * without an inline tree has no third table. */
static struct g2h_error *code_read_parts(struct code *code, struct pclntab_parts *tables,
                                         unsigned count)
{
    const uint64_t entry = pclntab_entry(code->pclntab, code->index);
    for (uint64_t start = entry;;) {
        uint64_t end = UINT64_MAX;
        for (unsigned i = 0; i < count; i++) {
            if (tables[i].end == start && !pclntab_parts_next(&tables[i]))
                return NULL; /* all of them end here */
            end = MIN(tables[i].end, end);
        }
        if (end <= start || end - entry > UINT32_MAX)
            return NULL;                                 /* damaged */
        assert(code->parts.count == 0 || start > entry); /* parts ascend */
        TRY_MEMORY(code_put_part(code, tables, start - entry));
        start = end;
    }
}

/* Orders parts by line, file and node. compare_by_line() puts equal parts in the order of the
 * code. */
static int code_compare_parts(const struct code_part *one, const struct code_part *other)
{
    if (one->line != other->line)
        return COMPARE(one->line, other->line);
    if (one->file != other->file)
        return COMPARE(one->file, other->file);
    return COMPARE(one->node, other->node);
}

/* Orders parts, given by their indexes, by line, file and node, and equal ones as in the code. */
static int compare_by_line(const void *a, const void *b, void *context)
{
    const struct code_part *parts = context;
    const uint32_t one = *(const uint32_t *)a;
    const uint32_t other = *(const uint32_t *)b;
    const int order = code_compare_parts(&parts[one], &parts[other]);
    return order != 0 ? order : (one > other) - (one < other);
}

/* Lists the parts by line, file and node; of equal parts only the first in the code is kept. */
static struct g2h_error *sort_by_line(struct code *code)
{
    const struct code_part *parts = code->parts.data;
    size_t kept = 0;
    for (uint32_t i = 0; i < code->parts.count; i++)
        TRY_MEMORY(vector_push(&code->by_line, i));
    uint32_t *sorted = code->by_line.data;
    if (code->parts.count > 0)
        qsort_r(sorted, code->by_line.count, sizeof(*sorted), compare_by_line, not_const(parts));
    for (size_t i = 0; i < code->by_line.count; i++)
        if (kept == 0 || code_compare_parts(&parts[sorted[kept - 1]], &parts[sorted[i]]) != 0)
            sorted[kept++] = sorted[i];
    code->by_line.count = kept;
    return NULL;
}

/* Finds the function's tree of inlined calls, and the table that says which node of it each
 * instruction has; both are 0 if it has none. */
void code_find_tree(struct code *code, const struct pclntab_function *function,
                    const struct moduledata *moduledata, uint32_t *ret_nodes)
{
    const uint32_t tree = code_table_of(code->pclntab, function->funcdata, function->funcdata_count,
                                        FUNCDATA_INL_TREE),
                   nodes = code_table_of(code->pclntab, function->pcdata, function->pcdata_count,
                                         PCDATA_INL_TREE_INDEX);
    const bool has_tree =
        tree != UINT32_MAX && nodes != UINT32_MAX && nodes != 0 && moduledata->gofunc != 0;
    code->tree = has_tree ? moduledata->gofunc + tree : 0;
    *ret_nodes = has_tree ? nodes : 0;
}

/* Reads the lines and the inlined calls of a function. Go's tables of a function have the file, the
 * line and the inlined call (a node of the inline tree) by program counter; a function without
 * inlined calls has no tree. *left is lowered by the bytes read. */
struct g2h_error *code_read(struct code *code, const struct pclntab *pclntab,
                            const struct moduledata *moduledata, uint64_t index, uint64_t *left)
{
    struct pclntab_function function;
    struct pclntab_parts tables[TABLES];
    *code = (struct code){.pclntab = pclntab, .index = index};
    if (!pclntab_function(pclntab, index, &function))
        return NULL;
    code->start_line = function.start_line;
    code->id = function.id;
    uint32_t nodes;
    code_find_tree(code, &function, moduledata, &nodes);
    if (!pclntab_parts_begin(pclntab, function.pcfile, index, *left, &tables[FILES]) ||
        !pclntab_parts_begin(pclntab, function.pcln, index, *left, &tables[LINES]))
        return NULL;
    tables[NODES] = (struct pclntab_parts){.value = -1};
    const bool all =
        nodes != 0 && pclntab_parts_begin(pclntab, nodes, index, *left, &tables[NODES]);
    code->tree = all ? code->tree : 0;
    const unsigned count = all ? TABLES : NODES; /* NODES is the last one */
    TRY(code_read_parts(code, tables, count));
    for (unsigned i = 0; i < count; i++) {
        const uint64_t read = as_size(tables[i].cursor.at - tables[i].start);
        *left -= MIN(read, *left);
    }
    return sort_by_line(code);
}

void code_deinit(struct code *code)
{
    free(code->parts.data);
    free(code->by_line.data);
}

/* ---- queries ---- */

/* Returns the part of the code that contains an offset, or NULL if there is none. */
const struct code_part *code_at(const struct code *code, uint32_t offset)
{
    size_t after;
    BISECT(after, code->parts.count, code->parts.data[after].start <= offset);
    return after > 0 ? &code->parts.data[after - 1] : NULL;
}

/* Reads a node of the inline tree, an entry of runtime.inlinedCall; false if there is none. Since
 * Go 1.20 (runtime/symtabinl.go) it has funcID and three bytes of padding, then nameOff, parentPc
 * and startLine, 4 bytes each; before (runtime/symtab.go) parent, 2 bytes, funcID and a byte of
 * padding, then file, line, func_ and parentPc, 4 bytes each. */
bool code_inlined(const struct code *code, int32_t node, struct inlined_call *ret)
{
    const struct pclntab *pclntab = code->pclntab;
    const bool is_new = pclntab_has_start_lines(pclntab);
    const struct image *image = pclntab->image;
    enum { FUNC_ID, NAME_OFF = 4, PARENT_PC = 8, START_LINE = 12, SIZE = 16 };
    enum { OLD_FUNC_ID = 2, OLD_FUNC = 12, OLD_PARENT_PC = 16, OLD_SIZE = 20 };
    const unsigned size = is_new ? SIZE : OLD_SIZE;
    if (code->tree == 0 || node < 0)
        return false;
    const uint8_t *at = image_at(image, code->tree + (uint64_t)node * size, size);
    if (!at)
        return false;
    if (is_new)
        *ret = (struct inlined_call){.id = at[FUNC_ID],
                                     .function =
                                         pclntab_name_at(pclntab, image_u32(image, at + NAME_OFF)),
                                     .caller = image_u32(image, at + PARENT_PC),
                                     .start_line = image_u32(image, at + START_LINE)};
    else
        *ret = (struct inlined_call){.id = at[OLD_FUNC_ID],
                                     .function =
                                         pclntab_name_at(pclntab, image_u32(image, at + OLD_FUNC)),
                                     .caller = image_u32(image, at + OLD_PARENT_PC)};
    return true;
}

/* ---- calls ---- */

void call_sites_init(struct call_sites *sites, const struct pclntab *pclntab,
                     const struct moduledata *moduledata)
{
    *sites = (struct call_sites){.pclntab = pclntab, .text = moduledata->minpc};
}

void call_sites_deinit(struct call_sites *sites)
{
    map_deinit(&sites->allocators);
}

/* ---- calls: instructions ---- */

/* The code of a function that is being read. */
struct call_sites_code_bytes {
    const struct image *image;
    const uint8_t *data;
    uint64_t size, start; /* start: the function's distance from the first function */
    uint64_t at;
};

/* Returns the code of a function, and lowers *left by its size. It is empty if the file does not
 * have it, or it is larger than *left. */
static struct call_sites_code_bytes code_bytes_of(const struct call_sites *sites, uint64_t function,
                                                  uint64_t *left)
{
    const uint64_t start = pclntab_entry(sites->pclntab, function),
                   size = pclntab_entry(sites->pclntab, function + 1) - start;
    struct call_sites_code_bytes code = {
        .image = sites->pclntab->image, .start = start, .size = size};
    if (sites->text != 0 && size <= *left && size <= UINT32_MAX)
        code.data = image_at(code.image, sites->text + start, size);
    if (!code.data)
        code.size = 0;
    *left -= code.size;
    return code;
}

/* Finds the next byte E8, which begins a call with a distance of 32 bits. It is not known where
 * instructions begin, so the byte may belong to another instruction; but then its distance rarely
 * leads to the start of a function. Returns false at the end of the code. */
static bool next_call_x86(struct call_sites_code_bytes *code, uint64_t *ret_target)
{
    enum { SIZE = 5, CALL = 0xe8 };
    for (; code->at + SIZE <= code->size; code->at++) {
        const uint8_t *at = code->data + code->at;
        if (*at != CALL)
            continue;
        code->at += SIZE;
        *ret_target =
            code->start + code->at + (uint64_t)(int64_t)(int32_t)image_u32(code->image, at + 1);
        code->at -= SIZE - 1; /* it may not have been a call */
        return true;
    }
    return false;
}

/* Finds the next BL instruction, whose distance has 26 bits and counts words. Returns false at the
 * end of the code. */
static bool next_call_arm64(struct call_sites_code_bytes *code, uint64_t *ret_target)
{
    enum { SIZE = 4 };
    for (; code->at + SIZE <= code->size; code->at += SIZE) {
        const uint32_t word = image_u32(code->image, code->data + code->at);
        if (word >> 26 != 0x25) /* BL */
            continue;
        /* Shifts left and back: sign-extends the 26 bits, and multiplies them by 4. */
        *ret_target = code->start + code->at + (uint64_t)((int64_t)(int32_t)(word << 6) >> 4);
        code->at += SIZE;
        return true;
    }
    return false;
}

/* Finds the next call in a function's code: the callee, and the return address as a distance from
 * the start of the code. Calls that do not lead to the start of a function are passed over. Returns
 * false at the end, and for machines other than amd64, 386 and arm64. */
static bool next_call(const struct call_sites *sites, struct call_sites_code_bytes *code,
                      uint64_t *ret_callee, uint32_t *ret_return)
{
    const bool is_arm = code->image->machine == EM_AARCH64;
    uint64_t target;
    if (!is_arm && code->image->machine != EM_X86_64 && code->image->machine != EM_386)
        return false;
    while (is_arm ? next_call_arm64(code, &target) : next_call_x86(code, &target)) {
        *ret_return = (uint32_t)(is_arm ? code->at : code->at + 4);
        if (pclntab_find(sites->pclntab, target, ret_callee) &&
            pclntab_entry(sites->pclntab, *ret_callee) == target)
            return true;
    }
    return false;
}

/* Appends the calls that a function makes. Calls through registers are not found: their callee is
 * not known. *left is the number of bytes that may still be read, from which those read are
 * subtracted. */
struct g2h_error *call_sites_find(struct call_sites *sites, uint64_t function, uint64_t *left,
                                  struct call_site_list *ret)
{
    struct call_sites_code_bytes code = code_bytes_of(sites, function, left);
    uint64_t callee;
    struct call_site site;
    while (next_call(sites, &code, &callee, &site.behind)) {
        site.callee = (uint32_t)callee;
        TRY_MEMORY(vector_push(&ret->sites, site));
    }
    assert(
        IS_ORDERED(i, ret->sites.count, ret->sites.data[i - 1].behind < ret->sites.data[i].behind));
    return NULL;
}

/* ---- calls: allocators ---- */

/* Returns whether a function is runtime.mallocgc or one of its variants. */
static bool is_mallocgc(const struct call_sites *sites, uint64_t function)
{
    return bytes_begin(pclntab_name(sites->pclntab, function), "runtime.mallocgc");
}

/* Returns whether the code of a function calls runtime.mallocgc. */
static bool calls_mallocgc(const struct call_sites *sites, uint64_t function, uint64_t *left)
{
    struct call_sites_code_bytes code = code_bytes_of(sites, function, left);
    uint64_t callee;
    uint32_t behind;
    while (next_call(sites, &code, &callee, &behind))
        if (is_mallocgc(sites, callee))
            return true;
    return false;
}

/* Returns whether a function belongs to the runtime, by its file: its name may be in another
 * package, such as reflect. */
static bool is_of_runtime(const struct call_sites *sites, uint64_t function, uint64_t *left)
{
    struct g2h_bytes file;
    uint32_t line;
    return pclntab_line(sites->pclntab, function, pclntab_entry(sites->pclntab, function), left,
                        &file, &line) &&
           pclntab_is_runtime_file(file);
}

/* Returns how a function allocates: it is runtime.mallocgc, or it is of the runtime and calls that;
 * others do not. */
static enum call_sites_allocator find_allocator(const struct call_sites *sites, uint64_t function,
                                                uint64_t *left)
{
    if (is_mallocgc(sites, function))
        return ALLOCATES_ITSELF;
    if (!is_of_runtime(sites, function, left))
        return ALLOCATES_NOT;
    return calls_mallocgc(sites, function, left) ? ALLOCATES_BY_CALL : ALLOCATES_NOT;
}

/* Gets how a function allocates. The answer is cached: few functions allocate, and calls of them
 * are many. *left is the number of bytes that may still be read, from which those read are
 * subtracted. */
struct g2h_error *call_sites_allocator(struct call_sites *sites, uint64_t function, uint64_t *left,
                                       enum call_sites_allocator *ret)
{
    uint32_t known = map_get(&sites->allocators, function);
    if (known == MAP_NONE) {
        const enum call_sites_allocator found = find_allocator(sites, function, left);
        TRY_MEMORY(map_put(&sites->allocators, function, found, &known));
    }
    *ret = (enum call_sites_allocator)known;
    return NULL;
}

/* ---- addresses ---- */

/* The code of a function. */
struct constants_code_bytes {
    const struct image *image;
    const uint8_t *data;
    uint64_t size, address;
};

/* Finds the instructions LEA register, [RIP + distance], by which Go's code loads all addresses. It
 * is not known where instructions begin, so some bytes may belong to another instruction; but then
 * they rarely lead to the start of a function or a type. Returns false if memory runs out. */
static bool find_addresses(const struct constants_code_bytes *code, address_vector *ret)
{
    enum { SIZE = 7, LEA = 0x8d, REX_W = 0x48, REX_R = 0x04, MODRM = 0xc7, RIP = 0x05 };
    const uint8_t *at = code->data + 1;
    const uint8_t *const end = code->data + code->size;
    while (end - at >= SIZE - 1 && (at = memchr(at, LEA, as_size(end - at - (SIZE - 2)))) != NULL) {
        if ((at[-1] & ~REX_R) == REX_W && (at[1] & MODRM) == RIP) {
            const uint64_t behind = code->address + as_size(at - 1 - code->data) + SIZE,
                           distance = (uint64_t)(int64_t)(int32_t)image_u32(code->image, at + 2);
            if (!vector_push(ret, behind + distance))
                return false;
        }
        at++;
    }
    return true;
}

/* Appends the addresses that a function's code loads. Only the code of amd64 is searched. The bytes
 * of code are paid from *left; if it is used up, nothing is found. Returns false if memory runs
 * out. */
bool constants_find(const struct pclntab *pclntab, const struct moduledata *moduledata,
                    uint64_t function, uint64_t *left, address_vector *ret)
{
    const struct image *image = pclntab->image;
    const uint64_t start = pclntab_entry(pclntab, function),
                   size = pclntab_entry(pclntab, function + 1) - start;
    if (image->machine != EM_X86_64 || moduledata->minpc == 0 || size > *left)
        return true;
    const uint64_t address = moduledata->minpc + start;
    const uint8_t *code = image_at(image, address, size);
    if (!code)
        return true;
    *left -= size;
    return find_addresses(&(struct constants_code_bytes){image, code, size, address}, ret);
}

/* ==== the evidence of a call about its arguments and its result, by the name of the callee ==== */

#define RESULT CALLEE_RESULT

/* From names, after "runtime.", to rules. A name that ends with * is a prefix. In Go 1.18 and 1.19,
 * growslice takes the type first. */
static const struct {
    const char *name;
    struct callee_rule rule;
} rules[] = {
    {"newobject", {0, {{CALLEE_ONE, RESULT}}}},
    {"mallocgc*", {1, {{CALLEE_ONE, RESULT}}}},
    {"makeslicecopy", {0, {{CALLEE_MANY, RESULT}, {CALLEE_MANY, 3}}}},
    {"makeslice*", {0, {{CALLEE_MANY, RESULT}}}},
    {"growslice", {0, {{CALLEE_MANY, RESULT}, {CALLEE_MANY, 1}}}},
    {"growslice*", {4, {{CALLEE_MANY, RESULT}, {CALLEE_MANY, 0}}}},
    {"moveSlice*", {0, {{CALLEE_MANY, RESULT}, {CALLEE_MANY, 1}}}},
    {"makechan*", {0, {{CALLEE_SELF, RESULT}}}},
    {"makemap", {0, {{CALLEE_SELF, RESULT}, {CALLEE_SELF, 2}}}}, /* or nil */
    {"makemap64", {0, {{CALLEE_SELF, RESULT}}}},
    {"mapassign*", {0, {{CALLEE_SELF, 1}, {CALLEE_ELEMENT, RESULT}}}},
    {"mapaccess*", {0, {{CALLEE_SELF, 1}, {CALLEE_ELEMENT, RESULT}}}},
    {"mapdelete*", {0, {{CALLEE_SELF, 1}}}},
    {"mapiterinit", {0, {{CALLEE_SELF, 1}}}},
    {"mapIterStart", {0, {{CALLEE_SELF, 1}}}},
    {"mapclear", {0, {{CALLEE_SELF, 1}}}},
    {"convT", {0, {{CALLEE_ONE, 1}, {CALLEE_ONE, RESULT}}}},
    {"convTnoptr", {0, {{CALLEE_ONE, 1}, {CALLEE_ONE, RESULT}}}},
    {"typedmemmove", {0, {{CALLEE_ONE, 1}, {CALLEE_ONE, 2}}}},
    {"typedmemclr", {0, {{CALLEE_ONE, 1}}}},
    {"typedslicecopy", {0, {{CALLEE_MANY, 1}, {CALLEE_MANY, 3}}}},
    {"wbMove", {0, {{CALLEE_ONE, 1}, {CALLEE_ONE, 2}}}},
    {"wbZero", {0, {{CALLEE_ONE, 1}}}},
};

enum { RULES = COUNT_OF(rules), GROWSLICE_OLD = 4 };

/* Returns whether a function's name is that of a rule, or begins with it if the rule ends with
 * *. */
static bool matches_pattern(const char *pattern, struct g2h_bytes name)
{
    const size_t size = strlen(pattern);
    return pattern[size - 1] == '*'
               ? name.size >= size - 1 && memcmp(pattern, name.data, size - 1) == 0
               : bytes_are(name, pattern);
}

/* Returns the number of the rule for a function of the runtime. type_is_first: the release's
 * growslice takes the type first, as the rule GROWSLICE_OLD says. */
static uint8_t rule_of(struct g2h_bytes name, bool type_is_first)
{
    static const char barrier[] = "gcWriteBarrier";
    if (bytes_begin(name, barrier))
        return CALLEE_KEEPS_REGISTERS;
    for (unsigned i = 0; i < RULES; i++)
        if (matches_pattern(rules[i].name, name) && (i != GROWSLICE_OLD || type_is_first))
            return (uint8_t)(CALLEE_RULES + i);
    return CALLEE_USUAL;
}

/* Returns whether a name is that of a method, not of a function within one:
 * "net/http.(*Server).Serve", "main.(*cache[...]).add", "net/url.Values.Get". A value's method
 * cannot be distinguished from a function in a function by its name alone: types decide. */
static bool is_method(struct g2h_bytes name)
{
    const uint8_t *slash = memrchr(name.data, '/', name.size);
    const uint8_t *star = bytes_find(name, ".(*");
    const uint8_t *end = name.data + name.size;
    const uint8_t *from = slash && !star ? slash : name.data;
    if (star) {
        const uint8_t *close = bytes_find(bytes_between(star, end), ").");
        return close && !memchr(close + 2, '.', as_size(end - close - 2)) &&
               !memchr(close + 2, '-', as_size(end - close - 2));
    }
    unsigned dots = 0;
    for (; from < end; from++)
        dots += *from == '.';
    return dots == 2 && !memchr(name.data, '[', name.size) && end[-1] != '.' &&
           !memchr(name.data, '-', name.size);
}

/* Gets what a call of each function shows. Classifies each function by its name alone, once, since
 * calls are many. */
struct g2h_error *callees_find(const struct pclntab *pclntab, uint8_t **ret)
{
    static const char runtime[] = "runtime.";
    const bool type_is_first = !pclntab_has_start_lines(pclntab); /* before Go 1.20 */
    uint8_t *numbers = calloc(count_and_end(pclntab->count), 1);
    TRY_MEMORY(numbers);
    for (uint64_t i = 0; i < pclntab->count; i++) {
        struct g2h_bytes name = pclntab_name(pclntab, i);
        if (name.size == 0)
            continue;
        if (bytes_are(name, "sync.(*Pool).Put"))
            numbers[i] = CALLEE_POOL_PUT;
        else if (bytes_are(name, "sync/atomic.StorePointer") ||
                 bytes_are(name, "sync/atomic.SwapPointer"))
            numbers[i] = CALLEE_STORE;
        else if (bytes_are(name, "sync/atomic.CompareAndSwapPointer"))
            numbers[i] = CALLEE_STORE_IF;
        else if (is_method(name))
            numbers[i] = bytes_contain(name, "]).") ? CALLEE_GENERIC_METHOD : CALLEE_METHOD;
        else if (bytes_begin(name, runtime)) {
            name.data += sizeof(runtime) - 1;
            name.size -= sizeof(runtime) - 1;
            numbers[i] = rule_of(name, type_is_first);
        }
    }
    *ret = numbers;
    return NULL;
}

/* Returns the rule with a number, or NULL. */
const struct callee_rule *callees_rule(uint8_t number)
{
    return number >= CALLEE_RULES ? &rules[number - CALLEE_RULES].rule : NULL;
}
