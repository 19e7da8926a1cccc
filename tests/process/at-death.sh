#!/bin/sh
# --at-death: the heap of a process that is killed, by a signal or by the kernel for lack of memory, is written whole, and the report's
# first suspect is the leak; of one that ends by itself nothing is written; whatever becomes of the box, the process lives on. TAP on
# standard output.
#
#   G2H                  the program (default: build/go2heapsnapshot)
#   MEMORY_GROUP         see available.sh
#   GOROOTS              the releases (default: see tests/go.sh)
set -u
. "$(dirname "$0")/lib.sh"
may_trace '--at-death' || exit 0
out=$build/out
box=
group=

# await COMMAND...: waits until the command succeeds.
await() {
	tries=2400
	while [ $tries -gt 0 ] && ! "$@" 2>/dev/null; do
		tries=$((tries - 1))
		sleep 0.05
	done
}

# starts ARGUMENT...: starts the program, in the group if there is one.
starts() {
	rm -rf "$out" "$build/file"
	mkdir "$out"
	: >"$build/app.log"
	sh -c '[ -z "$0" ] || echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$build/app" "$@" >"$build/app.log" 2>&1 &
	pid=$!
	await grep -q '^ready' "$build/app.log"
}

# arms [WHAT [FILE [OPTION...]]]: has the box wait for the program's end.
arms() {
	: >"$build/log"
	# shellcheck disable=SC2086  # options
	"$g2h" "--at-death$1" --pid "$pid" -o "${2:-$out/app.dump.gz}" ${3-} ${4-} 2>"$build/log" &
	box=$!
	await grep -q 'is written when it is killed' "$build/log"
}

# ended: waits for both; their statuses are in $app_status and $status.
ended() {
	app_status=0
	wait "$pid" || app_status=$?
	status=0
	wait $box || status=$?
	pid='' box=
} 2>/dev/null

kills() { # SIGNAL
	kill "-$1" "$pid"
	ended
} 2>/dev/null

# suspects FILE [STATUS]: succeeds if the dump is whole, or has this status, and the leak is the first suspect.
suspects() {
	"$g2h" --exe "$build/app" --format report "$1" >"$build/report" 2>&1
	[ $? -eq "${2-0}" ] && grep -A 2 '^  1 ' "$build/report" | grep -q 'held by     main\.leaking\.byID'
}

killed() {
	for number in KILL ABRT; do
		starts leak 0
		arms ''
		kills $number
		case $number in
		KILL)
			[ "$status" -eq 0 ] && grep -q 'was killed by signal 9 (Killed) at 2.*Z, with [0-9]* MB resident' "$build/log"
			result $? "$release, SIGKILL: status $status, and how it ended" "$build/log"
			suspects "$out/app.dump.gz"
			result $? "$release, SIGKILL: the leak is the first suspect" "$build/report"
			[ "$(stat -c %a "$out/app.dump.gz")" = 600 ]
			result $? "$release, SIGKILL: the dump is the owner's"
			;;
		*)
			[ "$app_status" -eq 2 ] && [ "$status" -eq 0 ] && [ -z "$(ls "$out")" ]
			result $? "$release, a signal that the runtime makes an exit: nothing is written" "$build/log"
			;;
		esac
	done
	starts leak 0
	arms '' "$out/app.html"
	kills KILL
	[ "$status" -eq 0 ] && grep -q 'main.Session' "$out/app.html"
	result $? "$release, SIGKILL: a page" "$build/log"
	starts leak 0
	arms =8M
	kills KILL
	[ "$status" -eq 3 ] && grep -q 'warning: process .*: the copy is cut: [0-9.]* [kMG]*B or more of [0-9.]* [kMG]*B are missing' "$build/log"
	result $? "$release, --at-death=8M: a cut dump, and status $status, 3 is right" "$build/log"
	suspects "$out/app.dump.gz" 3
	result $? "$release, --at-death=8M: the leak is the first suspect all the same" "$build/report"
	grep -q 'warning: .*: made from a part of the process.s memory, without [1-9][0-9.]* [kMG]*B or more: [1-9][0-9]* objects and ' "$build/report" && grep -q '^  process has .*: objects .* or more, free .* or less, ' "$build/report"
	result $? "$release, --at-death=8M: the report of the dump says that it is cut" "$build/report"
}

# aged_for FILE: prints for how many seconds the process was watched of whose leak the dump's ages tell.
aged_for() {
	"$g2h" --exe "$build/services" --format report --json "$1" 2>"$build/report" | tr -d '\n' | grep -o '"item":"main.session".*' |
		grep -o '"age":{"verdict":"leaks"[^[]*' | head -n 1 | grep -o '"seconds":[0-9]*' | tr -dc '[:digit:]'
}

