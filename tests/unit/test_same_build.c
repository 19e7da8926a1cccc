/* Covers exe/go/build_info and process/same_build: build information that is damaged, the first
 * difference between two builds, and code that a process may have changed itself. */
#include "unit.h"

#include <unistd.h>

#include "base/elf_format.h"
#include "base/text.h"
#include "exe/go/build_info.h"
#include "process/loaded.h"

/* ---- build information ---- */

enum { HEADER = 32, MOST = 1024 };

struct info {
    uint8_t bytes[MOST];
    uint64_t size;
};

static void add(struct info *info, const void *bytes, size_t size)
{
    assert_true(size <= MOST - info->size);
    memcpy(info->bytes + info->size, bytes, size);
    info->size += size;
}

static void add_text(struct info *info, const char *text, size_t size)
{
    const uint8_t length[] = {(uint8_t)(size % 128 | 128), (uint8_t)(size / 128)};
    add(info, length, sizeof(length));
    add(info, text, size);
}

/* Makes build information as the linker does from Go 1.18 on. */
static struct info info_of(const char *version, const char *lines)
{
    static const char mark[] = "0123456789abcdef";
    struct info info = {.size = 0};
    char text[MOST];
    add(&info, "\xff Go buildinf:\x08\x02", 16);
    add(&info, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    add_text(&info, version, strlen(version));
    snprintf(text, sizeof(text), "%s%s%s", mark, lines, mark);
    add_text(&info, text, strlen(text));
    return info;
}

static void described(struct info file, struct info process, const char *wanted)
{
    struct text text = {0};
    build_info_describe((struct g2h_bytes){file.bytes, file.size},
                        (struct g2h_bytes){process.bytes, process.size}, &text);
    text_append(&text, "", 1);
    assert_false(text.failed);
    assert_string_equal(text.data, wanted);
    text_deinit(&text);
}

TEST(differences)
{
    static const char plain[] = "path\tapp\nbuild\tCGO_ENABLED=0\n",
                      one[] = "path\tapp\nmod\tapp\tv1\nbuild\tvcs.revision=1f3e\n"
                              "build\tvcs.modified=false\n",
                      other[] = "path\tapp\nmod\tapp\tv2\nbuild\tvcs.revision=5a2b\n"
                                "build\tvcs.modified=true\n",
                      dirty[] = "path\tapp\nmod\tapp\tv2\nbuild\tvcs.revision=1f3e\n"
                                "build\tvcs.modified=true\n";
    described(info_of("go1.27", one), info_of("go1.27", other),
              "its vcs.revision is 1f3e, the process's 5a2b");
    described(info_of("go1.27", one), info_of("go1.27", dirty),
              "its vcs.modified is false, the process's true");
    described(info_of("go1.27", one), info_of("go1.27", plain),
              "its vcs.revision is 1f3e, the process's not known");
    described(info_of("go1.27", one), info_of("go1.26.1", one),
              "its version of Go is go1.27, the process's go1.26.1");
    described(info_of("go1.27", plain), info_of("go1.27", "path\tapp\n"),
              "only it has \"build CGO_ENABLED=0\" in its build information");
    described(info_of("go1.27", "path\tapp\n"), info_of("go1.27", "path\tapp\ndep\t\x1b[1m\n"),
              "only the process has \"dep ?[1m\" in its build information");
    described(info_of("go1.27", plain), (struct info){.size = 0}, "its build information differs");
}

/* Information of which only a part is there is not read beyond its end. */
TEST(cut)
{
    const struct info whole = info_of("go1.27", "path\tapp\nbuild\tvcs.revision=1f3e\n");
    for (uint64_t size = 0; size < whole.size; size++) {
        uint8_t *part = malloc(size + 1);
        struct text text = {0};
        struct g2h_bytes version, lines;
        assert_non_null(part);
        memcpy(part + 1, whole.bytes, size);
        const struct g2h_bytes bytes = {part + 1, size};
        assert_int_equal(build_info_read(bytes, &version, &lines), size >= HEADER);
        assert_int_equal(lines.size, 0);
        build_info_describe(bytes, (struct g2h_bytes){whole.bytes, whole.size}, &text);
        assert_true(text.size > 0);
        text_deinit(&text);
        free(part);
    }
}

/* ---- code ---- */

enum { CODE = 1024, ADDRESS = 0x401000 };

/* Returns the distance to the first difference, or -1 if there is none. */
static int differs(uint16_t machine, const uint8_t *file, const uint8_t *process)
{
    const struct same_build_code code = {
        .file = file, .process = process, .size = CODE, .address = ADDRESS, .machine = machine};
    uint64_t address;
    return same_build_code_differs(&code, &address) ? (int)(address - ADDRESS) : -1;
}

TEST(code)
{
    static const struct {
        uint16_t machine;
        unsigned size;
        uint8_t breakpoint[4];
    } machines[] = {
        {EM_X86_64, 1, {0xcc}},
        {EM_AARCH64, 4, {0x00, 0x00, 0x20, 0xd4}},
        {EM_PPC64, 4, {0x08, 0x00, 0xe0, 0x7f}},
        {EM_LOONGARCH, 4, {0x05, 0x00, 0x2a, 0x00}},
        {EM_RISCV, 2, {0x02, 0x90}},
    };
    uint8_t file[CODE], process[CODE];
    for (size_t i = 0; i < CODE; i++)
        file[i] = (uint8_t)((i * 7 + i / 256 + 3) % 128); /* no breakpoint, nor close to one */
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
        const uint16_t machine = machines[i].machine;
        memcpy(process, file, CODE);
        assert_int_equal(differs(machine, file, process), -1);
        for (int at = 0; at < CODE; at++) {
            process[at] ^= 0x10;
            assert_int_equal(differs(machine, file, process), at);
            process[at] = file[at];
        }
        for (size_t at = 0; at + 8 <= CODE; at += 4) {
            memcpy(process, file, CODE);
            memcpy(process + at, machines[i].breakpoint, machines[i].size);
            assert_int_equal(differs(machine, file, process), -1);
            process[CODE - 1] = (uint8_t)(file[CODE - 1] ^ 0x20);
            assert_int_equal(differs(machine, file, process), CODE - 1);
        }
    }
}

/* ---- where it is loaded ---- */

/* A position-independent executable is where the entry point of the process says, if no file is
 * known to be mapped there. */
TEST(by_entry_point)
{
    enum { MOST_OF_FILE = 1 << 16 };
    static uint8_t bytes[MOST_OF_FILE];
    static const uint64_t base = 0x555555554000;
    char path[] = "/tmp/test_same_build-XXXXXX";
    const int fd = mkstemp(path);
    FILE *file = fopen("tests/fuzz/corpus/exe/elf-64-1.27-pie", "rb");
    struct process process = {.pid = 0};
    struct g2h_exe *exe;
    uint64_t slide = 1;
    assert_non_null(file);
    const size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)bytes;
    header->e_entry = 0x1234;
    assert_true(write(fd, bytes, size) == (ssize_t)size);
    close(fd);
    assert_no_error(g2h_exe_open(path, &exe));
    process.entry = base + 0x1234;
    assert_true(loaded_find(&process, exe, &slide));
    assert_int_equal(slide, base);
    process.entry = 0; /* nothing is known */
    assert_true(loaded_find(&process, exe, &slide));
    assert_int_equal(slide, 0);
    g2h_exe_close(exe);
    unlink(path);
}

UNIT_MAIN(NULL, NULL)
