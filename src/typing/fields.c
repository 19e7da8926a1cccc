/*
 * fields: finds the fields from an offset on in the field list of a large object.
 *
 * A field list can only be read from its beginning, and a pointer into the middle of an object of a
 * hundred megabytes has to be compared with the fields there. So the first walk through the list
 * records where the fields of each part of the object begin.
 */
#include <stdlib.h>

#include "base/contract.h"
#include "typing/typer.h"

/* How many fields may be read per word of an object, and how many more in any object. */
enum { FIELD_VISITS = 64, FIELD_VISITS_MORE = 1 << 16 };

/* Records for each part of FIELD_STRIDE bytes where its first field is in the list, and the end of
 * the list as the last entry. Returns false if memory runs out. */
static bool note_starts(const struct g2h_object *record, struct field_index *index)
{
    struct g2h_fields fields = record->fields;
    uint64_t start = 0, offset;
    while (fields_next_pointer(&fields, &offset)) {
        while (index->starts.count <= offset / FIELD_STRIDE &&
               index->starts.count <= record->contents.size / FIELD_STRIDE)
            if (!vector_push(&index->starts, start))
                return false;
        start = as_size(fields.at - record->fields.at);
    }
    return vector_push(&index->starts, start);
}

void field_index_destroy(struct field_index *index)
{
    if (!index)
        return;
    free(index->starts.data);
    free(index);
}

/* Makes the index of an object. Returns NULL if memory runs out. */
static struct field_index *fields_make(const struct g2h_object *record, uint64_t word)
{
    struct field_index *index = calloc(1, sizeof(*index));
    if (!index || !note_starts(record, index)) {
        field_index_destroy(index);
        return NULL;
    }
    index->left = record->contents.size / word * FIELD_VISITS + FIELD_VISITS_MORE;
    return index;
}

/* Returns the index of a large object's pointers, or NULL. A dump lists the pointers of an object
 * one after the other; the index of a large object spares reading the list from its start for each
 * value within. */
struct field_index *typer_field_index(struct typer *typer, uint32_t object,
                                      const struct g2h_object *record)
{
    if (record->size < INDEXED_SIZE)
        return NULL;
    struct shard *shard = shard_of(typer->typing, object);
    struct field_index *index = NULL;
    uint32_t number = map_get(&shard->index_of, object);
    if (number != MAP_NONE) {
        index = shard->indexes.data[number];
    } else {
        number = as_u32(shard->indexes.count);
        index = fields_make(record, typer->typing->heap->params.pointer_size);
        if (!index || !vector_push(&shard->indexes, index)) {
            field_index_destroy(index);
            index = NULL;
        } else if (!map_put(&shard->index_of, object, number, &number)) {
            index = NULL; /* shard->indexes has it, and frees it later */
        }
        typer->no_memory = typer->no_memory || !index;
    }
    return index;
}
