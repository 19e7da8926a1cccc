/*
 * data: the JSON that the page's script reads, part by part, and the page's sources; README.md
 * describes it.
 */
#ifndef HTML_DATA_H
#define HTML_DATA_H

#include <stddef.h>

#include "base/strings.h"
#include "findings/ages.h"
#include "findings/findings.h"
#include "findings/suspects.h"

/* ==== the JSON that the page's script reads, part by part; README.md describes it ====
 *
 * The size of the page is bounded, whatever the heap, so that it fits into a ticket: limits are
 * below and in output/html/html.c, and the member "cut" says what they left out.
 */

enum {
    DATA_CHARACTERS = 256,   /* of a name, which is cut */
    DATA_PATH = 1024,        /* of a path, as a Go expression */
    DATA_TREE_NODES = 20000, /* and as deep as */
    DATA_TREE_DEPTH = 200,
    DATA_TREE_NAMES = 600000, /* bytes of their names */
    DATA_OBJECTS_BYTES = 400000,
    DATA_GONE_BYTES = 100000,
    DATA_LAYOUTS_BYTES = 100000,
    DATA_PAST_BYTES = 500000, /* of the tree in earlier dumps; and of the classes in these */
    DATA_PAST_CLASSES_BYTES = 200000,
    DATA_EXAMPLES_BYTES = 60000,
};

/* JSON in which < > & are not replaced yet. */
struct data_json {
    struct text text;
    size_t markup; /* how many bytes more it takes then */
};

struct data {
    const struct findings *findings;
    struct data_json out;
    struct string_pool names;    /* that out refers to by number, */
    struct data_json names_json; /* and these as strings, separated by commas */
    uint64_t cut_names, cut_gone;
};

/* ---- values ---- */

/* Add words of JSON, and a number. */
void data_words(struct data *data, const char *words);

void data_number(struct data *data, uint64_t number);

/* Add a string; a long one is cut, a path at a higher limit. */
void data_string(struct data *data, const char *text, size_t size);

void data_path(struct data *data, const struct text *path);

/* Adds a comma, unless it is the first element. */
static inline void data_comma(struct data *data, size_t element)
{
    data_words(data, element > 0 ? "," : "");
}

/* Adds the key of an object's member, and the colon after it. */
void data_key(struct data *data, const char *key);

/* Returns the number of a name. Returns 0 if memory runs out, and marks data->out.text as
 * failed. */
uint32_t data_name(struct data *data, const char *name, size_t size);

/* Returns how many bytes JSON takes in the page. */
static inline size_t data_size(const struct data_json *json)
{
    return json->text.size + json->markup;
}

void data_deinit(struct data *data);

/* ---- parts: each is a member and the comma after it. Errors: G2H_ERROR_MEMORY ---- */

#define TREE_NONE UINT32_MAX

/* The tree as it is put, by nodes of the merged tree. */
struct html_tree {
    uint32_t *numbers; /* by node: its number; TREE_NONE: it is left out */
    uint32_t *anchors; /* by node that is left out: the node in the tree that it is below */
    uint32_t *more;    /* by number: the node that stands for the omitted nodes below; TREE_NONE */
    uint32_t *kept;    /* by number: the node */
    uint32_t count;    /* of kept */
    uint64_t cut_branches, cut_bytes;
    struct ages_groups *aged; /* by node; NULL: the process was not watched */
};

struct g2h_error *data_put_tree(struct data *data, struct html_tree *tree);

void tree_deinit(struct html_tree *tree);

/* Returns the number in the tree of the node that represents a node of merged. */
uint32_t tree_number(const struct html_tree *tree, uint32_t node);

/* What the nodes of the tree retained in an earlier heap, and their counts, by number. */
struct html_tree_past {
    uint64_t *was, *was_count;
    uint32_t size;
};

/* Finds these anew; the growth of then is since that heap. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *tree_past_find(const struct findings *then, const struct html_tree *tree,
                                 struct html_tree_past *ret);

void tree_past_deinit(struct html_tree_past *past);

/* Adds the nodes of the report's suspects, one for each, in their order. */
void data_put_suspects(struct data *data, const struct html_tree *tree,
                       const struct who_suspects *suspects);

/* Adds for each of these one of its objects with its values, or one of its goroutines. */
struct g2h_error *data_put_examples(struct data *data, const struct who_suspects *suspects);

/* Adds nothing without a base. */
struct g2h_error *data_put_gone(struct data *data, const struct html_tree *tree);

struct g2h_error *data_put_largest(struct data *data, const struct html_tree *tree);

struct g2h_error *data_put_layouts(struct data *data);

/* source is the name of the dump that is shown. */
struct g2h_error *data_put_series(struct data *data, const struct html_tree *tree,
                                  const struct g2h_html_options *wanted, const char *source);

/* ==== page.html, page.css and page.js, which the Makefile makes bytes of ==== */

extern const unsigned char html_page[], html_style[], html_script[];

extern const size_t html_page_size, html_style_size, html_script_size;

#endif
