/*
 * records: writes the heap dump of a process as runtime/debug.WriteHeapDump would have; see
 * records.h. The parts: descriptors of types, for names; the memory profile; objects, span by span
 * on all threads (put_spans); and the order of all records (put_all). The format cannot express
 * some of what is known, which follows its end as facts (dump/dump_facts.h). Records that must come
 * after the objects but are read from the heap are made before, since the objects' memory is given
 * back while these are written (set_aside, struct after_objects).
 */
#include "process/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/elf_format.h"
#include "base/error.h"
#include "base/releases.h"
#include "dump/dump_facts.h"
#include "exe/go/instructions.h"
#include "process/age_looks.h"
#include "process/pointer_masks.h"
#include "process/runtime.h"

/* ==== reads the runtime's type descriptors (abi.Type) in the memory of a process ====
 *
 * Layouts: internal/abi/type.go, runtime/type.go of each release.
 */

struct process_type {
    uint64_t size, hash;
    struct g2h_bytes package, name; /* package empty: the name is complete */
    bool is_indirect; /* an interface holds a pointer to a value of it, or it has pointers itself */
};

/* Bits of abi.Type.TFlag: an UncommonType follows; the name has a "*" too many before it; the type
 * has a name. Of Kind_: the bits that are the kind; and since Go 1.26 in TFlag, before in Kind_,
 * the bit that interfaces hold the value itself. */
enum { UNCOMMON = 1, EXTRA_STAR = 2, NAMED = 4, KIND_MASK = 31, DIRECT_IFACE = 32 };

/* abi.Kind; those before are numbers. */
enum { KIND_ARRAY = 17, CHAN, FUNC, INTERFACE, MAP, POINTER, SLICE, STRING, STRUCT };

/* Returns the size of a kind's descriptor (abi.PtrType, abi.ChanType and so on; a plain abi.Type
 * has 48 bytes); it is followed by the uncommon part, which not all types have. */
static uint64_t process_types_descriptor_size(const struct runtime *runtime, unsigned kind)
{
    const bool is_swiss = runtime->minor >= 24 && !go_release_parse(runtime->version).no_swiss_maps;
    switch (kind) {
    case POINTER:
    case SLICE:
    case FUNC:
        return 56;
    case CHAN:
        return 64;
    case KIND_ARRAY:
        return 72;
    case STRUCT:
    case INTERFACE:
        return 80;
    case MAP:
        if (!is_swiss)
            return 88;
        return runtime->minor >= 27 ? 136 : 112;
    default:
        return 48;
    }
}

/* Returns the string (abi.Name) at an offset from the start of types. Before its text come a byte
 * of flags and a length of up to ten bytes, the last of which is below 80 (hex). Empty if offset is
 * 0, the value for no name, or its bytes are missing. */
static struct g2h_bytes name_at(const struct runtime *runtime, uint64_t types, uint64_t offset)
{
    enum { SHORTEST_HEADER = 2, LONGEST_HEADER = 11 };
    const struct g2h_bytes none = {(const uint8_t *)"", 0};
    const uint64_t address = types + offset;
    const uint8_t *bytes = NULL;
    uint64_t size;
    uint64_t header = SHORTEST_HEADER - 1;
    do {
        bytes = memory_at(runtime->memory, address, ++header);
    } while (bytes && (bytes[header - 1] & 0x80) != 0 && header < LONGEST_HEADER);
    if (offset == 0 || !bytes)
        return none;
    struct cursor cursor = {bytes + 1, bytes + header};
    if (!cursor_uvarint(&cursor, &size))
        return none;
    const uint8_t *text = memory_at(runtime->memory, address + as_size(cursor.at - bytes), size);
    return text ? bytes_at(text, size) : none;
}

/* Returns the name of a named type without its package: the part after the last dot outside type
 * arguments. */
static struct g2h_bytes without_package(struct g2h_bytes text)
{
    int brackets = 0;
    uint64_t at = text.size;
    for (; at > 0 && (text.data[at - 1] != '.' || brackets != 0); at--)
        brackets += (text.data[at - 1] == ']') - (text.data[at - 1] == '[');
    return bytes_from(text, at);
}

/*
 * Reads the descriptor at an address. Returns false if its bytes are missing.
 *
 * The name is given as the runtime's dumper does: package path and name apart. A type without a
 * package has an empty one; one with a package but without a name of its own has an empty name.
 */
static bool process_type_read(const struct runtime *runtime, uint64_t address,
                              struct process_type *ret)
{
    const uint64_t types = runtime_types_of(runtime, address);
    uint64_t pointers, flags, kind, offset;
    if (!runtime_peek(runtime, address, LAYOUT_TYPE_SIZE, &ret->size) ||
        !runtime_peek(runtime, address, LAYOUT_TYPE_PTR_BYTES, &pointers) ||
        !runtime_peek(runtime, address, LAYOUT_TYPE_HASH, &ret->hash) ||
        !runtime_peek(runtime, address, LAYOUT_TYPE_TFLAG, &flags) ||
        !runtime_peek(runtime, address, LAYOUT_TYPE_KIND, &kind) ||
        !runtime_peek(runtime, address, LAYOUT_TYPE_STR, &offset))
        return false;
    const uint64_t direct = runtime->minor >= 26 ? flags : kind;
    ret->is_indirect = (direct & DIRECT_IFACE) == 0 || pointers != 0;
    ret->name = name_at(runtime, types, offset);
    if ((flags & EXTRA_STAR) != 0 && ret->name.size > 0)
        ret->name = bytes_from(ret->name, 1);
    ret->package = (struct g2h_bytes){(const uint8_t *)"", 0};
    const uint64_t uncommon = address + process_types_descriptor_size(runtime, kind & KIND_MASK);
    if ((flags & UNCOMMON) != 0 && memory_read(runtime->memory, uncommon, 4, &offset))
        ret->package = name_at(runtime, types, offset);
    if (ret->package.size > 0)
        ret->name = (flags & NAMED) != 0 ? without_package(ret->name)
                                         : (struct g2h_bytes){ret->name.data, 0};
    return true;
}

/* ==== the memory profile ====
 *
 * The buckets of the memory profile (runtime/mprof.go) with their stacks, its samples, and the rate
 * at which they are taken.
 */

enum { WORD = 8 };

