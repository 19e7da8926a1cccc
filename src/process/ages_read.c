/*
 * ages_read: looks at the marks of a live process, which goes on meanwhile, to learn which objects
 * survive how many collections; see age_looks.h.
 *
 * A look reads the list of spans, their mspans, and the pages with their mark bits (look_once);
 * since all of this may change while it is read, mspans are read twice, and the look counts only if
 * no other collection has ended meanwhile. Spans that have not been swept yet are waited for, or
 * looked at later. The second part repeats looks after each collection, the third does so in a
 * thread.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/port.h"
#include "process/age_looks.h"
#include "process/attach/copy.h"
#include "process/attach/refuse.h"
#include "process/attach/stop.h"

#ifdef __linux__
#include <fcntl.h>
#include <limits.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/contract.h"
#include "process/attach/procfs.h"
#endif

/* ==== one look ====
 *
 * One look at the marks of a live process, which goes on meanwhile; see age_looks.h.
 *
 * What is read may be out of date before it arrives. Three things keep the result right. The marks
 * of a collection do not change until the next one: a look counts only if no other one has ended
 * when it is over. A span is swept at some moment after the collection: then its marks move, and
 * its mspan says so. And a span whose description may have changed while it was read, as its marks
 * are still where they were, or as it is another one than before, is read twice.
 */

#ifdef __linux__

enum {
    PIECES = 1024,       /* that are read by one call: IOV_MAX of Linux */
    PAGE = 4096,         /* bytes that marks are read in */
    IN_USE = 1,          /* runtime.mSpanInUse */
    MOST_BATCH = 1 << 20 /* bytes of mspans that are read at a time */
};
/* Of the marks of one span, a bit per slot. */
enum { MARK_BYTES = SPAN_MOST_SLOTS / 8, MARK_WORDS = SPAN_MOST_SLOTS / 64 };

/* Where the marks of a span are. */
enum fate {
    FATE_UNUSED,   /* it has no objects */
    FATE_SWEPT,    /* in allocBits */
    FATE_UNSWEPT,  /* in gcmarkBits, and maybe in the span */
    FATE_SWEEPING, /* a thread is moving them */
    FATE_UNKNOWN,  /* the description makes no sense at this moment */
};

/* What an mspan says. */
struct mspan {
    struct ages_shape shape;
    uint64_t size, bits; /* bits: where the marks are */
    enum fate fate;
};

/* Bytes of the process, and where they go. */
struct ages_piece {
    uint64_t address;
    size_t size;
    void *data;
};

typedef VECTOR(struct ages_piece) piece_vector;

/* Pages with marks: a table by address, and their contents. */
struct mark_pages {
    uint64_t *table;     /* numbers of pages, each at its place (page_place()); 0: empty */
    uint32_t *positions; /* by place: where the page is in pages and data, once they are sorted */
    size_t capacity;     /* a power of two */
    VECTOR(uint64_t) pages;
    uint8_t *data;
    uint64_t last; /* the page that was added or used last */
    const uint8_t *last_data;
};

struct ages_live {
    uint64_t pid;
    int file; /* /proc/PID/mem, or -1 */
    bool by_file;
    const struct layout_member *members; /* of layout */
    struct layout layout;
    uint64_t mheap, mspan_size;
    struct runtime inline_of;   /* only for span_has_inline_marks() */
    VECTOR(uint64_t) addresses; /* of the mspans */
    VECTOR(struct mspan) mspans;
    VECTOR(uint32_t) twice, pending; /* numbers of mspans */
    piece_vector pieces;
    struct mark_pages marks;
    uint8_t *buffer; /* of MOST_BATCH bytes */
    uint64_t bytes;
    unsigned most_wait;     /* milliseconds for which a look may wait for sweeping */
    atomic_bool is_hurried; /* it may not wait */
};

/* ---- reading ---- */

/* Reads a piece by /proc/PID/mem. Returns 0 or an errno value: ESRCH: the process has ended;
 * EFAULT: not all of the piece is there. */
static int read_piece_by_file(struct ages_live *live, const struct ages_piece *piece)
{
    ssize_t size;
    do
        size = pread(live->file, piece->data, piece->size, (off_t)piece->address);
    while (size < 0 && errno == EINTR);
    if (size == (ssize_t)piece->size)
        return 0;
    return size == 0 ? ESRCH : EFAULT;
}

/* Reads pieces of the process, PIECES at a time, by process_vm_readv(), or by /proc/PID/mem where
 * that is not allowed. Returns 0 or an errno value: EFAULT: some are not there. */
static int read_all(struct ages_live *live, const struct ages_piece *pieces, size_t count)
{
    struct iovec here[PIECES], there[PIECES];
    for (size_t first = 0, many; first < count; first += many) {
        uint64_t wanted = 0;
        many = MIN(count - first, PIECES);
        for (size_t i = 0; i < many; i++) {
            const struct ages_piece *piece = &pieces[first + i];
            here[i] = (struct iovec){piece->data, piece->size};
            there[i] = (struct iovec){as_pointer(piece->address), piece->size};
            wanted += piece->size;
        }
        ssize_t size = -1;
        if (!live->by_file)
            size = process_vm_readv(as_pid(live->pid), here, many, there, many, 0);
        live->by_file |= size < 0 && (errno == EPERM || errno == ENOSYS) && live->file >= 0;
        if (live->by_file) {
            for (size_t i = 0; i < many; i++) {
                const int error = read_piece_by_file(live, &pieces[first + i]);
                if (error != 0)
                    return error;
            }
        } else if (size != (ssize_t)wanted) {
            return size < 0 ? errno : EFAULT;
        }
        live->bytes += wanted;
    }
    return 0;
}

