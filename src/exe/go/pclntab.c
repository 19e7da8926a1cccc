/*
 * pclntab: Go's table of functions, files and lines, and moduledata, which has the addresses of a
 * program's other tables; see pclntab.h. The parts: finding the table, by section, symbol, or magic
 * number, in the layouts of Go 1.2, 1.16 and 1.18; functions by address and by name; and moduledata
 * in each release. Each offset is checked before it is followed.
 */
#include "exe/go/pclntab.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/elf_format.h"
#include "base/memory.h"

/* ==== functions, files and lines ====
 *
 * Every offset in the table is checked before it is followed.
 */

/* Names of functions and files are cut to this many bytes, which is more than any class name
 * has. */
enum { PCLNTAB_LONGEST_TEXT = 4096 };

/* ---- files that are not Go executables ---- */

/* A string in two halves, so that this program's own executable does not contain it. */
struct mark {
    uint64_t within; /* of the file, from its start */
    const char *half, *rest;
    const char *what, *remedy;
};

static const char unpack[] = "`upx -d -o UNPACKED PACKED` makes the executable for --exe of it",
                  other_heap[] =
                      "it has another heap than programs of the toolchain of golang.org, "
                      "and is not read",
                  original[] =
                      "give --exe the executable as the linker wrote it, before a packer or "
                      "obfuscator changed it";

static const struct mark marks[] = {
    {4096, "UP", "X!", "is packed by UPX", unpack},
    {UINT64_MAX, "libgo", ".so.", "was built by gccgo", other_heap},
    {UINT64_MAX, "__go_init", "_main", "was built by gccgo", other_heap},
    {UINT64_MAX, "libgo/", "runtime/", "was built by gccgo", other_heap},
    {UINT64_MAX, "tinygo", "_", "was built by TinyGo", other_heap},
    {UINT64_MAX, "tinygo", ".", "was built by TinyGo", other_heap},
    {UINT64_MAX, "Tiny", "Go ", "was built by TinyGo", other_heap},
    {UINT64_MAX, "\xff Go ", "buildinf:", "its table of functions (pclntab) is not found",
     original},
};

/* Returns whether the file contains a string of the table of marks. */
static bool has_mark(const struct image *image, const struct mark *mark)
{
    const size_t half = strlen(mark->half);
    const size_t rest = strlen(mark->rest);
    const uint8_t *at = image->file.data;
    const uint8_t *end = at + MIN(mark->within, image->file.size);
    while ((at = memmem(at, as_size(end - at), mark->half, half)) != NULL) {
        at += half;
        if (as_size(end - at) >= rest && memcmp(at, mark->rest, rest) == 0)
            return true;
    }
    return false;
}

/* Returns the error (G2H_ERROR_NOT_EXE) that the file is no Go executable, with what a mark says of
 * it. */
static struct g2h_error *refuse_not_go(const struct image *image)
{
    for (size_t i = 0; i < COUNT_OF(marks); i++)
        if (has_mark(image, &marks[i]))
            return error_create(G2H_ERROR_NOT_EXE, "%s: %s; %s", image->path, marks[i].what,
                                marks[i].remedy);
    return error_create(G2H_ERROR_NOT_EXE, "%s: has no function table (pclntab): not a Go program",
                        image->path);
}

/* ---- the table ---- */

static const uint32_t MAGIC_GO12 = 0xfffffffb, MAGIC_GO116 = 0xfffffffa, MAGIC_GO118 = 0xfffffff0,
                      MAGIC_GO120 = 0xfffffff1;

/* Returns size bytes at an offset of the table, or NULL if the table does not have them. */
static inline const uint8_t *pclntab_at(const struct pclntab *pclntab, uint64_t offset,
                                        uint64_t size)
{
    if (offset > pclntab->table.size || size > pclntab->table.size - offset)
        return NULL;
    return pclntab->table.data + offset;
}

/* Returns the number at an offset of the table, or 0 if that is outside the table. All functions
 * are listed several times, so numbers of four bytes, as most are, are read without a call. */
