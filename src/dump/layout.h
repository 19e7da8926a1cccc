/*
 * layout: what differs between the dump formats, as a table. docs/dump-formats.md says where each
 * row comes from.
 *
 * By the first bytes of a dump it finds the row that describes the dump's records. The reader knows
 * no version numbers, only these rows; a new version of the format is a new row.
 */
#ifndef DUMP_LAYOUT_H
#define DUMP_LAYOUT_H

#include <go2heapsnapshot/dump.h>

enum { TAG_COUNT = 18, FIELD_KIND_COUNT = 6, NO_KIND = 0xff };

enum fields_form {
    FIELDS_NONE,
    FIELDS_ENDED,   /* (kind, offset)* then 0 */
    FIELDS_COUNTED, /* count, then (kind, offset)*: 2013 */
};

enum params_form {
    PARAMS_2013, /* big endian, pointer size, hchan size, heap start and end */
    PARAMS_1_3,  /* and thechar, GOEXPERIMENT, ncpu */
    PARAMS_1_4,  /* without hchan size */
    PARAMS_1_7,  /* GOARCH as a string; the second string is the version or GOEXPERIMENT */
};

enum stackframe_form {
    STACKFRAME_2013, /* caller's sp, no depth, contents and fields */
    STACKFRAME_BETA, /* no continpc: 1.3beta1 and beta2 */
    STACKFRAME_1_3,
};

struct layout {
    const char *name;
    uint8_t tags[TAG_COUNT + 1]; /* tag in the file → enum g2h_record_kind, or NO_KIND */
    uint8_t
        field_kinds[FIELD_KIND_COUNT]; /* number in the file → enum g2h_field_kind, or NO_KIND */
    enum fields_form type_fields, object_fields;
    bool object_has_type;
    bool itab_has_type; /* otherwise a bool */
    bool goroutine_is_short;
    bool type_names_may_be_corrupt; /* 1.5: see reader.c */
    bool may_lack_stack_objects;    /* frames of 1.12 and later, which has 1.7's layout; see
                                       graph/goroutines.c */
    bool g_has_stack; /* a runtime.g begins with the bounds of its stack: 1.4 and later */
    enum params_form params;
    enum stackframe_form stackframe;
};

/*
 * Tells the layout by the header line and, for the five that share "go1.3 heap dump", by what
 * follows. *ret_size is the header's size in bytes. The layout "1.3" may turn out to be
 * layout_1_3_beta at the first stack frame: the reader asks layout_stackframe_is_beta() there. NULL
 * where the bytes are no Go heap dump. *ret_warning is NULL or a sentence.
 */
const struct layout *layout_detect(const uint8_t *data, uint64_t size, size_t *ret_size,
                                   const char **ret_warning);

extern const struct layout layout_1_3, layout_1_3_beta;

/* Whether the bytes behind a frame's pc are a function's name, as in the beta, and not continpc. */
bool layout_stackframe_is_beta(const uint8_t *data, const uint8_t *end, uint64_t entry);

#endif
