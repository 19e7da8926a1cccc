#!/bin/sh
# What a report of a sample of a heap (--sample) says, compared with that of the whole heap, for twenty samples of one program.
# TAP on standard output.
#
#   G2H                  the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases (default: see tests/go.sh)
#   SAMPLES              how many (default: 20)
set -u
. "$(dirname "$0")/lib.sh"
may_trace sampled || exit 0

# begin: starts the program, and stops it, so that it is the same whenever it is read.
begin() {
	"$at/app" >"$at/app.log" 2>&1 &
	pid=$!
	wait_ready "$at/app.log" || return
	kill -STOP "$pid"
}

# samples: reads the heap, and samples of it.
samples() {
	"$g2h" --pid "$pid" --format report --json -o "$at/whole.json" 2>"$at/log" || return
	names=
	for seed in $(seq "${SAMPLES:-20}"); do
		"$g2h" --pid "$pid" --sample 20,"$seed" --format report --json -o "$at/$seed.json" 2>"$at/log" || return
		names="$names $at/$seed.json"
	done
}

for goroot in $goroots; do
	release=$(go_release "$goroot")
	at=$build/$release
	mkdir -p "$at"
	(cd "$here/sampled" && GOROOT=$goroot "$goroot/bin/go" build -o "$at/app" .) >"$at/log" 2>&1
	result $? "$release: the program" "$at/log"
	begin && samples
	result $? "$release: samples" "$at/log"
	# shellcheck disable=SC2086  # a list
	node "$here/sampled.mjs" "$at/whole.json" $names | sed "s/ok - /ok - $release: /"
	"$g2h" --pid "$pid" --sample 20,1 -j 1 --format report --json -o "$at/one.json" 2>"$at/log" && cmp "$at/1.json" "$at/one.json" >>"$at/log" 2>&1
	result $? "$release: the same with one thread" "$at/log"
	kill_app
done
