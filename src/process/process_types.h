/* process_types: reads the runtime's type descriptors (abi.Type) in the memory of a process. */
#ifndef PROCESS_PROCESS_TYPES_H
#define PROCESS_PROCESS_TYPES_H

#include "process/runtime.h"

struct process_type {
    uint64_t size, hash;
    struct g2h_bytes package, name; /* package empty: the name is complete */
    bool is_indirect; /* an interface holds a pointer to a value of it, or it has pointers itself */
};

/* Reads the descriptor at an address. Returns false if its bytes are missing. */
bool process_type_read(const struct runtime *runtime, uint64_t address, struct process_type *ret);

#endif
