#!/bin/bash
# Runs programs with goroutines that can never run again, and compares those that a report finds with those that the program knows, and
# with those in the runtime's own profile, goroutineleak (Go 1.27). Also runs the programs that Go tests this profile with, most of
# which are bugs that were public: they are taken from the release's sources; and one with goroutines that may all run again, of which
# none may be called leaked. And one whose goroutines wait in many ways: their functions and lines, go statements, parents, starters and
# labels are those that the runtime says. TAP on standard output.
#
#   GO2HEAPSNAPSHOT      the converter (default: build/go2heapsnapshot)
#   GOROOTS              the releases of Go (default: 1.22, with fewer tests, and the current one; with CHECK_ALL all)
#   PROGRAMS             a pattern of Go's own programs (default: simple and common ones; with CHECK_ALL all)
set -u
usual_goroots=$("$(dirname "$0")/../../tools/setup" go-leaks)
. "$(dirname "$0")/../variants.sh"
programs=${PROGRAMS-}

# goids NAME REPORT: writes the numbers of the goroutines that a report in JSON calls leaked; fails if it has no proof.
goids() {
	jq -e '.leaked.proof == "proved"' "$2" >/dev/null && jq -r '.leaked.goroutines[].goid' "$2" | sort >"$at/$1"
}

# covers TEXT MOST: all that the runtime has proved is found, and no more than MOST goroutines.
covers() {
	local missed
	missed=$(grep -vxFf "$at/live" "$at/proved")
	if [ -z "$missed" ] && [ "$(wc -l <"$at/live")" -le "$2" ]; then
		echo "ok - $name: $1"
	else
		echo "not ok - $name: $1"
		diff "$at/proved" "$at/live" | sed 's/^/# /'
	fi
}

# same WHAT EXPECTED FOUND: reports whether two lists of goroutines are the same.
same() {
	if cmp -s "$at/$2" "$at/$3"; then
		echo "ok - $name: $1"
	else
		echo "not ok - $name: $1"
		diff "$at/$2" "$at/$3" | sed 's/^/# /'
	fi
}

# ask PROGRAM ARGUMENT...: runs a program until it is ready, reads the process, and keeps the program's answers.
ask() {
	local pid in out line
	coproc APP { exec "$@" 2>"$at/log"; }
	pid=$APP_PID in=${APP[1]} out=${APP[0]}
	read -r line <&"$out" && [ "$line" = ready ] || { kill "$pid" 2>/dev/null; wait "$pid"; return 1; }
	"$converter" --format report --json --pid "$pid" >"$at/live.json" 2>>"$at/log" && goids live "$at/live.json"
	status=$?
	echo >&"$in"
	cat <&"$out" >"$at/answers"
	wait "$pid" 2>/dev/null
	for line in named proved small; do sed -n "s/^$line //p" "$at/answers" | sort -u >"$at/$line"; done
	return "$status"
}

