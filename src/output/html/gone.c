/* gone: the subtrees that only the base has; see data.h. */
#include "base/scope.h"
#include "output/html/data.h"

enum {
    MOST_GONE = 500,
    LEAST_SHARE = 1000 /* each has at least a thousandth */
};

static void put_gone(struct data *data, const struct html_tree *tree,
                     const struct growth_gone *gone, size_t number)
{
    data_words(data, number > 0 ? ",\n{" : "\n{");
    data_key(data, "below");
    data_number(data, tree_number(tree, gone->parent));
    data_words(data, ",");
    data_key(data, "name");
    data_string(data, gone->name, gone->name_size);
    data_words(data, ",");
    data_key(data, "kind");
    data_number(data, gone->kind);
    data_words(data, ",");
    data_key(data, "was");
    data_number(data, gone->retained);
    data_words(data, ",");
    data_key(data, "was_count");
    data_number(data, gone->count);
    data_words(data, "}");
}

struct g2h_error *data_put_gone(struct data *data, const struct html_tree *tree)
{
    const struct findings *findings = data->findings;
    _cleanup_vector_ gone_vector list = {0};
    const size_t begin = data_size(&data->out);
    uint64_t all = 0;
    if (!findings->base)
        return NULL;
    TRY(growth_find_gone(findings->base, &findings->growth, &list));
    for (size_t i = 0; i < list.count; i++)
        all += list.data[i].retained;
    data_key(data, "gone");
    data_words(data, "[");
    for (size_t i = 0; i < list.count && list.data[i].retained >= all / LEAST_SHARE; i++) {
        if (i < MOST_GONE && data_size(&data->out) - begin < DATA_GONE_BYTES)
            put_gone(data, tree, &list.data[i], i);
        else
            data->cut_gone++;
    }
    data_words(data, "],\n");
    TRY_MEMORY(!data->out.text.failed);
    return NULL;
}
