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
			$(printf "$plain/%s " ${sources//.c/.o}) "$plain/internal.a" $(make -s libs)) >&2
}

# to_count NAME ARGUMENT...: adds a conversion to those that count_all counts.
commands=
to_count() {
	local IFS=$'\t'
	commands+="$*"$'\n'
}

# count_all: counts, and sets ${instructions[NAME]} and ${status[NAME]} of all conversions; sets nothing for those that did not
# run.
declare -A instructions status
count_all() {
	local pid code name number nothing=0
	local -A counts
	printf %s "$commands" | sed 's|$|\t-j\t1\t-o\t/dev/null|' >"$build/commands"
	(ulimit -t 1800 && exec valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --log-file="$build/counts" \
		"$build/counted" <"$build/commands" >"$build/runs" 2>"$build/said")
	while read -r pid number; do counts[$pid]=$number; done < <(sed -n 's/^==\([0-9]*\)== I *refs: */\1 /p' "$build/counts" | tr -d ,)
	while read -r pid code name; do
		[ "$name" != nothing ] || nothing=${counts[$pid]:-0}
		status[$name]=$code
		instructions[$name]=$((${counts[$pid]:-0} - nothing))
	done <"$build/runs"
}

# said NAME: prints the messages of a conversion that was counted.
said() {
	awk -v name="== $1" '/^== / { here = $0 == name; next } here' "$build/said" | tail -n 5 | sed 's/^/# /'
}