# aged: with --ages TIME the dump of the end knows since when objects live, for so long or longer (tests/unit/test_process_spans.c has
# the window that moves on): the verdict on the leak is right. That of a program which the box has started is, too.
aged() {
	(cd "$here/services" && CGO_ENABLED=0 GOROOT=$goroot "$goroot/bin/go" build -o "$build/services" .) >"$build/log" 2>&1
	rm -rf "$out"
	mkdir "$out"
	: >"$build/app.log"
	"$build/services" leak >"$build/app.log" 2>&1 &
	pid=$!
	await grep -q '^ready' "$build/app.log"
	begun=$(date +%s)
	arms '' "$out/app.dump" --ages 5s
	"$g2h" --at-death --ages 1h -o "$out/run.dump" -- "$build/services" leak >"$build/run.log" 2>&1 &
	other=$!
	sleep 16
	kill -KILL $(pgrep -P $other)
	wait $other
	kills KILL
	took=$(($(date +%s) - begun))
	seconds=$(aged_for "$out/app.dump")
	[ "$status" -eq 0 ] && [ "${seconds:-0}" -ge 5 ] && [ "$seconds" -le $took ] &&
		grep -q 'note: process [0-9]* was watched for [0-9]* collections' "$build/log"
	result $? "$release, --ages 5s: the dump of the end has the ages of ${seconds:-no} s, 5 to $took are right" "$build/log"
	seconds=$(aged_for "$out/run.dump")
	[ "${seconds:-0}" -ge 10 ] && [ "$seconds" -le $took ]
	result $? "$release, --ages 1h, of a program that the box starts: ages of ${seconds:-no} s, 10 to $took are right" "$build/run.log"
} 2>/dev/null

# took_memory: succeeds when the kernel has taken the memory of a process that it has killed. A thread that has ended already has none.
took_memory() {
	[ "$(cat "/proc/$pid/task"/*/status | awk '$1 == "VmRSS:" && $2 > most { most = $2 } END { print most + 0 }')" -lt 4000 ]
}

