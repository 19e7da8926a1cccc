#!/bin/bash
# Tests the Go package samples/heapdump/heaptest: every kind of leak fails a test and is named, functions that do not leak pass ten times,
# options, and the example of docs/ci.md. TAP on standard output.
#
#   GO2HEAPSNAPSHOT      the converter (default: build/go2heapsnapshot)
#   GOROOTS              the releases of Go (default: the current one; with CHECK_ALL all)
#   ROUNDS               how often each function that does not leak is tested (default: 4)
set -u
. "$(dirname "$0")/../variants.sh"
export GO2HEAPSNAPSHOT=$converter
unset CI HEAPTEST_DIR

# tests NAME TEST ARGUMENT...: runs a program of tests, and reports each test in it.
tests() {
	local name=$1 program=$2 status
	shift 2
	"$program" -test.v "$@" >"$at/log" 2>&1
	status=$?
	if [ "$status" -eq 0 ]; then
		sed -n "s/^ *--- PASS: \([^ ]*\) .*/ok - $name: \1/p" "$at/log" | sort | uniq -c | sed 's/^ *\([0-9]*\) \(.*\)/\2, \1 times/; s/, 1 times$//'
	else
		echo "not ok - $name (exit status $status)"
		sed 's/^/# /' "$at/log"
	fi
}

# compile NAME PACKAGE GO_FLAG...: compiles tests, by default with symbols; go test leaves them out if it runs the tests itself.
compile() {
	local program=$at/$1.test package=$2
	shift 2
	(cd "$here" && "$go" test -c -vet=off -o "$program" "$@" "./$package") >"$at/log" 2>&1 || failed "$package compiles"
}

# example: the test of docs/ci.md, which go test runs, fails with what the page says.
example() {
	local module=$at/example flags=-w=0 said
	mkdir -p "$module"
	awk '/^```go$/ { on = 1; next } /^```$/ { on = 0 } on' "$top/docs/ci.md" >"$module/session_test.go"
	sed 's/^module .*/module app/; s|\.\./\.\./samples|'"$top"'/samples|' "$here/go.mod" >"$module/go.mod"
	said=$(awk '/^```text$/ { getline; print; exit }' "$top/docs/ci.md")
	[ "$minor" -eq 21 ] && flags='-s=0 -w=0'
	(cd "$module" && HEAPTEST_DIR=$module "$go" test -vet=off -count=1 -ldflags="$flags" .) >"$at/log" 2>&1
	if [ $? -eq 1 ] && [ -n "$said" ] && [ -z "$("$GOROOT/bin/gofmt" -l "$module")" ] && sed 's/\["user-[0-9]*"\]/["user-17"]/' "$at/log" | grep -qF -- "${said#*: }"; then
		echo "ok - $name: the example of docs/ci.md fails with what the page says"
	else
		failed 'the example of docs/ci.md fails with what the page says'
	fi
}

variants() {
	name=$release at=$build/$release
	local minor=${release#go1.}
	minor=${minor%%[!0-9]*}
	[ "$minor" -ge 21 ] || return
	rm -rf "$at"
	mkdir -p "$at"
	compile leaks leaks && tests "$name" "$at/leaks.test"
	compile stripped leaks '-ldflags=-s -w' && tests "$name, stripped" "$at/stripped.test" -test.run 'TestLeaks/map$'
	compile clean clean && tests "$name" "$at/clean.test" -test.count="${ROUNDS:-4}"
	example
}

each_release variants
