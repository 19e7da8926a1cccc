#!/bin/sh
# Tests --show: a program that has values of all kinds dumps itself; what is shown of them must be what the program says of them.
# TAP on standard output.
#
#   GO2HEAPSNAPSHOT      the converter (default: build/go2heapsnapshot)
#   DAMAGES              how many damaged dumps are shown with sanitizers, for the last release (default: 100)
#   GOROOTS              the releases of Go (default: see tests/go.sh)
set -u
. "$(dirname "$0")/../variants.sh"
. "$top/tests/sanitize.sh"

# variant NAME GO_BUILD_FLAG...: builds, dumps and checks.
variant() {
	name=$release-$1
	at=$build/$name
	stripped=
	[ "$1" != stripped ] || stripped=stripped
	shift
	builds program "$@" || return
	if ! "$at/app" "$at" >>"$at/log" 2>&1; then
		failed 'dumps itself'
		return
	fi
	"${NODE:-node}" "$here/check.mjs" "$name" "$at" "$converter" $stripped || echo "not ok - $name: the check itself failed"
}

variants() {
	case $release in go1.1[0-8] | go1.1[0-8].*)
		echo "ok - $release: the program needs Go 1.19 # SKIP"
		return
		;;
	esac
	variant typed
	all_ways && make_sanitized go2heapsnapshot &&
		"${NODE:-node}" "$here/damage.mjs" "$release" "$build/$release-typed" "$top/$sanitized/go2heapsnapshot" "$(damages 100 1000)"
	variant stripped '-ldflags=-s -w'
}

each_release variants
