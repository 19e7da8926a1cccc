#!/bin/sh
# Executables that do not say which release of Go built them, or hide it: "unknown" and "devel +hash" for the version, other names
# of functions, another magic number, no section headers. The objects of a live process, of a dump and of a core have the same types
# as by the executable itself. TAP on standard output.
#
#   G2H                  the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases (default: see tests/go.sh)
set -u
usual=leaks
. "$(dirname "$0")/lib.sh"
may_trace disguised || exit 0

# types EXE ARGUMENT...: prints how many living objects and bytes are typed, by source, and the share of bytes.
types() {
	types_exe=$1
	shift
	"$g2h" -v --exe "$types_exe" --format report -o "$at/report" "$@" >"$at/log" 2>&1 || tell "$at/log" 3
	sed -nE '/^types of objects/,/^stacks|^pointers/p; s/.* ([0-9.]+ %) of live bytes typed.*/\1/p' "$at/log" |
		sed -E '/^(types|pointers)/d; s/ +[0-9]+ +[0-9]+$//'
}

# same NAME EXE ARGUMENT...: tests that the types are those by the executable as it was built. What code says of types depends on the
# names of the functions that it calls: without them at most a hundredth of the bytes may lack its type.
same() {
	same_name=$1
	same_exe=$2
	shift 2
	types "$at/app" "$@" >"$at/wanted"
	types "$same_exe" "$@" >"$at/found"
	case $same_name in
	*names*) cat "$at/wanted" "$at/found" | awk '/%/ { share[++count] = $1 } END { exit !(count == 2 && share[2] >= share[1] - 1) }' ;;
	*) grep -q '%' "$at/wanted" && diff "$at/wanted" "$at/found" >"$at/diff" ;;
	esac
	result $? "$same_name" "$at/found"
}

# disguised KIND...: sets disguise to the executable, disguised in these ways.
disguised() {
	disguise=$at/disguised
	node "$here/disguise.mjs" "$at/app" "$disguise" "$@"
}

all='version=unknown names magic sections'

# of_process WHAT ARGUMENT...: tests the disguises on standard input, one a line, with a process, a core or a dump.
of_process() {
	what=$1
	shift
	while read -r kinds; do
		# shellcheck disable=SC2086  # they are words
		case $kinds in
		*' +'*) disguised "$kinds" ;;
		*) disguised $kinds ;;
		esac
		same "$name, $what, $kinds: the same types" "$disguise" "$@"
	done
}

# own_version: tests a dump that a program wrote whose runtime has the other version too.
own_version() {
	size=$(echo "$release" | wc -c)
	text=$(printf '%.*s' $((size - 1)) 'unknown!!!!')
	disguised "version=$text"
	"$disguise" "$at/other.dump" >"$at/other.log" 2>&1 &
	pid=$!
	until grep -q '^ready' "$at/other.log" || ! kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
	kill_app
	share=$(types "$at/app" "$at/app.dump" | grep '%')
	[ "$(types "$disguise" "$at/other.dump" | grep '%')" = "$share" ] && grep -q "^$at/other.dump.*(read as ${release%.*})" "$at/report"
	result $? "$name: a dump of it has as many types, and says as which release it was read" "$at/log"
}

run() {
	name="$release, $1"
	at=$build/$release-$1
	rm -rf "$at"
	mkdir -p "$at"
	go_builds "$name: builds" disguised "$at/app" ${2:+-buildmode=$2} -ldflags='-s -w' || return
	"$at/app" "$at/app.dump" >"$at/app.log" 2>&1 &
	pid=$!
	until grep -q '^ready' "$at/app.log" || ! kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
	{
		[ "$1" = pie ] || printf '%s\n' magic sections
		echo "$all"
	} | of_process 'a process' --pid "$pid"
	if [ "$1" = stripped ] && command -v gcore >/dev/null; then
		gcore -o "$at/core" "$pid" >"$at/gcore.log" 2>&1
		echo "$all" | of_process 'a core' "$at/core.$pid"
		rm -f "$at/core.$pid"
	fi
	kill_app
	# A process shows its own version and names: an executable that has others is refused, which builds.sh tests.
	{
		[ "$1" = pie ] || printf '%s\n' version=unknown 'version=devel +0a1b2c'
		echo 'version=unknown magic sections'
	} | of_process 'a dump' "$at/app.dump"
	own_version
}

for goroot in $goroots; do
	export GOROOT="$goroot"
	release=$(go_release "$goroot")
	run stripped
	! all_ways || run pie pie
done