out_of_memory() {
	name="$release, out of memory"
	[ -n "${MEMORY_GROUP-}" ] && group=${MEMORY_GROUP-}/go2heapsnapshot-death.$$
	if [ -z "$group" ] || ! mkdir "$group" 2>/dev/null; then
		group=
		no_groups "$name: status 0, and who killed it" "$name: the leak is the first suspect, and the head says how it died" \
			"$name, and the box runs when the kernel has taken the memory: status 1, and why" "$name: a dump at 60 %, and one of the end" \
			"$name: the first dump's first suspect is the leak as well" "$name, just after it has begun: status 137, and who killed it" \
			"$release, a full disk: said once, and a dump once there is room" \
			"$name, and the box has less memory than the program: its heap, whole or cut" \
			"$name, and the box has the program's memory: its heap, whole or cut, or why there is none" \
			"$release, the program in another container: its limit, and a dump at 60 % of it"
		return
	fi
	file=memory.max
	[ -e "$group/memory.limit_in_bytes" ] && file=memory.limit_in_bytes
	echo $((96 << 20)) >"$group/$file"
	for attempt in 1 2 3; do
		starts leak 8000
		arms ''
		ended
		# On a machine that stands still for two seconds the kernel takes the memory first, as below.
		[ "$status" -eq 1 ] && grep -q 'the kernel took memory of the process before it could be copied' "$build/log" || break
		echo "# retried $name: the kernel was faster, attempt $attempt of 3"
	done
	[ "$app_status" -eq 137 ] && [ "$status" -eq 0 ] && grep -q 'was killed by the OOM killer at 2.*, limit 101 MB' "$build/log"
	result $? "$name: status $status, and who killed it" "$build/log"
	suspects "$out/app.dump.gz" && sed -n 3p "$build/report" | grep -q '^  killed by the OOM killer at 2.*, limit 101 MB$'
	result $? "$name: the leak is the first suspect, and the head says how it died" "$build/report"
	starts leak 8000
	arms ''
	kill -STOP $box
	await took_memory
	kill -CONT $box
	ended
	[ "$status" -eq 1 ] && [ -z "$(ls "$out")" ] && grep -q 'the kernel took memory of the process before it could be copied' "$build/log"
	result $? "$name, and the box runs when the kernel has taken the memory: status $status, and why" "$build/log"
	starts leak 8000
	arms =60% "$out"
	ended
	[ "$status" -eq 0 ] && [ "$(ls "$out" | wc -l)" -eq 2 ] && ls "$out" | grep -q -- '-60%.dump.gz$'
	result $? "$name: a dump at 60 %, and one of the end" "$build/log"
	suspects "$out"/*-60%.dump.gz
	result $? "$name: the first dump's first suspect is the leak as well" "$build/report"
	# Before the box has looked at the program for the first time.
	status=0
	"$g2h" --at-death -o "$out/app.dump.gz" -- sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$build/app" leak 100000000 \
		>"$build/app.log" 2>"$build/log" || status=$?
	[ $status -eq 137 ] && grep -q 'was killed by the OOM killer at 2.*, limit 101 MB' "$build/log"
	result $? "$name, just after it has begun: status $status, and who killed it" "$build/log"
	disk_is_full
	small_boxes
	elsewhere
	await rmdir "$group"
	group=
}

# small_boxes: which have less memory than the program, or that of the program: then the kernel may take all of it first.
small_boxes() {
	other=$group.box
	mkdir "$other" || return
	echo $((44 << 20)) >"$other/$file"
	for where in "$other" "$group"; do
		starts leak 8000
		: >"$build/log"
		sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$where" "$g2h" --at-death --pid "$pid" -o "$out/" 2>"$build/log" &
		box=$!
		ended
		[ "$app_status" -eq 137 ] && case $status in
		0) one_heap && suspects "$out"/app-* ;;
		3) one_heap && grep -q 'the copy is cut' "$build/log" && suspects "$out"/app-* 3 ;;
		1) [ "$where" = "$group" ] && [ -z "$(ls -A "$out")" ] && grep -q 'its memory limit, .*, is also go2heapsnapshot' "$build/log" &&
			grep -q 'the kernel took memory of the process before it could be copied, and too little is left' "$build/log" ;;
		*) false ;;
		esac
		case $where in
		"$other") result $? "$name, and the box has less memory than the program: its heap, whole or cut ($status)" "$build/log" ;;
		*) result $? "$name, and the box has the program's memory: its heap, whole or cut, or why there is none ($status)" "$build/log" ;;
		esac
	done
	await rmdir "$other"
}

# disk_is_full: for minutes, in which it is looked at again and again.
disk_is_full() {
	cc -shared -fPIC -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -o "$build/full_disk.so" "$here/full_disk.c" || return
	rm -f "$build/asked" "$build/room"
	starts leak 0
	: >"$build/log"
	FULL_DISK_ASKED=$build/asked FULL_DISK_ROOM=$build/room LD_PRELOAD=$build/full_disk.so "$g2h" --at-death=1% --pid "$pid" -o "$out" 2>"$build/log" &
	box=$!
	await grep -q 'no dump is written while it lives' "$build/log"
	asked=$(wc -c <"$build/asked")
	await eval '[ "$(wc -c <"$build/asked")" -gt $((asked + 8)) ]'
	[ "$(grep -c 'no dump is written while it lives' "$build/log")" -eq 1 ] && [ "$(grep -c 'has used 1 %' "$build/log")" -eq 1 ] && : >"$build/room"
	await eval '[ ! -e "$build/room" ] || grep -q " is written$" "$build/log"'
	[ "$(grep -c 'has used 1 %' "$build/log")" -eq 2 ] && [ "$(ls "$out" | grep -c -- '-1%.dump.gz$')" -ge 1 ]
	result $? "$release, a full disk: said once, and a dump once there is room" "$build/log"
	kills KILL
}

# undisturbed: a program whose threads get many signals is not stopped before its end.
undisturbed() {
	cc -shared -fPIC -D_GNU_SOURCE -o "$build/count_stops.so" "$here/count_stops.c" || return
	starts collect "$build/file"
	: >"$build/log"
	: >"$build/stops"
	COUNT_STOPS=$build/stops LD_PRELOAD=$build/count_stops.so "$g2h" --at-death --pid "$pid" -o "$out/app.dump.gz" 2>"$build/log" &
	box=$!
	await grep -q 'is written when it is killed' "$build/log"
	: >"$build/file"
	await grep -q '^done' "$build/app.log"
	before=$(wc -c <"$build/stops")
	kills KILL
	[ "$before" -eq 0 ] && [ "$(wc -c <"$build/stops")" -eq 1 ] && [ "$status" -eq 0 ]
	result $? "$release, 20 collections: $before stops before the end" "$build/log"
}

# untraced: succeeds if nobody traces a thread of the program.
untraced() {
	! cat "/proc/$pid/task"/*/status | grep '^TracerPid:' | grep -qv '[^0-9]0$'
}

