#!/bin/bash
# Runs a program with holders of several kinds, reads it with --pid, and empties them: RSS must fall by what the report has predicted.
# TAP on standard output.
#
#   GO2HEAPSNAPSHOT      the converter (default: build/go2heapsnapshot)
#   GOROOTS              the releases of Go (default: 1.22 and the current one; with CHECK_ALL all from 1.19 on)
set -u
usual=leaks
. "$(dirname "$0")/../process/lib.sh"
may_trace 'pages' || exit 0
for GOROOT in $goroots; do
	export GOROOT
	release=$(go_release "$GOROOT") || {
		echo "not ok - there is a Go in $GOROOT"
		continue
	}
	at=$build/$release
	mkdir -p "$at"
	if (cd "$here/program" && "$GOROOT/bin/go" build -o "$at/app" .) >"$at/log" 2>&1; then
		node "$here/pages.test.mjs" "${GO2HEAPSNAPSHOT:-$g2h}" "$at/app" "$release"
	else
		result 1 "$release builds" "$at/log"
	fi
done
