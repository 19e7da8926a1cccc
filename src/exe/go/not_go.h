/* not_go: identifies executables without a pclntab, with advice. */
#ifndef EXE_GO_NOT_GO_H
#define EXE_GO_NOT_GO_H

#include "exe/image/image.h"

/* Returns an error G2H_ERROR_NOT_EXE with the result. */
struct g2h_error *not_go_refuse(const struct image *image);

#endif
