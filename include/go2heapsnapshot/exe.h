/*
 * A Go executable, for the names and types that a dump does not have.
 *
 * ELF, Mach-O and PE are read, 32 and 64 bit, of either byte order. Stripped executables have the
 * pclntab (functions, files and lines) and the runtime's type descriptors. The others have a symbol
 * table (global variables) and DWARF (types of globals, locals and captured variables) as well, in
 * themselves or in a separate debug file. Layouts are those of debug/gosym and cmd/link of
 * Go 1.2 … 1.27.
 *
 * An executable tells nothing of a process before g2h_exe_match() (match.h) has found out that it
 * wrote a dump. From then on it is constant, so all threads may ask it.
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
 * Opens an executable. Errors: G2H_ERROR_SYSTEM; G2H_ERROR_MEMORY; G2H_ERROR_NOT_EXE where the file
 * has none of these formats, has no pclntab (then it is no Go program), or is damaged.
 */
G2H_PUBLIC struct g2h_error *g2h_exe_open(const char *path, struct g2h_exe **ret);
G2H_PUBLIC void g2h_exe_close(struct g2h_exe *exe);

/* A line of source. The texts are of the executable and not terminated; line 0 where it is unknown.
 */
struct g2h_line {
    struct g2h_bytes function, file;
    uint64_t entry; /* address of the function in the process */
    uint32_t line;
};

/* The function and line at an address of the process; false where it is in no function. */
G2H_PUBLIC bool g2h_exe_line(const struct g2h_exe *exe, uint64_t address, struct g2h_line *ret);

/* The global variable at an address of the process, and the offset in it; false where none is known
 * there. */
G2H_PUBLIC bool g2h_exe_variable(const struct g2h_exe *exe, uint64_t address,
                                 struct g2h_bytes *ret_name, uint64_t *ret_offset);

/*
 * The name of the type whose descriptor (abi.Type) is at an address of the process, with the full
 * paths of packages: "*net/http.conn". Very long names are cut. False where none is known there,
 * and for dumps before Go 1.7. The text is valid until the executable is matched again or closed.
 */
G2H_PUBLIC bool g2h_exe_type_name(const struct g2h_exe *exe, uint64_t address,
                                  struct g2h_bytes *ret);

/* ---- calls that were inlined ---- */

/* A call of a stack, as runtime.Frame has it. Texts are not terminated. */
struct g2h_call {
    struct g2h_bytes function, file;
    uint32_t line;
    uint32_t start_line;     /* of the function's declaration; 0: not known, and before Go 1.20 */
    struct g2h_bytes behind; /* the function at the address it returns to: runtime.FuncForPC() */
    bool is_inlined;         /* by the compiler, into the next call */
};

/* Knows which calls the compiler has inlined where. One for each thread. */
struct g2h_inlining;

/* What it gives lasts as long as exe, which need not be matched. Errors: G2H_ERROR_MEMORY. */
G2H_PUBLIC struct g2h_error *g2h_inlining_create(const struct g2h_exe *exe,
                                                 struct g2h_inlining **ret);
G2H_PUBLIC void g2h_inlining_destroy(struct g2h_inlining *inlining);

/* So many calls may come behind those of a stack that was cut: see below. */
enum { G2H_MOST_INLINED = 64 };

/*
 * Repairs the stack of an allocation site. A dump has program counters of such stacks as the
 * function that holds the code, and the file and line of the innermost call that was inlined there
 * (dumpmemprof_callback() of runtime/heapdump.go): so of g.f inlined into main.main it says that
 * main.main is in g.go. By that function, file and line the place in the code is found, and by the
 * function's inline tree (runtime/symtabinl.go) who is called there. Of several places the one
 * whose callers the stack has as well is taken.
 *
 * calls: *count of them, innermost first, with function, file and line; there is room for
 * G2H_MOST_INLINED more. All are given function and start_line of the call that they stand for, and
 * behind and is_inlined; what is not found in the executable stays as it is. Where the stack was
 * cut amid inlined calls, the others are appended, as runtime/pprof does.
 *
 * Executables of Go 1.18 and later have what this needs; those of before change nothing. However
 * many stacks are asked for, it takes time in proportion to the executable: once that is used up,
 * which damaged files may do, nothing more is repaired. Errors: G2H_ERROR_MEMORY.
 */
G2H_PUBLIC struct g2h_error *g2h_inlining_repair(struct g2h_inlining *inlining,
                                                 struct g2h_call *calls, size_t *count);

/* ---- about the file ---- */

/* How many global variables have names: 0 of a stripped executable. */
G2H_PUBLIC size_t g2h_exe_variable_count(const struct g2h_exe *exe);

/* What became of its DWARF. */
enum g2h_exe_dwarf {
    G2H_EXE_DWARF_NONE, /* there is none: stripped, or linked with -w */
    G2H_EXE_DWARF_READ,
};
G2H_PUBLIC enum g2h_exe_dwarf g2h_exe_dwarf(const struct g2h_exe *exe);

/* How many types the executable has, of descriptors and DWARF, as far as the dump's variables may
 * have them; 0 before it is matched. */
G2H_PUBLIC size_t g2h_exe_type_count(const struct g2h_exe *exe);

/* What is read of it: the executable's file (0), and its separate debug file (1), NULL where there
 * is none. */
G2H_PUBLIC const struct g2h_input *g2h_exe_input(const struct g2h_exe *exe, unsigned index);

/* The executable's name, for messages. */
G2H_PUBLIC const char *g2h_exe_path(const struct g2h_exe *exe);

G2H_END

#endif