# dumped WHAT OPTION...: checks the dump of a program that knows its goroutines. Since Go 1.24 some may be missed, because what looks
# like garbage may be kept for a cleanup, and on a busy machine there is garbage that points to what two of them wait on; and without
# an executable those that wait on small locks.
dumped() {
	local what=$1
	shift
	if "$converter" --format report --json "$@" "$at/dump" >"$at/dump.json" 2>"$at/log" && goids dumped "$at/dump.json"; then
		[ $# -gt 0 ] || comm -23 "$at/named" "$at/small" | cat - <(comm -12 "$at/dumped" "$at/small") | sort -o "$at/named"
		[ "$minor" -lt 24 ] || [ "$(comm -23 "$at/named" "$at/dumped" | tee "$at/missed" | wc -l)" -gt 3 ] || sort -o "$at/dumped" "$at/dumped" "$at/missed"
		same "$what" named dumped
	else
		failed "$what"
	fi
}

# detached: compares DevTools' detached nodes in a snapshot of the dump with its report.
detached() {
	"$converter" --exe "$at/app" -o "$at/app.heapsnapshot" "$at/dump" 2>"$at/log" || { failed 'a snapshot of its dump' && return; }
	node "$top/tests/devtools/detached.test.mjs" "$at/app.heapsnapshot" "$at/dump.json" | sed -E "s/^((not )?ok) - /\\1 - $name: /"
}

# waits WAY GO_BUILD_FLAG...: builds our own program in a way, and compares what is found.
waits() {
	local way=$1
	shift
	name=$release-waits-$way at=$build/$release-waits-$way
	rm -rf "$at"
	mkdir -p "$at/src"
	cp "$here"/go.mod "$here"/waits/*.go "$at/src" && cp "$here/prove.go" "$at/src/prove.go"
	(cd "$at/src" && "$go" build -o "$at/app" "$@" .) >"$at/log" 2>&1 || { failed builds && return; }
	ask "$at/app" waits "$at/dump" || { failed 'is read' && return; }
	[ "$(wc -l <"$at/named")" -ge 24 ] || { failed 'has all its goroutines' && return; }
	same 'a live process' named live
	grep -q end "$at/answers" && same "the runtime's profile" named proved
	dumped 'its dump' --exe "$at/app"
	detached
	[ "$way" = stripped ] || {
		dumped 'its dump, without an executable' # without types it is not known what is beside small locks
		incomplete
	}
}

# none WHAT REPORT: reports whether a report has a proof, and calls none of the program's goroutines leaked.
none() {
	goids called "$2" || { failed "$1: has a proof" && return; }
	: >"$at/none"
	awk 'NR == FNR { called[$1]; next } $2 in called { print $3 }' "$at/called" "$at/names" | sort >"$at/false"
	same "$1: none of $(wc -l <"$at/names") is called leaked" none false
}

# woken WHAT ARGUMENT...: runs the program whose goroutines all may run again, reads it, and lets it run on.
woken() {
	local pid in out line what=$1 read
	shift
	coproc APP { exec "$at/app" "$@" 2>"$at/log"; }
	pid=$APP_PID in=${APP[1]} out=${APP[0]}
	: >"$at/names"
	while read -r line <&"$out" && [ "$line" != ready ]; do
		[[ $line != goid* ]] || echo "$line" >>"$at/names"
	done
	"$converter" --format report --json --pid "$pid" >"$at/live.json" 2>>"$at/log"
	read=$?
	echo >&"$in"
	cat <&"$out" >"$at/answers"
	wait "$pid" 2>/dev/null
	[ "$read" -eq 0 ] && [ "$(wc -l <"$at/names")" -ge 60 ] || { failed "$what is read" && return; }
	none "$what" "$at/live.json"
	grep -q all "$at/answers" && echo "ok - $name: $what: all of them run again" || failed "$what: all of them run again"
	for line in "$@"; do
		[ "$line" = "$at/dump" ] || continue
		"$converter" --format report --json --exe "$at/app" "$at/dump" >"$at/dump.json" 2>>"$at/log"
		none "its dump" "$at/dump.json"
	done
}

# wakes WAY GO_BUILD_FLAG...: builds the program whose goroutines all may run again in a way, and reads it at several moments.
wakes() {
	local way=$1
	shift
	name=$release-wakes-$way at=$build/$release-wakes-$way
	rm -rf "$at"
	mkdir -p "$at/src"
	cp "$here"/go.mod "$here"/wakes/*.go "$here/prove.go" "$at/src"
	(cd "$at/src" && "$go" build -o "$at/app" "$@" .) >"$at/log" 2>&1 || { failed builds && return; }
	woken 'before any collection'
	woken 'after a collection' "$at/dump" gc
}

# A dump that is cut proves nothing.
incomplete() {
	head -c -10000 "$at/dump" >"$at/cut"
	"$converter" --format report --json "$at/cut" >"$at/cut.json" 2>"$at/log"
	if [ $? -eq 3 ] && jq -e '.leaked.proof == "incomplete" and .leaked.count == null and .leaked.blocked > 0' "$at/cut.json" >"$at/log"; then
		echo "ok - $name: a dump that is cut has no proof"
	else
		failed 'a dump that is cut has no proof'
	fi
}

# of_go DIRECTORY: builds Go's own programs in a directory of its sources, and compares what is found with the runtime's profile.
of_go() {
	local from=$GOROOT/src/runtime/testdata/testgoroutineleakprofile/$1 directory=$build/$release-go-${1:-simple} program
	name=$release-go-${1:-simple} at=$directory
	rm -rf "$directory"
	mkdir -p "$directory"
	if [ ! -e "$from/main.go" ]; then
		echo "ok - $name # SKIP there are no such programs in $GOROOT"
		return
	fi
	cp "$from"/*.go "$directory" && chmod u+w "$directory"/*.go
	sed -i 's/prof\.WriteTo(os\.Stdout, 2)/prove(prof, os.Stdout)/' "$directory"/*.go
	cp "$here/prove.go" "$directory/prove.go"
	(cd "$directory" && GO111MODULE=off "$go" build -ldflags='-s -w' -o app .) >"$at/log" 2>&1 || { failed builds && return; }
	for program in $(sed -n 's/.*register("\([^"]*\)".*/\1/p' "$directory"/*.go); do
		# Moby28462 and the like never come to rest, and SpawnGC and DaisyChain call the profile on their own.
		case $program in SpawnGC | DaisyChain | Hugo3251 | Kubernetes10182 | Kubernetes1321 | Kubernetes58107 | Moby27782 | Moby28462 | Moby4951) continue ;; esac
		[[ -z $programs || $program =~ ^($programs)$ ]] || continue
		name=$release-go-$program at=$directory/$program
		mkdir -p "$at"
		ask "$directory/app" "$program" || { failed 'is read' && continue; }
		case $program in
		# All 1,000 are leaked. The runtime misses those whose lock shares 16 bytes with a value that is in use.
		MutexHeap | MutexStack) covers "the runtime's profile, and no other goroutine" 1000 ;;
		*) same "the runtime's profile" proved live ;;
		esac
	done
}