static int read_at(struct ages_live *live, uint64_t address, uint64_t size, void *data)
{
    return read_all(live, &(struct ages_piece){address, size, data}, 1);
}

/* Reads mheap.sweepgen, which grows by 2 per collection. Returns 0 or an errno value. */
static int read_sweepgen(struct ages_live *live, uint32_t *ret)
{
    uint8_t bytes[4];
    const int error =
        read_at(live, live->mheap + live->members[LAYOUT_MHEAP_SWEEPGEN].offset, 4, bytes);
    *ret = error == 0 ? (uint32_t)memory_number(bytes, 4) : 0;
    return error;
}

/* ---- allspans ---- */

/* Reads the slice allspans, which another thread may be writing: twice the same is right. Returns 0
 * or an errno value: EAGAIN: it changes all the time. */
static int read_slice(struct ages_live *live, uint64_t ret[3])
{
    enum { TRIES = 10, SIZE = 24 };
    uint8_t first[SIZE], second[SIZE];
    const uint64_t at = live->mheap + live->members[LAYOUT_MHEAP_ALLSPANS].offset;
    for (int i = 0; i < TRIES; i++) {
        int error = read_at(live, at, SIZE, first);
        if (error == 0)
            error = read_at(live, at, SIZE, second);
        if (error != 0)
            return error;
        if (memcmp(first, second, SIZE) != 0)
            continue;
        for (unsigned word = 0; word < 3; word++)
            ret[word] = memory_number(first + 8 * word, 8);
        return ret[1] <= ret[2] ? 0 : EAGAIN; /* the length, at most the capacity */
    }
    return EAGAIN;
}

/* Adds the addresses of the mspans that are new since the last look, and room for what
 * read_mspans() reads of them. Returns 0 or an errno value; EAGAIN: the slice was being written,
 * since it never becomes shorter. */
static int add_mspans(struct ages_live *live)
{
    uint64_t slice[3]; /* allspans: data, length, capacity */
    const int error = read_slice(live, slice);
    const size_t known = live->addresses.count;
    if (error != 0)
        return error;
    if (slice[1] < known || slice[1] > UINT32_MAX)
        return EAGAIN;
    const size_t more = (size_t)slice[1] - known;
    if (!vector_grow(&live->addresses, more) || !vector_grow(&live->mspans, more))
        return ENOMEM;
    const int failed = read_at(live, slice[0] + 8 * known, 8 * more, live->addresses.data + known);
    if (more > 0 && failed != 0)
        return failed;
    live->addresses.count += more;
    live->mspans.count += more;
    return 0;
}

/* ---- mspans ---- */

/* Returns a field of an mspan that was read. */
static inline uint64_t load(const struct ages_live *live, const uint8_t *mspan,
                            enum layout_field field)
{
    const struct layout_member member = live->members[field];
    uint64_t whole;
    uint32_t half;
    uint16_t quarter;
    mspan += member.offset;
    switch (member.size) {
    case 8:
        memcpy(&whole, mspan, 8);
        return whole;
    case 4:
        memcpy(&half, mspan, 4);
        return half;
    case 2:
        memcpy(&quarter, mspan, 2);
        return quarter;
    default:
        return mspan[0];
    }
}

/* Returns where an mspan, by its sweepgen, has its marks (runtime/mheap.go: sweepgen). */
static enum fate fate_of(uint32_t own, uint32_t sweepgen)
{
    switch ((int32_t)(own - sweepgen)) {
    case 0:
    case 3:
        return FATE_SWEPT;
    case -2:
    case 1:
        return FATE_UNSWEPT;
    case -1:
        return FATE_SWEEPING;
    default:
        return FATE_UNKNOWN;
    }
}

/* Reads what an mspan says into *ret. Its fate is FATE_UNUSED if it has no objects, and
 * FATE_UNKNOWN if its numbers contradict each other. */
static void parse_mspan(const struct ages_live *live, const uint8_t *mspan, uint32_t sweepgen,
                        struct mspan *ret)
{
    ret->fate = FATE_UNUSED;
    if (load(live, mspan, LAYOUT_MSPAN_STATE) != IN_USE)
        return;
    const uint64_t pages = load(live, mspan, LAYOUT_MSPAN_NPAGES);
    const uint64_t nelems = load(live, mspan, LAYOUT_MSPAN_NELEMS);
    ret->shape = (struct ages_shape){load(live, mspan, LAYOUT_MSPAN_START_ADDR),
                                     load(live, mspan, LAYOUT_MSPAN_ELEMSIZE), (uint16_t)nelems,
                                     (uint8_t)load(live, mspan, LAYOUT_MSPAN_SPANCLASS)};
    ret->size = pages * RUNTIME_PAGE_SIZE;
    ret->fate = fate_of((uint32_t)load(live, mspan, LAYOUT_MSPAN_SWEEPGEN), sweepgen);
    ret->bits = load(live, mspan,
                     ret->fate == FATE_SWEPT ? LAYOUT_MSPAN_ALLOC_BITS : LAYOUT_MSPAN_GCMARK_BITS);
    const bool has_slots = nelems > 0 && nelems <= SPAN_MOST_SLOTS;
    const bool has_pages = pages > 0 && pages <= UINT32_MAX;
    const bool is_address = ret->bits >= PAGE && ret->bits <= INT64_MAX - PAGE; /* of a program */
    if (!has_slots || !has_pages || !is_address || ret->shape.elemsize < 8 ||
        ret->shape.elemsize > ret->size || nelems > ret->size / ret->shape.elemsize)
        ret->fate = FATE_UNKNOWN;
}

