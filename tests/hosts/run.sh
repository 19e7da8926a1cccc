#!/bin/bash
# Builds everything for hosts other than the one that it is developed on, and tests there what can be run here. TAP on standard
# output.
#
#   run.sh PART     a compiler (gcc-11, clang-19 …): compiles with all warnings, each of which is an error
#                   musl-sources, arm64-sources: the same with compilers for musl and for arm64
#                   macos-arm64, macos-x86_64: the same, and links; nothing here runs programs for macOS
#                   not-linux: what --pid says elsewhere than on Linux
#                   musl, i386, s390x, arm64: the unit tests, and the same output as here; of musl and arm64 also the command line,
#                   and of arm64 live processes and --at-death, on kernels for arm64
#                   at-death: --at-death in control groups of version 2, on Debian's kernels for amd64
#
#   BUILD           where everything goes (default: build/hosts/PART)
set -u
cd "$(dirname "$0")/../.." || exit 1
top=$PWD
part=$1
build=${BUILD:-build/hosts/$part}
build=${build#"$top/"}
mkdir -p "$build"
. tests/sanitize.sh
. tests/result.sh

skip() {
	echo "ok - $1 # SKIP $2"
	exit
}

# shows_public OBJECT...: succeeds if the functions of the public headers, and no other symbols, are visible outside of a library of these
# objects. Symbols of macOS begin with an underscore; Zig's linker exports the hidden ones as well, Apple's does not (ld(1)).
shows_public() {
	local names
	names=$(llvm-nm -m --defined-only "$@" | sed -nE 's/.*\) (weak )?external _//p' | sort -u)
	[ -n "$names" ] && diff <(printf '%s\n' "$names") \
		<(cat include/go2heapsnapshot/*.h | tr '\n' ' ' | grep -oE 'G2H_PUBLIC[^;(]*\(' | grep -oE "g2h_[a-z0-9_]+\\($" | tr -d "(" | sort -u)
}

# ---- compilers ----

# clang finds all its warnings before it generates code, gcc some only when it optimizes.
compiler() {
	local flags=-O3
	[[ $1 != clang-* ]] || flags=-fsyntax-only
	command -v "$1" >/dev/null || skip "$1 compiles without a warning" "no $1 here"
	result "$1 compiles without a warning" make -s BUILD="$build" CC="$cached $1" CFLAGS="$flags" WERROR=1 objects
}

# headers NAME...: copies headers of libraries, which are the same for all hosts, from this one to $build/include.
headers() {
	local name
	mkdir -p "$build/include"
	for name; do
		cp "$(echo "#include <$name>" | ${CC:-cc} -E - | sed -n "s/^# 1 \"\(.*$name\)\".*/\1/p" | head -n 1)" "$build/include" || return
	done
}

# linux_headers DIRECTORY: puts what Linux itself declares into a directory; musl does not come with it.
linux_headers() {
	local include=/usr/include
	mkdir -p "$1"
	ln -sfn $include/linux $include/asm-generic "$include/$(gcc -print-multiarch)/asm" "$1"
}

# sources COMPILER: compiles for another host, of which there are no libraries.
sources() {
	command -v "$1" >/dev/null || skip "$part: compiles without a warning" "no $1 here"
	headers zlib.h zconf.h sqlite3.h
	result "$part: compiles without a warning" make -s BUILD="$build" CC="$1" CFLAGS=-fsyntax-only CPPFLAGS="-I$build/include" WITH_ZSTD= WITH_LZMA= WITH_LZ4= WITH_DEFLATE= \
		${without_sqlite:+WITH_SQLITE=} WERROR=1 objects
}

# ---- macOS ----

# Zig has Apple's headers, and a list of what libSystem has, which takes the place of that library for a linker. Of zlib and SQLite,
# which are part of macOS as well, there is no such list: it is made of what they have here. What a program needs of none of these
# is an error.
macos() {
	local zig target=$1 name make
	zig=$(tools/setup zig 2>/dev/null) || skip "$part: builds" 'no Zig here'
	[ "$target" != arm64 ] || target=aarch64
	printf '%s\n' '#!/bin/sh' "exec $zig cc -target $target-macos \"\$@\"" >"$build/cc"
	chmod +x "$build/cc"
	# Zig's own cache: of the library for the linker, and of Zig's runtime.
	export ZIG_GLOBAL_CACHE_DIR="${XDG_CACHE_HOME:-$HOME/.cache}/go2heapsnapshot/zig"
	stand_in "$1" z 1
	stand_in "$1" sqlite3 0
	headers sqlite3.h # Zig has zlib's
	name=$build/libgo2heapsnapshot.$(sed -n 's/.*G2H_VERSION "\(.*\)"/\1/p' include/go2heapsnapshot/version.h).dylib
	rm -f "$build/internal.a" "$build/go2heapsnapshot" "$build/heapquery" "$name"
	make=(make -s BUILD="$build" CC="$top/$build/cc" AR="$zig ar --format=darwin" CPPFLAGS="-I$build/include" WERROR=1 CFLAGS=-O0 LDFLAGS="-L$build")
	result "$part: compiles without a warning, and links" "${make[@]}" "$build/go2heapsnapshot" "$build/heapquery" "$name"
	for name in "$build/go2heapsnapshot" "$build/heapquery" "$name"; do
		result "$part: $(basename "$name") is for $1" is_for "$1" "$name"
	done
	result "$part: is installed, and leaves nothing when it is uninstalled" is_installed "$name" "${make[@]}"
	command -v llvm-nm >/dev/null || skip "$part: the library exports what the headers declare" 'no llvm-nm here'
	# shellcheck disable=SC2046  # paths are words
	result "$part: the library exports what the headers declare" shows_public $(find "$build/src" -name '*.o' ! -path '*/cli/*' ! -name main.o)
}

# stand_in ARCHITECTURE LIBRARY VERSION: makes what a linker needs to know of a library of macOS.
stand_in() {
	printf '%s\n' '--- !tapi-tbd' 'tbd-version: 4' "targets: [ $1-macos ]" "install-name: '/usr/lib/lib$2.$3.dylib'" \
		'current-version: 1.0.0' 'compatibility-version: 1.0.0' 'exports:' "  - targets: [ $1-macos ]" \
		"    symbols: [ $(nm -D --defined-only "$(${CC:-cc} -print-file-name="lib$2.so")" | awk '$2 == "T" { sub("@.*", ""); print "_" $3 }' |
			sort -u | paste -sd ,) ]" ... >"$build/lib$2.tbd"
}

