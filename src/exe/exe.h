/* exe: what the readers of types need of an open executable; see include/go2heapsnapshot/exe.h. */
#ifndef EXE_EXE_H
#define EXE_EXE_H

#include <go2heapsnapshot/exe.h>

#include "exe/image.h"

const struct image *exe_image(const struct g2h_exe *exe);

/* The release of Go that built it, "go1.27.4"; empty where it is not known. */
struct g2h_bytes exe_version(const struct g2h_exe *exe);

/* The image that has the debug sections: the executable or its separate debug file, whose addresses
 * are the same. NULL where neither has any. Not constant: its sections are uncompressed on demand.
 */
struct image *exe_debug_image(struct g2h_exe *exe);

#endif
