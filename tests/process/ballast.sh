#!/bin/sh
# Memory that a program has allocated and never written to costs nothing: a program with gigabytes of it beside its objects is
# read, written as a dump and converted with the memory and the disk that the same program takes without them, and without reading
# or writing more. The stacks of goroutines, which it does use, are not held twice. TAP on standard output.
#
#   G2H                  the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases (default: see tests/go.sh)
set -u
. "$(dirname "$0")/lib.sh"
may_trace ballast || exit 0
c cost "$here/cost.c" || exit 1
no_zeros=
"$build/cost" --zeros || no_zeros='the kernel has no page of zeros: what the collector reads takes memory'

# cost NAME COMMAND...: writes what a command costs to $at/NAME: kilobytes of memory, faults, bytes.
cost() {
	cost_to=$at/$1
	shift
	"$build/cost" "$@" 2>"$at/log" >"$cost_to"
}

# figures KIND: reads the program with a kind of ballast in all ways.
figures() {
	at=$build/$release/$1
	mkdir -p "$at"
	app=$build/$release/app-$1
	[ -x "$app" ] || app=$build/$release/app
	: >"$at/app.log" # an earlier run's says ready
	"$build/cost" --become "$app" "$1" >"$at/app.log" 2>&1 &
	pid=$!
	wait_ready "$at/app.log" || return
	cost report.cost "$g2h" --pid "$pid" --format report -o "$at/report.txt" &&
		cost dump.cost "$g2h" --pid "$pid" --format dump -o "$at/x.dump" &&
		cost back.cost "$g2h" --format report --exe "$app" -o "$at/back.txt" "$at/x.dump" &&
		cost copy.cost "$g2h" --format dump -o "$at/copy.dump" "$at/x.dump"
	figures_status=$?
	kill_app
	return "$figures_status"
}

# blocks FILE: prints how many blocks of the disk a file takes.
blocks() {
	stat -c %b "$1"
}

# within MOST THIS OTHER: succeeds if THIS is at most MOST percent of OTHER, and says so.
within() {
	echo "$2 against $3"
	[ "$2" -le $(($3 * $1 / 100)) ]
}

# reads_pointers KIND WAY: succeeds if the way has to read the words of all pointers. The collector has read them: memory has
# one page of zeros for all of them, but only since Linux 6.7 the system says so.
reads_pointers() {
	[ "$1" = pointers ] || return
	case $2 in back | copy) return 1 ;; esac
	[ "$(printf '%s\n' 6.7 "$(uname -r)" | sort -V | head -n 1)" != 6.7 ]
}

# compares KIND: compares the figures of a kind of ballast with those of none. The collector reads all but the bytes.
compares() {
	name="$release, ballast of $1"
	case $1 in
	pointers | variables | stripped)
		if [ -n "$no_zeros" ]; then
			echo "ok - $name # SKIP $no_zeros"
			return
		fi
		;;
	esac
	figures "$1"
	result $? "$name: is read" "$at/log"
	none=$build/$release/none
	for file in x.dump copy.dump; do
		within 130 "$(blocks "$at/$file")" "$(blocks "$none/$file")" >"$at/log"
		result $? "$name: blocks of $file" "$at/log"
	done
	for way in report dump back copy; do
		read -r this_memory this_faults this_bytes <"$at/$way.cost"
		read -r memory faults bytes <"$none/$way.cost"
		# The runtime's table of spans, which is read, has 1 MB for each GiB of them; the ballast itself would be a hundred times this.
		within 130 "$this_memory" "$((memory + 8192))" >"$at/log"
		result $? "$name: memory of $way" "$at/log"
		# To touch the ballast would take a hundred times as many; the runtime's descriptions of 8 GiB take some.
		within 200 "$this_faults" "$faults" >"$at/log"
		result $? "$name: pages of $way" "$at/log"
		! reads_pointers "$1" "$way" || continue
		if [ "$this_bytes" = - ]; then
			echo "ok - $name: bytes of $way # SKIP the kernel does not count them"
			continue
		fi
		# The ballast has more than ten times as many; to find out that it was never written to takes some.
		within 100 "$this_bytes" "$((bytes + (25 << 20)))" >"$at/log"
		result $? "$name: bytes of $way" "$at/log"
	done
	rm -f "$at"/*.dump
}

# same: tests that the zeros are in all copies of a dump.
same() {
	name="$release, ballast of few: the same dump"
	figures few && cmp "$at/x.dump" "$at/copy.dump" >"$at/log" 2>&1
	result $? "$name in a file with holes" "$at/log"
	"$g2h" --format dump "$at/x.dump" 2>"$at/log" | cmp - "$at/x.dump" >>"$at/log" 2>&1
	result $? "$name through a pipe" "$at/log"
	"$g2h" --format dump --gzip "$at/x.dump" 2>"$at/log" | gzip -d | cmp - "$at/x.dump" >>"$at/log" 2>&1
	result $? "$name compressed" "$at/log"
	: >"$at/append.dump"
	"$g2h" --format dump "$at/x.dump" >>"$at/append.dump" 2>"$at/log" && cmp "$at/x.dump" "$at/append.dump" >>"$at/log" 2>&1
	result $? "$name appended to a file" "$at/log"
	rm -f "$at"/*.dump
}

# stacks: tests that the dump of many goroutines needs hardly more memory than the process itself, whose memory is copied.
stacks() {
	at=$build/$release/goroutines
	mkdir -p "$at"
	: >"$at/app.log"
	"$build/cost" --become "$build/$release/app" goroutines >"$at/app.log" 2>&1 &
	pid=$!
	wait_ready "$at/app.log" || return
	cost dump.cost "$g2h" --pid "$pid" --format dump -o "$at/x.dump" && read -r memory _ <"$at/dump.cost" &&
		within 130 "$memory" "$(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status")" >"$at/log"
	result $? "$release, memory of a dump of 20,000 goroutines" "$at/log"
	kill_app
	rm -f "$at/x.dump"
}

for goroot in $goroots; do
	set --
	release=$(go_release "$goroot")
	mkdir -p "$build/$release"
	(cd "$here/ballast" && GOROOT=$goroot "$goroot/bin/go" build -o "$build/$release/app" .) >"$build/$release/log" 2>&1 &&
		figures none
	result $? "$release, the program without ballast" "$build/$release/log"
	same
	stacks
	for kind in variables stripped; do
		[ "$kind" = variables ] || set -- -ldflags='-s -w'
		(cd "$here/ballast" && GOROOT=$goroot "$goroot/bin/go" build -tags variables "$@" -o "$build/$release/app-$kind" .) >"$build/$release/log" 2>&1
		result $? "$release, the program with ballast: $kind" "$build/$release/log"
	done
	for kind in bytes pointers huge variables stripped; do compares "$kind"; done
	rm -f "$build/$release"/none/*.dump
done
