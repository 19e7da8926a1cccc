/*
 * pclntab: Go's table from program counters to functions, files and lines. Every Go executable has
 * it, stripped or not.
 *
 * Its layouts, by their magic: go12 (Go 1.2 to 1.15), go116 (1.16, 1.17), go118 (1.18, 1.19) and
 * go120 (1.20 on), as debug/gosym/pclntab.go reads them. Addresses are kept as offsets from the
 * first function, since the tables of a position-independent executable have no addresses in the
 * file.
 *
 * ELF and Mach-O have it as a section. PE has it in the midst of .rdata: a symbol says where, or,
 * if it is stripped, its magic and the runtime's word that points to it.
 */
#ifndef EXE_PCLNTAB_H
#define EXE_PCLNTAB_H

#include "exe/image.h"

/* Longer names are cut, of functions and of files: no class is as long. */
enum { PCLNTAB_LONGEST_TEXT = 4096 };

struct pclntab {
    const struct image *image;
    struct g2h_bytes table;
    uint64_t address; /* of the table, in the file */
    enum { PCLNTAB_GO12, PCLNTAB_GO116, PCLNTAB_GO118 /* and go120 */ } version;
    uint8_t quantum, pointer_size;
    uint64_t count;   /* functions */
    uint64_t functab; /* offsets in table, of parts */
    uint64_t names, cus, files, pcs;
    unsigned entry_size; /* of a pc or an offset in functab */
};

/* Finds and checks the table. Error: G2H_ERROR_NOT_EXE. */
struct g2h_error *pclntab_init(struct pclntab *pclntab, const struct image *image);

/* Offset of a function's entry from that of the first one. index <= count; the last is the end of
 * the text. */
uint64_t pclntab_entry(const struct pclntab *pclntab, uint64_t index);

/* A function's name; empty where it is damaged. index < count. */
struct g2h_bytes pclntab_name(const struct pclntab *pclntab, uint64_t index);

/* The function that holds an offset from the first function's entry; false where none does. */
bool pclntab_find(const struct pclntab *pclntab, uint64_t offset, uint64_t *ret);

/*
 * File and line of an offset in function index. False where the table does not say. It is gone
 * through from the function's start, and others may ask for what lies behind as much: *left is how
 * many bytes may be passed over, and is lowered by those that were.
 */
bool pclntab_line(const struct pclntab *pclntab, uint64_t index, uint64_t offset, uint64_t *left,
                  struct g2h_bytes *ret_file, uint32_t *ret_line);

#endif