# is_installed LIBRARY MAKE...: succeeds if the names of a library for macOS lead to it where it is installed. The linker that makes the
# static library one object is not here.
is_installed() {
	local library=$1 root=$build/root link
	shift
	rm -rf "$root" && mkdir "$root" && touch "$build/libgo2heapsnapshot.a" &&
		"$@" -o "$build/libgo2heapsnapshot.a" DESTDIR="$top/$root" install || return
	for link in libgo2heapsnapshot.dylib libgo2heapsnapshot.0.dylib; do cmp "$library" "$root/usr/local/lib/$link" || return; done
	# That is also what it says that it is called.
	grep -aF /usr/local/lib/libgo2heapsnapshot.0.dylib "$library" >/dev/null && "$@" DESTDIR="$top/$root" uninstall && [ -z "$(find "$root" ! -type d)" ]
}

# is_for ARCHITECTURE FILE: succeeds if the file is one of Mach-O (mach-o/loader.h, mach/machine.h) for the architecture.
is_for() {
	case $1:$(od -An -v -tx4 -N8 --endian=little "$2") in
	arm64:' feedfacf 0100000c' | x86_64:' feedfacf 01000007') ;;
	*) return 1 ;;
	esac
}

# ---- elsewhere than on Linux ----

# Compiles what reads live processes as if this were no Linux; all else is linked as it is.
not_linux() {
	local source objects=()
	make_debug go2heapsnapshot || return
	for source in src/main.c src/cli/*.c $(grep -rl '__linux__' --include='*.c' src/[!c]*); do
		objects+=("$debug/${source%.c}.o")
		grep -q '__linux__' "$source" || continue
		objects[-1]=$build/$(basename "$source" .c).o
		# shellcheck disable=SC2086  # flags are words
		${CC:-cc} -std=c17 -Wall -Wextra -Werror -D_GNU_SOURCE -U__linux__ -Iinclude -Isrc -c -o "${objects[-1]}" "$source" || return
	done
	# shellcheck disable=SC2046  # libraries are words
	${CC:-cc} -o "$build/go2heapsnapshot" "${objects[@]}" "$debug/internal.a" $(make -s libs)
}

# refuses COMMAND...: succeeds if the command prints nothing, fails, and says that only Linux's processes are read.
refuses() {
	local said
	said=$("$@" 2>&1)
	[ $? -eq 1 ] && printf '%s\n' "$said" && [ "$said" = 'go2heapsnapshot: process 1: live processes are read on Linux only' ]
}

# ---- hosts of which there are compilers, a C library, and perhaps an emulator ----

# Compiles zlib, cmocka and SQLite for the host. Each is known to be right: hence no warnings.
libraries() {
	local sources=$1 source
	# shellcheck disable=SC2086  # ccache may not be there
	mkdir -p "$libraries"
	for source in "$sources"/zlib/*.c; do
		$cached $CC -O1 -w -fPIC -D_LARGEFILE64_SOURCE=1 -DHAVE_UNISTD_H -c -o "$libraries/zlib_$(basename "$source" .c).o" "$source" || return
	done
	$cached $CC -O1 -w -DHAVE_SIGNAL_H=1 -DHAVE_STRUCT_TIMESPEC=1 -I"$sources/cmocka/include" -c -o "$libraries/cmocka.o" \
		"$sources/cmocka/src/cmocka.c" || return
	$cached $CC -O1 -w -fPIC -DSQLITE_OMIT_LOAD_EXTENSION -c -o "$libraries/sqlite3.o" "$sources/sqlite3/sqlite3.c" || return
	"${CROSS_COMPILE}ar" rcs "$libraries/libz.a" "$libraries"/zlib_*.o &&
		"${CROSS_COMPILE}ar" rcs "$libraries/libcmocka.a" "$libraries/cmocka.o" &&
		"${CROSS_COMPILE}ar" rcs "$libraries/libsqlite3.a" "$libraries/sqlite3.o" &&
		cp "$sources"/zlib/z{lib,conf}.h "$sources"/cmocka/include/cmocka*.h "$sources/sqlite3/sqlite3.h" "$libraries"
}

# host CC CROSS_COMPILE EMULATOR: builds for another host, and runs the unit tests and the conversions there.
host() {
	local sources
	export HOST=$part CC=$1 CROSS_COMPILE=$2 EMULATOR=$3 BUILD=$build
	libraries=$build/libraries
	command -v "$CC" >/dev/null || skip "$part: builds" "no $CC here"
	[ -z "$EMULATOR" ] || command -v "$EMULATOR" >/dev/null || skip "$part: builds" "no $EMULATOR here"
	sources=$(tools/setup sources 2>/dev/null) || skip "$part: builds" 'no sources of libraries here'
	export CPPFLAGS="-I$libraries" LDFLAGS="-L$libraries" WITH_ZSTD='' WITH_LZMA='' WITH_LZ4='' WITH_DEFLATE=''
	[ "$part" = musl ] || LDFLAGS+=' -static' # then nothing of the host need be here
	result "$part: zlib, cmocka and SQLite compile" libraries "$sources"
	result "$part: compiles without a warning, and links" make_host go2heapsnapshot heapquery
	tests/unit/run.sh host | sed "s/^\(ok\|not ok\) \([0-9]* \)\?- /\1 - $part: /" | without_emulator
	result "$part: all formats of all samples are the same as here" digests
}

# What an emulator cannot do is skipped if it fails: to a big-endian program, qemu-user 7.2 says of a fault with an address that has
# its halves in the wrong order.
without_emulator() {
	case $part in
	s390x) sed 's/^not ok \(- .*: faults_have_names\)$/ok \1 # SKIP the address of a fault is the emulator'"'"'s own/' ;;
	*) cat ;;
	esac
}

# Compares what the host's program makes of the samples with what the one of this host does.
digests() {
	(unset CC CROSS_COMPILE CPPFLAGS LDFLAGS WITH_ZSTD WITH_LZMA WITH_LZ4 WITH_DEFLATE && make_debug go2heapsnapshot) || return
	tests/hosts/digest "$debug/go2heapsnapshot" >"$build/here.digests" || return
	# shellcheck disable=SC2086  # there may be no emulator
	tests/hosts/digest $EMULATOR "$build/go2heapsnapshot" >"$build/digests" && diff "$build/here.digests" "$build/digests"
}

# command_line WHY NAMES: tests the command line of the host's program. Tests with these names, a regular expression, are skipped if
# they fail.
command_line() {
	local why=$1 names=$2 program=$build/go2heapsnapshot name
	if [ -n "$EMULATOR" ]; then
		mkdir -p "$build/emulated"
		for name in go2heapsnapshot heapquery; do
			printf '%s\n' '#!/bin/sh' "exec $EMULATOR -0 $name '$top/$build/$name' \"\$@\"" >"$build/emulated/$name"
			chmod +x "$build/emulated/$name"
		done
		program=$build/emulated/go2heapsnapshot
	fi
	EMULATED=$EMULATOR GO2HEAPSNAPSHOT=$program tests/cli/run.sh |
		sed -E "s/^not ok [0-9]+ - (cli: ($names))\$/ok - $part: \\1 # SKIP $why/; s/^(ok|not ok) [0-9]+ - /\\1 - $part: /"
}

# ends_with STATUS COMMAND...: succeeds if the command ends with this status.
ends_with() {
	local wanted=$1
	shift
	"$@"
	[ $? -eq "$wanted" ]
}

case $part in
gcc-* | clang-*) compiler "$part" ;;
musl-sources)
	linux_headers "$build/include"
	without_sqlite=yes # nothing else in tier ci compiles what takes its place
	sources musl-gcc
	;;
arm64-sources) sources aarch64-linux-gnu-gcc ;;
macos-*) macos "${part#macos-}" ;;
not-linux)
	result 'not Linux: builds' not_linux
	result 'not Linux: --pid says why it reads nothing' refuses "$build/go2heapsnapshot" --pid 1
	result 'not Linux: dumps are read' cmp <("$build/go2heapsnapshot" samples/leakserver.1.dump.gz) \
		<("$debug/go2heapsnapshot" samples/leakserver.1.dump.gz)
	;;
musl)
	linux_headers "$build/libraries"
	host musl-gcc '' ''
	command_line "musl's own words" "--names wants one|-o that is a symbolic link to itself|--redact-key without a file|-o without a file|an unknown (option|letter)(: begins like all messages.*)?"
	result "$part: an option without its argument behind a dump is refused" ends_with 2 "$build/go2heapsnapshot" dump -o
	;;
i386) host i686-linux-gnu-gcc i686-linux-gnu- '' ;;
s390x) host s390x-linux-gnu-gcc s390x-linux-gnu- qemu-s390x ;;
arm64)
	host aarch64-linux-gnu-gcc aarch64-linux-gnu- qemu-aarch64
	command_line 'the emulator is a program of this host' '--exe, go2heapsnapshot itself.*|no file descriptors'
	BUILD=$build/kernel tests/hosts/kernel.sh "$build"
	G2H=$build/go2heapsnapshot BUILD=$build/at-death tests/hosts/at-death.sh arm64
	;;
at-death) G2H=$debug/go2heapsnapshot BUILD=$build tests/hosts/at-death.sh ;;
*)
	echo "tests/hosts/run.sh: no part $part" >&2
	exit 2
	;;
esac
