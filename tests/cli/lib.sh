# shellcheck shell=bash
# Functions that the tests beside this file share: for TAP, for running the program, for dumps as its input. run.sh runs each
# test in an empty directory of its own, with the program as go2heapsnapshot on PATH and the sample dumps in $dumps.

set -u
# No background job may outlive its test: it would hold run.sh's pipe open.
trap 'jobs -p | xargs -r kill -s KILL 2>/dev/null' EXIT
tests=0
failed=0
status=
here=${here:?run me by run.sh}
top=${top:?run me by run.sh}
dumps=${dumps:?run me by run.sh}

# run COMMAND...: runs a command. Its stdout goes to the file out, its stderr to the file err, its exit status to $status.
run() {
	status=0
	"$@" >out 2>err || status=$?
}

# expected_help: prints what --help must print. If the program is built without SQLite, the format sqlite is not in it.
expected_help() {
	if go2heapsnapshot --version | grep -q 'without SQLite'; then sed '/^  *sqlite /d' "$here/help.expected"; else cat "$here/help.expected"; fi
}

# result BAD NAME: prints a test's line of TAP, unless its name does not match $ONLY. BAD is 0 if the test passed; else the file wrong says what was wrong.
result() {
	[[ $2 =~ ${ONLY-} ]] || return 0
	tests=$((tests + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tests - cli: $2"
	else
		failed=1
		echo "not ok $tests - cli: $2"
		head -n 20 wrong | sed 's/^/# /'
	fi
}

skip() {
	[[ $1 =~ ${ONLY-} ]] || return 0
	tests=$((tests + 1))
	echo "ok $tests - cli: $1 # SKIP $2"
}

# check NAME COMMAND...: tests that the command succeeds.
check() {
	local name=$1 bad=0
	shift
	"$@" >wrong 2>&1 || bad=1
	[ -s wrong ] || echo "failed: $*" >wrong
	result "$bad" "$name"
}

# equal NAME ACTUAL EXPECTED: tests that two texts are equal.
equal() {
	local bad=0
	[ "$2" = "$3" ] || bad=1
	diff <(printf '%s\n' "$3") <(printf '%s\n' "$2") >wrong
	result "$bad" "$1"
}

# said NAME STATUS LINE...: tests the exit status of the last run, and that the lines are all of its stderr.
said() {
	local name=$1 expected=$2 bad=0
	shift 2
	: >wrong
	if [ "$status" != "$expected" ]; then
		bad=1
		echo "exit status $status, not $expected" >>wrong
	fi
	if [ $# -eq 0 ]; then
		: >err.expected
	else
		printf '%s\n' "$@" >err.expected
	fi
	diff err.expected err >>wrong || bad=1
	result "$bad" "$name"
}

# wrote NAME FILE: tests that the last run's stdout has the bytes of FILE.
wrote() {
	local bad=0
	cmp "$2" out >wrong 2>&1 || bad=1
	result "$bad" "$1"
}

# wrote_nothing NAME: tests that the last run's stdout is empty.
wrote_nothing() {
	wrote "$1" /dev/null
}

# is_snapshot FILE: succeeds if the file begins and ends as a snapshot does and, if there is a Node.js, is JSON.
is_snapshot() {
	[ "$(head -c 12 "$1")" = '{"snapshot":' ] && [ "$(tail -n 1 "$1" | tail -c 3)" = ']}' ] || return
	if command -v "${NODE:-node}" >/dev/null; then
		"${NODE:-node}" -e 'JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"))' "$1"
	fi
}

# dump NAME FILE: unpacks the sample dump NAME to FILE.
dump() {
	gzip -dc "$dumps/$1.dump.gz" >"$2"
}

# How many times 0.05 s the tests wait for something. It usually comes at once, or later on a busy machine; if it never
# comes, there is a bug.
patience=12000

# await_file PATTERN: waits until a file's name matches the pattern. Fails if none does.
await_file() {
	local i
	for ((i = 0; i < patience; i++)); do
		compgen -G "$1" >/dev/null && return
		sleep 0.05
	done
	return 1
}

# preloads: succeeds if a library can be preloaded into the program. It cannot be if an emulator runs it.
preloads() { [ -z "${EMULATED-}" ]; }

# make_named: builds named.so, a library to preload that simulates a file system without nameless files.
make_named() {
	cat >named.c <<-'END'
	#define _GNU_SOURCE
	#include <errno.h>
	#include <fcntl.h>
	#include <stdarg.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	int open(const char *path, int flags, ...)
	{
		va_list more;
		va_start(more, flags);
		int mode = va_arg(more, int);
		va_end(more);
		if ((flags & O_TMPFILE) != O_TMPFILE)
			return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
		errno = EOPNOTSUPP;
		return -1;
	}
	#ifndef open64 // musl has one function for both
	int open64(const char *path, int flags, ...) __attribute__((alias("open")));
	#endif
	END
	${CC:-cc} -shared -fPIC -o named.so named.c || exit 2
}

# nameless PID DIRECTORY: prints the paths, below /proc, of a process's descriptors of files in the directory that have no
# name.
nameless() {
	local fd
	for fd in "/proc/$1"/fd/*; do
		case $(readlink "$fd") in "$2"/*' (deleted)') echo "$fd" ;; esac
	done 2>/dev/null
}

# await_nameless PID DIRECTORY: waits until a process has a file open in the directory that has no name.
await_nameless() {
	local i
	for ((i = 0; i < patience; i++)); do
		readlink "/proc/$1"/fd/* 2>/dev/null | grep -qxF "$2/$(readlink "/proc/$1"/fd/* | sed -n "s|^$2/\(#[0-9]* (deleted)\)$|\1|p" | head -n 1)" && return
		sleep 0.05
	done
	return 1
}

# end PID SIGNAL: sends a signal to a background job, and returns the job's exit status. A job that does not end is killed.
end() {
	local i
	kill -s "$2" "$1"
	for ((i = 0; i < patience; i++)); do
		kill -0 "$1" 2>/dev/null || break
		sleep 0.05
	done
	kill -s KILL "$1" 2>/dev/null
	{ wait "$1"; } 2>/dev/null
}

# on_terminal COMMAND: runs a shell command whose stdin, stdout and stderr are a terminal. Its output on the terminal goes to
# the file shown, its exit status to $status.
on_terminal() {
	status=0
	SHELL=/bin/sh script -qec "$1" /dev/null </dev/null >shown 2>&1 || status=$?
}

finish() {
	echo "1..$tests"
	exit "$failed"
}
