#!/bin/bash
# What the program does for an executable, and for one with a table twice as long: the instructions that it executes must
# not grow by more than 2.6 times, whatever the entries are like, nor be out of proportion to what was given. What it
# does for the least executable is not counted. TAP on standard output.
#
#   GO2HEAPSNAPSHOT   the program (default: build/go2heapsnapshot)
#   ROWS              a pattern: only what is named so
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
program=$(realpath "${GO2HEAPSNAPSHOT:-$top/build/go2heapsnapshot}") || exit 1
build=${BUILD:-$top/build/growth/exe}
most_per_byte=2000
rm -rf "$build"
mkdir -p "$build"
if ! command -v valgrind >/dev/null; then
	echo 'ok - growth of executables # SKIP no valgrind'
	exit 0
fi

# instructions DIRECTORY: of a conversion; one that is refused is one too. Nothing where it crashes, or does not end.
instructions() {
	(ulimit -t 1800 && exec valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$program" -j 1 --exe "$1/exe" \
		-o /dev/null "$1/dump") >"$build/log" 2>&1
	case $? in
	0 | 1 | 3) sed -n 's/.* I *refs: *//p' "$build/log" | tr -d , ;;
	esac
}

failed=0
node "$here/exe.mjs" --all "$build" >"$build/list" || exit 1
none=$(instructions "$build/none")
while read -r table kind count about; do
	name="$table, $kind: $about"
	[[ $name =~ ${ROWS:-.} ]] || continue
	one=$(instructions "$build/$table-$kind-1") two=$(instructions "$build/$table-$kind-2")
	bytes=$(cat "$build/$table-$kind-2/exe" "$build/$table-$kind-2/dump" | wc -c)
	# What takes next to nothing is let grow: some executables need less than the least one.
	said=$(awk -v none="$none" -v one="$one" -v two="$two" -v bytes="$bytes" -v most="$most_per_byte" -v count="$count" 'BEGIN {
		if (one == "" || two == "") { print "not ok it ends"; exit }
		less = one - none; more = two - none
		if (less < 2e6) less = 2e6
		good = more <= 2.6 * less && more <= most * bytes
		printf "%s %d to %d entries: %.1f to %.1f M instructions, %d for each byte", good ? "ok" : "not ok", count, 2 * count, (one - none) / 1e6, more / 1e6, more / bytes }')
	case $said in
	'not ok'*)
		failed=1
		echo "not ok - executable: $name: ${said#not ok }"
		grep -v '^==\|^--' "$build/log" | head -n 3 | sed 's/^/# /'
		;;
	*) echo "ok - executable: $name: ${said#ok }" ;;
	esac
done <"$build/list"
exit $failed
