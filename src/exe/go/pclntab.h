/*
 * pclntab: Go's table from program counters to functions, files and lines, and the other parts of a
 * program that the runtime's moduledata leads to. Every Go executable has both, stripped or not.
 *
 *   pclntab, build_info functions and lines; the release of Go
 *   descriptors, rtype  the runtime's types
 *   code                the source lines of a function's code, and what it calls
 *   instructions, flow, static_words
 *                       addresses in code, and the code's evidence about words
 */
#ifndef GO_PCLNTAB_H
#define GO_PCLNTAB_H

#include "base/bytes.h"
#include "base/map.h"
#include "exe/image/image.h"

/* ==== functions, files and lines ==== */

struct pclntab {
    const struct image *image;
    struct g2h_bytes table;
    uint64_t address; /* address of the table in the file */
    enum { PCLNTAB_GO12, PCLNTAB_GO116, PCLNTAB_GO118 /* and go120 */ } version;
    uint8_t quantum, pointer_size;
    uint64_t count;                           /* number of functions */
    uint64_t functab, names, cus, files, pcs; /* offsets of the table's parts */
    unsigned record_size;       /* of a function's record, without its tables; 0 before Go 1.18 */
    unsigned entry_size;        /* of each of the two numbers that functab has for a function */
    uint64_t first;             /* the first number of functab: where the text begins */
    const uint16_t *name_sizes; /* of all functions; NULL: not measured yet */
};

/* Finds and checks the table. Error: G2H_ERROR_NOT_EXE. */
struct g2h_error *pclntab_init(struct pclntab *pclntab, const struct image *image);

/* Returns the N of go1.N, the first release whose tables have this layout. */
int pclntab_since(const struct pclntab *pclntab);

/* Returns the distance from the first function to the one with an index. index <= count; for count
 * it returns the distance to the end of the text. */
uint64_t pclntab_entry(const struct pclntab *pclntab, uint64_t index);

/* Returns a function's name; it is empty if damaged. index < count. */
struct g2h_bytes pclntab_name(const struct pclntab *pclntab, uint64_t index);

/* Finds the function that contains the code at a distance from the first function. Returns false if
 * there is none. */
bool pclntab_find(const struct pclntab *pclntab, uint64_t offset, uint64_t *ret);

/*
 * Finds the file and line of the code at a distance from the first function; index is its function.
 * Returns false if the table does not have them. The function's part of the table has to be read
 * from its start up to the line: *left is the number of bytes that may still be read, and the bytes
 * read are subtracted from it.
 */
bool pclntab_line(const struct pclntab *pclntab, uint64_t index, uint64_t offset, uint64_t *left,
                  struct g2h_bytes *ret_file, uint32_t *ret_line);

/* Returns the file with a number in the function's table of files; it is empty if the table does
 * not have it. index is the function. */
struct g2h_bytes pclntab_file(const struct pclntab *pclntab, uint64_t index, int64_t file);

/* Returns the name at an offset of the names; it is empty if damaged. */
struct g2h_bytes pclntab_name_at(const struct pclntab *pclntab, uint64_t offset);

/* A function's record in the table (runtime._func), for stack walks. */
struct pclntab_function {
    int32_t args;          /* bytes of arguments; INT32_MIN if not known */
    uint32_t deferreturn;  /* distance from its start to a call of runtime.deferreturn; 0: none */
    uint32_t pcsp;         /* for pclntab_value(): the table of the frame's sizes */
    uint32_t pcfile, pcln; /* for pclntab_value(): the tables of files' numbers, for pclntab_file(),
                              and of lines */
    uint32_t start_line;   /* of its declaration; 0: not known */
    uint8_t id;            /* abi.FuncID… */
    uint8_t flag;          /* abi.FuncFlag… */
    uint32_t pcdata_count;
    uint8_t funcdata_count;
    const uint8_t *pcdata, *funcdata; /* 32 bits each: pcdata are tables for pclntab_value(),
                                         funcdata are offsets from moduledata.gofunc */
};