/* Writes a function, its file and its line. If no function has the address, writes the address in
 * hexadecimal in place of the function. Of any call but the innermost (is_first), pc is the address
 * that it returns to, so the line is that of the byte before. left limits the work. Returns false
 * if memory runs out. */
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

/* Writes a bucket of the profile: its stack of pcs follows the bucket, and the counts of what was
 * allocated and freed there (memRecord) follow the stack. One whose stack is missing or too deep is
 * left out and counted. left as in put_call(). Returns false if memory runs out. */
static bool put_bucket(struct records *records, uint64_t bucket, uint64_t *left)
{
    struct runtime *runtime = records->runtime;
    const uint64_t depth = runtime_field(runtime, bucket, LAYOUT_BUCKET_NSTK);
    const uint64_t pcs = bucket + runtime_size(runtime, LAYOUT_BUCKET);
    const uint64_t record = pcs + WORD * depth;
    if (depth > RUNTIME_DEEPEST_STACK || depth > records->pcs_left ||
        !memory_at(runtime->memory, pcs, WORD * depth)) {
        runtime->missing++;
        return true;
    }
    records->pcs_left -= depth;
    if (!PUT_NUMBERS(&records->buffer, G2H_RECORD_MEMPROF, bucket,
                     runtime_field(runtime, bucket, LAYOUT_BUCKET_SIZE), depth))
        return false;
    for (uint64_t i = 0; i < depth; i++) {
        uint64_t pc = 0;
        runtime_word(runtime, pcs + WORD * i, &pc);
        if (!put_call(records, pc, i == 0, left))
            return false;
    }
    return PUT_NUMBERS(&records->buffer, runtime_field(runtime, record, LAYOUT_MEM_RECORD_ALLOCS),
                       runtime_field(runtime, record, LAYOUT_MEM_RECORD_FREES));
}

/* Writes the buckets of the memory profile, and then its samples. most ends a chain that a damaged
 * process may have made a circle: a bucket has LEAST_BUCKET bytes or more in all releases. */
