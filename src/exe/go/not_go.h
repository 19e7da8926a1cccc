/* not_go: what an executable without a pclntab is, and what to do about it. */
#ifndef EXE_GO_NOT_GO_H
#define EXE_GO_NOT_GO_H

#include "exe/image/image.h"

/* Returns an error G2H_ERROR_NOT_EXE that says so. */
struct g2h_error *not_go_refuse(const struct image *image);

#endif
