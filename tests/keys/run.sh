#!/bin/sh
# Tests keys: a program that has maps of every kind dumps itself; in its snapshot each entry must be found by its key. TAP on
# standard output.
#
#   GO2HEAPSNAPSHOT      the converter (default: build/go2heapsnapshot)
#   GOROOTS              the releases of Go (default: see tests/go.sh)
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
converter=${GO2HEAPSNAPSHOT:-$top/build/go2heapsnapshot}
build=${BUILD:-$top/build/keys}
. "$top/tests/go.sh"

# variant NAME GO_BUILD_FLAG...: builds, dumps, converts and checks.
variant() {
	name=$release-$1
	at=$build/$name
	shift
	mkdir -p "$at"
	if ! (cd "$here" && "$go" build -o "$at/app" "$@" ./program) >"$at/log" 2>&1; then
		echo "not ok - $name: builds"
		tail -n 20 "$at/log" | sed 's/^/# /'
		return
	fi
	"$at/app" >"$at/log" 2>&1
	if ! grep -q '^usage: ' "$at/log"; then # the status could also be that of a runtime that gives up
		echo "ok - $name # SKIP this machine does not run it"
		return
	fi
	if ! "$at/app" "$at" >"$at/log" 2>&1 ||
		! "$converter" --exe "$at/app" -o "$at/keys.heapsnapshot" "$at/keys.dump" 2>>"$at/log"; then
		echo "not ok - $name: dumps itself and converts"
		tail -n 20 "$at/log" | sed 's/^/# /'
		return
	fi
	"$converter" --exe "$at/app" -j 1 "$at/keys.dump" 2>>"$at/log" | cmp -s - "$at/keys.heapsnapshot" &&
		"$converter" --exe "$at/app" -j 7 "$at/keys.dump" 2>>"$at/log" | cmp -s - "$at/keys.heapsnapshot" &&
		echo "ok - $name: threads change nothing" || echo "not ok - $name: threads change nothing"
	"${NODE:-node}" "$here/check.mjs" "$name" "$at" || echo "not ok - $name: the check itself failed"
	"${NODE:-node}" "$here/redact.mjs" "$name" "$at" "$converter" || echo "not ok - $name: the check of --redact itself failed"
}

for GOROOT in $goroots; do
	export GOROOT
	go=$GOROOT/bin/go
	release=$(go_release "$GOROOT") || {
		echo "not ok - there is a Go in $GOROOT"
		continue
	}
	variant plain
	all_ways || continue
	variant stripped '-ldflags=-s -w'
	GOARCH=386
	export GOARCH
	variant 386
	unset GOARCH
done
