/*
 * dump_facts: extra data after the EOF record of a dump that was made from outside the process: a
 * magic string, and then numbers (uvarints) up to a 0. The dumps of WriteHeapDump have no facts.
 * docs/dump-formats.md describes them. A reader that does not know facts reads the dump as always,
 * up to its EOF record.
 */
#ifndef DUMP_DUMP_FACTS_H
#define DUMP_DUMP_FACTS_H

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
    FACT_LAST = FACT_RESIDENT,
};

/* The flags of FACT_ENDING. */
enum { FACT_BY_OOM = 1, FACT_BY_GROUP = 2 };

#endif
