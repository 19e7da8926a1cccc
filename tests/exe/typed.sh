#!/bin/sh
# Tests conversions with types. Two releases of Go build the program of golden, which dumps a part of its heap; its executable or its
# dump is damaged in many ways, under sanitizers; and the output must have the same bytes for any number of threads. TAP on standard
# output.
#
#   GO2HEAPSNAPSHOT      the converter (default: build/go2heapsnapshot)
#   GOROOTS              the releases of Go (default: two)
#   DAMAGES              the number of damaged copies of each file (default: 20; with CHECK_ALL 150)
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
converter=${GO2HEAPSNAPSHOT:-$top/build/go2heapsnapshot}
build=${BUILD:-$top/build/exe/typed}
two_releases=yes # sanitizers are slow
. "$top/tests/go.sh"
. "$top/tests/sanitize.sh"
mkdir -p "$build"

# compile NAME: builds the program, which then writes its dump.
compile() {
	(cd "$top/tests/golden/program" && "$go" build -trimpath -ldflags=-compressdwarf=false -o "$build/$1" .) &&
		"$build/$1" small "$build/$1.dump"
}

# same NAME EXECUTABLE DUMP: -j1, -j2 and -j8, the last one several times, must give the same bytes.
same() {
	"$converter" -j1 --exe "$2" -o "$build/one.heapsnapshot" "$3" 2>/dev/null
	for threads in 2 8 8 8; do
		if ! "$converter" -j$threads --exe "$2" -o "$build/other.heapsnapshot" "$3" 2>/dev/null ||
			! cmp -s "$build/one.heapsnapshot" "$build/other.heapsnapshot"; then
			echo "not ok - $1: what is written does not depend on the number of threads"
			return
		fi
	done
	echo "ok - $1: what is written does not depend on the number of threads"
}

# shellcheck disable=SC2086  # flags are words
if ! make_sanitized internal.a 2>"$build/log" ||
	! $sanitizing_cc -std=c17 -D_GNU_SOURCE -Wall -Wextra $sanitize -I"$top/include" -o "$build/mutate_typed" \
		"$top/tests/exe/mutate_typed.c" "$top/$sanitized/internal.a" ${test_libs-$(make -s -C "$top" libs)} 2>>"$build/log"; then
	echo 'not ok - the driver of damaged conversions builds'
	sed 's/^/# /' "$build/log"
	exit
fi
for GOROOT in $goroots; do
	export GOROOT
	go=$GOROOT/bin/go
	release=$(go_release "$GOROOT")
	for GOARCH in amd64 386; do
		[ $GOARCH = amd64 ] || all_ways || continue
		export GOARCH
		name=$release-$GOARCH
		[ $GOARCH = amd64 ] || ! skips_386 "$name" || continue
		if ! compile "$name" >"$build/log" 2>&1; then
			echo "not ok - $name: the program builds and dumps itself"
			sed 's/^/# /' "$build/log"
			continue
		fi
		same "$name" "$build/$name" "$build/$name.dump"
		for what in exe dump; do
			"$build/mutate_typed" $what "$build/$name" "$build/$name.dump" "$(damages 20 150)" >"$build/out" 2>"$build/log"
			grep -q '^\(not \)*ok - ' "$build/out" || echo "not ok - damaged $what: the driver ends" >>"$build/out"
			sed "s/^\(not \)*ok - /&$name: /" "$build/out"
			grep -E -a 'ERROR|runtime error|is not so|depends on|    #[0-9]' "$build/log" | head -n 20 | sed 's/^/# /'
		done
	done
	unset GOARCH
done