exits() {
	for how in '0 ' '3 ' '3 =exit'; do
		starts exit "${how%% *},$build/file"
		arms "${how#* }"
		: >"$build/file"
		ended
		case $how in
		*exit)
			[ "$app_status" -eq 3 ] && [ "$status" -eq 0 ] && suspects "$out/app.dump.gz"
			result $? "$release, --at-death=exit: a failure's heap is written" "$build/log"
			;;
		*)
			[ "$app_status" -eq "${how%% *}" ] && [ "$status" -eq 0 ] && [ -z "$(ls "$out")" ]
			result $? "$release, an exit with status $app_status: nothing is written" "$build/log"
			;;
		esac
	done
	starts leak 0
	arms ''
	kills TERM
	[ "$app_status" -eq 143 ] && [ "$status" -eq 0 ] && [ -z "$(ls "$out")" ]
	result $? "$release, SIGTERM: nothing is written" "$build/log"
	starts leak 0
	arms =90% "$out/"
	kills KILL
	[ "$status" -eq 0 ] && [ "$(grep -c 'has no memory limit, so nothing is written at 90 %' "$build/log")" -ne "$(grep -c ' resident, limit ' "$build/log")" ]
	result $? "$release, --at-death=90% of a process without a limit: says so" "$build/log"
	execs execve 'is written when' log
	cc -shared -fPIC -D_GNU_SOURCE -o "$build/slow_seize.so" "$here/slow_seize.c" || return
	(LD_PRELOAD=$build/slow_seize.so && export LD_PRELOAD && pid='' && execs 'execve while a thread is seized' 'is written when' log)
	execs 'execve, and killed at once' ready app.log
}

# execs WHAT WORDS FILE: the program becomes another one, and is killed when $build/FILE has the words for the second time.
execs() {
	words=$2 said=$build/$3
	starts exec "$build/file"
	arms ''
	: >"$build/file"
	await eval '[ "$(grep -c "$words" "$said")" -eq 2 ]'
	kills KILL
	[ "$status" -eq 0 ] && suspects "$out/app.dump.gz"
	result $? "$release, $1: the heap of the second program is written" "$build/log"
}

