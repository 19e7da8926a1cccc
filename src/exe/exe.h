/*
 * exe: an opened executable, and the functions on it for the modules above besides those of
 * include/go2heapsnapshot/exe.h.
 *
 * Queries use addresses of a process, so a caller has to find the executable's load addresses
 * (typing/exe_match.c does) and pass them to exe_bind(), which reads types and variables. From then
 * on the executable is constant. exe/image/, exe/dwarf/ and exe/go/ read its parts. From its code,
 * this also knows which function is inlined where, and what wrappers call.
 */
#ifndef EXE_EXE_H
#define EXE_EXE_H

#include <go2heapsnapshot/exe.h>

#include "exe/dwarf/dwarf_info.h"
#include "exe/dwarf/scopes.h"
#include "exe/go/build_info.h"
#include "exe/go/flow.h"
#include "exe/go/pclntab.h"
#include "exe/go/rtype.h"
#include "exe/go/static_words.h"
#include "exe/image/image.h"
#include "types/types.h"

/* ---- before opening ---- */

/* Returns whether a path is that of a file with Go code, by the names of its sections, which costs
 * far less than opening it. */
bool exe_is_go(const char *path);

/* Does the same, and appends the release of Go, "go1.27.4", if a program of 1.18 or later records
 * it. */
bool exe_go_version(const char *path, struct text *version);

/* ---- contents of the file ---- */

const struct image *exe_image(const struct g2h_exe *exe);

const struct pclntab *exe_pclntab(const struct g2h_exe *exe);

/* Gets the index of the executable's functions by name, which is made at the first call. Errors:
 * those of function_names_init(). */
struct g2h_error *exe_function_names(struct g2h_exe *exe, const struct function_names **ret);

/* Returns the release of Go that built the executable, "go1.27.4"; it is empty if unknown. */
struct g2h_bytes exe_version(const struct g2h_exe *exe);

/* Returns the executable's build information. */
const struct built_by *exe_built_by(const struct g2h_exe *exe);

/* Returns the image that has the sections of DWARF: the executable's or that of its separate debug
 * file, whose addresses are the same. Returns NULL if neither has any. The image is not constant:
 * its sections are uncompressed on demand. */
struct image *exe_dwarf_image(struct g2h_exe *exe);

/* Finds a symbol of the executable or of its separate debug file by its name. Returns false if
 * there is none. */
bool exe_symbol(const struct g2h_exe *exe, const char *name, struct image_symbol *ret);

/* Checks that the executable and its debug file have not changed since they were opened. Errors:
 * those of g2h_input_check(). */
struct g2h_error *exe_check_inputs(const struct g2h_exe *exe);

/* Returns the address, in the file, of runtime.firstmoduledata, or 0 if it is not found. */
uint64_t exe_moduledata(const struct g2h_exe *exe);

/* Returns the addresses of the parts of the program; all are 0 if they are not found. */
const struct moduledata *exe_module(const struct g2h_exe *exe);

/* Finds the address, in the file, of the runtime's data segment; data_size and bss_size are the
 * sizes of the segments in the process. Returns false if it is not found. */
bool exe_find_data(const struct g2h_exe *exe, uint64_t data_size, uint64_t bss_size, uint64_t *ret);

/* ---- the process ---- */

/* The load addresses of an executable in a process, and the program counters whose variables will
 * be requested. */
struct exe_process {
    bool has_text, has_data; /* whether text and slide, respectively, are known */
    uint64_t text;           /* address of the first function */
    uint64_t slide; /* distance from the addresses of data in the file to those in the process */
    /* The types that the process is known to have, which show where the file has the descriptors,
     * and which of these do not fit. */
    struct rtype_witnesses witnesses;
    struct scopes_frames frames;
    unsigned threads; /* to use; 0: one */
};

/* Binds an executable to its load addresses. If process->has_data, reads its types and variables.
 * Error: G2H_ERROR_MEMORY; then the executable is as it was when it was opened. */
struct g2h_error *exe_bind(struct g2h_exe *exe, const struct exe_process *process);

