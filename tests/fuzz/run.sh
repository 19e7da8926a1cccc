#!/bin/sh
# Damages dumps in thousands of ways and converts each under AddressSanitizer and
# UndefinedBehaviorSanitizer; then DevTools' own loader reads the snapshots. Also
# runs libFuzzer's targets (target_*.c), built by clang with the same sanitizers,
# on their corpora and on all former finds. TAP goes to stdout, compilers' messages
# to stderr. The exit code is 1 if a test failed.
#
#   run.sh BUILD_DIR DUMP_DIR                  10 cuts, 35 flips and more over five dumps (with CHECK_ALL 200, 2000 and
#                                              more), and all inputs of the targets once: about a minute
#   run.sh BUILD_DIR DUMP_DIR --long MINUTES   first the inputs of the targets; then libFuzzer (if clang has it) and mutate with all
#                                              dumps share the minutes, with other random choices each time
#
#   TARGETS  which of them share the minutes (default: all targets, see below, and mutate); without --long: targets, mutate
#            or both
#   NODE     Node.js 18 or newer (default: node)
#   JOBS     conversions at a time (default: one per processor)
#
# Inputs that fail are kept: dumps in BUILD_DIR/kept/failed, snapshots in BUILD_DIR/kept, libFuzzer's finds in
# BUILD_DIR/libfuzzer/TARGET/found. The inputs that libFuzzer adds to its corpus are kept too, in
# BUILD_DIR/libfuzzer/TARGET/corpus: the next long run goes on from there. corpus/README.md says what to do with a find.

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
outputs='heapsnapshot numbers report json path path-json show show-json html retained alloc hprof sqlite summary csv dump'
targets="dump exe core gzip options expression heapquery inspect mcp $(for output in $outputs; do echo "output-$output"; done)"
chosen_targets=${TARGETS:-$targets mutate}
# The seconds of wall-clock time that an input may take; libFuzzer measures no other time. There are many of them, as a
# busy machine is no hang.
slowest=$([ "$minutes" -gt 0 ] && echo 120 || echo 1200)
# The seconds of a processor that all inputs of a target may take in a short run, which need about 3.
slowest_replay=200
. "$top/tests/sanitize.sh"

# One dump of each family: types and fields in the file; 32-bit words; big endian; field lists of Go 1.5, whose type records
# may be corrupt; before and after Go 1.22's phantom objects and malloc headers.
chosen='go1.3.3-386.1 go1.5.4-amd64-clean.1 go1.15-amd64.1 go1.26-386.1 go1.26-s390x.1'