boxes() {
	starts leak 0
	arms ''
	"$g2h" --pid "$pid" --format report >"$build/report" 2>&1
	[ $? -eq 1 ] && grep -q "process $box (go2heapsnapshot --at-death" "$build/report"
	result $? "$release, --pid meanwhile: says who traces it" "$build/report"
	kill -TERM $box
	wait $box
	arms =keep=1 "$out"
	: >"$out/app-1-20260101T000000Z.dump.gz"
	kill -USR1 $box
	await grep -q 'oldest files of app in .* removed' "$build/log"
	[ "$(ls "$out" | wc -l)" -eq 1 ] && suspects "$out"/*-asked.dump.gz
	result $? "$release, SIGUSR1 of the box: a dump now, in place of an old one" "$build/log"
	rm -f "$out"/*
	kill -TERM $box
	status=0
	wait $box || status=$?
	[ "$status" -eq 0 ] && untraced && kill -0 "$pid"
	result $? "$release, SIGTERM of the box: lets go, status $status" "$build/log"
	arms ''
	kill -KILL $box
	wait $box 2>/dev/null
	await untraced
	kill -0 "$pid" && untraced && [ -z "$(ls "$out")" ]
	result $? "$release, SIGKILL of the box: the program lives on, and nothing is written"
	box=
	kill_app
} 2>/dev/null

# watches: --watch --at-death, whose snapshots and the last dump do not disturb each other.
watches() {
	for how in KILL cut guard TERM count; do
		case $how in cut) starts leak 400 ;; *) starts leak 0 ;; esac
		: >"$build/log"
		set --
		[ $how != count ] || set -- --count 2
		armed=--at-death ignored=
		[ $how != cut ] || armed=--at-death=8M
		case $how in count) ignored=TERM ;; guard) ignored=CHLD ;; esac # which must not matter
		(
			[ -z "$ignored" ] || trap '' $ignored
			exec "$g2h" --watch 1s $armed --keep "$out" --pid "$pid" "$@"
		) >"$build/report" 2>"$build/log" &
		box=$!
		[ $how = count ] || await eval '[ -e "$out/last.dump" ]'
		case $how in
		KILL)
			kills KILL
			[ "$status" -eq 0 ] && grep -q 'was killed by signal 9' "$build/log" && grep -q 'heaps in' "$build/report" && [ -e "$out/first.dump.gz" ] && [ -e "$out/last.dump.gz" ] && suspects "$out"/app-*.dump.gz
			result $? "$release, --watch --at-death, killed: the report, and the heap at the end" "$build/log"
			continue
			;;
		cut)
			await eval '[ "$(grep -c reachable "$build/log")" -ge 7 ]'
			kills KILL
			[ "$status" -eq 3 ] && grep -q 'the copy is cut' "$build/log"
			result $? "$release, --watch --at-death=8M of a leak, killed: status $status, 3 is right, although 4 says that it grew" "$build/log"
			continue
			;;
		guard)
			kill -KILL "$(pgrep -P $box)"
			kills KILL
			[ "$status" -eq 1 ] && grep -q 'process of --at-death was killed by signal 9' "$build/log" && [ "$(ls "$out" | wc -l)" -eq 2 ]
			result $? "$release, --watch --at-death, SIGKILL of the process that waits: said, status $status, 1 is right" "$build/log"
			continue
			;;
		TERM) kill -TERM $box ;;
		esac
		status=0
		wait $box || status=$?
		[ "$status" -eq 0 ] && untraced && kill -0 "$pid" && [ "$(ls "$out" | wc -l)" -eq 2 ] && ! pgrep -P $box >/dev/null
		result $? "$release, --watch --at-death, ended by $how: the program lives on" "$build/log"
		box=
		kill_app
	done
} 2>/dev/null

# one_heap: succeeds if the directory has one file, which is complete.
one_heap() {
	set -- "$out"/* "$out"/.[!.]*
	[ $# -eq 2 ] && gzip -t "$1" 2>/dev/null
}

# interrupted NAME PID: while the heap is written to a pipe that nobody reads, a signal to the box, which has this ID here, says what is at
# stake, and a second one ends it.
interrupted() {
	await grep -q 'was killed by signal 9' "$build/log"
	kill -TERM "$2"
	await grep -q 'a second signal within 2 s' "$build/log"
	kill -TERM "$2" # at once, as timeout(1) does: it counts as the same
	sleep 0.5
	kill -0 "$2"
	result $? "$1, SIGTERM while the heap is written: goes on" "$build/log"
	kill -TERM "$2"
	status=0
	wait $box || status=$?
	box=
	[ "$status" -eq 1 ] && grep -q 'ended by a second signal: the heap of process [0-9]* is lost' "$build/log"
	result $? "$1, a second one soon after it: ends, and says that the heap is lost" "$build/log"
}

# signalled: signals between the end of the program and that of the file, at moments that differ.
signalled() {
	count=20 heaps=0 slow=0
	[ -z "${CHECK_ALL-}" ] || count=60
	: >"$build/told"
	for number in $(seq $count); do
		starts leak 0
		arms '' "$out/"
		kill -KILL "$pid"
		sleep 0.0$((number * 7 % 10))
		set -- HUP TERM USR1 USR2 PIPE INT QUIT ALRM TSTP RTMIN
		shift $((number % 10))
		kill -"$1" $box
		before=$(date +%s)
		ended
		[ $(($(date +%s) - before)) -le 20 ] || slow=$((slow + 1))
		if [ "$status" -eq 0 ] && one_heap; then heaps=$((heaps + 1)); else echo "$1: status $status"; fi
	done >>"$build/told"
	[ $heaps -eq $count ] && [ $slow -eq 0 ]
	result $? "$release, a signal between the death and the file: $heaps heaps of $count" "$build/told" "$build/log"
	# A file whose writing lasts: nobody reads the pipe.
	starts leak 0
	mkfifo "$out/app.dump"
	arms '' "$out/app.dump"
	kill -KILL "$pid" # in a PID namespace it is held until the file is complete
	interrupted "$release" $box
	wait "$pid"
	pid=
} 2>/dev/null

# traced: succeeds if somebody traces a thread of the program.
traced() {
	! untraced
}

# state: prints how a thread runs: T is stopped.
state() {
	sed -n 's/^State:[[:blank:]]*\(.\).*/\1/p' "/proc/$1/status"
}

# stops: the terminal does not stop the box, unless it stops the program with it.
stops() {
	starts leak 0
	arms '' "$out/"
	kill -TSTP $box
	await grep -q 'not stopped' "$build/log"
	[ "$(state $box)" != T ]
	result $? "$release, SIGTSTP of the box: is not stopped, and says why" "$build/log"
	kills KILL
	rm -rf "$out" "$build/box"
	: >"$build/app.log"
	: >"$build/log"
	cc -D_GNU_SOURCE -o "$build/in_group" "$here/in_group.c" || return
	"$build/in_group" "$build/box" "$g2h" --at-death -o "$out/" -- "$build/app" leak 0 >"$build/app.log" 2>"$build/log" &
	shell=$!
	await grep -q 'is written when' "$build/log"
	pid=$(sed -n 's/.*process \([0-9]*\) .*is written when.*/\1/p' "$build/log")
	await [ -s "$build/box" ] # it may be written later than the box starts
	box=$(cat "$build/box")
	# Again, since the box ignores it until it is armed.
	await eval 'kill -TSTP "$box"; [ "$(state $box)" = T ]'
	state=$(state "$box")
	[ "$state" = T ] && untraced
	result $? "$release, SIGTSTP of the box of a command: is stopped (process $box: $state, T is right), and holds nothing" "$build/log"
	kill -CONT "$box"
	await traced
	kill -KILL "$pid"
	wait $shell
	pid='' box=
	one_heap
	result $? "$release, once it goes on: the heap of the command is written" "$build/log"
} 2>/dev/null

