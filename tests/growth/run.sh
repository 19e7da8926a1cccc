#!/bin/bash
# Counts the instructions that the program executes for an input, and for one with twice as many records of one kind: they must
# not grow by more than 2.6 times, whatever the records are like. Valgrind counts them, so the machine's load does not matter.
# TAP on standard output.
#
#   run.sh [records | formats | strings | executables | stack]...      (default: all)
#
#   ROWS              a pattern: only rows whose names match it
#
# grow.c makes the records of dumps, the Go program words/ the strings, and exe.sh the executables. The part formats writes the
# heaps of all records, and those of the strings, in all formats, whole and folded: formats.c says how. stack.sh counts for itself.

set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
cd "$top" || exit 1
rows=${ROWS:-.}
build=${BUILD:-$top/build/growth}
parts=" ${*:-records formats strings executables stack} "
. "$top/tests/sanitize.sh"
. "$here/count.sh"
mkdir -p "$build"

if ! command -v valgrind >/dev/null; then
	echo 'ok - growth # SKIP no valgrind'
	exit 0
fi

# prepare NAME COUNT MAKE...: prepares a row. MAKE N writes N records to standard output; the program gets the arguments of
# $options too.
options=() names=()
prepare() {
	local name=$1 count=$2 factor
	shift 2
	[[ $name =~ $rows ]] || return
	names+=("$name")
	for factor in 1 2; do
		"$@" $((factor * count)) >"$build/$name.$factor" || return
		to_count "$name.$factor" "${options[@]}" "$build/$name.$factor"
	done
}

# judge NAME [STATUSES]: reports the test of a row that was counted. STATUSES is a pattern: what is read may be refused in the end.
judge() {
	local one=${instructions[$1.1]-} two=${instructions[$1.2]-} expected=${2:-[03]} factor
	# shellcheck disable=SC2053  # a pattern
	if [[ ${status[$1.1]-} == $expected && ${status[$1.2]-} == $expected && $one -gt 0 ]]; then
		factor=$((two * 100 / one))
		[ $factor -le 260 ] && echo -n 'ok' || echo -n 'not ok'
		echo " - $1: $((one / 1000000)) M instructions, $((factor / 100)).$(printf %02d $((factor % 100))) times with twice as many"
	else
		echo "not ok - $1: converts (exit statuses ${status[$1.1]-none}, ${status[$1.2]-none})"
		said "$1.1"
		said "$1.2"
	fi
}

# ---- records ----

if ! build_counted ||
	! ${CC:-cc} -std=c17 -D_GNU_SOURCE -Wall -Wextra -O1 -Iinclude -Isrc -Itests/unit -o "$build/grow" tests/growth/grow.c \
		tests/unit/dump_builder.c "$plain/internal.a" -lcmocka ${test_libs-$(make -s libs)} >&2; then
	echo 'not ok - grow builds'
	exit 1
fi

records() { "$build/grow" "$1" "$2"; }
if [[ $parts == *' records '* ]]; then
	while read -r name count; do
		prepare "$name" "$count" records "$name"
	done < <("$build/grow" --list records)
	core() { "$build/grow" core "$1"; }
	prepare core 5000 core
fi

# prepare_series NAME COUNT OPTION...: prepares a row of a series of COUNT dumps, and one of twice as many.
prepare_series() {
	local name=$1 count=$2 factor i dumps
	shift 2
	[[ $name =~ $rows ]] || return
	names+=("$name")
	mkdir -p "$build/series"
	for ((i = 0; i < 2 * count; i++)); do
		[ -s "$build/series/$i" ] || records classes-tree $((100 + i % 10)) >"$build/series/$i" || return
	done
	for factor in 1 2; do
		dumps=()
		for ((i = 0; i < factor * count; i++)); do dumps+=("${build#"$top"/}/series/$i"); done
		to_count "$name.$factor" "$@" "${dumps[@]}"
	done
}
if [[ $parts == *' records '* ]]; then
	prepare_series series 100 --format html
fi

# ---- strings ----

# build_words: builds the program that has strings.
build_words() {
	. "$top/tests/go.sh"
	GOROOT=$(tools/setup go-current)
	export GOROOT
	(cd "$here/words" && "$GOROOT/bin/go" build -ldflags='-s -w' -o "$build/words" .) >"$build/log" 2>&1 && return
	echo 'not ok - words builds'
	sed 's/^/# /' "$build/log"
	return 1
}

