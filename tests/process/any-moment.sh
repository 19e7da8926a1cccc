#!/bin/sh
# Programs that allocate and collect garbage all the time, talk over channels, or compute, are read from outside at random
# moments. No object that is needed may be missing: no pointer of a reached object points to a free slot. TAP on standard output.
#
#   G2H                  the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases (default: see tests/go.sh; with CHECK_ALL all from 1.19 on)
#   SNAPSHOTS            the number for each program (default: 30; with CHECK_ALL 60, which is more than 1000 of all releases
#                        together); a third of it if the program only computes
#   TREES                the megabytes of live objects (default: 50)
#   MODES                what the programs do (default: 'alloc,3 talk,3 spin,2')
#   WAYS                 how they are built (default: plain; with the newest release, or with CHECK_ALL, pie,stripped too)
set -u
. "$(dirname "$0")/lib.sh"
ways_asked=${WAYS-}
may_trace 'any moment' || exit 0
c dangling "$here/dangling.c" "$here/listing.c" || exit 1
snapshots=${SNAPSHOTS:-30}
[ -z "${CHECK_ALL-}" ] || snapshots=${SNAPSHOTS:-60}

any_moment() { # WAY MODE
	name="$release, $1, $2"
	at=$build/$release/$1
	if ! [ -e "$at/app" ]; then
		app "$(echo "$1" | tr , ' ')" "$at" || {
			echo "not ok - $name: builds"
			tell "$at/log"
			return
		}
	fi
	: >"$at/app.log"
	# shellcheck disable=SC2046  # the mode and its number
	"$at/app" -trees="${TREES:-50}" $(echo "$2" | tr , ' ') >"$at/app.log" 2>&1 &
	pid=$!
	until grep -q '^ready' "$at/app.log"; do
		if ! kill -0 "$pid" 2>/dev/null; then
			echo "not ok - $name: starts"
			tell "$at/app.log"
			return
		fi
		sleep 0.1
	done
	: >"$at/failed"
	: >"$at/checked"
	: >"$at/unswept"
	i=0
	count=$snapshots
	[ "${2%,*}" != spin ] || count=$(((snapshots + 2) / 3))
	# At about one in five of the random moments, some spans are not swept yet. There must be such a moment.
	while [ $((i += 1)) -le "$count" ] || { [ "${2%,*}" = alloc ] && [ "$i" -le $((count + 100)) ] && ! grep -q '[1-9]' "$at/unswept"; }; do
		sleep "0.$(printf '%03d' $((i * 7919 % 97)))"
		"$g2h" -v --pid "$pid" --format dump -o "$at/$2.dump" >"$at/log" 2>&1
		status=$?
		if [ "$status" -ne 0 ]; then
			echo "snapshot $i: status $status" >>"$at/failed"
			tail -n 3 "$at/log" >>"$at/failed"
			continue
		fi
		sed -n 's/^  *not swept yet *\([0-9]*\).*/\1/p' "$at/log" >>"$at/unswept"
		if ! "$build/dangling" "$at/$2.dump" >"$at/log" 2>&1; then
			echo "snapshot $i:" >>"$at/failed"
			cat "$at/log" >>"$at/failed"
			[ -e "$at/$2.$i.dump" ] || mv "$at/$2.dump" "$at/$2.$i.dump" # for inspection
			continue
		fi
		tail -n 1 "$at/log" >>"$at/checked"
	done
	if [ -s "$at/failed" ]; then
		echo "not ok - $name: in $count snapshots nothing dangles"
		tell "$at/failed" 30
	else
		echo "ok - $name: in $count snapshots nothing dangles"
	fi
	tail -n 1 "$at/checked" | sed 's/^/# the last one: /'
	if [ "${2%,*}" = alloc ]; then
		grep -q '[1-9]' "$at/unswept"
		result $? "$name: among spans that were not swept yet"
		awk '{ all += $1 } END { print "# " all " of them" }' "$at/unswept"
	fi
	if [ -e "$at/$2.dump" ]; then
		"$build/dangling" --control "$at/$2.dump" >"$at/log" 2>&1 && control=ok || control='not ok'
		echo "$control - $name: what is taken out of the last one is missed"
		tell "$at/log"
		rm -f "$at/$2.dump"
	fi
	[ "${2%,*}" != alloc ] || without_marks "$2"
	if kill -0 "$pid" 2>/dev/null; then
		echo "ok - $name: lives on"
	else
		echo "not ok - $name: lives on"
		tell "$at/app.log"
	fi
	kill_app
}

# without_marks: reads a process that claims to have no marks of Green Tea in its spans, and has them. Then objects of spans that
# are not swept yet must be missing.
without_marks() {
	case $release in
	go1.2[6-9]*) ;;
	*) return ;;
	esac
	"${NODE:-node}" "$here/without_marks.mjs" "$at/app" "$at/without" || return
	: >"$at/without.log"
	# shellcheck disable=SC2046,SC2086  # the mode and its number
	"$at/without" -trees="${TREES:-50}" $(echo $1 | tr , ' ') >"$at/without.log" 2>&1 &
	claims=$!
	pid="$pid $claims"
	until grep -q '^ready' "$at/without.log" || ! kill -0 "$claims" 2>/dev/null; do sleep 0.1; done
	i=0
	while [ $((i += 1)) -le 100 ]; do
		"$g2h" -v --pid "$claims" --format dump -o "$at/without.dump" >"$at/log" 2>&1
		grep -q '^  *not swept yet *[1-9]' "$at/log" || continue
		"$build/dangling" "$at/without.dump" >"$at/log" 2>&1 || break
	done
	[ "$i" -le 100 ]
	result $? "$name: without the marks in spans something dangles"
	tail -n 1 "$at/log" | sed 's/^/# /'
	kill -KILL "$claims" 2>/dev/null
	wait "$claims" 2>/dev/null
	pid=${pid% *}
	rm -f "$at/without" "$at/without.dump" "$at/without.log"
}

for goroot in $goroots; do
	release=$(go_release "$goroot")
	rm -rf "${build:?}/$release"
	ways=plain
	[ "$goroot" != "$newest" ] && [ -z "${CHECK_ALL-}" ] || ways='plain pie,stripped'
	for way in ${ways_asked:-$ways}; do
		for mode in ${MODES:-alloc,3 talk,3 spin,2}; do
			any_moment "$way" "$mode"
		done
	done
done
