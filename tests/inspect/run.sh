#!/bin/sh
# Tests --inspect: its server with clients that we did not write, and with rude ones; DevTools in a real Chromium. TAP on standard
# output.
#
#   run.sh server|sanitized     the server with a session of canned answers; built plainly, or with sanitizers
#   run.sh program              the program, with clients that we did not write
#   run.sh panel                the program, the sample server, and DevTools in a real Chromium
#   run.sh session              the program, a process whose objects come and go, and children that are killed
#   run.sh chromium             chrome://inspect
#
#   G2H                    the program (default: build/go2heapsnapshot)
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
cd "$top" || exit 1
g2h=${G2H:-$top/build/go2heapsnapshot}
build=${BUILD:-$top/build/inspect}/$1
mkdir -p "$build" || exit 1
. tests/sanitize.sh

# canned COMPILER LIBRARY FLAG...: builds the server with a session of canned answers.
canned() {
	compiler=$1 library=$2
	shift 2
	# shellcheck disable=SC2046  # libraries are words
	$compiler -std=c17 -D_GNU_SOURCE -Wall -Wextra "$@" -Iinclude -Isrc -o "$build/canned" "$here/canned.c" "$library" ${test_libs-$(make -s libs)}
}

# shellcheck disable=SC2086  # flags are words
prepare() {
	case $1 in
	sanitized) make_sanitized internal.a && canned "$sanitizing_cc" "$sanitized/internal.a" $sanitize ;;
	server) canned "${CC:-cc}" "$plain/internal.a" ;;
	*) return ;;
	esac && "$g2h" --exe samples/leakserver.exe.gz -o "$build/leakserver.heapsnapshot" samples/leakserver.2.dump.gz
}

# go PROGRAM DIRECTORY: builds $build/PROGRAM with the newest Go.
go() {
	(cd "$2" && GO111MODULE=${3-on} GOROOT=$newest "$newest/bin/go" build -o "$build/$1" .) >"$build/log" 2>&1 && return
	echo "not ok - $1 builds"
	tail -n 20 "$build/log" | sed 's/^/# /'
	exit 1
}

# live: tests with a live process, if one may be traced.
live() {
	. tests/process/lib.sh
	may_trace "$1: --inspect on a live process" || exit 0
	case $1 in
	panel) go leakserver samples/leakserver && node "$here/panel.test.mjs" "$g2h" "$build/leakserver" "$build" ;;
	session) go churn tests/inspect/churn off && KILLS=${CHECK_ALL:+20} node "$here/session.test.mjs" "$g2h" "$build/churn" "$build/files" ;;
	esac | sed -uE "s/^((not )?ok [0-9]+ - )/\1$1: /"
	exit
}
case $1 in
panel | session) live "$1" ;;
esac

prepare "$1" >"$build/log" 2>&1 || {
	echo "not ok - $1: what is tested is built"
	tail -n 20 "$build/log" | sed 's/^/# /'
	exit 1
}
case $1 in
server) node "$here/server.test.mjs" "$build/canned" "$build/leakserver.heapsnapshot" "$build/files" ;;
sanitized) SANITIZED=yes node "$here/server.test.mjs" "$build/canned" "$build/leakserver.heapsnapshot" "$build/files" ;;
*) node "$here/$1.test.mjs" "$g2h" "$build/files" ;;
esac | sed -uE "s/^((not )?ok [0-9]+ - )/\1$1: /"