# stands_still: a box that is stopped for good; the end is looked at by stood_still, much later.
stands_still() {
	starts leak 0
	arms '' "$out/"
	kill -STOP $box
	kill -KILL "$pid"
	still_pid=$pid still_box=$box
	pid='' box=
} 2>/dev/null

# stood_still: the kernel has ended it, and the program has ended.
stood_still() {
	since=$(date +%s) status=0
	wait "$still_box" || status=$?
	wait "$still_pid"
	[ $status -eq 137 ] && [ $(($(date +%s) - since)) -le 60 ]
	result $? "$release, a box that is stopped for good: lets the program end within half a minute" "$build/log"
} 2>/dev/null

# disturbed: what else must not lose a heap.
disturbed() {
	# The memory for the copy comes slowly, and the program is killed meanwhile.
	cc -shared -fPIC -D_GNU_SOURCE -o "$build/slow_reserve.so" "$here/slow_reserve.c" || return
	starts leak 0
	: >"$build/log"
	SLOW_RESERVE=30 LD_PRELOAD=$build/slow_reserve.so "$g2h" --at-death --pid "$pid" -o "$out/" 2>"$build/log" &
	box=$!
	await traced
	sleep 0.3
	kills KILL
	[ "$status" -eq 0 ] && one_heap && ! grep -q 'is written when' "$build/log" && suspects "$out"/app-*
	result $? "$release, killed while memory is reserved: its heap" "$build/log"
	# Nobody reads what it says: the reader has gone, or does not read.
	for reader in exit 'sleep 100'; do
		starts leak 0
		rm -f "$build/pipe"
		mkfifo "$build/pipe"
		sh -c "$reader" <"$build/pipe" &
		reads=$!
		sh -c 'yes | tr -d "\n" >&3 & exec "$@" 2>&3' sh env -u LD_PRELOAD "$g2h" --at-death --pid "$pid" -o "$out/" 3>"$build/pipe" &
		box=$!
		await traced
		sleep 0.5
		kill_app
		await one_heap
		one_heap
		result $? "$release, messages that nobody reads ($reader): its heap" "$build/log"
		wait $box
		kill -KILL $reads
		wait $reads
		box=
	done
	# Temporary files cannot be created.
	starts leak 0
	: >"$build/log"
	TMPDIR=$build/none "$g2h" --at-death --pid "$pid" -o "$out/" 2>"$build/log" &
	box=$!
	await grep -q 'is written when' "$build/log"
	kills KILL
	[ "$status" -eq 0 ] && one_heap
	result $? "$release, no directory for temporary files: its heap" "$build/log"
} 2>/dev/null

# elsewhere: the group of the program is visible only from inside of its container, as from a sidecar.
elsewhere() {
	name="$release, the program in another container: its limit, and a dump at 60 % of it"
	other=$group.box point=${MEMORY_GROUP-}
	if [ -z "$group" ] || ! unshare -m -C true 2>/dev/null || ! mkdir "$other"; then
		echo "ok - $name # SKIP no control group or no namespace of groups can be made here"
		return
	fi
	rm -rf "$out"
	mkdir "$out"
	: >"$build/app.log"
	: >"$build/log"
	inside='echo $$ >"$0/cgroup.procs"; exec unshare -m -C sh -c '\''mount --bind "$0" "$1" && shift && exec "$@"'\'' "$0" "$@"'
	sh -c "$inside" "$group" "$point" "$build/app" leak 8000 >"$build/app.log" 2>&1 &
	pid=$!
	await grep -q '^ready' "$build/app.log"
	sh -c "$inside" "$other" "$point" "$g2h" --at-death=60% --pid $pid -o "$out/" 2>"$build/log" &
	box=$!
	ended
	[ "$status" -eq 0 ] && [ "$(ls "$out" | wc -l)" -eq 2 ] && ls "$out" | grep -q -- '-60%.dump.gz$' && grep -q 'was killed by the OOM killer at 2.*, limit 101 MB' "$build/log" && ! grep -q 'also go2heapsnapshot' "$build/log"
	result $? "$name: status $status" "$build/log"
	await rmdir "$other"
}

