#!/bin/sh
# Tests the page that converts dumps in a browser: what it writes is what the program writes, and how a reader uses it. TAP on standard
# output.
#
#   run.sh program|chromium|firefox
#
#   G2H        the program (default: build/go2heapsnapshot)
#   CACHED     a compiler's cache, such as ccache (default: none)
#   LONGEST    how many ms a step in a browser may take (default: 20 minutes)
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
g2h=${G2H:-$top/build/go2heapsnapshot}
build=${BUILD:-$top/build/web-tests}/$1
page=$top/build/web/go2heapsnapshot.html
mkdir -p "$build" && cd "$top" || exit 1

# The parts run at the same time, and make cannot make one thing twice at once.
flock "$build/../lock" make -s WEB_CC="${CACHED-} clang" WERROR=1 BUILD=build build/web/go2heapsnapshot.html >"$build/log" 2>&1 || {
	echo 'not ok - the page is built without a warning'
	tail -n 30 "$build/log" | sed 's/^/# /'
	exit 1
}
echo 'ok - the page is built without a warning'
[ "$(gzip -9c "$page" | wc -c)" -le 1000000 ] || printf not\ 
echo 'ok - the page takes at most 1 MB when it is compressed'
case $1 in
program) node "$here/program.test.mjs" "$page" "$g2h" "$build/program" ;;
*) node "$here/page.test.mjs" "$1" "$page" "$g2h" "$build/$1" ;;
esac | sed -uE "s/^((not )?ok [0-9]+ - )/\1$1: /"
