#!/bin/bash
# What the program does for an input, and for one with twice as many records of one kind: the instructions that it
# executes must not grow by more than 2.6 times, whatever the records are like. They are counted by valgrind, so the
# machine's load is no matter. TAP on standard output.
#
#   run.sh [records | folded | strings | executables]...      (default: all)
#
#   GO2HEAPSNAPSHOT   the program (default: build/go2heapsnapshot)
#   ROWS              a pattern: only what is named so
#
# Records of dumps come from grow.c; strings from words/, a Go program; executables from exe.sh.

set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
cd "$top" || exit 1
program=$(realpath "${GO2HEAPSNAPSHOT:-build/go2heapsnapshot}") || exit 1
rows=${ROWS:-.}
build=${BUILD:-$top/build/growth}
parts=" ${*:-records folded strings executables} "
. "$top/tests/sanitize.sh"
mkdir -p "$build"

if ! command -v valgrind >/dev/null; then
	echo 'ok - growth # SKIP no valgrind'
	exit 0
fi

# instructions ARGUMENT...: of a conversion that reads its input, if it has only a part of it.
instructions() {
	(ulimit -t 1800 && valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$program" -j 1 -o /dev/null "$@") \
		2>"$build/log" || [ $? -eq 3 ] || return 1
	sed -n 's/.* I *refs: *//p' "$build/log" | tr -d ,
}

# grows NAME COUNT MAKE...: MAKE N writes build/growth/dump of N records; further arguments are in $options.
options=()
grows() {
	local name=$1 count=$2 one two
	shift 2
	[[ $name =~ $rows ]] || return
	if "$@" "$count" && one=$(instructions "${options[@]}" "$build/dump") &&
		"$@" $((2 * count)) && two=$(instructions "${options[@]}" "$build/dump"); then
		local factor=$((two * 100 / one))
		[ $factor -le 260 ] && echo -n 'ok' || echo -n 'not ok'
		echo " - $name: $((one / 1000000)) M instructions, $((factor / 100)).$(printf %02d $((factor % 100))) times with twice as many"
	else
		echo "not ok - $name: converts"
		tail -n 5 "$build/log" | sed 's/^/# /'
	fi
}

# ---- records ----

if ! make_plain internal.a ||
	! ${CC:-cc} -std=c17 -D_GNU_SOURCE -Wall -Wextra -O1 -Iinclude -Isrc -Itests/unit -o "$build/grow" tests/growth/grow.c \
		tests/unit/dump_builder.c "$plain/internal.a" -lcmocka $(make -s libs) >&2; then
	echo 'not ok - grow builds'
	exit 1
fi

records() { "$build/grow" "$1" "$2" >"$build/dump"; }
if [[ $parts == *' records '* ]]; then
	while read -r name count; do
		grows "$name" "$count" records "$name"
	done < <("$build/grow" --list)
fi
if [[ $parts == *' folded '* ]]; then
	options=(--max-nodes 2000)
	for name in objects-random objects-hub objects-ladder objects-huge goroutines-equal; do
		grows "$name folded" 10000 records "${name% folded}"
	done
	options=(--reachable)
	grows 'objects-list reachable' 10000 records objects-list
fi

# ---- executables ----

if [[ $parts == *' executables '* ]]; then
	BUILD=$build/exe GO2HEAPSNAPSHOT=$program "$here/exe.sh"
fi

# ---- strings ----

[[ $parts == *' strings '* ]] || exit 0
. "$top/tests/go.sh"
GOROOT=$(tools/setup go-current)
export GOROOT
if (cd "$here/words" && "$GOROOT/bin/go" build -ldflags='-s -w' -o "$build/words" .) >"$build/log" 2>&1; then
	options=(--exe "$build/words")
	words() { "$build/words" "$1" "$2" "$build/dump" 2>"$build/log"; }
	for kind in random chosen; do
		grows "strings-$kind" 20000 words "$kind"
	done
else
	echo 'not ok - words builds'
	sed 's/^/# /' "$build/log"
fi
