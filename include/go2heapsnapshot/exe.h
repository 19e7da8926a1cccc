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
