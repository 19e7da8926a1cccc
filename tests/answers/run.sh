#!/bin/sh
# Runs programs that hold memory as those of public bug reports do, reads each one by --pid as its user would, and checks the
# sentences of the report that the user acts on. TAP on standard output.
#
#   GO2HEAPSNAPSHOT      the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases of Go (default: 1.22 and the current one)
#   PROGRAMS             the programs to run, without .go (default: all)
#   WAYS                 the ways to build them (default: those that each case names, else plain and stripped)
#
# What each program must be told is said in its first lines; answers.mjs has the words for it. The reports stay in
# build/answers/RELEASE/PROGRAM-WAY.CASE.txt.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
build=${BUILD:-$top/build/answers}
g2h=${GO2HEAPSNAPSHOT:-$top/build/go2heapsnapshot}
usual_goroots=$("$top/tools/setup" go-leaks)
. "$top/tests/go.sh"
. "$top/tests/process/lib.sh"
mkdir -p "$build" || exit 1
may_trace 'answers' || exit 0

for GOROOT in $goroots; do
	export GOROOT
	release=$(go_release "$GOROOT") || {
		echo "not ok - there is a Go in $GOROOT"
		continue
	}
	if [ -z "${GOROOTS-}${CHECK_ALL-}" ] && [ "$GOROOT" != "$newest" ]; then
		case $release in
		go1.22*) ;;
		*) continue ;;
		esac
	fi
	mkdir -p "$build/$release"
	# shellcheck disable=SC2086  # programs are words
	node "$here/answers.mjs" "$g2h" "$build/$release" "${release#go}" ${PROGRAMS-}
done