library=internal.a
# The objects that the program is made of, beside the library; and those of heapquery, without the file that has main().
program=$(cd "$top" && echo src/cli/*.c | sed 's/\.c/.o/g')
heapquery=$(cd "$top" && echo tools/heapquery/*.c src/cli/target.c |
	sed -e 's/[^ ]*heapquery\.c //' -e 's/\.c/.o/g')

# link COMPILER BUILD FLAGS OUTPUT OBJECTS SOURCE...: links sources of this directory with objects of a build, and with its
# library. FUZZ_CORPUS tells the sources where the corpus is.
link() {
	compiler=$1 from=$2 flags=$3 output=$4 objects=$5
	shift 5
	(
		cd "$top" || exit 1
		for object in $objects $library; do set -- "$@" "$from/$object"; done
		# shellcheck disable=SC2046,SC2086 # flags and libraries are lists
		$compiler -std=c17 -D_GNU_SOURCE -Wall -Wextra -pthread $flags -DFUZZ_CORPUS="\"$here/corpus\"" -Iinclude -Isrc -Itools/heapquery -o "$output" "$@" \
			${test_libs-$(make -s libs)}
	) >&2
}

build_mutate() {
	# shellcheck disable=SC2086
	make_sanitized $program $library &&
		link "$sanitizing_cc" "$sanitized" "$sanitize" "$build/mutate" "$program" "$here/mutate.c" "$here/fuzz_target.c"
}

has_libfuzzer() {
	echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' >"$build/probe.c"
	clang -fsanitize=fuzzer "$build/probe.c" -o "$build/probe" 2>/dev/null
}

# build_targets: builds BUILD_DIR/fuzz_TARGET for each target. The build that all suites share is enough to run given
# inputs; to find new ones, libFuzzer needs a build that counts which code has run.
build_targets() {
	from=$sanitized flags=$sanitize
	if [ "$minutes" -gt 0 ]; then
		from=build/fuzz/counted flags="$sanitize -fsanitize=fuzzer-no-link"
		# shellcheck disable=SC2086
		make_in "$from" CC=clang CFLAGS="$flags" $program $heapquery $library || return
	else
		# shellcheck disable=SC2086
		make_sanitized $program $heapquery $library || return
	fi
	flags="$flags -fsanitize=fuzzer"
	link clang "$from" "$flags" "$build/fuzz_heapquery" "$heapquery" "$here/target_heapquery.c" || return
	for target in dump exe core gzip options expression inspect mcp output; do
		link clang "$from" "$flags" "$build/fuzz_$target" "$program" "$here/fuzz_target.c" "$here/target_$target.c" || return
	done
}

# An allocation that is too large fails, as it does in the program, and is no find. A process that takes more memory than
# rss_limit_mb is one.
run_target() {
	target=$1
	shift
	ASAN_OPTIONS=allocator_may_return_null=1:quarantine_size_mb=8:detect_stack_use_after_return=0 FUZZ_OUTPUT=${target#*-} \
		"$build/fuzz_${target%%-*}" -timeout="$slowest" -rss_limit_mb=1024 "$@"
}

# directories_of TARGET: prints the directories that have inputs of a target. All outputs share theirs, which are dumps, and
# executables with dumps.
directories_of() {
	case $1 in
	output-*) set -- dump exe output ;;
	esac
	for name; do
		for directory in "$here/corpus/$name" "$here/findings/$name"; do
			[ ! -d "$directory" ] || echo "$directory"
		done
	done
}

# replay: runs each input of the corpora and all former finds once.
replay() {
	if ! has_libfuzzer; then
		for target in $targets; do
			echo "ok 0 - fuzz: $target: the corpus and former finds # SKIP no clang that has libFuzzer"
		done
		return 1
	elif ! build_targets; then
		echo "not ok 0 - fuzz: the targets build"
		return 1
	fi
	for target in $targets; do
		set --
		for directory in $(directories_of "$target"); do set -- "$@" "$directory"/*; done
		if [ $# -gt 0 ] && (ulimit -t $slowest_replay && run_target "$target" -close_fd_mask=3 "$@") >"$build/replay.log" 2>&1; then
			echo "ok 0 - fuzz: $target: the corpus and former finds, $# inputs"
		else
			echo "not ok 0 - fuzz: $target: the corpus and former finds"
			grep -a '^Running: ' "$build/replay.log" | tail -n 1 | sed 's/^/# /'
			show_find "$build/replay.log"
		fi
	done
	# If an executable did not match its dump, the code behind the match would not be tested.
	set -- "$here/corpus/exe"/*
	run_target exe "$@" >"$build/replay.log" 2>&1
	if [ "$(LC_ALL=C awk '/^Running: / { typed = 0 } /% of live bytes typed/ && !typed++ { n++ } END { print n + 0 }' "$build/replay.log")" -eq $# ]; then
		echo "ok 0 - fuzz: exe: all $# executables of the corpus have written their dumps"
	else
		echo "not ok 0 - fuzz: exe: all $# executables of the corpus have written their dumps"
		grep -a -e '^Running: ' -e '^go2heapsnapshot: ' "$build/replay.log" | head -n 40 | sed 's/^/# /'
	fi
}

show_find() {
	grep -a -e 'runtime error' -e 'is not so' -e 'ERROR: ' -e 'Test unit' -e '^ *#[0-9]* .* in ' "$1" | head -n 20 | sed 's/^/# /'
}

# check_snapshots: reads the snapshots with DevTools' loader, in one process of Node per directory that mutate made.
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

# mutate OPTION... DUMP...: runs mutate, and then check_snapshots.
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
	if [ -n "${CHECK_ALL-}" ]; then
		mutate --cuts 40 --flips 400 --records 200 --gzips 40 "$@"
	else
		mutate --cuts 2 --flips 7 --records 4 --gzips 1 "$@"
	fi
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
	core) longest=1000000 ;;
	options) longest=2048 ;;
	esac
	set -- "$1" "$2" corpus seeds
	for directory in $(directories_of "$1"); do set -- "$@" "$directory"; done
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

# mutate_all SECONDS: runs mutate with all dumps, one after the other, until the time is over.
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
	parts=" ${TARGETS:-targets mutate} "
	case $parts in
	' targets ') ;;
	*) build_mutate || { echo "not ok 0 - fuzz: builds" && return; } ;;
	esac
	if [ "$minutes" -gt 0 ]; then
		long
	else
		case $parts in *' targets '*) replay ;; esac
		case $parts in *' mutate '*) short ;; esac
	fi
}

# Each part of the output has its own numbers: number all tests consecutively.
all | awk '
	/^1\.\./            { next }
	/^(not )?ok [0-9]+/ { sub(/ok [0-9]+/, "ok " ++n) }
	/^not ok/           { failed = 1 }
	                    { print; fflush() }
	END                 { print "1.." n + 0; exit failed || !n }'
