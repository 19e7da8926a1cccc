#!/bin/sh
# A process that has only just started, or starts itself anew all the time, is read, or a message says that it has only just
# started, and nothing else. TAP on standard output.
#
#   G2H                  the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases (default: see tests/go.sh)
#   READS                how many times each program is read (default: 12)
set -u
. "$(dirname "$0")/lib.sh"
may_trace 'programs that start' || exit 0

# attempt: reads the process once, and counts what comes of it.
attempt() {
	if "$g2h" --format report --pid "$pid" >"$at/report" 2>"$at/log"; then
		good=$((good + 1))
		grep -q '^process [0-9]* (.*) *go1' "$at/report" || tell "$at/report" >>"$at/odd"
	elif ! grep -q 'has only just started' "$at/log"; then
		cat "$at/log" >>"$at/odd"
	fi
}

# outcome NAME: no attempt may have come to anything else, and some must have been good.
outcome() {
	[ ! -s "$at/odd" ]
	result $? "$release, $1: is read, or has only just started" "$at/odd"
	[ "$good" -gt 0 ]
	result $? "$release, $1: is read $good times of ${READS:-12}"
}

again() { # PROGRAM MICROSECONDS
	good=0
	: >"$at/odd"
	"$1" "$2" >/dev/null 2>&1 &
	pid=$!
	for _ in $(seq "${READS:-12}"); do attempt; done
	kill_app
	outcome "$(basename "$1") starts anew after $2 us"
}

fresh() { # PROGRAM
	good=0
	: >"$at/odd"
	for _ in $(seq "${READS:-12}"); do
		"$1" 100000000 >/dev/null 2>&1 &
		pid=$!
		attempt
		kill_app
	done
	outcome "$(basename "$1") has just been started"
}

# go_run: of go run, the child that runs the program is named.
go_run() {
	(cd "$here/starting" && export CGO_ENABLED=0 && exec "$goroot/bin/go" run . 100000000) >/dev/null 2>&1 &
	pid=$!
	child=
	while [ -z "$child" ] && kill -0 "$pid"; do
		"$g2h" --format report --pid "$pid" >/dev/null 2>"$at/log"
		child=$(sed -n "s/.*process $pid is the go command; its child \([0-9]*\) (starting) runs the program: --pid \1\$/\1/p" "$at/log")
	done
	[ "$(readlink "/proc/$child/exe" | sed 's|.*/||')" = starting ]
	result $? "$release, go run: the child that runs the program is named" "$at/log"
	kill -KILL "$child"
	kill_app
}

for goroot in $goroots; do
	export GOROOT="$goroot"
	release=$(go_release "$goroot")
	at=$build/$release
	rm -rf "$at"
	mkdir -p "$at"
	if ! (cd "$here/starting" && export CGO_ENABLED=0 && "$goroot/bin/go" build -o "$at/plain" . &&
		"$goroot/bin/go" build -buildmode=pie -ldflags='-s -w' -o "$at/pie" .) >"$at/log" 2>&1; then
		echo "not ok - $release, programs that start: are built"
		tell "$at/log"
		continue
	fi
	again "$at/plain" 0
	again "$at/plain" 2000
	again "$at/pie" 0
	fresh "$at/plain"
	go_run
done
