#!/bin/sh
# Tests programs for Windows. The sample pair go1.27-windows-amd64 was written by tests/exe/windows under Wine, loaded elsewhere
# than it was linked for, as Windows itself always does. Its executable is stripped; the unstripped one is built here, if the
# current Go is the release that the sample was built by. With CHECK_ALL the sample server, built for Windows in several ways,
# dumps itself under Wine. TAP on standard output.
#
#   GO_ONLY              sample, or one release of Go, whose programs run under Wine
#   GO2HEAPSNAPSHOT      the converter (default: build/go2heapsnapshot)
#   GOROOTS              the releases of Go
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
converter=${GO2HEAPSNAPSHOT:-$top/build/go2heapsnapshot}
build=${BUILD:-$top/build/exe/windows}
. "$top/tests/go.sh"
. "$top/tests/result.sh"
. "$top/tests/exe/wine.sh"
mkdir -p "$build"

# go_build GOROOT PROGRAM DIRECTORY FLAG...: builds for Windows.
go_build() {
	(
		export GOROOT="$1" GOOS=windows GOARCH=amd64
		program=$2
		cd "$top/$3" && shift 3 && "$GOROOT/bin/go" build -trimpath -o "$program" "$@" .
	)
}

# says_typed LEAST FILE: succeeds if the converter has said that at least this share of the live bytes is typed, in percent.
says_typed() {
	cat "$2"
	sed -n 's/.*: \([0-9.]*\) % of live bytes typed$/\1/p' "$2" | awk -v least="$1" '{ found = $1 >= least } END { exit !found }'
}

# typed LEAST DUMP EXECUTABLE: succeeds if at least this share of a dump is typed.
typed() { "$converter" --exe "$3" -o "$build/typed.heapsnapshot" "$2" 2>"$build/typed.err" && says_typed "$1" "$build/typed.err"; }

# ---- the sample ----

sample=$top/samples/dumps/go1.27-windows-amd64

# reports EXECUTABLE LINE...: succeeds if the report of what grew has each of these lines, as regular expressions.
reports() {
	executable=$1
	shift
	"$converter" --exe "$executable" --format report --base "$sample.1.dump.gz" "$sample.2.dump.gz" >"$build/report" || return
	cat "$build/report"
	for line; do grep -Eq -- "$line" "$build/report" || { echo "no line like this: $line" && return 1; }; done
}

# same_objects: succeeds if the sample has the same objects with and without types.
same_objects() {
	"$converter" -v -o "$build/untyped.heapsnapshot" "$sample.2.dump.gz" 2>&1 | sed -n '/^objects$/,/^stacks/p; /^pointers/,/^reachability$/p' >"$build/untyped"
	"$converter" -v --exe "$1" -o "$build/typed.heapsnapshot" "$sample.2.dump.gz" 2>&1 | sed -n '/^objects$/,/^stacks/p; /^pointers/,/^reachability$/p' >"$build/typed"
	[ -s "$build/typed" ] && diff "$build/untyped" "$build/typed"
}

# says_of_the_sample NAME EXECUTABLE LEAST GLOBAL: checks what is said of the sample; the program's text says what is true.
says_of_the_sample() {
	for i in 1 2; do result "the sample for Windows, $1: dump $i is typed" typed "$3" "$sample.$i.dump.gz" "$2"; done
	result "the sample for Windows, $1: what has grown, and who holds it" reports "$2" \
		'^  . .* \+30 goroutines \[chan send\] main\.ship main\.go:[0-9]+, now 40$' \
		"^ *started by  go statement in main\\.start main\\.go:$(sed -n '/go ship(/=' "$top/tests/exe/windows/main.go")\$" \
		'^  . .* \+225 main\.Order, now 300, in map\[string\]\*main\.Order$' "^ *held by  *$4, a map of 400 entries\$" "^ *example  *$4\\[\"order [0-9]+\"\\]\$"
	result "the sample for Windows, $1: the same objects without types" same_objects "$2"
}

of_the_sample() {
	says_of_the_sample stripped "$sample.exe.gz" 99 'the global used by main\.take \(0x7ff6[0-9a-f]*\)'
	result 'the sample for Windows: another executable is refused' refuses "$top/samples/leakserver.exe.gz"
	current=$("$top/tools/setup" go-current) || exit 1
	if "$converter" -v -o /dev/null "$sample.1.dump.gz" 2>&1 | grep -q " $(go_release "$current") "; then
		result 'the sample for Windows, unstripped: builds' go_build "$current" "$build/app.exe" tests/exe/windows
		says_of_the_sample unstripped "$build/app.exe" 99.9 'main\.orders'
	else
		echo "ok - the sample for Windows, unstripped # SKIP it was built by another release than $(go_release "$current")"
	fi
}
refuses() { ! "$converter" --exe "$1" -o /dev/null "$sample.1.dump.gz"; }

# ---- what runs under Wine ----

# variant NAME TYPED BASE GO_BUILD_FLAG...: builds, dumps, converts and checks, as variant of server.sh; at least this share must be
# typed. If there is a BASE, the program is loaded there.
variant() {
	name=$release-windows-$1 least=$2 base=$3
	shift 3
	directory=$build/$name
	mkdir -p "$directory"
	if ! go_build "$GOROOT" "$directory/app" samples/leakserver "$@" >"$directory/log" 2>&1 ||
		! rebase "$directory/app" "$directory/run.exe" "$base" >>"$directory/log" 2>&1 ||
		! (cd "$directory" && wine ./run.exe -self-test .) >>"$directory/log" 2>&1 ||
		! "$converter" -o "$directory/without.heapsnapshot" "$directory/leak.1.dump" 2>>"$directory/log" ||
		! "$converter" --names=full --exe "$directory/app" -o "$directory/with.heapsnapshot" "$directory/leak.1.dump" 2>"$directory/stderr"; then
		echo "not ok - $name: builds, dumps itself and converts"
		tail -n 20 "$directory/log" "$directory/stderr" | sed 's/^/# /'
		return
	fi
	"$GOROOT/bin/go" tool nm -size "$directory/app" >"$directory/nm" 2>/dev/null
	node "$top/tests/exe/check.mjs" "$name" "$directory" "$top/samples/leakserver/main.go"
	result "$name: is typed" says_typed "$least" "$directory/stderr"
}

rebase() {
	if [ -n "$3" ]; then node "$top/tests/exe/windows/rebase.mjs" "$@"; else cp "$1" "$2"; fi
}

if [ "${GO_ONLY-}" = sample ]; then
	of_the_sample
	exit
fi
if ! wine_in "$build/wine" >"$build/wine.log" 2>&1; then
	echo 'ok - programs for Windows # SKIP no Wine here'
	exit
fi
trap wine_ends EXIT
for GOROOT in $goroots; do
	export GOROOT
	release=$(go_release "$GOROOT")
	variant plain 99.5 ''
	variant stripped 96 '' -ldflags '-s -w'
	variant pie 99.5 0x7ff612340000
done
