/*
 * process: the memory of a process, stopped or gone, and its threads' registers, before its heap is
 * found. core.h and attach.h fill it in.
 */
#ifndef PROCESS_ATTACH_PROCESS_H
#define PROCESS_ATTACH_PROCESS_H

#include "base/elf_format.h"
#include "process/attach/mapped.h"
#include "process/attach/process_memory.h"

enum { PROCESS_MOST_REGISTERS = 40 };

/* A thread's registers, in words, in the order of NT_PRSTATUS (elf_gregset_t of the machine). */
struct process_thread {
    uint64_t id;
    unsigned count;
    uint64_t registers[PROCESS_MOST_REGISTERS];
};

/* Consecutive pages. */
struct process_pages {
    uint64_t address, size;
};

struct process {
    const char *name; /* for messages: a path, or "process 1234" */
    uint64_t pid;     /* of a live process; 0: it is a core */
    uint16_t machine; /* EM_… */
    uint64_t entry;   /* AT_ENTRY, the executable's entry point; 0: unknown */
    char *executable; /* its path at run time; NULL: unknown */
    struct mapped_files files;
    char *maps; /* /proc/PID/maps of a live process, which files refers to */
    struct memory memory;
    VECTOR(struct process_thread) threads;
    bool is_new;  /* a live process that has only just started its program */
    bool is_dead; /* it was copied at its end (death_copy.h), with the registers of one thread */
    void *copy;   /* the mapping with the copy of a live process; NULL: it is a core */
    uint64_t copy_size;
    void *held; /* the data that attach_finish() ends, by end_held(); NULL: none */
    void (*end_held)(void *held);
    char *smaps;                           /* /proc/PID/smaps of a live process; NULL: not known */
    VECTOR(struct process_pages) resident; /* resident pages of a live process; ascending */
};

/* Frees everything except the core's file, which ranges of memory may point to. */
void process_deinit(struct process *process);

#endif
