#!/bin/bash
# Counts the instructions that the program executes for an executable, and for one with a table twice as long: they must not
# grow by more than 2.6 times, whatever the entries are like, nor be out of proportion to the size of the input. What the
# program does for the smallest executable is subtracted. TAP on standard output.
#
#   ROWS              a pattern: only rows whose names match it
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
build=${BUILD:-$top/build/growth/exe}
most_per_byte=2000
. "$top/tests/sanitize.sh"
. "$here/count.sh"
rm -rf "$build"
mkdir -p "$build"
if ! command -v valgrind >/dev/null; then
	echo 'ok - growth of executables # SKIP no valgrind'
	exit 0
fi

# count DIRECTORY: prints the instructions of a conversion, also of one that is refused. Prints nothing if it crashed or did not
# end.
count() {
	case ${status[$1]-} in
	0 | 1 | 3) echo "${instructions[$1]}" ;;
	esac
}

failed=0
build_counted && node "$here/exe.mjs" --all "$build" >"$build/list" || exit 1
prepare() { to_count "$1" --exe "$build/$1/exe" "$build/$1/dump"; }
prepare none
while read -r table kind count about; do
	[[ "$table, $kind: $about" =~ ${ROWS:-.} ]] || continue
	echo "$table $kind $count $about" >>"$build/rows"
	prepare "$table-$kind-1" && prepare "$table-$kind-2"
done <"$build/list"
count_all
none=$(count none)
# If the types of the smallest executable were not found, the rows would cost nothing.
case $(said none) in
*'live bytes typed'*) echo 'ok - executable: the smallest one has types' ;;
*)
	failed=1
	echo 'not ok - executable: the smallest one has types'
	said none
	;;
esac
while read -r table kind count about; do
	name="$table, $kind: $about"
	one=$(count "$table-$kind-1") two=$(count "$table-$kind-2")
	bytes=$(cat "$build/$table-$kind-2/exe" "$build/$table-$kind-2/dump" | wc -c)
	# Rows that take next to nothing may grow: some executables need less than the smallest one.
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
		said "$table-$kind-2"
		;;
	*) echo "ok - executable: $name: ${said#ok }" ;;
	esac
done <"$build/rows"
exit $failed
