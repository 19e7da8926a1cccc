#!/bin/sh
# Reads programs through the window of --fork, as where there is no memory for a copy, and compares page by page. TAP on standard
# output. go2heapsnapshot is built with -DWINDOW_CHECKS: it reads every fork through a window, and compares each page that it has
# with the page of the child at its address, which lies in the list of mappings and not beside another one. Without these checks, the
# runtime's counts tell that a page was wrong.
#
#   WINDOWS              how many captures, each of a program that was started for it (default: 8; with CHECK_ALL 200)
#   GOROOTS              the releases (default: see tests/go.sh)
set -u
. "$(dirname "$0")/lib.sh"
may_trace 'windows' || exit 0
if [ "$(uname -m)" != x86_64 ]; then
	echo 'ok - windows # SKIP on amd64 only'
	exit 0
fi
# Of the library, only these two files know of the checks.
c checked -DWINDOW_CHECKS "$top/src/process/attach/process.c" "$top/src/process/attach/attach.c" "$top/src/main.c" "$top"/src/cli/*.c || exit 1
checked=$build/checked
c windowed -DWINDOW_ALWAYS=1 "$top/src/process/attach/attach.c" "$top/src/main.c" "$top"/src/cli/*.c || exit 1
${CC:-cc} -std=c17 -D_GNU_SOURCE -Wall -Wextra -O2 -shared -fPIC -o "$build/spoiled.so" "$here/spoiled_reads.c" -ldl || exit 1
captures=${WINDOWS:-$([ -n "${CHECK_ALL-}" ] && echo 200 || echo 8)}
mkfifo "$build/in.$$" || exit 1
exec 7<>"$build/in.$$" # the standard input of programs, which never ends
rm -f "$build/in.$$"

# starts ARGUMENT...: starts the program, and returns when it has filled its heap.
starts() {
	mkfifo "$build/out.$$" || exit 1
	"$app" "$@" <&7 >"$build/out.$$" 2>"$build/app.log" &
	pid=$!
	exec 8<"$build/out.$$"
	rm -f "$build/out.$$"
	read -r _ <&8
}

ends() {
	kill_app
	exec 8<&-
}

for goroot in $goroots; do
	release=$(go_release "$goroot")
	app=$build/$release/app
	mkdir -p "$build/$release"
	go_builds "$release, windows: the program builds" forked "$app" || continue
	bad=0 pages=0
	: >"$build/bad"
	for _ in $(seq "$captures"); do
		starts -mb 20
		"$checked" --pid "$pid" --fork --format dump -o "$build/x.dump" 2>"$build/log"
		status=$?
		compared=$(sed -n 's/^window: \([0-9]*\) pages compared$/\1/p' "$build/log")
		pages=$((pages + ${compared:-0}))
		if [ $status -ne 0 ] || [ "${compared:-0}" -eq 0 ] || ! grep -q 'were read without a copy' "$build/log"; then
			bad=$((bad + 1))
			cat "$build/log" >>"$build/bad"
		fi
		ends
	done
	[ $bad -eq 0 ]
	result $? "$release, $captures windows, $pages pages compared: $bad captures with a wrong page or another fault" "$build/bad"

	# That the comparison would find one: the first page of the heap that is read becomes another one.
	starts -mb 20
	LD_PRELOAD="$build/spoiled.so" SPOIL=1000000000-7e0000000000 SPOIL_NOT=$pid "$checked" --pid "$pid" --fork --format dump -o "$build/x.dump" 2>"$build/log"
	[ $? -eq 134 ] && grep -q 'is not what the process has' "$build/log"
	result $? "$release, a page that is another one is found" "$build/log"
	ends

	# The bits that say which slots have objects are zeros, in one of the two arenas that have some of all spans; a single page may have
	# none that matter, and spans that are not swept have no count.
	starts -mb 20 -swept
	arenas=0x$("$goroot/bin/go" tool nm "$app" | sed -n 's/^ *\([0-9a-f]*\) . runtime\.gcBitsArenas$/\1/p')
	said=1
	for arena in $(dd "if=/proc/$pid/mem" bs=16 count=1 iflag=skip_bytes skip=$((arenas + 24)) 2>/dev/null | od -An -t x8); do
		LD_PRELOAD="$build/spoiled.so" SPOIL_ALL=1 SPOIL="$arena-$(printf '%x' $((0x$arena + 65536)))" \
			"$build/windowed" --pid "$pid" --fork --format dump -o "$build/x.dump" 2>"$build/log"
		[ $? -eq 3 ] && grep -q ' spans hold a different number of objects than the runtime counted: ' "$build/log" && said=0
	done
	result $said "$release, pages that are wrong are noticed by the counts: exit status 3" "$build/log"
	ends
	rm -f "$build/x.dump"
done
