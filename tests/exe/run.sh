#!/bin/sh
# Executables: the sample server, built in several ways by two releases of Go, dumps itself; its snapshot must name what
# the executable knows. Then one of the executables is damaged in many ways, under sanitizers. TAP on standard output.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
converter=${GO2HEAPSNAPSHOT:-$top/build/go2heapsnapshot}
build=$top/build/exe
unset GODEBUG GOEXPERIMENT GOFLAGS GOARCH GOOS GOWORK
export GOENV=off GO111MODULE=on GOTOOLCHAIN=local GOPROXY=off GOFLAGS=-mod=mod CGO_ENABLED=0 GOCACHE="$top/build/programs/gocache"
mkdir -p "$build"

# variant NAME GO_BUILD_FLAG...: builds, dumps, converts and checks.
variant() {
	name=$release-$1
	shift
	mkdir -p "$build/$name"
	if ! (cd "$top/samples/leakserver" && "$go" build -trimpath -o "$build/$name/app" "$@" .) >"$build/$name/log" 2>&1 ||
		! "$build/$name/app" -self-test "$build/$name" >>"$build/$name/log" 2>&1 ||
		! "$converter" -o "$build/$name/without.heapsnapshot" "$build/$name/leak.1.dump" 2>>"$build/$name/log" ||
		! "$converter" --exe "$build/$name/app" -o "$build/$name/with.heapsnapshot" "$build/$name/leak.1.dump" \
			2>"$build/$name/stderr"; then
		echo "not ok - $name: builds, dumps itself and converts"
		tail -n 20 "$build/$name/log" "$build/$name/stderr" | sed 's/^/# /'
		return
	fi
	"$go" tool nm -size "$build/$name/app" >"$build/$name/nm" 2>/dev/null
	node "$top/tests/exe/check.mjs" "$name" "$build/$name" "$top/samples/leakserver/main.go"
}

for GOROOT in "$("$top/tools/setup" go-dist)" "$("$top/tools/setup" go-current)"; do
	export GOROOT
	go=$GOROOT/bin/go
	release=$("$go" env GOVERSION)
	variant plain
	variant stripped -ldflags '-s -w'
	variant pie -buildmode=pie
	GOARCH=386 variant 386
done

# Not the executable that wrote the dump: refused, and the snapshot is as without.
refused() {
	if "$converter" --exe "$2" -o "$build/refused.heapsnapshot" "$build/$release-plain/leak.1.dump" 2>"$build/refused.err" &&
		cmp -s "$build/refused.heapsnapshot" "$build/$release-plain/without.heapsnapshot" &&
		grep -q "warning: .*$3.*going on without it" "$build/refused.err"; then
		echo "ok - $1 is refused"
	else
		echo "not ok - $1 is refused"
		sed 's/^/# /' "$build/refused.err"
	fi
}
(cd "$top/samples/leakserver" && "$go" build -trimpath -gcflags=-N -o "$build/unoptimized" .) >"$build/log" 2>&1
refused 'another build of the same source' "$build/unoptimized" 'is not the executable that wrote the dump'
refused 'another release of Go' "$build/$("$("$top/tools/setup" go-dist)/bin/go" env GOVERSION)-plain/app" 'it was built by'
refused 'another architecture' "$build/$release-386/app" 'another architecture'
refused 'a program that is not Go' /bin/sh 'it is no Go program'
refused 'a text' "$0" 'is no executable (ELF, Mach-O or PE)'

flags='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all'
library=$build/sanitized/libgo2heapsnapshot.a
make -s -C "$top" BUILD="$build/sanitized" CFLAGS="$flags" "$library" >"$build/make.log" 2>&1
# shellcheck disable=SC2086  # flags are words
if cc -std=c17 -D_GNU_SOURCE -Wall -Wextra $flags -I"$top/include" -o "$build/mutate_exe" "$top/tests/exe/mutate_exe.c" \
	"$library" $(make -s -C "$top" libs); then
	for name in stripped pie 386; do
		"$build/mutate_exe" "$build/$release-$name/app" "$build/$release-$name/leak.1.dump" 340 >"$build/mutate.out" 2>"$build/mutate.err" ||
			{ echo "not ok - $release-$name: damaged executables"; sed 's/^/# /' "$build/mutate.err" | head -n 30; }
		cat "$build/mutate.out"
	done
else
	echo 'not ok - the driver of damaged executables builds'
	sed 's/^/# /' "$build/make.log"
fi
