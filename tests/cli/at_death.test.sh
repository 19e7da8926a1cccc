# shellcheck shell=bash
# Tests --at-death as far as no process dies: what goes together, and commands that end by themselves. tests/process/at-death.sh tests the
# rest.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

hint="Try 'go2heapsnapshot --help'."
gzip -dc "$top/samples/leakserver.1.dump.gz" >1.dump

for what in '' 0 0% 100% 1T x exit,x 90%%; do
	run go2heapsnapshot --at-death="$what" --pid 1 -o dumps/
	said "--at-death='$what'" 2 "go2heapsnapshot: --at-death= takes a part of the memory limit (90%), a size (2G), exit, keep=5, or several of these with commas, not '${what##*,}'" "$hint"
done
run go2heapsnapshot --at-death=50%,90% --pid 1 -o dumps/
said "--at-death=50%,90%" 2 "go2heapsnapshot: --at-death= takes one part of the memory limit, and '90%' is a second one" "$hint"
run go2heapsnapshot --at-death -o app.dump
said "--at-death of nothing" 2 "go2heapsnapshot: --at-death takes --pid, or a command after --: -- ./server" "$hint"
run go2heapsnapshot --at-death --pid 1 -o app.dump 1.dump
said "--at-death of two things" 2 "go2heapsnapshot: --pid takes the place of a dump, so '1.dump' is one too many"
run go2heapsnapshot --at-death --pid 1
said "--at-death without -o" 2 "go2heapsnapshot: --at-death writes a file when the process is killed: -o app.dump.gz, or a directory: -o dumps/" "$hint"
run go2heapsnapshot --at-death=90% --pid 1 -o app.dump
said "--at-death=90% of a file" 2 "go2heapsnapshot: --at-death=90% writes several files: -o takes a directory, such as dumps/" "$hint"
run go2heapsnapshot --at-death=keep=2 --pid 1 -o app.dump
said "--at-death=keep of a file" 2 "go2heapsnapshot: --at-death=keep removes old files of a directory: -o dumps/" "$hint"
run go2heapsnapshot --at-death=keep=0 --pid 1 -o dumps/
check "--at-death=keep=0" eval '[ "$status" -eq 2 ] && grep -q -e "--at-death=keep" err'
for other in --fork '--base 1.dump' '--command ls'; do
	# shellcheck disable=SC2086  # an option and its argument
	run go2heapsnapshot --at-death --pid 1 -o app.html $other
	check "--at-death $other: does not go together" eval '[ "$status" -eq 2 ] && grep -q -e "--at-death does not go with ${other%% *}$" err'
done
for what in '--pid 1' '--command ls --keep dumps' '--keep dumps -- ls'; do
	# shellcheck disable=SC2086  # options and their arguments
	run go2heapsnapshot --watch 1s --at-death $what
	check "--watch --at-death $what: says what goes with it" eval '[ "$status" -eq 2 ] && grep -qE -e "--watch --at-death takes --pid, and writes to the directory of --keep|does not go with|--watch goes with --pid" err'
done
run go2heapsnapshot --watch 1s --at-death --keep dumps --pid 2147483647
check "--watch --at-death of no process: fails, and leaves no directory" eval '[ "$status" -eq 1 ] && [ ! -e dumps ]'
run go2heapsnapshot --at-death --pid 2147483647 -o none/app.dump
said "--at-death of a file that cannot be created" 1 "go2heapsnapshot: none/app.dump: cannot create: No such file or directory"
run go2heapsnapshot --at-death --pid 2147483647 -o dumps/
check "--at-death of no process: fails, and leaves no directory" eval '[ "$status" -eq 1 ] && [ ! -e dumps ]'

