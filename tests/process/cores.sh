#!/bin/sh
# Converts core files: the kernel's, of processes that crash or are told to by a signal, and gdb's, of a process that lives on.
# Nothing of their stacks and of their heap may be missing, and the leak must be found. Cores that are cut, that have no memory, or
# that are given with the executable of another program must end with a message. TAP on standard output.
#
#   G2H                  the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases (default: see tests/go.sh; with CHECK_ALL all from 1.19 on)
#   WAYS                 how they are built (default: plain and stripped; of the newest release pie and cgo too)
#
# If the kernel writes no cores to the current directory, all cores are gdb's.
set -u
. "$(dirname "$0")/lib.sh"
ways_asked=${WAYS-}
c dangling "$here/dangling.c" "$here/listing.c" || exit 1

# The seconds of processor time after which a conversion is taken for one that hangs.
patience=600

# kernel_writes: succeeds if the kernel writes cores to the current directory, where they are found.
kernel_writes() {
	case $(cat /proc/sys/kernel/core_pattern) in
	'' | '|'* | */* | *%*) return 1 ;;
	esac
	# shellcheck disable=SC3045  # dash has it
	(ulimit -c unlimited) 2>/dev/null
}
kernel=no
if kernel_writes; then
	kernel=yes
elif ! command -v gcore >/dev/null; then
	echo "ok - cores # SKIP the kernel writes none to the current directory, and there is no gcore"
	exit 0
else
	echo "# the kernel writes no cores to the current directory: gcore does"
fi

# take HOW: takes a core as $at/core. HOW is the end of the process: nil, ABRT or QUIT; spinning is ABRT while some of its
# goroutines compute. With gcore the process lives on, and its goroutines compute too.
take() {
	signal=$1 flags=
	[ "$1" != spinning ] || signal=ABRT flags='-spinning -yielding'
	[ "$1" != gcore ] || signal=gcore flags='-spinning -yielding'
	[ "$kernel" = yes ] || signal=gcore
	rm -f "$at"/core*
	: >"$at/app.log"
	kind=abort
	[ "$1" != nil ] || [ "$kernel" = no ] || kind=nil
	# shellcheck disable=SC2086,SC3045  # there may be no flags; dash has it
	(cd "$at" && ulimit -c unlimited && exec env GOTRACEBACK=crash ${filter:+sh -c 'echo 0 >/proc/self/coredump_filter && exec "$@"' sh} ./app $flags crash "$kind") >"$at/app.log" 2>&1 &
	pid=$!
	if [ "$kind" = abort ]; then
		wait_ready "$at/app.log" || return
		sleep 0.2
		if [ "$signal" = gcore ]; then
			gcore -o "$at/core" "$pid" >"$at/log" 2>&1
			lives=$?
			kill -0 "$pid" || lives=1
			kill -KILL "$pid"
		else
			kill "-$signal" "$pid"
		fi
	fi
	wait "$pid" 2>/dev/null
	pid=
	for found in "$at"/core*; do
		[ ! -e "$found" ] || [ "$found" = "$at/core" ] || mv "$found" "$at/core"
	done
}

# convert OUTPUT ARGUMENT...: returns the exit status of the conversion.
convert() {
	convert_to=$1
	shift
	rm -f "$convert_to"
	# shellcheck disable=SC3045  # dash has it
	(ulimit -t "$patience" && exec "$g2h" -v -o "$convert_to" "$@") >"$at/log" 2>&1
}

whole() { # WAY HOW
	name="$release, $1, $2"
	if [ "$2" = gcore ] && ! command -v gcore >/dev/null; then
		echo "ok - $name # SKIP there is no gcore"
		return
	fi
	take "$2"
	[ "$2" != gcore ] || result "$lives" "$name: it lives on" "$at/log"
	[ -e "$at/core" ]
	result $? "$name: there is a core" "$at/app.log"
	[ -e "$at/core" ] || return
	convert "$at/1.heapsnapshot" --exe "$at/app" "$at/core"
	status=$?
	result "$status" "$name: is converted" "$at/log"
	[ "$status" -eq 0 ] || return
	# Looks for warnings, and for lines of the account about missing things.
	! grep -E ' warning: |NOT what memstats say|(not there|not complete|pointers are not known) +[1-9]' "$at/log" >"$at/missing"
	result $? "$name: nothing is missing" "$at/missing"
	cp "$here/expected.json" "$at/expected.json"
	flag=
	case $1 in *stripped*) flag=--stripped ;; esac
	# shellcheck disable=SC2086  # there may be no flag
	"${NODE:-node}" --max-old-space-size=8000 "$top/tests/leaks/check.mjs" "$name" "$at" $flag
	if [ "$kind" = nil ]; then
		grep -q '"main\.crash' "$at/1.heapsnapshot"
		result $? "$name: has the function that crashed"
	fi

	# The other ways to the same snapshot.
	"$g2h" --format dump --exe "$at/app" "$at/core" >"$at/x.dump" 2>"$at/log"
	result $? "$name: becomes a dump" "$at/log"
	convert "$at/2.heapsnapshot" --exe "$at/app" "$at/x.dump" && cmp "$at/1.heapsnapshot" "$at/2.heapsnapshot" >"$at/log" 2>&1
	result $? "$name: by way of a dump it is the same snapshot" "$at/log"
	convert "$at/2.heapsnapshot" "$at/core" && cmp "$at/1.heapsnapshot" "$at/2.heapsnapshot" >"$at/log" 2>&1
	result $? "$name: says itself where its executable is" "$at/log"
	"$build/dangling" "$at/x.dump" >"$at/log" 2>&1
	result $? "$name: nothing dangles" "$at/log"
	tell "$at/log" 1
	rm -f "$at"/?.heapsnapshot
}

# in_units BYTES: prints a number of bytes as messages have it: 17 B, 1.25 kB, 610 MB.
in_units() {
	awk -v n="$1" 'BEGIN {
		split("B kB MB GB TB", units, " ")
		for (i = 1; n >= (i == 1 ? 1000 : 999.5) && i < 5; i++) n /= 1000
		printf((i == 1 || n >= 99.95 ? "%.0f %s" : n >= 9.995 ? "%.1f %s" : "%.2f %s"), n, units[i])
	}'
}

# The message about a cut core says how much of it is missing, whether or not there is a snapshot.
cuts() {
	size=$(wc -c <"$at/core")
	for percent in 99 95 60 3; do
		cp --sparse=always "$at/core" "$at/cut"
		truncate -s $((size * percent / 100)) "$at/cut"
		convert "$at/cut.heapsnapshot" --exe "$at/app" "$at/cut"
		status=$?
		{ [ "$status" -eq 1 ] || [ "$status" -eq 3 ]; } && grep -q "is cut: $(in_units $((size - size * percent / 100))) of $(in_units "$size") are missing" "$at/log"
		result $? "$name: $percent % of it: says what is missing (status $status)" "$at/log"
		[ "$status" -ne 3 ] || [ -s "$at/cut.heapsnapshot" ]
		result $? "$name: $percent % of it: there is a snapshot if it says so"
		[ "$status" -eq 3 ] || ! [ -e "$at/cut.heapsnapshot" ]
		result $? "$name: $percent % of it: there is none if it says so"
	done
	rm -f "$at/cut" "$at/cut.heapsnapshot"
}

others() {
	other=$build/other
	convert "$at/x.heapsnapshot" --exe "$other" "$at/core"
	status=$?
	[ "$status" -eq 1 ] && grep -q 'not the executable\|another' "$at/log"
	result $? "$name: the executable of another program is refused (status $status)" "$at/log"
	mv "$at/app" "$at/moved"
	convert "$at/x.heapsnapshot" "$at/core"
	status=$?
	mv "$at/moved" "$at/app"
	[ "$status" -eq 1 ] && grep -q "$at/app" "$at/log"
	result $? "$name: without its executable it says which one (status $status)" "$at/log"
	for mode in 600 640; do
		chmod "$mode" "$at/core"
		(umask 022 && convert "$at/x.heapsnapshot" --exe "$at/app" "$at/core")
		[ "$(stat -c %a "$at/x.heapsnapshot")" = "$mode" ]
		result $? "$name: with mode $mode, the snapshot has that mode too" "$at/log"
	done
	gzip -1 <"$at/core" >"$at/core.gz"
	convert "$at/x.heapsnapshot" --exe "$at/app" "$at/core.gz"
	result $? "$name: is read gzipped" "$at/log"
	rm -f "$at/core.gz"
	# As the kernel gives it to a program that core_pattern names: docs/production.md, "The kernel's pipe".
	rm -f "$at/x.heapsnapshot" "$at/p.heapsnapshot"
	cat "$at/core" | (cd / && exec 3<"$at/app" && exec env -i TMPDIR="$at" "$g2h" --exe /dev/fd/3 -o "$at/p.heapsnapshot" -) >"$at/log" 2>&1
	"$g2h" --exe "$at/app" "$at/core" 2>/dev/null | cmp - "$at/p.heapsnapshot" >>"$at/log" 2>&1
	result $? "$name: through a pipe, without an environment, it is the same snapshot" "$at/log"
	cat "$at/core" | "$g2h" --exe "$at/app" -o "$at/q.heapsnapshot" /dev/stdin >"$at/log" 2>&1 && cmp "$at/p.heapsnapshot" "$at/q.heapsnapshot" >>"$at/log" 2>&1
	result $? "$name: as /dev/stdin too" "$at/log"
	head -c $(($(wc -c <"$at/core") / 2)) "$at/core" | "$g2h" --exe "$at/app" -o "$at/q.heapsnapshot" - >"$at/log" 2>&1
	status=$?
	{ [ "$status" -eq 1 ] || [ "$status" -eq 3 ]; } && grep -q 'the core is cut: .* are missing' "$at/log"
	result $? "$name: half of it through a pipe is said to be cut (status $status)" "$at/log"
	for method in zstd xz lz4; do
		"$g2h" --version | grep -q "[^t] $method [0-9]" && command -v $method >/dev/null || continue
		$method -1 -c <"$at/core" >"$at/core.$method"
		rm -f "$at/q.heapsnapshot"
		"$g2h" --exe "$at/app" -o "$at/q.heapsnapshot" "$at/core.$method" >"$at/log" 2>&1 && cmp "$at/p.heapsnapshot" "$at/q.heapsnapshot" >>"$at/log" 2>&1
		result $? "$name: by $method it is the same snapshot" "$at/log"
		rm -f "$at/core.$method"
	done
	rm -f "$at/p.heapsnapshot" "$at/q.heapsnapshot"
	[ "$kernel" = yes ] || return
	filter=yes
	take ABRT
	filter=
	convert "$at/x.heapsnapshot" --exe "$at/app" "$at/core"
	status=$?
	[ "$status" -eq 1 ] && grep -q coredump_filter "$at/log"
	result $? "$name: without memory it says what to set (status $status)" "$at/log"
	rm -f "$at/x.heapsnapshot"
}
filter=

printf 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println("another") }\n' >"$build/other.go"
for goroot in $goroots; do
	release=$(go_release "$goroot")
	GOROOT=$goroot "$goroot/bin/go" build -o "$build/other" "$build/other.go" || exit 1
	ways='plain stripped' hows='nil QUIT'
	GOROOT=$goroot
	! two_ways || hows='spinning gcore nil ABRT QUIT'
	! all_ways || ways='plain stripped pie cgo'
	for way in ${ways_asked:-$ways}; do
		at=$build/$release/$way
		rm -rf "$at"
		app "$(echo "$way" | tr , ' ')" "$at"
		case $? in
		0) ;;
		2)
			echo "ok - $release, $way # SKIP no C compiler for cgo"
			continue
			;;
		*)
			echo "not ok - $release, $way: builds"
			tell "$at/log"
			continue
			;;
		esac
		for how in $hows; do
			whole "$way" "$how"
			[ "$way" = plain ] || [ "$how" = spinning ] || [ "$how" = gcore ] || break
		done
		[ -e "$at/core" ] || continue
		case $way in
		plain | stripped) cuts ;;
		esac
		[ "$way" != plain ] || others
		rm -f "$at"/core* "$at/x.dump"
	done
done
