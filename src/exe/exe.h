/* exe: what the rooms above may know of an executable beside include/go2heapsnapshot/exe.h. */
#ifndef EXE_EXE_H
#define EXE_EXE_H

#include <go2heapsnapshot/exe.h>

#include "exe/image.h"
#include "types/types.h"

/* All types that are known of the executable; empty until it has been matched. Those of runtime
 * descriptors come first, ascending by address. */
struct types *exe_types(struct g2h_exe *exe);

/* From the addresses of data in the file to those in the process. */
uint64_t exe_slide(const struct g2h_exe *exe);

/* runtime.types in the process, from which DW_AT_go_runtime_type counts; 0 where it is not known.
 */
uint64_t exe_types_start(const struct g2h_exe *exe);

const struct image *exe_image(const struct g2h_exe *exe);

#endif