# namespaces: the box is in the PID namespace that ends with the program.
namespaces() {
	name="$release, the first process of the box's PID namespace: status 0, and its heap"
	if ! unshare -p -f --mount-proc true 2>/dev/null; then
		echo "ok - $name # SKIP no PID namespace can be made here"
		return
	fi
	for how in init child abort; do
		rm -rf "$out"
		mkdir "$out"
		: >"$build/app.log"
		: >"$build/log"
		case $how in
		init) unshare -p -f --mount-proc "$build/app" leak 0 >"$build/app.log" 2>&1 & ;;
		# Which gets no signal that it sends itself: Go 1.27 exits with 134 then, those before with 2.
		abort) GOTRACEBACK=crash unshare -p -f --mount-proc "$build/app" leak 0 >"$build/app.log" 2>&1 & ;;
		# A shell that waits for the program.
		child) unshare -p -f --mount-proc sh -c '"$0" leak 0; :' "$build/app" >"$build/app.log" 2>&1 & ;;
		esac
		outer=$!
		await grep -q '^ready' "$build/app.log"
		first=$(pgrep -P $outer)
		case $how in child) inner=2 ;; *) inner=1 ;; esac
		nsenter -t "$first" -p -m "$g2h" --at-death --pid $inner -o "$out/" 2>"$build/log" &
		box=$!
		await grep -q 'with it this PID namespace may end' "$build/log"
		case $how in child) pid=$(pgrep -P "$first") ;; *) pid=$first ;; esac
		case $how in abort) kill -ABRT "$pid" ;; *) kill -KILL "$pid" ;; esac
		status=0
		wait $box || status=$?
		app_status=0
		wait $outer || app_status=$?
		pid='' box=
		if [ $app_status -eq 2 ]; then # it cannot be told from an exit
			[ $status -eq 0 ] && [ $how = abort ] && [ -z "$(ls -A "$out")" ]
		else
			[ $status -eq 0 ] && one_heap
		fi
		result $? "${name%%:*} ($how): status $status, and its heap" "$build/log"
	done
	# As docker stop's for a container: a sender outside of the namespace has the ID 0 in it.
	rm -rf "$out"
	mkdir "$out"
	mkfifo "$out/app.dump"
	: >"$build/app.log"
	: >"$build/log"
	unshare -p -f --mount-proc sh -c '"$0" leak 0; :' "$build/app" >"$build/app.log" 2>&1 &
	outer=$!
	await grep -q '^ready' "$build/app.log"
	first=$(pgrep -P $outer)
	nsenter -t "$first" -p -m "$g2h" --at-death --pid 2 -o "$out/app.dump" 2>"$build/log" &
	box=$!
	await grep -q 'is written when it is killed' "$build/log"
	pid=$(pgrep -P "$first")
	kill -KILL "$pid"
	interrupted "$release, outside of its PID namespace" "$(pgrep -P $box)"
	wait $outer
	pid=
} 2>/dev/null

# deployed NAME: the script of a manifest of docs/oom.md, on standard input, which arms a program named "server", writes its heap.
deployed() {
	sed "s|-o [a-z/]*/dumps/|-o $out/|" >"$build/script"
	starts leak 0
	echo "$pid" >"$build/server"
	: >"$build/log"
	PATH=$build/bin:$PATH sh "$build/script" >"$build/log" 2>&1 &
	box=$!
	await grep -q 'is written when it is killed' "$build/log"
	kill -KILL "$pid"
	wait "$pid"
	await grep -q 'dump.gz is written$' "$build/log"
	kill -KILL $box
	wait $box
	pid='' box=
	suspects "$out"/app-*.dump.gz
	result $? "$release, docs/oom.md, $1: its script writes the heap" "$build/log"
} 2>/dev/null

manifests() {
	rm -rf "$build/bin"
	mkdir "$build/bin"
	ln -s "$(realpath "$g2h")" "$build/bin/go2heapsnapshot"
	for tool in 'pidof server' 'systemctl show -p MainPID --value server'; do # which find the program once
		printf '#!/bin/sh\n[ "$*" = "%s" ] && cat "%s" && rm "%s"\n' "${tool#* }" "$build/server" "$build/server" >"$build/bin/${tool%% *}"
		chmod +x "$build/bin/${tool%% *}"
	done
	sed -n '/^        - |$/,/^      securityContext/p' "$top/docs/oom.md" | sed '1d;$d' | deployed Kubernetes
	sed -n "s|^ExecStart=/bin/sh -c '\(.*\)'$|\1|p" "$top/docs/oom.md" | sed 's/%i/server/; s/%%/%/g' | deployed systemd
}

# kills_armed: kills the process that is waited for now.
kills_armed() {
	kill -KILL "$(sed -n 's/.*process \([0-9]*\) (app).*is written when.*/\1/p' "$build/log" | tail -n 1)"
}

