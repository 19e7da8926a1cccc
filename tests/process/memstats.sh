#!/bin/sh
# The numbers of the report's head are those of runtime.ReadMemStats of the same process, and RSS is that of smaps. TAP on
# standard output.
#
#   G2H                  the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases (default: see tests/go.sh)
set -u
usual=leaks
. "$(dirname "$0")/lib.sh"
may_trace 'memstats' || exit 0
for goroot in $goroots; do
	release=$(go_release "$goroot")
	for way in plain stripped; do
		flags=
		[ "$way" = plain ] || flags='-s -w'
		app=$build/$release-$way
		if ! GO111MODULE=off CGO_ENABLED=0 GOROOT=$goroot "$goroot/bin/go" build -o "$app" -ldflags="$flags" "$here/memstats/main.go" >"$build/log" 2>&1; then
			echo "not ok - $release, $way: builds"
			tell "$build/log"
			continue
		fi
		node "$here/memstats.mjs" "$g2h" "$app" "$release, $way"
	done
done | sed -E 's/^((not )?ok) [0-9]+ /\1 /; /^1\.\.[0-9]+$/d'
