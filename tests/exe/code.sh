#!/bin/sh
# Tests what code says of variables (exe/go/static_words.h), as it is read in stripped executables, against DWARF: for each
# executable, code may say nothing of a variable, but nothing wrong. TAP on standard output; with CHECK_ALL, of tools of Go's
# own, too. The figures of each executable are in its line.
#
#   GOROOTS     the releases of Go (default: see tests/go.sh)
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
build=${BUILD:-$top/build/exe/code}
. "$top/tests/go.sh"
. "$top/tests/sanitize.sh"
mkdir -p "$build"
make_plain internal.a || exit 1
# shellcheck disable=SC2046  # libraries are words
cc -std=c17 -D_GNU_SOURCE -Wall -Wextra -O1 -g -I"$top/include" -I"$top/src" -o "$build/code_truth" \
	"$top/tests/exe/code_truth.c" "${LIBRARY:-$top/build/internal.a}" ${test_libs-$(make -s -C "$top" libs)} || exit 1

# compare NAME LEAST DIRECTORY PACKAGE: builds a program and compares; of LEAST percent of its variables something must be
# said.
compare() {
	app=$build/$release-$1
	if ! (cd "$top/$3" && "$go" build -trimpath -o "$app" "$4") >"$build/log" 2>&1; then
		echo "not ok - $release $1: builds"
		tail -n 20 "$build/log" | sed 's/^/# /'
		return
	fi
	"$build/code_truth" "$app" >"$build/out" 2>&1
	figures=$(sed -n '$s/[{}"]//g; $s/:/ /g; $p' "$build/out")
	said=$(echo "$figures" | sed -n 's/^variables \([0-9]*\),said \([0-9]*\),right [0-9]*,wrong 0,.*/\1 \2/p')
	if [ -n "$said" ] && [ $((${said#* } * 100)) -ge $((${said% *} * $2)) ]; then
		echo "ok - $release $1: $figures"
	else
		echo "not ok - $release $1: $figures"
		head -n 10 "$build/out" | cut -c 1-300 | sed 's/^/# /'
	fi
	rm -f "$app"
}

oldest=$("$top/tools/setup" go-dist 2>/dev/null)
for GOROOT in $goroots; do
	export GOROOT
	go=$GOROOT/bin/go
	release=$(go_release "$GOROOT")
	case $release in go1.1[0-7]*) continue ;; esac # functions have their arguments on the stack
	for GOARCH in amd64 arm64; do
		export GOARCH
		case $release in
		go1.1* | go1.2[01]*) ;; # cannot build it
		*) compare "golden-$GOARCH" 20 tests/golden/program . ;;
		esac
		[ "$GOARCH" = amd64 ] || [ -n "${CHECK_ALL-}" ] || continue
		compare "leakserver-$GOARCH" 50 samples/leakserver .
		compare "types-$GOARCH" 50 tests/types/program .
		case $GOARCH-$GOROOT in "amd64-$newest" | "amd64-$oldest") ;; *) continue ;; esac
		[ -n "${CHECK_ALL-}" ] || continue
		compare "compile-$GOARCH" 50 samples/leakserver cmd/compile
		compare "go-$GOARCH" 50 samples/leakserver cmd/go
	done
	unset GOARCH
done
