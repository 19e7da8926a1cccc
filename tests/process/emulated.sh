#!/bin/sh
# Does the test of same-moment.sh for other processors. qemu-user runs the program, so that neither ptrace nor /proc show the
# program itself. It writes its heap dump to a FIFO. Behind data and bss, while it waits for the reader, SIGQUIT ends it, and qemu
# writes its core, which must hold the same as the dump, record by record and byte by byte. TAP on standard output.
#
#   G2H                  the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases (default: those of tests/leaks; with CHECK_ALL all from 1.19 on)
#   PROCESSORS           by Go's names (default: arm64, ppc64le and loong64; qemu writes no cores of riscv64)
#   WAYS                 how they are built (default: plain and stripped; a PIE would need the processor's dynamic linker)
set -u
usual=leaks
. "$(dirname "$0")/lib.sh"
ways=${WAYS:-plain stripped}
c pause "$here/pause.c" && c compare "$here/compare.c" "$here/differences.c" "$here/listing.c" "$here/spoil.c" || exit 1

# ends PID: ends qemu by SIGQUIT, and waits for its end. qemu passes the signal to the program, and writes the core first.
ends='kill -QUIT "$1"; while kill -0 "$1" && ! grep -q "^State:.Z" "/proc/$1/status"; do sleep 0.1; done 2>/dev/null'

emulated() { # PROCESSOR WAY
	name="$release, $1, $2"
	at=$build/$release/$1/$2
	rm -rf "$at"
	case $1 in
	arm64) emulator=qemu-aarch64 ;;
	loong64) emulator=qemu-loongarch64 ;;
	*) emulator=qemu-$1 ;;
	esac
	if ! command -v "$emulator" >/dev/null; then
		echo "ok - $name # SKIP there is no $emulator"
		return
	fi
	if ! GOARCH=$1 app "$(echo "$2" | tr , ' ')" "$at"; then
		echo "not ok - $name: builds"
		tell "$at/log"
		return
	fi
	stripped=
	symbols=$at/symbols
	case $2 in *stripped*)
		stripped=--stripped
		symbols=$build/$release/$1/plain/symbols
		;;
	esac
	mkfifo "$at/fifo"
	# shellcheck disable=SC3045  # dash has it
	(cd "$at" && ulimit -c unlimited && exec "$emulator" ./app -mortal fifo fifo) >"$at/app.log" 2>&1 &
	pid=$!
	"$build/pause" --last "$at/fifo" "$pid" "$at/reference.dump" sh -c "$ends" sh "$pid" >"$at/log" 2>&1
	wait "$pid"
	pid=
	for core in "$at"/qemu_*.core; do
		[ -e "$core" ]
		result $? "$name: there is a core" "$at/log"
		[ -e "$core" ] || return
	done
	"$g2h" --exe "$at/app" --format dump -o "$at/ours.dump" "$core" >"$at/log" 2>&1
	result $? "$name: is read" "$at/log" || return
	# shellcheck disable=SC2086  # lists of options
	"$build/compare" --cut --threads-move --may-change runtime.sched --may-change runtime.m0 $stripped --symbols "$symbols" \
		"$at/ours.dump" "$at/reference.dump" >"$at/compared" 2>&1
	result $? "$name: what was read is what it writes" "$at/compared" 200
	rm -f "$core" "$at"/core* "$at/ours.dump" "$at/reference.dump"
}

for goroot in $goroots; do
	release=$(go_release "$goroot")
	for processor in ${PROCESSORS:-arm64 ppc64le loong64}; do
		for way in $ways; do
			emulated "$processor" "$way"
		done
	done
done
