/*
 * reader: reads a heap dump record by record; see reader.h and docs/dump-formats.md. The parts:
 * numbers and bytes, which check each length against what is left of the input; field lists, of
 * which the same few occur again and again and are remembered; a function per kind of record; and
 * g2h_input_open(), which copies a compressed file or a pipe only as far as a reader can use it.
 * Which numbers a record has is in the format's layout (dump_layout.h).
 */
#include "dump/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/error.h"
#include "input/input.h"
#include "input/magic.h"

/* ==== records ====
 *
 * Turns bytes into records.
 *
 * The reader goes through the input once, from record to record, because a record's end is known
 * only after it has been read. It checks each length against the bytes that are left, and each
 * field against the contents around it, so that no other module has to. There is one function per
 * kind of record, in the order of their tags, and splitting these would only hide the order: hence
 * more than 800 lines.
 */

/* The usual number of the kind of pointer fields, which fields_peek_pair() expects. */
enum { USUAL_POINTER = 1 };

/* No Go heap is larger; a length beyond this limit is damage. The limit keeps sums far from
 * overflow. */
static const uint64_t OBJECT_SIZE_LIMIT = UINT64_C(1) << 42;

/* No name, stack of a profile or field list is longer than this. If the input ends within a longer
 * one, the input is not cut but damaged. */
enum { LONGEST_TEXT = 1 << 24, LONGEST_STACK = 1 << 16 };

static const uint64_t LONGEST_LIST = UINT64_C(1) << 34;

/* Returns the name of a kind of record. These names are those of the dumper's tags
 * (runtime/heapdump.go) in words. */
const char *g2h_record_kind_name(enum g2h_record_kind kind)
{
    static const char *const names[G2H_RECORD_KINDS] = {"EOF",
                                                        "object",
                                                        "otherroot",
                                                        "type",
                                                        "goroutine",
                                                        "stack frame",
                                                        "params",
                                                        "finalizer",
                                                        "itab",
                                                        "OS thread",
                                                        "memstats",
                                                        "queued finalizer",
                                                        "data",
                                                        "bss",
                                                        "defer",
                                                        "panic",
                                                        "alloc/free profile",
                                                        "alloc sample",
                                                        "stackroot",
                                                        "dataroot"};
    return kind < G2H_RECORD_KINDS ? names[kind] : "unknown";
}

/* ---- primitives: they return false, and set reader->what to the reason, if the bytes are wrong
 * ---- */

/* Returns false, and records what is wrong with the record. */
static bool wrong(struct g2h_reader *reader, const char *what)
{
    reader->what = what;
    return false;
}

/* Refuses a record as wrong() does, for a reason that may disappear when more of the input's file
 * has been copied. Returns false. */
static bool reader_cut(struct g2h_reader *reader, const char *what)
{
    reader->is_cut = true;
    return wrong(reader, what);
}

/* Reads a number. Returns false if the input ends in it, or if it has more than 64 bits. */
static inline bool read_uvarint(struct g2h_reader *reader, uint64_t *ret)
{
    if (cursor_uvarint(&reader->cursor, ret))
        return true;
    return cursor_left(&reader->cursor) < 10 ? reader_cut(reader, "the input is cut")
                                             : wrong(reader, "a number is longer than 64 bits");
}

/* Reads several numbers, one after the other. Returns false if the input is cut or damaged there.
 */
static bool read_uvarints(struct g2h_reader *reader, uint64_t *const *targets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!read_uvarint(reader, targets[i]))
            return false;
    return true;
}

#define READ_UVARINTS(reader, ...) \
    read_uvarints(reader, (uint64_t *const[]){__VA_ARGS__}, \
                  sizeof((uint64_t *const[]){__VA_ARGS__}) / sizeof(void *))

/* Reads a bool, which the dumper writes as a number. Returns false if the input is cut or damaged
 * there. */
static bool read_bool(struct g2h_reader *reader, bool *ret)
{
    uint64_t value;
    if (!read_uvarint(reader, &value))
        return false;
    *ret = value != 0;
    return value <= 1 || wrong(reader, "a bool is neither 0 nor 1");
}

/* Reads a length and as many bytes, which stay in the input. Returns false if the input is cut or
 * damaged there. */
static bool reader_read_bytes(struct g2h_reader *reader, struct g2h_bytes *ret)
{
    uint64_t size;
    if (!read_uvarint(reader, &size))
        return false;
    const uint8_t *begin = reader->cursor.at;
    if (cursor_skip(&reader->cursor, size)) {
        *ret = bytes_at(begin, size);
        return true;
    }
    reader->is_cut = size <= LONGEST_TEXT;
    return wrong(reader, "a length is beyond the end of the input");
}

/* Reads the length of a memory range. *stored is how much of it a dumper writes. Returns false if
 * the input is cut or damaged there. */
static inline bool read_length(struct g2h_reader *reader, uint64_t *declared, uint64_t *stored)
{
    if (!read_uvarint(reader, declared))
        return false;
    if (*declared >= OBJECT_SIZE_LIMIT)
        return wrong(reader, "a length is beyond any memory");
    *stored = reader_stored_size(reader, *declared);
    return true;
}

/* Sets *ret to the next stored bytes, and skips them. Returns false if the input is cut or damaged
 * there. */
static inline bool skip_contents(struct g2h_reader *reader, uint64_t stored, struct g2h_bytes *ret)
{
    const uint8_t *begin = reader->cursor.at;
    if (cursor_skip(&reader->cursor, stored)) {
        *ret = bytes_at(begin, stored);
        return true;
    }
    return reader_cut(reader, "a length is beyond the end of the input");
}

/* Reads a memory range. *declared is its length in memory, and ret is the part of it that the file
 * holds. Returns false if the input is cut or damaged there. */
