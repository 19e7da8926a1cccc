# shellcheck shell=bash
# The scheduler of tests/run, to be sourced by it: runs parts of suites, several at the same time and the longest ones first, each
# in a process of its own that is timed, and reports a suite when all its parts have ended. What a part leaves is in $logs/parts:
# PART.tap, PART.err, PART.cost, and PART.done once it has ended.

# run_command SUITE[:PART | :FILE]: runs the suite's command of the table, in this process.
run_command() {
	local part=
	[[ $1 != *:* ]] || part=$(printf %q "${1#*:}")
	eval "${command[${1%%:*}]//\{\}/$part}"
}

# run_part SUITE:PART: runs a part in a process of its own, which is timed, and ended if it uses ten times the processor time that
# the table says. Its TAP goes to a file; if the part did not end well, a failed test at the end of that file says why.
run_part() {
	local tap="$logs/parts/$1.tap" err="$logs/parts/$1.err" status
	"$logs/timed" "$logs/parts/$1.cost" $((120 + 10 * seconds[$1])) "$0" --part "$1" >"$tap" 2>"$err" </dev/null
	status=$?
	if ! grep -qE '^(not )?ok' "$tap" || { [ $status -ne 0 ] && ! grep -q '^not ok' "$tap"; } || [ $status -eq 124 ]; then
		{
			echo "not ok - $1 ran (exit status $status)"
			tail -n 3 "$tap" | sed 's/^/# it said last: /'
			tail -n 20 "$err" | sed 's/^/# /'
		} >"$tap.end"
		cat "$tap.end" >>"$tap" && rm "$tap.end"
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

# is_file SUITE:FILE[:NAME] | SUITE:PATTERN: succeeds if that is a file of a suite, or cases in the suite's list, and not a part.
is_file() {
	local pattern=${files_of[${1%%:*}]-} file=${1#*:}
	[[ $1 == *:* && -n $pattern ]] || return
	case $pattern in
	*\**) [ -e "${pattern/\*/${file%%:*}}" ] ;;
	*) ! ${parts_by[${1%%:*}]} | grep -qx "[a-z]* [0-9]* $file" && cut -c 19- "$pattern" | grep -qE -e "$file" ;;
	esac
}

# parts_of SUITE[:PART | :FILE[:NAME]]: prints parts, as "TIER SECONDS SUITE:PART", or "TIER SECONDS SUITE" for a suite that is one part.
parts_of() {
	local name=${1%%:*} by
	by=${parts_by[$name]-}
	if is_file "$1"; then
		echo "- 1 $1"
	elif [[ $by =~ ^(check|ci|all)\ [0-9]+$ ]]; then
		[ "$1" = "$name" ] && echo "$by $name"
	elif [ -n "$by" ]; then
		$by | if [ "$1" = "$name" ]; then cat; else grep -x "[a-z]* [0-9]* ${1#*:}"; fi | sed "s/\([^ ]*\)$/$name:\1/"
	fi
}

# is_wanted NAME TIER: succeeds if a part of this tier belongs to a run of $tier, or was asked for as NAME. A suite that is asked for
# by its name runs as in the tiers check and ci, a part in any tier.
is_wanted() {
	case $tier in
	check | ci) [ "$2" = "$tier" ] ;;
	all) ;;
	*) [ -n "${CHECK_ALL-}" ] || [ "$2" != all ] || [[ $1 == *:* ]] ;;
	esac
}

