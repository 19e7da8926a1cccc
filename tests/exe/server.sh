#!/bin/sh
# Tests executables. The sample server, built in several ways by two releases of Go, dumps itself; its snapshot must have the
# names that the executable knows, also if its debug information is in another file. What is read from programs for other
# systems, which cannot run here, must be what Go's own tools say. Then some of the executables are damaged in many ways, under
# sanitizers. TAP on standard output.
#
#   GO2HEAPSNAPSHOT      the converter (default: build/go2heapsnapshot)
#   GOROOTS              the releases of Go (default: two)
#   DAMAGES              the number of damaged copies of each executable (default: 20; with CHECK_ALL 340)
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
converter=${GO2HEAPSNAPSHOT:-$top/build/go2heapsnapshot}
build=${BUILD:-$top/build/exe/server}
two_releases=yes # sanitizers are slow
packed_dwarf=yes
. "$top/tests/go.sh"
. "$top/tests/result.sh"
mkdir -p "$build"

# Lets a program dump itself, in up to three attempts: Go 1.27 with cgo now and then dies of "dumpgs in STW - bad status" in
# WriteHeapDump, which is a bug of Go.
dumps_itself() {
	for _ in 1 2 3; do
		"$1/app" -self-test "$1" && return
	done
	return 1
}

# same_bytes NAME: the output must have the same bytes for any number of threads.
same_bytes() {
	case $1 in *-plain | *-stripped) ;; *) return ;; esac
	for threads in 1 8 8; do
		if ! "$converter" -j$threads --names=full --exe "$build/$1/app" "$build/$1/leak.1.dump" 2>/dev/null | cmp -s - "$build/$1/with.heapsnapshot"; then
			echo "not ok - $1: what is written does not depend on the number of threads"
			return
		fi
	done
	echo "ok - $1: what is written does not depend on the number of threads"
}

# variant NAME GO_BUILD_FLAG...: builds, dumps, converts and checks.
variant() {
	name=$release-$1
	shift
	mkdir -p "$build/$name"
	if ! (cd "$top/samples/leakserver" && "$go" build -trimpath -o "$build/$name/app" "$@" .) >"$build/$name/log" 2>&1 ||
		! dumps_itself "$build/$name" >>"$build/$name/log" 2>&1 ||
		! "$converter" -o "$build/$name/without.heapsnapshot" "$build/$name/leak.1.dump" 2>>"$build/$name/log" ||
		! "$converter" --names=full --exe "$build/$name/app" -o "$build/$name/with.heapsnapshot" "$build/$name/leak.1.dump" \
			2>"$build/$name/stderr"; then
		echo "not ok - $name: builds, dumps itself and converts"
		tail -n 20 "$build/$name/log" "$build/$name/stderr" | sed 's/^/# /'
		return
	fi
	same_bytes "$name"
	"$go" tool nm -size "$build/$name/app" >"$build/$name/nm" 2>/dev/null
	node "$top/tests/exe/check.mjs" "$name" "$build/$name" "$top/samples/leakserver/main.go"
}

# Separating an executable from its debug information, or compressing that, must not change a snapshot.
names_all() { # EXECUTABLE: the snapshot must be that of the plain executable
	"$converter" --names=full --exe "$1" -o "$build/debug/heapsnapshot" "$plain/leak.1.dump" && cmp "$build/debug/heapsnapshot" "$plain/with.heapsnapshot"
}
names_none() { # EXECUTABLE: the snapshot must differ from that of the plain executable, as variables have no names
	! names_all "$1"
}
same_debug() { # EXECUTABLE: its debug sections must hold the same as those of the plain executable
	"$build/show_image" "$1" >"$build/debug/shown" && "$build/show_image" "$plain/app" >"$build/debug/expected" &&
		sed -nE 's/^section (\.debug_[a-z_]*) .* ([0-9]+ [0-9a-f]+)$/\1 \2/p' "$build/debug/expected" >"$build/debug/expected.sections" &&
		sed -nE 's/^section (\.debug_[a-z_]*) .* ([0-9]+ [0-9a-f]+)$/\1 \2/p' "$build/debug/shown" |
		cmp - "$build/debug/expected.sections" && [ "$(wc -l <"$build/debug/expected.sections")" -ge 6 ]
}
refuses_debug_file() {
	! "$build/show_image" "$1" 2>"$build/debug/stderr" && grep -q 'holds debug information only' "$build/debug/stderr"
}
debug_files() {
	plain=$build/$release-plain
	rm -rf "$build/debug"
	mkdir -p "$build/debug/.debug"
	for kind in none zlib zlib-gnu; do
		objcopy --compress-debug-sections=$kind "$plain/app" "$build/debug/$kind"
		result "$release: debug sections compressed: $kind" same_debug "$build/debug/$kind"
	done
	objcopy --only-keep-debug "$plain/app" "$build/debug/app.debug"
	strip -o "$build/debug/app" "$plain/app"
	# Without build IDs, only the CRC identifies the debug file.
	objcopy --remove-section=.note.gnu.build-id --remove-section=.note.go.buildid --add-gnu-debuglink="$build/debug/app.debug" "$build/debug/app"
	result "$release: symbols of a debug file beside the executable" names_all "$build/debug/app"
	(cd "$build/debug" && mv app.debug .debug) &&
		result "$release: symbols of a debug file in .debug" names_all "$build/debug/app"
	printf . >>"$build/debug/.debug/app.debug"
	result "$release: a debug file with another CRC is left alone" names_none "$build/debug/app"
	result "$release: a debug file is not an executable" refuses_debug_file "$build/debug/.debug/app.debug"
}

