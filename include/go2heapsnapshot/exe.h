/*
 * A Go executable, which supplies the names and types that a dump does not have.
 *
 * ELF, Mach-O and PE files are read, 32 and 64 bit, of either byte order. Every executable has the
 * pclntab (functions, files and lines) and the runtime's type descriptors, even if it is stripped.
 * If it is not stripped, it also has a symbol table (global variables) and DWARF (types of globals,
 * locals and captured variables), in itself or in a separate debug file. The layouts are those of
 * debug/gosym and cmd/link of Go 1.2 … 1.27.
 *
 * An executable gives no information about a process until g2h_exe_match() (match.h) has confirmed
 * that it wrote a dump. From then on it is constant, so all threads may use it.
 */
#ifndef GO2HEAPSNAPSHOT_EXE_H
#define GO2HEAPSNAPSHOT_EXE_H

#include <stdbool.h>
#include <stddef.h>

#include <go2heapsnapshot/bytes.h>
#include <go2heapsnapshot/error.h>
#include <go2heapsnapshot/input.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

struct g2h_exe;

/*
 * Opens an executable. Errors: G2H_ERROR_SYSTEM; G2H_ERROR_MEMORY; G2H_ERROR_NOT_EXE if the file
 * has none of these formats, has no pclntab (not a Go program), or is damaged.
 */
G2H_PUBLIC struct g2h_error *g2h_exe_open(const char *path, struct g2h_exe **ret);
G2H_PUBLIC void g2h_exe_close(struct g2h_exe *exe);

/* A source line. The strings belong to the executable and are not NUL-terminated; line is 0 if
 * unknown. */
struct g2h_line {
    struct g2h_bytes function, file;
    uint64_t entry; /* address of the function in the process */
    uint32_t line;
};

/* Gets the function and line at an address of the process; returns false if no function contains
 * it. */
G2H_PUBLIC bool g2h_exe_line(const struct g2h_exe *exe, uint64_t address, struct g2h_line *ret);

/* Gets the global variable at an address of the process, and the address's offset in the variable;
 * returns false if no known variable is there. */
G2H_PUBLIC bool g2h_exe_variable(const struct g2h_exe *exe, uint64_t address,
                                 struct g2h_bytes *ret_name, uint64_t *ret_offset);

/*
 * Gets the name of the type whose descriptor (abi.Type) is at an address of the process, with full
 * package paths: "*net/http.conn". Very long names are cut. Returns false if no known descriptor is
 * there, and always for dumps before Go 1.7. The name is valid until the executable is matched
 * again or closed.
 */
G2H_PUBLIC bool g2h_exe_type_name(const struct g2h_exe *exe, uint64_t address,
                                  struct g2h_bytes *ret);

/* Returns whether a function, judging by its name, is the program's own: in package main or, if the
 * executable records the main module, in a package of that module. exe may be NULL. */
G2H_PUBLIC bool g2h_exe_is_own(const struct g2h_exe *exe, struct g2h_bytes function);

/* Returns whether an executable records that it was built as a plugin (-buildmode=plugin), which
 * shares the runtime of the program that loads it. */
G2H_PUBLIC bool g2h_exe_is_plugin(const struct g2h_exe *exe);

/* ---- inlined calls ---- */

/* A call on a stack, with the fields of runtime.Frame. Strings are not NUL-terminated. */
struct g2h_call {
    struct g2h_bytes function, file;
    uint32_t line;
    uint32_t start_line; /* line of the function's declaration; 0 if unknown, and before Go 1.20 */
    struct g2h_bytes behind; /* the function that contains the return address:
                                runtime.FuncForPC() */
    bool is_inlined;         /* the compiler inlined this call into the next one */
};

/* Finds the calls that the compiler inlined. Each thread needs its own. */
struct g2h_inlining;

/* Creates a finder of inlined calls. Its results are valid as long as exe, which need not be
 * matched. Errors: G2H_ERROR_MEMORY. */
G2H_PUBLIC struct g2h_error *g2h_inlining_create(const struct g2h_exe *exe,
                                                 struct g2h_inlining **ret);
G2H_PUBLIC void g2h_inlining_destroy(struct g2h_inlining *inlining);

/* The most calls that g2h_inlining_repair() appends to a truncated stack. */
enum { G2H_MOST_INLINED = 64 };

/*
 * Repairs the stack of an allocation site. A dump describes each program counter of such a stack by
 * the function that contains the code, and by the file and line of the innermost call that was
 * inlined there (dumpmemprof_callback() of runtime/heapdump.go): if g.f is inlined into main.main,
 * the dump says that main.main is in g.go. This function finds the code location by that function,
 * file and line, and the calls inlined there by the function's inline tree (runtime/symtabinl.go).
 * If several locations match, it takes the one whose callers are on the stack as well.
 *
 * calls: an array of *count calls, innermost first, with function, file and line; it has space for
 * G2H_MOST_INLINED more. Each call gets its real function and start_line, and behind and
 * is_inlined; calls that are not found in the executable stay unchanged. If the stack was cut off
 * between inlined calls, the missing ones are appended, as runtime/pprof does.
 *
 * Only executables of Go 1.18 and later have the necessary data; with older ones nothing changes.
 * The total time is proportional to the size of the executable, however many stacks are repaired:
 * once it is used up, which damaged files may cause, no more stacks are repaired. Errors:
 * G2H_ERROR_MEMORY.
 */
G2H_PUBLIC struct g2h_error *g2h_inlining_repair(struct g2h_inlining *inlining,
                                                 struct g2h_call *calls, size_t *count);

/* ---- about the file ---- */

/* Returns the number of global variables that have names: 0 if the executable is stripped. */
G2H_PUBLIC size_t g2h_exe_variable_count(const struct g2h_exe *exe);

/* Whether the executable's DWARF was read. */
enum g2h_exe_dwarf {
    G2H_EXE_DWARF_NONE, /* none: stripped, or linked with -w */
    G2H_EXE_DWARF_READ,
};
G2H_PUBLIC enum g2h_exe_dwarf g2h_exe_dwarf(const struct g2h_exe *exe);

/* Returns how many types the executable has, in its descriptors and in DWARF, counting only those
 * that the dump's variables can have; 0 before it is matched. */
G2H_PUBLIC size_t g2h_exe_type_count(const struct g2h_exe *exe);

/* Returns how many types the dump has by a name that the executable does not have at their address;
 * they are left out. *ret_all is the number of types that the dump names. Both are 0 before it is
 * matched. */
G2H_PUBLIC size_t g2h_exe_unfit_types(const struct g2h_exe *exe, size_t *ret_all);

/* Returns the N of go1.N, the release of Go that built the executable, or 0 if unknown. If the
 * version in the file does not name the release ("unknown", as obfuscators write it, "devel
 * +hash"), it is guessed from the functions and structures of the runtime, and *ret_is_guess is
 * true. */
G2H_PUBLIC int g2h_exe_release(const struct g2h_exe *exe, bool *ret_is_guess);

/* Returns an open file: the executable itself (index 0), or its separate debug file (index 1), NULL
 * if there is none. */
G2H_PUBLIC const struct g2h_input *g2h_exe_input(const struct g2h_exe *exe, unsigned index);

/* Returns the executable's path, for messages. */
G2H_PUBLIC const char *g2h_exe_path(const struct g2h_exe *exe);

G2H_END

#endif