/* Returns whether two readings of an mspan say the same. */
static bool is_same(const struct mspan *one, const struct mspan *other)
{
    return one->fate == other->fate &&
           (one->fate == FATE_UNUSED ||
            (ages_same_shape(&one->shape, &other->shape) && one->bits == other->bits));
}

/* Reads all mspans. Those that follow each other in memory are one piece. Reads MOST_BATCH bytes at
 * a time. Returns 0 or an errno value. */
static int read_mspans(struct ages_live *live, uint32_t sweepgen)
{
    const uint64_t size = live->mspan_size;
    const size_t count = live->addresses.count;
    for (size_t first = 0, end; first < count; first = end) {
        uint64_t filled = 0;
        live->pieces.count = 0;
        for (end = first; end < count && filled + size <= MOST_BATCH; end++) {
            const uint64_t address = live->addresses.data[end];
            struct ages_piece *last =
                live->pieces.count > 0 ? &live->pieces.data[live->pieces.count - 1] : NULL;
            if (last && last->address + last->size == address)
                last->size += size;
            else if (!vector_push(&live->pieces,
                                  ((struct ages_piece){address, size, live->buffer + filled})))
                return ENOMEM;
            filled += size;
        }
        const int error = read_all(live, live->pieces.data, live->pieces.count);
        if (error != 0)
            return error;
        for (size_t i = first; i < end; i++)
            parse_mspan(live, live->buffer + (i - first) * size, sweepgen, &live->mspans.data[i]);
    }
    return 0;
}

/* Reads some mspans again, given by their numbers, MOST_BATCH bytes at a time. Returns 0 or an
 * errno value. */
static int read_again(struct ages_live *live, const uint32_t *numbers, size_t count,
                      uint32_t sweepgen)
{
    const uint64_t size = live->mspan_size;
    const uint64_t most = MOST_BATCH / size;
    for (size_t first = 0, many; first < count; first += many) {
        many = count - first < most ? count - first : (size_t)most;
        live->pieces.count = 0;
        for (size_t i = 0; i < many; i++)
            if (!vector_push(&live->pieces,
                             ((struct ages_piece){live->addresses.data[numbers[first + i]], size,
                                                  live->buffer + i * size})))
                return ENOMEM;
        const int error = read_all(live, live->pieces.data, many);
        if (error != 0)
            return error;
        for (size_t i = 0; i < many; i++)
            parse_mspan(live, live->buffer + i * size, sweepgen,
                        &live->mspans.data[numbers[first + i]]);
    }
    return 0;
}

/* Returns whether an mspan may have been changed while it was read. In a span that was swept the
 * marks have moved since the last look, unless it is another span now. */
static bool is_doubtful(const struct g2h_ages *ages, size_t number)
{
    const struct mspan *mspan = &ages->live->mspans.data[number];
    const struct aged_span *known = number < ages->spans.count ? &ages->spans.data[number] : NULL;
    if (mspan->fate == FATE_SWEPT)
        return !known || known->bits == mspan->bits ||
               !ages_same_shape(&known->shape, &mspan->shape);
    return mspan->fate == FATE_SWEEPING || mspan->fate == FATE_UNKNOWN;
}

/* Reads doubtful mspans again, until they are the same twice. What goes on changing is not known.
 * The first look need not do this: the next one finds what was wrong. Returns 0 or an errno value.
 */
static int read_twice(struct g2h_ages *ages, uint32_t sweepgen)
{
    enum { ROUNDS = 4 };
    struct ages_live *live = ages->live;
    _cleanup_vector_ VECTOR(struct mspan) before = {0};
    live->twice.count = 0;
    if (ages->look_count == 0)
        return 0;
    for (size_t i = 0; i < live->mspans.count; i++)
        if (is_doubtful(ages, i) && !vector_push(&live->twice, as_u32(i)))
            return ENOMEM;
    if (!vector_grow(&before, live->twice.count))
        return ENOMEM;
    for (int round = 0; round < ROUNDS && live->twice.count > 0; round++) {
        size_t changed = 0;
        for (size_t i = 0; i < live->twice.count; i++)
            before.data[i] = live->mspans.data[live->twice.data[i]];
        const int error = read_again(live, live->twice.data, live->twice.count, sweepgen);
        if (error != 0)
            return error;
        for (size_t i = 0; i < live->twice.count; i++)
            if (!is_same(&live->mspans.data[live->twice.data[i]], &before.data[i]))
                live->twice.data[changed++] = live->twice.data[i];
        live->twice.count = changed;
    }
    VECTOR_EACH(const uint32_t, mspan, live->twice)
        live->mspans.data[*mspan].fate = FATE_UNKNOWN;
    return 0;
}

/* ---- pages with marks ---- */

/* Returns the place of a page in the table: that of its entry, or an empty one. */
static size_t page_place(const struct mark_pages *marks, uint64_t page)
{
    size_t place = (size_t)(page * 0x9e3779b97f4a7c15 >> 32) & (marks->capacity - 1);
    while (marks->table[place] != 0 && marks->table[place] != page)
        place = (place + 1) & (marks->capacity - 1);
    return place;
}

/* Makes a table for this many pages. Returns false if memory runs out. It is at least twice as
 * large as that, as a hash table needs, and gets the pages that were there. */
static bool pages_reserve(struct mark_pages *marks, size_t count)
{
    size_t capacity = marks->capacity > 0 ? marks->capacity : 1024;
    while (capacity < 2 * count)
        capacity *= 2;
    if (capacity == marks->capacity)
        return true;
    free(marks->table);
    free(marks->positions);
    marks->table = calloc(capacity, sizeof(*marks->table));
    marks->positions = calloc(capacity, sizeof(*marks->positions));
    marks->capacity = marks->table && marks->positions ? capacity : 0;
    if (marks->capacity == 0)
        return false;
    VECTOR_EACH(const uint64_t, page, marks->pages)
        marks->table[page_place(marks, *page)] = *page;
    return true;
}

