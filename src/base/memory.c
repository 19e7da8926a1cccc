/* Memory; see memory.h. */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/mman.h>

void *array_grow(void *data, size_t *capacity, size_t count, size_t more, size_t entry_size)
{
    const size_t usual = count < 8 ? 16 - count : count / 2, extra = more > usual ? more : usual;
    if (extra > SIZE_MAX - count || count + extra > SIZE_MAX / entry_size)
        return data;
    void *grown = realloc(data, (count + extra) * entry_size);
    if (!grown)
        return data;
    *capacity = count + extra;
    return grown;
}

void *memory_copy(const void *data, size_t count, size_t entry_size)
{
    void *copy = count > 0 ? malloc(count * entry_size) : NULL;
    if (copy)
        memcpy(copy, data, count * entry_size);
    return copy;
}

/* It has a mapping of its own, whose pages come zeroed and go back to the system when it is freed.
 */
void *mapped_alloc(size_t count, size_t entry_size)
{
    if (count == 0)
        count = 1;
    if (count > SIZE_MAX / 2 / entry_size)
        return NULL;
    void *data =
        mmap(NULL, count * entry_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return data == MAP_FAILED ? NULL : data;
}

void *large_alloc(size_t count, size_t entry_size)
{
    void *data = mapped_alloc(count, entry_size);
#ifdef MADV_HUGEPAGE
    if (data && count * entry_size >= 8u << 20)
        (void)madvise(data, count * entry_size, MADV_HUGEPAGE);
#endif
    return data;
}

void large_free(void *data, size_t count, size_t entry_size)
{
    if (data)
        munmap(data, (count ? count : 1) * entry_size);
}

void memory_give_back(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