static inline uint64_t table_number(const struct pclntab *pclntab, uint64_t offset, unsigned size)
{
    const uint8_t *bytes = pclntab_at(pclntab, offset, size);
    if (!bytes)
        return 0;
    if (size == 4)
        return pclntab->image->big_endian ? u32_big(bytes) : u32_little(bytes);
    return image_word(pclntab->image, bytes);
}

/* Returns the string at an offset, cut if it is long, because many functions may share one. It is
 * empty if it does not end in the table. */
static struct g2h_bytes table_text(const struct pclntab *pclntab, uint64_t offset)
{
    struct g2h_bytes text = bytes_none;
    if (offset >= pclntab->table.size)
        return text;
    const uint64_t left = pclntab->table.size - offset;
    const size_t most = left < PCLNTAB_LONGEST_TEXT ? (size_t)left : PCLNTAB_LONGEST_TEXT;
    const uint8_t *start = pclntab->table.data + offset;
    const uint8_t *end = memchr(start, 0, most);
    if (end || left > most)
        text = (struct g2h_bytes){start, end ? as_size(end - start) : most};
    return text;
}

/* Returns a word of the header; index 0 is the word after its first eight bytes. */
static uint64_t header_word(const struct pclntab *pclntab, unsigned index)
{
    return table_number(pclntab, 8 + (uint64_t)index * pclntab->pointer_size,
                        pclntab->pointer_size);
}

/* ---- layouts ---- */

/* Returns the offset in the table of a function's record. */
static uint64_t record_at(const struct pclntab *pclntab, uint64_t index)
{
    uint64_t offset = table_number(
        pclntab, pclntab->functab + (2 * index + 1) * pclntab->entry_size, pclntab->entry_size);
    return pclntab->version == PCLNTAB_GO12 ? offset : pclntab->functab + offset;
}

/* Reads the layout of Go 1.2 to 1.15, whose header has only the number of functions; the offset of
 * the table of files follows the table of functions. Returns false if the number is invalid. */
static bool read_go12(struct pclntab *pclntab)
{
    pclntab->version = PCLNTAB_GO12;
    pclntab->functab = 8 + pclntab->pointer_size;
    if (pclntab->count > pclntab->table.size)
        return false;
    pclntab->files = table_number(
        pclntab, pclntab->functab + (2 * pclntab->count + 1) * pclntab->pointer_size, 4);
    return true;
}

/* Reads the offsets of the table's parts; first is the index of the first one in the header. */
static void pclntab_read_parts(struct pclntab *pclntab, unsigned first)
{
    pclntab->names = header_word(pclntab, first);
    pclntab->cus = header_word(pclntab, first + 1);
    pclntab->files = header_word(pclntab, first + 2);
    pclntab->pcs = header_word(pclntab, first + 3);
    pclntab->functab = header_word(pclntab, first + 4);
}

/* Reads the layout of Go 1.16 and 1.17, whose header has the offsets of the parts. */
static void read_go116(struct pclntab *pclntab)
{
    pclntab->version = PCLNTAB_GO116;
    pclntab_read_parts(pclntab, 2);
}

enum { RECORD_GO118 = 40, RECORD_GO120 = 44 /* with startLine */ };

enum { HEADER_WORDS_GO116 = 2 + 5 /* parts */, HEADER_WORDS_GO118 = 3 + 5 };

/* Reads the layout since Go 1.18, in which entries are 32-bit offsets from the text's start.
 * record_size: of a function's record, RECORD_GO…. */
static void read_go118(struct pclntab *pclntab, unsigned record_size)
{
    pclntab->version = PCLNTAB_GO118;
    pclntab_read_parts(pclntab, 3); /* after textStart */
    pclntab->entry_size = 4;
    pclntab->record_size = record_size;
}

/* Returns whether the parts follow each other, as the linker writes them: the first one after a
 * header of eight bytes and this many words, at most 32 bytes aligned. */
static bool has_parts(const struct pclntab *pclntab, unsigned words)
{
    const uint64_t header = 8 + (uint64_t)words * pclntab->pointer_size;
    const uint64_t aligned = 32;
    return pclntab->names >= header && pclntab->names < header + aligned &&
           pclntab->names < pclntab->cus && pclntab->cus < pclntab->files &&
           pclntab->files < pclntab->pcs && pclntab->pcs < pclntab->functab &&
           pclntab->functab < pclntab->table.size;
}