# lines WAY GO_BUILD_FLAG...: builds the program that knows its goroutines' stacks in a way, and compares these, who has started the
# goroutines, and their labels with what its dump says.
lines() {
	local pid in out line way=$1
	shift
	name=$release-lines-$way at=$build/$release-lines-$way
	rm -rf "$at"
	mkdir -p "$at/src"
	cp "$here"/go.mod "$here"/lines/*.go "$at/src"
	(cd "$at/src" && "$go" build -o "$at/app" "$@" .) >"$at/log" 2>&1 || { failed builds && return; }
	coproc APP { GOGC=off GODEBUG=tracebackancestors=5 exec "$at/app" "$at/stacks" "$at/dump" 2>"$at/log"; }
	pid=$APP_PID in=${APP[1]} out=${APP[0]}
	: >"$at/labels"
	while read -r line <&"$out" && [ "$line" != ready ]; do echo "$line" >>"$at/labels"; done
	[ "$line" = ready ] && echo >&"$in"
	wait "$pid" 2>/dev/null
	"$converter" --exe "$at/app" --names full --format sqlite -o "$at/app.db" "$at/dump" 2>>"$at/log" || { failed 'is read' && return; }
	node "$here/stacks.mjs" "$name" "$at/app.db" "$at/stacks" "$at/labels"
	labels
	uncollected
	[ "$way" != plain ] || callbacks
}

# uncollected: what goroutines began with is garbage that was never collected, and does not keep them from being called leaked: of 13
# all but those to whose channels a word leads that has stayed on the stack of main.
uncollected() {
	"$converter" --exe "$at/app" --format report --json "$at/dump" >"$at/leaked.json" 2>"$at/log"
	if jq -e '[.goroutines[] | select(.place | test("main\\.(step|descend)")) | .leaked] | add >= 10' "$at/leaked.json" >>"$at/log"; then
		echo "ok - $name: goroutines are leaked in a heap that was never collected"
	else
		jq -c '[.goroutines[] | {place, count, leaked}]' "$at/leaked.json" >>"$at/log"
		failed 'goroutines are leaked in a heap that was never collected'
	fi
}

# callbacks: of a goroutine that C has called, or whose deferred call of a panic waits, the frames are those of the program.
callbacks() {
	if jq -e '[.goroutines[].waits_at // empty | select(test("main\\.(fromC|nested)"))] | length >= 5 and all(test("_cgoexp|runtime\\.(cgo|panicmem|sig)") | not)' "$at/leaked.json" >"$at/log" &&
		jq -e 'any(.goroutines[]; .place == "[chan receive] main.fromC call.go:" + (.waits_at | split(":")[-1]))' "$at/leaked.json" >>"$at/log"; then
		echo "ok - $name: frames between C and Go"
	else
		jq -c '[.goroutines[] | select(tostring | test("fromC|nested")) | {place, waits_at}]' "$at/leaked.json" >>"$at/log"
		failed 'frames between C and Go'
	fi
}

# labels: the Memory tab's names of goroutines have their labels; redacted outputs have only keys that are literals.
labels() {
	"$converter" --exe "$at/app" -o "$at/named.heapsnapshot" "$at/dump" 2>"$at/log"
	grep -q '"6 goroutines \[chan receive\] main.wait main.go:[0-9]* ← pprof.Do {tenant=acme 3, globex 3}"' "$at/named.heapsnapshot" &&
		grep -q '"goroutine [0-9]* \[chan receive\] pprof.Do {tenant=acme}"' "$at/named.heapsnapshot" &&
		echo "ok - $name: labels in the Memory tab's names" || failed "labels in the Memory tab's names"
	"$converter" --redact --exe "$at/app" -o "$at/redacted.heapsnapshot" "$at/dump" 2>"$at/log"
	"$converter" --redact --exe "$at/app" --by label:tenant "$at/dump" >"$at/redacted" 2>>"$at/log" &&
		[ "$(grep -c '(<=16 bytes, #' "$at/redacted")" -eq 2 ] && ! grep -q 'acme\|globex' "$at/redacted" "$at/redacted.heapsnapshot" &&
		echo "ok - $name: redacted labels" || failed 'redacted labels'
	rm -f "$at"/*.heapsnapshot
}

# explained PATTERN COUNT WORDS: a report of so many of a pattern says what they mean, or nothing if there are no WORDS.
explained() {
	local said
	"$at/app" "$1" "$2" "$at/$1.dump" 2>"$at/log" && "$converter" --exe "$at/app" --format report --json "$at/$1.dump" >"$at/$1.json" 2>>"$at/log"
	said=$(jq -r '[.suspects[].meaning // empty] | unique | join("; ")' "$at/$1.json" 2>>"$at/log") || said='no report'
	if [ -n "$3" ] && [[ $said = *"$3"* ]] || [ -z "$3$said" ]; then
		echo "ok - $name: $1: ${3:-nothing}"
	else
		echo "not ok - $name: $1: ${3:-nothing}"
		echo "# $said"
	fi
	rm -f "$at/$1.dump"
}

# patterns: builds the programs whose goroutines and objects have a pattern that is known, or nearly.
patterns() {
	local ticker=
	name=$release-patterns at=$build/$release-patterns
	rm -rf "$at"
	mkdir -p "$at/src"
	cp "$here"/go.mod "$here"/patterns/*.go "$at/src"
	(cd "$at/src" && "$go" build -o "$at/app" .) >"$at/log" 2>&1 || { failed builds && return; }
	explained unclosed 60 'the body of a response from http.Client was not read to its end and closed'
	explained kept 60 ''
	explained closed 60 ''
	explained unclosed-deferred 60 ''
	explained unclosed-timed 60 ''
	explained databases 60 'each belongs to a sql.DB that is open'
	explained rows 600 'nothing else has the sql.Rows any more'
	explained rows-kept 600 ''
	explained rows-read 600 ''
	explained rows-deferred 600 ''
	explained rows-timed 600 ''
	explained tx 600 'nothing else has the sql.Tx any more'
	explained tx-kept 600 ''
	explained tx-deferred 600 ''
	explained contexts 600 'nothing has the cancel functions of these contexts any more'
	explained contexts-kept 600 ''
	explained contexts-deferred 600 ''
	explained contexts-closure 600 ''
	explained foreign 600 "nothing has the context's cancel function any more"
	explained foreign-kept 600 ''
	explained foreign-deferred 600 ''
	explained foreign-timed 600 ''
	[ "$minor" -ge 27 ] || ticker='nothing receives from these Tickers' # with the go.mod of an older release
	explained tickers 600 "$ticker"
	explained tickers-kept 600 ''
	explained ticks 600 'each receives from a time.Ticker and from nothing else'
	explained ticks-until 600 ''
	explained afters 600 ''
	streams
}

# streams: the same of gRPC, if its library is there.
streams() {
	local libraries
	libraries=$("$top/tools/setup" go-libraries 2>/dev/null) || return
	name=$release-streams at=$build/$release-streams
	rm -rf "$at"
	mkdir -p "$at"
	GO111MODULE=off GOFLAGS='' GOPATH=$libraries "$go" build -o "$at/app" "$here/streams/main.go" >"$at/log" 2>&1 || { failed builds && return; }
	explained streams 300 'nothing else has the gRPC stream any more'
	explained streams-kept 300 ''
	explained streams-drained 300 ''
}

variants() {
	local minor=${release#go1.}
	minor=${minor%%[!0-9]*}
	[ "$minor" -ge 19 ] || return
	CGO_ENABLED=1 lines plain # one of them is in a call of C
	lines stripped '-ldflags=-s -w'
	if [ -n "${CHECK_ALL-}" ]; then
		lines noinline '-gcflags=all=-l'
		lines pie -buildmode=pie
	elif [ "$minor" -eq 22 ]; then
		return # tier ci: only that
	fi
	patterns
	waits plain
	waits stripped '-ldflags=-s -w'
	[ "$minor" -lt 22 ] || { wakes plain && wakes stripped '-ldflags=-s -w'; }
	[ "$minor" -ge 27 ] || return
	of_go ''
	[ -z "${CHECK_ALL-}${PROGRAMS-}" ] || of_go goker
}

each_release variants
