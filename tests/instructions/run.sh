#!/bin/bash
# Counts the instructions that reading a heap, making its graph and views, and writing each format take, and compares them with the
# figures beside this file: a step may take 3 % more. TAP on standard output.
#
#   run.sh              tests
#   run.sh --write      writes the figures anew: for a change that is worth what it costs
#
# The heap is the sample server's, without types and with the types of its executable; tests/growth/formats.c takes the steps.
# callgrind counts the instructions of that program alone, not those of zlib, SQLite and the C library, of which each system has
# others. The library is built without optimizing: then gcc 11 and gcc 12 differ by 0.3 %, and the processor does not matter. It has
# no asserts, as releases have none.
# Two runs do not differ: formats.c fixes the seed of hash tables.

set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
cd "$top" || exit 1
build=${BUILD:-$top/build/instructions}
figures=$here/figures
least=100000 # steps that take fewer are not judged
. "$top/tests/sanitize.sh"

if ! command -v valgrind >/dev/null; then
	echo 'ok - instructions # SKIP no valgrind'
	exit 0
fi
rm -rf "$build"
mkdir -p "$build/outputs"
# shellcheck disable=SC2046  # there are several libraries
library=build/unoptimized
make_in "$library" CC="$cached ${CC:-cc}" CFLAGS='-O0 -DNDEBUG' WERROR=1 internal.a &&
	${CC:-cc} -std=c17 -D_GNU_SOURCE -Wall -Wextra -O1 -Iinclude -Isrc -o "$build/formats" tests/growth/formats.c "$library/internal.a" \
	${test_libs-$(make -s libs)} || exit 1

gzip -dc samples/leakserver.1.dump.gz >"$build/dump" && gzip -dc samples/leakserver.exe.gz >"$build/exe" || exit 1
printf '%s\t%s\n%s\t%s\t%s\n' untyped "$build/dump" typed "$build/dump" "$build/exe" |
	valgrind --tool=callgrind --callgrind-out-file="$build/callgrind.%p" --dump-line=no --compress-pos=no --compress-strings=no \
		--log-file="$build/log" "$build/formats" "$build/outputs" >"$build/runs" 2>"$build/said"

# Prints the count of each process: the costs that are its functions' own, not those of their calls, which follow "calls=".
for file in "$build"/callgrind.*; do
	awk -v program="ob=$build/formats" -v process="${file##*.}" '
		/^ob=/ { is_own = $0 == program }
		/^calls=/ { getline; next }
		/^[0-9]/ && is_own { sum += $2 }
		END { print process, sum + 0 }' "$file"
done >"$build/counts"

# The count of a child continues that of its parent: formats.c.
awk -v least="$least" '
	NR == FNR { count[$1] = $2; next }
	{ cost = count[$1] - parent }
	$3 == "parent" { parent = count[$1] }
	$2 != 0 { print $4, $5, $6, "failed"; next }
	cost >= least { print $4, $5, $6, cost }' "$build/counts" "$build/runs" >"$build/steps"

if [ "${1-}" = --write ]; then
	! grep failed "$build/steps" && [ -s "$build/steps" ] && cp "$build/steps" "$figures"
	exit
fi
awk -v with="$(echo ${test_libs-$(make -s libs)} | grep -o sqlite3)" '
	NR == FNR { figure[$1 ", " $2 ", " $3] = $4; next }
	{
		step = $1 ", " $2 ", " $3
		if (!(step in figure)) print "not ok - instructions: " step ": has no figure"
		else if ($4 == "failed") print "not ok - instructions: " step ": fails"
		else {
			more = $4 / figure[step] - 1
			printf "%s - instructions: %s: %.2f M, %+.1f %%\n", more <= 0.03 ? "ok" : "not ok", step, $4 / 1e6, 100 * more
			if (more < -0.03) print "# fewer than the figure: run.sh --write"
		}
		delete figure[step]
	}
	END { for (step in figure) if (step !~ /sqlite|summary/ || with) print "not ok - instructions: " step ": is not counted" }' \
	"$figures" "$build/steps"
