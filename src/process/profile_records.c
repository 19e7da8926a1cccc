/* profile_records: the buckets of the memory profile (runtime/mprof.go) with their stacks, its
 * samples, and the rate at which they are taken. */
#include <stdio.h>

#include "base/bytes.h"
#include "base/scope.h"
#include "dump/dump_facts.h"
#include "exe/go/instructions.h"
#include "process/records.h"

enum { WORD = 8, MEM_PROFILE = 1, DEEPEST_STACK = 1024 };

/* Writes a function, its file and its line. If no function has the address, writes the address in
 * hexadecimal in place of the function. */
static bool put_call(struct records *records, uint64_t pc, bool is_first, uint64_t *left)
{
    const struct runtime *runtime = records->runtime;
    struct worker_buffer *buffer = &records->buffer;
    struct runtime_code code;
    struct g2h_bytes file = bytes_of("?");
    uint32_t line = 0;
    char text[24];
    if (!runtime_function(runtime, pc, &code)) {
        snprintf(text, sizeof(text), "(0x%llx)", (unsigned long long)pc);
        return put_bytes(buffer, bytes_of(text)) && put_bytes(buffer, file) &&
               put_number(buffer, 0);
    }
    pc -= !is_first && pc > runtime_function_entry(code);
    if (!pclntab_line(code.module->pclntab, code.index, pc - code.module->minpc, left, &file,
                      &line)) {
        file = bytes_of("?");
        line = 0;
    }
    return records_put_name(records, runtime_function_name(code)) &&
           records_put_name(records, file) && put_number(buffer, line);
}

/* Writes a bucket of the profile. One whose stack is missing or too deep is left out and counted.
 */
static bool put_bucket(struct records *records, uint64_t bucket, uint64_t *left)
{
    struct runtime *runtime = records->runtime;
    const uint64_t depth = runtime_field(runtime, bucket, LAYOUT_BUCKET_NSTK),
                   pcs = bucket + runtime_size(runtime, LAYOUT_BUCKET), record = pcs + WORD * depth;
    if (depth > DEEPEST_STACK || depth > records->pcs_left ||
        !memory_at(runtime->memory, pcs, WORD * depth)) {
        runtime->missing++;
        return true;
    }
    records->pcs_left -= depth;
    if (!PUT(&records->buffer, G2H_RECORD_MEMPROF, bucket,
             runtime_field(runtime, bucket, LAYOUT_BUCKET_SIZE), depth))
        return false;
    for (uint64_t i = 0; i < depth; i++) {
        uint64_t pc = 0;
        runtime_word(runtime, pcs + WORD * i, &pc);
        if (!put_call(records, pc, i == 0, left))
            return false;
    }
    return PUT(&records->buffer, runtime_field(runtime, record, LAYOUT_MEM_RECORD_ALLOCS),
               runtime_field(runtime, record, LAYOUT_MEM_RECORD_FREES));
}

struct g2h_error *records_put_profile(struct records *records)
{
    enum { LEAST_BUCKET = 64 };
    struct runtime *runtime = records->runtime;
    uint64_t bucket = 0, most = runtime->memory->bytes / LEAST_BUCKET,
             left = exe_lines_most(runtime->exe);
    if (runtime->mbuckets != 0)
        runtime_word(runtime, runtime->mbuckets, &bucket);
    for (; bucket != 0 && most > 0; most--) {
        if (runtime_field(runtime, bucket, LAYOUT_BUCKET_TYP) == MEM_PROFILE)
            TRY_MEMORY(put_bucket(records, bucket, &left));
        bucket = runtime_field(runtime, bucket, LAYOUT_BUCKET_ALLNEXT);
    }
    return records_put_samples(records);
}

/* ---- the rate ---- */

/* Returns whether an address of the process is in noptrdata or noptrbss. */
static bool is_without_pointers(const struct runtime *runtime, uint64_t address)
{
    return (address >= runtime->noptrdata && address < runtime->data) ||
           (address >= runtime->ebss && address < runtime->end);
}

/* Returns the address in the process of the last word of noptrdata or noptrbss that the code of a
 * function loads, or 0 if there is none. */
static uint64_t loaded_word(const struct runtime *runtime, struct g2h_bytes code, uint64_t address)
{
    const struct machine *machine = machine_of(exe_image(runtime->exe)->machine);
    uint64_t constants[INSTRUCTION_REGISTERS] = {0}; /* by register: the address that it has */
    uint64_t loaded = 0;
    struct instruction one;
    while (machine && code.size > 0 && machine->read(code, address, &one) && one.size > 0 &&
           one.size <= code.size) {
        uint64_t target = one.is_static ? one.target : 0;
        if (one.has_memory && !one.has_index && constants[one.base % INSTRUCTION_REGISTERS] != 0)
            target = constants[one.base % INSTRUCTION_REGISTERS] + (uint64_t)one.displacement;
        if (one.kind == INSTRUCTION_LOAD && target != 0 &&
            is_without_pointers(runtime, target + runtime->slide))
            loaded = target + runtime->slide;
        for (unsigned i = 0; i < INSTRUCTION_REGISTERS; i++)
            if ((one.writes >> i & 1) != 0 || (one.kind == INSTRUCTION_LOAD && one.to == i))
                constants[i] = 0;
        if (one.kind == INSTRUCTION_ADDRESS)
            constants[one.to % INSTRUCTION_REGISTERS] = one.target;
        code.data += one.size;
        code.size -= one.size;
        address += one.size;
    }
    return loaded;
}

/* Finds runtime.MemProfileRate in a program without symbols: in all releases it is the last
 * variable without pointers that runtime.profilealloc reads; until Go 1.20 it reads runtime.mcache0
 * before. Returns its address, or 0. */
static uint64_t search_rate(const struct runtime *runtime)
{
    const struct pclntab *pclntab = runtime->pclntab;
    for (uint64_t i = 0; i < pclntab->count; i++) {
        if (!runtime_is_named(pclntab_name(pclntab, i), "runtime.profilealloc"))
            continue;
        const uint64_t begin = runtime->minpc - runtime->slide + pclntab_entry(pclntab, i),
                       size = pclntab_entry(pclntab, i + 1) - pclntab_entry(pclntab, i);
        const uint8_t *code = image_at(exe_image(runtime->exe), begin, size);
        return code ? loaded_word(runtime, (struct g2h_bytes){code, size}, begin) : 0;
    }
    return 0;
}

bool records_put_rate(struct records *records)
{
    const struct runtime *runtime = records->runtime;
    const uint64_t address = runtime->rate != 0 ? runtime->rate : search_rate(runtime);
    uint64_t rate;
    return address == 0 || !memory_read(runtime->memory, address, WORD, &rate) ||
           rate > INT64_MAX || PUT(&records->buffer, FACT_RATE, rate);
}
