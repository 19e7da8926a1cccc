#!/bin/sh
# Tests heaps of real programs: etcd, NATS, gin, esbuild, a JavaScript engine, what a site generator does. They are built from
# Debian's packages of libraries (tools/setup check-all) and dump themselves. How much is typed, and what is wrong, is measured
# against what tests/truth's allocator was told. TAP on standard output; tables are in
# build/real/GO/PROGRAM/VARIANT/measure.txt.
#
#   GO2HEAPSNAPSHOT      the converter (default: build/go2heapsnapshot)
#   GOROOTS              the releases of Go (default: the distribution's and the current one)
#   PROGRAMS             the programs to test (default: all)
#   SHARE                the part of each heap that is made (default: 0.3)
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
converter=${GO2HEAPSNAPSHOT:-$top/build/go2heapsnapshot}
build=${BUILD:-$top/build/real}
share=${SHARE:-0.3}
node="${NODE:-node} --max-old-space-size=8000"
front_end=$top/tests/devtools/node_modules/chrome-devtools-frontend/front_end
# The libraries are of one suite, and do not build with every release.
GOROOTS=${GOROOTS:-"$("$top/tools/setup" go-dist) $("$top/tools/setup" go-current)"}
# shellcheck source=../go.sh
. "$top/tests/go.sh"

if ! libraries=$("$top/tools/setup" go-libraries 2>/dev/null); then
	echo 'ok - heaps of real programs # SKIP no libraries in Go: tools/setup check-all fetches them'
	exit 0
fi
# The libraries are without modules, so all packages are looked up in GOPATH.
mkdir -p "$build/gopath/src"
ln -sfn "$top/tests/truth" "$build/gopath/src/truth"
ln -sfn "$here" "$build/gopath/src/real"
export GO111MODULE=off GOFLAGS='' GOPATH="$libraries:$build/gopath:$top/tests/go"

# What each program must reach, in percent: objects with a typed region, the part of those that have pointers, bytes, edges; and
# how much may be wrong at most.
limits() { # PROGRAM VARIANT
	case $release-$1-$2 in
	# For 4,575 objects, only a pointer into their middle is left.
	*-goja-plain) echo any=99,pointers=99.5,bytes=97,edges=98.5,wrong=0.01 ;;
	*-plain) echo any=99,pointers=99.5,bytes=97,edges=99,wrong=0.01 ;;
	# Before Go 1.23, nothing tells what closures captured, and all of this heap hangs from such variables.
	go1.1[0-9]*-nats-stripped | go1.2[0-2].*-nats-stripped) echo any=50,bytes=80,edges=50,wrong=0.01 ;;
	*-etcd-stripped) echo any=98,bytes=97,edges=90,wrong=0.01 ;;
	*-gin-stripped) echo any=98,bytes=99,edges=98,wrong=0.01 ;;
	*-stripped) echo any=95,bytes=80,edges=70,wrong=0.01 ;;
	esac
}

check() { # PROGRAM VARIANT [ARGUMENT]: lets the program dump itself, converts the dump and measures
	program=$1 variant=$2
	at=$build/$release/$program/$variant
	name="$release $program $variant"
	shift 2
	if ! "$at/app" "$at/1" "$share" "$@" >"$at/log" 2>&1 ||
		! "$converter" --names=full --exe "$at/app" -o "$at/1.heapsnapshot" "$at/1.dump" 2>>"$at/log"; then
		echo "not ok - $name: dumps itself and converts"
		tail -n 20 "$at/log" | sed 's/^/# /'
		return
	fi
	# shellcheck disable=SC2086  # node has options
	if $node "$here/../truth/measure.mjs" --truth "$at/1.truth" --dump "$at/1.dump" --snapshot "$at/1.heapsnapshot" \
		--min "$(limits "$program" "$variant")" >"$at/measure.txt" 2>&1; then
		echo "ok - $name: $(limits "$program" "$variant")"
	else
		echo "not ok - $name: $(limits "$program" "$variant")"
		sed -n 's/^/# /; 2,14p' "$at/measure.txt"
		echo "# more in $at/measure.txt"
	fi
	rm -f "$at"/1.* # they take gigabytes
}

# shellcheck disable=SC2154  # go.sh sets it
for GOROOT in $goroots; do
	export GOROOT
	release=$(go_release "$GOROOT")
	mkdir -p "$build/$release"
	if ! "${NODE:-node}" "$here/../truth/overlay.mjs" "$GOROOT" "$build/$release/overlay" >"$build/$release/log" 2>&1; then
		echo "not ok - $release: the allocator is patched"
		sed 's/^/# /' "$build/$release/log"
		continue
	fi
	for program in ${PROGRAMS:-etcd gin nats esbuild goja site}; do
		for variant in plain stripped; do
			at=$build/$release/$program/$variant flags=
			[ $variant = plain ] || flags='-s -w'
			mkdir -p "$at"
			if ! "$GOROOT/bin/go" build -overlay "$build/$release/overlay/overlay.json" -ldflags="$flags" -o "$at/app" \
				"real/$program" >"$at/log" 2>&1; then
				echo "not ok - $release $program $variant: builds"
				tail -n 20 "$at/log" | sed 's/^/# /'
				continue
			fi
			case $program in
			esbuild) check "$program" "$variant" "$front_end" ;;
			site) check "$program" "$variant" "$top" ;;
			*) check "$program" "$variant" ;;
			esac
		done
	done
done
