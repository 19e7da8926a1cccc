#!/bin/sh
# Tests types: a program that has objects of every kind, built in several ways, dumps itself; in its snapshot each object must
# have its class and each pointer its field. TAP on standard output; build/types/GO-VARIANT/complaints.txt has all complaints.
#
#   GO2HEAPSNAPSHOT      the converter (default: build/go2heapsnapshot)
#   GOROOTS              the releases of Go (default: see tests/go.sh)
#   VARIANTS             some of: truth plain no-dwarf stripped unoptimized pie pie-stripped cgo asan 386, which are built with
#                        the last of the releases; the others build truth plain stripped only; with CHECK_ALL also
#                        all-unoptimized cgo-stripped cgo-pie arm64 s390x s390x-stripped arm mips, and experiments by name
set -u
. "$(dirname "$0")/../variants.sh"

# wanted NAME: succeeds if $VARIANTS has the variant, or is not set.
wanted() {
	case " ${VARIANTS:-$1} " in
	*" $1 "*) ;;
	*) return 1 ;;
	esac
}

# The emulator that runs a variant for another processor; empty for the machine's own.
emulator=

# Lets the program dump itself, in up to three attempts: Go 1.27 with cgo now and then dies of "dumpgs in STW - bad status" in
# WriteHeapDump, which is a bug of Go.
dumps_itself() {
	for _ in 1 2 3; do
		$emulator "$at/app" "$at" && return
	done
	return 1
}

# variant NAME CHECKS GO_BUILD_FLAG...: builds, dumps, converts and checks.
variant() {
	wanted "$1" || return 0
	name=$release-$1 checks=$2
	at=$build/$name
	shift 2
	builds program "$@" || return
	$emulator "$at/app" >"$at/log" 2>&1
	if ! grep -q '^usage: ' "$at/log"; then # the status could also be that of a runtime that gives up
		echo "ok - $name # SKIP this machine does not run it"
		return
	fi
	if ! dumps_itself >"$at/log" 2>&1 ||
		! "$converter" --names=full --exe "$at/app" -o "$at/types.heapsnapshot" "$at/types.dump" 2>>"$at/log"; then
		failed 'dumps itself and converts'
		return
	fi
	if [ "$checks" = truth ]; then
		"${NODE:-node}" "$here/truth.mjs" "$name" "$at" || [ $? -eq 1 ] || echo "not ok - $name: the check itself failed"
		return
	fi
	# shellcheck disable=SC2086  # checks are words
	"${NODE:-node}" "$here/check.mjs" "$name" "$at" $checks || [ $? -eq 1 ] || echo "not ok - $name: the check itself failed"
}

# emulated NAME GOARCH QEMU CHECKS GO_BUILD_FLAG...: like variant(), for another processor.
emulated() {
	wanted "$1" || return 0
	if ! command -v "qemu-$3" >/dev/null; then
		echo "ok - $release-$1 # SKIP no qemu-$3: of Debian's qemu-user, which tools/setup check-all brings"
		return
	fi
	emulator=qemu-$3 emulated=$1
	export GOARCH="$2"
	shift 3
	variant "$emulated" "$@"
	unset GOARCH
	emulator=
}

# experiment NAME CHECKS: like variant(), with the experiment if it is off by default, without it if it is on.
experiment() {
	[ -e "$GOROOT/src/internal/goexperiment/exp_$1_on.go" ] || return 0 # the release does not have it
	case " $("$go" list -f '{{context.ToolTags}}' runtime | tr '[]' '  ') " in
	*" goexperiment.$1 "*) export GOEXPERIMENT="no$1" ;;
	*) export GOEXPERIMENT="$1" ;;
	esac
	variant "$GOEXPERIMENT" "$2"
	unset GOEXPERIMENT
}

# Tests what only CHECK_ALL asks for: other ways to link, other processors, and experiments that change memory layouts.
rare_variants() {
	variant all-unoptimized "$all" '-gcflags=all=-N -l'
	export CGO_ENABLED=1
	variant cgo-stripped '' '-ldflags=-linkmode=external -s -w'
	variant cgo-pie "$all" -buildmode=pie -ldflags=-linkmode=external
	export CGO_ENABLED=0
	emulated arm64 arm64 aarch64 "$all"
	emulated s390x s390x s390x "$all"
	emulated s390x-stripped s390x s390x '' '-ldflags=-s -w'
	emulated arm arm arm "$all"
	emulated mips mips mips "$all"
	for experiment in allocheaders swissmap mapsplitgroup synchashtriemap spinbitmutex greenteagc sizespecializedmalloc \
		randomizedheapbase64 runtimefreegc goroutineleakprofile dwarf5 unified regabiargs; do
		experiment "$experiment" "$all"
	done
}

variants() {
	case $release in
	go1.1[0-9]* | go1.2[0-2]*) all=--dwarf ;;
	*) all='--dwarf --captures' ;;
	esac
	# Compares what the program says that it knows with what the allocator of tests/truth was told.
	go_build="$here/../truth/go-build.sh $GOROOT $build/$release-truth/runtime"
	variant truth truth -tags=truth
	go_build=
	variant plain "$all"
	variant stripped '' '-ldflags=-s -w'
	[ -n "${VARIANTS-}" ] || all_ways || return
	variant no-dwarf '' -ldflags=-w
	variant unoptimized "$all" '-gcflags=-N -l'
	variant pie "$all" -buildmode=pie
	variant pie-stripped '' -buildmode=pie '-ldflags=-s -w'
	# The program is linked by C's linker, and libc is in it.
	export CGO_ENABLED=1
	variant cgo "$all" -ldflags=-linkmode=external
	export ASAN_OPTIONS=detect_leaks=0
	CC=gcc variant asan "$all" -asan -gcflags=all=-d=checkptr=0
	export CGO_ENABLED=0
	GOARCH=386
	export GOARCH
	variant 386 "$all"
	unset GOARCH
	[ -z "${CHECK_ALL-}" ] || rare_variants
}

each_release variants
