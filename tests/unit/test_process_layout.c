/* Covers process/layout: which releases and machines the table has, what differs between them, and
 * fields that a release does not have. tests/process/layouts.sh compares the table with DWARF. */
#include "unit.h"

#include "base/bytes.h"
#include "base/elf_format.h"
#include "process/layout.h"

static bool find(const char *release, uint16_t machine, struct layout *ret)
{
    return layout_of_release(bytes_of(release), false, machine, ret);
}

static void expect(const char *release, uint16_t machine, enum layout_field field, uint32_t offset,
                   uint32_t size)
{
    struct layout layout;
    if (!find(release, machine, &layout))
        fail_msg("%s is not known", release);
    assert_int_equal(layout.members[field].offset, offset);
    assert_int_equal(layout.members[field].size, size);
}

static void expect_same(const char *release, const char *other)
{
    struct layout one, another;
    assert_true(find(release, EM_X86_64, &one));
    assert_true(find(other, EM_X86_64, &another));
    assert_memory_equal(&one, &another, sizeof(one));
}

TEST(names_of_fields)
{
    assert_string_equal(layout_structure(LAYOUT_MHEAP_SWEEPGEN), "runtime.mheap");
    assert_string_equal(layout_field(LAYOUT_MHEAP_SWEEPGEN), "sweepgen");
    assert_string_equal(layout_field(LAYOUT_G), "");
    assert_string_equal(layout_structure(LAYOUT_TYPE_STR), "internal/abi.Type|runtime._type");
    assert_string_equal(layout_field(LAYOUT_FIELDS - 1), "Str|str");
}

TEST(releases)
{
    expect("go1.19", EM_X86_64, LAYOUT_MHEAP_ALLSPANS, 65856, 24);
    expect("go1.20.14", EM_X86_64, LAYOUT_MHEAP_ALLSPANS, 65824, 24);
    expect("go1.21.13", EM_X86_64, LAYOUT_MHEAP_ALLSPANS, 65864, 24);
    expect("go1.21", EM_X86_64, LAYOUT_MSPAN_NELEMS, 56, 8);
    expect("go1.22", EM_X86_64, LAYOUT_MSPAN_NELEMS, 50, 2);
    expect("go1.27.4", EM_X86_64, LAYOUT_MODULEDATA_NEXT, 560, 8);
    expect("go1.26.4", EM_X86_64, LAYOUT_G, 456, 456);
}

/* Fields that a release has no more, and fields that it does not have yet. */
TEST(missing_fields)
{
    expect("go1.21", EM_X86_64, LAYOUT_HEAP_ARENA_BITMAP, 0, 1048576);
    expect("go1.22", EM_X86_64, LAYOUT_HEAP_ARENA_BITMAP, 0, 0);
    expect("go1.21", EM_X86_64, LAYOUT_MSPAN_LARGE_TYPE, 0, 0);
    expect("go1.22", EM_X86_64, LAYOUT_MSPAN_LARGE_TYPE, 152, 8);
}

TEST(versions)
{
    expect_same("go1.26.4", "go1.26");
    expect_same("go1.26-devel", "go1.26");
    expect_same("go1.26rc1", "go1.26");
    expect_same("devel go1.26-2f3a4b5c Thu Jan 1", "go1.26");
    expect_same("go1.22.5 (Red Hat 1.22.5-1.el9)", "go1.22");
}

TEST(experiments)
{
    expect("go1.22 X:noallocheaders", EM_X86_64, LAYOUT_HEAP_ARENA_BITMAP, 0, 1048576);
    expect("go1.25.1 X:arenas,greenteagc", EM_AARCH64, LAYOUT_SPAN_INLINE_MARK_BITS, 128, 128);
    expect("go1.25.1", EM_X86_64, LAYOUT_SPAN_INLINE_MARK_BITS, 0, 0);
    expect("go1.26 X:nogreenteagc", EM_X86_64, LAYOUT_SPAN_INLINE_MARK_BITS, 0, 0);
    expect("go1.26 X:greenteagc", EM_X86_64, LAYOUT_SPAN_INLINE_MARK_BITS, 128, 128);
    /* Experiments of another release, or unknown ones. */
    expect_same("go1.24 X:greenteagc,fieldtrack", "go1.24");
}

TEST(unknown_releases)
{
    static const char *const names[] = {
        "",       "go1",  "go1.18.10", "go1.28",          "go1.100",
        "go2.26", "go1.", "1.26",      "devel +2f3a4b5c", "go1.99999999999999999999"};
    struct layout layout;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (find(names[i], EM_X86_64, &layout))
            fail_msg("%s is known", names[i]);
    assert_false(layout_of_release(bytes_none, false, EM_X86_64, &layout));
}

/* A release's text without an end, and longer than any version's. */
TEST(hostile_release)
{
    struct layout layout;
    const size_t size = 1 << 16;
    char *text = malloc(size);
    memset(text, 'x', size);
    assert_false(layout_of_release((struct g2h_bytes){(const uint8_t *)text, size}, false,
                                   EM_X86_64, &layout));
    memcpy(text, "go1.26", strlen("go1.26"));
    assert_true(layout_of_release((struct g2h_bytes){(const uint8_t *)text, size}, false, EM_X86_64,
                                  &layout));
    free(text);
}

TEST(newest)
{
    struct layout one, other;
    assert_true(layout_of_release(bytes_of("go1.99"), true, EM_X86_64, &one));
    assert_true(layout_of_release(bytes_none, true, EM_X86_64, &other));
    assert_memory_equal(&one, &other, sizeof(one));
    assert_true(find("go1.27", EM_X86_64, &other));
    assert_memory_equal(&one, &other, sizeof(one));
}

TEST(machines)
{
    expect("go1.21", EM_AARCH64, LAYOUT_MHEAP_ARENAS, 65944, 8);
    expect("go1.22", EM_AARCH64, LAYOUT_MHEAP_ARENAS, 66072, 8);
    expect("go1.27", EM_PPC64, LAYOUT_MHEAP_HEAP_ARENAS, 66160, 24);
    expect("go1.24", EM_RISCV, LAYOUT_M_VDSO_SP, 872, 8);
    expect("go1.25", EM_RISCV, LAYOUT_M_VDSO_SP, 896, 8);
    expect("go1.24", EM_LOONGARCH, LAYOUT_M_VDSO_PC, 880, 8);
    struct layout layout;
    assert_false(find("go1.26", EM_386, &layout));
    assert_false(find("go1.26", EM_S390, &layout));
    assert_false(find("go1.26", 0, &layout));
    assert_false(layout_of_release(bytes_none, true, EM_386, &layout));
}

/* A number of the table that is wrong by one is not seen in any output without a process of that
 * release. Whoever changes the table by tools/layouts changes the number here. */
TEST(nothing_else_has_changed)
{
    static const uint16_t machines[] = {EM_X86_64, EM_AARCH64, EM_RISCV, EM_LOONGARCH, EM_PPC64};
    uint64_t digest = 0xcbf29ce484222325; /* FNV-1a */
    for (unsigned minor = 19; minor <= 27; minor++)
        for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
            char release[16];
            struct layout layout;
            snprintf(release, sizeof(release), "go1.%u", minor);
            if (!find(release, machines[i], &layout))
                continue;
            for (size_t j = 0; j < LAYOUT_FIELDS; j++) {
                digest = (digest ^ layout.members[j].offset) * 0x100000001b3;
                digest = (digest ^ layout.members[j].size) * 0x100000001b3;
            }
        }
    assert_int_equal(digest, 0x9e4f456e28143ea9);
}

UNIT_MAIN(NULL, NULL)
