#!/bin/sh
# Tests --show: a program that has values of all kinds dumps itself, and is read from outside; what is shown of them must be what the
# program says of them.
# TAP on standard output.
#
#   GO2HEAPSNAPSHOT      the converter (default: build/go2heapsnapshot)
#   DAMAGES              how many damaged dumps are shown with sanitizers, for the last release (default: 5)
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
	outside
}

# outside: with $CHECK_ALL or $GOROOTS, reads the program from outside as well, and checks the same of that.
outside() {
	all_ways || return
	if [ -n "$trace_error" ]; then
		echo "ok - $name: from outside # SKIP $trace_error"
		return
	fi
	rm -f "$at/input"
	mkfifo "$at/input" || return
	"$at/app" "$at" stay <"$at/input" >"$at/said" 2>&1 &
	pid=$!
	exec 8>"$at/input"
	until grep -q '^ready' "$at/said"; do
		kill -0 "$pid" || break
		sleep 0.1
	done
	"$converter" --exe "$at/app" --pid "$pid" --format dump -o "$at/outside.dump" 2>"$at/log"
	status=$?
	exec 8>&-
	wait "$pid"
	if [ $status -eq 0 ]; then
		OUTSIDE=1 "${NODE:-node}" "$here/check.mjs" "$name, from outside" "$at" "$converter" $stripped || echo "not ok - $name: the check from outside failed"
	else
		echo "not ok - $name: is read from outside"
		sed 's/^/# /' "$at/log"
	fi
	rm -f "$at/outside.dump"
}

mkdir -p "$build"
trace_error=
${CC:-cc} -D_GNU_SOURCE -o "$build/may_trace" "$top/tests/process/may_trace.c" && trace_error=$("$build/may_trace" 2>&1) && trace_error=

variants() {
	case $release in go1.1[0-8] | go1.1[0-8].*)
		echo "ok - $release: the program needs Go 1.19 # SKIP"
		return
		;;
	esac
	variant typed
	two_ways && make_sanitized go2heapsnapshot &&
		"${NODE:-node}" "$here/damage.mjs" "$release" "$build/$release-typed" "$top/$sanitized/go2heapsnapshot" "$(damages 5 1000)"
	variant stripped '-ldflags=-s -w'
}

each_release variants