/* Adds a page to the set, unless it is there. Returns false if memory runs out. */
static bool pages_add(struct mark_pages *marks, uint64_t page)
{
    if (page == marks->last)
        return true;
    if (!pages_reserve(marks, marks->pages.count + 1))
        return false;
    marks->last = page;
    const size_t place = page_place(marks, page);
    if (marks->table[place] == page)
        return true;
    marks->table[place] = page;
    return vector_push(&marks->pages, page);
}

static int compare_pages(const void *a, const void *b)
{
    const uint64_t *one = a;
    const uint64_t *other = b;
    return COMPARE(*one, *other);
}

/* Adds the pages with marks of a number of slots. Returns false if memory runs out. */
static bool pages_add_marks(struct mark_pages *marks, uint64_t address, uint64_t nelems)
{
    const uint64_t last = address + ages_mark_bytes(nelems) - 1;
    return pages_add(marks, address / PAGE) &&
           (last / PAGE == address / PAGE || pages_add(marks, last / PAGE));
}

/* Returns the marks at an address, whose pages have been read. */
static const uint8_t *pages_at(struct mark_pages *marks, uint64_t address)
{
    if (marks->last != address / PAGE) {
        marks->last = address / PAGE;
        marks->last_data =
            marks->data + (uint64_t)marks->positions[page_place(marks, marks->last)] * PAGE;
    }
    return marks->last_data + address % PAGE;
}

/* Lists the pages anew that have marks of spans that were swept. Returns false if memory runs
 * out. */
static bool add_pages(struct ages_live *live)
{
    struct mark_pages *marks = &live->marks;
    marks->pages.count = 0;
    marks->last = 0;
    if (marks->capacity > 0)
        memset(marks->table, 0, marks->capacity * sizeof(*marks->table));
    VECTOR_EACH(const struct mspan, mspan, live->mspans)
        if (mspan->fate == FATE_SWEPT && !pages_add_marks(marks, mspan->bits, mspan->shape.nelems))
            return false;
    return true;
}

/* Reads the pages that were added, in the order of their addresses; those that follow each other
 * are one piece. marks->positions says where each is in marks->data. Returns 0 or an errno value.
 */
static int read_pages(struct ages_live *live)
{
    struct mark_pages *marks = &live->marks;
    marks->last = 0;
    vector_sort(&marks->pages, compare_pages);
    free(marks->data);
    marks->data = malloc(marks->pages.count * PAGE + 1);
    if (!marks->data)
        return ENOMEM;
    live->pieces.count = 0;
    for (size_t i = 0; i < marks->pages.count; i++) {
        const uint64_t address = marks->pages.data[i] * PAGE;
        struct ages_piece *piece =
            live->pieces.count > 0 ? &live->pieces.data[live->pieces.count - 1] : NULL;
        marks->positions[page_place(marks, marks->pages.data[i])] = as_u32(i);
        if (piece && piece->address + piece->size == address)
            piece->size += PAGE;
        else if (!vector_push(&live->pieces,
                              ((struct ages_piece){address, PAGE, marks->data + i * PAGE})))
            return ENOMEM;
    }
    return read_all(live, live->pieces.data, live->pieces.count);
}

/* ---- spans that are not swept yet ---- */

/* Returns whether an mspan has objects whose marks wait for the sweeper, or are just being
 * moved. */
static bool is_pending(const struct mspan *mspan)
{
    return mspan->fate == FATE_UNSWEPT || mspan->fate == FATE_SWEEPING;
}

/* Lists as pending the spans that are not swept yet. Returns 0 or ENOMEM. */
static int find_pending(struct ages_live *live)
{
    live->pending.count = 0;
    for (size_t i = 0; i < live->mspans.count; i++)
        if (is_pending(&live->mspans.data[i]) && !vector_push(&live->pending, as_u32(i)))
            return ENOMEM;
    return 0;
}

static void ages_sleep(unsigned milliseconds)
{
    const struct timespec time = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    nanosleep(&time, NULL);
}

/* Lists as pending some SAMPLE of the mspans that were known at the last look, evenly spread.
 * Returns 0 or ENOMEM. */
static int choose_sample(struct ages_live *live, size_t known)
{
    enum { SAMPLE = 256 };
    const size_t step = known / SAMPLE + 1;
    live->pending.count = 0;
    for (size_t i = 0; i < known; i += step)
        if (!vector_push(&live->pending, as_u32(i)))
            return ENOMEM;
    return 0;
}

/* Waits while many spans are not swept yet, by a sample of them: so most mspans are read only once,
 * and their marks take less to read. Waits live->most_wait milliseconds at most, at growing
 * intervals. Returns 0 or an errno value. */
static int wait_for_sweep(struct ages_live *live, size_t known, uint32_t sweepgen)
{
    enum { SHARE = 50, FIRST = 4 }; /* a fiftieth of the sample may be unswept; milliseconds */
    for (unsigned pause = FIRST, waited = 0; waited + pause <= live->most_wait; pause *= 2) {
        uint32_t now = 0;
        int error = choose_sample(live, known);
        const size_t sampled = live->pending.count;
        if (error == 0)
            error = read_again(live, live->pending.data, sampled, sweepgen);
        if (error != 0)
            return error;
        size_t unswept = 0;
        for (size_t i = 0; i < sampled; i++)
            unswept += is_pending(&live->mspans.data[live->pending.data[i]]);
        if (unswept <= sampled / SHARE || live->is_hurried)
            return 0;
        ages_sleep(pause);
        waited += pause;
        error = read_sweepgen(live, &now);
        if (error != 0 || now != sweepgen) /* another collection has begun: no use in waiting */
            return error;
    }
    return 0;
}

