#!/bin/sh
# Reads the heaps of Go libraries (-buildmode=c-shared) in a program that is not Go: live, in a core, and in a dump that the
# library wrote. TAP on standard output.
#
#   G2H                  the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases (default: see tests/go.sh)
set -u
. "$(dirname "$0")/lib.sh"
may_trace libraries || exit 0
${CC:-cc} -O1 -o "$build/host" "$here/libraries/host.c" -ldl -pthread || exit 1

# library FILE [FLAG...]: builds the library.
library() {
	library_file=$1
	shift
	(cd "$here/libraries" && CGO_ENABLED=1 "$goroot/bin/go" build -buildmode=c-shared -o "$library_file" "$@" ./shelf) >"$at/log" 2>&1
}

# start LIBRARY...: runs the host with libraries until it waits.
start() {
	: >"$at/host.log"
	"$build/host" "$at/own.dump" "$@" >"$at/host.log" 2>&1 &
	pid=$!
	wait_ready "$at/host.log"
}

# report NAME COUNT ARGUMENT...: the report must tell of COUNT books and their readers, and of nothing that is not typed.
report() {
	name="$release, $1"
	count=$2
	shift 2
	"$g2h" --format report "$@" >"$at/report" 2>"$at/log"
	status=$?
	cat "$at/report" >>"$at/log"
	result "$status" "$name: is read" "$at/log"
	tr -d , <"$at/report" | grep -Eq "^ *main\.book +$count " && grep -Eq '^ *main\.page ' "$at/report"
	result $? "$name: has $count books and their pages" "$at/log" 60
	grep -Eq '\[chan receive\] +main\.reader.* 3 ' "$at/report"
	result $? "$name: has the readers" "$at/log" 60
	! grep -q 'could not be found' "$at/log"
	result $? "$name: all stacks are complete" "$at/log"
	share=$(sed -nE 's/.*: ([0-9]+)\.[0-9] % of live bytes typed.*/\1/p' "$at/log")
	[ "${share:-0}" -ge 90 ]
	result $? "$name: ${share:-0} % of live bytes have a type" "$at/log"
}

# says NAME TEXT: the last conversion said a text.
says() {
	grep -Fq -e "$2" "$at/log"
	result $? "$release, $1" "$at/log"
}

# refused NAME TEXT ARGUMENT...: the conversion must end with a message that has the text.
refused() {
	name=$1 text=$2
	shift 2
	"$g2h" --format report "$@" >"$at/report" 2>"$at/log"
	[ $? -eq 1 ] && grep -Fq -e "$text" "$at/log"
	result $? "$release, $name is refused" "$at/log"
}

one() {
	start "$at/shelf.so"
	report 'live' 1000 --pid "$pid"
	says 'live: says which library is read' "its program is not Go: the heap of its library $at/shelf.so is read"
	grep -q 'held by *main\.' "$at/report"
	result $? "$release, live: a global holds them by name" "$at/report" 40
	cp "$at/shelf.so" "$at/copy.so"
	report 'live, with a copy of the library' 1000 --exe "$at/copy.so" --pid "$pid"
	report 'its own dump' 1000 --exe "$at/shelf.so" "$at/own.dump"
	"$g2h" --format dump --pid "$pid" -o "$at/outside.dump" 2>"$at/log"
	report 'a dump from outside' 1000 --exe "$at/shelf.so" "$at/outside.dump"
	refused 'the host' "--exe /proc/$pid/root$at/shelf.so" --exe "$build/host" --pid "$pid"
	# Which is a library that the process has not loaded, or another build, if both have all at the same addresses.
	refused 'another library' "stripped.so: is a" --exe "$at/stripped.so" --pid "$pid"
	mkdir -p "$at/other"
	cp "$at/stripped.so" "$at/other/shelf.so"
	refused 'another build of the library' 'is another build' --exe "$at/other/shelf.so" --pid "$pid"
	if command -v gcore >/dev/null; then
		gcore -o "$at/core" "$pid" >/dev/null 2>&1
		report 'a core' 1000 "$at/core.$pid"
		report 'a core, with a copy of the library' 1000 --exe "$at/copy.so" "$at/core.$pid"
		rm -f "$at/core.$pid"
	else
		echo "ok - $release, a core # SKIP there is no gcore"
	fi
	if [ -r "/proc/$pid/map_files" ] && rm "$at/shelf.so" && head -c 1 "$(echo /proc/$pid/map_files/* | cut -d ' ' -f 1)" >/dev/null 2>&1; then
		report 'live, of a library that was deleted' 1000 --pid "$pid"
	else
		echo "ok - $release, live, of a library that was deleted # SKIP only root may open it"
	fi
	cp "$at/copy.so" "$at/shelf.so"
	kill_app
}

stripped() {
	start "$at/stripped.so"
	report 'stripped, live' 1000 --pid "$pid"
	report 'stripped, its own dump' 1000 --exe "$at/stripped.so" "$at/own.dump"
	kill_app
}

# The first thread has exited, so that ps and /proc/PID/status say "zombie"; the others go on.
exited() {
	EXITS=1 start "$at/shelf.so"
	until grep -q '^State:.*zombie' "/proc/$pid/status"; do sleep 0.1; done
	report 'without its first thread' 1000 --pid "$pid"
	report 'without its first thread, forked' 1000 --fork --pid "$pid"
	kill_app
}

two() {
	start "$at/shelf.so" "$at/stripped.so"
	report 'two libraries' 1000 --pid "$pid"
	says 'two libraries: says how to read the other' "$at/stripped.so has a Go heap of its own, which --exe /proc/$pid/root$at/stripped.so reads"
	report 'two libraries, the other' 2000 --exe "/proc/$pid/root$at/stripped.so" --pid "$pid"
	says 'two libraries: says how to read the first' "$at/shelf.so has a Go heap of its own"
	kill_app
}

for goroot in $goroots; do
	export GOROOT="$goroot"
	release=$(go_release "$goroot")
	at=$build/$release
	rm -rf "$at"
	mkdir -p "$at"
	if ! c_of_go "$at"; then
		echo "ok - $release, libraries # SKIP no C compiler for cgo"
		continue
	fi
	if ! library "$at/shelf.so" || ! library "$at/stripped.so" -ldflags='-s -w'; then
		echo "not ok - $release, libraries: are built"
		tell "$at/log"
		continue
	fi
	one
	stripped
	exited
	two
done
