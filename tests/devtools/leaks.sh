#!/bin/sh
# Builds the program of leaks/ and looks at its leaks in DevTools: leaks.test.mjs. TAP on standard output.
#
#   leaks.sh [SHAPE]...
#
#   G2H                    the program (default: build/go2heapsnapshot)
#   BUILD                  a directory
set -u
. "$(dirname "$0")/../process/lib.sh"
may_trace 'the leaks' || exit 0
(cd "$here/leaks" && GOROOT=$newest "$newest/bin/go" build -o "$build/leaks" .) >"$build/log" 2>&1 || {
	echo 'not ok - the program that leaks is built'
	sed 's/^/# /' "$build/log"
	exit 1
}
node "$here/leaks.test.mjs" "$g2h" "$build/leaks" "$build/pairs" "$@"