/* Returns whether the records of up to FIRST functions are plausible: each ends, with its lists of
 * pcdata and funcdata, where the next one begins, but for the alignment. */
static bool has_records(const struct pclntab *pclntab)
{
    enum { FIRST = 64 };
    struct pclntab_function function;
    for (uint64_t i = 0; i + 1 < pclntab->count && i < FIRST; i++) {
        if (!pclntab_function(pclntab, i, &function))
            return false;
        const uint64_t end = record_at(pclntab, i) + pclntab->record_size +
                             4 * ((uint64_t)function.pcdata_count + function.funcdata_count);
        const uint64_t next = record_at(pclntab, i + 1);
        if (next < end || next - end >= pclntab->pointer_size)
            return false;
    }
    return true;
}

/* Reads the table of a program whose magic number an obfuscator has replaced. Nothing else in the
 * header differs, so that the layouts are tried, the newest first, until one fits. Returns false if
 * none does. */
static bool read_obfuscated(struct pclntab *pclntab)
{
    read_go118(pclntab, RECORD_GO120);
    if (has_parts(pclntab, HEADER_WORDS_GO118) && has_records(pclntab))
        return true;
    pclntab->record_size = RECORD_GO118;
    if (has_parts(pclntab, HEADER_WORDS_GO118) && has_records(pclntab))
        return true;
    pclntab->record_size = 0;
    pclntab->entry_size = pclntab->pointer_size;
    read_go116(pclntab);
    return has_parts(pclntab, HEADER_WORDS_GO116);
}

/* Reads the layout that the magic number says. Returns false if it is not known (unless any_magic,
 * as of obfuscated programs) or damaged. */
static bool read_layout(struct pclntab *pclntab, uint32_t magic, bool any_magic)
{
    if (magic == MAGIC_GO12)
        return read_go12(pclntab);
    if (magic == MAGIC_GO116)
        read_go116(pclntab);
    else if (magic == MAGIC_GO118 || magic == MAGIC_GO120)
        read_go118(pclntab, magic == MAGIC_GO118 ? RECORD_GO118 : RECORD_GO120);
    else
        return any_magic && read_obfuscated(pclntab);
    return true;
}

/* Reads and checks the header (runtime/symtab.go: pcHeader): the magic number, two zero bytes, the
 * sizes of instructions and of pointers, which must be the machine's, and the number of functions,
 * at least one, all of which the table must have. any_magic: an obfuscator may have changed the
 * magic number, so with another one the layout is the one whose parts fit. Returns false if it is
 * no such table. */
static bool pclntab_read_header(struct pclntab *pclntab, bool any_magic)
{
    const uint8_t *header = pclntab_at(pclntab, 0, 8);
    if (!header || header[4] != 0 || header[5] != 0)
        return false;
    pclntab->quantum = header[6];
    pclntab->pointer_size = header[7];
    if (pclntab->pointer_size != (pclntab->image->is_64 ? 8 : 4) ||
        (pclntab->quantum != 1 && pclntab->quantum != 2 && pclntab->quantum != 4))
        return false;
    pclntab->count = header_word(pclntab, 0);
    pclntab->entry_size = pclntab->pointer_size;
    if (!read_layout(pclntab, image_u32(pclntab->image, header), any_magic) ||
        pclntab->count == 0 || pclntab->count > pclntab->table.size / (2 * pclntab->entry_size) ||
        !pclntab_at(pclntab, pclntab->functab, (2 * pclntab->count + 1) * pclntab->entry_size))
        return false;
    pclntab->first = table_number(pclntab, pclntab->functab, pclntab->entry_size);
    return true;
}

/* ---- finding it ---- */

/* Returns whether a readable table begins at an offset of a section. */
static bool try_at(struct pclntab *pclntab, const struct image *image,
                   const struct image_section *section, uint64_t offset, bool any_magic)
{
    *pclntab = (struct pclntab){.image = image, .address = section->address + offset};
    pclntab->table = bytes_from(section->data, offset);
    return pclntab_read_header(pclntab, any_magic);
}

