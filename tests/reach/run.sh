#!/bin/bash
# Runs a program in which everything is held, by holders of all kinds, and reads it with --pid: before any collection, after one, and
# while it collects garbage all the time. All that it has must be reachable, and no goroutine leaked: then it lets them run. TAP on
# standard output.
#
#   GO2HEAPSNAPSHOT      the converter (default: build/go2heapsnapshot)
#   GOROOTS              the releases of Go (default: 1.22 and the current one; with CHECK_ALL all from 1.19 on)
#   READS                how often a program is read that collects (default: 2; with CHECK_ALL 10)
#   TABLE                a file to which a line is appended for each read
set -u
usual=leaks
. "$(dirname "$0")/../process/lib.sh"
converter=${GO2HEAPSNAPSHOT:-$g2h}
may_trace 'reach' || exit 0
reads=${READS:-2}
[ -z "${CHECK_ALL-}" ] || reads=${READS:-10}

# failed WHAT: says that something has failed, whose output is in $at/log.
failed() {
	result 1 "$name: $1" "$at/log"
}

# begin MODE: starts the program, and waits until it has what it has.
begin() {
	local gogc=100
	[ "$1" != before ] || gogc=off
	rm -f "$at/in" && mkfifo "$at/in"
	: >"$at/out"
	GOGC=$gogc "$at/app" "$1" <"$at/in" >"$at/out" 2>"$at/log" &
	pid=$!
	exec 9>"$at/in"
	wait_ready "$at/out" || return
	sed -n 's/^object \(.*\) \([0-9]*\)$/\1|\2/p' "$at/out" >"$at/expected"
	[ "$(wc -l <"$at/expected")" -eq "$(sed -n 's/^count //p' "$at/out")" ] && [ "$(wc -l <"$at/expected")" -gt 4000 ]
}

# lost: prints the kinds of objects that no object contains which is reachable, with their numbers; and the number of leaves.
lost() {
	sqlite3 "$at/reachable" <<-SQL
		CREATE TABLE expected(kind TEXT, address INTEGER);
		.mode list
		.import $at/expected expected
		CREATE INDEX node_address ON node_(address);
		SELECT 'lost ' || count(*) || ' of ' || kind FROM expected e WHERE NOT coalesce((SELECT n.address + n.self_size > e.address
			FROM node_ n WHERE n.address <= e.address ORDER BY n.address DESC LIMIT 1), 0) GROUP BY kind;
		SELECT 'leaves ' || count(*) FROM node WHERE name = 'main.leaf';
	SQL
}

# look NUMBER: reads the process once, and checks what is found.
look() {
	rm -f "$at/reachable" "$at/dump"
	"$converter" -v --pid "$pid" --format dump -o "$at/dump" 2>"$at/log" &&
		"$converter" --exe "$at/app" --format sqlite --reachable -o "$at/reachable" "$at/dump" 2>>"$at/log" &&
		"$converter" --exe "$at/app" --format report --json -o "$at/json" "$at/dump" 2>>"$at/log" || { failed "is read ($1)" && return; }
	lost >"$at/found" 2>>"$at/log"
	[ -z "${TABLE-}" ] || echo "$release $way $mode $(wc -l <"$at/expected") $(awk '/^lost/ { n += $2 } END { print n + 0 }' "$at/found") $(
		jq -r '"\(.leaked.proof) \(.leaked.count // 0)"' "$at/json")" >>"$TABLE"
	if grep -q '^leaves' "$at/found" && ! grep '^lost' "$at/found" >"$at/log"; then
		echo "ok - $name: nothing that it has is lost ($1)"
	else
		failed "nothing that it has is lost ($1)"
	fi
	if jq -e '.leaked.proof == "proved" and (.leaked.count // 0) == 0 and .leaked.blocked > 80' "$at/json" >/dev/null; then
		echo "ok - $name: no goroutine is leaked ($1)"
	else
		jq -c .leaked "$at/json" >"$at/log"
		failed "no goroutine is leaked ($1)"
	fi
}

# moment MODE TIMES: runs the program, reads it, and lets its goroutines run.
moment() {
	local mode=$1
	name=$release-$way-$mode
	if begin "$mode"; then
		for ((i = 1; i <= $2; i++)); do
			[ "$mode" != marking ] || sleep "0.0$((i * 37 % 90 + 10))"
			look "$i"
		done
	else
		failed 'makes its objects'
	fi
	exec 9>&-
	wait "$pid" 2>>"$at/log"
	pid=
	if grep -Eq '^woke ([0-9]+) of \1$' "$at/out"; then
		echo "ok - $name: all its goroutines run again"
	else
		tail -n 2 "$at/out" >>"$at/log"
		failed 'all its goroutines run again'
	fi
}

# reach WAY GO_BUILD_FLAG...: all moments of the program, built in a way.
reach() {
	way=$1
	shift
	name=$release-$way at=$build/$release-$way
	rm -rf "$at"
	mkdir -p "$at"
	(cd "$here/program" && "$go" build -o "$at/app" "$@" .) >"$at/log" 2>&1 || { failed builds && return; }
	moment before 1
	moment after 1
	moment marking "$reads"
	rm -f "$at/dump" "$at/reachable"
}

for GOROOT in $goroots; do
	export GOROOT
	go=$GOROOT/bin/go
	release=$(go_release "$GOROOT") || {
		echo "not ok - there is a Go in $GOROOT"
		continue
	}
	! two_ways || reach plain
	reach stripped '-ldflags=-s -w'
done