/* The marks of a span that is not swept. */
struct unswept_marks {
    uint8_t own[MARK_BYTES], inside[MARK_BYTES];
};

/* Reads the marks of some spans. The sweeper copies those inside the span to gcmarkBits before it
 * clears them: in this order none is missed. Returns 0 or an errno value. */
static int read_unswept(struct ages_live *live, const uint32_t *numbers, size_t count,
                        struct unswept_marks *ret)
{
    int error = 0;
    /* First those inside of spans (own is 0), then gcmarkBits. */
    for (int own = 0; own < 2 && error == 0; own++) {
        live->pieces.count = 0;
        for (size_t i = 0; i < count; i++) {
            const struct mspan *mspan = &live->mspans.data[numbers[i]];
            const uint64_t bytes = ages_mark_bytes(mspan->shape.nelems);
            uint64_t offset;
            const bool is_inline = span_has_inline_marks(&live->inline_of, mspan->shape.elemsize,
                                                         mspan->size, &offset);
            if (mspan->fate != FATE_UNSWEPT || (!own && !is_inline))
                continue;
            const struct ages_piece piece =
                own ? (struct ages_piece){mspan->bits, bytes, ret[i].own}
                    : (struct ages_piece){mspan->shape.start + offset, bytes, ret[i].inside};
            if (!vector_push(&live->pieces, piece))
                return ENOMEM;
        }
        error = read_all(live, live->pieces.data, live->pieces.count);
    }
    return error;
}

/* Records the marks of a span: those of bytes and, unless it is NULL, of more. Bits after the last
 * slot, which the bytes may have, do not count. Returns false if memory runs out. */
static bool put_marks(struct g2h_ages *ages, uint32_t number, const uint8_t *bytes,
                      const uint8_t *more)
{
    const struct mspan *mspan = &ages->live->mspans.data[number];
    const unsigned nelems = mspan->shape.nelems;
    const unsigned words = (nelems + 63) / 64;
    uint64_t marks[MARK_WORDS], others[MARK_WORDS];
    struct aged_span *span = ages_span(ages, number);
    assert(nelems > 0);
    if (!span)
        return false;
    marks[words - 1] = others[words - 1] = 0; /* the bytes may end within the last word */
    memcpy(marks, bytes, ages_mark_bytes(nelems));
    if (more) {
        memcpy(others, more, ages_mark_bytes(nelems));
        for (unsigned i = 0; i < words; i++)
            marks[i] |= others[i];
    }
    if (nelems % 64 != 0)
        marks[nelems / 64] &= (UINT64_C(1) << (nelems % 64)) - 1;
    return ages_put_marks(ages, span, &mspan->shape, mspan->bits, marks);
}

/* Records the marks of a span that were read while it was not swept, if its mspan is the same after
 * that as it was before (was); of one that has been swept meanwhile reads them where they are now.
 * *ret_again: it has changed in another way, and is to be read again. Returns false if memory runs
 * out. */
static bool put_unswept(struct g2h_ages *ages, uint32_t number, const struct mspan *was,
                        const struct unswept_marks *marks, bool *ret_again)
{
    struct ages_live *live = ages->live;
    const struct mspan *now = &live->mspans.data[number];
    uint8_t bytes[MARK_BYTES];
    *ret_again = false;
    if (now->fate == FATE_UNSWEPT && is_same(now, was))
        return put_marks(ages, number, marks->own, marks->inside);
    if (now->fate == FATE_SWEPT &&
        read_at(live, now->bits, ages_mark_bytes(now->shape.nelems), bytes) == 0)
        return put_marks(ages, number, bytes, NULL);
    *ret_again = now->fate != FATE_UNUSED;
    return true;
}

/* Reads and records some spans that were not swept when they were read: their marks, then their
 * mspans again (put_unswept()). Those that change all the time are given up after ROUNDS, and are
 * counted as unread. Returns 0 or an errno value. */
static int look_at_some(struct g2h_ages *ages, const uint32_t *numbers, size_t count,
                        uint32_t sweepgen)
{
    enum { ROUNDS = 4 };
    struct ages_live *live = ages->live;
    _cleanup_free_ struct unswept_marks *marks = calloc(count, sizeof(*marks));
    _cleanup_vector_ VECTOR(struct mspan) before = {0};
    _cleanup_vector_ VECTOR(uint32_t) left = {0}, next = {0};
    if (!marks || !vector_grow(&left, count) || !vector_grow(&next, count) ||
        !vector_grow(&before, count))
        return ENOMEM;
    memcpy(left.data, numbers, count * sizeof(*numbers));
    left.count = count;
    for (int round = 0; round < ROUNDS && left.count > 0; round++) {
        int error = read_unswept(live, left.data, left.count, marks);
        for (size_t i = 0; i < left.count; i++)
            before.data[i] = live->mspans.data[left.data[i]];
        if (error == 0)
            error = read_again(live, left.data, left.count, sweepgen);
        if (error != 0)
            return error;
        next.count = 0;
        for (size_t i = 0; i < left.count; i++) {
            bool again;
            if (!put_unswept(ages, left.data[i], &before.data[i], &marks[i], &again))
                return ENOMEM;
            if (again)
                next.data[next.count++] = left.data[i];
            memset(&marks[i], 0, sizeof(marks[i]));
        }
        memcpy(left.data, next.data, next.count * sizeof(*next.data));
        left.count = next.count;
    }
    ages->unread += left.count;
    return 0;
}

