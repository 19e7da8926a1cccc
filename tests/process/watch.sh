#!/bin/sh
# What --watch, and a report of saved dumps, say of a program that leaks beside a full cache, one that fills, and load in waves.
# TAP on standard output.
#
#   G2H                  the program (default: build/go2heapsnapshot)
#   MEMORY_GROUP         see available.sh
#   GOROOTS              the releases (default: see tests/go.sh)
set -u
. "$(dirname "$0")/lib.sh"
may_trace 'watched programs' || exit 0

# await COMMAND...: waits until the command succeeds.
await() {
	tries=12000
	while [ $tries -gt 0 ] && ! "$@"; do
		tries=$((tries - 1))
		sleep 0.05
	done
}

# starts ARGUMENT: starts the program, in a control group with a limit of 48 MiB if one can be made.
group=
starts() {
	if mkdir "$groups/watch-$$" 2>"$at/log"; then
		group=$groups/watch-$$
		echo $((48 << 20)) >"$group/$file"
	fi
	sh -c '[ -z "$0" ] || echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$at/app" "$1" >"$at/out" 2>&1 &
	pid=$!
}

lines() { # FILE COUNT: succeeds if the file has that many lines about snapshots, or lines at all
	[ -e "$1" ] && [ "$(grep -c "${3-.}" "$1")" -ge "$2" ]
}

finish() {
	kill_app
	while [ -n "$group" ] && ! rmdir "$group"; do # a process that has ended may take a moment to leave it
		sleep 0.1
	done
	group=
} 2>/dev/null