static inline bool read_contents(struct g2h_reader *reader, uint64_t *declared,
                                 struct g2h_bytes *ret)
{
    uint64_t stored;
    return read_length(reader, declared, &stored) && skip_contents(reader, stored, ret);
}

/* Returns how many words a field of a kind has. */
static unsigned field_words(enum g2h_field_kind kind)
{
    static const unsigned char words[] = {[G2H_FIELD_POINTER] = 1,
                                          [G2H_FIELD_STRING] = 2,
                                          [G2H_FIELD_SLICE] = 3,
                                          [G2H_FIELD_IFACE] = 2,
                                          [G2H_FIELD_EFACE] = 2};
    return words[kind];
}

/* Fails, because a field list does not end before the input does. Only a list that is not longer
 * than Go would have made it may be cut; a longer one is damaged. Returns false. */
static bool fail_unended_list(struct g2h_reader *reader, const struct cursor *cursor, uint64_t size)
{
    const uint64_t so_far = as_size(cursor->at - reader->cursor.at);
    reader->is_cut = so_far <= reader_longest_list(size) && so_far <= LONGEST_LIST;
    return wrong(reader, "the input is cut");
}

/* Moves the cursor over pointer fields inside size bytes, two at a time while they are encoded as
 * usual; most lists contain nothing else. Stops at the first field that needs a closer look. */
static inline void pass_pointers(const struct g2h_reader *reader, struct cursor *cursor,
                                 uint64_t size)
{
    const uint8_t *kinds = reader->layout->field_kinds;
    const uint64_t word = reader->pointer_size;
    struct g2h_fields fields = {cursor->at, cursor->end, UINT64_MAX, kinds};
    uint64_t offset, pair[2];
    size_t taken = kinds[USUAL_POINTER] == G2H_FIELD_POINTER && word <= size; /* bytes of a pair */
    while (taken > 0 && fields.end - fields.at >= 8) {
        fields_peek_pair(fields.at, pair, &taken);
        if (taken == 0 || pair[0] > size - word || pair[1] > size - word ||
            ((pair[0] | pair[1]) & (word - 1)) != 0) /* one is beyond the object, or at no word */
            break;
        fields.at += taken;
    }
    cursor->at = fields.at;
    while (fields.at < fields.end && *fields.at < FIELD_KIND_COUNT &&
           kinds[*fields.at] == G2H_FIELD_POINTER && fields_next_pointer(&fields, &offset) &&
           word <= size && offset <= size - word && (offset & (word - 1)) == 0)
        cursor->at = fields.at;
}

/* Reads a field list that ends with 0. Every field must be inside size bytes. Offsets must be
 * multiples of a word. Returns false, with an error, if the list is invalid or cut. */
static inline bool reader_read_fields(struct g2h_reader *reader, uint64_t size,
                                      struct g2h_fields *ret)
{
    const uint8_t *kinds = reader->layout->field_kinds;
    const uint64_t word = reader->pointer_size;
    struct cursor cursor = reader->cursor;
    ret->at = cursor.at;
    ret->left = UINT64_MAX;
    ret->kinds = kinds;
    pass_pointers(reader, &cursor, size);
    for (;;) {
        if (cursor.at >= cursor.end)
            return fail_unended_list(reader, &cursor, size);
        uint8_t number = *cursor.at++;
        if (number == 0)
            break;
        if (number >= FIELD_KIND_COUNT || kinds[number] == NO_KIND)
            return wrong(reader, "unknown field kind");
        uint64_t offset;
        if (!cursor_uvarint(&cursor, &offset))
            return fail_unended_list(reader, &cursor, size);
        uint64_t bytes =
            kinds[number] == G2H_FIELD_POINTER ? word : field_words(kinds[number]) * word;
        if (bytes > size || offset > size - bytes || (offset & (word - 1)) != 0)
            return wrong(reader, "a field is outside of its contents");
    }
    ret->end = cursor.at;
    reader->cursor = cursor;
    return true;
}

/* Reads a field list that begins with its length, as in dumps of 2013. Each field has at least two
 * bytes, so a longer list than that cannot be complete. Returns false if the input is cut or
 * damaged there. */
static bool read_counted_fields(struct g2h_reader *reader, uint64_t size, struct g2h_fields *ret)
{
    uint64_t kind, offset;
    ret->kinds = reader->layout->field_kinds;
    if (!read_uvarint(reader, &ret->left))
        return false;
    ret->at = reader->cursor.at;
    if (ret->left > cursor_left(&reader->cursor) / 2) {
        reader->is_cut = ret->left <= reader_longest_list(size) && ret->left <= LONGEST_TEXT;
        return wrong(reader, "a field count is beyond the end of the input");
    }
    for (uint64_t i = 0; i < ret->left; i++) {
        if (!read_uvarint(reader, &kind) || !read_uvarint(reader, &offset))
            return false;
        if (kind >= FIELD_KIND_COUNT || ret->kinds[kind] == NO_KIND)
            return wrong(reader, "unknown field kind");
    }
    ret->end = reader->cursor.at;
    return true;
}

/* Gets the next field of a list; false at its end. The list was checked when it was read, so
 * anything unexpected is its end. */
bool g2h_fields_next(struct g2h_fields *fields, struct g2h_field *ret)
{
    struct cursor cursor = {fields->at, fields->end};
    uint64_t number;
    if (fields->left == 0 || !cursor_uvarint(&cursor, &number) || number >= FIELD_KIND_COUNT)
        return false;
    if (fields->kinds[number] == NO_KIND || !cursor_uvarint(&cursor, &ret->offset))
        return false; /* the 0 that ends the list, because the list was checked when it was read */
    ret->kind = fields->kinds[number];
    fields->at = cursor.at;
    fields->left--;
    return true;
}

/* ---- records ---- */

/* Sets *stored, the bytes that a dumper would have written of an array, to the fewer that the dump
 * has of it, because it was shortened. Returns false if these are not fewer, or the input is cut.
 */
