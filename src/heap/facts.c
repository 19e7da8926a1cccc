/* facts; see facts.h. */
#include "heap/facts.h"

#include <string.h>

#include "base/cursor.h"
#include "base/scope.h"
#include "dump/facts.h"

struct g2h_error *facts_read(const uint8_t *data, uint64_t size, struct facts *ret,
                             uint64_t *ret_size)
{
    const size_t text = sizeof(FACTS_TEXT) - 1;
    struct cursor cursor = {data, data + size};
    uint64_t fact;
    *ret_size = 0;
    if (size < text || memcmp(data, FACTS_TEXT, text) != 0)
        return NULL;
    cursor.at += text;
    while (cursor_uvarint(&cursor, &fact) && fact != FACT_END) {
        struct fact_type type;
        uint64_t begin, bytes;
        if (fact == FACT_STACK_OBJECTS)
            ret->has_stack_objects = true;
        else if (fact == FACT_TYPE && cursor_uvarint(&cursor, &type.address) &&
                 cursor_uvarint(&cursor, &type.type))
            TRY_MEMORY(vector_push(&ret->types, type));
        else if (fact == FACT_UNTOUCHED && cursor_uvarint(&cursor, &begin) &&
                 cursor_uvarint(&cursor, &bytes) && bytes <= UINT64_MAX - begin)
            TRY_MEMORY(vector_push(&ret->untouched.list, ((struct range){begin, begin + bytes})));
        else
            break;
    }
    ranges_sort(&ret->untouched);
    *ret_size = (uint64_t)(cursor.at - data);
    return NULL;
}
