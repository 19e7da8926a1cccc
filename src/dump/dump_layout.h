/*
 * dump_layout: what the first bytes of a file say: which of the dump formats it has, whose
 * differences are in a table, or which other file it is.
 */
#ifndef DUMP_DUMP_LAYOUT_H
#define DUMP_DUMP_LAYOUT_H

#include <go2heapsnapshot/dump.h>
#include <go2heapsnapshot/input.h>

/* ==== the table of formats ====
 *
 * A table of the differences between the dump formats. docs/dump-formats.md has the source of each
 * row.
 *
 * layout_detect() finds, by the first bytes of a dump, the row that describes the dump's records.
 * The reader knows no version numbers, only these rows; a new version of the format is a new row.
 */

enum { TAG_COUNT = 18, FIELD_KIND_COUNT = 6, NO_KIND = 0xff };

enum fields_form {
    FIELDS_NONE,
    FIELDS_ENDED,   /* (kind, offset)* then 0 */
    FIELDS_COUNTED, /* count, then (kind, offset)*; format 2013 */
};

enum params_form {
    PARAMS_2013, /* big endian, pointer size, hchan size, heap start and end */
    PARAMS_1_3,  /* as in 2013, and thechar, GOEXPERIMENT, ncpu */
    PARAMS_1_4,  /* as in 1.3, without hchan size */
    PARAMS_1_7,  /* GOARCH as a string; the second string is the version or GOEXPERIMENT */
};

enum stackframe_form {
    STACKFRAME_2013, /* caller's sp, but no depth, contents or fields */
    STACKFRAME_BETA, /* no continpc: 1.3beta1 and beta2 */
    STACKFRAME_1_3,
};

struct dump_layout {
    const char *name;
    uint8_t tags[TAG_COUNT + 1]; /* maps a tag in the file to an enum g2h_record_kind, or NO_KIND */
    uint8_t field_kinds[FIELD_KIND_COUNT]; /* maps a number in the file to an enum g2h_field_kind,
                                              or NO_KIND */
    enum fields_form type_fields, object_fields;
    bool object_has_type;
    bool itab_has_type; /* otherwise it has a bool */
    bool goroutine_is_short;
    bool type_names_may_be_corrupt; /* in 1.5; see pass_corrupt_type() in reader.c */
    bool may_lack_stack_objects; /* frames of 1.12 and later, whose layout is that of 1.7, may lack
                                    stack objects; see roots/goroutine_roots.c */
    bool g_has_stack; /* a runtime.g begins with the bounds of its stack: in 1.4 and later */
    enum params_form params;
    enum stackframe_form stackframe;
};

/*
 * Finds the layout by the header line and, for the three that share "go1.3 heap dump", by what
 * follows it. *ret_size is the header's size in bytes. The layout "1.3" may turn out to be
 * layout_1_3_beta at the first stack frame, where the reader asks layout_stackframe_is_beta().
 * Returns NULL if the bytes are not a Go heap dump. *ret_warning is NULL or a sentence.
 */
const struct dump_layout *layout_detect(const uint8_t *data, uint64_t size, size_t *ret_size,
                                        const char **ret_warning);

extern const struct dump_layout layout_1_3, layout_1_3_beta;

/* Returns whether the bytes after a frame's pc are a function's name, as in the beta, and not
 * continpc. */
bool layout_stackframe_is_beta(const uint8_t *data, const uint8_t *end, uint64_t entry);

/* ==== files that are not dumps ==== */

/* Makes the error for an input that is not a Go heap dump. The error names the kind of file if it
 * is recognized. */
struct g2h_error *foreign_refuse(const struct g2h_input *input);

#endif
