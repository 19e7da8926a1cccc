#!/bin/sh
# A process is read from within its own control group, whose memory is limited: whatever the limit and the format, the process
# lives, and what it does not leave memory for is refused with words. TAP on standard output.
#
#   G2H                  the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases (default: see tests/go.sh)
#   MEMORY_GROUP         a group of the memory controller (v1 or v2) in which this script may make one; the default is the root
#                        of v1, if it may write to it. Without any, what needs it is skipped
set -u
. "$(dirname "$0")/lib.sh"
may_trace available || exit 0
group=
formats='dump report heapsnapshot'

# starts COMMAND...: starts the program, in the group if there is one.
starts() {
	: >"$build/app.log"
	sh -c '[ -z "$0" ] || echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$@" >"$build/app.log" 2>&1 &
	pid=$!
	wait_ready "$build/app.log"
}

# first: tests that the program that reads is the one that the kernel would end, until it has ended itself.
first() {
	name="$release: who reads another ends before that one"
	starts "$build/app" none
	rm -f "$build/pipe"
	mkfifo "$build/pipe"
	"$g2h" --pid "$pid" --format dump >"$build/pipe" 2>"$build/log" &
	reader=$!
	exec 8<"$build/pipe"
	until read -r adjusted <"/proc/$reader/oom_score_adj" && [ "$adjusted" = 1000 ]; do
		[ -s "$build/log" ] && break # it has nearly done its work
		kill -0 "$reader" 2>/dev/null || break
		sleep 0.1
	done
	result $((adjusted != 1000)) "$name"
	exec 8<&-
	kill "$reader" 2>/dev/null
	wait "$reader" 2>/dev/null
	kill_app
}

# limit MB: sets the group's limit; 0: none.
limit() {
	if [ "$version" = 1 ]; then
		[ "$1" -eq 0 ] && limit_bytes=-1 || limit_bytes=$(($1 << 20))
		echo $limit_bytes >"$group/memory.limit_in_bytes"
	else
		[ "$1" -eq 0 ] && limit_bytes=max || limit_bytes=$(($1 << 20))
		echo $limit_bytes >"$group/memory.max"
	fi
}

# in_group FORMAT: reads the program with one limit after the other, in percent of its resident memory.
in_group() {
	name="$release, in its group, $1"
	: >"$build/counts"
	starts "$build/app" none
	resident=$(($(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status") / 1024 + 4))
	for percent in 150 220 300 500 900; do
		limit $((resident * percent / 100)) || break
		sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$g2h" --pid "$pid" --format "$1" >/dev/null 2>"$build/log"
		status=$?
		if [ $status -eq 1 ] && grep -q 'leaves [0-9.]* [kMG]*B' "$build/log"; then status=refused; fi
		echo "$percent % $status $(tail -n 1 "$build/log")" >>"$build/counts"
		kill -0 "$pid" 2>/dev/null || break
	done
	kill -0 "$pid" 2>/dev/null && [ "$(wc -l <"$build/counts")" -eq 5 ]
	result $? "$name: the program lives" "$build/counts"
	! grep -v -e "% refused" -e "% 0" "$build/counts" >"$build/log"
	result $? "$name: what is not refused is done" "$build/counts"
	grep -q '^150 % refused' "$build/counts" && grep -q '^900 % 0' "$build/counts"
	result $? "$name: too little is refused, enough is not" "$build/counts"
	kill_app
	limit 0
}

if [ -z "${MEMORY_GROUP-}" ] && [ -w /sys/fs/cgroup/memory/cgroup.procs ]; then MEMORY_GROUP=/sys/fs/cgroup/memory; fi
for goroot in $goroots; do
	release=$(go_release "$goroot")
	go_builds "$release: the program builds" ballast "$build/app" || continue
	first
	group=${MEMORY_GROUP-}/go2heapsnapshot-available.$$
	if ! [ -n "${MEMORY_GROUP-}" ] || ! mkdir "$group" 2>/dev/null; then
		for format in $formats; do
			no_groups "$release, in its group, $format: the program lives" "$release, in its group, $format: what is not refused is done" \
				"$release, in its group, $format: too little is refused, enough is not"
		done
		group=
		continue
	fi
	[ -e "$group/memory.limit_in_bytes" ] && version=1 || version=2
	for format in $formats; do in_group "$format"; done
	for _ in $(seq 100); do # processes that have ended may take a moment to leave the group
		rmdir "$group" 2>/dev/null && break
		sleep 0.1
	done
	group=
done
