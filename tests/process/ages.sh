#!/bin/sh
# A program whose objects know in which collection they were born is watched by --ages, stripped: the collection that CSV has for
# each object is the one after its birth. Its report says so of the classes. TAP on standard output.
#
#   G2H                  the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases (default: 1.22 and the current one; with CHECK_ALL all from 1.19 on)
usual=leaks
set -u
. "$(dirname "$0")/lib.sh"
may_trace ages || exit 0

aged() {
	mkdir -p "$at"
	(cd "$here/aged" && GOROOT=$goroot "$goroot/bin/go" build -ldflags='-s -w' -o "$at/app" .) >"$at/log" 2>&1 || return
	rm -f "$at/in" "$at/csv/nodes.csv"
	mkfifo "$at/in" || return
	"$at/app" <"$at/in" >"$at/answers.new" 2>>"$at/log" &
	pid=$!
	exec 9>"$at/in"
	wait_ready "$at/answers.new" || return
	"$g2h" --pid "$pid" --ages 6s --format dump -o "$at/dump" 2>>"$at/log" &&
		"$g2h" --exe "$at/app" --format csv -o "$at/csv" "$at/dump" 2>>"$at/log"
	aged_status=$?
	echo >&9
	exec 9>&-
	wait "$pid" 2>/dev/null
	pid=
	grep -v '^ready' "$at/answers.new" >"$at/answers"
	return "$aged_status"
}

# mcp TOOL ARGUMENTS: prints what --mcp answers about the dump.
mcp() {
	{
		printf '%s\n' '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
		printf '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","arguments":%s}}\n' "$1" "$2"
	} | "$g2h" --mcp --exe "$at/app" "$at/dump" | sed 's/\\"/"/g'
}

# same_elsewhere: whether SQLite has the same for each object as CSV, and MCP the same ages of suspects as the report.
same_elsewhere() {
	rm -f "$at/db"
	"$g2h" --exe "$at/app" --format sqlite -o "$at/db" "$at/dump" &&
		sqlite3 -csv "$at/db" "SELECT address, alive_since, alive_since_ms FROM node WHERE address IS NOT NULL ORDER BY 1" |
		tr -d '\r' >"$at/sqlite.ages" &&
		sqlite3 -csv :memory: ".import --csv '$at/csv/nodes.csv' nodes" \
			"SELECT address, nullif(alive_since, ''), nullif(alive_since_ms, '') FROM nodes WHERE address <> '' ORDER BY CAST(address AS INTEGER)" |
		tr -d '\r' >"$at/csv.ages" &&
		grep -q ',[0-9]' "$at/csv.ages" && cmp "$at/csv.ages" "$at/sqlite.ages" || return
	"$g2h" --exe "$at/app" --format report --json "$at/dump" | grep -o '"age":{[^}]*' >"$at/report.ages"
	mcp suspects '{"bytes":100000,"rows":100}' | grep -o '"age":{[^}]*' >"$at/mcp.ages"
	cmp "$at/report.ages" "$at/mcp.ages"
}

