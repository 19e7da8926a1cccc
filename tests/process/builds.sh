#!/bin/sh
# Reads a process, its core file and its dump with executables of other builds, whose build IDs do not tell: there are none, or
# all are the same. Each must be refused; the executable that ran, and a stripped copy of it, must not. TAP on standard output.
#
#   G2H                  the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases (default: see tests/go.sh)
set -u
. "$(dirname "$0")/lib.sh"
may_trace builds || exit 0

# git_of_test ARGUMENT...: git without the user's settings.
git_of_test() {
	GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 git -C "$at/source" -c user.name=test -c user.email=test "$@" >/dev/null
}

# make NAME EXPRESSION: builds the program, changed by sed, as $at/NAME; with $vcs=true, of a commit of its own.
make() {
	mkdir -p "$at/source"
	cp "$here"/builds/go.mod "$at/source"
	sed "$2" "$here/builds/main.go" >"$at/source/main.go"
	git_of_test init -q && git_of_test add . && git_of_test commit -q --allow-empty -m "$1" || return
	# shellcheck disable=SC2086  # there may be no flag
	(cd "$at/source" && CGO_ENABLED=0 GOFLAGS=-buildvcs=$vcs "$goroot/bin/go" build -trimpath $flags -ldflags="-buildid=$id" -o "$at/$1" .) >"$at/log" 2>&1
}

# reads NAME ARGUMENT...: a conversion must succeed.
reads() {
	name="$release, $way: $1"
	shift
	"$g2h" --format report "$@" >"$at/report" 2>"$at/log" && grep -q ' main.Session ' "$at/report"
	result $? "$name" "$at/log"
}

# refuses NAME MESSAGE ARGUMENT...: a conversion must fail with a message, and write nothing.
refuses() {
	name="$release, $way: $1"
	message=$2
	shift 2
	"$g2h" --format report "$@" >"$at/report" 2>"$at/log"
	status=$?
	[ "$status" -eq 1 ] && [ ! -s "$at/report" ] && grep -q "$message" "$at/log"
	result $? "$name is refused" "$at/log"
}

# core: takes a core of the process as $at/core, in which the kernel leaves out what is in files, or gdb puts everything.
core() {
	rm -f "$at"/core*
	gcore -o "$at/core" "$pid" >"$at/log" 2>&1 && mv "$at/core.$pid" "$at/core"
}

compare() {
	rm -f "$at/own.dump"
	"$at/app" "$at/own.dump" >"$at/app.log" 2>&1 &
	pid=$!
	wait_ready "$at/app.log"
	cores=
	! command -v gcore >/dev/null || ! core || cores=yes
	[ -n "$cores" ] || echo "ok - $release, $way: a core # SKIP there is no gcore"
	for right in app stripped; do
		reads "live, $right" --pid "$pid" --exe "$at/$right"
		reads "a dump, $right" --exe "$at/$right" "$at/own.dump"
		[ -z "$cores" ] || reads "a core, $right" --exe "$at/$right" "$at/core"
		"$g2h" --format report --base "$at/own.dump" --base-exe "$at/$right" --exe "$at/app" "$at/own.dump" >"$at/report" 2>"$at/log"
		result $? "$release, $way: a base, $right" "$at/log"
	done
	for other in lines field renamed; do
		refuses "live, $other" 'is another build than the one process' --pid "$pid" --exe "$at/$other"
		# Neither a core nor a dump has the names of types. So only the revision tells builds apart that differ in nothing else.
		[ -z "$cores" ] || [ "$other$way" = renamedconstant ] ||
			refuses "a core, $other" 'is another build than the one .*core ran' --exe "$at/$other" "$at/core"
		[ "$way" != revision ] || refuses "live, $other" "its vcs.revision is [0-9a-f]*, the process's [0-9a-f]" --pid "$pid" --exe "$at/$other"
	done
	refuses 'a dump' 'is not the executable that wrote the dump' --exe "$at/lines" "$at/own.dump"
	refuses 'a base' 'is not the executable that wrote the dump' --base "$at/own.dump" --base-exe "$at/lines" --exe "$at/app" "$at/own.dump"
	kill_app
}

for goroot in $goroots; do
	export GOROOT="$goroot"
	release=$(go_release "$goroot")
	for way in revision constant ${CHECK_ALL:+pie}; do
		at=$build/$release-$way
		rm -rf "$at"
		mkdir -p "$at"
		id='' flags='' vcs=false
		[ "$way" != revision ] || vcs=true
		[ "$way" != constant ] || id=redacted
		[ "$way" != pie ] || flags=-buildmode=pie
		make app '' && strip -o "$at/stripped" "$at/app" && make field '/ID/s/int/*int/' && make renamed 's/Session/Invoice/g' &&
			make lines '/lines$/s/$/\n\t\tif i == 17 {\n\t\t\tall = all[1:]\n\t\t}/'
		status=$?
		result "$status" "$release, $way: it is built" "$at/log"
		[ "$status" -ne 0 ] || compare
	done
done
