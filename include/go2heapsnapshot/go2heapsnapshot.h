/* All headers of libgo2heapsnapshot. g2h_open() (session.h) creates everything needed to query a
 * heap. Data flows input → heap → (exe → typing) → graph → view → output. */
#ifndef GO2HEAPSNAPSHOT_GO2HEAPSNAPSHOT_H
#define GO2HEAPSNAPSHOT_GO2HEAPSNAPSHOT_H

#include <go2heapsnapshot/bytes.h>
#include <go2heapsnapshot/dump.h>
#include <go2heapsnapshot/error.h>
#include <go2heapsnapshot/exe.h>
#include <go2heapsnapshot/findings.h>
#include <go2heapsnapshot/graph.h>
#include <go2heapsnapshot/heap.h>
#include <go2heapsnapshot/identity.h>
#include <go2heapsnapshot/input.h>
#include <go2heapsnapshot/match.h>
#include <go2heapsnapshot/memory.h>
#include <go2heapsnapshot/names.h>
#include <go2heapsnapshot/output.h>
#include <go2heapsnapshot/process.h>
#include <go2heapsnapshot/progress.h>
#include <go2heapsnapshot/redaction.h>
#include <go2heapsnapshot/session.h>
#include <go2heapsnapshot/trend.h>
#include <go2heapsnapshot/typing.h>
#include <go2heapsnapshot/values.h>
#include <go2heapsnapshot/version.h>
#include <go2heapsnapshot/view.h>

#endif
