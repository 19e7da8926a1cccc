/*
 * spills: what the code of a function says of a word that it keeps in its frame during a call.
 *
 * DWARF does not describe a value that the compiler has moved to a spill slot of its own, and a
 * stripped executable describes none. But the code that follows the call uses the word: as the
 * receiver of a method, or beside a type's address as an argument that is an interface. Or the code
 * before the call has made it, in the only place that stores the word: by allocating a value of a
 * type, or out of a result whose type it has asserted.
 *
 * Code behind a comparison with a constant address is not looked at: there the type may depend on
 * the value. Only amd64 is read, and programs of Go 1.18 and later.
 */
#ifndef EXE_SPILLS_H
#define EXE_SPILLS_H

#include "base/map.h"
#include "base/memory.h"
#include "exe/moduledata.h"

/* A fact about a word of a frame. */
struct spill_fact {
    enum spill_fact_kind {
        SPILL_RECEIVER,  /* it is the receiver of a method: it points to a value of the method's
                            type, or of one that begins with such a value */
        SPILL_INTERFACE, /* it is the data word of an interface */
        SPILL_NEW,       /* it points to a new value of a type */
    } kind;
    uint64_t what; /* of a receiver: the method's index in the pclntab; else an address in the file,
                      of a type or, of an interface, of an itab */
};

struct spills {
    const struct pclntab *pclntab;
    uint64_t text, gofunc;           /* addresses in the file; 0: not known */
    uint64_t left;                   /* instructions that may still be read */
    VECTOR(struct spill_fact) facts; /* of the word that was asked for last */
    uint64_t reach;                  /* the code reads that word's target up to here, in bytes */
    uint64_t pool; /* address in the file of the sync.Pool that the code puts the word into; 0:
                      none is known */
};

void spills_init(struct spills *spills, const struct pclntab *pclntab,
                 const struct moduledata *moduledata);
void spills_deinit(struct spills *spills);

/* Finds facts about the word at an offset of the frame of the function that has a program counter,
 * which is a distance from the first function, and which a call returns to. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *spills_find(struct spills *spills, uint64_t pc, uint64_t offset);

#endif
