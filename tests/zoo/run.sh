#!/bin/sh
# Judges programs that nobody wrote: zoo.mjs. TAP on standard output.
#
#   GO2HEAPSNAPSHOT      the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases of Go (default: 1.22 and the current one)
#   SEED, PROGRAMS       the first seed and how many of each release (default: 1 and 8, with $CHECK_ALL day and 40; day: the
#                        number of today)
#   MINUTES              judges programs for so long instead, one release after the other, from a seed of the moment on
#
# Programs with faults stay in build/zoo/RELEASE/SEED. `node tests/zoo/zoo.mjs --shrink` makes them small.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
build=${BUILD:-$top/build/zoo}
usual=leaks
. "$top/tests/process/lib.sh"
g2h=${GO2HEAPSNAPSHOT:-$top/build/go2heapsnapshot}
may_trace 'zoo' || exit 0
seed=${SEED:-${CHECK_ALL:+day}} programs=${PROGRAMS:-${CHECK_ALL:+40}}
seed=${seed:-1} programs=${programs:-8}
[ "$seed" != day ] || seed=$(date +%Y%m%d)
[ -z "${MINUTES-}" ] || seed=$(date +%s)
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
		node "$here/zoo.mjs" "$g2h" "$build/$release" "$seed" "$programs"
	done
	[ "$(date +%s)" -lt "$end" ] || break
	seed=$((seed + programs))
done