words() { "$build/words" "$1" "$2" /dev/stdout; }
if [[ $parts == *' strings '* ]] && build_words; then
	options=(--exe "$build/words")
	for kind in random chosen; do
		prepare "strings-$kind" 20000 words "$kind"
	done
fi

if [ ${#names[@]} -gt 0 ]; then
	count_all
	for name in "${names[@]}"; do
		# A core without a program is refused once its tables have been read.
		if [ "$name" = core ]; then judge core 1; else judge "$name"; fi
	done
fi

# ---- formats ----

# to_write NAME FACTOR EXE MAKE...: adds a heap to those that are written in all formats; with FACTOR 0 only so that valgrind has
# translated the code.
to_write() {
	local name=$1 factor=$2 exe=$3 number=$1.$2
	shift 3
	"$@" >"$build/$name.$factor" || return
	[ "$factor" != 0 ] || number=-
	printf '%s\t%s%s\n' "$number" "$build/$name.$factor" "${exe:+$'\t'$exe}" >>"$build/heaps"
}

# judge_formats: reports a test for each heap, of what to make its graph, its views and each format cost. What they cost for a heap
# of nothing does not count, so that few records tell; what costs less than 200,000 instructions besides is not judged.
judge_formats() {
	matched "$build/counts" "$build/runs" | awk '
		$3 == "parent" { cost = $1 - parent; parent = $1 }
		$3 == "child" { cost = $1 - parent }
		$6 == "-" { next }
		{
			name = substr($4, 1, length($4) - 2); factor = substr($4, length($4))
			step = $5 == "-" ? $6 : $5 " " $6
			if (name == "nothing") { nothing[step] = cost; next }
			if (!(name in steps)) order[++names] = name
			if (factor == 1) { steps[name]++; one[name, step] = cost - nothing[step] }
			if ($2 != 0) failed[name] = failed[name] "# " step ": exit status " $2 " of " $4 "\n"
			if (factor == 1) next
			two = cost - nothing[step]
			ratio = two / (one[name, step] > 1 ? one[name, step] : 1)
			if (two < 200000 || one[name, step] < 10000) next
			if (ratio > most[name]) { most[name] = ratio; at[name] = step }
			if (ratio > 2.6) failed[name] = failed[name] sprintf("# %s: %.2f M instructions, %.2f times with twice as many\n", step, one[name, step] / 1e6, ratio)
		}
		END {
			if (names == 0) print "not ok - heaps are written in all formats"
			for (i = 1; i <= names; i++) {
				name = order[i]
				printf "%s - %s in all formats: %d steps, at most %.2f times with twice as many (%s)\n%s", name in failed ? "not ok" : "ok", name, steps[name], most[name], at[name], failed[name]
			}
		}'
}

if [[ $parts == *' formats '* ]]; then
	: >"$build/heaps"
	mkdir -p "$build/outputs"
	if ! ${CC:-cc} -std=c17 -D_GNU_SOURCE -Wall -Wextra -O1 -Iinclude -Isrc -o "$build/formats" tests/growth/formats.c "$plain/internal.a" \
		${test_libs-$(make -s libs)} >&2; then
		echo 'not ok - formats builds'
		exit 1
	fi
	for name in objects-random classes-comb places-chain goroutines-random defers-linked finalizers-chain profile-sites; do
		to_write "$name" 0 '' records "$name" 200
	done
	to_write nothing 1 '' records params 1
	while read -r name count; do
		[[ $name =~ $rows ]] || continue
		for factor in 1 2; do to_write "$name" $factor '' records "$name" $((factor * count / 20)); done
	done < <("$build/grow" --list formats)
	if [[ strings =~ $rows ]] && build_words; then
		for factor in 1 2; do to_write strings $factor "$build/words" words random $((factor * 1000)); done
	fi
	(ulimit -t 1800 && exec valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --log-file="$build/counts" \
		"$build/formats" "$build/outputs" <"$build/heaps" >"$build/runs" 2>"$build/said")
	judge_formats
fi

# ---- executables ----

if [[ $parts == *' executables '* ]]; then
	BUILD=$build/exe "$here/exe.sh"
fi

# ---- a deep stack ----

if [[ $parts == *' stack '* ]]; then
	BUILD=$build/stack "$here/stack.sh"
fi
