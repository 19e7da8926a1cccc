/* magic: recognizes by their first bytes the kinds of files that several modules must know. */
#ifndef INPUT_MAGIC_H
#define INPUT_MAGIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns whether data, of size bytes, has the given count bytes at offset at. */
bool magic_begins(const uint8_t *data, uint64_t size, unsigned at, const void *bytes, size_t count);

/* Returns whether data begins like an executable: ELF or Mach-O but not a core file, or PE. */
bool magic_is_executable(const uint8_t *data, uint64_t size);

/* Returns whether data begins like a core file: ELF or Mach-O. */
bool magic_is_core(const uint8_t *data, uint64_t size);

/* Returns the size in bytes of a core file, by its first bytes, if these include its program
 * headers and it is ELF of a 64-bit little-endian machine; otherwise 0. */
uint64_t magic_core_size(const uint8_t *data, uint64_t size);

#endif
