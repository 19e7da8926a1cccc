#!/bin/sh
# Damages dumps in thousands of ways and converts each under AddressSanitizer and
# UndefinedBehaviorSanitizer; then DevTools' own loader reads the snapshots. And
# gives libFuzzer's targets (target_*.c) their corpus and all that was ever found,
# built by clang with the same sanitizers. TAP goes to stdout, compilers' messages
# to stderr. The exit code is 1 if a test failed.
#
#   run.sh BUILD_DIR DUMP_DIR                  200 cuts, 2000 flips and more over five dumps, and all inputs of the
#                                              targets once: about a minute
#   run.sh BUILD_DIR DUMP_DIR --long MINUTES   the inputs of the targets, and then other choices each time: libFuzzer
#                                              (if there is clang with it) and mutate with all dumps share the minutes
#
#   TARGETS  what shares them (default: dump exe gzip options mutate)
#   NODE     Node.js 18 or newer (default: node)
#   JOBS     conversions at a time (default: one per processor)
#
# What fails is kept: dumps in BUILD_DIR/kept/failed, snapshots in BUILD_DIR/kept, libFuzzer's finds in
# BUILD_DIR/libfuzzer/TARGET/found. What libFuzzer learns is kept too, in BUILD_DIR/libfuzzer/TARGET/corpus: the next
# long run goes on from there. corpus/README.md says what to do with a find.

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
targets='dump exe gzip options'
chosen_targets=${TARGETS:-$targets mutate}
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
program=$(cd "$top" && echo src/cli/*.c | sed 's/\.c/.o/g')

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
	list=
	for object in $own $program $library; do
		list="$list $build/$object"
	done
	# shellcheck disable=SC2086
	objects "$build" "$sanitize" $list && link "${CC:-cc}" "$build" "$sanitize" mutate $own
}

# build_targets: BUILD_DIR/clang/fuzz_TARGET of each. Fails where there is no clang that has libFuzzer.
build_targets() {
	directory=$build/clang
	list=
	mkdir -p "$directory"
	echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' >"$directory/probe.c"
	clang -fsanitize=fuzzer "$directory/probe.c" -o "$directory/probe" 2>/dev/null || return
	for object in tests/fuzz/fuzz_target.o $program $library; do
		list="$list $directory/$object"
	done
	for target in $targets; do
		list="$list $directory/tests/fuzz/target_$target.o"
	done
	# shellcheck disable=SC2086
	objects "$directory" "$sanitize -fsanitize=fuzzer-no-link -DFUZZ_CORPUS='\"$here/corpus\"'" CC=clang $list || return
	for target in $targets; do
		link clang "$directory" "$sanitize -fsanitize=fuzzer" "fuzz_$target" tests/fuzz/fuzz_target.o "tests/fuzz/target_$target.o" || return
	done
}

# An allocation that is too large fails, as it does for the program, and is not a find; so much memory as rss_limit_mb is.
run_target() {
	target=$1
	shift
	ASAN_OPTIONS=allocator_may_return_null=1:quarantine_size_mb=8:detect_stack_use_after_return=0 \
		"$build/clang/fuzz_$target" -timeout=20 -rss_limit_mb=1024 "$@"
}

# replay: each input of the corpora, and all former finds, once.
replay() {
	if ! build_targets; then
		for target in $targets; do
			if clang -fsanitize=fuzzer "$build/clang/probe.c" -o "$build/clang/probe" 2>/dev/null; then
				echo "not ok 0 - fuzz: $target: the targets build"
			else
				echo "ok 0 - fuzz: $target: the corpus and former finds # SKIP no clang that has libFuzzer"
			fi
		done
		return 1
	fi
	for target in $targets; do
		set --
		for file in "$here/corpus/$target"/* "$here/findings/$target"/*; do
			[ ! -f "$file" ] || set -- "$@" "$file"
		done
		if [ $# -gt 0 ] && run_target "$target" -close_fd_mask=3 "$@" >"$build/replay.log" 2>&1; then
			echo "ok 0 - fuzz: $target: the corpus and former finds, $# inputs"
		else
			echo "not ok 0 - fuzz: $target: the corpus and former finds"
			grep -a '^Running: ' "$build/replay.log" | tail -n 1 | sed 's/^/# /'
			show_find "$build/replay.log"
		fi
	done
	# Else nothing behind the match would ever be tried.
	set -- "$here/corpus/exe"/*
	run_target exe "$@" >"$build/replay.log" 2>&1
	if [ "$(LC_ALL=C awk '/^Running: / { typed = 0 } /% of living bytes typed/ && !typed++ { n++ } END { print n + 0 }' "$build/replay.log")" -eq $# ]; then
		echo "ok 0 - fuzz: exe: all $# executables of the corpus have written their dumps"
	else
		echo "not ok 0 - fuzz: exe: all $# executables of the corpus have written their dumps"
		grep -a -e '^Running: ' -e '^go2heapsnapshot: ' "$build/replay.log" | head -n 40 | sed 's/^/# /'
	fi
}

show_find() {
	grep -a -e 'runtime error' -e 'is not so' -e 'ERROR: ' -e 'Test unit' -e '^ *#[0-9]* .* in ' "$1" | head -n 20 | sed 's/^/# /'
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

# fuzz TARGET SECONDS
fuzz() {
	work=$build/libfuzzer/$1
	mkdir -p "$work/corpus" "$work/seeds" "$work/found"
	longest=65536
	case $1 in
	dump)
		longest=400000
		"$build/mutate" --small "$work/seeds" "$dumps"/*.1.dump.gz
		;;
	options) longest=2048 ;;
	esac
	set -- "$1" "$2" corpus seeds
	for directory in corpus findings; do
		[ ! -d "$here/$directory/$1" ] || set -- "$@" "$here/$directory/$1"
	done
	[ ! -f "$here/$1.dict" ] || set -- "$@" "-dict=$here/$1.dict"
	target=$1
	seconds=$2
	shift 2
	if (cd "$work" && run_target "$target" -fork="$jobs" -max_total_time="$seconds" -max_len=$longest -entropic=0 -close_fd_mask=3 \
		-artifact_prefix=found/ "$@") >"$work/log" 2>&1; then
		echo "ok 0 - fuzz: $target: libFuzzer: $seconds s, no crash, no hang"
	else
		echo "not ok 0 - fuzz: $target: libFuzzer: its finds are in $work/found"
		show_find "$work/log"
	fi
	grep -a '^#[0-9]*: cov: ' "$work/log" | tail -n 1 | sed 's/^/# /'
}

# mutate_all SECONDS: with all dumps, one after the other, until the time is over.
mutate_all() {
	end=$(($(date +%s) + $1))
	set -- "$dumps"/*.1.dump.gz
	while [ "$(date +%s)" -lt "$end" ]; do
		seed=$(date +%s)
		echo "# seed $seed"
		mutate --seed "$seed" --cuts 40 --flips 400 --records 2000 --gzips 100 "$1"
		set -- "$@" "$1"
		shift
	done
}

long() {
	replay && has_clang=yes || has_clang=
	count=0
	for target in $chosen_targets; do
		[ "$target" != mutate ] && [ -z "$has_clang" ] || count=$((count + 1))
	done
	for target in $chosen_targets; do
		if [ "$target" = mutate ]; then
			mutate_all $((minutes * 60 / count))
		elif [ -n "$has_clang" ]; then
			fuzz "$target" $((minutes * 60 / count))
		fi
	done
}

all() {
	if ! build_mutate; then
		echo "not ok 0 - fuzz: builds"
	elif [ "$minutes" -gt 0 ]; then
		long
	else
		replay
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
