/*
 * labels_of: the labels that a program has set on its goroutines for profiles (pprof.Do), and what
 * the goroutines with each of them retain.
 */
#ifndef FINDINGS_LABELS_OF_H
#define FINDINGS_LABELS_OF_H

#include "findings/findings.h"

/* A label of a goroutine; key and value are strings of texts. */
struct goroutine_label {
    uint32_t key, value;
};

/* The labels of all goroutines. */
struct goroutine_labels {
    struct string_pool texts;
    VECTOR(struct goroutine_label) list; /* by goroutine */
    uint32_t *first; /* by goroutine: where its labels begin; one more at the end */
};

/* Reads them. The caller calls goroutine_labels_deinit() in any case; ret is {0} before. */
struct g2h_error *goroutine_labels_read(const struct findings *findings,
                                        struct goroutine_labels *ret);
void goroutine_labels_deinit(struct goroutine_labels *labels);

/* Appends the labels of the goroutines in a place: "tenant=acme"; "tenant=acme 27, globex 3" if
 * there are few values, else "id: 30 values". */
struct g2h_error *goroutine_labels_append(const struct findings *findings,
                                          const struct goroutine_labels *labels, uint32_t place,
                                          struct text *text);

/* What the goroutines with a value of a label retain: as a place, what all goroutines in it have
 * together, too; of a place with several values, what each has alone. */
struct label_value {
    uint32_t value; /* string of texts; UINT32_MAX: the goroutines without the label */
    uint64_t count, retained;
};

typedef VECTOR(struct label_value) label_values;

/* Finds the values of a label, those that retain most first, and then the goroutines without it.
 * The caller frees ret->data. */
struct g2h_error *label_values_find(const struct findings *findings,
                                    const struct goroutine_labels *labels, uint32_t key,
                                    label_values *ret);

#endif