/* Reads the record of a function, from Go 1.18 on. Returns false if the table is damaged. index <
 * count. */
bool pclntab_function(const struct pclntab *pclntab, uint64_t index, struct pclntab_function *ret);

/* Returns the id of functions that the compiler has made, abi.FuncIDWrapper, the greatest of all
 * ids; 0 before Go 1.18. Reads the records of all functions. */
uint8_t pclntab_wrapper_id(const struct pclntab *pclntab);

/* Returns whether records have the line where the function starts, as from Go 1.20 on. */
static inline bool pclntab_has_start_lines(const struct pclntab *pclntab)
{
    return pclntab->record_size >= 44;
}

/* Returns whether a source file is of package runtime: "runtime/proc.go" with -trimpath, else below
 * GOROOT/src. Its functions may have names of other packages, by linkname: reflect.addReflectOff.
 */
static inline bool pclntab_is_runtime_file(struct g2h_bytes file)
{
    const struct g2h_bytes directory = {file.data, file.size - bytes_base_name(file).size};
    return bytes_are(directory, "runtime/") || bytes_end(directory, "/src/runtime/");
}

/* Finds the value that a table of pairs has for the code at a distance from the first function;
 * index is its function. Returns false for table 0: there is none. *left is as in pclntab_line().
 */
bool pclntab_value(const struct pclntab *pclntab, uint32_t table, uint64_t index, uint64_t offset,
                   uint64_t *left, int64_t *ret);

/* An iterator over all values of such a table. */
struct pclntab_parts {
    uint8_t quantum;
    struct cursor cursor;
    const uint8_t *start;
    uint64_t end;  /* of the code that has the value, as a distance from the first function */
    int64_t value; /* both are valid once pclntab_parts_next() has returned true */
};

/* Begins before the first value. left is the number of bytes that may be read. Returns false if
 * there is no table. */
bool pclntab_parts_begin(const struct pclntab *pclntab, uint32_t table, uint64_t index,
                         uint64_t left, struct pclntab_parts *ret);

bool pclntab_parts_next(struct pclntab_parts *parts);

/* ---- functions by name ---- */

/* The functions by name, to check that an executable has those on the stacks of a process, and at
 * which addresses. */
struct function_names {
    struct map index_of; /* hash of a name → index in the pclntab, or FUNCTION_AMBIGUOUS */
    uint16_t *sizes;     /* for pclntab.name_sizes */
};

/* Several functions have the name, as instances of a generic function do. */
#define FUNCTION_AMBIGUOUS (MAP_NONE - 1)

/* Indexes the names of all functions. Error: G2H_ERROR_MEMORY; G2H_ERROR_NOT_EXE if all names
 * together are much longer than the table, as they may be in a damaged executable. So visiting the
 * names of all functions takes bounded time. */
struct g2h_error *function_names_init(struct function_names *names, const struct pclntab *pclntab);

void function_names_deinit(struct function_names *names);

/* Returns the index in the pclntab of the function with a name, FUNCTION_AMBIGUOUS if there are
 * several, or MAP_NONE if there is none. */
uint32_t function_names_find(const struct function_names *names, struct g2h_bytes name);

/* ==== the addresses of the parts of a Go program, from its runtime.firstmoduledata ====
 *
 * Every Go executable has one, stripped or not. It is found by its first word, the address of the
 * pclntab. Its layout is the one that makes its fields valid.
 */

/* Addresses in the file, named as the runtime's fields. All are 0 if there is no moduledata. */
struct moduledata {
    const uint8_t *at; /* in the file */
    uint64_t minpc;    /* the first function */
    uint64_t text, etext;
    uint64_t data, edata;
    uint64_t bss, ebss;
    uint64_t types, etypes;
    int since;       /* the first release whose layout it has: the N of go1.N */
    uint64_t gofunc; /* base of the offsets of functions' data; from Go 1.18 on */
};

/* Finds the moduledata. Returns false if there is none, or the relocations of a
 * position-independent executable could not be applied. */
bool moduledata_find(const struct image *image, const struct pclntab *pclntab,
                     struct moduledata *ret);

#endif
