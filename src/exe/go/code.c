/* code; see code.h. */
#include "exe/go/code.h"

#include "base/bisect.h"
#include "base/bytes.h"
#include "base/port.h"
#include "base/scope.h"

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

/* Appends the part that begins at start, with the current values of the tables. */
static bool code_put_part(struct code *code, const struct pclntab_parts *tables, uint64_t start)
{
    const int64_t file = tables[FILES].value, line = tables[LINES].value,
                  node = tables[NODES].value;
    const struct code_part part = {
        .start = (uint32_t)start,
        .line = line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0,
        .file = file >= 0 && file <= INT32_MAX ? (int32_t)file : -1,
        .node = node >= 0 && node <= INT32_MAX ? (int32_t)node : -1,
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
            end = tables[i].end < end ? tables[i].end : end;
        }
        if (end <= start || end - entry > UINT32_MAX)
            return NULL; /* damaged */
        TRY_MEMORY(code_put_part(code, tables, start - entry));
        start = end;
    }
}

/* Orders parts by line, file and node. compare_by_line() puts equal parts in the order of the
 * code. */
static int code_compare_parts(const struct code_part *one, const struct code_part *other)
{
    if (one->line != other->line)
        return one->line < other->line ? -1 : 1;
    if (one->file != other->file)
        return one->file < other->file ? -1 : 1;
    return one->node < other->node ? -1 : one->node > other->node;
}

static int compare_by_line(const void *a, const void *b, void *context)
{
    const struct code_part *parts = context;
    const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    const int order = code_compare_parts(&parts[one], &parts[other]);
    return order != 0 ? order : one < other ? -1 : one > other;
}

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
    const uint32_t tree = code_table_of(pclntab, function.funcdata, function.funcdata_count,
                                        FUNCDATA_INL_TREE),
                   nodes = code_table_of(pclntab, function.pcdata, function.pcdata_count,
                                         PCDATA_INL_TREE_INDEX);
    const bool has_tree =
        tree != UINT32_MAX && nodes != UINT32_MAX && nodes != 0 && moduledata->gofunc != 0;
    if (!pclntab_parts_begin(pclntab, function.pcfile, index, *left, &tables[FILES]) ||
        !pclntab_parts_begin(pclntab, function.pcln, index, *left, &tables[LINES]))
        return NULL;
    tables[NODES] = (struct pclntab_parts){.value = -1};
    const bool all = has_tree && pclntab_parts_begin(pclntab, nodes, index, *left, &tables[NODES]);
    code->tree = all ? moduledata->gofunc + tree : 0;
    TRY(code_read_parts(code, tables, all ? TABLES : NODES));
    for (unsigned i = 0; i < (all ? TABLES : NODES); i++) {
        const uint64_t read = (uint64_t)(tables[i].cursor.at - tables[i].start);
        *left -= read < *left ? read : *left;
    }
    return sort_by_line(code);
}

void code_deinit(struct code *code)
{
    free(code->parts.data);
    free(code->by_line.data);
}

/* ---- queries ---- */

const struct code_part *code_at(const struct code *code, uint32_t offset)
{
    size_t after;
    BISECT(after, code->parts.count, code->parts.data[after].start <= offset);
    return after > 0 ? &code->parts.data[after - 1] : NULL;
}

bool code_inlined(const struct code *code, int32_t node, struct inlined_call *ret)
{
    const struct pclntab *pclntab = code->pclntab;
    const bool is_new = pclntab_has_start_lines(pclntab);
    const unsigned size = is_new ? 16 : 20, name = is_new ? 4 : 12, caller = is_new ? 8 : 16;
    const uint8_t *at = code->tree != 0 && node >= 0
                            ? image_at(pclntab->image, code->tree + (uint64_t)node * size, size)
                            : NULL;
    if (!at)
        return false;
    *ret = (struct inlined_call){
        .function = pclntab_name_at(pclntab, image_u32(pclntab->image, at + name)),
        .start_line = is_new ? image_u32(pclntab->image, at + 12) : 0,
        .id = at[is_new ? 0 : 2],
        .caller = image_u32(pclntab->image, at + caller),
    };
    return true;
}
