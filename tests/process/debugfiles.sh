#!/bin/sh
# The separate debug file of a live process is found where gdb would find it: beside the file that it runs, though that is
# /proc/PID/exe here, and in the root directory of the process. TAP on standard output.
#
#   G2H                  the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases (default: see tests/go.sh)
set -u
. "$(dirname "$0")/lib.sh"
may_trace 'debug files' || exit 0

# finds NAME HIDE COMMAND...: runs a command, which must become the program, and hides or removes files by HIDE. The global must
# have its name in the report.
finds() {
	name="$release, $1"
	hide=$2
	shift 2
	: >"$at/app.log"
	"$@" >"$at/app.log" 2>&1 &
	pid=$!
	wait_ready "$at/app.log"
	eval "$hide"
	"$g2h" --format report --pid "$pid" >"$at/report" 2>"$at/log"
	status=$?
	kill_app
	[ "$status" -eq 0 ] && grep -q 'held by *main\.all' "$at/report" && ! grep -q stripped "$at/log"
	result $? "$name" "$at/log"
}

# separate DIRECTORY DEBUG: puts the stripped program into a directory, and its debug file to a path.
separate() {
	mkdir -p "$1" "$(dirname "$2")"
	objcopy --only-keep-debug "$at/whole" "$2" &&
		objcopy -g -S --add-gnu-debuglink="$2" "$at/whole" "$1/app"
} >"$at/log" 2>&1

for goroot in $goroots; do
	export GOROOT="$goroot"
	release=$(go_release "$goroot")
	at=$build/$release
	rm -rf "$at"
	mkdir -p "$at"
	id=0123456789abcdef$$
	[ $((${#id} % 2)) -eq 0 ] || id=${id}0
	if ! command -v objcopy >/dev/null; then
		echo "ok - $release, debug files # SKIP there is no objcopy"
		continue
	fi
	go_builds "$release, debug files: builds" builds "$at/whole" -ldflags="-B 0x$id" || continue
	separate "$at/plain" "$at/plain/app.debug"
	finds 'beside the program' '' "$at/plain/app"
	ln -s "$at/plain/app" "$at/link"
	finds 'beside what a link leads to' '' "$at/link"
	separate "$at/folder" "$at/folder/.debug/app.debug"
	finds 'in .debug' '' "$at/folder/app"
	finds 'beside a program that was deleted' 'rm "$at/folder/app"' "$at/folder/app"
	if ! chroot / true 2>/dev/null; then
		echo "ok - $release, in another root directory # SKIP only root may make one"
		continue
	fi
	separate "$at/root/opt" "$at/root/opt/app.debug"
	finds 'beside the program, in another root directory' '' chroot "$at/root" /opt/app
	separate "$at/ids/opt" "$at/ids/usr/lib/debug/.build-id/01/$(echo "$id" | cut -c 3-).debug"
	finds 'by its build ID, in another root directory' '' chroot "$at/ids" /opt/app
	separate "$at/whole-path/opt" "$at/whole-path/usr/lib/debug/opt/app.debug"
	finds 'by its path below /usr/lib/debug, in another root directory' '' chroot "$at/whole-path" /opt/app
done
