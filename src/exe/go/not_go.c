/*
 * not_go; see not_go.h.
 *
 * Programs written in Go may have no pclntab: packers hide it, and other compilers do not generate
 * it. Each is recognized by strings in its output, stripped or not.
 */
#include "exe/go/not_go.h"

#include <string.h>

/* A string in two halves, so that this program's own executable does not contain it. */
struct mark {
    uint64_t within; /* of the file, from its start */
    const char *half, *rest;
    const char *what, *remedy;
};

static const char unpack[] = "`upx -d -o UNPACKED PACKED` makes the executable for --exe of it",
                  other_heap[] =
                      "it has another heap than programs of the toolchain of golang.org, "
                      "and is not read",
                  original[] =
                      "give --exe the executable as the linker wrote it, before a packer or "
                      "obfuscator changed it";

static const struct mark marks[] = {
    {4096, "UP", "X!", "is packed by UPX", unpack},
    {UINT64_MAX, "libgo", ".so.", "was built by gccgo", other_heap},
    {UINT64_MAX, "__go_init", "_main", "was built by gccgo", other_heap},
    {UINT64_MAX, "libgo/", "runtime/", "was built by gccgo", other_heap},
    {UINT64_MAX, "tinygo", "_", "was built by TinyGo", other_heap},
    {UINT64_MAX, "tinygo", ".", "was built by TinyGo", other_heap},
    {UINT64_MAX, "Tiny", "Go ", "was built by TinyGo", other_heap},
    {UINT64_MAX, "\xff Go ", "buildinf:", "its table of functions (pclntab) is not found",
     original},
};

static bool has_mark(const struct image *image, const struct mark *mark)
{
    const size_t half = strlen(mark->half), rest = strlen(mark->rest);
    const uint8_t *at = image->file.data,
                  *end = at + (mark->within < image->file.size ? mark->within : image->file.size);
    while ((at = memmem(at, (size_t)(end - at), mark->half, half)) != NULL) {
        at += half;
        if ((size_t)(end - at) >= rest && memcmp(at, mark->rest, rest) == 0)
            return true;
    }
    return false;
}

struct g2h_error *not_go_refuse(const struct image *image)
{
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        if (has_mark(image, &marks[i]))
            return error_create(G2H_ERROR_NOT_EXE, "%s: %s; %s", image->path, marks[i].what,
                                marks[i].remedy);
    return error_create(G2H_ERROR_NOT_EXE, "%s: has no function table (pclntab): not a Go program",
                        image->path);
}
