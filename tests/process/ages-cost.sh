#!/bin/sh
# What --ages costs per gigabyte of heap and collection, for the heap with most spans per byte: at most 25 MB are read, in 15 ms of
# processor time, or four times as much in a build that does not optimize fully, on a machine that does other things. And collections
# that follow each other too quickly are sampled, which is said, for at most a twentieth of a processor. TAP on standard output.
#
#   G2H                  the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases (default: the current one; with CHECK_ALL all from 1.19 on)
#   MOST_MS              milliseconds per gigabyte and collection (default: 60)
usual=current
set -u
. "$(dirname "$0")/lib.sh"
may_trace ages-cost || exit 0
most_ms=${MOST_MS:-60}

# watch MEGABYTES MILLISECONDS SECONDS: watches a program with such a heap that collects so often; sets $seen, $all, $mb, $seconds.
watch() {
	"$at/app" "$1" "$2" >"$at/out" 2>&1 &
	pid=$!
	wait_ready "$at/out" || return
	"$g2h" --pid "$pid" --ages "$3" --format dump -o "$at/dump" >"$at/log" 2>&1
	kill -KILL "$pid"
	pid=
	# shellcheck disable=SC2046  # the numbers
	set -- $(sed -nE 's/.* was watched for ([0-9]+) collections?(, .* that it saw ([0-9]+))?, without a stop; ([0-9.]+) ([kM]?)B were read in ([0-9.]+) s .*/\1 \3- \4 \5- \6/p' "$at/log")
	[ "$#" -eq 5 ] || return
	all=$1 seen=${2%-} mb=$3 unit=${4%-} seconds=$5
	seen=${seen:-$all}
	[ "$unit" = M ] || mb=1
}

for goroot in $goroots; do
	release=$(go_release "$goroot")
	at=$build/$release
	mkdir -p "$at"
	go_builds "$release: a program is built" collected "$at/app" || continue
	watch 256 500 6
	awk -v looks="$((seen + 1))" -v mb="$mb" -v seconds="$seconds" -v most="$most_ms" 'BEGIN {
		printf "%.1f MB and %.1f ms per gigabyte and collection\n", mb / looks * 4, seconds * 1000 / looks * 4
		exit !(looks > 4 && mb / looks * 4 <= 25 && seconds * 1000 / looks * 4 <= most) }' >>"$at/log"
	result "$?" "$release: $(tail -n 1 "$at/log")" "$at/log"
	watch 128 0 4
	awk -v seen="$seen" -v all="$all" -v seconds="$seconds" 'BEGIN {
		printf "%d of %d collections in 4 s, in %.3f s of processor time\n", seen, all, seconds
		exit !(seen > 4 && seen < all && seconds <= 4 / 20 * 1.1 + 0.05) }' >>"$at/log"
	result "$?" "$release: sampled: $(tail -n 1 "$at/log")" "$at/log"
done