/* Finds the table by the symbol runtime.pclntab: without a section of its own, as in PE, the symbol
 * may remain. Returns false if it is not found. */
static bool find_by_symbol(struct pclntab *pclntab, const struct image *image)
{
    struct image_symbol symbol;
    if (!image_symbol_named(image, "runtime.pclntab", &symbol) ||
        symbol.section >= image->section_count)
        return false;
    const struct image_section *section = &image->sections[symbol.section];
    const uint64_t offset = symbol.address - section->address;
    return offset < section->data.size && try_at(pclntab, image, section, offset, true);
}

/* Returns whether writable data of the program contains an aligned pointer to an address, as
 * runtime.firstmoduledata points to the table. */
static bool is_referenced(const struct image *image, uint64_t address)
{
    const size_t word = image->is_64 ? 8 : 4;
    for (size_t i = 0; i < image->section_count; i++) {
        const struct image_section *section = &image->sections[i];
        if ((section->flags & SHF_ALLOC) == 0 || (section->flags & SHF_WRITE) == 0)
            continue;
        for (uint64_t at = 0; section->data.size - at >= word; at += word)
            if (image_word(image, section->data.data + at) == address)
                return true;
    }
    return false;
}

/* Returns whether the addresses of up to FIRST functions ascend. */
static bool is_ascending(const struct pclntab *pclntab)
{
    enum { FIRST = 64 };
    for (uint64_t i = 0; i < pclntab->count && i < FIRST; i++)
        if (pclntab_entry(pclntab, i + 1) <= pclntab_entry(pclntab, i))
            return false;
    return true;
}

/* Finds the table by its magic number, or by its header alone if any number will do. A program may
 * have tables of other programs as data: so it must be one whose functions ascend, and that data of
 * the program points to; 16 such candidates are tried. Returns false if it is not found. */
static bool find_by_magic(struct pclntab *pclntab, const struct image *image, bool any_magic)
{
    unsigned candidates = 16; /* each costs a pass over the data */
    for (size_t i = 0; i < image->section_count; i++) {
        const struct image_section *section = &image->sections[i];
        if ((section->flags & SHF_ALLOC) == 0)
            continue;
        for (uint64_t at = 0; section->data.size - at >= 8; at += 4) {
            /* MAGIC_GO118 is the lowest of the magic numbers. */
            if ((!any_magic && image_u32(image, section->data.data + at) < MAGIC_GO118) ||
                !try_at(pclntab, image, section, at, any_magic) || !is_ascending(pclntab))
                continue;
            if (is_referenced(image, pclntab->address))
                return true;
            if (--candidates == 0)
                return false;
        }
    }
    return false;
}

/* Finds the function table. The section has the table at its start. Otherwise the symbol leads to
 * it, or else the data is searched. */
struct g2h_error *pclntab_init(struct pclntab *pclntab, const struct image *image)
{
    static const char *const names[] = {".gopclntab", ".data.rel.ro.gopclntab"};
    for (size_t i = 0; i < 2; i++) {
        const struct image_section *section = image_section(image, names[i]);
        if (!section)
            continue;
        if (section->type == SHT_NOBITS)
            return error_create(G2H_ERROR_NOT_EXE,
                                "%s: holds debug information only: give the executable that it was "
                                "taken from",
                                image->path);
        if (try_at(pclntab, image, section, 0, true))
            return NULL;
        return error_create(G2H_ERROR_NOT_EXE,
                            "%s: its table of functions (pclntab) has an unknown layout",
                            image->path);
    }
    if (find_by_symbol(pclntab, image) || find_by_magic(pclntab, image, false) ||
        find_by_magic(pclntab, image, true))
        return NULL;
    return refuse_not_go(image);
}

/* ---- queries ---- */

/* Returns the release of Go, 1.N, that the form of the table is from: later ones may have it,
 * too. */
int pclntab_since(const struct pclntab *pclntab)
{
    switch (pclntab->version) {
    case PCLNTAB_GO12:
        return 2;
    case PCLNTAB_GO116:
        return 16;
    default:
        return pclntab_has_start_lines(pclntab) ? 20 : 18;
    }
}

