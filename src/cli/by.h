/* by: which of several formats of one name, as --by says. */
#ifndef CLI_BY_H
#define CLI_BY_H

#include <stdbool.h>

#include <go2heapsnapshot/output.h>

/* Whether a format is written without --by. */
bool by_is_usual(const struct g2h_format *format);

/* Chooses the format of a name. False after saying what --by takes, or which formats take it. */
bool by_choose(const char *by, const char *name, const struct g2h_format **ret);

#endif
