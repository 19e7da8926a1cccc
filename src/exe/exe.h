/* exe: what the rooms above may know of an executable beside include/go2heapsnapshot/exe.h. */
#ifndef EXE_EXE_H
#define EXE_EXE_H

#include <go2heapsnapshot/exe.h>

#include "exe/dwarf_info.h"
#include "exe/image.h"
#include "exe/scopes.h"
#include "types/types.h"

/* All types that are known of the executable; empty until it has been matched. Those of runtime
 * descriptors come first, ascending by address. */
const struct types *exe_types(const struct g2h_exe *exe);

/* Its variables by DWARF; empty until it has been matched. */
const struct dwarf_info *exe_dwarf_info(const struct g2h_exe *exe);

/* The variables of the heap's frames; empty until it has been matched. */
const struct scopes *exe_scopes(const struct g2h_exe *exe);

/* From the addresses of data in the file to those in the process. */
uint64_t exe_slide(const struct g2h_exe *exe);

/* runtime.types in the process, from which DW_AT_go_runtime_type counts; 0 where it is not known.
 */
uint64_t exe_types_start(const struct g2h_exe *exe);

const struct image *exe_image(const struct g2h_exe *exe);

/* The release of Go that built it, "go1.27.4"; empty where it is not known. */
struct g2h_bytes exe_version(const struct g2h_exe *exe);

/* The image that has the debug sections: the executable or its separate debug file, whose addresses
 * are the same. NULL where neither has any. Not constant: its sections are uncompressed on demand.
 */
struct image *exe_debug_image(struct g2h_exe *exe);

/* The functions of the pclntab: how many, and the address in the process and the name of one. */
uint64_t exe_function_count(const struct g2h_exe *exe);
uint64_t exe_function(const struct g2h_exe *exe, uint64_t index, struct g2h_bytes *ret_name);

/* The function that an address of the process is in, by name and address; false where there is
 * none. */
bool exe_function_at(const struct g2h_exe *exe, uint64_t address, struct g2h_bytes *ret_name,
                     uint64_t *ret_entry);

/*
 * g2h_exe_line() for who asks for as many lines as a dump has places. A line costs what its
 * function has of them, and all places may be in one function: *left, which is exe_lines_most() at
 * first, is lowered by what was passed over; once it is 0 there are functions, but no lines.
 */
bool exe_line(const struct g2h_exe *exe, uint64_t address, uint64_t *left, struct g2h_line *ret);
uint64_t exe_lines_most(const struct g2h_exe *exe);

#endif