/* Looks at the spans that were not swept when they were read, MOST of them at a time. Returns 0 or
 * an errno value. */
static int look_at_pending(struct g2h_ages *ages, uint32_t sweepgen)
{
    enum { MOST = 4096 };
    const struct ages_live *live = ages->live;
    int error = 0;
    for (size_t first = 0, many; first < live->pending.count && error == 0; first += many) {
        many = MIN(live->pending.count - first, MOST);
        error = look_at_some(ages, live->pending.data + first, many, sweepgen);
    }
    return error;
}

/* ---- a look ---- */

/* Records the spans that were swept, and those that are not in use. Returns 0 or an errno value.
 * What is not known is counted as unread. */
static int put_swept(struct g2h_ages *ages)
{
    struct ages_live *live = ages->live;
    for (size_t i = 0; i < live->mspans.count; i++) {
        const struct mspan *mspan = &live->mspans.data[i];
        if (mspan->fate == FATE_UNUSED && i < ages->spans.count)
            ages_put_unused(ages, &ages->spans.data[i]);
        ages->unread += mspan->fate == FATE_UNKNOWN;
        if (mspan->fate != FATE_SWEPT)
            continue;
        if (!put_marks(ages, as_u32(i), pages_at(&live->marks, mspan->bits), NULL))
            return ENOMEM;
    }
    return 0;
}

/* Lets a look wait for sweeping for at most a quarter of the time from one collection to the next,
 * and MOST milliseconds; the first look not at all. */
static void adapt_wait(struct g2h_ages *ages, uint64_t collection)
{
    enum { SHARE = 4, MOST = 300 };
    const struct ages_look *last = &ages->looks[ages->look_count];
    int64_t interval = 0;
    if (ages->look_count > 0 && collection > last->last)
        interval = (clock_since_1970() - last->time) / as_growth(last->last, collection);
    if (interval < 0 || interval > SHARE * MOST)
        interval = interval < 0 ? 0 : SHARE * MOST;
    ages->live->most_wait = (unsigned)interval / SHARE;
}

/* Looks once: reads mspans and marks, checks that no other collection has ended meanwhile, and only
 * then records. *ret_done: none has ended, so this is recorded. Returns 0 or an errno value:
 * EAGAIN: the list of spans was being written, or collections went back. */
static int look_once(struct g2h_ages *ages, uint32_t sweepgen, bool *ret_done)
{
    struct ages_live *live = ages->live;
    uint32_t now = 0;
    adapt_wait(ages, sweepgen / 2);
    int error = wait_for_sweep(live, live->mspans.count, sweepgen);
    if (error == 0)
        error = add_mspans(live);
    if (error == 0)
        error = read_mspans(live, sweepgen);
    if (error == 0)
        error = read_twice(ages, sweepgen);
    if (error == 0)
        error = find_pending(live);
    if (error == 0 && !add_pages(live))
        error = ENOMEM;
    if (error == 0)
        error = read_pages(live);
    if (error == 0)
        error = read_sweepgen(live, &now);
    *ret_done = error == 0 && now == sweepgen;
    if (!*ret_done)
        return error;
    if (!ages_look_begin(ages, sweepgen / 2, clock_since_1970()))
        return EAGAIN;
    error = put_swept(ages);
    return error == 0 ? look_at_pending(ages, sweepgen) : error;
}

static double processor_seconds(void)
{
    return clock_of(CLOCK_THREAD_CPUTIME_ID);
}

/*
 * Looks at the process after this collection. *ret_done: it was the last one all the time;
 * otherwise another one has ended, and nothing was recorded. Returns 0 or an errno value.
 *
 * Memory that is not there any more (EFAULT) has been freed meanwhile, or the process has changed
 * what was read (EAGAIN): the look is repeated. If that does not help, it is not done, which is no
 * error. Each collection adds two to sweepgen.
 */
static int ages_live_look(struct g2h_ages *ages, uint64_t collection, bool *ret_done)
{
    enum { TRIES = 3 };
    struct ages_live *live = ages->live;
    const double begin = processor_seconds();
    int error = EAGAIN;
    *ret_done = false;
    for (int i = 0; i < TRIES && (error == EAGAIN || error == EFAULT); i++) {
        ages->again += i > 0;
        error = look_once(ages, (uint32_t)(collection * 2), ret_done);
    }
    ages->bytes = live->bytes;
    ages->seconds += processor_seconds() - begin;
    return error == EAGAIN || error == EFAULT ? 0 : error;
}

/* Reads the number of the last collection. Returns 0 or an errno value: the process has ended. */
static int ages_live_collection(struct g2h_ages *ages, uint64_t *ret)
{
    uint32_t sweepgen;
    const int error = read_sweepgen(ages->live, &sweepgen);
    *ret = sweepgen / 2;
    return error;
}

/* ---- begin and end ---- */

/* Returns whether the release has all fields, and each in an mspan. */
static bool has_fields(const struct ages_live *live)
{
    static const enum layout_field fields[] = {
        LAYOUT_MSPAN_START_ADDR, LAYOUT_MSPAN_NPAGES,      LAYOUT_MSPAN_NELEMS,
        LAYOUT_MSPAN_ALLOC_BITS, LAYOUT_MSPAN_GCMARK_BITS, LAYOUT_MSPAN_SWEEPGEN,
        LAYOUT_MSPAN_SPANCLASS,  LAYOUT_MSPAN_STATE,       LAYOUT_MSPAN_ELEMSIZE};
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        const struct layout_member member = live->members[fields[i]];
        if (member.size == 0 || member.size > 8 || member.offset + member.size > live->mspan_size)
            return false;
    }
    return live->mspan_size <= PAGE;
}