struct g2h_error *records_put_profile(struct records *records)
{
    enum { LEAST_BUCKET = 64 };
    struct runtime *runtime = records->runtime;
    uint64_t bucket = 0;
    uint64_t most = runtime->memory->bytes / LEAST_BUCKET;
    uint64_t left = exe_lines_most(runtime->exe);
    if (runtime->mbuckets != 0)
        runtime_word(runtime, runtime->mbuckets, &bucket);
    for (; bucket != 0 && most > 0; most--) {
        if (runtime_field(runtime, bucket, LAYOUT_BUCKET_TYP) == RUNTIME_MEM_PROFILE)
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
 * function loads, or 0 if there is none. Follows addresses that instructions put into registers,
 * without jumps; ends at the first instruction that it cannot read. */
static uint64_t loaded_word(const struct runtime *runtime, struct g2h_bytes code, uint64_t address)
{
    const struct machine *machine = machine_of(exe_image(runtime->exe)->machine);
    uint64_t constants[INSTRUCTION_REGISTERS] = {0}; /* by register: the address that it has */
    uint64_t loaded = 0;
    struct instruction read;
    if (!machine)
        return 0;
    while (code.size > 0 && machine->read(code, address, &read) && read.size > 0 &&
           read.size <= code.size) {
        uint64_t target = read.is_static ? read.target : 0;
        if (read.has_memory && !read.has_index && constants[read.base % INSTRUCTION_REGISTERS] != 0)
            target = constants[read.base % INSTRUCTION_REGISTERS] + (uint64_t)read.displacement;
        if (read.kind == INSTRUCTION_LOAD && target != 0 &&
            is_without_pointers(runtime, target + runtime->slide))
            loaded = target + runtime->slide;
        for (unsigned i = 0; i < INSTRUCTION_REGISTERS; i++) /* what was in these is lost */
            if ((read.written_registers >> i & 1) != 0 ||
                (read.kind == INSTRUCTION_LOAD && read.to == i))
                constants[i] = 0;
        if (read.kind == INSTRUCTION_ADDRESS)
            constants[read.to % INSTRUCTION_REGISTERS] = read.target;
        code.data += read.size;
        code.size -= read.size;
        address += read.size;
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
        return code ? loaded_word(runtime, bytes_at(code, size), begin) : 0;
    }
    return 0;
}

/* Appends the fact runtime.MemProfileRate, if it is found. Returns false if memory runs out. */
static bool records_put_rate(struct records *records)
{
    const struct runtime *runtime = records->runtime;
    const uint64_t address = runtime->rate != 0 ? runtime->rate : search_rate(runtime);
    uint64_t rate;
    return address == 0 || !memory_read(runtime->memory, address, WORD, &rate) ||
           rate > INT64_MAX || PUT_NUMBERS(&records->buffer, FACT_RATE, rate);
}

/* ==== the slots of all spans that are objects, with their contents and pointers ====
 *
 * Each thread takes dozens of spans at a time; the records are written in the order of allspans.
 */

/* The number of spans in a task; and the longest element of an array, in words, whose pointers are
 * listed in full although it is untouched. */
enum { SPANS_PER_TASK = 64, MOST_OF_ELEMENT = 1 << 16 };

/* An mspan has at least this many bytes in all releases. */
enum { LEAST_MSPAN = 144 };

struct object_records_work {
    struct records *records;
    struct heap_bits *bits;              /* by worker */
    struct g2h_process_account *account; /* by worker */
    struct release *release;             /* of spans that have been written */
    uint64_t taken;                      /* bytes of objects and mspans so far, of all threads */
};

struct span_work {
    uint64_t largest_array;              /* as in struct records */
    const struct sampled_spans *sampled; /* as in struct records */
    const struct span *span;
    struct runtime *runtime;
    struct heap_bits *bits;
    struct g2h_process_account *account;
    struct worker_buffer *buffer;
};

/* Writes the fields of one repetition of a mask, which begins at word first. Returns false if
 * memory runs out. */
static bool put_repetition(struct worker_buffer *buffer, const struct heap_mask *mask,
                           uint64_t first, uint64_t words)
{
    enum { AT_A_TIME = 64 };
    const uint64_t end = MIN(mask->words, words - first);
    for (uint64_t i = 0; i < end; i += AT_A_TIME) {
        uint8_t *at =
            (uint8_t *)worker_buffer_reserve(buffer, (size_t)AT_A_TIME * (1 + LONGEST_UVARINT));
        if (!at)
            return false;
        const uint8_t *start = at;
        for (uint64_t bits = heap_mask_bits(mask, i, MIN(end - i, AT_A_TIME)); bits != 0;
             bits &= bits - 1) {
            *at++ = 1; /* a pointer */
            at = put_at(at, (first + i + lowest_bit(bits)) * 8);
        }
        buffer->size += as_size(at - start);
    }
    return true;
}

/* Writes the fields of an object: a type's mask is repeated for each element of an array. Returns
 * false if memory runs out. */
static bool put_fields(struct worker_buffer *buffer, const struct heap_mask *mask, uint64_t words)
{
    for (uint64_t first = mask->offset; mask->words > 0 && first < words; first += mask->period) {
        if (!put_repetition(buffer, mask, first, words))
            return false;
        if (mask->period == 0)
            break;
    }
    return put_number(buffer, 0);
}

/* ---- objects that were allocated in secret.Do ---- */

/* Returns whether the collector takes a word of an object for a pointer. */
static bool is_pointer(const struct heap_mask *mask, uint64_t word)
{
    if (word < mask->offset)
        return false;
    const uint64_t in =
        mask->period > 0 ? (word - mask->offset) % mask->period : word - mask->offset;
    return in < mask->words && heap_mask_bits(mask, in, 1) != 0;
}

/* Returns a word of an object as it may be shown: pointers, and addresses of types and code, say
 * what the object refers to, which the process's memory outside of it says, too. */
static uint64_t shown_word(const struct runtime *runtime, const struct heap_mask *mask,
                           uint64_t word, uint64_t value)
{
    const bool is_static = (value >= runtime->types && value < runtime->etypes) ||
                           (value >= runtime->text && value < runtime->etext);
    return is_static || (is_pointer(mask, word) && memory_range_at(runtime->memory, value)) ? value
                                                                                            : 0;
}

/* Writes the contents of an object that was allocated in secret.Do, of which only pointers may be
 * shown: instead of other contents "[secret][secret]…" or, in an object with pointers, whose
 * numbers may be lengths, zeros. */
static struct g2h_error *put_secret(const struct span_work *work, uint64_t address,
                                    const struct heap_mask *mask)
{
    static const char text[8] = "[secret]";
    const struct runtime *runtime = work->bits->runtime;
    uint64_t value;
    for (uint64_t word = 0; word < work->span->elemsize / 8; word++) {
        if (work->buffer->size >= RECORDS_FLUSHED_AT)
            TRY(worker_buffer_flush(work->buffer));
        if (mask->words > 0) {
            if (!memory_read(runtime->memory, address + word * 8, 8, &value))
                value = 0;
            value = shown_word(runtime, mask, word, value);
        } else {
            memcpy(&value, text, sizeof(value));
        }
        TRY_MEMORY(worker_buffer_put(work->buffer, &value, sizeof(value)));
    }
    return NULL;
}

/* Writes a number in the most bytes that one can have: the mark of a shortened array. */
static void put_longest(struct worker_buffer *buffer, uint64_t value)
{
    uint8_t bytes[LONGEST_UVARINT];
    cursor_put_longest(bytes, value);
    memcpy(buffer->data + buffer->size, bytes, sizeof(bytes));
    buffer->size += sizeof(bytes);
}

/* Writes the tag, the address and the size of an object; of an array that is shortened, also how
 * many bytes are left: docs/dump-formats.md, "Shortened arrays". Returns false if memory runs
 * out. */
static bool put_head(struct worker_buffer *buffer, uint64_t address, uint64_t size, uint64_t stored)
{
    if (stored == size)
        return PUT_NUMBERS(buffer, G2H_RECORD_OBJECT, address, size);
    if (!PUT_NUMBERS(buffer, G2H_RECORD_OBJECT, address) ||
        !worker_buffer_reserve(buffer, (size_t)2 * LONGEST_UVARINT))
        return false;
    put_longest(buffer, size);
    put_longest(buffer, stored);
    return true;
}

/* Returns how many bytes of an object are written: all, or, of one without pointers, the first
 * work->largest_array, where 0 is no limit. A secret object (is_secret) is written in full, without
 * its contents. */
static uint64_t written_of(const struct span_work *work, const struct heap_mask *mask,
                           bool is_secret)
{
    const uint64_t size = work->span->elemsize;
    const uint64_t largest = work->largest_array;
    return largest > 0 && largest < size && mask->words == 0 && !is_secret ? largest : size;
}

/* Writes the record of an object, with its contents and the words that the collector takes for
 * pointers: those in its first `listed` bytes, and all of its first element, which identifies the
 * type, unless that is larger than MOST_OF_ELEMENT. Of a secret one (is_secret) only pointers are
 * shown, see put_secret(). An object whose memory is missing is left out and counted. */
static struct g2h_error *put_object(const struct span_work *work, uint64_t address, bool is_secret)
{
    const struct memory *memory = work->bits->runtime->memory;
    const uint64_t size = work->span->elemsize;
    const uint8_t *contents =
        memory->window && size > SPAN_WHOLE
            ? memory_place(memory, address, size)
            : span_bytes(work->span, memory, address - work->span->start, size);
    struct heap_mask mask;
    if (!contents) {
        work->account->objects_missing++;
        work->account->missing_bytes += size;
        return NULL;
    }
    work->account->objects++;
    work->account->object_bytes += size;
    const uint64_t listed = records_listed(memory, address, size);
    TRY_MEMORY(heap_bits_of(work->bits, work->span, address, listed, &mask));
    const uint64_t element = mask.offset + mask.period, /* where the second one begins, in words */
        most = listed / 8 > element || element > MOST_OF_ELEMENT ? listed / 8 : element;
    const uint64_t written = written_of(work, &mask, is_secret);
    TRY_MEMORY(put_head(work->buffer, address, size, written));
    TRY(is_secret ? put_secret(work, address, &mask)
                  : records_put_contents(work->buffer, memory, address, contents, written));
    TRY_MEMORY(put_fields(work->buffer, &mask, MIN(most, size / 8)));
    return NULL;
}

/* Writes the live objects of a span, and counts how they compare with its own count. With a sample,
 * only those objects that were chosen to be read. Secret objects are written without their
 * contents. */
static struct g2h_error *put_span(const struct span_work *work)
{
    const struct span *span = work->span;
    uint64_t count = 0, secrets[SPAN_MOST_SLOTS / 64 + 1];
    const bool has_secrets = span_secrets(work->runtime, span, secrets);
    const struct sampled_span *sampled =
        work->sampled ? sampled_spans_find(work->sampled, span->start) : NULL;
    for (uint64_t i = 0; i < span->nelems; i++) {
        if (!span_is_live(span, i))
            continue;
        count++;
        if (work->sampled && !(sampled && bits_have(work->sampled->read, sampled->first_slot + i)))
            continue;
        TRY(put_object(work, span->start + i * span->elemsize,
                       has_secrets && bits_have(secrets, i)));
        if (work->buffer->size >= RECORDS_FLUSHED_AT)
            TRY(worker_buffer_flush(work->buffer));
    }
    work->account->spans++;
    work->account->span_bytes += span->size;
    work->account->spans_unswept += !span_is_swept(span);
    work->account->spans_miscounted += span_is_swept(span) && count != span->alloc_count;
    return NULL;
}

/* Counts bytes of objects and mspans. Spans do not overlap, so more bytes than the process's memory
 * has are an error. */
static struct g2h_error *take_bytes(struct object_records_work *work, uint64_t size)
{
    const struct process *process = work->records->runtime->process;
    const uint64_t most = process->memory.bytes;
    return __atomic_add_fetch(&work->taken, size, __ATOMIC_RELAXED) <= most
               ? NULL
               : error_create(G2H_ERROR_DAMAGED,
                              "%s: runtime.mheap_.allspans has spans that overlap", process->name);
}

/* Reports the bytes that all threads have written so far. */
static void update_progress(struct object_records_work *work)
{
    const struct g2h_progress *progress = work->records->progress;
    if (progress)
        progress->update(progress->context, "dumping",
                         __atomic_load_n(&work->taken, __ATOMIC_RELAXED),
                         work->records->runtime->memory->bytes, 0);
}

/* Writes the objects of a task's spans to the worker's buffer, and gives the memory of the copy
 * that they were read from back to the system. */
static struct g2h_error *put_spans(void *context, size_t task, unsigned worker,
                                   struct worker_buffer *buffer)
{
    struct object_records_work *work = context;
    struct runtime *runtime = work->records->runtime;
    const uint64_t first = (uint64_t)task * SPANS_PER_TASK;
    const uint64_t count = runtime->allspans.count;
    struct g2h_process_account *account = &work->account[worker];
    struct span span;
    const struct span_work span_work = {.largest_array = work->records->largest_array,
                                        .sampled = work->records->sampled,
                                        .span = &span,
                                        .runtime = runtime,
                                        .bits = &work->bits[worker],
                                        .account = account,
                                        .buffer = buffer};
    if (worker == 0) /* the caller's thread */
        update_progress(work);
    for (uint64_t i = first; i < first + SPANS_PER_TASK && i < count; i++) {
        uint64_t address;
        const enum span_state state =
            memory_read(runtime->memory, runtime->allspans.data + 8 * i, 8, &address)
                ? span_read(runtime, address, &span)
                : SPAN_MISSING;
        account->spans_missing += state == SPAN_MISSING;
        if (state == SPAN_UNUSED)
            account->manual_bytes += span_manual_bytes(runtime, address);
        if (state != SPAN_IN_USE)
            continue;
        const uint64_t before = account->object_bytes;
        TRY(put_span(&span_work));
        TRY(take_bytes(work, account->object_bytes - before + LEAST_MSPAN));
        release_span(work->release, &span);
    }
    return NULL;
}

/* Writes a task's records, for workers_run_ordered(). */
static struct g2h_error *write_spans(void *context, const struct worker_buffer *buffer)
{
    const struct object_records_work *work = context;
    return records_put(work->records, buffer);
}

/* Adds what all threads have counted to the account of the records, and frees their masks. */
static void object_records_sum_up(const struct object_records_work *work)
{
    struct g2h_process_account *sum = work->records->account;
    for (unsigned i = 0; i < work->records->threads; i++) {
        const struct g2h_process_account *part = &work->account[i];
        sum->spans += part->spans;
        sum->span_bytes += part->span_bytes;
        sum->manual_bytes += part->manual_bytes;
        sum->spans_unswept += part->spans_unswept;
        sum->spans_missing += part->spans_missing;
        sum->spans_miscounted += part->spans_miscounted;
        sum->objects += part->objects;
        sum->object_bytes += part->object_bytes;
        sum->objects_missing += part->objects_missing;
        sum->missing_bytes += part->missing_bytes;
        sum->masks_missing += work->bits[i].missing;
        heap_bits_deinit(&work->bits[i]);
    }
}

/* Writes the objects of all spans, and returns their memory if it is a live process's copy. */
static struct g2h_error *records_put_objects(struct records *records, struct release *release)
{
    const struct runtime *runtime = records->runtime;
    const size_t tasks = (size_t)(runtime->allspans.count / SPANS_PER_TASK + 1);
    _cleanup_free_ struct heap_bits *bits = calloc(records->threads, sizeof(*bits));
    _cleanup_free_ struct g2h_process_account *account = calloc(records->threads, sizeof(*account));
    TRY_MEMORY(bits && account);
    struct object_records_work work = {
        .records = records, .bits = bits, .account = account, .release = release};
    for (unsigned i = 0; i < records->threads; i++) {
        bits[i].runtime = runtime;
        bits[i].masks = &records->masks;
    }
    struct g2h_error *error =
        workers_run_ordered(records->threads, tasks, put_spans, NULL, write_spans, &work);
    object_records_sum_up(&work);
    return error;
}

/* ==== the heap dump that runtime/debug.WriteHeapDump would have written, from outside ==== */

/* ---- params ---- */

/* Returns what Go calls a machine (GOARCH). The layout's table has no other than these. */
static const char *name_of_machine(uint16_t machine)
{
    switch (machine) {
    case EM_X86_64:
        return "amd64";
    case EM_AARCH64:
        return "arm64";
    case EM_RISCV:
        return "riscv64";
    case EM_LOONGARCH:
        return "loong64";
    default:
        return "ppc64le";
    }
}

/* Finds the lowest and highest addresses of the heap's arenas; both 0 if there are none. */
static void find_bounds(const struct runtime *runtime, uint64_t *ret_start, uint64_t *ret_end)
{
    struct runtime_arenas arenas;
    uint64_t base;
    *ret_start = *ret_end = 0;
    runtime_arenas_begin(runtime, &arenas);
    while (runtime_arenas_next(&arenas, &base)) {
        if (*ret_start == 0 || base < *ret_start)
            *ret_start = base;
        if (base + RUNTIME_ARENA_SIZE > *ret_end)
            *ret_end = base + RUNTIME_ARENA_SIZE;
    }
}

/* Writes the record of parameters: word size, bounds of the heap, machine, version, processors. */
static struct g2h_error *put_params(struct records *records)
{
    struct runtime *runtime = records->runtime;
    uint64_t start, end, cpus = 0;
    find_bounds(runtime, &start, &end);
    if (runtime->cpus != 0)
        memory_read(runtime->memory, runtime->cpus, 4, &cpus);
    TRY_MEMORY(PUT_NUMBERS(&records->buffer, G2H_RECORD_PARAMS, 0, WORD, start, end) &&
               put_bytes(&records->buffer, bytes_of(name_of_machine(runtime->process->machine))) &&
               put_bytes(&records->buffer, bytes_of(runtime->version)) &&
               put_number(&records->buffer, cpus));
    return NULL;
}

/* ---- types and itabs ---- */

/* The runtime's dumper remembers which types it has written: the last few for each hash
 * (heapdump.go: typeCacheBuckets, typeCacheAssoc). */
enum { TYPE_BUCKETS = 256, TYPE_ASSOC = 4 };

struct type_cache {
    uint64_t types[TYPE_BUCKETS][TYPE_ASSOC];
};

/* Makes a type the first of its bucket, in place of the last one if the bucket did not have it.
 * Returns whether it did. */
static bool records_remember(struct type_cache *cache, uint64_t hash, uint64_t type)
{
    uint64_t *types = cache->types[hash % TYPE_BUCKETS];
    size_t at = 0;
    while (at < TYPE_ASSOC - 1 && types[at] != type)
        at++;
    const bool is_known = types[at] == type;
    memmove(types + 1, types, at * sizeof(*types));
    types[0] = type;
    return is_known;
}

/* Writes a type, unless the cache has it. One that cannot be read is counted and left out. Returns
 * false if memory runs out. */
static bool put_type(struct records *records, struct type_cache *cache, uint64_t address)
{
    struct worker_buffer *buffer = &records->buffer;
    struct process_type type;
    if (!process_type_read(records->runtime, address, &type) ||
        !records_take_names(records, type.package.size + type.name.size)) {
        records->runtime->missing++;
        return true;
    }
    if (records_remember(cache, type.hash, address))
        return true;
    return PUT_NUMBERS(buffer, G2H_RECORD_TYPE, address, type.size,
                       type.name.size + (type.package.size > 0 ? type.package.size + 1 : 0)) &&
           worker_buffer_put(buffer, type.package.data, type.package.size) &&
           worker_buffer_put(buffer, ".", type.package.size > 0) &&
           worker_buffer_put(buffer, type.name.data, type.name.size) &&
           put_number(buffer, type.is_indirect);
}

/* Writes the itabs of the runtime's table, each after its type. Writes none if the table is not
 * known, and stops where it cannot be read; an itab whose type cannot be read is left out. */
static struct g2h_error *put_itabs(struct records *records)
{
    struct runtime *runtime = records->runtime;
    _cleanup_free_ struct type_cache *cache = calloc(1, sizeof(*cache));
    uint64_t table = 0;
    TRY_MEMORY(cache);
    if (runtime->itab_table != 0)
        runtime_word(runtime, runtime->itab_table, &table);
    const uint64_t size = table != 0 ? runtime_field(runtime, table, LAYOUT_ITAB_TABLE_SIZE) : 0,
                   entries = table + runtime_offset(runtime, LAYOUT_ITAB_TABLE_ENTRIES);
    for (uint64_t i = 0; i < size; i++) {
        uint64_t itab, type;
        if (!memory_read(runtime->memory, entries + WORD * i, WORD, &itab))
            break;
        if (itab == 0 || !runtime_peek(runtime, itab, LAYOUT_ITAB_TYPE, &type))
            continue;
        TRY_MEMORY(put_type(records, cache, type) &&
                   PUT_NUMBERS(&records->buffer, G2H_RECORD_ITAB, itab, type));
    }
    return NULL;
}

/* ---- data and bss ---- */

/* Writes the pointers among the first words of a segment; for a large one without those that the
 * process has never touched. Returns false if memory runs out. */
static bool put_pointers(const struct records *records, struct worker_buffer *buffer,
                         uint64_t start, uint64_t words, const struct runtime_mask *mask)
{
    const struct ranges *untouched = &records->runtime->memory->untouched;
    const uint64_t end = start + words * WORD;
    struct range hole = {end, end};
    uint64_t i = 0;
    for (uint64_t at = start; at < end; at = hole.end) {
        if (end - start >= RECORDS_LARGE)
            (void)ranges_next(untouched, at, end, &hole);
        const uint64_t first = (at - start) / WORD;
        const uint64_t last = (hole.begin - start + WORD - 1) / WORD;
        for (i = MAX(i, first); i < last; i++)
            if ((mask->bits[i / 8] >> (i % 8) & 1) != 0 && !put_field(buffer, i * WORD))
                return false;
    }
    return put_number(buffer, 0);
}

/* Writes a segment of data or bss with the words that its mask says are pointers. Missing bytes are
 * counted. */
static struct g2h_error *put_segment(struct records *records, struct worker_buffer *buffer,
                                     enum g2h_record_kind kind, uint64_t start, uint64_t end,
                                     const struct runtime_mask *mask)
{
    const struct memory *memory = records->runtime->memory;
    const uint8_t *contents = memory_at(memory, start, end - start);
    const uint64_t size = contents ? end - start : 0;
    const uint64_t words = size / WORD;
    records->account->missing_bytes += end - start - size;
    TRY_MEMORY(PUT_NUMBERS(buffer, kind, start, size));
    TRY(records_put_contents(buffer, memory, start, contents, size));
    TRY_MEMORY(put_pointers(records, buffer, start, MIN(words, mask->count), mask));
    return NULL;
}

/* ---- memstats ---- */

/* Fills in the numbers of the runtime's own counters, as readmemstats_m() does. */
static void fill_counters(const struct counters *counters, uint64_t *numbers)
{
    numbers[G2H_MEMSTATS_HEAP_INUSE] = counters->heap_in_use;
    numbers[G2H_MEMSTATS_HEAP_IDLE] = counters->heap_free + counters->heap_released;
    numbers[G2H_MEMSTATS_HEAP_RELEASED] = counters->heap_released;
    numbers[G2H_MEMSTATS_HEAP_SYS] =
        numbers[G2H_MEMSTATS_HEAP_INUSE] + numbers[G2H_MEMSTATS_HEAP_IDLE];
    numbers[G2H_MEMSTATS_STACK_INUSE] = counters->in_stacks;
    numbers[G2H_MEMSTATS_STACK_SYS] = counters->in_stacks + counters->stacks_sys;
    numbers[G2H_MEMSTATS_MSPAN_SYS] = counters->mspan_sys;
    numbers[G2H_MEMSTATS_MCACHE_SYS] = counters->mcache_sys;
    numbers[G2H_MEMSTATS_BUCK_HASH_SYS] = counters->buckhash_sys;
    numbers[G2H_MEMSTATS_GC_SYS] = counters->gc_misc_sys + counters->in_gc;
    numbers[G2H_MEMSTATS_OTHER_SYS] = counters->other_sys;
    numbers[G2H_MEMSTATS_SYS] = numbers[G2H_MEMSTATS_HEAP_SYS] + numbers[G2H_MEMSTATS_STACK_SYS] +
                                numbers[G2H_MEMSTATS_MSPAN_SYS] + numbers[G2H_MEMSTATS_MCACHE_SYS] +
                                numbers[G2H_MEMSTATS_BUCK_HASH_SYS] + numbers[G2H_MEMSTATS_GC_SYS] +
                                numbers[G2H_MEMSTATS_OTHER_SYS];
}

/* Writes the numbers of runtime.MemStats that are known: sums of objects, the runtime's counters of
 * its memory, and the number of collections, each of which adds two to sweepgen. All other numbers
 * are 0. */
static struct g2h_error *put_memstats(struct records *records)
{
    uint64_t numbers[G2H_MEMSTATS_NUMBERS] = {0};
    numbers[G2H_MEMSTATS_ALLOC] = numbers[G2H_MEMSTATS_HEAP_ALLOC] = records->account->object_bytes;
    numbers[G2H_MEMSTATS_HEAP_OBJECTS] = records->account->objects;
    numbers[G2H_MEMSTATS_NUM_GC] = records->runtime->sweepgen / 2;
    fill_counters(records->counters, numbers);
    TRY_MEMORY(put_number(&records->buffer, G2H_RECORD_MEMSTATS) &&
               put_numbers(&records->buffer, numbers, G2H_MEMSTATS_NUMBERS));
    return NULL;
}

/* ---- facts, after the end of the dump ---- */

/* Records that follow the objects, but have to be read from the heap before its memory is
 * returned. */
struct after_objects {
    struct goroutines *goroutines;
    struct worker_buffer finalizers, profile, kept, secrets, ages;
};

/* Writes the types of objects without a size class, which the mspan has from Go 1.22 on. */
static struct g2h_error *put_types_of_large(struct records *records)
{
    struct runtime *runtime = records->runtime;
    struct span span;
    for (uint64_t i = 0; i < runtime->allspans.count; i++)
        if (span_read_fields_of(runtime, i, &span) == SPAN_IN_USE && span.is_large &&
            heap_bits_are_of_types(runtime, &span) && span.large_type != 0)
            TRY_MEMORY(PUT_NUMBERS(&records->buffer, FACT_TYPE, span.start, span.large_type));
    return NULL;
}

/* Writes the parts of large objects that the process has never touched. Stops at overlapping spans,
 * which are invalid, so that the number of facts is not spans times holes. */
static struct g2h_error *put_untouched(struct records *records)
{
    struct runtime *runtime = records->runtime;
    const struct ranges *untouched = &runtime->memory->untouched;
    uint64_t left = ranges_bytes(untouched, 0, UINT64_MAX);
    struct span span;
    struct range hole;
    for (uint64_t i = 0; i < runtime->allspans.count; i++) {
        if (span_read_fields_of(runtime, i, &span) != SPAN_IN_USE || !span.is_large)
            continue;
        const uint64_t end = span.start + span.elemsize;
        for (uint64_t at = span.start; ranges_next(untouched, at, end, &hole); at = hole.end) {
            const uint64_t size = hole.end - hole.begin;
            if (size > left)
                return NULL;
            left -= size;
            TRY_MEMORY(PUT_NUMBERS(&records->buffer, FACT_UNTOUCHED, hole.begin, size));
        }
    }
    return NULL;
}

/* The most bytes of data that are written, and the bytes of a fact. */
enum { DATA_MOST = 64 << 20, DATA_PIECE = 1 << 20 };

/* Writes a part of the program's data, in pieces so that the buffer stays small. */
static struct g2h_error *put_data(struct records *records, struct range part, const uint8_t *data)
{
    for (uint64_t at = part.begin, size; at < part.end; at += size) {
        size = MIN(part.end - at, DATA_PIECE);
        TRY_MEMORY(PUT_NUMBERS(&records->buffer, FACT_DATA, at, size) &&
                   worker_buffer_put(&records->buffer, data + (at - part.begin), (size_t)size));
        TRY(records_flush(records));
    }
    return NULL;
}

/* Writes the bytes of the first module's data in [begin, end), and the ranges that have never been
 * written to. *left is how many more bytes may be written. */
static struct g2h_error *put_data_in(struct records *records, uint64_t begin, uint64_t end,
                                     uint64_t *left)
{
    const struct memory *memory = records->runtime->memory;
    struct runtime_part part = {.range = 0};
    struct range hole;
    while (runtime_next_part(records->runtime, &part)) {
        const struct range all = part.addresses;
        const struct range both = range_intersect(all, (struct range){begin, end});
        if (both.begin >= both.end)
            continue;
        if (both.end - both.begin > *left) {
            records->account->data_left_out += both.end - both.begin;
            continue;
        }
        *left -= both.end - both.begin;
        TRY(put_data(records, both, part.data + (both.begin - all.begin)));
    }
    for (uint64_t at = begin; ranges_next(&memory->untouched, at, end, &hole); at = hole.end)
        TRY_MEMORY(PUT_NUMBERS(&records->buffer, FACT_ZEROS, hole.begin, hole.end - hole.begin));
    return NULL;
}

/* Writes the program's data without pointers, which is in no record: noptrdata and noptrbss. */
static struct g2h_error *put_pointerless(struct records *records)
{
    const struct runtime *runtime = records->runtime;
    uint64_t left = DATA_MOST;
    TRY(put_data_in(records, runtime_data_start(runtime), runtime->data, &left));
    return put_data_in(records, runtime->ebss, runtime->end, &left);
}

/* Returns the number of threads whose registers are not known, though a goroutine may be running
 * there. */
static uint64_t threads_unread(const struct g2h_process_account *account)
{
    return account->threads_stuck + account->goroutines_scanned;
}

/* Returns whether memory that holds objects may be missing, or its pointers are not known. */
static bool is_partial(const struct g2h_process_account *account)
{
    return account->file_missing + account->spans_missing + account->objects_missing +
               account->missing_bytes + account->masks_missing + account->frames_conservative +
               account->stacks_incomplete + threads_unread(account) + account->words_missing >
           0;
}

/* Writes how the process ended. Returns false if memory runs out. */
static bool put_ending(struct worker_buffer *buffer, const struct g2h_ending *ending)
{
    const uint64_t by_oom = ending->by_oom ? FACT_BY_OOM : 0;
    const uint64_t flags = by_oom | (ending->by_group ? FACT_BY_GROUP : 0);
    return PUT_NUMBERS(buffer, FACT_ENDING, (uint64_t)ending->seconds, ending->status, flags,
                       ending->resident, ending->peak, ending->limit);
}

/* Writes what memory was missing: the dump is then not complete, as origin_is_complete(). Returns
 * false if memory runs out. */
static bool put_cut(struct worker_buffer *buffer, const struct g2h_process_account *account)
{
    const uint64_t bytes =
        account->file_missing > 0 ? account->file_missing : account->missing_bytes;
    return bytes + account->objects_missing + account->spans_missing == 0 ||
           PUT_NUMBERS(buffer, FACT_CUT, bytes, account->objects_missing, account->spans_missing);
}

/* Writes what else of that which holds objects could not be read: heap_is_exact(). Returns false if
 * memory runs out. */
static bool put_unread(struct worker_buffer *buffer, const struct g2h_process_account *account)
{
    return account->masks_missing + account->frames_conservative + account->stacks_incomplete +
                   threads_unread(account) + account->words_missing ==
               0 ||
           PUT_NUMBERS(buffer, FACT_UNREAD, account->masks_missing, account->frames_conservative,
                       account->stacks_incomplete, threads_unread(account), account->words_missing);
}

/* Finds RSS and its parts, and writes them, so that this dump can be the base of a later one.
 * Writes nothing if they are not asked for (memory is NULL) or not known. */
static struct g2h_error *put_resident(struct records *records)
{
    struct g2h_memory *memory = records->memory;
    if (!memory)
        return NULL;
    TRY(resident_find(records->runtime, records->counters, records->spans, memory));
    if (memory->resident == 0)
        return NULL;
    TRY_MEMORY(PUT_NUMBERS(&records->buffer, FACT_RESIDENT, memory->resident, memory->has_counters,
                           G2H_MEMORY_PARTS));
    for (unsigned i = 0; i < G2H_MEMORY_PARTS; i++)
        TRY_MEMORY(put_number(&records->buffer, memory->parts[i]));
    VECTOR_EACH(const struct resident_absent, absent, records->spans->absent) {
        TRY_MEMORY(PUT_NUMBERS(&records->buffer, FACT_ABSENT, absent->address, absent->bytes));
        TRY(records_flush(records));
    }
    return NULL;
}

CLEANUP_POINTER(destroy_ages, struct g2h_ages, g2h_ages_destroy);

/* Writes since which collection the objects live. Without having been watched, it is known of each
 * object whether it survived the last collection; so of a process that is not the one watched. */
static struct g2h_error *put_ages_of_objects(struct records *records)
{
    _cleanup_(destroy_ages) struct g2h_ages *own = NULL;
    struct g2h_ages *ages = records->ages;
    if (ages && !ages_is_of(ages, records->runtime)) {
        ages->is_left_out = true;
        ages = NULL;
    }
    if (!ages) {
        ages = own = calloc(1, sizeof(*own));
        TRY_MEMORY(own);
    }
    TRY_MEMORY(ages_look_at_copy(ages, records->runtime) && ages_put_fact(ages, &records->buffer));
    return NULL;
}

/* Writes the facts, after the end of the dump: what WriteHeapDump's records have no place for.
 * FACT_END comes last; facts about what is not known, or was not asked for, are left out. */
static struct g2h_error *put_facts(struct records *records, const struct after_objects *after)
{
    records->account->words_missing = records->runtime->missing;
    TRY_MEMORY(worker_buffer_put(&records->buffer, FACTS_TEXT, sizeof(FACTS_TEXT) - 1) &&
               put_number(&records->buffer, FACT_STACK_OBJECTS));
    TRY_MEMORY(worker_buffer_put(&records->buffer, after->secrets.data, after->secrets.size));
    TRY(put_types_of_large(records));
    TRY(put_untouched(records));
    TRY(put_pointerless(records));
    if (is_partial(records->account))
        TRY_MEMORY(put_number(&records->buffer, FACT_PARTIAL));
    if (records->ending)
        TRY_MEMORY(put_ending(&records->buffer, records->ending));
    TRY_MEMORY(put_cut(&records->buffer, records->account) &&
               put_unread(&records->buffer, records->account));
    TRY_MEMORY(records_put_rate(records));
    TRY(put_resident(records));
    TRY(records_flush(records));
    TRY(records_put(records, &after->ages));
    const struct g2h_collector *collector = &records->counters->collector;
    if (collector->is_known)
        TRY_MEMORY(PUT_NUMBERS(&records->buffer, FACT_COLLECTOR,
                               collector->is_off ? 0 : collector->gogc + 1, collector->limit,
                               collector->marked, collector->goal));
    if (records->sampled)
        TRY(sampled_spans_put(records));
    TRY_MEMORY(put_number(&records->buffer, FACT_END));
    return NULL;
}

/* ---- all of it ---- */

static void after_objects_deinit(struct after_objects *after)
{
    records_end_goroutines(after->goroutines);
    worker_buffer_deinit(&after->finalizers);
    worker_buffer_deinit(&after->profile);
    worker_buffer_deinit(&after->kept);
    worker_buffer_deinit(&after->secrets);
    worker_buffer_deinit(&after->ages);
}

/* Runs put() to make records, and moves them to *ret. */
static struct g2h_error *set_aside(struct records *records,
                                   struct g2h_error *(*put)(struct records *),
                                   struct worker_buffer *ret)
{
    TRY(put(records));
    *ret = records->buffer;
    records->buffer = (struct worker_buffer){0};
    return NULL;
}

/* Returns whether an object has more bytes than the runtime's dumper would write. Data and bss of
 * Go's linker are never as large. */
static bool has_long_object(const struct runtime *runtime)
{
    struct span span;
    for (uint64_t i = 0; i < runtime->allspans.count; i++)
        if (span_read_fields_of(runtime, i, &span) == SPAN_IN_USE &&
            stored_size(span.elemsize) < span.elemsize)
            return true;
    return false;
}

/* Writes the mark that the contents in this dump are whole, if it matters; see WHOLE_CONTENTS. */
static struct g2h_error *put_whole(struct records *records)
{
    const struct g2h_bytes text = bytes_of(WHOLE_CONTENTS);
    if (has_long_object(records->runtime))
        TRY_MEMORY(put_number(&records->buffer, G2H_RECORD_OTHERROOT) &&
                   put_bytes(&records->buffer, text) && put_number(&records->buffer, 0));
    return NULL;
}

/* Writes the header and the records that come before the objects. */
static struct g2h_error *put_begin(struct records *records)
{
    static const char header[] = "go1.7 heap dump\n";
    TRY_MEMORY(worker_buffer_put(&records->buffer, header, sizeof(header) - 1));
    TRY(put_params(records));
    TRY(put_whole(records));
    TRY(put_itabs(records));
    return records_flush(records);
}

/* Writes the data and the bss of one module, a record each. */
static struct g2h_error *put_module(struct records *records, const struct runtime_segments *module,
                                    struct worker_buffer *buffer)
{
    TRY(put_segment(records, buffer, G2H_RECORD_DATA, module->data, module->edata,
                    &module->data_mask));
    return put_segment(records, buffer, G2H_RECORD_BSS, module->bss, module->ebss,
                       &module->bss_mask);
}

/* Writes the segments of all modules; WriteHeapDump has those of the first module only. The number
 * of modules is limited, because they may be linked in a cycle. */
static struct g2h_error *produce_segments(void *context, size_t task, unsigned worker,
                                          struct worker_buffer *buffer)
{
    enum { MOST = 1000 }; /* modules after the first one */
    struct records *records = context;
    struct runtime *runtime = records->runtime;
    const struct runtime_segments first = {runtime->data, runtime->edata,     runtime->bss,
                                           runtime->ebss, runtime->data_mask, runtime->bss_mask,
                                           false};
    struct runtime_segments other;
    uint64_t module = 0;
    (void)task, (void)worker;
    TRY(put_module(records, &first, buffer));
    for (int i = 0; runtime_next_module(runtime, &module, &other); i++) {
        if (i == MOST) {
            runtime->missing++;
            break;
        }
        TRY(put_module(records, &other, buffer));
    }
    return NULL;
}

/* Writes what produce_segments() has made, for workers_run_ordered(). */
static struct g2h_error *consume_segments(void *context, const struct worker_buffer *buffer)
{
    const struct records *records = context;
    return records_put(records, buffer);
}

/* Writes the segments of data and bss of all modules, as one task of one worker. */
static struct g2h_error *put_segments(struct records *records)
{
    return workers_run_ordered(1, 1, produce_segments, NULL, consume_segments, records);
}

/* Writes all records. Those that are made from objects and follow them are prepared first, because
 * writing the objects returns their memory; segments are not in the heap, and memstats are counted
 * meanwhile. What WriteHeapDump's records have no place for, such as the causes of kept objects
 * and, after EOF, where other readers stop, facts (dump/dump_facts.h), comes last. */
static struct g2h_error *put_all(struct records *records)
{
    _cleanup_(after_objects_deinit) struct after_objects after = {0};
    _cleanup_(release_deinit) struct release release = {0};
    _cleanup_(sampled_spans_deinit) struct sampled_spans sampled = {0};
    TRY(put_begin(records));
    TRY(release_init(&release, &records->masks));
    if (records->sample > 0) {
        TRY(sampled_spans_choose(records, &sampled));
        records->sampled = &sampled;
    }
    TRY(records_begin_goroutines(records, &release, &after.goroutines));
    TRY(set_aside(records, records_put_finalizers, &after.finalizers));
    TRY(set_aside(records, records_put_profile, &after.profile));
    TRY(set_aside(records, records_put_kept, &after.kept));
    TRY(set_aside(records, records_put_secrets, &after.secrets));
    TRY(set_aside(records, put_ages_of_objects, &after.ages));
    TRY(records_put_objects(records, &release));
    TRY(records_put_goroutines(after.goroutines));
    TRY(records_flush(records));
    TRY(put_segments(records));
    TRY(records_put(records, &after.finalizers));
    TRY(put_memstats(records));
    TRY(records_flush(records));
    TRY(records_put(records, &after.profile));
    TRY(records_put(records, &after.kept));
    TRY_MEMORY(put_number(&records->buffer, G2H_RECORD_EOF));
    TRY(put_facts(records, &after));
    return records_flush(records);
}

/* Writes the whole dump. The work is limited by the size of the memory, since damaged memory may
 * lead to the same names again and again: names have NAMES times its bytes, and a few more. */
struct g2h_error *records_write(struct records *records)
{
    enum { NAMES = 2, FEW_MORE = 1 << 20 };
    records->names_left = NAMES * records->runtime->memory->bytes + FEW_MORE;
    records->pcs_left = records->runtime->memory->bytes / WORD;
    type_masks_init(&records->masks, records->runtime);
    struct g2h_error *error = put_all(records);
    type_masks_deinit(&records->masks);
    worker_buffer_deinit(&records->buffer);
    return error;
}