static bool read_shortened(struct g2h_reader *reader, uint64_t *stored)
{
    const uint64_t usual = *stored;
    if (!read_uvarint(reader, stored))
        return false;
    return *stored < usual || wrong(reader, "a shortened array is not shorter");
}

/* Reads an object's record up to its field list: the address, in some formats the type and the
 * kind, and the contents, which may be shorter than the object. Returns false if it is invalid or
 * cut. */
static inline bool read_object_memory(struct g2h_reader *reader, struct g2h_object *ret)
{
    const struct dump_layout *layout = reader->layout;
    ret->type = 0;
    ret->kind = G2H_OBJECT_VALUE;
    if (!read_uvarint(reader, &ret->address))
        return false;
    if (layout->object_has_type &&
        !(read_uvarint(reader, &ret->type) && read_uvarint(reader, &ret->kind)))
        return false;
    if (ret->kind > G2H_OBJECT_CHAN && ret->kind != G2H_OBJECT_CONSERVATIVE)
        return wrong(reader, "unknown object kind");
    const uint8_t *length = reader->cursor.at;
    uint64_t stored;
    if (!read_length(reader, &ret->size, &stored))
        return false;
    /* Only the size of an object whose contents are shortened is written as long as that. */
    const bool may_be_shortened =
        reader->cursor.at - length >= LONGEST_UVARINT && layout->object_fields == FIELDS_ENDED;
    if (may_be_shortened && !read_shortened(reader, &stored))
        return false;
    return skip_contents(reader, stored, &ret->contents);
}

/* Reads eight bytes as a number, the first one lowest. */
static inline uint64_t eight_bytes(const uint8_t *at)
{
    uint64_t bytes;
    memcpy(&bytes, at, sizeof(bytes));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    return bytes;
}

/*
 * Returns the entry for a field list. It depends on those of the first eight bytes that belong to
 * the list: kinds of fields, never 0 before the end, alternate with offsets, most of which take one
 * byte.
 */
static inline struct known_list *find_known(struct known_lists *known, uint64_t first,
                                            uint64_t object_size)
{
    const uint64_t kinds = 0x00ff00ff00ff00ff, ones = 0x0001000100010001;
    const uint64_t zeros = ((first & kinds) - ones) & ~first & (ones << 7);
    if (zeros != 0)
        first &= (UINT64_C(1) << (__builtin_ctzll(zeros) - 7)) - 1;
    const uint64_t hash = (first + (object_size << 40)) * 0x9fb21c651e98df25u;
    return &known->lists[hash >> 55]; /* the upper 9 bits: 512 entries */
}

/* Returns whether a known list equals the one at `at`, where at least eight bytes are left. first
 * is the first eight bytes as a number, the first one lowest, so that shifting it left drops the
 * bytes after a shorter list. Most lists are not longer than that, and need no further comparison;
 * of others the last eight bytes may overlap those before. */
static inline bool is_same_list(const struct known_list *list, const uint8_t *at, size_t left,
                                uint64_t first, uint64_t object_size)
{
    const uint32_t size = list->size;
    if (list->object_size != object_size || size > left || !list->list)
        return false;
    if (size <= sizeof(first))
        return (list->first ^ first) << (64 - 8 * size) == 0;
    for (uint32_t i = 0; i < size - sizeof(first); i += (uint32_t)sizeof(first))
        if (eight_bytes(at + i) != eight_bytes(list->list + i))
            return false;
    return eight_bytes(at + size - sizeof(first)) == eight_bytes(list->list + size - sizeof(first));
}

/* Reads a list that is not known. It may not be longer than reader_longest_list(), because
 * heap_object() ends lists there: the dump may be written to between one reading and the next.
 * Returns false if it is longer, or cut or damaged. */
static inline bool read_new_fields(struct g2h_reader *reader, uint64_t size, struct g2h_fields *ret)
{
    return reader_read_fields(reader, size, ret) &&
           (as_size(ret->end - ret->at) <= reader_longest_list(size) ||
            wrong(reader, "a field list is longer than its contents can have"));
}

/* Reads the field list of an object. If the bytes are those of a list that was read before, for an
 * object of the same size, they need not be checked again: lists of up to LONGEST bytes are
 * remembered for that. Returns false if it is invalid or cut. */
static inline bool read_object_fields(struct g2h_reader *reader, uint64_t size,
                                      struct g2h_fields *ret)
{
    enum { LONGEST = 256 };
    const uint8_t *at = reader->cursor.at;
    const size_t left = cursor_left(&reader->cursor);
    reader->list = NULL;
    if (!reader->known || left < 8 || *at == 0) /* lists are found by 8 bytes; 0: it is empty */
        return read_new_fields(reader, size, ret);
    const uint64_t first = eight_bytes(at);
    struct known_list *list = find_known(reader->known, first, size);
    if (is_same_list(list, at, left, first, size)) {
        reader->list = list;
        reader->cursor.at += list->size;
        *ret = (struct g2h_fields){at, reader->cursor.at, UINT64_MAX, reader->layout->field_kinds};
        return true;
    }
    if (!read_new_fields(reader, size, ret))
        return false;
    if (ret->end - ret->at <= LONGEST) {
        *list = (struct known_list){at, first, size, (uint32_t)(ret->end - ret->at), 0};
        reader->list = list;
    }
    return true;
}

/* Reads an object after its tag. A shortened array, which this program has written, has no
 * pointers. Returns false if it is invalid or cut. */
static bool read_object(struct g2h_reader *reader, struct g2h_object *ret)
{
    if (!read_object_memory(reader, ret))
        return false;
    if (reader->layout->object_fields == FIELDS_NONE) {
        ret->fields = (struct g2h_fields){.left = 0};
        return true;
    }
    return read_object_fields(reader, ret->size, &ret->fields) &&
           (ret->contents.size == ret->size || *ret->fields.at == 0 ||
            !reader_is_shortened(reader, ret) || wrong(reader, "a shortened array has pointers"));
}

