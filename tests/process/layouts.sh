#!/bin/sh
# Builds the program in subject/ with releases of Go, and compares the offsets of the runtime's fields in the table of
# src/process/layout.c with those in the program's DWARF. TAP without numbers on standard output.
#
#   GOROOTS              the releases (default: see tests/go.sh)
#   LIBRARY              internal.a (default: build/internal.a)
#   BUILD                where everything goes (default: build/process/layouts)

set -u
. "$(dirname "$0")/lib.sh"
export GOPATH="$build/gopath" GOOS=linux
c layouts "$here/layouts.c" || exit 1
cd "$here/subject" || exit 1

# compare GOARCH [EXPERIMENT]
compare() {
	name="$release, $1${2:+, $2}: the table is what DWARF says"
	if GOARCH=$1 GOEXPERIMENT=${2-} "$GOROOT/bin/go" build -o "$build/subject" . >"$build/log" 2>&1 &&
		"$build/layouts" "$build/subject" >"$build/dwarf" 2>"$build/log" &&
		"$build/layouts" "$build/subject" table >"$build/table" 2>"$build/log" &&
		diff "$build/dwarf" "$build/table" >"$build/log"; then
		echo "ok - $name"
	else
		echo "not ok - $name"
		sed 's/^/# /' "$build/log"
	fi
}

for GOROOT in $goroots; do
	export GOROOT
	release=$(go_release "$GOROOT")
	compare amd64
	compare arm64
	case $release in
	go1.22*) compare amd64 noallocheaders ;;
	go1.25*) compare amd64 greenteagc ;;
	go1.26* | go1.27*) compare amd64 nogreenteagc ;;
	esac
done
