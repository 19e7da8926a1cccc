#!/bin/sh
# A program writes its heap dump to a FIFO whose reader pauses in the middle of it, so that the program's world stands still.
# The dump that is read from outside meanwhile must be the same, record by record and byte by byte. TAP on standard output.
#
#   G2H                  the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases (default: those of tests/leaks; with CHECK_ALL all from 1.19 on)
#   WAYS                 the ways to build the program, e.g. 'plain pie,stripped'
#   MEMORY_GROUP         see available.sh
set -u
usual=leaks
. "$(dirname "$0")/lib.sh"
ways_asked=${WAYS-}
may_trace 'same moment' || exit 0
c pause "$here/pause.c" && c compare "$here/compare.c" "$here/differences.c" "$here/listing.c" "$here/spoil.c" || exit 1

# Memory that may change while the dump is written: variables of threads that ptrace has woken up, or that watch the others.
# (The dumper's own variables do not change from the last object on.)
may_change='--may-change runtime.sched --may-change runtime.m0 --threads-move'

same_moment() { # WAY [FLAG_OF_PROGRAM]...
	name=$release
	for word in "$@"; do
		name="$name, $word"
	done
	at=$build/$release/$1
	rm -rf "$at"
	app "$(echo "$1" | tr , ' ')" "$at"
	case $? in
	0) ;;
	2)
		echo "ok - $name # SKIP no C compiler for cgo"
		return
		;;
	*)
		echo "not ok - $name: builds"
		tell "$at/log"
		return
		;;
	esac
	stripped=
	symbols=$at/symbols
	case $1 in
	*stripped) # its variables are where the same program with symbols has them
		named=${1%stripped}
		named=${named%,}
		stripped=--stripped symbols=$build/$release/${named:-plain}/symbols
		[ -e "$symbols" ] || app "$(echo "${named:-plain}" | tr , ' ')" "${symbols%/symbols}"
		;;
	esac
	mkfifo "$at/fifo"
	shift
	"$at/app" "$@" fifo "$at/fifo" >"$at/app.log" 2>&1 &
	pid=$!
	"$build/pause" "$at/fifo" "$pid" "$at/reference.dump" sh "$here/reads.sh" "$g2h" {} "$at" "$group" >"$at/log" 2>&1
	status=$?
	wait "$pid"
	lives=$?
	pid=
	if [ "$status" -ne 0 ]; then
		echo "not ok - $name: is read from outside (status $status)"
		tell "$at/log"
		tell "$at/app.log" 5
		return
	fi
	echo "ok - $name: is read from outside"
	result "$lives" "$name: goes on" "$at/app.log"
	# shellcheck disable=SC2086  # lists of options
	"$build/compare" $may_change $stripped --symbols "$symbols" "$at/ours.dump" "$at/reference.dump" >"$at/compared" 2>&1
	status=$?
	result "$status" "$name: what was read is what it writes" "$at/compared" 200
	forked
	[ "$status" -eq 0 ] || return # both dumps are kept
	grep -Eq '^words of stack objects +[1-9]' "$at/compared"
	result $? "$name: there are words of stack objects, too" "$at/compared"
	grep '^may change' "$at/compared" | sed 's/^/# /'
	rm -f "$at/ours.dump"
	[ -z "${last-}" ] || rm -f "$last"
	last=$at/reference.dump
}

# forked: compares what was read of forks of the process, copied and through a window, with what it writes.
# shellcheck disable=SC2086  # lists of options
forked() {
	if [ "$(uname -m)" != x86_64 ]; then
		echo "ok - $name: a fork # SKIP on amd64 only"
		return
	fi
	grep -q 'while it was forked; .* were copied meanwhile' "$at/log"
	result $? "$name: is forked" "$at/log"
	"$build/compare" $may_change $stripped --symbols "$symbols" "$at/forked.dump" "$at/reference.dump" >"$at/of_fork" 2>&1
	result $? "$name: what was read of the fork is what it writes" "$at/of_fork" 200
	rm -f "$at/forked.dump"
	[ -n "$group" ] || return
	grep -q 'while it was forked; .* were read without a copy' "$at/log"
	result $? "$name: is read without a copy" "$at/log"
	"$build/compare" $may_change $stripped --symbols "$symbols" "$at/window.dump" "$at/reference.dump" >"$at/of_window" 2>&1
	result $? "$name: what was read without a copy is what it writes" "$at/of_window" 200
	rm -f "$at/window.dump"
}

# in_group WAY: does all that with a larger program, which is also read by a reader without memory for a copy.
in_group() {
	group=${MEMORY_GROUP-}/go2heapsnapshot-same.$$
	if ! [ -n "${MEMORY_GROUP-}" ] || ! mkdir "$group" 2>/dev/null; then
		no_groups "$release, $1: is read without a copy" "$release, $1: what was read without a copy is what it writes"
		group=
		return
	fi
	if [ -e "$group/memory.limit_in_bytes" ]; then limit=limit_in_bytes; else limit=max; fi
	echo $((132 << 20)) >"$group/memory.$limit"
	same_moment "$1" -more 120
	for _ in $(seq 100); do # processes that have ended may take a moment to leave the group
		rmdir "$group" 2>/dev/null && break
		sleep 0.1
	done
	group=
}

group=
if [ -z "${MEMORY_GROUP-}" ] && [ -w /sys/fs/cgroup/memory/cgroup.procs ]; then MEMORY_GROUP=/sys/fs/cgroup/memory; fi
for goroot in $goroots; do
	GOROOT=$goroot
	release=$(go_release "$goroot")
	ways='plain stripped'
	! all_ways || ways='plain stripped pie pie,stripped cgo cgo,stripped cgo,pie'
	for way in ${ways_asked:-$ways}; do
		same_moment "$way"
	done
	! two_ways || in_group plain
	# Also with goroutines that the dumper stops in the middle of their code.
	[ -n "$ways_asked" ] || ! two_ways || same_moment plain -spinning -yielding
done
# Checks that the comparison notices differences.
if two_ways && [ -e "${last-}" ]; then
	"$build/compare" --self-test "$last" | sed -E '/^1\.\./d; s/^((not )?ok) [0-9]+ - /\1 - the comparison: /'
fi