/* Returns the fields that the field lists of all objects share: the end of the input, and the kinds
 * of fields. */
struct g2h_fields reader_object_fields(const struct g2h_reader *reader)
{
    return (struct g2h_fields){.end = reader->cursor.end,
                               .left =
                                   reader->layout->object_fields == FIELDS_NONE ? 0 : UINT64_MAX,
                               .kinds = reader->layout->field_kinds};
}

/*
 * Reads an object's record if it looks like nearly all of them: its numbers have few bytes, its
 * field list is empty or known, and it is not near the end of the input. Otherwise it returns false
 * and changes nothing.
 */
static inline bool read_usual_object(struct g2h_reader *reader, struct g2h_object *ret)
{
    enum { HEAD = 24 /* bytes after the contents that may be read */, AHEAD = 1024 };
    const uint8_t *at = reader->cursor.at;
    const uint8_t *end = reader->cursor.end;
    /* After the tag, a byte, come two numbers of 7 bits per byte: the last one has no upper bit. */
    const uint64_t address = eight_bytes(at + 1);
    const uint64_t ends = ~address & 0x8080808080808080;
    if (ends == 0)
        return false;
    at += 2 + __builtin_ctzll(ends) / 8;
    const uint64_t numbers = eight_bytes(at);
    uint64_t size = numbers & 0x7f; /* one byte, or two: 14 bits */
    unsigned size_bytes = 1;
    if ((numbers & 0x80) != 0) {
        size |= numbers >> 1 & 0x3f80;
        size_bytes = 2;
        if ((numbers & 0x8000) != 0)
            return false;
    }
    at += size_bytes;
    if (as_size(end - at) < size + HEAD)
        return false;
    struct g2h_fields fields = {at + size, at + size + 1, UINT64_MAX, reader->layout->field_kinds};
    __builtin_prefetch(fields.at + AHEAD);
    struct known_list *list = NULL;
    if (*fields.at != 0) {
        const uint64_t first = eight_bytes(fields.at);
        list = find_known(reader->known, first, size);
        if (!is_same_list(list, fields.at, as_size(end - fields.at), first, size))
            return false;
        fields.end = fields.at + list->size;
    }
    *ret = (struct g2h_object){.address = uvarint_join(address & (ends ^ (ends - 1))),
                               .size = size,
                               .contents = bytes_at(at, size),
                               .fields = fields,
                               .kind = G2H_OBJECT_VALUE};
    reader->list = list;
    reader->cursor.at = fields.end;
    reader->number++;
    return true;
}

/* Reads the next record if it is an object. Tries the fast path first. Returns false if it is none,
 * or cannot be read; the reader does not move then. */
bool reader_next_object(struct g2h_reader *reader, struct g2h_object *ret)
{
    enum { LONGEST_HEAD = 24 }; /* the tag and both numbers, which are read eight bytes at a time */
    const uint8_t *begin = reader->cursor.at;
    if (!reader_is_at_object(reader))
        return false;
    if (reader->known && reader->layout->object_fields == FIELDS_ENDED &&
        !reader->layout->object_has_type && cursor_left(&reader->cursor) >= LONGEST_HEAD &&
        read_usual_object(reader, ret))
        return true;
    reader->cursor.at++;
    if (read_object(reader, ret)) {
        reader->number++;
        return true;
    }
    reader->cursor.at = begin;
    return false;
}

/* Reads the next object without going on to it. Returns false if the next record is none, or
 * invalid. */
bool reader_peek_object(const struct g2h_reader *reader, struct g2h_object *ret)
{
    if (!reader_is_at_object(reader))
        return false;
    struct g2h_reader copy = *reader;
    copy.cursor.at++;
    return read_object_memory(&copy, ret);
}

/* Reads a root; one of this program's roots says that dumps have all contents of objects. Returns
 * false if the input is cut or damaged there. */
static bool read_otherroot(struct g2h_reader *reader, struct g2h_otherroot *ret)
{
    if (!reader_read_bytes(reader, &ret->description) || !read_uvarint(reader, &ret->pointer))
        return false;
    ret->is_queued_cleanup = says_queued_cleanup(ret->description);
    if (says_whole_contents(reader->number, ret))
        reader->has_whole_contents = true;
    return true;
}

/* Skips a corrupt type record. For a named pointer-shaped type with methods, Go 1.5 writes a length
 * that is the sum of two addresses, and then as many bytes of its memory as the kernel accepts. The
 * record ends where its bool (*data_is_pointer) is followed by the itab record (tag 8) of this very
 * type, for which it was written. Returns false if that is not found. */
static bool pass_corrupt_type(struct g2h_reader *reader, uint64_t address, bool *data_is_pointer)
{
    const uint8_t *at = reader->cursor.at;
    while (cursor_left(&reader->cursor) >= 4) {
        at = memchr(at, G2H_RECORD_ITAB, as_size(reader->cursor.end - at));
        if (!at)
            break;
        struct cursor cursor = {at + 1, reader->cursor.end};
        uint64_t itab, type;
        if (at > reader->cursor.at && at[-1] <= 1 && cursor_uvarint(&cursor, &itab) &&
            cursor_uvarint(&cursor, &type) && type == address) {
            *data_is_pointer = at[-1] != 0;
            reader->cursor.at = at;
            reader->repairs++;
            return true;
        }
        at++;
    }
    reader->is_cut = cursor_left(&reader->cursor) < LONGEST_WRITE;
    return wrong(
        reader,
        "a name's length is corrupt, as Go 1.5 writes it, and the record's end was not found");
}

/* Reads a type. Names of Go 1.5 may be corrupt, which an impossible length shows. Returns false if
 * it is invalid or cut. */