/* Unbinds the executable from the process. What was read of it is kept for exe_bind(), in case that
 * the next process needs the same. */
void exe_unbind(struct g2h_exe *exe);

/* Returns all types of the executable; there are none before exe_bind(). Those of descriptors come
 * first, ascending by address. */
const struct types *exe_types(const struct g2h_exe *exe);

/* Returns the executable's variables by DWARF; there are none before exe_bind(). */
const struct dwarf_info *exe_dwarf_info(const struct g2h_exe *exe);

/* Returns the variables at the program counters that were passed to exe_bind(). */
const struct scopes *exe_scopes(const struct g2h_exe *exe);

/* Returns the distance from the addresses of data in the file to those in the process. */
uint64_t exe_slide(const struct g2h_exe *exe);

/* Returns the address of runtime.types in the process, the base of the offsets of types, or 0 if
 * unknown. */
uint64_t exe_types_start(const struct g2h_exe *exe);

/* Return the number of functions, and the address in the process and the name of one. */
uint64_t exe_function_count(const struct g2h_exe *exe);

uint64_t exe_function(const struct g2h_exe *exe, uint64_t index, struct g2h_bytes *ret_name);

/* Returns whether the executable has a function of a name. Matching it with a process has made the
 * index by which it is found at once. */
bool exe_has_function(const struct g2h_exe *exe, const char *name);

/* Finds the function that contains an address of the process, by name and address. Returns false if
 * there is none. */
bool exe_function_at(const struct g2h_exe *exe, uint64_t address, struct g2h_bytes *ret_name,
                     uint64_t *ret_entry);

/*
 * Does the same as g2h_exe_line(), for callers that request very many lines. The cost of a line is
 * proportional to its function's part of the pclntab, and all requested lines may be in one
 * function. So *left, which is exe_lines_most() at first, is lowered by the bytes read; once it is
 * 0, *ret has the function, but no line.
 */
bool exe_line(const struct g2h_exe *exe, uint64_t address, uint64_t *left, struct g2h_line *ret);

uint64_t exe_lines_most(const struct g2h_exe *exe);

/* Prepares for reading the executable's functions, as flow_init() does; flow_deinit(ret) is due
 * also after an error. ret is valid as long as the executable. Error: G2H_ERROR_MEMORY. */
struct g2h_error *exe_flow(const struct g2h_exe *exe, struct flow *ret);

/*
 * Gets the evidence of the code of all functions about the words of data and bss. Reading them
 * takes most of the time that a stripped executable costs: it is done at the first call, and kept,
 * since it depends on the file alone. flow was made for this executable, and has read no function
 * yet; what it may still read afterwards (flow->left) is the same after every call. Error:
 * G2H_ERROR_MEMORY.
 */
struct g2h_error *exe_static_words(const struct g2h_exe *exe, struct flow *flow,
                                   const struct static_words **ret);

/* ---- calls: exe.c ---- */

/* A function at an address, and the line that it is at. */
struct exe_call {
    struct g2h_bytes function, file;
    uint32_t line;   /* 0: not known */
    bool is_wrapper; /* the compiler has made it, as of a go statement: tracebacks leave it out */
};

enum { EXE_MOST_CALLS = 64 };

/* Gets the functions at an address of the process, the innermost first: all but the last one are
 * inlined. Returns how many; 0: none is known. Go 1.17 and older ones do not have what is inlined
 * where. *left is as in exe_line(). */
size_t exe_calls(const struct g2h_exe *exe, uint64_t address, uint64_t *left,
                 struct exe_call ret[EXE_MOST_CALLS]);

/* Finds the function that the wrapper at an address of the process calls. *ret is empty if there is
 * no wrapper, or it calls through a register. *left is as in exe_line(). Error:
 * G2H_ERROR_MEMORY. */
struct g2h_error *exe_wrapped(const struct g2h_exe *exe, uint64_t address, uint64_t *left,
                              struct g2h_bytes *ret);

/* Returns pclntab_wrapper_id() of the executable. */
uint8_t exe_wrapper_id(const struct g2h_exe *exe);

#endif
