#!/bin/sh
# Tests DWARF: the program tests/exe/debug, built in several ways by two releases of Go, knows its own variables, and
# exe/dwarf/dwarf_info.h must give the same ones. Then the sections of DWARF are damaged in many ways, under sanitizers. TAP on
# standard output.
#
#   GOROOTS     the releases of Go (default: two)
#   DAMAGES     the number of damaged copies of each executable (default: 30; with CHECK_ALL 170)
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
build=${BUILD:-$top/build/exe/debug}
two_releases=yes # sanitizers are slow
packed_dwarf=yes
. "$top/tests/go.sh"
. "$top/tests/sanitize.sh"
mkdir -p "$build"
make_plain internal.a || exit 1
make_sanitized internal.a || exit 1
libraries=${test_libs-$(make -s -C "$top" libs)}
# shellcheck disable=SC2086  # flags are words
cc -std=c17 -D_GNU_SOURCE -Wall -Wextra -O1 -g -I"$top/include" -I"$top/src" -o "$build/print_debug" \
	"$top/tests/exe/print_debug.c" "${LIBRARY:-$top/build/internal.a}" $libraries || exit 1

# variant NAME GO_BUILD_FLAG...: builds, dumps and checks.
variant() {
	name=$release-$1
	shift
	mkdir -p "$build/$name"
	if ! (cd "$top/tests/exe/debug" && "$go" build -trimpath -o "$build/$name/app" "$@" .) >"$build/$name/log" 2>&1 ||
		! "$build/$name/app" "$build/$name" >>"$build/$name/log" 2>&1; then
		echo "not ok - $name: builds and dumps itself"
		tail -n 20 "$build/$name/log" | sed 's/^/# /'
		return
	fi
	node "$top/tests/exe/debug.mjs" "$name" "$build/$name" "$build/print_debug" ||
		echo "not ok - $name: the test itself failed"
}

for GOROOT in $goroots; do
	export GOROOT
	go=$GOROOT/bin/go
	release=$(go_release "$GOROOT")
	variant plain
	variant uncompressed -ldflags=-compressdwarf=false
	all_ways || continue
	variant N -gcflags='all=-N -l'
	variant pie -buildmode=pie
	if ! skips_386 "$release-386"; then
		GOARCH=386 variant 386
		[ -z "${CHECK_ALL-}" ] || GOARCH=386 variant 386-N -gcflags='all=-N -l'
	fi
	CGO_ENABLED=1 variant cgo -ldflags=-linkmode=external
done

# Executables for other systems, which cannot run here, must have the same variables of the same types.
for system in darwin windows; do
	all_ways || break
	name=$release-$system
	mkdir -p "$build/$name"
	types='s/"address":"[0-9a-f]*"//'
	"$build/print_debug" "$build/$release-plain/app" | grep '"global":"main\.' | sed "$types" | sort >"$build/$name/wanted"
	if (cd "$top/tests/exe/debug" && GOOS=$system "$go" build -trimpath -o "$build/$name/app" .) >"$build/$name/log" 2>&1 &&
		"$build/print_debug" "$build/$name/app" | grep '"global":"main\.' | sed "$types" | sort >"$build/$name/found" &&
		diff "$build/$name/wanted" "$build/$name/found" >>"$build/$name/log"; then
		echo "ok - $name: $(grep -c . <"$build/$name/found") global variables have the types that they have here"
	else
		echo "not ok - $name: global variables have the types that they have here"
		head -n 10 "$build/$name/log" | cut -c 1-300 | sed 's/^/# /'
	fi
done

# shellcheck disable=SC2086  # flags are words
if $sanitizing_cc -std=c17 -D_GNU_SOURCE -Wall -Wextra $sanitize -I"$top/include" -I"$top/src" -o "$build/mutate_debug" \
	"$top/tests/exe/mutate_debug.c" "$top/$sanitized/internal.a" $libraries; then
	for app in "$build"/*-uncompressed/app "$build"/*-cgo/app; do
		[ -e "$app" ] || continue
		"$build/mutate_debug" "$app" "$(damages 30 170)" >"$build/mutate.out" 2>"$build/mutate.err" ||
			{ echo "not ok - $app: damaged DWARF"; tail -n 30 "$build/mutate.err" | sed 's/^/# /'; }
		sed "s|$build/||" "$build/mutate.out"
	done
else
	echo 'not ok - the driver of damaged DWARF builds'
fi
