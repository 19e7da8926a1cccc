#!/bin/sh
# Builds the program in subject/ with releases of Go, and compares the layouts that src/types/runtime_types.c makes for its maps,
# channels and library types with its DWARF. TAP without numbers on standard output.
#
#   GOROOTS              the releases of Go (default: see tests/go.sh)
#   LIBRARY              internal.a (default: build/internal.a)
#   BUILD                the directory for all output (default: build/structures)

set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
library=${LIBRARY:-$top/build/internal.a}
build=${BUILD:-$top/build/structures}
mkdir -p "$build" || exit 1

. "$top/tests/go.sh"
export GOPATH="$build/gopath"

${CC:-cc} -std=c17 -D_GNU_SOURCE -Wall -Wextra -I"$top/src" -I"$top/include" -o "$build/check_layouts" \
	"$here/check_layouts.c" "$library" ${test_libs-$(make -s -C "$top" libs)} || exit 1
current=$("$top/tools/setup" go-current) || exit 1
cd "$here" || exit 1
GOROOT=$current "$current/bin/go" build -o "$build/layouts" ./layouts || exit 1

# check ARCHITECTURE POINTER_SIZE [EXPERIMENT]
check() {
	name="$release, $1${3:+, $3}"
	if GOARCH=$1 GOEXPERIMENT=${3-} "$go" build -o "$build/subject" ./subject 2>"$build/log" &&
		"$build/layouts" "$build/subject" >"$build/types" 2>"$build/log"; then
		"$build/check_layouts" "$release${3:+ X:$3}" "$2" <"$build/types" >"$build/tap" ||
			echo "not ok - ended with status $?" >>"$build/tap"
		sed -E "s/^((not )?ok) [0-9]+ - /\1 - $name: /" "$build/tap"
	else
		echo "not ok - $name: builds"
		sed 's/^/# /' "$build/log"
	fi
}

for GOROOT in $goroots; do
	export GOROOT
	go=$GOROOT/bin/go
	release=$(go_release "$GOROOT")
	check amd64 8
	check 386 4
	case $release in
	go1.24* | go1.25*)
		check amd64 8 noswissmap
		check 386 4 noswissmap
		check amd64 8 nosynchashtriemap
		;;
	go1.27*)
		check amd64 8 mapsplitgroup
		;;
	esac
done
