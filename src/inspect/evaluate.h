/* evaluate: Go expressions in the Console; see remote.h. */
#ifndef INSPECT_EVALUATE_H
#define INSPECT_EVALUATE_H

#include "inspect/channel.h"
#include "inspect/remote.h"

/*
 * Evaluates what --show and --path-to take, and more: variables, main.cache.items["a"].Name, the
 * contents of $0 or an address, goroutine 17 · v, and len(x), cap(x), retained(x),
 * instances("main.Session") and goroutines(). Appends the result of Runtime.evaluate; errors in the
 * expression, and expressions that lead nowhere, are in exceptionDetails. A program that attaches
 * may send JavaScript: that gets undefined, if it cannot be Go. Errors: G2H_ERROR_MEMORY.
 */
struct g2h_error *evaluate(struct taken *taken, const struct channel_evaluate *options,
                           const char *expression, struct text *text);

#endif