/* Prepares looks at a live process, whose runtime was found. Returns 0 or an errno value. */
static int ages_live_begin(struct g2h_ages *ages, const struct runtime *runtime, uint64_t pid)
{
    struct ages_live *live = calloc(1, sizeof(*live));
    if (!live)
        return ENOMEM;
    ages->live = live;
    ages->mheap = runtime->mheap;
    *live = (struct ages_live){.pid = pid, .layout = runtime->layout, .mheap = runtime->mheap};
    live->members = live->layout.members;
    live->mspan_size = runtime_size(runtime, LAYOUT_MSPAN);
    live->inline_of.has_inline_marks = runtime->has_inline_marks;
    live->file = open(procfs_path(pid, "mem").text, O_RDONLY | O_CLOEXEC);
    live->buffer = malloc(MOST_BATCH);
    if (!live->buffer)
        return ENOMEM;
    return has_fields(live) ? 0 : ENOTSUP;
}

static void ages_live_end(struct g2h_ages *ages)
{
    struct ages_live *live = ages->live;
    if (!live)
        return;
    if (live->file >= 0)
        close(live->file);
    free(live->addresses.data);
    free(live->mspans.data);
    free(live->twice.data);
    free(live->pending.data);
    free(live->pieces.data);
    free(live->marks.table);
    free(live->marks.positions);
    free(live->marks.pages.data);
    free(live->marks.data);
    free(live->buffer);
    free(live);
    ages->live = NULL;
}

#else

static void ages_live_end(struct g2h_ages *ages)
{
    (void)ages;
}

#endif

/* ==== a look after each collection ==== */

void g2h_ages_destroy(struct g2h_ages *ages)
{
    if (!ages)
        return;
    ages_live_end(ages);
    VECTOR_EACH(const struct aged_span, span, ages->spans)
        free(span->marks);
    free(ages->spans.data);
    free(ages);
}

#ifdef __linux__

/* How often it is asked whether a collection has ended, in milliseconds. After a look follow REST
 * times its processor time without one: if collections follow each other more quickly, some are
 * missed. */
enum { POLL = 3, REST = 20, SECOND = 1000 };

CLEANUP_POINTER(ages_cleanup, struct g2h_ages, g2h_ages_destroy);

/* Finds the runtime of a live process in its memory, and prepares looks. Error: the process cannot
 * be read, its runtime is not found, or it is not known where this release has its marks. */
static struct g2h_error *find_runtime(uint64_t pid, struct g2h_exe *exe, struct g2h_ages *ages)
{
    char name[32];
    _cleanup_(process_deinit) struct process process = {.name = name};
    _cleanup_(runtime_deinit) struct runtime runtime = {0};
    snprintf(name, sizeof(name), "process %llu", (unsigned long long)pid);
    TRY(copied_check_machine(pid, &process.machine));
    const int error = copied_open_live(pid, &process);
    if (error != 0)
        return attach_refuse(pid, error, true);
    process.pid = pid;
    process.is_new = g2h_process_is_new(pid);
    TRY(runtime_init(&runtime, &process, exe));
    switch (ages_live_begin(ages, &runtime, pid)) {
    case 0:
        return NULL;
    case ENOMEM:
        return &error_no_memory;
    default:
        return error_create(G2H_ERROR_NOT_EXE,
                            "process %llu: it is not known where %s has its marks",
                            (unsigned long long)pid, runtime.version);
    }
}

/* Returns the error about a look that failed. */
static struct g2h_error *explain_look(uint64_t pid, int error)
{
    return error == ENOMEM ? &error_no_memory : attach_refuse(pid, error, true);
}

/* Looks if another collection than that of the last look has ended; *ret_done: it has, and the look
 * is recorded. Returns 0 or an errno value. */
static int look_if_due(struct g2h_ages *ages, bool *ret_done)
{
    uint64_t collection;
    const int error = ages_live_collection(ages, &collection);
    *ret_done = false;
    if (error != 0 || (ages->look_count > 0 && collection == ages->looks[ages->look_count].last))
        return error;
    return ages_live_look(ages, collection, ret_done);
}

/* Looks if it is due, and sets when the next look may begin: after REST times as long as this one
 * took of the processor, or after POLL. Returns 0 or an errno value. */
static int look_and_rest(struct g2h_ages *ages)
{
    const double before = ages->seconds;
    const double poll = (double)POLL / SECOND;
    bool is_done;
    const int error = look_if_due(ages, &is_done);
    const double rest = REST * (ages->seconds - before);
    ages->next = clock_seconds() + MAX(rest, poll);
    return error;
}

/* Returns whether the process has started another program, or ended. */
static bool has_other_program(const struct g2h_ages *ages)
{
    return g2h_process_image(ages->pid) != ages->image;
}

/* Takes the first look. It is not done if collections end meanwhile; then it is repeated after POLL
 * milliseconds, at most TRIES times, and after that the ages begin without a look. */
struct g2h_error *g2h_ages_begin(uint64_t pid, struct g2h_exe *exe, struct g2h_ages **ret)
{
    enum { TRIES = 100 };
    _cleanup_(ages_cleanup) struct g2h_ages *ages = calloc(1, sizeof(*ages));
    const struct timespec pause = {.tv_nsec = POLL * 1000000};
    TRY_MEMORY(ages);
    ages->pid = pid;
    ages->image = g2h_process_image(pid);
    TRY(find_runtime(pid, exe, ages));
    bool is_done = false;
    for (int i = 0; i < TRIES && !is_done; i++) {
        const int error = look_if_due(ages, &is_done);
        if (error != 0)
            return explain_look(pid, error);
        if (!is_done)
            nanosleep(&pause, NULL);
    }
    *ret = take_pointer(ages);
    return NULL;
}