static bool read_type(struct g2h_reader *reader, struct g2h_type *ret)
{
    const uint64_t longest_sane_name = 65536;
    const struct dump_layout *layout = reader->layout;
    ret->fields = (struct g2h_fields){.left = 0};
    if (!READ_UVARINTS(reader, &ret->address, &ret->size))
        return false;
    if (ret->size >= OBJECT_SIZE_LIMIT)
        return wrong(reader, "a type's size is beyond any memory");
    struct cursor name = reader->cursor;
    uint64_t length;
    if (layout->type_names_may_be_corrupt && cursor_uvarint(&name, &length) &&
        length > longest_sane_name) {
        ret->name = (struct g2h_bytes){name.at, 0};
        reader->cursor = name;
        return pass_corrupt_type(reader, ret->address, &ret->data_is_pointer);
    }
    if (!reader_read_bytes(reader, &ret->name) || !read_bool(reader, &ret->data_is_pointer))
        return false;
    switch (layout->type_fields) {
    case FIELDS_ENDED:
        return reader_read_fields(reader, ret->size, &ret->fields);
    case FIELDS_COUNTED:
        return read_counted_fields(reader, ret->size, &ret->fields);
    default:
        return true;
    }
}

/* Reads a goroutine. The format of 2013 has fewer numbers: ctxt, m, defer and panic are 0 then.
 * Returns false if it is cut or invalid. */
static bool reader_read_goroutine(struct g2h_reader *reader, struct g2h_goroutine *ret)
{
    ret->ctxt = ret->m = ret->defer = ret->panic = 0;
    return READ_UVARINTS(reader, &ret->address, &ret->sp, &ret->goid, &ret->creation_pc,
                         &ret->status) &&
           read_bool(reader, &ret->is_system) && read_bool(reader, &ret->is_background) &&
           read_uvarint(reader, &ret->wait_since) && reader_read_bytes(reader, &ret->wait_reason) &&
           (reader->layout->goroutine_is_short ||
            READ_UVARINTS(reader, &ret->ctxt, &ret->m, &ret->defer, &ret->panic));
}

/*
 * Returns the size that the fields of a frame must be inside. Before Go 1.17 the arguments of a go
 * statement follow the frame of runtime.goexit. That frame has space for its own return address
 * only, and its contents end before the arguments, but its fields include them. runtime.newproc1
 * requires the arguments to fit into a small stack.
 */
static uint64_t extent_of_fields(const struct g2h_stackframe *frame, uint64_t declared)
{
    static const char goexit[] = "runtime.goexit";
    enum { MOST_ARGUMENTS = 8192 };
    return frame->function.size == sizeof(goexit) - 1 &&
                   memcmp(frame->function.data, goexit, sizeof(goexit) - 1) == 0
               ? declared + MOST_ARGUMENTS
               : declared;
}

/* Reads a frame. The first one tells the beta of Go 1.3 from the release, whose headers are the
 * same. The format of 2013 has no contents. Before the format with continpc, that is pc. Returns
 * false if the input is cut or damaged there. */
static bool read_stackframe(struct g2h_reader *reader, struct g2h_stackframe *ret)
{
    uint64_t declared;
    if (reader->layout->stackframe == STACKFRAME_2013) {
        ret->depth = 0;
        ret->contents = (struct g2h_bytes){reader->cursor.at, 0};
        ret->fields = (struct g2h_fields){.left = 0};
        bool good = READ_UVARINTS(reader, &ret->sp, &ret->child_sp, &ret->entry, &ret->pc) &&
                    reader_read_bytes(reader, &ret->function);
        ret->continpc = good ? ret->pc : 0;
        return good;
    }
    if (!READ_UVARINTS(reader, &ret->sp, &ret->depth, &ret->child_sp) ||
        !read_contents(reader, &declared, &ret->contents) ||
        !READ_UVARINTS(reader, &ret->entry, &ret->pc))
        return false;
    if (!reader->stackframe_seen && reader->layout == &layout_1_3 &&
        layout_stackframe_is_beta(reader->cursor.at, reader->cursor.end, ret->entry))
        reader->layout = &layout_1_3_beta;
    reader->stackframe_seen = true;
    ret->continpc = ret->pc;
    if (reader->layout->stackframe == STACKFRAME_1_3 && !read_uvarint(reader, &ret->continpc))
        return false;
    return reader_read_bytes(reader, &ret->function) &&
           reader_read_fields(reader, extent_of_fields(ret, declared), &ret->fields);
}

/* Sets ret to the architecture for the letter of its compilers, which dumps before 1.7 have
 * instead: 6g made amd64 code. */
static void arch_of_thechar(uint64_t thechar, char *ret, size_t size)
{
    static const struct {
        char thechar, arch[7];
    } names[] = {{'5', "arm"}, {'6', "amd64"}, {'7', "arm64"},
                 {'8', "386"}, {'9', "ppc64"}, {'0', "mips64"}};
    ret[0] = '\0';
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (thechar == (uint64_t)names[i].thechar)
            snprintf(ret, size, "%s", names[i].arch);
}

/* Reads the params record: architecture, heap range and version. What it has depends on the format,
 * and the words of all other records on it. Returns false if it is invalid, cut, or the second one.
 */