if [ "$(uname)" = Linux ]; then
	for expected in 0 7; do
		run go2heapsnapshot --at-death -o dumps/ -- sh -c "exit $expected"
		check "a command's status is passed on: $expected" eval '[ "$status" -eq $expected ] && [ ! -e dumps ]'
	done
	run go2heapsnapshot --at-death -o dumps/ -- sh -c 'kill -9 $$'
	check "a command that is killed: 137" [ "$status" -eq 137 ]
	check "a command that is killed and was not recognized: says so" grep -qx "go2heapsnapshot: note: process [0-9]* ended by signal 9 (Killed); nothing is written: it was not recognized as a Go program yet" err
	run go2heapsnapshot --at-death -o dumps/ -- sh -c 'exit 7'
	# A command that takes long to end, on a busy machine, is said not to be Go.
	sed -i '/: not a Go program: the first Go program that it runs or starts is watched$/d' err
	said "a command that fails, whose heap is not wanted" 7
	run go2heapsnapshot --at-death -o dumps/ -- ./none
	check "a command that is not there: 127" [ "$status" -eq 127 ]
	run go2heapsnapshot --at-death -o dumps/ -- ./1.dump
	check "a command that cannot be run: 126" [ "$status" -eq 126 ]
	run go2heapsnapshot --at-death -o dumps/ -- sh -c 'sleep 60 & echo $! >left; exit 4'
	said "a command that leaves another program behind: it is not waited for" 4 \
		"go2heapsnapshot: note: the command has ended, and what it has left behind is not a Go program: nothing is watched any more"
	kill "$(cat left)"

	# script(1) has a terminal, and its command is the leader of the session. When it is killed, the terminal hangs up.
	cat >waits <<-'END'
		trap 'echo HUP >>got; exit 7' HUP
		sh -c 'trap "echo HUP >>got2; exit" HUP; echo >started; while :; do sleep 0.1; done'
	END
	script -qfc 'exec go2heapsnapshot --at-death -o dumps/ -- sh waits' /dev/null </dev/null >script.log 2>&1 &
	terminal=$!
	await_file started
	kill -KILL $terminal
	await_file got
	await_file got2
	equal "the hangup of a terminal: the command gets it, and what it has started" "$(cat got got2 | tr '\n' ' ')" 'HUP HUP '
fi

# number N: prints a number as dumps have them.
number() {
	local left=$1
	while [ "$left" -gt 127 ]; do
		printf '%b' "\\x$(printf %x $((left % 128 + 128)))"
		left=$((left / 128))
	done
	printf '%b' "\\x$(printf %x "$left")"
}

# ended FILE NUMBER...: a dump that says how its process ended: seconds, status, flags, resident, peak and limit.
ended() {
	local file=$1 value
	shift
	{
		cat 1.dump
		printf 'go2heapsnapshot facts 1\n\x07'
		for value; do number "$value"; done
		printf '\0'
	} >"$file"
}

while IFS='|' read -r status flags limit expected; do
	ended dead.dump 1796043935 "$status" "$flags" 629145600 700000000 "$limit"
	run go2heapsnapshot --format report dead.dump
	equal "the report's head: $expected" "$(sed -n 3p out)" "  $expected"
done <<-'END'
	9|3|629145600|killed by the OOM killer at 2026-11-30 13:05:35Z, with 629 MB resident, limit 629 MB
	9|1|0|killed by the OOM killer (as /proc/vmstat counts) at 2026-11-30 13:05:35Z, with 629 MB resident
	6|0|0|killed by signal 6 (Aborted) at 2026-11-30 13:05:35Z, with 629 MB resident
	512|0|0|ended with status 2 at 2026-11-30 13:05:35Z, with 629 MB resident
	0|0|0|alive at 2026-11-30 13:05:35Z, with 629 MB resident
END
{ cat 1.dump && printf 'go2heapsnapshot facts 1\n\010' && number 4096 && number 5 && number 0 && printf '\0'; } >part.dump
run go2heapsnapshot --format report part.dump
check "a dump of a cut copy: exit 3" [ "$status" -eq 3 ]
check "a dump of a cut copy: says so" grep -qxF "go2heapsnapshot: warning: part.dump: made from a part of the process's memory, without 4.10 kB or more: 5 objects and 0 spans are left out" err
check "a dump of a cut copy: the missing objects are not free memory" grep -q '^  process has .*: objects .* or more, free .* or less, ' out
{ cat 1.dump && printf 'go2heapsnapshot facts 1\n\011' && number 2 && number 7 && number 0 && number 0 && number 0 && printf '\0'; } >part.dump
run go2heapsnapshot --format report part.dump
check "a dump with conservative objects: exit 3" [ "$status" -eq 3 ]
check "a dump with conservative objects: says so" grep -qxF "go2heapsnapshot: warning: part.dump: the pointers of 2 objects and 7 stack frames are not known: each of their words counts as a pointer, so some garbage may look reachable" err
run go2heapsnapshot --json=heap dead.dump
check "--json: how the process ended" grep -q '"ending":{"how":"alive","time":"2026-11-30 13:05:35Z","resident":629145600,"status":0,"by_oom":false,"peak":700000000}' out
for wrong in '253402300800 9 0' '1 65536 0'; do
	# shellcheck disable=SC2086  # numbers
	ended dead.dump $wrong 1 1 1
	run go2heapsnapshot --format report dead.dump
	check "the report's head: nothing of what cannot be: $wrong" eval '[ "$status" -eq 0 ] && ! grep -q " at .*resident" out'
done
ended dead.dump 1796043935 9 0 629146000 2 3 7 1 65536 0 1 1 1 # a second one, invalid
run go2heapsnapshot --format report dead.dump
check "the report's head: nothing of an invalid second one" grep -q '13:05:35Z, with 629 MB resident' out

finish
