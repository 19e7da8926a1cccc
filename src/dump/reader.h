/* reader: what other rooms may ask of a reader beyond include/go2heapsnapshot/dump.h. */
#ifndef DUMP_READER_H
#define DUMP_READER_H

#include <go2heapsnapshot/dump.h>

#include "base/cursor.h"
#include "dump/layout.h"

/*
 * Field lists of objects that were read, by the objects' sizes and the lists' first bytes. A list
 * that is the same as one of these need not be checked again: a heap has some hundreds of small
 * lists, each of them thousands of times.
 */
struct known_list {
    const uint8_t *list; /* with the 0 that ends it; NULL: none yet */
    uint64_t first;      /* eight bytes, of the list and maybe of what follows it */
    uint64_t object_size;
    uint32_t size;
    uint32_t
        tag; /* for the caller, who may note something that all such objects share; 0 at first */
};
struct known_lists {
    struct known_list lists[512];
};

/* The state of a reader. A copy reads on its own: that is how several threads read records again.
 */
struct g2h_reader {
    const struct g2h_input *input;
    const struct layout *layout;
    const char *warning;
    struct cursor cursor; /* behind the last record */
    const uint8_t *begin; /* of the record that is being read */
    const char *what;     /* is wrong with it */
    bool is_cut;     /* all that is wrong is that the input ends, and not far before it should */
    uint64_t number; /* records begun */
    enum g2h_record_kind kind;
    bool at_end, has_params, stackframe_seen;
    uint64_t pointer_size;
    uint64_t repairs;
    struct known_lists *known; /* NULL: lists are not remembered. Not for two readers at a time */
    struct known_list *list;   /* the last object's, if it is remembered */
};

/* The byte offset behind the last record that was read. */
uint64_t reader_offset(const struct g2h_reader *reader);

/* The number of corrupt type records of Go 1.5 that were passed over. */
uint64_t reader_repairs(const struct g2h_reader *reader);

/* Moves a reader to where a record may begin. */
void reader_seek(struct g2h_reader *reader, uint64_t offset);

/* Does the same after the input may have been mapped elsewhere, or has become longer. */
void reader_seek_again(struct g2h_reader *reader, uint64_t offset);

/* The most bytes that the field list of memory of size bytes may have: each word is in it once, and
 * a field takes 11 bytes at most. 64 more allow for surprises. */
static inline uint64_t reader_longest_list(uint64_t size)
{
    return size / 4 * 11 + 64;
}

/* What the field lists of all objects have in common: the end of the input, the kinds of fields. */
struct g2h_fields reader_object_fields(const struct g2h_reader *reader);

/* Whether the next record is an object with a tag of one byte, as Go writes it. */
static inline bool reader_is_at_object(const struct g2h_reader *reader)
{
    const struct cursor *cursor = &reader->cursor;
    return cursor->at < cursor->end && *cursor->at <= TAG_COUNT &&
           reader->layout->tags[*cursor->at] == G2H_RECORD_OBJECT;
}

/* Reads the next record if it is such an object. For any other record, and for a damaged one,
 * false, with the reader where it was: g2h_reader_next() tells which. */
bool reader_next_object(struct g2h_reader *reader, struct g2h_object *ret);

/* Gives the address and the size of the object whose record is at the reader's position, and where
 * its contents begin, all unchecked. The reader does not move. False where there is no such record.
 */
bool reader_peek_object(const struct g2h_reader *reader, struct g2h_object *ret);

/* How many bytes are in the file of contents that are declared to have size bytes; see
 * docs/dump-formats.md, "Short writes". */
uint64_t reader_stored_size(uint64_t size);

/*
 * The next field of a list whose offsets were checked, where every field is one pointer (1.5 and
 * later); false at the end. The loop over pointers of all objects runs on this.
 */
static inline bool fields_next_pointer(struct g2h_fields *fields, uint64_t *ret)
{
    struct cursor cursor = {fields->at, fields->end};
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t bytes;
    if (cursor_left(&cursor) >= sizeof(bytes)) { /* a kind, and offsets of up to three bytes */
        __builtin_memcpy(&bytes, cursor.at, sizeof(bytes));
        const uint64_t first = bytes >> 8 & 0x7f, second = bytes >> 9 & 0x3f80;
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
 * The next two fields, where both are pointers with the usual number and offsets of two or of three
 * bytes, as nearly all are of a long list: their offsets, which are not checked. *ret_size is how
 * many bytes they take; 0 where they are others. At least eight bytes must be left.
 */
enum { USUAL_POINTER = 1 };
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
