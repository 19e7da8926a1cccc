/*
 * debugfile: the file that a stripped executable's symbols and debug sections went to.
 *
 * It is looked for where gdb does: by the executable's build ID below the directory of the system's
 * debug files, then by .gnu_debuglink beside the executable. What is found is taken only if it
 * belongs to the executable.
 */
#ifndef EXE_DEBUGFILE_H
#define EXE_DEBUGFILE_H

#include <go2heapsnapshot/input.h>

#include "exe/image.h"

/* Of the system; see image_find_debug_file(). */
#define DEBUGFILE_DIRECTORY "/usr/lib/debug"

/*
 * Opens the debug file of an image; directory is DEBUGFILE_DIRECTORY, or another one of that
 * structure. *ret_input is NULL where there is none that belongs to it: then *ret is empty.
 * Otherwise the caller calls image_deinit() and g2h_input_close(). Error: G2H_ERROR_MEMORY.
 */
struct g2h_error *image_find_debug_file(const struct image *image, const char *directory,
                                        struct g2h_input **ret_input, struct image *ret);

#endif
