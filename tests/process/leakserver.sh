#!/bin/sh
# Reads the sample server by --pid, unchanged, while it leaks; with CHECK_ALL it also does the walk of samples/README.md in a
# Chromium's Memory tab with the snapshots. TAP on standard output.
set -u
. "$(dirname "$0")/lib.sh"
may_trace 'the sample server' || exit 0
if ! (cd "$top/samples/leakserver" && GOROOT=$newest "$newest/bin/go" build -o "$build/leakserver" .) >"$build/log" 2>&1; then
	echo 'not ok - the sample server builds'
	tell "$build/log"
	exit 1
fi
node "$here/leakserver.mjs" "$g2h" "$build/leakserver" "$build" | sed -E 's/^((not )?ok [0-9]+ - )/\1the sample server: /'
# Another test does the same walk with the samples in any case.
[ -n "${CHECK_ALL-}" ] || exit 0
node "$top/tests/devtools/walk.test.mjs" --live "$build/live.1.heapsnapshot" "$build/live.2.heapsnapshot" |
	sed -E 's/^((not )?ok [0-9]+ - )/\1the walk, by --pid: /'
