/* instructions_arm64: arm64's part of exe/go/instructions.h. */
#ifndef EXE_GO_INSTRUCTIONS_ARM64_H
#define EXE_GO_INSTRUCTIONS_ARM64_H

#include "exe/go/instructions.h"

/* Number 31 is the stack pointer in an address operand, and otherwise the zero register. */
enum { ARM64_SP = 31 };

/* See struct machine in exe/go/instructions.h. */
bool instruction_read_arm64(struct g2h_bytes code, uint64_t address, struct instruction *ret);

#endif
