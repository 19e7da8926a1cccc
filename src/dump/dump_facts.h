/*
 * dump_facts: what a dump that was made from outside the process says besides WriteHeapDump's
 * records.
 */
#ifndef DUMP_DUMP_FACTS_H
#define DUMP_DUMP_FACTS_H

#include <string.h>

#include <go2heapsnapshot/dump.h>

#include "base/contract.h"

/* ==== facts after the EOF record ====
 *
 * Extra data after the EOF record of a dump that was made from outside the process: a magic string,
 * and then numbers (uvarints) up to a 0. The dumps of WriteHeapDump have no facts.
 * docs/dump-formats.md describes them. A reader that does not know facts reads the dump as always,
 * up to its EOF record.
 */

#define FACTS_TEXT "go2heapsnapshot facts 1\n"

enum fact {
    FACT_END = 0,
    FACT_STACK_OBJECTS = 1, /* stack frames contain the words of live stack objects */
    FACT_TYPE = 2,          /* the address of a large object, and the address of its type */
    FACT_UNTOUCHED = 3,     /* the address and the size of a part of a large object that the process
                               has never written to, so that it takes no memory */
    FACT_DATA = 4,          /* the address and the size of a part of the program's data without
                               pointers, which is in no record, and then its bytes */
    FACT_ZEROS = 5,         /* the address and the size of such a part that the process has never
                               written to */
    FACT_PARTIAL = 6,       /* stacks, spans, objects or pointers of the process are missing */
    FACT_ENDING = 7,        /* the moment of the dump in seconds since 1970, the status of the
                               process as waitpid() has it, or 0 if it lived, flags, and in bytes
                               its resident memory, the most of that so far, and its limit */
    FACT_CUT = 8,           /* memory of the process was missing when the dump was made: bytes,
                               objects and spans, of which some may not be known */
    FACT_UNREAD = 9,        /* how much of what holds objects could not be read: objects and stack
                               frames whose pointers are not known, so that all their words are
                               listed; goroutines whose stacks are incomplete; threads without
                               registers; other words. Missing if all of these are 0 */
    FACT_SECRET = 10,       /* the address of an object that secret.Do has allocated: only its
                               pointers are in its record */
    FACT_RATE = 11,     /* runtime.MemProfileRate: the process samples its allocations once in so
                          many bytes; 0: not at all */
    FACT_RESIDENT = 12, /* RSS of the process in bytes, 1 if the runtime's counters are known,
                           otherwise 0, the number of RSS's parts, and the bytes of each (enum
                           g2h_memory_part). Missing if the process was not alive */
    FACT_ABSENT = 13, /* of a live process: the address of a span of small objects, and how many of
                         its bytes are not resident. Missing if all are */
    FACT_AGES = 14,   /* since which collection each object lives; see below */
    FACT_COLLECTOR = 15, /* 0 if GOGC is off, else its percentage plus 1; GOMEMLIMIT, 0: none; and
                            in bytes what was alive after the last collection, and the size of the
                            heap at which GOGC begins the next. Missing if they are not known */
    FACT_SAMPLE = 16,    /* the dump has only a part of the objects; see below */
    FACT_LAST = FACT_SAMPLE,
};

/*
 * FACT_SAMPLE: every so manieth span was read, and the number of kinds of spans. For each kind: the
 * mspan's spanclass, the size of a slot, or 0 if a span is one object, the number of spans, how
 * many of them were read, and the number of objects in all of them. For each span that was read,
 * ascending by address, up to a 0: its size in bytes, the number of its kind, and its address minus
 * that of the span before. Objects that are in no such span were read only to find what holds those
 * that are.
 */

/*
 * FACT_AGES: when the first look at the marks was, in milliseconds since 1970, or 0 if there was no
 * other; since then the collections that a look followed, and the others; spans that a look could
 * not read; and the number of looks. For each look: the first and the last of the collections that
 * it stands for, as runtime.NumGC() counts; its milliseconds since the first; and for each class of
 * spans the number of objects that had ended since the look before, although they had survived two:
 * the number, the mspan's spanclass, and how many of them the first look had found, up to a 0. For
 * each span, ascending by address, up to a 0: the number of its slots, its address, the size of a
 * slot, its spanclass, and runs: an age, and how many slots in a row have it. Ages are 0: the
 * object has not survived a collection, and otherwise the look, from 1 on, that saw it first. The
 * first look found what lived already.
 */
enum { FACT_AGES_MOST_LOOKS = 254, FACT_AGES_MOST_SLOTS = 1024 };

/* The flags of FACT_ENDING. */
enum { FACT_BY_OOM = 1, FACT_BY_GROUP = 2 };

/* ==== how much of the memory of an object, a segment or a frame a dump holds ====
 *
 * Go's dumper writes too little of very large memory. A dump that is made from outside holds all of
 * it, and is marked accordingly. In any dump, arrays without pointers may have been shortened: the
 * size of such an object is padded to LONGEST_UVARINT bytes, which no dumper does, and is followed
 * by the number of bytes that are left.
 */

/* Go's dumper ignores short writes, and Linux writes at most this many bytes at once. */
static const uint64_t LONGEST_WRITE = 0x7ffff000;

/* The description of an other root that is nil and is the second record of a dump that is made from
 * outside, if the dump holds more than Go's dumper would write. Elsewhere such a root has no
 * meaning, so that all contents of a dump are read in the same way. */
#define WHOLE_CONTENTS "whole contents"

/* Returns whether the other root that is record number (1 is the first) is this mark. */
static inline bool says_whole_contents(uint64_t number, const struct g2h_otherroot *root)
{
    const size_t size = sizeof(WHOLE_CONTENTS) - 1;
    return number == 2 && root->pointer == 0 && root->description.size == size &&
           memcmp(root->description.data, WHOLE_CONTENTS, size) == 0;
}

/* Returns how many bytes of contents with a declared size a dump without the mark holds. The dumper
 * passes their length as a number of 32 bits. */
static inline uint64_t stored_size(uint64_t size)
{
    const uint64_t length = size & 0xffffffff;
    return MIN(length, LONGEST_WRITE);
}

/* ==== what cleanups of runtime.AddCleanup keep that wait to be run ====
 *
 * Go's own dumper writes none.
 */

/* The parts of a cleanup in the runtime's queue, and their descriptions. Before Go 1.26 it is
 * QUEUED_FUNCTION only. */
enum queued_part { QUEUED_CALLER, QUEUED_FUNCTION, QUEUED_ARGUMENT, QUEUED_PARTS };

static inline const char *queued_description(enum queued_part part)
{
    static const char *const descriptions[QUEUED_PARTS] = {
        "queued cleanup's caller", "queued cleanup", "argument of a queued cleanup"};
    return descriptions[part];
}

/* Returns whether a root's description is one of these. */
static inline bool says_queued_cleanup(struct g2h_bytes description)
{
    for (unsigned i = 0; i < QUEUED_PARTS; i++) {
        const char *one = queued_description((enum queued_part)i);
        if (description.size == strlen(one) && memcmp(description.data, one, strlen(one)) == 0)
            return true;
    }
    return false;
}

#endif
