/* Matching an executable with a dump. */
#ifndef GO2HEAPSNAPSHOT_MATCH_H
#define GO2HEAPSNAPSHOT_MATCH_H

#include <go2heapsnapshot/exe.h>
#include <go2heapsnapshot/heap.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

/*
 * Checks that the executable wrote the dump, and finds the addresses at which the process had
 * loaded it. The versions must agree, and every function that has a frame in the dump must be in
 * the executable, all of them moved by the same distance. Errors: G2H_ERROR_NOT_EXE, whose message
 * names the mismatch; G2H_ERROR_MEMORY. After an error the executable gives no information about a
 * process.
 *
 * An executable may be matched again, with another dump, after everything that was made from it has
 * been destroyed.
 */
G2H_PUBLIC struct g2h_error *g2h_exe_match(struct g2h_exe *exe, const struct g2h_heap *heap);

G2H_END

#endif
