/* function_names; see function_names.h. */
#include "exe/go/function_names.h"

/* pclntab_name() cuts long names, so a name that is looked up is cut as well. */
static uint64_t function_names_key(struct g2h_bytes name)
{
    return map_hash_text(name.data, name.size < PCLNTAB_LONGEST_TEXT ? (size_t)name.size
                                                                     : PCLNTAB_LONGEST_TEXT);
}

/* In a sound executable each function has its own name, or shares a short one with other instances
 * of a generic function. */
static struct g2h_error *add_names(struct function_names *names, const struct pclntab *pclntab)
{
    uint64_t left = 4 * pclntab->table.size;
    for (uint64_t i = 0; i < pclntab->count && i < FUNCTION_AMBIGUOUS; i++) {
        const struct g2h_bytes name = pclntab_name(pclntab, i);
        uint32_t number;
        if (name.size > left)
            return error_create(G2H_ERROR_NOT_EXE,
                                "%s: its table of functions (pclntab) is damaged: their names are "
                                "longer than the table",
                                pclntab->image->path);
        left -= name.size;
        const uint64_t key = function_names_key(name);
        if (!map_put(&names->index_of, key, (uint32_t)i, &number))
            return &error_no_memory;
        if (number != i)
            map_set(&names->index_of, key, FUNCTION_AMBIGUOUS);
    }
    return NULL;
}

struct g2h_error *function_names_init(struct function_names *names, const struct pclntab *pclntab)
{
    *names = (struct function_names){.index_of = {0}};
    struct g2h_error *error = add_names(names, pclntab);
    if (error)
        function_names_deinit(names);
    return error;
}

void function_names_deinit(struct function_names *names)
{
    map_deinit(&names->index_of);
}

uint32_t function_names_find(const struct function_names *names, struct g2h_bytes name)
{
    return map_get(&names->index_of, function_names_key(name));
}