static bool read_params(struct g2h_reader *reader, struct g2h_params *ret)
{
    const enum params_form form = reader->layout->params;
    struct g2h_bytes string, arch;
    uint64_t thechar;
    memset(ret, 0, sizeof(*ret));
    ret->version = ret->experiment = (struct g2h_bytes){(const uint8_t *)"", 0};
    if (reader->has_params)
        return wrong(reader, "there is a second params record");
    if (!read_bool(reader, &ret->big_endian) || !read_uvarint(reader, &ret->pointer_size))
        return false;
    if (form == PARAMS_2013 && (ret->pointer_size == 32 || ret->pointer_size == 64))
        ret->pointer_size /= 8; /* the first version of that format counted bits */
    if (ret->pointer_size != 4 && ret->pointer_size != 8)
        return wrong(reader, "the pointer size is neither 4 nor 8");
    if (form <= PARAMS_1_3 && !read_uvarint(reader, &ret->hchan_size))
        return false;
    if (!READ_UVARINTS(reader, &ret->heap_start, &ret->heap_end))
        return false;
    if (form == PARAMS_1_7) {
        if (!reader_read_bytes(reader, &arch) || !reader_read_bytes(reader, &string))
            return false;
        snprintf(ret->arch, sizeof(ret->arch), "%.*s",
                 arch.size < sizeof(ret->arch) ? as_width(arch.size) : 0, arch.data);
        const bool is_version = bytes_begin(string, "go") || bytes_begin(string, "devel") ||
                                memmem(string.data, string.size, "(read as go1.", 13);
        *(is_version ? &ret->version : &ret->experiment) = string;
    } else if (form != PARAMS_2013) {
        if (!read_uvarint(reader, &thechar) || !reader_read_bytes(reader, &ret->experiment))
            return false;
        arch_of_thechar(thechar, ret->arch, sizeof(ret->arch));
    }
    if (form != PARAMS_2013 && !read_uvarint(reader, &ret->ncpu))
        return false;
    reader->has_params = true;
    reader->pointer_size = ret->pointer_size;
    return true;
}

/* Reads a finalizer, also one that is queued to run. Returns false if it is cut. */
static bool reader_read_finalizer(struct g2h_reader *reader, struct g2h_finalizer *ret)
{
    return READ_UVARINTS(reader, &ret->object, &ret->funcval, &ret->code, &ret->argument_type,
                         &ret->object_type);
}

/* Reads an itab; formats differ in whether it has a type or says that its data are pointers.
 * Returns false if the input is cut or damaged there. */
static bool read_itab(struct g2h_reader *reader, struct g2h_itab *ret)
{
    ret->type = 0;
    ret->data_is_pointer = true;
    return read_uvarint(reader, &ret->address) &&
           (reader->layout->itab_has_type ? read_uvarint(reader, &ret->type)
                                          : read_bool(reader, &ret->data_is_pointer));
}

/* Reads the numbers one after the other. If they end early, *ret is all 0, and the result false. */
bool g2h_memstats_read(struct g2h_bytes encoded, struct g2h_memstats *ret)
{
    struct cursor cursor = {encoded.data, encoded.data + encoded.size};
    bool good = true;
    for (size_t i = 0; i < G2H_MEMSTATS_NUMBERS && good; i++)
        good = cursor_uvarint(&cursor, &ret->numbers[i]);
    if (!good)
        *ret = (struct g2h_memstats){0};
    return good;
}

/* Skips the numbers without storing them: decoded, they would be many times as large as any other
 * record. Returns false if the input is cut or damaged there. */
static bool read_memstats(struct g2h_reader *reader, struct g2h_bytes *ret)
{
    uint64_t number;
    ret->data = reader->cursor.at;
    for (size_t i = 0; i < G2H_MEMSTATS_NUMBERS; i++)
        if (!read_uvarint(reader, &number))
            return false;
    ret->size = as_size(reader->cursor.at - ret->data);
    return true;
}

/* Reads data or bss. Returns false if the input is cut or damaged there. */
static bool reader_read_segment(struct g2h_reader *reader, struct g2h_segment *ret)
{
    uint64_t declared;
    return read_uvarint(reader, &ret->address) &&
           read_contents(reader, &declared, &ret->contents) &&
           reader_read_fields(reader, declared, &ret->fields);
}

/* Reads the next frame of a sample: function, file and line; memprof then has the frames after it.
 * Returns false if there are no more, or they are damaged. */
bool g2h_memprof_next_frame(struct g2h_memprof *memprof, struct g2h_memprof_frame *ret)
{
    struct cursor cursor = {memprof->frames.data, memprof->frames.data + memprof->frames.size};
    struct g2h_bytes *strings[] = {&ret->function, &ret->file};
    if (memprof->frame_count == 0)
        return false;
    for (size_t i = 0; i < 2; i++) {
        uint64_t size;
        if (!cursor_uvarint(&cursor, &size))
            return false;
        const uint8_t *begin = cursor.at;
        if (!cursor_skip(&cursor, size))
            return false;
        *strings[i] = bytes_at(begin, size);
    }
    if (!cursor_uvarint(&cursor, &ret->line))
        return false;
    memprof->frames.size = cursor_left(&cursor);
    memprof->frames.data = cursor.at;
    memprof->frame_count--;
    return true;
}

/* Reads an allocation site, whose frames are only skipped. A frame has at least three bytes, so
 * more than a third of the rest cannot be complete. Returns false if the input is cut or damaged
 * there. */
static bool read_memprof(struct g2h_reader *reader, struct g2h_memprof *ret)
{
    struct g2h_bytes string;
    uint64_t line;
    if (!READ_UVARINTS(reader, &ret->id, &ret->size, &ret->frame_count))
        return false;
    if (ret->frame_count > cursor_left(&reader->cursor) / 3) {
        reader->is_cut = ret->frame_count <= LONGEST_STACK;
        return wrong(reader, "a frame count is beyond the end of the input");
    }
    ret->frames.data = reader->cursor.at;
    for (uint64_t i = 0; i < ret->frame_count; i++)
        if (!reader_read_bytes(reader, &string) || !reader_read_bytes(reader, &string) ||
            !read_uvarint(reader, &line))
            return false;
    ret->frames.size = as_size(reader->cursor.at - ret->frames.data);
    return READ_UVARINTS(reader, &ret->allocs, &ret->frees);
}

