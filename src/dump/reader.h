/*
 * reader: opens dumps and turns their bytes into records; the functions for other modules that
 * include/go2heapsnapshot/dump.h lacks.
 *
 *   reader              opens a dump, and copies no more of it than can be read; reads record after
 *                       record
 *   dump_layout         one row per dump format; recognizes files that people pass by mistake
 *   dump_facts          what records say of the dump, and of contents that it does not have
 */
#ifndef DUMP_READER_H
#define DUMP_READER_H

#include <go2heapsnapshot/dump.h>

#include "base/bytes.h"
#include "dump/dump_facts.h"
#include "dump/dump_layout.h"

/*
 * Field lists that were read, found by the size of their object and by the first bytes of the list.
 * A list that equals a known one need not be checked again: a heap has some hundreds of small
 * lists, each of them thousands of times.
 */
struct known_list {
    const uint8_t *list; /* includes the 0 that ends it; NULL: unused */
    uint64_t first;      /* the first eight bytes, of the list and maybe of what follows it */
    uint64_t object_size;
    uint32_t size;
    uint32_t tag; /* for the caller, which may note a fact about all such objects; 0 at first */
};

struct known_lists {
    struct known_list lists[512];
};

/* The state of a reader. A copy reads independently; so several threads can read records again. */
struct g2h_reader {
    const struct g2h_input *input;
    const struct dump_layout *layout;
    const char *warning;
    struct cursor cursor; /* after the last record */
    const uint8_t *begin; /* start of the current record */
    const char *what;     /* the reason why the record is damaged */
    bool is_cut;          /* the only damage is that the input ends, and not far before it should */
    uint64_t number;      /* number of records begun */
    enum g2h_record_kind kind;
    bool at_end, has_params, stackframe_seen;
    bool has_whole_contents; /* see WHOLE_CONTENTS */
    uint64_t pointer_size;
    uint64_t repairs;
    struct known_lists *known; /* NULL: lists are not remembered. Two readers must not share it */
    struct known_list *list;   /* the list of the last object, if it is remembered */
};

/* Returns how many bytes of contents with a declared size a dumper writes. */
static inline uint64_t reader_stored_size(const struct g2h_reader *reader, uint64_t size)
{
    return reader->has_whole_contents ? size : stored_size(size);
}

/* Returns whether an object is an array that was shortened after it had been dumped. */
static inline bool reader_is_shortened(const struct g2h_reader *reader,
                                       const struct g2h_object *object)
{
    return object->contents.size < reader_stored_size(reader, object->size);
}

/* Returns the byte offset after the last record that was read. */
uint64_t reader_offset(const struct g2h_reader *reader);

/* Returns the number of corrupt type records of Go 1.5 that were skipped. */
uint64_t reader_repairs(const struct g2h_reader *reader);

/* Moves a reader to an offset where a record may begin. */
void reader_seek(struct g2h_reader *reader, uint64_t offset);

/* Returns the most bytes that the field list of memory of size bytes may have: each word is in it
 * once, and a field takes 11 bytes at most. A margin of 64 bytes allows for surprises. */
static inline uint64_t reader_longest_list(uint64_t size)
{
    return size / 4 * 11 + 64;
}

/* Returns the fields that the field lists of all objects share: the end of the input, and the kinds
 * of fields. */
struct g2h_fields reader_object_fields(const struct g2h_reader *reader);

/* Returns whether the next record is an object whose tag has one byte, as Go writes it. */
static inline bool reader_is_at_object(const struct g2h_reader *reader)
{
    const struct cursor *cursor = &reader->cursor;
    return cursor->at < cursor->end && *cursor->at <= TAG_COUNT &&
           reader->layout->tags[*cursor->at] == G2H_RECORD_OBJECT;
}

/* Reads the next record if it is such an object. For any other record and for a damaged one, it
 * returns false and does not move the reader: g2h_reader_next() distinguishes the two. */
bool reader_next_object(struct g2h_reader *reader, struct g2h_object *ret);

/* Peeks at the object record at the reader's position: gets the object's address and size, and
 * where its contents begin, all unchecked. The reader does not move. Returns false if the record is
 * not such an object. */
bool reader_peek_object(const struct g2h_reader *reader, struct g2h_object *ret);

/*
 * Gets the offset of the next field of a checked list whose fields are all single pointers (1.5 and
 * later). Returns false at the end. The loop over the pointers of all objects uses this function.
 */
static inline bool fields_next_pointer(struct g2h_fields *fields, uint64_t *ret)
{
    struct cursor cursor = {fields->at, fields->end};
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t bytes;
    if (cursor_left(&cursor) >= sizeof(bytes)) { /* a kind, and an offset of up to three bytes */
        __builtin_memcpy(&bytes, cursor.at, sizeof(bytes));
        const uint64_t first = bytes >> 8 & 0x7f;
        const uint64_t second = bytes >> 9 & 0x3f80;
        if ((bytes & 0xff) == 0)
            return false;
        if ((bytes & 0x8000) == 0) {
            *ret = first;
            fields->at += 2;
            return true;
        }
        if ((bytes & 0x800000) == 0) {
            *ret = first | second;
            fields->at += 3;
            return true;
        }
        if ((bytes & 0x80000000) == 0) {
            *ret = first | second | (bytes >> 10 & 0x1fc000);
            fields->at += 4;
            return true;
        }
    }
#endif
    if (cursor.at >= cursor.end || *cursor.at == 0)
        return false;
    cursor.at++;
    if (!cursor_uvarint(&cursor, ret))
        return false;
    fields->at = cursor.at;
    return true;
}

/*
 * Gets the offsets, unchecked, of the next two fields if both are pointers with the usual kind
 * number, 1, and have offsets of two bytes each or three bytes each, as nearly all fields of a long
 * list do. *ret_size is the number of bytes that the two fields take, or 0 if they are different.
 * At least eight bytes must be left.
 */
static inline void fields_peek_pair(const uint8_t *at, uint64_t ret[2], size_t *ret_size)
{
    uint64_t bytes;
    __builtin_memcpy(&bytes, at, sizeof(bytes));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    *ret_size = 0;
    if ((bytes & 0x8080ff8080ff) == 0x8001008001) {
        ret[0] = (bytes >> 8 & 0x7f) | (bytes >> 9 & 0x3f80);
        ret[1] = (bytes >> 32 & 0x7f) | (bytes >> 33 & 0x3f80);
        *ret_size = 6;
    } else if ((bytes & 0x808080ff808080ff) == 0x0080800100808001) {
        ret[0] = (bytes >> 8 & 0x7f) | (bytes >> 9 & 0x3f80) | (bytes >> 10 & 0x1fc000);
        ret[1] = (bytes >> 40 & 0x7f) | (bytes >> 41 & 0x3f80) | (bytes >> 42 & 0x1fc000);
        *ret_size = 8;
    }
}

#endif