# commands: the box starts the program.
commands() {
	rm -rf "$out" "$build/file"
	: >"$build/file"
	for expected in 0 3; do
		"$g2h" --at-death -o "$out/" -- "$build/app" exit "$expected,$build/file" >"$build/app.log" 2>"$build/log"
		status=$?
		[ $status -eq $expected ] && [ ! -e "$out" ]
		result $? "$release, a command that exits with $expected: status $status, and no directory" "$build/log"
	done
	"$g2h" --at-death=exit -o "$out/" -- "$build/app" exit "3,$build/file" >"$build/app.log" 2>"$build/log"
	status=$?
	[ $status -eq 3 ] && suspects "$out"/app-*.dump.gz
	result $? "$release, a command that fails at once, --at-death=exit: its heap, and status $status, 3 is right" "$build/log"
	rm -rf "$out"
	"$g2h" --at-death -o "$out/" -- "$build/none" 2>"$build/log"
	[ $? -eq 127 ] && grep -q 'cannot run: No such file' "$build/log"
	result $? "$release, a command that is not there: 127" "$build/log"
	: >"$build/app.log"
	"$g2h" --at-death -o "$out/" -- "$build/app" signals - >"$build/app.log" 2>"$build/log" &
	pid=$!
	await grep -q ready "$build/app.log"
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	[ $status -eq 42 ]
	result $? "$release, SIGTERM is passed on: status $status, 42 is right" "$build/log"
	: >"$build/app.log"
	ln -f "$build/app" "$build/payments-service-web"
	"$g2h" --at-death -o "$out/" -- "$build/payments-service-web" leak 0 >"$build/app.log" 2>"$build/log" &
	pid=$!
	await grep -q ready "$build/app.log"
	await grep -q 'is written when' "$build/log"
	kill -KILL "$(sed -n 's/.*process \([0-9]*\) .*is written when.*/\1/p' "$build/log")"
	status=0
	wait $pid || status=$?
	pid=
	[ $status -eq 137 ] && suspects "$out"/payments-service-web-*.dump.gz
	result $? "$release, a command that is killed: its heap, by its whole name, and status $status, 137 is right" "$build/log"
	for how in '"$0" leak 0; exit 5' '"$0" leak 0 & exit 5' '"$0" exit "0,$1"; "$0" leak 0; exit 5'; do
		rm -rf "$out"
		: >"$build/app.log"
		"$g2h" --at-death -o "$out/" -- sh -c "$how" "$build/app" "$build/file" >"$build/app.log" 2>"$build/log" &
		pid=$!
		await grep -q ready "$build/app.log"
		await kills_armed
		status=0
		wait $pid || status=$?
		pid=
		[ $status -eq 5 ] && suspects "$out"/app-*.dump.gz
		result $? "$release, sh -c '$how': the heap of the program that the shell starts, and status $status, 5 is right" "$build/log"
	done
	rm -rf "$out"
	: >"$build/app.log"
	(cd "$here/death" && CGO_ENABLED=0 GOROOT=$goroot exec "$g2h" --at-death -o "$out/" -- "$goroot/bin/go" run . leak 0) >"$build/app.log" 2>"$build/log" &
	pid=$!
	await grep -q ready "$build/app.log"
	await grep -q 'is written when' "$build/log"
	kill -KILL "$(sed -n 's/.*process \([0-9]*\) (death).*is written when.*/\1/p' "$build/log")"
	status=0
	wait $pid || status=$?
	pid=
	[ $status -eq 1 ] && [ "$(ls "$out" | wc -l)" -eq 1 ] && ! ls "$out" | grep -q '^go-'
	result $? "$release, go run: the heap of the program, and status $status, 1 is right" "$build/log"
	for how in '5 & exit 5' '143 ; exit 5'; do
		: >"$build/app.log"
		"$g2h" --at-death -o "$out/" -- sh -c "\"\$0\" signals - ${how#* }" "$build/app" >"$build/app.log" 2>"$build/log" &
		pid=$!
		await grep -q ready "$build/app.log"
		await grep -q 'is written when' "$build/log"
		kill -TERM $pid
		status=0
		wait $pid || status=$?
		pid=
		[ $status -eq "${how%% *}" ] && ! pgrep -f "^$build/app signals" >/dev/null
		result $? "$release, SIGTERM is passed on to what a command has started, app ${how#* }: status $status, ${how%% *} is right" "$build/log"
	done
}

if [ -z "${MEMORY_GROUP-}" ] && [ -w /sys/fs/cgroup/memory/cgroup.procs ]; then MEMORY_GROUP=/sys/fs/cgroup/memory; fi
for goroot in $goroots; do
	release=$(go_release "$goroot")
	go_builds "$release: the program builds" death "$build/app" || continue
	stands_still
	killed
	aged
	out_of_memory
	signalled
	stops
	disturbed
	namespaces
	undisturbed
	exits
	boxes
	watches
	manifests
	commands
	stood_still
done
