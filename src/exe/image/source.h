/* source: the bytes of an executable, or of its debug file. */
#ifndef EXE_IMAGE_SOURCE_H
#define EXE_IMAGE_SOURCE_H

#include <go2heapsnapshot/input.h>

/* Opens an executable as g2h_input_open() does. If the file is not an executable, reads only enough
 * to see that. Another error: G2H_ERROR_NOT_EXE if the file is larger than executables are. */
struct g2h_error *source_open(const char *path, struct g2h_input **ret);

#endif
