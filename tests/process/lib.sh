# shellcheck shell=sh
# What the tests beside this file begin with, and functions for them, which read a process from outside; to be sourced first. Sets
# $here and $top; $build, the directory of the test, unless it is set; and $goroots: the usual ones of tests/go.sh, or with
# usual=leaks those of tests/leaks.
#
#   G2H                  the program (default: build/go2heapsnapshot)
#   LIBRARY              internal.a, for the checks (default: build/internal.a)
#   BUILD                a directory, in which each test has one of its own (default: build/process)

here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
build=${build:-${BUILD:-$top/build/process}/$(basename "$0" .sh)}
mkdir -p "$build" || exit 1
[ -z "${usual-}" ] || usual_goroots=$("$top/tools/setup" "go-$usual")
. "$top/tests/go.sh"

g2h=${G2H:-$top/build/go2heapsnapshot}
library=${LIBRARY:-$top/build/internal.a}

# Releases before 1.19 are not read from outside.
known_goroots=
for goroot in $goroots; do
	case $(go_release "$goroot") in
	go1.1[0-8] | go1.1[0-8].*) ;;
	*) known_goroots="$known_goroots $goroot" ;;
	esac
done
goroots=$known_goroots

# The processes that are read do not outlive the test.
pid=
# shellcheck disable=SC2086  # there may be several
trap '[ -z "$pid" ] || kill -KILL $pid 2>/dev/null' EXIT
trap 'exit 1' HUP INT TERM

# c PROGRAM SOURCE...: builds $build/PROGRAM, which the tests use. Parts of a suite that run at once build it at once, so it is
# complete before it has its name.
c() {
	c_program=$1
	shift
	# shellcheck disable=SC2046  # there are several libraries
	${CC:-cc} -std=c17 -D_GNU_SOURCE -Wall -Wextra -O2 -I"$top/src" -I"$top/include" -o "$build/$c_program.$$" "$@" "$library" \
		${test_libs-$(make -s -C "$top" libs)} && mv -f "$build/$c_program.$$" "$build/$c_program"
}

# may_trace NAME: succeeds if processes may be read here, and prints a skipped test if not.
may_trace() {
	c may_trace "$top/tests/process/may_trace.c" || exit 1
	trace_error=$("$build/may_trace" 2>&1) && return
	echo "ok - $1 # SKIP no process may be traced here: $trace_error"
	return 1
}

# go_builds NAME DIRECTORY OUTPUT [FLAG...]: builds the program in a directory beside the test with the release in $goroot. If it does
# not build, prints a test that failed.
go_builds() {
	go_builds_name=$1 go_builds_in=$here/$2 go_builds_to=$3
	shift 3
	(cd "$go_builds_in" && GOROOT=$goroot "$goroot/bin/go" build "$@" -o "$go_builds_to" .) >"$build/build.log" 2>&1 && return
	echo "not ok - $go_builds_name"
	tell "$build/build.log"
	return 1
}

# wait_ready FILE: waits until the program in $pid has written "ready" there. Fails if it ends before.
wait_ready() {
	until grep -q '^ready' "$1"; do
		kill -0 "$pid" 2>/dev/null || return
		sleep 0.1
	done
}

# kill_app: ends the program in $pid.
kill_app() {
	kill -KILL "$pid"
	wait "$pid"
	pid=
} 2>/dev/null

# app WAY DIRECTORY: builds everything/ as DIRECTORY/app with the release in $goroot, and writes DIRECTORY/symbols. WAY is a list
# of plain, stripped, pie, cgo. The status is 2 if there is no C compiler that this release of Go gets along with.
app() {
	app_cgo=0 app_flags='' app_ld=
	for app_way in $1; do
		case $app_way in
		stripped) app_ld='-s -w' ;;
		pie) app_flags=-buildmode=pie ;;
		cgo) app_cgo=1 ;;
		esac
	done
	mkdir -p "$2" || return
	# shellcheck disable=SC2086  # there may be no flag
	if ! (cd "$here/everything" && CGO_ENABLED=$app_cgo GOROOT=$goroot "$goroot/bin/go" build -o "$2/app" $app_flags -ldflags="$app_ld" .) >"$2/log" 2>&1; then
		[ "$app_cgo" = 0 ] || c_of_go "$2" || return 2
		return 1
	fi
	# A stripped program has its variables where the one with symbols has them.
	case $1 in
	*stripped*) return ;;
	esac
	GOROOT=$goroot "$goroot/bin/go" tool nm -size "$2/app" >"$2/symbols"
}

# c_of_go DIRECTORY: succeeds if cgo works at all.
c_of_go() {
	mkdir -p "$1/try"
	printf 'package main\n\n// int one(void) { return 1; }\nimport "C"\n\nfunc main() { C.one() }\n' >"$1/try/main.go"
	(cd "$1/try" && CGO_ENABLED=1 GOROOT=$goroot "$goroot/bin/go" run main.go) >/dev/null 2>&1
}

# no_groups NAME...: prints a skipped test for each name, since no control group can be made here.
no_groups() {
	for skipped; do echo "ok - $skipped # SKIP no control groups"; done
}

# result STATUS NAME [FILE [LINES]]: prints a line of TAP, and if STATUS is not 0, the output of a command, which is in FILE.
result() {
	if [ "$1" -eq 0 ]; then
		echo "ok - $2"
	else
		echo "not ok - $2"
		[ -z "${3-}" ] || tell "$3" "${4:-20}"
	fi
}

# tell FILE [LINES]: prints the last lines of the output of a command as comments of TAP.
tell() {
	tail -n "${2:-20}" "$1" | sed 's/^/# /'
}
