# shellcheck shell=bash
# The scheduler of tests/run, to be sourced by it: runs parts of suites, several at the same time and the longest ones first, each
# in a process of its own that is timed, and reports a suite when all its parts have ended. What a part leaves is in $logs/parts:
# PART.tap, PART.err, PART.cost, and PART.done once it has ended.

# run_command SUITE[:PART | :FILE]: runs the suite's command of the table, in this process.
run_command() {
	local part=
	[[ $1 != *:* ]] || part=${1#*:}
	eval "${command[${1%%:*}]//\{\}/$part}"
}

# run_part SUITE:PART: runs a part in a process of its own, which is timed. Its TAP goes to a file; if the part did not end
# well, a failed test at the end of that file says why.
run_part() {
	local tap="$logs/parts/$1.tap" err="$logs/parts/$1.err" status
	"$logs/timed" "$logs/parts/$1.cost" "$0" --part "$1" >"$tap" 2>"$err" </dev/null
	status=$?
	if ! grep -qE '^(not )?ok' "$tap" || { [ $status -ne 0 ] && ! grep -q '^not ok' "$tap"; }; then
		{
			echo "not ok - $1 ran (exit status $status)"
			tail -n 20 "$err" | sed 's/^/# /'
		} >>"$tap"
	fi
}

# has_passed SUITE:PART: succeeds if the part passed in an earlier run.
has_passed() {
	[ -e "$logs/parts/$1.done" ] && grep -qs '^ok' "$logs/parts/$1.tap" && ! grep -q '^not ok' "$logs/parts/$1.tap"
}

count() {
	awk '/^ok.*# SKIP/ { skipped++; next } /^ok/ { passed++ } /^not ok/ { failed++ }
	     END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }' "$@"
}

# is_file SUITE:FILE: succeeds if that is a file of a suite, and no part.
is_file() {
	local pattern=${files_of[${1%%:*}]-}
	[[ $1 == *:* && -n $pattern && -e ${pattern/\*/${1#*:}} ]]
}

# parts_of SUITE[:PART | :FILE]: prints parts, as "SECONDS SUITE:PART", or "SECONDS SUITE" for a suite without parts.
parts_of() {
	local name=${1%%:*} by
	by=${parts_by[$name]-}
	if is_file "$1"; then
		echo "1 $1"
	elif [[ $by =~ ^[0-9]+$ ]]; then
		[ "$1" = "$name" ] && echo "$by $name"
	else
		$by | if [ "$1" = "$name" ]; then cat; else grep -x "[0-9]* ${1#*:}"; fi | sed "s/ / $name:/"
	fi
}

# plan SUITE[:PART | :FILE]...: sets $queue to all parts of these, those first that take longest, and $todo to those of them that
# are to be run. Fails if there is no such suite or part.
queue=() todo=()
plan() {
	local name part all=
	for name; do
		part=$(parts_of "$name")
		if [ -z "$part" ]; then
			echo "tests/run: there is no $name; the suites are ${suites[*]}" >&2
			return 2
		fi
		all+=$part$'\n'
	done
	mapfile -t queue < <(printf %s "$all" | sort -s -rn | cut -d ' ' -f 2-)
	for part in "${queue[@]}"; do
		if [ -z "${CONTINUE-}" ] || ! has_passed "$part"; then
			rm -f "$logs/parts/$part".*
			todo+=("$part")
		fi
	done
	if [ ${#todo[@]} -lt ${#queue[@]} ]; then echo "$((${#queue[@]} - ${#todo[@]})) of ${#queue[@]} parts have passed in an earlier run"; fi
}

# gather SUITE: joins the TAP of the suite's parts in $logs/SUITE.tap, and sets costs to the files with what they cost. Fails
# while a part has not ended.
gather() {
	local part files=()
	costs=()
	for part in "${queue[@]}"; do
		[ "${part%%:*}" = "$1" ] || continue
		[ -e "$logs/parts/$part.done" ] || return
		files+=("$logs/parts/$part.tap") costs+=("$logs/parts/$part.cost")
	done
	cat "${files[@]}" >"$logs/$1.tap"
}

# report SUITE: prints the results of a suite, if all its parts have ended.
report() {
	local costs
	gather "$1" || return
	printf '%-12s %s; %s\n' "$1" "$(count "$logs/$1.tap")" "$(awk '
		{ sum += $1; if (!begin || $2 < begin) begin = $2; if ($3 > end) end = $3 }
		END { printf "%d s of processors, %d s", sum / 100, end - begin }' "${costs[@]}")"
	grep -A 6 '^not ok' "$logs/$1.tap" | head -n 60 | sed 's/^/    /'
	grep '# SKIP' "$logs/$1.tap" | head -n 10 | sed 's/^/    /'
}

# run_all: runs $todo, reports each suite, and prints the counts of all; succeeds if no test failed.
run_all() {
	local part suite names files=() costs total
	for part in "${todo[@]}"; do
		while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-$(($(nproc) + 1))}" ]; do wait -n; done
		{
			run_part "$part"
			exec 9>"$logs/lock"
			flock 9
			touch "$logs/parts/$part.done"
			report "${part%%:*}"
		} &
	done
	wait
	mapfile -t names < <(printf '%s\n' "${queue[@]%%:*}" | sort -u)
	for suite in "${names[@]}"; do
		gather "$suite"
		files+=("$logs/$suite.tap")
	done
	costs=("${queue[@]/#/$logs/parts/}")
	costs=("${costs[@]/%/.cost}")
	awk '{ sum += $1; if ($3 - $2 > longest) { longest = $3 - $2; name = FILENAME } }
	     END { sub(".*/", "", name); sub("[.]cost$", "", name)
	           printf "all suites: %d s of processors; the longest part was %s, %d s\n", sum / 100, name, longest }' "${costs[@]}"
	printf 'all suites in %d s\n' $((SECONDS - start))
	total=$(count "${files[@]}")
	echo "$total"
	[[ $total == *" 0 failed"* ]]
}
