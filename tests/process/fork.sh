#!/bin/sh
# Forks programs from outside (--fork): whatever happens to them or to go2heapsnapshot meanwhile, they go on as if nothing had
# been; and where a fork might do harm, they are copied, and the reason is said. TAP on standard output.
#
#   G2H                  the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases (default: see tests/go.sh)
#   CAPTURES             how many forks under load (default: 5; with CHECK_ALL 1000)
#   KILLS                after how many different delays go2heapsnapshot is killed at each step (default: 1; with CHECK_ALL 4)
#   RANDOM_KILLS         how many times it is killed at a random moment (default: 4; with CHECK_ALL 200)
#   NO_COPY              the megabytes of the heap that is read without memory for a copy (default: 500; with CHECK_ALL 1900)
#   MEMORY_GROUP         see available.sh
set -u
. "$(dirname "$0")/lib.sh"
may_trace 'forks from outside' || exit 0
if [ "$(uname -m)" != x86_64 ]; then
	echo 'ok - forks from outside # SKIP on amd64 only'
	exit 0
fi
c filtered "$here/filtered.c" || exit 1
${CC:-cc} -std=c17 -D_GNU_SOURCE -Wall -Wextra -O2 -shared -fPIC -o "$build/steps.so" "$here/fork_steps.c" -ldl || exit 1
[ -n "${CHECK_ALL-}" ] && usual_figures='1000 4 200' || usual_figures='5 1 4'
captures=${CAPTURES:-${usual_figures%% *}}
random_kills=${RANDOM_KILLS:-${usual_figures##* }}
kills=${usual_figures#* }
kills=${KILLS:-${kills% *}}
mkfifo "$build/in.$$" 2>/dev/null
exec 7<>"$build/in.$$" # the standard input of programs, which never ends
rm -f "$build/in.$$"

# starts COMMAND...: starts a program. The status is 77 if it says that this is not possible here.
starts() {
	: >"$build/app.log"
	"$@" <&7 >"$build/app.log" 2>&1 &
	pid=$!
	started=$pid
	until grep -q 'ready' "$build/app.log"; do
		if ! kill -0 "$pid" 2>/dev/null; then
			wait "$pid"
			return
		fi
		sleep 0.05
	done
}

ends() {
	kill -KILL "$pid" "$started" 2>/dev/null
	wait "$started" 2>/dev/null
	pid=
}

# reads: reads the program with --fork.
reads() {
	: >"$build/log"
	"$g2h" --pid "$pid" --fork --format dump -o "$build/x.dump" 2>"$build/log"
}

# lives NAME: tests that the program runs on, with no child. Of one that is not our child the status tells.
lives() {
	kill -0 "$pid" 2>/dev/null && ! grep -q '^State:.*[ZXtT]' "/proc/$pid/status" && [ -z "$(cat /proc/"$pid"/task/*/children 2>/dev/null)" ]
	result $? "$1: it lives, with no child" "$build/app.log"
}

is_forked() {
	grep -q 'was paused for .* while it was forked' "$build/log"
}

# forks NAME COMMAND...: tests that a program is forked.
forks() {
	name="$release, $1"
	shift
	starts "$@" || {
		skips_or_fails "$name" $?
		return
	}
	reads && is_forked
	result $? "$name: is forked" "$build/log"
	lives "$name"
	ends
}

# copies NAME REASON COMMAND...: tests that a program is copied, and that the note has the reason.
copies() {
	name="$release, $1"
	reason=$2
	shift 2
	starts "$@" || {
		skips_or_fails "$name" $?
		return
	}
	copies_now "$name" "$reason"
	ends
}

copies_now() {
	reads && ! is_forked && grep -q "was copied and not forked: .*$2" "$build/log"
	result $? "$1: is copied, because $2" "$build/log"
	lives "$1"
}

skips_or_fails() {
	if [ "$2" -eq 77 ]; then
		echo "ok - $1 # SKIP $(tr '\n' ' ' <"$build/app.log")"
	else
		echo "not ok - $1: starts"
		tell "$build/app.log"
	fi
}

# can_be_nobody: succeeds if commands can be run by $as_nobody: as a user without rights, who has no other processes.
as_nobody='setpriv --reuid=54321 --regid=54321 --clear-groups --inh-caps=-all'
can_be_nobody() {
	[ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null 2>&1
}

filters() {
	forks 'a filter that allows it' "$build/filtered" allow "$app"
	forks 'a filter that answers with an error' "$build/filtered" errno "$app"
	copies 'a filter that sends a signal' 'filter would act on clone' "$build/filtered" trap "$app"
	copies 'a filter that kills' 'filter would act on clone' "$build/filtered" kill "$app"
	copies 'a filter that kills who waits' 'filter would act on wait4' "$build/filtered" kill-wait "$app"
}

# nobody: the same user, without rights, reads the program.
# shellcheck disable=SC2086  # a command with its arguments
nobody() {
	if ! can_be_nobody; then
		echo "ok - $release, as another user # SKIP this is not root, or there is no setpriv"
		return
	fi
	own=$(mktemp -d) && cp "$g2h" "$app" "$build/filtered" "$own" && chmod 755 "$own" "$own"/*
	app_of_root=$app
	app=$own/$(basename "$app")
	for what in plain filtered limited; do
		name="$release, as nobody, $what"
		case $what in
		plain) starts $as_nobody "$app" ;;
		filtered) starts $as_nobody "$own/filtered" errno "$app" ;;
		limited) starts $as_nobody prlimit --nproc=24 "$app" ;;
		esac
		$as_nobody "$own/$(basename "$g2h")" --pid "$pid" --fork --format dump -o - 2>"$build/log" >/dev/null
		status=$?
		case $what in
		plain) [ $status -eq 0 ] && is_forked ;;
		filtered) [ $status -eq 0 ] && grep -q 'not forked: .*takes CAP_SYS_ADMIN' "$build/log" ;;
		limited) [ $status -eq 0 ] && grep -q 'not forked: .*ulimit -u' "$build/log" ;;
		esac
		result $? "$name" "$build/log"
		lives "$name"
		ends
	done
	app=$app_of_root
	rm -rf "$own"
}

# busy: all threads of a program compute.
busy() {
	name="$release, all threads compute"
	starts env GOMAXPROCS=1 "$app" -spin
	# On a busy machine a thread of the runtime may still be on its way to where it stays.
	for attempt in 1 2 3; do
		reads
		is_forked || break
		echo "# retried $name: a thread slept, attempt $attempt of 3"
		sleep 1
	done
	copies_now "$name" 'none of its threads sleeps'
	ends
}

# namespaces: a program in a pid namespace of its own.
namespaces() {
	name="$release, the first process of a pid namespace"
	if ! unshare -pf true 2>/dev/null; then
		echo "ok - $name # SKIP there are no pid namespaces for this user"
		return
	fi
	starts unshare -pf "$app"
	pid=$(tr -d ' ' <"/proc/$started/task/$started/children")
	reads && is_forked
	result $? "$name: is forked" "$build/log"
	lives "$name"
	ends
}

# pids: the control group of the program has no room for another process.
pids() {
	name="$release, pids.max"
	group=/sys/fs/cgroup/pids/go2heapsnapshot-fork.$$
	if ! mkdir "$group" 2>/dev/null; then
		no_groups "$name: is copied" "$name: it lives, with no child" "$name: with room it is forked"
		return
	fi
	# It must not need a thread that it cannot have then.
	starts sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$app" -spare 40
	cp "$group/pids.current" "$build/current"
	cat "$build/current" >"$group/pids.max"
	copies_now "$name" 'pids.max'
	echo max >"$group/pids.max"
	reads && is_forked
	result $? "$name: with room it is forked" "$build/log"
	ends
	leave "$group"
}

# counts_ended: prints how many processes of $group the kernel has ended because memory ran out.
counts_ended() {
	sed -n 's/^oom_kill //p' "$group/memory.oom_control" "$group/memory.events" 2>/dev/null
}

# tight: the control group of a program that writes all the time has 100 MB left, and the fork is read for longer than that lasts.
tight() {
	name="$release, little memory"
	group=${MEMORY_GROUP-}/go2heapsnapshot-fork.$$
	if ! [ -n "${MEMORY_GROUP-}" ] || ! mkdir "$group" 2>/dev/null; then
		no_groups "$name: the fork is ended, and that is said" "$name: it lives, with no child" "$name: the kernel has ended nothing"
		return
	fi
	if [ -e "$group/memory.limit_in_bytes" ]; then usage=usage_in_bytes limit=limit_in_bytes; else usage=current limit=max; fi
	starts sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$app" -mb 300 -write 20000
	read -r used <"$group/memory.$usage"
	echo $((used + (100 << 20))) >"$group/memory.$limit"
	# Without the guard it depends on moments whom the kernel ends, and whether a guard that sees nothing else sees that in time.
	for guard in on ${CHECK_ALL:+off}; do
		blind=
		[ $guard = on ] || blind=$pid
		before=$(counts_ended)
		env LD_PRELOAD="$build/steps.so" FORK_STEP=reading:hold FORK_BLIND="$blind" "$g2h" --pid "$pid" --fork --format dump -o "$build/x.dump" 2>"$build/log"
		status=$?
		after=$(counts_ended)
		if [ $guard = on ]; then
			[ $status -eq 1 ] && grep -q 'memory became short' "$build/log"
			result $? "$name: the fork is ended, and that is said" "$build/log"
			lives "$name"
			[ "$after" -eq "$before" ]
			result $? "$name: the kernel has ended nothing" "$build/log"
		else
			# It ends the fork, and at times also the program, before the memory of the fork is free.
			[ $status -eq 1 ] && { [ "$after" -gt "$before" ] || grep -q 'memory became short' "$build/log"; }
			result $? "$name, and nobody looks: the kernel ends the fork, or the guard does at last" "$build/log"
		fi
	done
	ends
	leave "$group"
}

# no_copy: the control group of the program and of go2heapsnapshot has no memory for a copy: a tenth of the resident memory, but
# 150 MB at least.
no_copy() {
	name="$release, without a copy"
	group=${MEMORY_GROUP-}/go2heapsnapshot-fork.$$
	if ! [ -n "${MEMORY_GROUP-}" ] || ! mkdir "$group" 2>/dev/null; then
		no_groups "$name: it is refused without a fork" "$name: it is read" "$name: it lives, with no child" "$name: what was read is complete" \
			"$name: the kernel has ended nothing"
		return
	fi
	if [ -e "$group/memory.limit_in_bytes" ]; then usage=usage_in_bytes limit=limit_in_bytes; else usage=current limit=max; fi
	starts sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$app" -mb "$1"
	read -r used <"$group/memory.$usage"
	room=$((used / 10))
	[ $room -ge $((150 << 20)) ] || room=$((150 << 20))
	echo $((used + room)) >"$group/memory.$limit"
	sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$g2h" --pid "$pid" --format dump -o "$build/x.dump" 2>"$build/log"
	[ $? -eq 1 ] && grep -q 'a copy of it takes' "$build/log"
	result $? "$name: of $((used >> 20)) MB, with $((room >> 20)) MB left, it is refused without a fork" "$build/log"
	sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$g2h" --pid "$pid" --fork --format dump -o "$build/x.dump" 2>"$build/log"
	status=$?
	[ $status -eq 0 ] && grep -q 'were read without a copy' "$build/log"
	result $? "$name: it is read" "$build/log"
	lives "$name"
	"$g2h" --format report "$build/x.dump" 2>"$build/log" | tr -d , >"$build/report"
	grep -q " $(($1 * 4096)) ptr128 in " "$build/report" && grep -q " $(($1 * 512)) noptr1024 in " "$build/report"
	result $? "$name: what was read is complete" "$build/report"
	[ "$(counts_ended)" -eq 0 ]
	result $? "$name: the kernel has ended nothing" "$build/log"
	ends
	leave "$group"
}

# huge: the memory of the program becomes huge pages before the fork.
huge() {
	name="$release, huge pages"
	starts "$app" -mb 100
	before=$(sed -n 's/^AnonHugePages: *\([0-9]*\).*/\1/p' "/proc/$pid/smaps_rollup")
	"$g2h" --pid "$pid" --fork=huge --format dump -o "$build/x.dump" 2>"$build/log"
	status=$?
	after=$(sed -n 's/^AnonHugePages: *\([0-9]*\).*/\1/p' "/proc/$pid/smaps_rollup")
	if grep -q 'did not get huge pages' "$build/log"; then
		echo "ok - $name # SKIP $(sed -n 's/.*did not get huge pages: //p' "$build/log")"
	else
		[ $status -eq 0 ] && is_forked && [ "$after" -ge $((before + 51200)) ]
		result $? "$name: $before kB of them before, $after kB after the fork" "$build/log"
	fi
	lives "$name"
	ends
}

# wiped: a fork would find the list of the program's objects empty.
wiped() {
	name="$release, MADV_WIPEONFORK"
	starts "$app" -wipe
	reads && is_forked
	result $? "$name: is forked" "$build/log"
	lives "$name"
	ends
	"$g2h" --format report "$build/x.dump" 2>"$build/log" | tr -d , >"$build/report"
	grep -q ' 122880 ptr128 in ' "$build/report"
	result $? "$name: what a fork would lack is there" "$build/report"
}

# leave GROUP: removes a group, which processes that have ended may take a moment to leave.
leave() {
	for _ in $(seq 100); do
		rmdir "$1" 2>/dev/null && break
		sleep 0.1
	done
}

if [ -z "${MEMORY_GROUP-}" ] && [ -w /sys/fs/cgroup/memory/cgroup.procs ]; then MEMORY_GROUP=/sys/fs/cgroup/memory; fi
for goroot in $goroots; do
	release=$(go_release "$goroot")
	app=$build/$release/app
	mkdir -p "$build/$release"
	go_builds "$release, forks: the program builds" forked "$app" -ldflags='-s -w' || continue
	"${NODE:-node}" "$here/fork.mjs" "$g2h" "$app" "$build/steps.so" "$build" "$release" "$captures" "$kills" "$random_kills" |
		sed -E 's/^((not )?ok) [0-9]+ - /\1 - /; /^1\.\.[0-9]+$/d'
	filters
	nobody
	busy
	namespaces
	pids
	tight
	no_copy "${NO_COPY:-$([ -n "${CHECK_ALL-}" ] && echo 1900 || echo 500)}"
	huge
	copies 'io_uring' 'it uses io_uring' "$app" -uring
	copies 'userfaultfd' 'it uses userfaultfd' "$app" -userfaultfd
	copies 'aio' 'it uses aio' "$app" -aio
	copies 'MADV_DONTFORK' 'MADV_DONTFORK' "$app" -dontfork
	wiped
	rm -f "$build/x.dump"
done