# plan SUITE[:PART | :FILE]...: sets $queue to all parts of these that the tier has, those first that take longest, $seconds to what
# each takes, and $todo to those that are to be run. Fails if there is no such suite or part.
queue=() todo=()
declare -A seconds
plan() {
	local name parts part part_tier cost all=
	for name; do
		parts=$(parts_of "$name")
		if [ -z "${parts_by[${name%%:*}]-}" ] || [[ $name == *:* && -z $parts ]]; then
			echo "tests/run: there is no $name; the suites are ${suites[*]}" >&2
			return 2
		fi
		while read -r part_tier cost part; do
			if [ -n "$part" ] && is_wanted "$name" "$part_tier"; then all+="$cost $part"$'\n'; fi
		done <<<"$parts"
	done
	while read -r cost part; do
		[ -n "$part" ] && [ -z "${seconds[$part]-}" ] || continue
		queue+=("$part") seconds[$part]=$cost
		if [ -z "${CONTINUE-}" ] || ! has_passed "$part"; then
			rm -f "$logs/parts/$part".*
			todo+=("$part")
		fi
	done < <(printf %s "$all" | sort -s -rn)
	[ ${#queue[@]} -gt 0 ] || { echo "tests/run: nothing to run: the parts of $* are in tier all, for which CHECK_ALL=1 asks" >&2 && return 2; }
	if [ ${#todo[@]} -lt ${#queue[@]} ]; then echo "$((${#queue[@]} - ${#todo[@]})) of ${#queue[@]} parts have passed in an earlier run"; fi
}

# list: prints all parts of all tiers, with what they take.
list() {
	local suite
	for suite in "${suites[@]}"; do parts_of "$suite"; CHECK_ALL=1 parts_of "$suite"; done | sort -u -k 3,3 | sort -s -k 1,1 |
		awk '{ printf "%-6s %5d s  %s\n", $1, $2, $3 }'
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

# report SUITE: prints the results of a suite, if all its parts have ended: of its failed tests the first three with what they say,
# and of tests that were retried how often.
report() {
	local costs
	gather "$1" || return
	printf '%-12s %s; %s\n' "$1" "$(count "$logs/$1.tap")" "$(awk '
		{ sum += $1; if (!begin || $2 < begin) begin = $2; if ($3 > end) end = $3 }
		END { printf "%d s of processors, %d s", sum / 100, end - begin }' "${costs[@]}")"
	awk '/^(not )?ok/ { failed += fails = /^not ok/; if (fails && failed > 3) others++; lines = 0 }
	     fails && failed <= 3 && lines++ < 12 { print "    " $0 }
	     END { if (others) print "    and " others " more" }' "$logs/$1.tap"
	grep '^# retried' "$logs/$1.tap" | sed 's/^/    /'
}

# skips: prints why tests were skipped, and how many.
skips() {
	sed -n 's/^ok.*# SKIP *//p' "$@" | sort | uniq -c | sort -rn | head -n 20 | sed 's/^ *\([0-9]*\) /skipped, \1: /'
}

# machine_speed: prints what a fixed piece of work costs, in % of the reference, on all processors at once, as in a run: processors of a
# virtual machine may be slower when the others work as well.
machine_speed() {
	local i
	for ((i = 0; i < $(nproc); i++)); do "$logs/timed" --speed & done | awk '{ sum += $1 } END { if (!NR) exit 1; printf "%d\n", sum / NR }'
}

# note_speed: measures that again beside the tests that run, at most every 15 seconds: what else the machine does at that time slows all.
note_speed() {
	[ -n "$tier" ] || return 0
	[ -n "$(find "$logs/speeds" -newermt '15 seconds ago')" ] || "$logs/timed" --speed >>"$logs/speeds"
}

# within_budget SECONDS COST_FILE...: prints the most expensive parts of a tier, and fails if what the table says of all parts is more
# than the tier's budget, or if they took more than twice the budget. It is adjusted to the machine, whose speed is measured before,
# during and after the run: page faults and new processes, which tests have many of, cost ten times as much on some machines as on others.
# Where others share the machine's memory, that adjusts too little: the same tests took 254 and 390 s on machines of a speed of 48 and
# 55 %. So only a run that costs double is sure to have more to do, and one that costs a fifth more is only told.
within_budget() {
	local took=$1 planned=0 adjusted part
	shift
	echo "the most expensive parts, in seconds of processors:"
	awk '{ name = FILENAME; sub(".*/", "", name); sub("[.]cost$", "", name); printf "%6d  %s\n", $1 / 100, name }' "$@" | sort -rn | head -n 10
	for part in "${queue[@]}"; do planned=$((planned + seconds[$part])); done
	machine_speed >>"$logs/speeds"
	speed=$(awk '{ sum += $1 } END { printf "%d", sum / NR }' "$logs/speeds")
	adjusted=$((budget[$tier] * speed / 100))
	echo "budget: ${budget[$tier]} s, of which the table has $planned s; on this machine $adjusted s"
	if [ "$planned" -gt "${budget[$tier]}" ]; then
		echo "not ok - tier $tier has $planned s in the table, beyond its budget: move or drop what catches nothing else" | tee "$logs/budget.tap"
		return 1
	fi
	if [ "$took" -gt $((2 * adjusted)) ]; then
		echo "not ok - tier $tier takes $took s of processors, more than twice its budget: move or drop what catches nothing else" |
			tee "$logs/budget.tap"
		return 1
	fi
	[ "$took" -le $((adjusted * 12 / 10)) ] || echo "the tier took $took s, a fifth more than its budget or more: if it does again, measure its table anew"
}

# run_all: runs $todo, reports each suite, and prints the counts of all; succeeds if no test failed.
run_all() {
	local part suite names files=() costs total took
	for part in "${todo[@]}"; do
		while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-$(($(nproc) + 1))}" ]; do wait -n; done
		{
			run_part "$part"
			exec 9>"$logs/lock"
			flock 9
			note_speed
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
	skips "${files[@]}"
	costs=("${queue[@]/#/$logs/parts/}")
	costs=("${costs[@]/%/.cost}")
	[ -z "$tier" ] || [ "$tier" = check ] || costs+=("$logs/builds")
	took=$(awk '{ sum += $1 } END { printf "%d", sum / 100 }' "${costs[@]}")
	rm -f "$logs/budget.tap"
	if [ -n "$tier" ] && [ -n "${budget[$tier]-}" ] && [ ${#todo[@]} -eq ${#queue[@]} ]; then within_budget "$took" "${costs[@]}" || files+=("$logs/budget.tap"); fi
	printf 'all suites: %d s of processors, %d s\n' "$took" $((SECONDS - start))
	total=$(count "${files[@]}")
	echo "$total"
	[[ $total == *" 0 failed"* ]]
}
