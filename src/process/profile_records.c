/* profile_records: the buckets of the memory profile (runtime/mprof.go) with their stacks, and its
 * samples. */
#include <stdio.h>

#include "base/bytes.h"
#include "base/scope.h"
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
