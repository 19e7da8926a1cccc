/*
 * debugfile: the bytes of an executable, and of the separate debug file that has the symbols and
 * debug sections of a stripped one.
 */
#ifndef IMAGE_DEBUGFILE_H
#define IMAGE_DEBUGFILE_H

#include <go2heapsnapshot/input.h>

#include "exe/image/image.h"

/* ==== the bytes of an executable, or of its debug file ==== */

/* Opens an executable as g2h_input_open() does. If the file is not an executable, reads only enough
 * to see that. Another error: G2H_ERROR_NOT_EXE if the file is larger than executables are. */
struct g2h_error *source_open(const char *path, struct g2h_input **ret);

/* ==== the separate debug file ====
 *
 * The search order is gdb's: by the executable's build ID below the directory of the system's debug
 * files, then by .gnu_debuglink beside the executable. If that is a file of a live process
 * (/proc/PID/exe), it searches in the process's own root directory, beside the path that the file
 * had there. A file is accepted only if it belongs to the executable.
 */

/* The directory of the system's debug files. */
#define DEBUGFILE_DIRECTORY "/usr/lib/debug"

/*
 * Opens the debug file of an image; directory is DEBUGFILE_DIRECTORY, or another directory with the
 * same structure. If no file belongs to the image, *ret_input is NULL and *ret is empty. Otherwise
 * the caller calls image_deinit() and g2h_input_close(). Error: G2H_ERROR_MEMORY.
 */
struct g2h_error *image_find_debug_file(const struct image *image, const char *directory,
                                        struct g2h_input **ret_input, struct image *ret);

#endif
