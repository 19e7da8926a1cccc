/* meta: reads the header of a snapshot, which says what the numbers behind it mean. */
#ifndef HEAPQUERY_META_H
#define HEAPQUERY_META_H

#include "snapshot.h"

/* The most numbers that a node or an edge may have; V8's have had 7 and 3 so far. */
enum { META_MOST_FIELDS = 32 };

/* Reads the object "snapshot". Errors: those of snapshot_read(). */
struct g2h_error *meta_read(struct snapshot *snapshot);

#endif
