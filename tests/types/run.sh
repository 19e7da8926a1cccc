#!/bin/sh
# Types: a program that has objects of every kind, built in several ways, dumps itself; in its snapshot each object must
# have its class and each pointer its field. TAP on standard output; build/types/GO-VARIANT/complaints.txt has all.
#
#   GO2HEAPSNAPSHOT      the converter (default: build/go2heapsnapshot)
#   GOROOTS              the releases (default: see tests/go.sh)
#   VARIANTS             some of: truth plain no-dwarf stripped unoptimized pie 386
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
converter=${GO2HEAPSNAPSHOT:-$top/build/go2heapsnapshot}
build=${BUILD:-$top/build/types}
. "$top/tests/go.sh"

# variant NAME CHECKS GO_BUILD_FLAG...: builds, dumps, converts and checks.
variant() {
	case " ${VARIANTS:-truth plain no-dwarf stripped unoptimized pie 386} " in
	*" $1 "*) ;;
	*) return ;;
	esac
	name=$release-$1 checks=$2
	at=$build/$name
	shift 2
	mkdir -p "$at"
	# shellcheck disable=SC2086  # a command and its arguments
	if ! (cd "$here" && ${go_build:-"$go" build} -o "$at/app" "$@" ./program) >"$at/log" 2>&1; then
		echo "not ok - $name: builds"
		tail -n 20 "$at/log" | sed 's/^/# /'
		return
	fi
	status=0
	"$at/app" >"$at/log" 2>&1 || status=$?
	if [ $status -ne 2 ]; then # its usage
		echo "ok - $name # SKIP this machine does not run it"
		return
	fi
	if ! "$at/app" "$at" >"$at/log" 2>&1 ||
		! "$converter" --exe "$at/app" -o "$at/types.heapsnapshot" "$at/types.dump" 2>>"$at/log"; then
		echo "not ok - $name: dumps itself and converts"
		tail -n 20 "$at/log" | sed 's/^/# /'
		return
	fi
	if [ "$checks" = truth ]; then
		"${NODE:-node}" "$here/truth.mjs" "$name" "$at" || [ $? -eq 1 ] || echo "not ok - $name: the check itself failed"
		return
	fi
	# shellcheck disable=SC2086  # checks are words
	"${NODE:-node}" "$here/check.mjs" "$name" "$at" $checks || [ $? -eq 1 ] || echo "not ok - $name: the check itself failed"
}

for GOROOT in $goroots; do
	export GOROOT
	go=$GOROOT/bin/go
	release=$(go_release "$GOROOT") || {
		echo "not ok - there is a Go in $GOROOT"
		continue
	}
	case $release in
	go1.1[0-9]* | go1.2[0-2]*) all=--dwarf ;;
	*) all='--dwarf --captures' ;;
	esac
	# What the program believes to know, against tests/truth's allocator.
	go_build="$here/../truth/go-build.sh $GOROOT $build/$release-truth/runtime"
	variant truth truth -tags=truth
	go_build=
	variant plain "$all"
	variant no-dwarf '' -ldflags=-w
	variant stripped '' '-ldflags=-s -w'
	variant unoptimized "$all" '-gcflags=-N -l'
	variant pie "$all" -buildmode=pie
	GOARCH=386
	export GOARCH
	variant 386 "$all"
	unset GOARCH
done
