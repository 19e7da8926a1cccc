#!/bin/sh
# Tests the pages of --format html, as files and in browsers. TAP on standard output.
#
#   run.sh file|chromium|firefox
#
#   G2H                    the program (default: build/go2heapsnapshot)
#   LONGEST                how many ms a step in a browser may take (default: 20 minutes)
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
g2h=${G2H:-$top/build/go2heapsnapshot}
build=${BUILD:-$top/build/html}/$1
rm -rf "$build"
mkdir -p "$build/hostile" || exit 1
usual_goroots=$("$top/tools/setup" go-current)
. "$top/tests/go.sh"
sample=$top/samples/leakserver

# page NAME ARGUMENT...: writes $build/NAME.html.
page() {
	name=$1
	shift
	"$g2h" "$@" --format html -o "$build/$name.html"
}

# pages: writes all pages that are tested.
pages() {
	page leak --exe "$sample.exe.gz" --base "$sample.1.dump.gz" "$sample.2.dump.gz" &&
		COLUMNS=120 "$g2h" --exe "$sample.exe.gz" --format report -o "$build/leak.txt" --base "$sample.1.dump.gz" "$sample.2.dump.gz" &&
		page shrunk --exe "$sample.exe.gz" --base "$sample.2.dump.gz" "$sample.1.dump.gz" &&
		"$newest/bin/go" build -o "$build/program" "$here/hostile/main.go" &&
		"$build/program" "$build/hostile" && echo 0123456789abcdef0123456789abcdef >"$build/key" && chmod 600 "$build/key" &&
		page hostile --exe "$build/program" --base "$build/hostile"/*21*.dump "$build/hostile"/*23*.dump &&
		page redacted --redact-key "$build/key" --exe "$build/program" --base "$build/hostile"/*21*.dump "$build/hostile"/*23*.dump &&
		page series --exe "$build/program" "$build/hostile"/*.dump &&
		node "$here/forge.mjs" >"$build/names.dump" && page names "$build/names.dump"
}

pages >"$build/log" 2>&1 || {
	echo 'not ok - the pages are written'
	tail -n 20 "$build/log" | sed 's/^/# /'
	exit 1
}
case $1 in
file) node "$here/file.test.mjs" "$build" "$g2h" ;;
*) node "$here/page.test.mjs" "$1" "$build" ;;
esac | sed -uE "s/^((not )?ok [0-9]+ - )/\1$1: /"
