#!/bin/sh
# Makes tests/fuzz/corpus/core: builds main.go with some releases of Go and lets it crash. With Go 1.27 it also kills the program
# amid collections, until a core has many spans that have not been swept yet. shrink.c makes small pairs out of the cores. Each
# takes a minute. The kernel has to write cores to the current directory.
#
#   seeds.sh DIRECTORY
#
#   GOROOTS              the releases (default: all of 1.21, 1.24, 1.27)
#   G2H, LIBRARY         the program and internal.a (default: those in build/)
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../../.." && pwd) || exit 1
mkdir -p "$1" && output=$(cd "$1" && pwd) || exit 1
wanted=${GOROOTS-}
GOROOTS=${GOROOTS:-$("$top/tools/setup" go-all)}
. "$top/tests/go.sh"
g2h=${G2H:-$top/build/go2heapsnapshot} library=${LIBRARY:-$top/build/internal.a}
enough_unswept=10
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && cd "$work" || exit 1
# shellcheck disable=SC2046  # there are several libraries
${CC:-cc} -std=c17 -D_GNU_SOURCE -O2 -I"$top/src" -I"$top/include" -o shrink "$here/shrink.c" "$library" $(make -s -C "$top" libs) || exit 1

# run GOGC GOMAXPROCS [ARGUMENT]: runs the program, which leaves ./core. With an argument it has to be killed.
run() {
	rm -f core*
	run_settings="GOTRACEBACK=crash GOGC=$1 GOMAXPROCS=$2"
	shift 2
	# shellcheck disable=SC3045  # dash has it
	# shellcheck disable=SC2086  # settings are words
	(ulimit -c unlimited && exec env $run_settings ./app "$@" >log 2>&1) &
	[ $# -eq 0 ] || {
		sleep "0.1$(date +%N | cut -c 1)"
		kill -ABRT $!
	}
	wait $! 2>/dev/null
	[ -e core ] || mv core.* core
}

unswept() {
	"$g2h" -v --exe app -o x.heapsnapshot core 2>&1 | sed -n 's/^ *not swept yet *\([0-9]*\) .*/\1/p'
}

for goroot in $goroots; do
	release=$(go_release "$goroot" | cut -d . -f 1,2)
	case $wanted$release in go1.21 | go1.24 | go1.27 | /*) ;; *) continue ;; esac
	(cd "$here" && GOROOT=$goroot "$goroot/bin/go" build -trimpath -buildvcs=false -ldflags='-s -w -buildid=x' -o "$work/app" .) || exit 1
	run 20 1
	./shrink app core "$output/${release#go}-crash" || exit 1
	[ "$release" = go1.27 ] || continue
	until run 3 2 spin && [ "$(unswept)" -ge "$enough_unswept" ]; do :; done
	./shrink app core "$output/${release#go}-unswept" || exit 1
done
