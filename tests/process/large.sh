#!/bin/sh
# What reading a large process takes: a dump that is written needs no temporary file; what is short is said in figures before the
# process is stopped. TAP on standard output.
#
#   G2H                  the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases (default: see tests/go.sh)
set -u
. "$(dirname "$0")/lib.sh"
may_trace large || exit 0

# begin: starts the program, and stops it, so that it is the same whenever it is read.
begin() {
	"$at/app" >"$at/app.log" 2>&1 &
	pid=$!
	wait_ready "$at/app.log" || return
	kill -STOP "$pid"
}

# streams: a dump is the same to a file, to a pipe and, uncompressed, to its end; no directory for temporary files is needed.
streams() {
	TMPDIR=$at/none "$g2h" --pid "$pid" --format dump -o "$at/x.dump" 2>"$at/log"
	result $? "$release: a dump needs no temporary file" "$at/log"
	"$g2h" --pid "$pid" --format dump -o "$at/x.dump" 2>"$at/log" # the first reading may change what is resident, which the dump says
	TMPDIR=$at/none "$g2h" --pid "$pid" --format dump -z 2>"$at/log" >"$at/x.dump.gz" && gzip -dc "$at/x.dump.gz" | cmp - "$at/x.dump" >>"$at/log" 2>&1
	result $? "$release: compressed, it is the same" "$at/log"
	{ TMPDIR=$at/none "$g2h" --pid "$pid" --format dump -z 2>"$at/log" || echo failed; } | cmp - "$at/x.dump.gz" >>"$at/log" 2>&1
	result $? "$release: and through a pipe" "$at/log"
	"$g2h" --format dump -z "$at/x.dump" 2>"$at/log" | cmp - "$at/x.dump.gz" >>"$at/log" 2>&1
	result $? "$release: and as it would be written from a file" "$at/log"
	"$g2h" --exe "$at/app" --format report -o "$at/report" "$at/x.dump" 2>"$at/log" && grep -q 'main.sessions' "$at/report"
	result $? "$release: and it has the heap" "$at/log"
	if [ -w /dev/full ]; then
		"$g2h" --pid "$pid" --format dump 2>"$at/log" >/dev/full
		[ $? -eq 1 ] && grep -q 'cannot write: No space left on device' "$at/log"
		result $? "$release: a full disk is an error" "$at/log"
	fi
}

# arrays: what of a process is shortened is what would be shortened of its dump, and a report has the same holders.
arrays() {
	"$g2h" --pid "$pid" --format dump -o "$at/x.dump" 2>"$at/log" &&
		"$g2h" --format dump --largest-array 64K -o "$at/short.dump" "$at/x.dump" 2>>"$at/log" &&
		TMPDIR=$at/none "$g2h" --pid "$pid" --format dump --largest-array 64K 2>>"$at/log" | cmp - "$at/short.dump" >>"$at/log" 2>&1 &&
		[ "$(stat -c %s "$at/short.dump")" -lt "$(($(stat -c %s "$at/x.dump") - 3000000))" ]
	result $? "$release: --largest-array of a process and of its dump" "$at/log"
	"$g2h" --pid "$pid" --format report --json=suspects,classes -o "$at/whole" 2>"$at/log" &&
		"$g2h" --pid "$pid" --format report --json=suspects,classes --largest-array 64K -o "$at/short" 2>>"$at/log" &&
		grep -q 'only the beginning of [1-9][0-9]* arrays is there' "$at/log" && grep -q main.blobs "$at/short" &&
		cmp "$at/whole" "$at/short" >>"$at/log" 2>&1
	result $? "$release: --largest-array in a report" "$at/log"
}

# refused NAME PATTERN: tests that the last command was refused with the pattern, before the process was stopped.
refused() {
	[ "$status" -eq 1 ] && grep -qE "$2" "$at/log" && ! grep -q 'was paused' "$at/log"
	result $? "$release: $1" "$at/log"
}

# shortages: what is short is said in figures before the process is stopped.
shortages() {
	objects='[0-9]+ objects: this takes [0-9.]+ MB of memory or more, and [0-9.]+ MB or more in'
	(ulimit -v 80000 && "$g2h" --pid "$pid" --format report -o "$at/report") >"$at/log" 2>&1
	status=$?
	refused 'a limit of addresses' '[0-9]+ MB.*the limit is 80000 kB: raise it .ulimit -v'
	(ulimit -v 40000 && "$g2h" --exe "$at/app" --format report -o "$at/report" "$at/x.dump") >"$at/log" 2>&1
	status=$?
	refused 'a limit of addresses for a dump' 'ulimit -v'
	if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then
		echo "ok - $release: a small disk # SKIP no file system can be mounted here"
		return
	fi
	mkdir -p "$at/small"
	# shellcheck disable=SC2016 # for the inner shell
	small='mount -t tmpfs -o size=1m tmpfs "$0" && exec "$@"'
	unshare -m sh -c "$small" "$at/small" env TMPDIR="$at/small" "$g2h" --pid "$pid" --format report -o "$at/report" >"$at/log" 2>&1
	status=$?
	refused 'a small disk for the temporary file' "$objects .*/small; 1.05 MB are free there: set TMPDIR"
	if [ "${g2h#/tmp/}" = "$g2h" ]; then
		unshare -m sh -c "$small" /tmp env -u TMPDIR "$g2h" --pid "$pid" --format report >"$at/report" 2>"$at/log"
		result $? "$release: where memory has room, a temporary dump needs no disk" "$at/log"
	fi
	unshare -m sh -c "$small" "$at/small" "$g2h" --pid "$pid" --format dump -o "$at/small/x.dump" >"$at/log" 2>&1
	status=$?
	refused 'a small disk for a dump' 'this takes [0-9.]+ MB or more in .*/small/; 1.05 MB are free there: -z'
}

for goroot in $goroots; do
	release=$(go_release "$goroot")
	at=$build/$release
	mkdir -p "$at"
	if ! (cd "$here/large" && GOROOT=$goroot "$goroot/bin/go" build -o "$at/app" .) >"$at/log" 2>&1 || ! begin; then
		result 1 "$release: is built and runs" "$at/log"
		continue
	fi
	streams
	arrays
	shortages
	kill_app
done
