#!/bin/bash
# Builds the programs of samples/ against what `make install` put into ROOT, as a user of the library would, with nothing
# else of this tree: build.sh ROOT OUTPUT. The programs are OUTPUT/COMPILER/{shared,static}/NAME. TAP on standard output.
set -u
root=$1 output=$2
cd "$(dirname "$0")/../.." || exit 1
export PKG_CONFIG_PATH=$root/lib/pkgconfig
shared=$(pkg-config --cflags --libs go2heapsnapshot) && static=$(pkg-config --cflags --static --libs go2heapsnapshot) || exit 1
static=${static/-lgo2heapsnapshot/$root/lib/libgo2heapsnapshot.a} # without its path the linker would take the shared library
strict='-Wall -Wextra -Wpedantic -Werror'

. tests/result.sh

# build COMPILER STANDARD shared|static SOURCE FLAG...: builds a program, and fails unless it is linked with that library.
build() {
	local program
	program=$output/$1/$3/$(basename "${4%.*}")
	mkdir -p "${program%/*}"
	# shellcheck disable=SC2086  # flags are words
	"$1" "-std=$2" -O1 $strict -o "$program" "$4" "${@:5}" || return
	# Fails unless the program needs the shared library, or does not need it.
	case $3 in
	shared) readelf -d "$program" | grep -q 'NEEDED.*libgo2heapsnapshot[.]so[.]0' ;;
	static) ! readelf -d "$program" | grep 'NEEDED.*libgo2heapsnapshot' ;;
	esac
}

# alone COMPILER STANDARD LANGUAGE: succeeds if each public header compiles by itself.
alone() {
	local header
	for header in "$root"/include/go2heapsnapshot/*.h; do
		# shellcheck disable=SC2086
		printf '#include <go2heapsnapshot/%s>\nextern int x;\n' "$(basename "$header")" |
			"$1" "-std=$2" $strict -fsyntax-only -x "$3" "-I$root/include" - || return
	done
}

# compile COMPILER STANDARD SOURCE...: succeeds if each program compiles.
compile() {
	local source
	for source in "${@:3}"; do
		# shellcheck disable=SC2086
		"$1" "-std=$2" $strict -fsyntax-only "$source" "-I$root/include" || return
	done
}

# try COMPILER STANDARD LANGUAGE SOURCE...: tests the headers and the programs with a compiler; with gcc's, these are linked with both libraries.
try() {
	local source
	if ! command -v "$1" >/dev/null; then
		echo "ok - $1 builds the samples # SKIP it is not installed"
		return
	fi
	result "$1: each header compiles alone as $2" alone "$1" "$2" "$3"
	case $1 in
	clang*)
		result "$1: the samples compile" compile "$1" "$2" "${@:4}"
		return
		;;
	esac
	for source in "${@:4}"; do
		# shellcheck disable=SC2086
		result "$1: $source links with the shared library" build "$1" "$2" shared "$source" $shared
		# shellcheck disable=SC2086
		result "$1: $source links with the static library" build "$1" "$2" static "$source" $static
	done
}

try gcc c17 c samples/*.c
try clang c17 c samples/*.c
try g++ c++17 c++ samples/*.cc
try clang++ c++17 c++ samples/*.cc