/* Returns how far a function begins from the first one. The table has addresses or, since 1.18,
 * offsets: both are made relative to the first function. */
uint64_t pclntab_entry(const struct pclntab *pclntab, uint64_t index)
{
    return table_number(pclntab, pclntab->functab + 2 * index * pclntab->entry_size,
                        pclntab->entry_size) -
           pclntab->first;
}

/* Returns a field, of 32 bits, of a function's record; field 0 follows the function's address,
 * which has entry_size bytes. */
static uint32_t record_field(const struct pclntab *pclntab, uint64_t index, unsigned field)
{
    return (uint32_t)table_number(pclntab,
                                  record_at(pclntab, index) + pclntab->entry_size + 4 * field, 4);
}

enum {
    FIELD_NAME = 0,
    FIELD_ARGS = 1,
    FIELD_DEFERRETURN = 2,
    FIELD_PCSP = 3,
    FIELD_PCFILE = 4,
    FIELD_PCLN = 5,
    FIELD_NPCDATA = 6,
    FIELD_CU = 7,
    FIELD_START_LINE = 8
};

struct g2h_bytes pclntab_name_at(const struct pclntab *pclntab, uint64_t offset)
{
    return table_text(pclntab, pclntab->names + offset);
}

/* Returns the name of a function by its index; empty if there is none. A dozen passes read the
 * names of all functions: those that have been measured (name_sizes) need no search for their end.
 */
struct g2h_bytes pclntab_name(const struct pclntab *pclntab, uint64_t index)
{
    const uint64_t offset = record_field(pclntab, index, FIELD_NAME);
    if (!pclntab->name_sizes)
        return pclntab_name_at(pclntab, offset);
    const size_t size = pclntab->name_sizes[index];
    /* NULL: another program writes to the file. */
    const uint8_t *text = pclntab_at(pclntab, pclntab->names + offset, size);
    return size > 0 && text ? bytes_at(text, size) : bytes_none;
}

/* Searches by bisection; false behind the last function, or before the first. */
bool pclntab_find(const struct pclntab *pclntab, uint64_t offset, uint64_t *ret)
{
    uint64_t after;
    if (offset >= pclntab_entry(pclntab, pclntab->count))
        return false;
    BISECT(after, pclntab->count, pclntab_entry(pclntab, after) <= offset);
    *ret = after - 1;
    return after > 0;
}

/* Begins to read a table of values; false if there is none. A table says which value holds for
 * which range of instructions, by differences of both: values start at -1, as the linker writes
 * them. */
bool pclntab_parts_begin(const struct pclntab *pclntab, uint32_t table, uint64_t index,
                         uint64_t left, struct pclntab_parts *ret)
{
    const uint64_t offset = pclntab->pcs + table;
    const uint8_t *start = pclntab_at(pclntab, offset, 1);
    if (!start)
        return false;
    const uint64_t size = pclntab->table.size - offset;
    *ret = (struct pclntab_parts){.quantum = pclntab->quantum,
                                  .cursor = {start, start + MIN(size, left)},
                                  .start = start,
                                  .end = pclntab_entry(pclntab, index),
                                  .value = -1};
    return true;
}

/* Reads the next value of a table, and up to where it holds; false at the end. A table is a list of
 * pairs of differences: that of the value (zigzag), and that of the program counter (in quanta). A
 * difference of 0 between values ends it, unless it is the first. */
bool pclntab_parts_next(struct pclntab_parts *parts)
{
    const bool is_first = parts->cursor.at == parts->start;
    uint64_t step, advance;
    if (!cursor_uvarint(&parts->cursor, &step) || (step == 0 && !is_first) ||
        !cursor_uvarint(&parts->cursor, &advance))
        return false;
    step &= 0xffffffff;
    parts->value += (step & 1) != 0 ? -(int64_t)(step >> 1) - 1 : (int64_t)(step >> 1);
    parts->end += advance * parts->quantum;
    return true;
}

/* Finds the value of a table at an address of code. The table has differences, so it must be read
 * from its start. *left is lowered by the bytes read. Returns false if it has none, or for table 0,
 * which is none. */
