#!/bin/sh
# Conversions with types: of a small program by two releases of Go, its executable or its dump damaged in many ways,
# under sanitizers; and the same bytes whatever the number of threads. Called by run.sh, after it has made the sanitized
# library. TAP on standard output.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
converter=${GO2HEAPSNAPSHOT:-$top/build/go2heapsnapshot}
build=$top/build/exe
mkdir -p "$build/typed"

# compile NAME: the small program, and its dump.
compile() {
	(cd "$top/tests/exe/small" && "$go" build -trimpath -ldflags=-compressdwarf=false -o "$build/typed/$1" .) &&
		"$build/typed/$1" "$build/typed/$1.dump"
}

# same NAME EXECUTABLE DUMP: -j1, -j2, -j8, and again.
same() {
	"$converter" -j1 --exe "$2" -o "$build/typed/one.heapsnapshot" "$3" 2>/dev/null
	for threads in 2 8 8 8; do
		if ! "$converter" -j$threads --exe "$2" -o "$build/typed/other.heapsnapshot" "$3" 2>/dev/null ||
			! cmp -s "$build/typed/one.heapsnapshot" "$build/typed/other.heapsnapshot"; then
			echo "not ok - $1: what is written does not depend on the number of threads"
			return
		fi
	done
	echo "ok - $1: what is written does not depend on the number of threads"
}

. "$top/tests/sanitize.sh"
flags="-O1 -g $sanitize"
library=$build/$sanitized/libgo2heapsnapshot.a
# shellcheck disable=SC2086  # flags are words
if ! make -s -C "$top" BUILD="$build/$sanitized" CC="$sanitizing_cc" CFLAGS="$flags" "$library" >"$build/typed/log" 2>&1 ||
	! $sanitizing_cc -std=c17 -D_GNU_SOURCE -Wall -Wextra $flags -I"$top/include" -o "$build/mutate_typed" \
		"$top/tests/exe/mutate_typed.c" "$library" $(make -s -C "$top" libs) 2>>"$build/typed/log"; then
	echo 'not ok - the driver of damaged conversions builds'
	sed 's/^/# /' "$build/typed/log"
	exit
fi
for GOROOT in "$("$top/tools/setup" go-dist)" "$("$top/tools/setup" go-current)"; do
	export GOROOT
	go=$GOROOT/bin/go
	release=$("$go" env GOVERSION)
	for GOARCH in amd64 386; do
		export GOARCH
		name=$release-$GOARCH
		if ! compile "$name" >"$build/typed/log" 2>&1; then
			echo "not ok - $name: the small program builds and dumps itself"
			sed 's/^/# /' "$build/typed/log"
			continue
		fi
		same "$name" "$build/typed/$name" "$build/typed/$name.dump"
		for what in exe dump; do
			"$build/mutate_typed" $what "$build/typed/$name" "$build/typed/$name.dump" 150 >"$build/typed/out" 2>"$build/typed/log"
			grep -q '^\(not \)*ok - ' "$build/typed/out" || echo "not ok - damaged $what: the driver ends" >>"$build/typed/out"
			sed "s/^\(not \)*ok - /&$name: /" "$build/typed/out"
			grep -E -a 'ERROR|runtime error|is not so|depends on|    #[0-9]' "$build/typed/log" | head -n 20 | sed 's/^/# /'
		done
	done
	unset GOARCH
	for variant in plain stripped; do
		same "$release-$variant" "$build/$release-$variant/app" "$build/$release-$variant/leak.1.dump"
	done
done
