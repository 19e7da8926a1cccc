#!/bin/sh
# Judges programs that nobody wrote: zoo.mjs. TAP on standard output.
#
#   GO2HEAPSNAPSHOT      the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases of Go (default: 1.22 and the current one)
#   SEED, PROGRAMS       the first seed and how many of each release (default: 5 stripped ones and with the newest 5 plain ones, with $CHECK_ALL 80 of the
#                        day; day: the number of today)
#   MINUTES              judges programs for so long instead, one release after the other, from a seed of the moment on
#
# Without any of these, the programs of cases.mjs are judged, and ten others that are always the same. Programs with faults stay in
# build/zoo/RELEASE/SEED. `node tests/zoo/zoo.mjs --shrink` makes them small.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
build=${BUILD:-$top/build/zoo}
usual=leaks
. "$top/tests/process/lib.sh"
g2h=${GO2HEAPSNAPSHOT:-$top/build/go2heapsnapshot}
may_trace 'zoo' || exit 0
seed=${SEED:-${CHECK_ALL:+day}} programs=${PROGRAMS:-${CHECK_ALL:+80}}
[ "$seed" != day ] || seed=$(date +%Y%m%d)0
[ -z "${MINUTES-}" ] || seed=$(date +%s) programs=${programs:-40}
end=$(($(date +%s) + 60 * ${MINUTES:-0}))

while :; do
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
		if [ -n "$seed" ]; then
			node "$here/zoo.mjs" "$g2h" "$build/$release" "$seed" "${programs:-1}"
			continue
		fi
		# With -trimpath as other suites: the standard library is there.
		WAYS='stripped trimpath' node "$here/zoo.mjs" "$g2h" "$build/$release" 80 "${programs:-5}"
		[ "$GOROOT" != "$newest" ] || WAYS='plain trimpath' node "$here/zoo.mjs" "$g2h" "$build/$release" 120 "${programs:-5}"
		WAYS='plain trimpath' node "$here/zoo.mjs" --cases "$g2h" "$build/$release"
		[ "$GOROOT" != "$newest" ] || WAYS='stripped trimpath' node "$here/zoo.mjs" --cases "$g2h" "$build/$release"
	done
	[ "$(date +%s)" -lt "$end" ] || break
	[ -z "$seed" ] || seed=$((seed + ${programs:-1}))
done
