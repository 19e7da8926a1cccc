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

# secret GO_BUILD_FLAG...: reads a program that has used secret.Do (Go 1.26) from outside: no format may have what was allocated there.
secret() {
	name=$release-secret-$1
	at=$build/$name
	shift
	rm -rf "$at"
	mkdir -p "$at"
	cp "$here/go.mod" "$here"/secret/*.go "$at"
	if ! (cd "$at" && GOEXPERIMENT=runtimesecret "$go" build -o app "$@" .) >"$at/log" 2>&1; then
		failed builds
		return
	fi
	mkfifo "$at/input" || return
	"$at/app" <"$at/input" >"$at/said" 2>&1 &
	pid=$!
	exec 8>"$at/input"
	until grep -q '^ready' "$at/said"; do
		kill -0 "$pid" || break
		sleep 0.1
	done
	"$converter" --pid "$pid" --format dump -o "$at/outside.dump" 2>"$at/log"
	for format in heapsnapshot html hprof sqlite report csv; do
		"$converter" --exe "$at/app" --format "$format" -o "$at/out.$format" "$at/outside.dump" 2>>"$at/log"
	done
	for class in key public; do "$converter" --exe "$at/app" --format report --show "main.$class" "$at/outside.dump"; done >"$at/shown" 2>>"$at/log"
	"$converter" --exe "$at/app" --numbers -o "$at/numbers.heapsnapshot" "$at/outside.dump" 2>>"$at/log"
	exec 8>&-
	wait "$pid"
	grep -q 'objects that secret.Do has allocated' "$at/log" && echo "ok - $name: they are counted" || failed 'they are counted'
	printf '\304\136\347\304\136\347\304\136\n' >"$at/number" # as memory has it
	if grep -rlE 'TOPSECRET|6828837329216954052|426802333076059628|5ec4e75' "$at" --include='out*' --include=outside.dump --include=shown --include='numbers*' >>"$at/log" ||
		! grep -q '(secret)' "$at/shown" || ! grep -q 'PLAIN-note' "$at/out.heapsnapshot" || ! grep -q 'PLAIN-note' "$at/shown" ||
		LC_ALL=C grep -qaFf "$at/number" "$at/outside.dump"; then
		failed 'nothing of them is shown'
	else
		echo "ok - $name: nothing of them is shown"
	fi
	rm -rf "$at"/out* "$at/numbers.heapsnapshot"
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
	variant typed -ldflags=-compressdwarf=false
	two_ways && make_sanitized go2heapsnapshot &&
		"${NODE:-node}" "$here/damage.mjs" "$release" "$build/$release-typed" "$top/$sanitized/go2heapsnapshot" "$(damages 5 1000)"
	variant stripped '-ldflags=-s -w'
	case $release-$(uname -m) in
	go1.1* | go1.2[0-5]* | *aarch64) return ;; # secret.Do is there for two processors; one is enough
	esac
	[ -z "$trace_error" ] || { echo "ok - $release-secret # SKIP $trace_error" && return; }
	all_ways || return # an experiment, with a standard library of its own
	secret plain
	secret stripped '-ldflags=-s -w'
}

each_release variants