bool pclntab_value(const struct pclntab *pclntab, uint32_t table, uint64_t index, uint64_t offset,
                   uint64_t *left, int64_t *ret)
{
    struct pclntab_parts parts;
    bool found = false;
    if (table == 0 || !pclntab_parts_begin(pclntab, table, index, *left, &parts))
        return false;
    while (!found && pclntab_parts_next(&parts))
        found = offset < parts.end;
    *left -= as_size(parts.cursor.at - parts.start);
    *ret = parts.value;
    return found;
}

/* Returns the path of a source file by its number. Since Go 1.16 a number of a file is relative to
 * its compilation unit (CU), whose list has the offsets of the names. */
struct g2h_bytes pclntab_file(const struct pclntab *pclntab, uint64_t index, int64_t file)
{
    if (file < 0)
        return bytes_none;
    if (pclntab->version == PCLNTAB_GO12)
        return table_text(pclntab, table_number(pclntab, pclntab->files + 4 * (uint64_t)file, 4));
    const uint64_t cu = record_field(pclntab, index, FIELD_CU);
    const uint64_t name = table_number(pclntab, pclntab->cus + 4 * (cu + (uint64_t)file), 4);
    return name == UINT32_MAX ? bytes_none : table_text(pclntab, pclntab->files + name);
}

/* Finds the file and the line of the code at a distance from the first function. Returns false if
 * the file or the line is not known. *left limits the work. */
bool pclntab_line(const struct pclntab *pclntab, uint64_t index, uint64_t offset, uint64_t *left,
                  struct g2h_bytes *ret_file, uint32_t *ret_line)
{
    int64_t file, line;
    if (!pclntab_value(pclntab, record_field(pclntab, index, FIELD_PCFILE), index, offset, left,
                       &file) ||
        !pclntab_value(pclntab, record_field(pclntab, index, FIELD_PCLN), index, offset, left,
                       &line) ||
        file < 0 || line <= 0 || line > UINT32_MAX)
        return false;
    *ret_file = pclntab_file(pclntab, index, file);
    *ret_line = (uint32_t)line;
    return ret_file->size > 0;
}

/* The last bytes of a function's record: how far before its end they are. */
enum { FROM_END_FUNC_ID = 4, FROM_END_FLAG = 3, FROM_END_NFUNCDATA = 1 };

/* Reads the record of a function (runtime/runtime2.go: _func), which ends in funcID, flag, a byte
 * of padding and nfuncdata. The list of pcdata follows the record, then that of funcdata, 4 bytes
 * for each. Returns false if the table ends before they do. */
bool pclntab_function(const struct pclntab *pclntab, uint64_t index, struct pclntab_function *ret)
{
    const uint64_t record = record_at(pclntab, index);
    const uint64_t size = pclntab->record_size;
    const uint8_t *bytes = size > 0 ? pclntab_at(pclntab, record, size) : NULL;
    if (!bytes)
        return false;
    *ret = (struct pclntab_function){
        .args = (int32_t)record_field(pclntab, index, FIELD_ARGS),
        .deferreturn = record_field(pclntab, index, FIELD_DEFERRETURN),
        .pcsp = record_field(pclntab, index, FIELD_PCSP),
        .pcfile = record_field(pclntab, index, FIELD_PCFILE),
        .pcln = record_field(pclntab, index, FIELD_PCLN),
        .start_line =
            pclntab_has_start_lines(pclntab) ? record_field(pclntab, index, FIELD_START_LINE) : 0,
        .id = bytes[size - FROM_END_FUNC_ID],
        .flag = bytes[size - FROM_END_FLAG],
        .pcdata_count = record_field(pclntab, index, FIELD_NPCDATA),
        .funcdata_count = bytes[size - FROM_END_NFUNCDATA],
    };
    const uint64_t pcdata = 4 * (uint64_t)ret->pcdata_count;
    ret->pcdata = pclntab_at(pclntab, record + size, pcdata + 4 * (uint64_t)ret->funcdata_count);
    ret->funcdata = ret->pcdata ? ret->pcdata + pcdata : NULL;
    return ret->pcdata != NULL;
}

