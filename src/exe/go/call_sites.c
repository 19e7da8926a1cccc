/* call_sites; see call_sites.h. */
#include "exe/go/call_sites.h"

#include "base/bytes.h"
#include "base/elf_format.h"
#include "base/scope.h"

void call_sites_init(struct call_sites *sites, const struct pclntab *pclntab,
                     const struct moduledata *moduledata)
{
    *sites = (struct call_sites){.pclntab = pclntab, .text = moduledata->minpc};
}

void call_sites_deinit(struct call_sites *sites)
{
    map_deinit(&sites->allocators);
}

/* ---- instructions ---- */

/* The code of a function that is being read. */
struct call_sites_code_bytes {
    const struct image *image;
    const uint8_t *data;
    uint64_t size, start; /* start: the function's distance from the first function */
    uint64_t at;
};

static struct call_sites_code_bytes code_of(const struct call_sites *sites, uint64_t function,
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
 * leads to the start of a function. */
static bool next_x86(struct call_sites_code_bytes *code, uint64_t *ret_target)
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

/* Finds the next BL instruction, whose distance has 26 bits and counts words. */
static bool next_arm64(struct call_sites_code_bytes *code, uint64_t *ret_target)
{
    enum { SIZE = 4 };
    for (; code->at + SIZE <= code->size; code->at += SIZE) {
        const uint32_t word = image_u32(code->image, code->data + code->at);
        if (word >> 26 != 0x25)
            continue;
        *ret_target = code->start + code->at + (uint64_t)((int64_t)(int32_t)(word << 6) >> 4);
        code->at += SIZE;
        return true;
    }
    return false;
}

/* Finds the next call in a function's code: the callee, and the return address as a distance from
 * the start of the code. */
static bool next_call(const struct call_sites *sites, struct call_sites_code_bytes *code,
                      uint64_t *ret_callee, uint32_t *ret_return)
{
    const bool is_arm = code->image->machine == EM_AARCH64;
    uint64_t target;
    if (!is_arm && code->image->machine != EM_X86_64 && code->image->machine != EM_386)
        return false;
    while (is_arm ? next_arm64(code, &target) : next_x86(code, &target)) {
        *ret_return = (uint32_t)(is_arm ? code->at : code->at + 4);
        if (pclntab_find(sites->pclntab, target, ret_callee) &&
            pclntab_entry(sites->pclntab, *ret_callee) == target)
            return true;
    }
    return false;
}

struct g2h_error *call_sites_find(struct call_sites *sites, uint64_t function, uint64_t *left,
                                  struct call_site_list *ret)
{
    struct call_sites_code_bytes code = code_of(sites, function, left);
    uint64_t callee;
    struct call_site site;
    while (next_call(sites, &code, &callee, &site.behind)) {
        site.callee = (uint32_t)callee;
        TRY_MEMORY(vector_push(&ret->sites, site));
    }
    return NULL;
}

/* ---- allocators ---- */

static bool is_mallocgc(const struct call_sites *sites, uint64_t function)
{
    return bytes_begin(pclntab_name(sites->pclntab, function), "runtime.mallocgc");
}

static bool calls_mallocgc(const struct call_sites *sites, uint64_t function, uint64_t *left)
{
    struct call_sites_code_bytes code = code_of(sites, function, left);
    uint64_t callee;
    uint32_t behind;
    while (next_call(sites, &code, &callee, &behind))
        if (is_mallocgc(sites, callee))
            return true;
    return false;
}

/* Returns whether a function belongs to the runtime, by its file: its name may be in another
 * package, such as reflect. */
static bool call_sites_is_of_runtime(const struct call_sites *sites, uint64_t function,
                                     uint64_t *left)
{
    static const char directory[] = "runtime/";
    const size_t size = sizeof(directory) - 1;
    struct g2h_bytes file;
    uint32_t line;
    if (!pclntab_line(sites->pclntab, function, pclntab_entry(sites->pclntab, function), left,
                      &file, &line))
        return false;
    const uint64_t path = file.size - bytes_base_name(file).size;
    return path >= size && memcmp(file.data + path - size, directory, size) == 0;
}

struct g2h_error *call_sites_allocator(struct call_sites *sites, uint64_t function, uint64_t *left,
                                       enum call_sites_allocator *ret)
{
    uint32_t known = map_get(&sites->allocators, function);
    if (known == MAP_NONE) {
        const enum call_sites_allocator found = is_mallocgc(sites, function) ? ALLOCATES_ITSELF
                                                : call_sites_is_of_runtime(sites, function, left) &&
                                                        calls_mallocgc(sites, function, left)
                                                    ? ALLOCATES_BY_CALL
                                                    : ALLOCATES_NOT;
        TRY_MEMORY(map_put(&sites->allocators, function, found, &known));
    }
    *ret = (enum call_sites_allocator)known;
    return NULL;
}
