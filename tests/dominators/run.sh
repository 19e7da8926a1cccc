#!/bin/bash
# Tests dominators, retained sizes and folding: compares what the library computes for samples and for generated dumps with
# what DevTools' own worker computes for their snapshots. TAP on standard output.
#
#   run.sh [sizes | owners | folded | classes]...     (default: all)
#
#   GO2HEAPSNAPSHOT      the converter (default: build/go2heapsnapshot)
set -u
cd "$(dirname "$0")/../.." || exit 1
converter=${GO2HEAPSNAPSHOT:-build/go2heapsnapshot}
plain() { "$converter" --no-contexts "$@"; } # since contexts are no nodes of the graph
failed=0
# written COMMAND CASE...: writes the dumps of the oracle's cases, and calls the command with each one's name and file.
written() {
	local command=$1 name
	shift
	for name; do
		node tests/oracle/writer.mjs "$name" >"$build/$name.dump"
		"$command" "$name" "$build/$name.dump"
		rm "$build/$name.dump"
	done
}

build=${BUILD:-build/dominators}
rm -rf "$build"
mkdir -p "$build"
node tests/devtools/build.mjs >/dev/null || exit 1
parts=" ${*:-sizes owners folded classes} "
# list NAME DUMP [EXE]: makes a listing and a snapshot of a dump. Damaged dumps convert with exit status 3.
files=()
list() {
	"$build/dominators" "${@:2}" >"$build/$1.txt" 2>>"$build/log" || echo "not ok - $1: the library computes dominators"
	plain ${3:+--exe "$3"} -o "$build/$1.heapsnapshot" "$2" 2>>"$build/log"
	files+=("$build/$1.txt" "$build/$1.heapsnapshot")
}

