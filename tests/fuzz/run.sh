#!/bin/sh
# Damages dumps in thousands of ways and converts each under AddressSanitizer and
# UndefinedBehaviorSanitizer; then DevTools' own loader reads the snapshots. TAP
# goes to stdout, compilers' messages to stderr. The exit code is 1 if a test
# failed.
#
#   run.sh BUILD_DIR DUMP_DIR                  200 cuts, 2000 flips and more over five dumps: about a minute
#   run.sh BUILD_DIR DUMP_DIR --long MINUTES   other choices each time: half the time libFuzzer (if there is
#                                              clang with it), half the time mutate with all dumps
#
#   NODE   Node.js 18 or newer (default: node)
#   JOBS   conversions at a time (default: one per processor)
#
# What fails is kept: dumps in BUILD_DIR/kept/failed and BUILD_DIR/libfuzzer, snapshots in BUILD_DIR/kept.

set -u
if [ $# -ne 2 ] && { [ $# -ne 4 ] || [ "$3" != --long ]; }; then
	echo "usage: run.sh BUILD_DIR DUMP_DIR [--long MINUTES]" >&2
	exit 2
fi
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
mkdir -p "$1" || exit 1
build=$(cd "$1" && pwd) || exit 1
dumps=$(cd "$2" && pwd) || exit 1
minutes=${4:-0}
node=${NODE:-node}
jobs=${JOBS:-$(nproc)}
kept=$build/kept
sanitize='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer'

# One of each family: types and fields in the file; 32-bit words; big endian; field lists of Go 1.5, whose type records
# may be corrupt; before and after Go 1.22's phantom objects and malloc headers.
chosen='go1.3.3-386.1 go1.5.4-amd64-clean.1 go1.15-amd64.1 go1.26-386.1 go1.26-s390x.1'

# objects DIR FLAGS TARGET...: makes objects of the tree below DIR.
objects() {
	directory=$1
	flags=$2
	shift 2
	make -C "$top" -j"$jobs" BUILD="$directory" CFLAGS="-O1 -g $flags" "$@" >&2
}

library=libgo2heapsnapshot.a
libraries=$(make -s -C "$top" libs)
program='src/cli/messages.o src/cli/progress.o'

# link COMPILER DIR FLAGS OUTPUT OBJECT...
link() {
	compiler=$1
	directory=$2
	flags=$3
	output=$4
	shift 4
	# shellcheck disable=SC2086 # flags and objects are lists
	(cd "$directory" && "$compiler" $flags -o "$output" "$@" $program $library $libraries) >&2
}

build_mutate() {
	own='tests/fuzz/mutate.o tests/fuzz/fuzz_target.o'
	targets=
	for object in $own $program $library; do
		targets="$targets $build/$object"
	done
	# shellcheck disable=SC2086
	objects "$build" "$sanitize" $targets && link "${CC:-cc}" "$build" "$sanitize" mutate $own
}

build_libfuzzer() {
	directory=$build/clang
	targets=
	mkdir -p "$directory"
	echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' >"$directory/probe.c"
	clang -fsanitize=fuzzer "$directory/probe.c" -o "$directory/probe" 2>/dev/null || return
	for object in tests/fuzz/fuzz_target.o $program $library; do
		targets="$targets $directory/$object"
	done
	# shellcheck disable=SC2086
	objects "$directory" "$sanitize -fsanitize=fuzzer-no-link" CC=clang $targets &&
		link clang "$directory" "$sanitize -fsanitize=fuzzer" libfuzzer tests/fuzz/fuzz_target.o
}

# check_snapshots: one process of Node per directory that mutate made.
check_snapshots() {
	for directory in "$kept"/[0-9]*; do
		(
			"$node" "$top/tests/devtools/check-snapshot.mjs" --quiet --dir "$directory" >"$directory.tap" 2>&1
			grep -q '^ok' "$directory.tap" || grep -q '^not ok' "$directory.tap" ||
				echo "not ok 0 - check-snapshot.mjs runs" >>"$directory.tap"
		) &
	done
	wait
	sed -e 's/^\(not \)*ok \([0-9]*\) - /&fuzz: /' -e '/^\(ok\|not ok\|1\.\.\|#\)/!s/^/# /' "$kept"/*.tap
}

# mutate OPTION... DUMP..., and then DevTools.
mutate() {
	rm -rf "$kept"/[0-9]*
	mkdir -p "$kept"
	"$build/mutate" --jobs "$jobs" --keep "$kept" "$@" 2>&1 | sed -e 's/^\(not \)*ok \([0-9]*\) - /&fuzz: /'
	check_snapshots
}

short() {
	set --
	for name in $chosen; do
		set -- "$@" "$dumps/$name.dump.gz"
	done
	mutate --cuts 40 --flips 400 --records 200 --gzips 40 "$@"
}

long() {
	seconds=$((minutes * 60))
	set -- "$dumps"/*.1.dump.gz
	if build_libfuzzer; then
		seconds=$((seconds / 2))
		work=$build/libfuzzer
		mkdir -p "$work/corpus"
		"$build/mutate" --small "$work/seeds" "$@"
		if (cd "$work" && "$build/clang/libfuzzer" -fork="$jobs" -max_total_time="$seconds" -max_len=400000 \
			-timeout=20 -rss_limit_mb=1024 -close_fd_mask=3 corpus seeds) >"$work/log" 2>&1; then
			echo "ok 0 - fuzz: libFuzzer: $seconds s, no crash, no hang"
		else
			echo "not ok 0 - fuzz: libFuzzer: its finds are in $work"
			grep -a -e 'runtime error' -e 'ERROR: ' -e 'Test unit' -e '^ *#[0-9]* ' "$work/log" | head -20 | sed 's/^/# /'
		fi
	else
		echo "ok 0 - fuzz: libFuzzer # SKIP no clang that has it"
	fi
	end=$(($(date +%s) + seconds))
	while [ "$(date +%s)" -lt "$end" ]; do
		seed=$(date +%s)
		echo "# seed $seed"
		mutate --seed "$seed" --cuts 40 --flips 400 --records 2000 --gzips 100 "$1"
		set -- "$@" "$1"
		shift
	done
}

all() {
	if ! build_mutate; then
		echo "not ok 0 - fuzz: builds"
	elif [ "$minutes" -gt 0 ]; then
		long
	else
		short
	fi
}

# Each test numbers from its own start: number them through.
all | awk '
	/^1\.\./            { next }
	/^(not )?ok [0-9]+/ { sub(/ok [0-9]+/, "ok " ++n) }
	/^not ok/           { failed = 1 }
	                    { print; fflush() }
	END                 { print "1.." n + 0; exit failed || !n }'
