#!/bin/sh
# Tests runtime type descriptors. A program with many types, built in several ways by two releases of Go, describes them by
# package reflect, and the linker says which types it kept; what is read from the executable must be the same. Then the
# descriptors are damaged in many ways. All of it runs under sanitizers. TAP on standard output.
#
#   GOROOTS     the releases of Go (default: two)
#   DAMAGES     the number of damaged copies of each executable (default: 60; with CHECK_ALL 250)
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
here=$top/tests/descriptors
build=${BUILD:-$top/build/descriptors}
two_releases=yes # sanitizers are slow
. "$top/tests/go.sh"
mkdir -p "$build"

. "$top/tests/sanitize.sh"
make_sanitized internal.a || exit 1
library=$top/$sanitized/internal.a
for driver in print_types mutate_types; do
	# shellcheck disable=SC2086  # flags are words
	if ! $sanitizing_cc -std=c17 -D_GNU_SOURCE -Wall -Wextra $sanitize -I"$top/include" -I"$top/src" -o "$build/$driver" "$here/$driver.c" \
		"$library" ${test_libs-$(make -s -C "$top" libs)} >"$build/make.log" 2>&1; then
		echo "not ok - $driver builds"
		sed 's/^/# /' "$build/make.log" | tail -n 20
		exit 1
	fi
done

# variant NAME LINKER_FLAGS GO_BUILD_FLAG...: builds the program, runs it unless the machine cannot, and checks what is read.
variant() {
	name=$release-$1
	linker=$2
	directory=$build/$name
	shift 2
	rm -rf "$directory"
	mkdir -p "$directory"
	dump=$directory/dump
	if ! (cd "$here/program" && "$go" build -trimpath -ldflags="-dumpdep $linker" -o "$directory/app" "$@" .) 2>"$directory/dep"; then
		echo "not ok - $name: builds"
		tail -n 5 "$directory/dep" | sed 's/^/# /'
		return
	fi
	case ${GOARCH:-native} in
	native | 386)
		if [ "${GOARCH-}" = 386 ] && ! runs_386; then
			dump=
		else
			"$directory/app" "$directory" 2>"$directory/log" || :
		fi
		;;
	*) dump= ;;
	esac
	if "$build/print_types" "$directory/app" ${dump:+"$dump"} >"$directory/read.json" 2>>"$directory/log"; then
		node "$here/check.mjs" "$name" "$directory"
	else
		echo "not ok - $name: runs and is read"
		tail -n 20 "$directory/log" | sed 's/^/# /'
	fi
}

# damaged VARIANT: damages the executable of a variant in many ways.
damaged() {
	"$build/mutate_types" "$build/$release-$1/app" "$build/$release-$1/dump" "$(damages 60 250)" \
		>"$build/mutate.out" 2>"$build/mutate.err" ||
		{ echo "not ok - $release-$1: damaged executables"; tail -n 30 "$build/mutate.err" | sed 's/^/# /'; }
	cat "$build/mutate.out"
}

for GOROOT in $goroots; do
	export GOROOT
	go=$GOROOT/bin/go
	release=$(go_release "$GOROOT")
	variant plain ''
	damaged plain
	two_ways || continue
	variant stripped '-s -w'
	all_ways || continue
	variant pie '-s -w' -buildmode=pie
	(export GOARCH=386 && variant 386 '')
	(export GOARCH=s390x && variant s390x '-s -w') # big-endian
	(export CGO_ENABLED=1 && variant external '-linkmode=external -s -w' -buildmode=pie)
	skips_386 "$release-386: damaged executables" || damaged 386
done
