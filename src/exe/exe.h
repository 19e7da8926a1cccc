/*
 * exe: an executable that has been opened, and what the rooms above may know of it beside
 * include/go2heapsnapshot/exe.h.
 *
 * Questions are by addresses of a process, so somebody has to find out where the process has the
 * executable (typing/match.c does) and tell exe_bind(), which reads types and variables. From then
 * on an executable is constant.
 */
#ifndef EXE_EXE_H
#define EXE_EXE_H

#include <go2heapsnapshot/exe.h>

#include "exe/dwarf_info.h"
#include "exe/image.h"
#include "exe/pclntab.h"
#include "exe/rtype.h"
#include "exe/scopes.h"
#include "types/types.h"

/* ---- what the file says ---- */

const struct image *exe_image(const struct g2h_exe *exe);
const struct pclntab *exe_pclntab(const struct g2h_exe *exe);

/* The release of Go that built it, "go1.27.4"; empty where it is not known. */
struct g2h_bytes exe_version(const struct g2h_exe *exe);

/* The image that has the sections of DWARF: the executable or its separate debug file, whose
 * addresses are the same. NULL where neither has any. Not constant: its sections are uncompressed
 * on demand. */
struct image *exe_dwarf_image(struct g2h_exe *exe);

/* A symbol by its name, of the executable or of its separate debug file; false where there is none.
 */
bool exe_symbol(const struct g2h_exe *exe, const char *name, struct image_symbol *ret);

/* The address, in the file, of runtime.firstmoduledata; 0 where it is not found. */
uint64_t exe_moduledata(const struct g2h_exe *exe);

/* Where the linker put its parts; all 0 where that is not found. */
const struct moduledata *exe_module(const struct g2h_exe *exe);

/* The address, in the file, of the runtime's data segment; data_size and bss_size are the sizes of
 * the segments in the process. False where it is not found. */
bool exe_find_data(const struct g2h_exe *exe, uint64_t data_size, uint64_t bss_size, uint64_t *ret);

/* ---- the process ---- */

/* Where a process has an executable, and the places whose variables will be asked for. */
struct exe_process {
    bool has_text, has_data; /* whether text and slide are known */
    uint64_t text;           /* address of the first function */
    uint64_t slide;          /* from the addresses of data in the file to those in the process */
    /* Some types that the process has: by these the range of descriptors is recognized. */
    const struct rtype_witness *witnesses;
    size_t witness_count;
    const uint64_t *pcs; /* the different program counters of its frames: see scopes_init() */
    size_t pc_count;
    uint64_t frame_count;
};

/* Tells an executable where a process has it. If process->has_data, its types and variables are
 * read. Error: G2H_ERROR_MEMORY; then it is as it was when it was opened. */
struct g2h_error *exe_bind(struct g2h_exe *exe, const struct exe_process *process);

/* Makes the executable forget about the process: it is as it was when it was opened. */
void exe_unbind(struct g2h_exe *exe);

/* All types of the executable; empty before exe_bind(). Those of descriptors come first, ascending
 * by address. */
const struct types *exe_types(const struct g2h_exe *exe);

/* Its variables by DWARF; empty before exe_bind(). */
const struct dwarf_info *exe_dwarf_info(const struct g2h_exe *exe);

/* The variables at the program counters that exe_bind() was given. */
const struct scopes *exe_scopes(const struct g2h_exe *exe);

/* The distance from the addresses of data in the file to those in the process. */
uint64_t exe_slide(const struct g2h_exe *exe);

/* runtime.types in the process, where the offsets of types count from; 0 where it is not known. */
uint64_t exe_types_start(const struct g2h_exe *exe);

/* The number of functions; the address in the process and the name of one. */
uint64_t exe_function_count(const struct g2h_exe *exe);
uint64_t exe_function(const struct g2h_exe *exe, uint64_t index, struct g2h_bytes *ret_name);

/* The function that has an address of the process, by name and address; false where none has it. */
bool exe_function_at(const struct g2h_exe *exe, uint64_t address, struct g2h_bytes *ret_name,
                     uint64_t *ret_entry);

/*
 * As g2h_exe_line(), for callers that ask for very many lines. A line costs as much as its function
 * has of them, and all that is asked for may be in one function. So *left, which is
 * exe_lines_most() at first, is lowered by the lines that were passed over; once it is 0, *ret has
 * the function, but no line.
 */
bool exe_line(const struct g2h_exe *exe, uint64_t address, uint64_t *left, struct g2h_line *ret);
uint64_t exe_lines_most(const struct g2h_exe *exe);

#endif
