# shellcheck shell=bash
# Tests that a report with --base does not deny growth: of all pairs of dumps in the tree, WHAT GREW names at least half of what
# the line "since" says, or how much of it has no single place.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

for first in "$top"/samples/*.1.dump.gz "$top"/samples/dumps/*.1.dump.gz "$top"/tests/golden/inputs/*.1.dump.gz; do
	pair=${first%.1.dump.gz}
	exe=()
	if [ -e "$pair.exe.gz" ]; then exe=(--exe "$pair.exe.gz"); fi
	check "${pair##*/}: what grew is named" eval \
		'node "$top/tests/answers/growth.mjs" go2heapsnapshot "$first" "$pair.2.dump.gz" "${exe[@]}" >said && [ ! -s said ] || ! cat said'
done
check "what has become less is not named" eval \
	'node "$top/tests/answers/growth.mjs" go2heapsnapshot "$pair.2.dump.gz" "$first" "${exe[@]}" >said && [ ! -s said ] || ! cat said'
finish
