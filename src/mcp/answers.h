/*
 * answers: answers about a heap that is kept. Each answer is written to a page of JSON, by the code
 * that writes the same part of a report.
 */
#ifndef MCP_ANSWERS_H
#define MCP_ANSWERS_H

#include <go2heapsnapshot/input.h>
#include <go2heapsnapshot/output.h>

#include "output/report/page.h"

enum { ANSWERS_CHARACTERS = 400 /* of a string, which is cut */ };

struct answers_options {
    const struct g2h_view *view;
    const struct g2h_input *input;   /* the source of the heap */
    const struct g2h_exe *exe;       /* NULL: none; strings of the heap may be in it */
    const struct g2h_base *base;     /* the base to compare with, or NULL */
    bool is_base_other;              /* another build of the program wrote the base */
    const struct g2h_memory *memory; /* NULL: not known */
    const char *source;              /* name of the input */
    unsigned threads;                /* 0: one per processor */
    bool has_values;                 /* shows the contents of objects */
};

struct answers;

/* Computes everything for the answers. Some seconds for ten million objects, and 40 bytes for each.
 * Errors: G2H_ERROR_MEMORY. */
struct g2h_error *answers_create(const struct answers_options *options, struct answers **ret);

/* Frees answers, which may be NULL. */
void answers_destroy(struct answers **answers);

bool answers_has_values(const struct answers *answers);

/* Checks that no other program has written to the dump or the executable meanwhile, which would
 * make the answers worthless. Errors: G2H_ERROR_SYSTEM. */
struct g2h_error *answers_check(const struct answers *answers);

/* Writes an answer. asked is the argument that the tool takes, NULL if it takes none. Errors:
 * G2H_ERROR_MEMORY; G2H_ERROR_NOT_FOUND if the object or class does not exist. */
typedef struct g2h_error *answers_put(struct answers *answers, const char *asked,
                                      struct page *page);

answers_put answers_summary, answers_suspects, answers_growth, answers_classes, answers_path,
    answers_show, answers_instances, answers_goroutines, answers_find, answers_waste;

#endif
