#!/bin/sh
# Tests keys: a program that has maps of every kind dumps itself; in its snapshot each entry must be found by its key. TAP on
# standard output.
#
#   GO2HEAPSNAPSHOT      the converter (default: build/go2heapsnapshot)
#   GOROOTS              the releases of Go (default: see tests/go.sh)
set -u
. "$(dirname "$0")/../variants.sh"

# variant NAME GO_BUILD_FLAG...: builds, dumps, converts and checks.
variant() {
	name=$release-$1
	at=$build/$name
	shift
	builds program "$@" || return
	"$at/app" >"$at/log" 2>&1
	if ! grep -q '^usage: ' "$at/log"; then # the status could also be that of a runtime that gives up
		echo "ok - $name # SKIP this machine does not run it"
		return
	fi
	if ! "$at/app" "$at" >"$at/log" 2>&1 ||
		! "$converter" --exe "$at/app" -o "$at/keys.heapsnapshot" "$at/keys.dump" 2>>"$at/log"; then
		failed 'dumps itself and converts'
		return
	fi
	"$converter" --exe "$at/app" -j 1 "$at/keys.dump" 2>>"$at/log" | cmp -s - "$at/keys.heapsnapshot" &&
		"$converter" --exe "$at/app" -j 7 "$at/keys.dump" 2>>"$at/log" | cmp -s - "$at/keys.heapsnapshot" &&
		echo "ok - $name: threads change nothing" || echo "not ok - $name: threads change nothing"
	"${NODE:-node}" "$here/check.mjs" "$name" "$at" || echo "not ok - $name: the check itself failed"
	"${NODE:-node}" "$here/redact.mjs" "$name" "$at" "$converter" || echo "not ok - $name: the check of --redact itself failed"
}

variants() {
	variant plain
	two_ways || return
	variant stripped '-ldflags=-s -w'
	all_ways || return
	GOARCH=386
	export GOARCH
	variant 386
	unset GOARCH
}

each_release variants
