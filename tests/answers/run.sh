#!/bin/sh
# Runs programs that hold memory as those of public bug reports do, reads each one by --pid as its user would, and checks the
# sentences of the report that the user acts on. TAP on standard output.
#
#   GO2HEAPSNAPSHOT      the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases of Go (default: 1.22 and the current one)
#   PROGRAMS             the programs to run, without .go (default: all)
#   WAYS                 the ways to build them (default: those that each case names, else plain and stripped; if neither
#                        GOROOTS nor CHECK_ALL is set, with a release before the current one only stripped; and without
#                        PROGRAMS and CHECK_ALL only the first case in both, and if it names them)
#
# What each program must be told is said in its first lines; answers.mjs has the words for it. The reports stay in
# build/answers/RELEASE/PROGRAM-WAY.CASE.txt.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
build=${BUILD:-$top/build/answers}
usual=leaks
. "$top/tests/process/lib.sh"
g2h=${GO2HEAPSNAPSHOT:-$top/build/go2heapsnapshot}
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
	one_way=
	two_ways || one_way=1
	# shellcheck disable=SC2086  # programs are words
	ONE_WAY=$one_way node "$here/answers.mjs" "$g2h" "$build/$release" "${release#go}" ${PROGRAMS-}
done
