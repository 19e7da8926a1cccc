#!/bin/sh
# Five services are watched by --ages, and then by --watch: what the ages of each one's objects mean is the same, and right. TAP on
# standard output.
#
#   G2H                  the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases (default: 1.22 and the current one; with CHECK_ALL all from 1.19 on)
usual=leaks
set -u
. "$(dirname "$0")/lib.sh"
may_trace services || exit 0

# Of each service the class of its objects, and the verdicts that are right. How long the objects of growing load live is only known
# if they survive some collections.
services='leak session leaks
limit quote bounded
fill page leaks
load request young|bounded|unclear
nightly price of.one.moment'

start() {
	"$at/app" "$1" >"$at/$1.out" 2>&1 &
	pid="$pid $!"
	echo "$!" >"$at/$1.pid"
	until grep -q '^ready' "$at/$1.out" 2>/dev/null; do
		kill -0 "$(cat "$at/$1.pid")" 2>/dev/null || return
		sleep 0.1
	done
}

# watch_all NAME COMMAND...: runs a command, with --pid, for all services at once. The nightly job begins meanwhile.
watch_all() {
	watch_name=$1
	shift
	watches=
	for watched in leak limit fill load nightly; do
		mkdir -p "$at/$watch_name-$watched"
		(cd "$at/$watch_name-$watched" && exec "$g2h" "$@" --pid "$(cat "../$watched.pid")") >"$at/$watch_name-$watched/log" 2>&1 &
		watches="$watches $!"
	done
	sleep 6
	kill -USR1 "$(cat "$at/nightly.pid")"
	# shellcheck disable=SC2086  # there are several
	wait $watches
}

# right VERDICTS LOG: prints the verdicts that are right. A busy machine may miss collections, which the program says: then it may
# also be withheld.
right() {
	if grep -q 'so quickly' "$2"; then echo "$1|mixed"; else echo "$1"; fi
}

# has_verdict DUMP CLASS VERDICTS: whether a dump's report has one of the verdicts for the class.
has_verdict() {
	"$g2h" --exe "$at/app" --format report --json "$1" 2>/dev/null | tr -d '\n' | sed 's/{"item"/\n&/g' |
		grep -E "\"item\":\"main\\.$2\"" | grep -o '"age":{[^[]*' >"$at/age"
	cat "$at/age"
	grep -qE "\"verdict\":\"($3)\"" "$at/age"
}

for goroot in $goroots; do
	release=$(go_release "$goroot")
	at=$build/$release
	mkdir -p "$at"
	go_builds "$release: services are built" services "$at/app" || continue
	pid=
	for service in leak limit fill load nightly; do
		start "$service"
	done
	watch_all ages --ages 12s --format dump -o dump
	watch_all watch --ages 2s --watch 2s --count 6 --keep . -o trend
	echo "$services" >"$at/services"
	while read -r service class verdict; do
		verdicts=$(right "$verdict" "$at/ages-$service/log")
		has_verdict "$at/ages-$service/dump" "$class" "$verdicts" >"$at/said" 2>&1
		cat "$at/ages-$service/log" >>"$at/said"
		result "$(grep -qE "\"verdict\":\"($verdicts)\"" "$at/said"; echo $?)" "$release: $service: one capture tells" "$at/said"
		verdicts=$(right "$verdict" "$at/watch-$service/log")
		has_verdict "$at/watch-$service/last.dump.gz" "$class" "$verdicts" >"$at/said" 2>&1
		cat "$at/watch-$service/log" "$at/watch-$service/trend" >>"$at/said"
		result "$(grep -qE "\"verdict\":\"($verdicts)\"" "$at/said"; echo $?)" "$release: $service: --watch tells the same" "$at/said"
	done <"$at/services"
	for service in leak fill; do
		grep -q '^      age .*, evenly spread: leaks .*, unless it is a cache that still fills' "$at/watch-$service/trend"
		result "$?" "$release: $service: the report of --watch says so" "$at/watch-$service/trend"
	done
	# shellcheck disable=SC2086  # there are several
	kill -KILL $pid
	pid=
done