# older_only: whether --older takes the objects of a class that are old enough by what SQLite has of each, and no other ones.
older_only() {
	rm -f "$at/live.db"
	"$g2h" --exe "$at/app" --reachable --format sqlite -o "$at/live.db" "$at/dump" || return
	for older_time in 1 3; do
		older_wanted=$(sqlite3 "$at/live.db" "SELECT count(*) FROM node WHERE name = 'main.flat' AND
			alive_since_ms <= (SELECT max(alive_since_ms) FROM node) - $older_time * 1000")
		"$g2h" --exe "$at/app" --format report --json --path-to main.flat --older "$older_time" "$at/dump" >"$at/older.json" || return
		echo "older than $older_time s: $older_wanted"
		mcp path "{\"what\":\"main.flat\",\"older\":$older_time}" >"$at/older.mcp"
		for older_way in json mcp; do
			[ "$older_wanted" -gt 10 ] && grep -q "\"older\":{\"objects\":$older_wanted,\"seconds\":$older_time," "$at/older.$older_way" || return
		done
	done
	! "$g2h" --exe "$at/app" --format report --path-to main.flat --older 1h "$at/dump" >"$at/older.json" 2>"$at/older.error" &&
		grep -q 'not known which objects are older than 3600 s' "$at/older.error"
}

# timeline: whether the bars of DevTools' timeline are what SQLite has of each collection. The last bar, of what has not survived one,
# has no time in SQLite.
timeline() {
	"$g2h" --exe "$at/app" -o "$at/x.heaptimeline" "$at/dump" && node "$top/tests/devtools/timeline.mjs" "$at/x.heaptimeline" main.flat >"$at/bars" &&
		sqlite3 "$at/db" "SELECT alive_since_ms - (SELECT min(alive_since_ms) FROM node), sum(self_size), sum(name = 'main.flat') FROM node
			WHERE alive_since_ms IS NOT NULL GROUP BY 1 ORDER BY 1" >"$at/sqlite.bars" || return
	wc -l "$at/bars" "$at/sqlite.bars"
	[ "$(wc -l <"$at/sqlite.bars")" -ge 10 ] && sed '$d' "$at/bars" | cmp - "$at/sqlite.bars"
}

# one_look: whether a report of a process that nobody has watched says how many objects have survived the last collection.
one_look() {
	"$at/app" once >"$at/once" 2>&1 &
	pid=$!
	wait_ready "$at/once" || return
	for look_way in '' --fork; do
		# shellcheck disable=SC2086  # none or one
		"$g2h" --pid "$pid" $look_way --format report -o "$at/once.txt" && "$g2h" --pid "$pid" $look_way --format report --json -o "$at/once.json" || return
		for look_age in flat,4500,3000,1500 node,6000,6000,0 wide,8,6,2; do
			look_wanted=$(echo "$look_age" | sed -E 's/.*,(.*),(.*),(.*)/"age":{"verdict":"not watched","objects":\1,"before":\2,"born":0,"young":\3,/')
			tr -d '\n' <"$at/once.json" | sed 's/{"item"/\n&/g' | grep "\"item\":\"main.${look_age%%,*}\"" | grep -F "$look_wanted" >>"$at/once.found" || return
		done
		for look_line in '3,000 of 4,500 survived the last collection' 'all survived the last collection' '6 of 8 survived the last collection'; do
			grep -q "^ *age  *$look_line\$" "$at/once.txt" || return
		done
	done
	kill -KILL "$pid"
	pid=
}

for goroot in $goroots; do
	release=$(go_release "$goroot")
	at=$build/$release
	aged
	result "$?" "$release: a program is watched" "$at/log"
	awk -F, -f "$here/ages.awk" "$at/csv/nodes.csv" "$at/answers" >"$at/compared" 2>&1
	cat "$at/compared" "$at/log" >"$at/both"
	# A busy machine may miss collections, which the program says: then slots may have been used anew meanwhile. Otherwise those that
	# are not right are one off.
	least=99
	if grep -q 'so quickly' "$at/log"; then
		least=90
	else
		! grep '^off-by' "$at/compared" | grep -vE '^off-by -?1 '
		result "$?" "$release: none is more than one collection off" "$at/both"
	fi
	[ "$(grep -c '^[a-z]* [0-9]* [0-9]*$' "$at/compared")" -ge 6 ]
	result "$?" "$release: all kinds of objects have ages" "$at/both"
	awk -v least="$least" '$1 != "off-by" { all += $2; good += $3 } END { exit !(all > 500 && good * 100 >= all * least) }' "$at/compared"
	result "$?" "$release: they are since the collection after their birth" "$at/both"
	same_elsewhere >"$at/elsewhere" 2>&1
	result "$?" "$release: SQLite and MCP have the same ages" "$at/elsewhere"
	older_only >"$at/older.log" 2>&1
	result "$?" "$release: --older takes those that are old enough" "$at/older.log"
	timeline >"$at/timeline.log" 2>&1
	result "$?" "$release: the bars of DevTools' timeline are those of SQLite" "$at/timeline.log"
	one_look >"$at/look.log" 2>&1
	result "$?" "$release: without a watch, it is said what survived the last collection" "$at/look.log"
done