# image GOOS GOARCH: checks what is read from a program that cannot run here.
image() {
	name=$release-$1-$2
	mkdir -p "$build/images"
	for suffix in '' -stripped; do
		stripping=
		[ -z "$suffix" ] || stripping='-s -w'
		if ! (cd "$top/tests/exe/tiny" && GOOS=$1 GOARCH=$2 "$go" build -trimpath -o "$build/images/$name$suffix" -ldflags "$stripping" .) \
			>"$build/images/log" 2>&1 || ! "$build/show_image" "$build/images/$name$suffix" >"$build/images/$name$suffix.shown" 2>>"$build/images/log"; then
			echo "not ok - $name$suffix is built and read"
			sed 's/^/# /' "$build/images/log"
			return
		fi
	done
	"$go" tool nm -size "$build/images/$name" >"$build/images/$name.nm"
	node "$top/tests/exe/check_image.mjs" "$name" "$release" "$build/images/$name.shown" "$build/images/$name.nm"
	node "$top/tests/exe/check_image.mjs" "$name-stripped" "$release" "$build/images/$name-stripped.shown" - "$build/images/$name.shown"
}

. "$top/tests/sanitize.sh"
make_sanitized internal.a || exit 1
for driver in show_image mutate_exe; do
	# shellcheck disable=SC2046,SC2086  # flags and libraries are words
	$sanitizing_cc -std=c17 -D_GNU_SOURCE -Wall -Wextra $sanitize -I"$top/include" -I"$top/src" -o "$build/$driver" "$top/tests/exe/$driver.c" \
		"$top/$sanitized/internal.a" ${test_libs-$(make -s -C "$top" libs)} >"$build/make.log" 2>&1 || {
		echo "not ok - $driver builds"
		sed 's/^/# /' "$build/make.log"
	}
done

for GOROOT in $goroots; do
	export GOROOT
	go=$GOROOT/bin/go
	release=$(go_release "$GOROOT")
	variant plain
	variant stripped -ldflags '-s -w'
	two_ways || continue
	for target in windows/amd64 darwin/arm64; do
		image "${target%/*}" "${target#*/}"
	done
	all_ways || continue
	variant pie -buildmode=pie
	skips_386 "$release-386" || GOARCH=386 variant 386
	# With C's linker, Go's data is only a part of .data, and the table of functions only a part of .data.rel.ro.
	CGO_ENABLED=1 variant external -ldflags=-linkmode=external
	CGO_ENABLED=1 variant external-pie -buildmode=pie -ldflags=-linkmode=external
	CGO_ENABLED=1 variant external-pie-stripped -buildmode=pie -ldflags='-linkmode=external -s -w'
	debug_files
	for target in windows/386 windows/arm64 darwin/amd64 linux/mips linux/s390x; do
		image "${target%/*}" "${target#*/}"
	done
done

# The tests below use the executables of the last release, which must be the newest one.
# shellcheck disable=SC2154  # go.sh sets it
[ "$GOROOT" = "$newest" ] || exit 0
other=$("$top/tools/setup" go-leaks | head -n 1) && [ -n "$other" ] || exit 1

# refused NAME EXECUTABLE MESSAGE: an executable that did not write the dump must give an error and no file; with --untyped-ok,
# the snapshot must be the one without an executable.
refused() {
	rm -f "$build/refused.heapsnapshot"
	if "$converter" --exe "$2" -o "$build/refused.heapsnapshot" "$build/$release-plain/leak.1.dump" 2>"$build/refused.err" ||
		[ -e "$build/refused.heapsnapshot" ] || ! grep -q "$3" "$build/refused.err"; then
		echo "not ok - $1 is refused"
		sed 's/^/# /' "$build/refused.err"
	elif "$converter" --untyped-ok --exe "$2" -o "$build/refused.heapsnapshot" "$build/$release-plain/leak.1.dump" 2>"$build/refused.err" &&
		cmp -s "$build/refused.heapsnapshot" "$build/$release-plain/without.heapsnapshot" &&
		grep -q "warning: .*$3.*going on without types" "$build/refused.err"; then
		echo "ok - $1 is refused"
	else
		echo "not ok - $1 is refused: --untyped-ok goes on without"
		sed 's/^/# /' "$build/refused.err"
	fi
}
(cd "$top/samples/leakserver" && "$go" build -trimpath -gcflags=-N -o "$build/unoptimized" .) >"$build/log" 2>&1
refused 'another build of the same source' "$build/unoptimized" 'is not the executable that wrote the dump'
(cd "$top/tests/exe/tiny" && GOROOT=$other "$other/bin/go" build -trimpath -o "$build/other" .) >"$build/log" 2>&1
refused 'another release of Go' "$build/other" 'it was built by'
! all_ways || refused 'another architecture' "$build/images/$release-linux-s390x" 'another architecture'
refused 'a program that is not Go' /bin/sh 'not a Go program'
refused 'a text' "$0" 'is not an executable (ELF, Mach-O or PE)'

# mutate NAME EXECUTABLE DUMP: damages the executable in many ways.
mutate() {
	"$build/mutate_exe" "$2" "$3" "$(damages 20 340)" >"$build/mutate.out" 2>"$build/mutate.err" ||
		{ echo "not ok - $1: damaged executables"; tr '\r' '\n' <"$build/mutate.err" | tail -n 30 | sed 's/^/# /'; }
	sed "s/^ok - /ok - $1: /" "$build/mutate.out"
}
for name in stripped $(all_ways && echo pie && runs_386 && echo 386); do
	mutate "$release-$name" "$build/$release-$name/app" "$build/$release-$name/leak.1.dump"
done
for name in windows-amd64-stripped $(all_ways && echo windows-386) darwin-arm64; do
	mutate "$release-$name" "$build/images/$release-$name" "$build/$release-plain/leak.1.dump"
done
