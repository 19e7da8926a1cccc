#!/bin/sh
# Runs programs that leak as real ones do, and checks that each one's snapshot shows what a user must find in it. TAP on
# standard output.
#
#   GO2HEAPSNAPSHOT      the converter (default: build/go2heapsnapshot)
#   GOROOTS              the releases of Go (default: the current one, and for maps also 1.19, 1.21, 1.22 and 1.24, as far as
#                        they are installed; with CHECK_ALL all)
#   PROGRAMS             the programs to run (default: all)
#   SIZE                 the number of entries that maps makes (default: 100000, the most tables of whose directories have malloc headers; with
#                        CHECK_ALL and the current release 300000)
set -u
all=${GOROOTS-}${CHECK_ALL-}${PROGRAMS-}
usual_goroots=$("$(dirname "$0")/../../tools/setup" go-leaks)
. "$(dirname "$0")/../variants.sh"

# variant PROGRAM NAME FLAG_OF_CHECK GO_BUILD_FLAG...: builds, dumps, converts and checks.
variant() {
	program=$1 name=$release-$1-$2 flag=$3
	at=$build/$name
	shift 3
	rm -rf "$at"
	builds "$program" "$@" || return
	size=
	if [ "$program" = maps ]; then
		size=100000
		[ -z "$all" ] || ! since 27 || size=300000
		size=${SIZE:-$size}
	fi
	# shellcheck disable=SC2086  # there may be no size
	if ! "$at/app" "$at" $size >"$at/log" 2>&1; then
		failed 'dumps itself'
		return
	fi
	names=
	[ "$program" != paths ] || names=--names=full
	for n in 1 2; do
		# shellcheck disable=SC2086  # there may be no option
		[ ! -e "$at/$n.dump" ] || "$converter" $names --exe "$at/app" -o "$at/$n.heapsnapshot" "$at/$n.dump" >"$at/log" 2>&1 || {
			failed "dump $n converts"
			return
		}
	done
	[ "$program" != holders ] || "$converter" --exe "$at/app" --format report --json -o "$at/1.json" "$at/1.dump" >>"$at/log" 2>&1 || {
		failed 'has a report'
		return
	}
	# shellcheck disable=SC2086  # there may be no flag
	"${NODE:-node}" --max-old-space-size=8000 "$here/check.mjs" "$name" "$at" $flag || [ $? -eq 1 ] ||
		echo "not ok - $name: the check itself failed"
	[ "$program" != paths ] || short
}

# All names of types, functions and globals must have the names that the packages in leaks/paths/yaml.v2 and
# leaks/paths/go-queue give themselves.
short() {
	"$converter" --exe "$at/app" "$at/1.dump" >"$at/short" 2>>"$at/log"
	if [ "$(grep -c 'yaml\.v2\|go-queue' "$at/short")" -eq 0 ] && grep -q '"func queue\.New\.func1"' "$at/short" && grep -q '"yaml\.(\*Decoder)\.Decode decoder\.go:' "$at/short" &&
		grep -q '"func yaml\.(\*Decoder)\.Decode\.func1"' "$at/short"; then
		echo "ok - $name: a package is called what it calls itself"
	else
		echo "not ok - $name: a package is called what it calls itself"
		grep 'yaml\|queue' "$at/short" | head -n 10 | sed 's/^/# /'
	fi
}

# since MINOR: succeeds if the release is Go 1.MINOR or newer. Sets $minor.
since() {
	minor=${release#go1.}
	minor=${minor%%[!0-9]*}
	[ "$minor" -ge "$1" ]
}

# program NAME MINOR [WAY...]: tests a program with Go 1.MINOR and newer releases: with its symbols, or in these ways, plain and
# stripped; if $all is set, in both if one is stripped.
program() {
	case " ${PROGRAMS:-$1} " in *" $1 "*) ;; *) return ;; esac
	since "$2" || return
	leak=$1
	shift 2
	[ $# -gt 0 ] || set -- plain
	case $all,$* in ?*,*stripped) set -- plain stripped ;; esac
	for way; do
		case $way in
		plain) variant "$leak" plain '' ;;
		stripped) two_ways && variant "$leak" stripped --stripped '-ldflags=-s -w' ;;
		esac
	done
}

# linked NAME: tests a program that is position-independent, and one that C's linker links, which puts C's data and Go's into
# one section.
linked() {
	case " ${PROGRAMS:-$1} " in *" $1 "*) ;; *) return ;; esac
	all_ways || return
	variant "$1" pie '' -buildmode=pie
	export CGO_ENABLED=1
	variant "$1" cgo '' -ldflags=-linkmode=external
	export CGO_ENABLED=0
}

variants() {
	if ! since 19; then
		echo "ok - $release # SKIP the programs want Go 1.19"
		return
	fi
	program maps 19
	# The other programs test what changed less often between releases.
	if [ -z "$all" ] && [ "$minor" -ne 22 ] && ! since 27; then
		return
	fi
	program static 19
	linked static
	program stack 19
	program headers 19 plain stripped
	program blocked 19 plain stripped
	program holders 19 plain stripped
	program places 19 stripped
	program cleanups 24 stripped
	program tables 19 stripped
	program runtimes 19 stripped
	program reflected 22 stripped
	program itabs 22 stripped
	program large 19 stripped
	program churn 19 stripped
	program paths 19 stripped
	program timers 19 stripped
}

each_release variants
