/*
 * built_by; see built_by.h.
 *
 * Obfuscators write "unknown" for the version, and a toolchain built from a checkout has "devel"
 * and a hash. The runtime is the same: the release follows from which of its functions the program
 * has, and if an obfuscator has renamed these too, the layouts and the names of its own types give
 * at least a lower bound.
 */
#include "exe/go/built_by.h"

#include <string.h>

#include "base/bytes.h"
#include "base/elf_format.h"
#include "base/release.h"
#include "exe/go/build_info.h"

/* ---- recorded in the file ---- */

/* Returns the Go string whose pointer and length are at an address; it is empty if the file does
 * not have it. */
static struct g2h_bytes string_at(const struct image *image, uint64_t address)
{
    const uint64_t word = image->is_64 ? 8 : 4;
    const uint8_t *at = image_at(image, address, 2 * word);
    if (!at)
        return bytes_none;
    const uint64_t size = image_word(image, at + word);
    const uint8_t *data = image_at(image, image_word(image, at), size);
    return data ? (struct g2h_bytes){data, size} : bytes_none;
}

/* Finds the version and the modules; each is empty if it is not found. Between Go 1.13 and 1.17 the
 * header of the build information has pointers to strings; before, only a variable of the runtime
 * has the version. */
static void read_build_info(const struct image *image, struct g2h_bytes *ret_version,
                            struct g2h_bytes *ret_modules)
{
    uint64_t address;
    const struct g2h_bytes info = build_info_find(image, &address);
    if (build_info_read(info, ret_version, ret_modules) || info.size == 0)
        return;
    const uint64_t word = info.data[14] == 4 ? 4 : 8;
    *ret_version = string_at(image, image_word(image, info.data + 16));
    *ret_modules = string_at(image, image_word(image, info.data + 16 + word));
}

/* Returns the path of the main module: "mod", a tab, the path, a tab and more on a line of the text
 * that debug.ReadBuildInfo() parses. */
static struct g2h_bytes main_module(struct g2h_bytes modules)
{
    static const char begin[] = "\nmod\t";
    const size_t size = sizeof(begin) - 1;
    const uint8_t *at = memmem(modules.data, (size_t)modules.size, begin, size);
    if (!at)
        return bytes_none;
    at += size;
    const uint8_t *tab = memchr(at, '\t', (size_t)(modules.data + modules.size - at));
    return tab ? (struct g2h_bytes){at, (uint64_t)(tab - at)} : bytes_none;
}

/* Returns the N of go1.N in a version, or 0 if it has none. */
static int minor_of(struct g2h_bytes version)
{
    char text[256];
    const size_t size = version.size < sizeof(text) ? (size_t)version.size : sizeof(text) - 1;
    if (size > 0)
        memcpy(text, version.data, size);
    text[size] = '\0';
    return go_release_parse(text).minor;
}

/* ---- inferred ---- */

/* Functions that every program has from a release on, on any machine, and none before it. They were
 * looked up in the sources of each release; none is small enough to be inlined away. */
static const struct {
    int minor;
    const char *name;
} functions[] = {
    {27, "runtime.addModuleItabs"},
    {26, "runtime.findGoroutineLeaks"},
    {25, "runtime.(*cleanupQueue).enqueue"},
    {24, "runtime.getGCMaskOnDemand"},
    {23, "runtime.(*timers).check"},
    {22, "runtime.mrandinit"},
    {21, "runtime.(*unwinder).next"},
    {20, "runtime.(*mspan).setUserArenaChunkToFault"},
    {19, "runtime.(*gcCPULimiterState).update"},
};

static int release_of_function(struct g2h_bytes name)
{
    if (bytes_begin(name, "runtime."))
        for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
            if (bytes_are(name, functions[i].name))
                return functions[i].minor;
    return 0;
}

static int release_of_functions(const struct pclntab *pclntab)
{
    int newest = 0;
    for (uint64_t i = 0; i < pclntab->count; i++) {
        const int minor = release_of_function(pclntab_name(pclntab, i));
        newest = minor > newest ? minor : newest;
    }
    return newest;
}

/* Returns whether the descriptors contain a string, which is part of a type's name. */
static bool has_type_text(const struct image *image, const struct moduledata *moduledata,
                          const char *text)
{
    const uint64_t size = moduledata->etypes - moduledata->types;
    const uint8_t *types = image_at(image, moduledata->types, size);
    return types && memmem(types, (size_t)size, text, strlen(text)) != NULL;
}

/* Finds the oldest and the newest release that have the structures of the executable. */
static void guess_by_structures(const struct image *image, const struct pclntab *pclntab,
                                const struct moduledata *moduledata, struct built_by *ret)
{
    enum { NEW_MODULEDATA = 27, SWISS_MAPS = 24, ANY = 1000 };
    const int by_table = pclntab_since(pclntab);
    ret->minor = moduledata->since > by_table ? moduledata->since : by_table;
    ret->newest =
        moduledata->since == 0 || moduledata->since == NEW_MODULEDATA ? ANY : NEW_MODULEDATA - 1;
    if (ret->newest == ANY)
        return;
    if (has_type_text(image, moduledata, "map.group["))
        ret->minor = ret->minor > SWISS_MAPS ? ret->minor : SWISS_MAPS;
    else if (has_type_text(image, moduledata, "map.bucket["))
        ret->newest = SWISS_MAPS - 1;
}

void built_by_find(const struct image *image, const struct image *symbols,
                   const struct pclntab *pclntab, const struct moduledata *moduledata,
                   struct built_by *ret)
{
    struct g2h_bytes modules;
    struct image_symbol symbol;
    *ret = (struct built_by){.version = bytes_none};
    read_build_info(image, &ret->version, &modules);
    ret->module = main_module(modules);
    ret->is_plugin = bytes_contain(modules, "\nbuild\t-buildmode=plugin\n");
    ret->is_asan = bytes_contain(modules, "\nbuild\t-asan=true\n");
    ret->minor = minor_of(ret->version);
    if (ret->minor == 0 && image_symbol_named(symbols, "runtime.buildVersion", &symbol)) {
        const struct g2h_bytes own = string_at(image, symbol.address);
        ret->minor = minor_of(own);
        if (ret->minor > 0)
            ret->version = own;
    }
    ret->newest = ret->minor;
    if (ret->minor > 0)
        return;
    ret->is_guess = true;
    ret->minor = release_of_functions(pclntab);
    ret->newest = ret->minor;
    if (ret->minor == 0)
        guess_by_structures(image, pclntab, moduledata, ret);
}
