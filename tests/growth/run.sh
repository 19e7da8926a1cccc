#!/bin/bash
# Counts the instructions that the program executes for an input, and for one with twice as many records of one kind: they must
# not grow by more than 2.6 times, whatever the records are like. Valgrind counts them, so the machine's load does not matter.
# TAP on standard output.
#
#   run.sh [records | folded | strings | executables]...      (default: all)
#
#   ROWS              a pattern: only rows whose names match it
#
# grow.c makes the records of dumps, the Go program words/ the strings, and exe.sh the executables.

set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
cd "$top" || exit 1
rows=${ROWS:-.}
build=${BUILD:-$top/build/growth}
parts=" ${*:-records folded strings executables} "
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

# judge NAME: reports the test of a row that was counted.
judge() {
	local one=${instructions[$1.1]-} two=${instructions[$1.2]-} factor
	if [[ ${status[$1.1]-} == [03] && ${status[$1.2]-} == [03] && $one -gt 0 ]]; then
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
		tests/unit/dump_builder.c "$plain/internal.a" -lcmocka $(make -s libs) >&2; then
	echo 'not ok - grow builds'
	exit 1
fi

records() { "$build/grow" "$1" "$2"; }
if [[ $parts == *' records '* ]]; then
	while read -r name count; do
		prepare "$name" "$count" records "$name"
	done < <("$build/grow" --list)
fi
if [[ $parts == *' folded '* ]]; then
	options=(--max-nodes 2000)
	for name in objects-random objects-hub objects-ladder objects-huge goroutines-equal; do
		prepare "$name folded" 10000 records "$name"
	done
	options=(--reachable)
	prepare 'objects-list reachable' 10000 records objects-list
fi

# ---- strings ----

if [[ $parts == *' strings '* ]]; then
	. "$top/tests/go.sh"
	GOROOT=$(tools/setup go-current)
	export GOROOT
	if (cd "$here/words" && "$GOROOT/bin/go" build -ldflags='-s -w' -o "$build/words" .) >"$build/log" 2>&1; then
		options=(--exe "$build/words")
		words() { "$build/words" "$1" "$2" /dev/stdout; }
		for kind in random chosen; do
			prepare "strings-$kind" 20000 words "$kind"
		done
	else
		echo 'not ok - words builds'
		sed 's/^/# /' "$build/log"
	fi
fi

if [ ${#names[@]} -gt 0 ]; then
	count_all
	for name in "${names[@]}"; do judge "$name"; done
fi

# ---- executables ----

if [[ $parts == *' executables '* ]]; then
	BUILD=$build/exe "$here/exe.sh"
fi
