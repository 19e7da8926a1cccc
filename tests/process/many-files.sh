#!/bin/sh
# A process with 5,000 mapped files, all of which look like the beginning of a library, and the core file that it leaves: both are
# read, whole and typed, and a dump has no warning. TAP on standard output.
#
#   G2H                  the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases (default: see tests/go.sh)
set -u
. "$(dirname "$0")/lib.sh"
may_trace 'many mapped files' || exit 0
files=5000

# reads NAME ARGUMENT...: tests a report.
reads() {
	name=$1
	shift
	"$g2h" "$@" --format report >"$build/report" 2>"$build/log"
	status=$?
	[ $status -eq 0 ] && grep -q "live bytes typed" "$build/log" && ! grep -q warning "$build/log" && grep -q 'main.kept' "$build/report"
	result $? "$release, $files mapped files, $name: status $status, and the variable that holds them" "$build/log"
}

for goroot in $goroots; do
	release=$(go_release "$goroot")
	go_builds "$release: the program builds" many_files "$build/app" || continue
	rm -rf "$build/files" "$build/pipe"
	mkdir "$build/files"
	mkfifo "$build/pipe"
	: >"$build/app.log"
	(cd "$build/files" && ulimit -c unlimited && GOTRACEBACK=crash exec "$build/app" $files "$build/files") <"$build/pipe" >"$build/app.log" 2>&1 &
	pid=$!
	exec 3>"$build/pipe"
	until grep -q '^ready' "$build/app.log" || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
	reads --pid --pid $pid
	kill -ABRT $pid
	wait $pid 2>/dev/null
	pid=
	exec 3>&-
	core=$(find "$build/files" -maxdepth 1 -name 'core*' | head -n 1)
	if [ -n "$core" ]; then reads 'core file' --exe "$build/app" "$core"; else echo "ok - $release, $files mapped files, core file # SKIP the kernel writes none to the current directory"; fi
	rm -rf "$build/files"
done
