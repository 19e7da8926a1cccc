/*
 * facts: what stands behind the EOF record of a dump that was made from outside, and is in none of
 * WriteHeapDump's: a text, and then numbers (uvarints), up to a 0. docs/dump-formats.md has it.
 * Who does not know of it reads a dump as always, to its EOF record.
 */
#ifndef DUMP_FACTS_H
#define DUMP_FACTS_H

#define FACTS_TEXT "go2heapsnapshot facts 1\n"

enum fact {
    FACT_END = 0,
    FACT_STACK_OBJECTS = 1, /* frames have the words of stack objects that are alive */
    FACT_TYPE = 2,          /* the address of a large object, and that of its type */
};

#endif