saved() {
	rm -f "$at/in" "$at"/*.dump
	mkfifo "$at/in"
	"$at/app" <"$at/in" >"$at/out" 2>&1 &
	pid=$!
	exec 3>"$at/in"
	for n in 1 2 3 4 5 6 7 8; do
		echo >&3
		await lines "$at/out" $n
		"$g2h" --pid "$pid" --format dump -o "$at/$n.dump" 2>"$at/log" || tell "$at/log"
	done
	exec 3>&-
	finish
	status=0
	"$g2h" --exe "$at/app" --format report "$at"/*.dump >"$at/report" 2>"$at/log" || status=$?
	[ "$status" -eq 4 ]
	result $? "$release, saved dumps: exit status 4, not $status" "$at/log"
	grep -A 1 'main › leak › \[\]\*main.Session › main.Session' "$at/report" | grep -q '+2,100 entries in main.leak, now 2,400.*; straight growth (100 %)'
	result $? "$release, saved dumps: what leaks grows in every interval, by as much as it does" "$at/report"
	[ "$(sed -n '/^GREW IN EVERY/,/^GREW, AND/p' "$at/report" | grep -c ' › ')" -eq 4 ]
	result $? "$release, saved dumps: and nothing else does but the other leaks" "$at/report"
	sed -n '/^GREW IN EVERY/,/^GREW, AND/p' "$at/report" | sed -n 's/^      held by main\.tenants\["\(t.\)"\]\.\([A-Za-z]*\), a slice of [0-9,]* entries, one of 8$/\2 of \1/p' | sort | tr '\n' , >"$at/held"
	[ "$(cat "$at/held")" = 'Items of t5,Orders of t2,Visits of t6,' ]
	result $? "$release, saved dumps: each is held by the one of several tenants that has grown" "$at/report"
	sed -n '/^GREW, AND/,/^GOES/p' "$at/report" | grep -A 1 'main › rows › .*main.Row$' | grep -q '+3,000 entries in main.rows, now 4,000; '
	result $? "$release, saved dumps: a cache that has filled has stopped growing" "$at/report"
	sed -n '/^GOES/,$p' "$at/report" | grep -A 1 'main › load › .*main.Request$' | grep -q '1,000 to 3,000, now 1,000; '
	result $? "$release, saved dumps: load goes up and down" "$at/report"
	grep -A 3 'main › leak › ' "$at/report" >"$at/leak"
	expression=$(sed -n 's/^      example //p' "$at/leak")
	"$g2h" --exe "$at/app" --format report --path-to "$expression" "$at/8.dump" >"$at/path" 2>&1 && grep -q '^OBJECT   main.Session at' "$at/path"
	result $? "$release, saved dumps: --path-to finds what leaks by the example, '$expression'" "$at/path"
	"$g2h" --exe "$at/app" --format report --json "$at"/*.dump >"$at/trend" 2>"$at/log"
	"$g2h" --exe "$at/app" --format report --json --base "$at/1.dump" "$at/8.dump" >"$at/json" 2>"$at/log"
	"${NODE:-node}" -e '
		const read = (file) => JSON.parse(require("fs").readFileSync(file, "utf8"));
		const { steady, stopped } = read(process.argv[1]), { suspects } = read(process.argv[2]);
		const alike = suspects.filter((suspect) => suspect.count_grown > 1).map((suspect) => {
			const found = [...steady, ...stopped].find((found) => found.held_by === suspect.held_by && found.example === suspect.example);
			return found && found.count_grown === suspect.count_grown && found.retained_grown === suspect.retained_grown &&
				found.container.entries === suspect.container.entries;
		});
		process.exitCode = alike.length === 3 && alike.every(Boolean) ? 0 : 1;' "$at/trend" "$at/json"
	result $? "$release, saved dumps: the containers, with the figures of --base"
	! grep -q 'at this rate' "$at/report"
	result $? "$release, saved dumps: of no limit there is anything to say" "$at/report"
	! grep -q 'main › full' "$at/report"
	result $? "$release, saved dumps: of a full cache there is nothing to say" "$at/report"
	status=0
	"$g2h" --exe "$at/app" --format report "$at"/[4-7].dump >"$at/report" 2>"$at/log" || status=$?
	[ "$status" -eq 0 ] && grep -q 'main › leak' "$at/report" && grep -q 'too few to be conclusive' "$at/report"
	result $? "$release, four of the dumps: names it, says that these are few, and exits with 0, not $status" "$at/report"
}

live() {
	starts all-the-time
	await lines "$at/out" 1
	status=0
	"$g2h" --watch 1 --count 7 --pid "$pid" >"$at/report" 2>"$at/log" || status=$?
	[ "$status" -eq 4 ] && grep -q 'main › leak › \[\]\*main.Session › main.Session' "$at/report" && ! grep -q 'main › full' "$at/report"
	result $? "$release, --watch: the leak alone, and exit status 4, not $status" "$at/report" 40
	[ "$(grep -c 'paused for' "$at/log")" -eq 7 ] && [ "$(grep -c 'reachable,.*paused for' "$at/log")" -eq 7 ] && grep -q "^7 heaps in .* of process $pid" "$at/report"
	result $? "$release, --watch: a line per snapshot" "$at/log"
	grep -q 'held by main\.leak, a slice of [0-9,]* entries$' "$at/report"
	result $? "$release, --watch: what the leak is held by" "$at/report" 40
	if [ -n "$group" ]; then
		grep -q 'at this rate its limit of 48 MiB is reached within [0-9]* min' "$at/report"
		result $? "$release, --watch: when the memory limit is reached" "$at/report" 40
	else
		no_groups "$release, --watch: when the memory limit is reached"
	fi
	"$g2h" --watch 1 --count 3 --json --pid "$pid" 2>"$at/log" | "${NODE:-node}" -e '
		const lines = require("fs").readFileSync(0, "utf8").trim().split("\n").map((line) => JSON.parse(line)), last = lines.pop();
		const good = lines.length === 3 && lines.every((line) => line.format === "go2heapsnapshot snapshot" && line.objects > 5000) &&
			last.format === "go2heapsnapshot trend" && last.heaps.length === 3 && last.heaps.every((heap, i) => heap.reachable === lines[i].reachable);
		process.exitCode = good ? 0 : 1;'
	result $? "$release, --watch --json: a line per snapshot, and one in the end" "$at/log"
	"$g2h" --watch 1 --count 4 --json --keep "$at/kept" --pid "$pid" >"$at/lines" 2>"$at/log" &&
		"$g2h" --exe "$at/app" --format report --json "$at/kept/first.dump.gz" "$at/kept/first.dump.gz" "$at/kept/last.dump.gz" 2>"$at/log" |
		"${NODE:-node}" -e '
			const read = (file) => require("fs").readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));
			const lines = read(process.argv[1]), heaps = read(0)[0].heaps;
			const same = (one, other) => one.reachable === other.reachable && one.objects === other.objects && one.goroutines === other.goroutines;
			process.exitCode = lines.length === 5 && same(lines[0], heaps[0]) && same(lines[3], heaps[2]) && !same(lines[0], lines[3]) ? 0 : 1;' "$at/lines"
	result $? "$release, --watch --keep: the dumps of the first and the last snapshot" "$at/log"
	[ "$(cd "$at/kept" && stat -c '%n %a' -- *)" = 'first.dump.gz 600
last.dump.gz 600' ]
	result $? "$release, --watch --keep: these two files, which are the owner's"
	"$g2h" --watch 1 --count 1 --keep "$at/once/" --pid "$pid" >"$at/report" 2>"$at/log" && [ "$(ls "$at/once")" = first.dump.gz ]
	result $? "$release, --watch --keep of one snapshot: one dump" "$at/log"
	"$g2h" --watch 1 --count 1 --keep "$at/app" --pid "$pid" >"$at/report" 2>"$at/log"
	[ $? -eq 1 ] && grep -q 'is not a directory, which --keep needs' "$at/log" && [ ! -s "$at/report" ]
	result $? "$release, --watch --keep in a file: an error before anything is read" "$at/log"
	"$g2h" --watch 1 --until-growth 10K --pid "$pid" >"$at/report" 2>"$at/log"
	grep -q ' heaps in .* of process' "$at/report"
	result $? "$release, --watch --until-growth: ends with the report" "$at/report"

	rm -f "$at/log"
	"$g2h" --watch 1h --pid "$pid" -o "$at/ended" 2>"$at/log" &
	watcher=$!
	await lines "$at/log" 1 'paused for 0'
	kill -TERM $watcher
	status=0
	wait $watcher || status=$?
	[ "$status" -eq 0 ] && grep -q '^1 heap of process' "$at/ended" && [ "$(stat -c %a "$at/ended")" = 600 ]
	result $? "$release, --watch, a signal: ends with the report, which is the owner's, status $status" "$at/log"

	rm -f "$at/log"
	"$g2h" --watch 1h --pid "$pid" >"$at/report" 2>"$at/log" &
	watcher=$!
	await lines "$at/log" 1 'paused for 0'
	finish
	status=0
	wait $watcher || status=$?
	[ "$status" -eq 0 ] && grep -q 'has ended' "$at/log" && grep -q '^1 heap of process' "$at/report"
	result $? "$release, --watch, the process ends: so does the watch, with the report, status $status" "$at/log"
}

groups=${MEMORY_GROUP:-/sys/fs/cgroup/memory}
[ -e "$groups/memory.limit_in_bytes" ] && file=memory.limit_in_bytes || file=memory.max
for goroot in $goroots; do
	export GOROOT="$goroot"
	release=$(go_release "$goroot")
	at=$build/$release
	rm -rf "$at"
	mkdir -p "$at"
	go_builds "$release, a watched program: is built" watch "$at/app" || continue
	saved
	live
done
