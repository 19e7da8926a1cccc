#!/bin/sh
# Builds the programs beside this file with several releases of Go, lets them dump
# themselves, converts the dumps and looks up in the snapshots what the programs
# know of their heaps. TAP without a plan goes to stdout, compilers' messages to
# stderr. The exit code is 1 if a test failed.
#
#   GO2HEAPSNAPSHOT      the converter (default: build/go2heapsnapshot)
#   GOROOTS              the releases (default: see tests/go.sh)
#   NODE                 Node.js 18 or newer (default: node)
#   BUILD                where everything goes (default: build/programs)

set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
converter=${GO2HEAPSNAPSHOT:-$top/build/go2heapsnapshot}
node=${NODE:-node}
build=${BUILD:-$top/build/programs}

. "$top/tests/go.sh"
export GOPATH="$build/gopath"

# result NAME COMMAND...: reports one test, which passes if the command succeeds.
result() {
	name=$1
	shift
	if "$@" >"$work/log" 2>&1; then
		echo "ok 0 - $name"
	else
		echo "not ok 0 - $name"
		sed 's/^/#   /' "$work/log"
		return 1
	fi
}

convert() {
	"$converter" "$1" >"$2"
}

# program NAME DUMP...: builds a program, makes its dumps and snapshots, and tests these against its truth.
program() {
	program=$1
	shift
	cd "$here" || return
	result "$program ($release): builds" "$go" build -trimpath -o "$work/$program" "./$program" || return
	cd "$work" || return
	result "$program ($release): dumps itself" "./$program" . || return
	for dump; do
		result "$program ($release): $dump converts" convert "$dump.dump" "$dump.heapsnapshot" || return
	done
	if [ $# -eq 2 ]; then
		set -- "$1" --dump2 "$2.dump" --snapshot2 "$2.heapsnapshot"
	fi
	first=$1
	shift
	"$node" "$here/truth.test.mjs" --prefix "$program ($release): " --truth "$program.json" \
		--dump "$first.dump" --snapshot "$first.heapsnapshot" "$@" ||
		[ $? -eq 1 ] || echo "not ok 0 - $program ($release): the test itself failed"
}

# The sample server is one more program, whose truth is in its own tests.
leakserver() {
	cd "$top/samples/heapdump" || return
	result "the module heapdump ($release): its tests pass" "$go" test -vet=off -count=1 ./... || return
	cd "$top/samples/leakserver" || return
	result "leakserver ($release): builds" "$go" build -trimpath -o "$work/leakserver" . || return
	cd "$work" || return
	result "leakserver ($release): dumps itself" ./leakserver -self-test . || return
	for dump in leak.1 leak.2; do
		result "leakserver ($release): $dump converts" convert "$dump.dump" "$dump.heapsnapshot"
	done
}

programs() {
	work=$build/$release
	mkdir -p "$work" || exit 1
	program known known
	program twodumps twodumps.1 twodumps.2
	program goroutines goroutines
	program profile profile
}

# Tests programs with words of 32 bits, if the processor runs them beside those with 64.
programs32() {
	export GOARCH=386
	release="$release-$GOARCH"
	work=$build/$release
	mkdir -p "$work" || exit 1
	cd "$here" && "$go" build -o "$work/known" ./known && "$work/known" >"$work/log" 2>&1
	if [ $? -eq 2 ]; then # the program's usage message: it runs
		programs
	else
		echo "ok 0 - programs ($release) # SKIP this machine does not run them"
	fi
	unset GOARCH
}

all() {
	for GOROOT in $goroots; do
		export GOROOT
		go=$GOROOT/bin/go
		release=$(go_release "$GOROOT") || {
			echo "not ok 0 - there is a Go in $GOROOT"
			continue
		}
		case $release in
		go1.1[0-6]*)
			echo "ok 0 - programs ($release) # SKIP its dumps do not name the release, nor what deferred calls were given"
			continue
			;;
		esac
		programs
		leakserver
		if all_ways && [ "$("$go" env GOHOSTARCH)" = amd64 ]; then
			programs32
		fi
	done
}

# Each part of the output has its own numbers: number all tests consecutively.
all | awk '
	/^(not )?ok [0-9]+/ { sub(/ok [0-9]+/, "ok " ++n) }
	/^not ok/           { failed = 1 }
	                    { print; fflush() }
	END                 { exit failed || !n }'
