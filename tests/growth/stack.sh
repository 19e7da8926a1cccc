#!/bin/bash
# Counts the instructions that the program executes for a goroutine with a deep stack, in a live process and in the dump that the
# process has written itself: what the stack's second half adds must not be more than 2.2 times what its second quarter adds.
# TAP on standard output.
#
#   ROWS              a pattern: only rows whose names match it
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
cd "$top" || exit 1
build=${BUILD:-$top/build/growth/stack}
calls=2000
most_per_call=100000
. "$top/tests/sanitize.sh"
. "$top/tests/go.sh"
. "$here/count.sh"
rm -rf "$build"
mkdir -p "$build"
if ! command -v valgrind >/dev/null; then
	echo 'ok - growth of a stack # SKIP no valgrind'
	exit 0
fi
GOROOT=$(tools/setup go-current)
export GOROOT
if ! (cd "$here/stack" && "$GOROOT/bin/go" build -o "$build/stack" .) >"$build/log" 2>&1; then
	echo 'not ok - stack builds'
	sed 's/^/# /' "$build/log"
	exit 1
fi
build_counted || exit 1

# The processes end with the last one that can write to their standard input.
mkfifo "$build/input" && exec 9<>"$build/input" || exit 1
pids=()
trap '[ ${#pids[@]} -eq 0 ] || kill -KILL "${pids[@]}" 2>/dev/null' EXIT
for factor in 1 2 4; do
	"$build/stack" $((factor * calls)) "$build/dump.$factor" <&9 >"$build/ready.$factor" 2>&1 &
	pids+=($!)
done
for factor in 1 2 4; do
	until grep -q '^ready' "$build/ready.$factor"; do
		if ! kill -0 "${pids[$((factor / 2))]}" 2>/dev/null; then
			echo "not ok - stack of $((factor * calls)) calls: $(tail -n 1 "$build/ready.$factor")"
			exit 1
		fi
		sleep 0.05
	done
done

rows=()
# row FORMAT process|dump: prepares a row.
row() {
	local name="stack, $1 of a $2" factor
	[[ $name =~ ${ROWS:-.} ]] || return
	rows+=("$name")
	for factor in 1 2 4; do
		if [ "$2" = process ]; then
			to_count "$name.$factor" --format "$1" --pid "${pids[$((factor / 2))]}"
		else
			to_count "$name.$factor" --format "$1" --exe "$build/stack" "$build/dump.$factor"
		fi
	done
}

# shellcheck disable=SC2046  # there are several libraries
${CC:-cc} -std=c17 -D_GNU_SOURCE -O1 -Isrc -Iinclude -o "$build/may_trace" tests/process/may_trace.c "$plain/internal.a" \
	$(make -s libs) || exit 1
if why=$("$build/may_trace" 2>&1); then
	row dump process
	row report process
	row heapsnapshot process
else
	echo "ok - growth of a live process's stack # SKIP no process may be traced here: $why"
fi
row report dump
row pprof dump
[ ${#rows[@]} -gt 0 ] || exit 0
count_all
for name in "${rows[@]}"; do
	states="${status[$name.1]-none} ${status[$name.2]-none} ${status[$name.4]-none}"
	if [ "$states" != '0 0 0' ]; then
		echo "not ok - $name: converts (exit statuses $states)"
		said "$name.4"
		continue
	fi
	awk -v name="$name" -v one="${instructions[$name.1]}" -v two="${instructions[$name.2]}" -v four="${instructions[$name.4]}" \
		-v calls="$calls" -v most="$most_per_call" 'BEGIN {
		less = two - one; more = four - two; each = more / (2 * calls)
		result = less > 0 && more <= 2.2 * less && each <= most ? "ok" : "not ok"
		printf "%s - %s: %d instructions for each call, %.2f times as many for twice as many calls\n", result, name, each, more / less }'
done
