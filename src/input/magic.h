/* magic: the kinds of files that more than one room has to know by their first bytes. */
#ifndef INPUT_MAGIC_H
#define INPUT_MAGIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the size bytes of data have count given ones at an offset. */
bool magic_begins(const uint8_t *data, uint64_t size, unsigned at, const void *bytes, size_t count);

/* Whether bytes begin as an executable does: ELF or Mach-O that is no core file, or PE. */
bool magic_is_executable(const uint8_t *data, uint64_t size);

/* Whether they begin as a core file does: ELF or Mach-O. */
bool magic_is_core(const uint8_t *data, uint64_t size);

/* How many bytes a core file has by its first ones, if these have its segments, and it is ELF of a
 * 64-bit little-endian machine; 0 where they do not say. */
uint64_t magic_core_size(const uint8_t *data, uint64_t size);

#endif