/* Returns the funcID of the functions that the compiler made (abi.FuncIDWrapper): the highest one,
 * which depends on the release. Every executable has such functions: methods of embedded types. 0
 * if the table has no records. */
uint8_t pclntab_wrapper_id(const struct pclntab *pclntab)
{
    const uint64_t size = pclntab->record_size;
    uint8_t most = 0;
    for (uint64_t i = 0; size > 0 && i < pclntab->count; i++) {
        const uint8_t *record = pclntab_at(pclntab, record_at(pclntab, i), size);
        most = record ? MAX(record[size - FROM_END_FUNC_ID], most) : most;
    }
    return most;
}

/* ---- functions by name ---- */

/* Returns the key by which a function's name is looked up: its hash. pclntab_name() cuts long
 * names, so a name that is looked up is cut as well. */
static uint64_t key_of_name(struct g2h_bytes name)
{
    return map_hash_text(name.data, MIN(name.size, PCLNTAB_LONGEST_TEXT));
}

/* Maps the name of each function to its index; a name of several functions is FUNCTION_AMBIGUOUS.
 * In a sound executable each function has its own name, or shares a short one with other instances
 * of a generic function; so names that are much longer in sum than the table share bytes, and
 * hashing them could take forever. */
static struct g2h_error *add_names(struct function_names *names, const struct pclntab *pclntab)
{
    uint64_t left = 4 * pclntab->table.size; /* bytes of names that may still be hashed */
    TRY_MEMORY(map_reserve(&names->index_of, (size_t)pclntab->count));
    for (uint64_t i = 0; i < pclntab->count; i++) {
        const struct g2h_bytes name = pclntab_name(pclntab, i);
        uint32_t number;
        if (name.size > left)
            return error_create(G2H_ERROR_NOT_EXE,
                                "%s: its table of functions (pclntab) is damaged: their names are "
                                "longer than the table",
                                pclntab->image->path);
        left -= name.size;
        names->sizes[i] = (uint16_t)name.size;
        const uint64_t key = key_of_name(name);
        if (!map_put(&names->index_of, key, as_u32(i), &number))
            return &error_no_memory;
        if (number != i)
            map_set(&names->index_of, key, FUNCTION_AMBIGUOUS);
    }
    return NULL;
}

/* Indexes the names of all functions. */
struct g2h_error *function_names_init(struct function_names *names, const struct pclntab *pclntab)
{
    _Static_assert(PCLNTAB_LONGEST_TEXT <= UINT16_MAX, "sizes of names have 16 bits");
    if (pclntab->count >= FUNCTION_AMBIGUOUS)
        return error_create(G2H_ERROR_NOT_EXE, "%s: its table of functions (pclntab) is damaged",
                            pclntab->image->path);
    *names =
        (struct function_names){.sizes = calloc((size_t)pclntab->count, sizeof(*names->sizes))};
    TRY_MEMORY(names->sizes);
    struct g2h_error *error = add_names(names, pclntab);
    if (error)
        function_names_deinit(names);
    return error;
}

void function_names_deinit(struct function_names *names)
{
    map_deinit(&names->index_of);
    free(names->sizes);
    names->sizes = NULL;
}

uint32_t function_names_find(const struct function_names *names, struct g2h_bytes name)
{
    return map_get(&names->index_of, key_of_name(name));
}

/* ==== the addresses of the parts of a Go program, from its runtime.firstmoduledata ====
 *
 * Layouts: runtime/symtab.go of each release.
 */

/* A layout of the moduledata: the index of each field's word. The words from text to end are pairs
 * of a start and an end. */
struct moduledata_layout {
    uint8_t text, data, bss, end, gcdata, types, etypes, gofunc; /* gofunc 0: there is none */
    uint8_t since;                                               /* the first release: go1.N */
};

/* The newest first: where a newer layout fits, an older one may seem to fit as well, but not the
 * other way round. */