/* Reads the rest of a record by its kind; most records are only numbers. Returns false if the input
 * is cut or damaged there. */
static bool read_body(struct g2h_reader *reader, struct g2h_record *ret)
{
    switch (reader->kind) {
    case G2H_RECORD_EOF:
        reader->at_end = true;
        return true;
    case G2H_RECORD_OBJECT:
        return read_object(reader, &ret->object);
    case G2H_RECORD_OTHERROOT:
        return read_otherroot(reader, &ret->otherroot);
    case G2H_RECORD_TYPE:
        return read_type(reader, &ret->type);
    case G2H_RECORD_GOROUTINE:
        return reader_read_goroutine(reader, &ret->goroutine);
    case G2H_RECORD_STACKFRAME:
        return read_stackframe(reader, &ret->stackframe);
    case G2H_RECORD_PARAMS:
        return read_params(reader, &ret->params);
    case G2H_RECORD_FINALIZER:
    case G2H_RECORD_QUEUEDFINALIZER:
        return reader_read_finalizer(reader, &ret->finalizer);
    case G2H_RECORD_ITAB:
        return read_itab(reader, &ret->itab);
    case G2H_RECORD_OSTHREAD:
        return READ_UVARINTS(reader, &ret->osthread.m, &ret->osthread.id, &ret->osthread.os_id);
    case G2H_RECORD_MEMSTATS:
        return read_memstats(reader, &ret->memstats);
    case G2H_RECORD_DATA:
    case G2H_RECORD_BSS:
        return reader_read_segment(reader, &ret->segment);
    case G2H_RECORD_DEFER:
        return READ_UVARINTS(reader, &ret->defer.address, &ret->defer.g, &ret->defer.argp,
                             &ret->defer.pc, &ret->defer.funcval, &ret->defer.code,
                             &ret->defer.next);
    case G2H_RECORD_PANIC:
        return READ_UVARINTS(reader, &ret->panic.address, &ret->panic.g, &ret->panic.type,
                             &ret->panic.data, &ret->panic.defer, &ret->panic.next);
    case G2H_RECORD_MEMPROF:
        return read_memprof(reader, &ret->memprof);
    case G2H_RECORD_ALLOCSAMPLE:
        return READ_UVARINTS(reader, &ret->allocsample.object, &ret->allocsample.memprof);
    case G2H_RECORD_STACKROOT:
        return READ_UVARINTS(reader, &ret->stackroot.address, &ret->stackroot.pointer,
                             &ret->stackroot.frame_sp);
    case G2H_RECORD_DATAROOT:
        return READ_UVARINTS(reader, &ret->dataroot.address, &ret->dataroot.pointer);
    case G2H_RECORD_KINDS:
        break;
    }
    return wrong(reader, "unknown tag");
}

/* Reads a record's tag, which the layout translates to its kind. All but the format of 2013 begin
 * with params, without which nothing else can be read. Returns false if there is none, or it is not
 * known or not expected here. */
static bool read_tag(struct g2h_reader *reader)
{
    uint64_t tag;
    reader->kind = G2H_RECORD_KINDS;
    if (cursor_left(&reader->cursor) == 0)
        return reader_cut(reader, "the input ends without an EOF record");
    if (!read_uvarint(reader, &tag))
        return false;
    if (tag > TAG_COUNT || reader->layout->tags[tag] == NO_KIND)
        return wrong(reader, "unknown tag");
    reader->kind = reader->layout->tags[tag];
    if (!reader->has_params && reader->kind != G2H_RECORD_PARAMS &&
        reader->layout->params != PARAMS_2013)
        return wrong(reader, "the params record is not the first");
    return true;
}

/* Reads the next record. At the end of the dump it is EOF, again and again; after an error the
 * reader stands at the record's beginning again, so that it returns the same error. */
struct g2h_error *g2h_reader_next(struct g2h_reader *reader, struct g2h_record *ret)
{
    reader->begin = reader->cursor.at;
    reader->is_cut = false;
    if (!reader->at_end)
        reader->number++;
    ret->offset = as_size(reader->begin - reader->input->data);
    ret->number = reader->number;
    ret->kind = G2H_RECORD_EOF;
    if (reader->at_end)
        return NULL;
    if (read_tag(reader) && read_body(reader, ret)) {
        ret->kind = reader->kind;
        return NULL;
    }

    const unsigned long long here = (unsigned long long)(reader->cursor.at - reader->input->data);
    const unsigned long long number = (unsigned long long)reader->number;
    const char *name = reader->input->name,
               *unpacked = reader->input->unpacked ? " of the unpacked dump" : "";
    reader->cursor.at = reader->begin;
    if (number == 1 && ret->offset == reader->input->size)
        return error_create(G2H_ERROR_DAMAGED,
                            "%s: byte %llu%s: the dump is cut: nothing follows its header", name,
                            here, unpacked);
    if (reader->kind >= G2H_RECORD_KINDS)
        return error_create(G2H_ERROR_DAMAGED, "%s: byte %llu%s: record %llu: %s", name, here,
                            unpacked, number, reader->what);
    return error_create(G2H_ERROR_DAMAGED,
                        "%s: byte %llu%s: record %llu (%s, begun at byte %llu): %s", name, here,
                        unpacked, number, g2h_record_kind_name(reader->kind),
                        (unsigned long long)ret->offset, reader->what);
}

/* Moves a reader to an offset where a record may begin. */
void reader_seek(struct g2h_reader *reader, uint64_t offset)
{
    assert(offset <= reader->input->size);
    reader->cursor.at = reader->input->data + offset;
    reader->at_end = false;
}

/* Does what reader_seek() does, after the input may have been mapped elsewhere or may have
 * grown. */
static void reader_seek_again(struct g2h_reader *reader, uint64_t offset)
{
    const struct g2h_input *input = reader->input;
    assert(offset <= input->size);
    reader->cursor = (struct cursor){input->data + offset, input->data + input->size};
    reader->at_end = false;
}