sizes() {
	# shellcheck disable=SC2046  # libraries are words
	if ! ${CC:-cc} -std=c17 -Wall -Wextra -O1 -Iinclude -o "$build/dominators" tests/dominators/dominators.c \
		"${LIBRARY:-build/internal.a}" ${test_libs-$(make -s libs)}; then
		echo "not ok - the test's program builds"
		exit 1
	fi

	for dump in samples/dumps/*.dump.gz; do
		list "$(basename "$dump" .dump.gz)" "$dump"
	done
	for i in 1 2; do
		list "leakserver.$i-untyped" samples/leakserver.$i.dump.gz
		list "leakserver.$i" samples/leakserver.$i.dump.gz samples/leakserver.exe.gz
	done
	# One case for each trap: parts of large objects, garbage, self references, tentative edges, 2013's single roots ...
	written list 2013-64 1.3 object-4gib garbage-cycle self-reference finalizers stack-object defers-panics goroutines segments \
		samples pair.2 far-fields
	node tests/dominators/dominators.test.mjs "${files[@]}" || failed=1
}
[[ $parts != *' sizes '* ]] || sizes

# owned NAME DUMP [EXE]: makes a snapshot with contexts and one without.
pairs=()
owned() {
	"$converter" ${3:+--exe "$3"} -o "$build/$1.owned.heapsnapshot" "$2" 2>>"$build/log"
	plain ${3:+--exe "$3"} -o "$build/$1.plain.heapsnapshot" "$2" 2>>"$build/log"
	pairs+=("$build/$1.owned.heapsnapshot" "$build/$1.plain.heapsnapshot")
}

owners() {
	local i dump
	for i in 1 2; do
		owned "leakserver.$i" samples/leakserver.$i.dump.gz samples/leakserver.exe.gz
		owned "leakserver.$i-untyped" samples/leakserver.$i.dump.gz
	done
	for dump in samples/dumps/*.1.dump.gz; do
		owned "$(basename "$dump" .dump.gz)" "$dump"
	done
	written owned 2013-64 1.3 garbage-cycle finalizers defers-panics goroutines segments object-4gib
	node tests/dominators/owners.test.mjs "${pairs[@]}" || failed=1
}
[[ $parts != *' owners '* ]] || owners
# class_sizes NAME DUMP EXE CLASS...: tests that all formats say the same of what classes retain.
class_sizes() {
	local name=$1 at=$build/$1
	"$converter" --exe "$3" --no-contexts -o "$at.heapsnapshot" "$2" 2>>"$build/log" &&
		"$converter" --exe "$3" --format report --json -o "$at.json" "$2" 2>>"$build/log" &&
		"$converter" --exe "$3" --format pprof -o "$at.pb.gz" "$2" 2>>"$build/log" &&
		"$converter" --exe "$3" --format sqlite -o "$at.db" "$2" 2>>"$build/log" &&
		"$converter" --exe "$3" --format sqlite --summary -o "$at.summary.db" "$2" 2>>"$build/log" || echo "not ok - $name: is converted"
	[ "$2" = "$at.dump" ] || { cp "$2" "$at.dump" && cp "$3" "$at.exe"; }
	node tests/dominators/classes.test.mjs "$converter" "$pprof" "$name" "$build" "${@:4}" || failed=1
}

classes() {
	local pprof top=$PWD
	. tests/go.sh
	pprof=$(go_pprof "$newest" "$(realpath "$build")") || return
	GOROOT=$newest "$newest/bin/go" build -C tests/dominators/recursion -o "$(realpath "$build")/recursion.exe" . >>"$build/log" 2>&1 &&
		"$build/recursion.exe" "$build/recursion.dump" || echo "not ok - the program of classes that contain themselves writes its dump"
	class_sizes recursion "$build/recursion.dump" "$build/recursion.exe" main.list main.node '[]*main.node' main.even main.odd \
		'map[string]interface {}' '[]interface {}' main.wrapper main.sequence '[]main.visitor'
	class_sizes leakserver samples/leakserver.2.dump.gz samples/leakserver.exe.gz
}
[[ $parts != *' classes '* ]] || classes
[[ $parts == *' folded '* ]] || exit $failed

# fold NAME DUMP EXE NODES...: makes the whole snapshot and folded ones, and tests that one thread and two threads fold alike.
folds=()
fold() {
	local name=$1 dump=$2 exe=$3 nodes
	[ ${#folds[@]} -eq 0 ] || folds+=(--)
	folds+=("$build/$name.heapsnapshot")
	[ -e "$build/$name.heapsnapshot" ] ||
		plain ${exe:+--exe "$exe"} -o "$build/$name.heapsnapshot" "$dump" 2>>"$build/log"
	for nodes in "${@:4}"; do
		plain ${exe:+--exe "$exe"} --max-nodes "$nodes" -j 2 -o "$build/$name.$nodes.heapsnapshot" "$dump" 2>>"$build/log"
		if plain ${exe:+--exe "$exe"} --max-nodes "$nodes" -j 1 "$dump" 2>>"$build/log" |
			cmp -s - "$build/$name.$nodes.heapsnapshot"; then
			echo "ok - $name in $nodes nodes: the same for any number of threads"
		else
			echo "not ok - $name in $nodes nodes: the same for any number of threads"
		fi
		folds+=("$build/$name.$nodes.heapsnapshot")
	done
}

leakserver=samples/leakserver.exe.gz
fold leakserver.1 samples/leakserver.1.dump.gz $leakserver 4000 2000 1000 400
fold leakserver.2 samples/leakserver.2.dump.gz $leakserver 17000 10000 5000 1000 300
fold leakserver.2-untyped samples/leakserver.2.dump.gz '' 10000 1000 180
fold go1.26-386.2 samples/dumps/go1.26-386.2.dump.gz '' 20000 5000 600 200
fold go1.3.3-amd64.2 samples/dumps/go1.3.3-amd64.2.dump.gz '' 10000 1000
fold go1.15-amd64.1 samples/dumps/go1.15-amd64.1.dump.gz '' 9000 3000 500
node tests/dominators/fold.test.mjs "${folds[@]}" || failed=1
node tests/dominators/fold.test.mjs --comparison "$build/leakserver.1.2000.heapsnapshot" "$build/leakserver.2.5000.heapsnapshot" ||
	failed=1
exit $failed