static const struct moduledata_layout layouts[] = {
    {22, 26, 28, 34, 35, 37, 39, 43, 27}, /* 1.27: typedesclen before etypes */
    {22, 26, 28, 34, 35, 37, 38, 40, 20}, /* 1.20 to 1.26: covctrs before end */
    {22, 26, 28, 32, 33, 35, 36, 38,
     16},                               /* 1.16 to 1.19: pclntab in five parts; gofunc from 1.18 */
    {12, 16, 18, 22, 23, 25, 26, 0, 7}, /* 1.7 to 1.15 */
};

enum { WORDS = 44 }; /* all fields that are read are among these first words */

/* Indexes from text on: minpc and maxpc come before text, and each end follows its start. */
enum { BEFORE_TEXT_MINPC = 2, BEFORE_TEXT_MAXPC = 1 };

/* Reads the moduledata in a layout. Returns false if its fields are not valid in it: pairs of
 * addresses are not in order, segments overlap, or gcdata and gcbss are not read-only. */
static bool read_as(const struct moduledata_layout *layout, const uint64_t *words,
                    struct moduledata *ret)
{
    *ret = (struct moduledata){
        .minpc = words[layout->text - BEFORE_TEXT_MINPC],
        .text = words[layout->text],
        .etext = words[layout->text + 1],
        .data = words[layout->data],
        .edata = words[layout->data + 1],
        .bss = words[layout->bss],
        .ebss = words[layout->bss + 1],
        .since = layout->since,
        .types = words[layout->types],
        .etypes = words[layout->etypes],
        .gofunc = layout->gofunc > 0 ? words[layout->gofunc] : 0,
    };
    const uint64_t minpc = ret->minpc;
    const uint64_t maxpc = words[layout->text - BEFORE_TEXT_MAXPC];
    for (size_t i = layout->text; i < layout->end; i += 2)
        if (words[i] > words[i + 1])
            return false;
    if (ret->text > minpc || minpc >= maxpc || ret->edata > ret->bss ||
        ret->ebss > words[layout->end] || ret->types == 0 || ret->types >= ret->etypes)
        return false;
    for (size_t i = layout->gcdata; i < layout->gcdata + 2u; i++) /* gcdata, gcbss: read-only */
        if (words[i] >= ret->data && words[i] < words[layout->end])
            return false;
    /* The word between types and etypes, if there is one, is a length, not an address. */
    return layout->etypes == layout->types + 1 ||
           words[layout->types + 1] < ret->etypes - ret->types;
}

/* Reads the moduledata at a position of the file, in the newest layout that its fields are valid
 * in. Returns false if there is none. */
static bool read_at(const struct image *image, const uint8_t *at, struct moduledata *ret)
{
    const size_t word = image->is_64 ? 8 : 4;
    uint64_t words[WORDS];
    for (size_t i = 0; i < WORDS; i++)
        words[i] = image_word(image, at + i * word);
    for (size_t i = 0; i < COUNT_OF(layouts); i++)
        if (read_as(&layouts[i], words, ret)) {
            ret->at = at;
            return true;
        }
    return false;
}

/* Finds the moduledata; false if there is none. The first field is the address of the pclntab:
 * aligned words of writable data with this address are candidates, of which 64 are tried. */
bool moduledata_find(const struct image *image, const struct pclntab *pclntab,
                     struct moduledata *ret)
{
    const uint64_t table = pclntab->address;
    const size_t word = image->is_64 ? 8 : 4;
    uint8_t wanted[8];
    for (size_t i = 0; i < word; i++)
        wanted[i] = (uint8_t)(table >> 8 * (image->big_endian ? word - 1 - i : i));
    unsigned candidates = 64; /* other words may have the pclntab's address, but not this many */
    for (size_t i = 0; table != 0 && i < image->section_count; i++) {
        const struct image_section *section = &image->sections[i];
        if ((section->flags & SHF_ALLOC) == 0 || (section->flags & SHF_WRITE) == 0)
            continue;
        for (uint64_t at = 0; candidates > 0 && at + WORDS * word <= section->data.size;
             at += word) {
            if (memcmp(section->data.data + at, wanted, word) != 0)
                continue;
            if (read_at(image, section->data.data + at, ret))
                return true;
            candidates--;
        }
    }
    *ret = (struct moduledata){0};
    return false;
}
