# shellcheck shell=bash
# Counts the instructions that conversions execute; to be sourced after tests/sanitize.sh, with $top and $build set. All
# conversions run in one process of valgrind: counted.c says how.

# build_counted: builds $build/counted from the objects in $plain.
build_counted() {
	local sources
	sources=$(cd "$top" && echo src/cli/*.c)
	# shellcheck disable=SC2046,SC2086  # lists of words
	make_plain internal.a ${sources//.c/.o} &&
		(cd "$top" && ${CC:-cc} -std=c17 -D_GNU_SOURCE -Wall -Wextra -O1 -pthread -Iinclude -Isrc -o "$build/counted" tests/growth/counted.c \
			$(printf "$plain/%s " ${sources//.c/.o}) "$plain/internal.a" ${test_libs-$(make -s libs)}) >&2
}

# to_count NAME ARGUMENT...: adds a conversion to those that count_all counts.
commands=
to_count() {
	local IFS=$'\t'
	commands+="$*"$'\n'
}

# matched COUNTS RUNS: prints RUNS with the count of each process, from valgrind's log COUNTS, in place of its number; 0 if there is
# none. The children end one after the other. The system gives their numbers out again, so these alone do not tell them apart.
matched() {
	sed -nE 's/^==([0-9]*)== I *refs: *([0-9,]*).*/\1 \2/p' "$1" | tr -d , | awk '
		NR == FNR { pid[NR] = $1; count[NR] = $2; next }
		{
			for (at = place + 1; at in pid && pid[at] != $1; at++);
			if (at in pid) place = at
			$1 = at in pid ? count[at] : 0
			print
		}' - "$2"
}

# count_all: counts, and sets ${instructions[NAME]} and ${status[NAME]} of all conversions; sets nothing for those that did not
# run.
declare -A instructions status
count_all() {
	local code name number nothing=0
	printf %s "$commands" | sed 's|$|\t-j\t1\t-o\t/dev/null|' >"$build/commands"
	(ulimit -t 1800 && exec valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --log-file="$build/counts" \
		"$build/counted" <"$build/commands" >"$build/runs" 2>"$build/said")
	while read -r number code name; do
		[ "$name" != nothing ] || nothing=$number
		status[$name]=$code
		instructions[$name]=$((number - nothing))
	done < <(matched "$build/counts" "$build/runs")
}

# said NAME: prints the messages of a conversion that was counted.
said() {
	awk -v name="== $1" '/^== / { here = $0 == name; next } here' "$build/said" | tail -n 5 | sed 's/^/# /'
}