/* Makes a reader at the first record. The layout is chosen by the header; some formats are told
 * apart only later. */
struct g2h_error *g2h_reader_create(const struct g2h_input *input, struct g2h_reader **ret)
{
    size_t header = 0;
    const char *warning;
    const struct dump_layout *layout = layout_detect(input->data, input->size, &header, &warning);
    if (!layout)
        return foreign_refuse(input);
    struct g2h_reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return &error_no_memory;
    reader->input = input;
    reader->layout = layout;
    reader->warning = warning;
    reader->cursor = (struct cursor){input->data + header, input->data + input->size};
    reader->begin = reader->cursor.at;
    *ret = reader;
    return NULL;
}

void g2h_reader_destroy(struct g2h_reader *reader)
{
    free(reader);
}

const char *g2h_reader_format(const struct g2h_reader *reader)
{
    return reader->layout->name;
}

const char *g2h_reader_warning(const struct g2h_reader *reader)
{
    return reader->warning;
}

bool g2h_reader_objects_have_types(const struct g2h_reader *reader)
{
    return reader->layout->object_has_type;
}

/* Returns whether an object may have less bytes in the dump than in the process: it lies within the
 * heap, whose range is plausible, no more than the 47 bits of user addresses on amd64. */
bool g2h_object_may_be_short(const struct g2h_params *params, const struct g2h_object *object)
{
    const uint64_t largest_heap = UINT64_C(1) << 47;
    return params->heap_end - params->heap_start <= largest_heap &&
           object->address >= params->heap_start && object->address < params->heap_end &&
           object->size <= params->heap_end - object->address;
}

uint64_t reader_offset(const struct g2h_reader *reader)
{
    return as_size(reader->cursor.at - reader->input->data);
}

uint64_t reader_repairs(const struct g2h_reader *reader)
{
    return reader->repairs;
}

/* ==== opens a dump, without copying more of it than a reader can use ====
 *
 * A file that is compressed or not regular is copied first. Neither reveals its size beforehand:
 * /dev/zero has no end, and gzip expands one byte to a thousand. So a reader reads the first bytes
 * that have been copied, and later a part of the further ones. If it cannot read on, it never will,
 * and copying ends. A core file is copied up to the size that its headers state.
 */

enum {
    /* This much of a file that is not a dump is copied, so that dump_layout.c can identify its
       kind. */
    FOREIGN_SIZE = 1 << 24,
    /* This much is copied of a file whose first records can be read, and then TRUSTED_RATIO bytes
     * for each byte that the reader has read: reading all of it twice would be slow. */
    TRUSTED_SIZE = 1 << 26,
    TRUSTED_RATIO = 16,
};

struct open_watch {
    struct g2h_reader *reader;
    uint64_t offset; /* the reader's position */
};

/* Reads on to an offset. Returns false at the end of the dump, and if it is damaged. *ret_is_cut:
 * it may only look damaged because the rest has not been copied yet. */
static bool read_to(struct open_watch *watch, uint64_t offset, bool *ret_is_cut)
{
    struct g2h_reader *reader = watch->reader;
    struct g2h_record record;
    *ret_is_cut = false;
    while (watch->offset < offset) {
        if (reader->has_params && reader_next_object(reader, &record.object)) {
            watch->offset = reader_offset(reader);
            continue;
        }
        struct g2h_error *error = g2h_reader_next(reader, &record);
        if (error) {
            *ret_is_cut = error->code == G2H_ERROR_DAMAGED && reader->is_cut;
            g2h_error_destroy(error);
            return *ret_is_cut;
        }
        watch->offset = reader_offset(reader);
        if (reader->at_end)
            return false;
    }
    return true;
}

/* Decides, each time that more of a file has been copied, up to which size copying may go on; 0: no
 * further, since the reader has come to the end or cannot read on. A file that is not a dump is
 * copied only so far that its kind can be told. */
static uint64_t dump_open_look(void *context, const struct g2h_input *so_far, uint64_t taken)
{
    struct open_watch *watch = context;
    const uint64_t size = so_far->size;
    const uint64_t enough = 0;
    bool is_cut;
    (void)taken;
    if (watch->reader) {
        reader_seek_again(watch->reader, watch->offset);
    } else {
        struct g2h_error *error = g2h_reader_create(so_far, &watch->reader);
        if (error) {
            const uint64_t core = magic_core_size(so_far->data, size);
            g2h_error_destroy(error);
            return MAX(core, FOREIGN_SIZE);
        }
        watch->offset = reader_offset(watch->reader);
    }
    const uint64_t begin = watch->offset;
    if (!read_to(watch, size / (TRUSTED_RATIO / 2), &is_cut)) {
        /* A dump of 2013 may be recognizable only by its end. */
        const bool may_be_of_2013 = watch->offset == begin && watch->reader->layout == &layout_1_3;
        return may_be_of_2013 && size < TRUSTED_SIZE ? TRUSTED_SIZE : enough;
    }
    uint64_t limit = watch->offset * TRUSTED_RATIO;
    if (is_cut && limit <= 2 * size)
        limit = 2 * size; /* a record is as long as the reader permits */
    return MAX(limit, TRUSTED_SIZE);
}

/* Opens a file, and copies it if it cannot be mapped. While a file that must be copied is read, a
 * reader follows it, and tells how much is needed: no more than the dump, and little of a file that
 * is none. */
struct g2h_error *g2h_input_open(const char *path, const struct g2h_progress *progress,
                                 struct g2h_input **ret)
{
    struct open_watch watch = {0};
    const struct input_watcher watcher = {dump_open_look, &watch};
    struct g2h_error *error = input_open(path, progress, &watcher, ret);
    g2h_reader_destroy(watch.reader);
    return error;
}
