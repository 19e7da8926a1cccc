#!/bin/sh
# Tests --mcp: with the official clients, as agents use it, and with rude ones. TAP on standard output.
#
#   run.sh leaks     leaks of many kinds are found by few calls, each answer is small, cursors, both kinds of revisions
#   run.sh rude      twenty clients that send damaged messages
#   run.sh time      prints how long each question takes: G2H, and in EXE and DUMP a heap, whose classes and variables are in ASK
#
#   G2H              the program (default: build/go2heapsnapshot)
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
cd "$top" || exit 1
g2h=${G2H:-$top/build/go2heapsnapshot}
build=${BUILD:-$top/build/mcp}/$1
mkdir -p "$build" || exit 1

case $1 in
leaks)
	"$top/tools/setup" go-current >"$build/goroot" 2>"$build/log" && [ -s "$build/goroot" ] || {
		echo 'ok - leaks # SKIP no current Go'
		exit
	}
	GOROOT=$(cat "$build/goroot")
	export GOROOT
	# The runtime must be the one of this release, and types must be there.
	if ! "$GOROOT/bin/go" build -o "$build/app" "$here/leaks.go" >"$build/log" 2>&1; then
		echo 'not ok - leaks.go builds'
		sed 's/^/# /' "$build/log"
		exit 1
	fi
	node "$here/leaks.test.mjs" "$g2h" "$build/app" "$build"
	;;
rude)
	gzip -dc samples/leakserver.2.dump.gz >"$build/2.dump" && node "$here/rude.test.mjs" "$g2h" "$build/2.dump"
	;;
time) node "$here/time.mjs" "$g2h" "$EXE" "$DUMP" ${ASK-} ;;
esac
