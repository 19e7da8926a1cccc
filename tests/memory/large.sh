#!/bin/bash
# Tests what a large heap costs: main.go in large/, 30 million objects. Its first suspects are right; a conversion takes at most so
# many bytes per object (docs/performance.md), and does not wait for a disk page by page. TAP on standard output.
#
#   GO2HEAPSNAPSHOT      the converter (default: build/go2heapsnapshot)
#   SCALE                another size (default: 1)
#   BUILD                where everything goes (default: build/memory)
set -u
cd "$(dirname "$0")/../.." || exit 1
top=$PWD
converter=${GO2HEAPSNAPSHOT:-$top/build/go2heapsnapshot}
build=${BUILD:-$top/build/memory}
dump=$build/large.dump
mkdir -p "$build"
. tests/go.sh
# shellcheck disable=SC2086  # words
set -- $goroots
go=${!#}/bin/go

failed() {
	echo "not ok - $1"
	sed 's/^/# /' "$build/log"
}

# answers NAME PATTERN: tests that the report has the pattern.
answers() {
	if grep -qE "$2" "$build/report"; then echo "ok - $1"; else failed "$1: $2"; fi
}

# costs FORMAT MOST ARGUMENT...: tests that a conversion takes at most so many bytes of memory per object, and that it waits for a
# disk at most 30,000 times, if there is memory for the dump.
costs() {
	local format=$1 most=$2 bytes faults
	shift 2
	rm -rf "$build/out.csv"
	if ! "$build/measure" "$converter" -v "$@" --exe "$build/large" "$dump" >"$build/figures" 2>"$build/log"; then
		failed "$format: converts"
		return
	fi
	bytes=$(awk -v objects="$objects" '{ printf "%.1f", $3 * 1024 / objects }' "$build/figures")
	faults=$(sed -n 's/^ *pages that a disk was waited for *\([0-9]*\).*/\1/p' "$build/log")
	echo "# $format: $bytes bytes per object, ${faults:-0} major faults, $(cut -d ' ' -f 2 "$build/figures") s of processors"
	if awk "BEGIN { exit !($bytes <= $most) }"; then
		echo "ok - $format: at most $most bytes per object"
	else
		echo "not ok - $format: at most $most bytes per object, not $bytes"
	fi
	if [ "${faults:-0}" -le 30000 ]; then echo "ok - $format: pages come back in large pieces"; else failed "$format: $faults faults"; fi
}

if ! {
	"${CC:-cc}" -O2 -o "$build/measure" tools/bench/measure.c &&
		"$go" build -o "$build/large" tests/memory/large/main.go
} >"$build/log" 2>&1; then
	failed 'large builds'
	exit 1
fi
: >"$build/ready"
"$build/large" "${SCALE:-1}" >"$build/ready" 2>"$build/log" &
process=$!
trap 'kill $process 2>/dev/null; rm -rf "$dump" "$build/out.csv"' EXIT
until grep -q READY "$build/ready"; do
	kill -0 $process 2>/dev/null || {
		failed 'large runs'
		exit 1
	}
	sleep 1
done
sessions=$(cut -d ' ' -f 2 "$build/ready" | sed ':a; s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/; ta')
if ! "$converter" --pid $process --format dump -o "$dump" >"$build/log" 2>&1; then
	failed 'large is read'
	exit 1
fi
kill $process
if "$converter" --format report --exe "$build/large" "$dump" >"$build/report" 2>"$build/log"; then
	answers 'the first suspect are the sessions' "^  1 .* $sessions main\.session, in map"
	answers 'their holder' "held by +main\.open\.byToken, a map of $sessions entries"
	answers 'all goroutines are leaked' 'leaked: 20,000 can never run again|all 20,000 can never run again'
	objects=$(sed -n '1s/.* in \([0-9,]*\) objects.*/\1/p' "$build/report" | tr -d ,)
else
	failed 'large is reported'
	exit 1
fi
costs snapshot 70 --format heapsnapshot
costs report 102 --format report
costs pprof 88 --format pprof
costs CSV 92 --format csv -o "$build/out.csv"
costs hprof 71 --format hprof