/* Looks whenever a look is due, for these seconds, and checks each second that the process is still
 * the same program. Error G2H_ERROR_SYSTEM if a look fails, or the process has ended or become
 * another program. */
struct g2h_error *g2h_ages_watch(struct g2h_ages *ages, double seconds,
                                 const struct g2h_progress *progress)
{
    const double begin = clock_seconds();
    const double until = begin + seconds;
    double next_check = 0;
    /* On a busy machine, too, each collection is seen before the next one ends. */
    _cleanup_(attach_urgent_end) struct attach_urgent urgent;
    (void)attach_urgent_begin(&urgent);
    for (double now = begin; now < until; now = clock_seconds()) {
        if (progress)
            progress->update(progress->context, "watching collections",
                             (uint64_t)((now - begin) * SECOND), (uint64_t)(seconds * SECOND),
                             ages->seen);
        const int error = now >= ages->next ? look_and_rest(ages) : 0;
        if (error != 0)
            return explain_look(ages->pid, error);
        if (now >= next_check) {
            next_check = now + 1;
            if (has_other_program(ages))
                return explain_look(ages->pid, ESRCH);
        }
        now = clock_seconds();
        double rest = MIN(ages->next, until) - now;
        const struct timespec pause = clock_wait(rest);
        if (rest > 0)
            nanosleep(&pause, NULL);
    }
    return has_other_program(ages) ? explain_look(ages->pid, ESRCH) : NULL;
}

#else

struct g2h_error *g2h_ages_begin(uint64_t pid, struct g2h_exe *exe, struct g2h_ages **ret)
{
    (void)exe, (void)ret;
    return g2h_process_check(pid);
}

struct g2h_error *g2h_ages_watch(struct g2h_ages *ages, double seconds,
                                 const struct g2h_progress *progress)
{
    (void)seconds, (void)progress;
    return g2h_process_check(ages->pid);
}

#endif

/* ==== a thread that looks for as long as a process lives ==== */

#ifdef __linux__

/* The body of the thread: looks until it is told to end, or the process ends. Pauses while another
 * thread holds it (is_held). */
static void *follow_run(void *argument)
{
    struct ages_follow *follow = argument;
    const double slice = 0.05; /* seconds, after which others may get the lock */
    while (!follow->is_over && !follow->error) {
        if (follow->is_held) {
            ages_sleep(1);
            continue;
        }
        pthread_mutex_lock(&follow->lock);
        follow->error = g2h_ages_watch(follow->ages, slice, NULL);
        pthread_mutex_unlock(&follow->lock);
    }
    return NULL;
}

/* Starts a thread that looks after each collection. */
struct g2h_error *ages_follow_begin(uint64_t pid, struct g2h_exe *exe, uint64_t seconds,
                                    struct ages_follow *ret)
{
    *ret = (struct ages_follow){.ages = calloc(1, sizeof(*ret->ages))};
    TRY_MEMORY(ret->ages);
    pthread_mutex_init(&ret->lock, NULL);
    ret->ages->pid = pid;
    ret->ages->image = g2h_process_image(pid);
    ret->ages->window.length = seconds * SECOND;
    TRY(find_runtime(pid, exe, ret->ages));
    const int error = pthread_create(&ret->thread, NULL, follow_run, ret);
    ret->has_thread = error == 0;
    return error == 0 ? NULL : error_system(error, "cannot start a thread");
}

/* Keeps the thread from looking, so that the caller may use the ages until ages_follow_go_on();
 * nothing if there is no thread. */
void ages_follow_hold(struct ages_follow *follow)
{
    if (!follow->has_thread)
        return;
    follow->is_held = follow->ages->live->is_hurried = true;
    pthread_mutex_lock(&follow->lock);
}

/* Lets the thread, if there is one, look again after ages_follow_hold(). */
void ages_follow_go_on(struct ages_follow *follow)
{
    if (!follow->has_thread)
        return;
    follow->is_held = follow->ages->live->is_hurried = false;
    pthread_mutex_unlock(&follow->lock);
}

/* Has the thread end soon, and waits for that: ages and error are the caller's from then on. */
void ages_follow_stop(struct ages_follow *follow)
{
    if (follow->has_thread)
        follow->is_over = follow->ages->live->is_hurried = true;
}

/* Ends the thread that looks. */
void ages_follow_end(struct ages_follow *follow)
{
    ages_follow_stop(follow);
    if (follow->has_thread)
        pthread_join(follow->thread, NULL);
    follow->has_thread = false;
}

void ages_follow_deinit(struct ages_follow *follow)
{
    ages_follow_end(follow);
    if (follow->ages)
        pthread_mutex_destroy(&follow->lock);
    g2h_ages_destroy(follow->ages);
    g2h_error_destroy(follow->error);
    *follow = (struct ages_follow){.ages = NULL};
}

#endif

/* Copies the numbers of what has been looked at so far. */
void g2h_ages_get(const struct g2h_ages *ages, struct g2h_ages_account *ret)
{
    *ret = (struct g2h_ages_account){.seen = ages->seen,
                                     .missed = ages->missed,
                                     .unread = ages->unread,
                                     .again = ages->again,
                                     .bytes = ages->bytes,
                                     .seconds = ages->seconds,
                                     .is_left_out = ages->is_left_out};
}
