# shellcheck shell=sh disable=SC2154 # variables that run.sh sets
# Tests summaries of several dumps in one database: --format sqlite --summary --append. Sourced by run.sh.

# is NAME QUERY EXPECTED: QUERY on the database of summaries must give EXPECTED.
is() {
	sqlite3 -bail "$build/fleet.db" "ATTACH '$build/whole.db' AS whole; $2" >"$log" 2>&1
	[ "$(cat "$log")" = "$3" ]
	result $? "$1"
}

# append ARGUMENT...: adds the summary of a dump to the database of summaries.
append() {
	"$g2h" --format sqlite --summary --append -o "$build/fleet.db" "$@" 2>"$log"
}

summary() {
	append --label release=1.0 --label host=web-1 --exe "$exe" "$sample.1.dump.gz" &&
		append --label release=1.1 --label host=web-1 --exe "$exe" "$sample.2.dump.gz" && append "$top/samples/dumps/go1.15-amd64.2.dump.gz"
	result $? 'three dumps are added'
	"$g2h" --exe "$exe" --format sqlite -o "$build/whole.db" "$sample.2.dump.gz" 2>"$log"
	result $? 'one of them is there whole'
	is 'what is said of dumps' "SELECT id, go_version, typed, complete, objects, goroutines, sys > heap_alloc, num_gc > 0 FROM dump" \
		"1|go1.27.4|1|1|4222|35|1|1
2|go1.27.4|1|1|16535|95|1|1
3||0|1|23189|27|1|1"
	is 'when' "SELECT time FROM dump WHERE id = 2" "$(stat -c %Y "$sample.2.dump.gz")"
	is 'labels' "SELECT dump, group_concat(key || '=' || value) FROM label GROUP BY dump" "1|host=web-1,release=1.0
2|host=web-1,release=1.1"
	is 'classes have grown' "SELECT n.class, n.objects - o.objects FROM class_stat n JOIN class_stat o USING (class)
		WHERE o.dump = 1 AND n.dump = 2 AND class IN ('main.Watcher', 'main.Preview', 'main.Valuation') ORDER BY class" "main.Preview|300
main.Valuation|60
main.Watcher|1600"
	is 'a class has the objects and the bytes that nodes have' "SELECT c.objects - count(*), c.bytes - sum(n.self_size)
		FROM class_stat c JOIN whole.node n ON n.name = c.class WHERE c.dump = 2 AND c.class = 'main.Session'" "0|0"
	is 'texts are one class, which has the bytes of all' "SELECT bytes - (SELECT sum(self_size) FROM whole.node WHERE type = 'string')
		FROM class_stat WHERE dump = 2 AND class = '(string)'" 0
	is 'classes: sums are those of the dumps' "SELECT d.bytes - sum(c.bytes + c.garbage_bytes),
		d.objects - d.map_parts - sum(c.objects + c.garbage_objects)
		FROM dump d JOIN class_stat c ON c.dump = d.id GROUP BY d.id" "0|0
0|0
0|0"
	is 'classes: garbage is counted apart, as much as is below (unreachable)' "SELECT d.garbage_bytes - sum(c.garbage_bytes), d.garbage_bytes > 0
		FROM dump d JOIN class_stat c ON c.dump = d.id GROUP BY d.id" "0|1
0|0
0|1"
	is 'the tree: sums are those of the dumps' "SELECT d.bytes + d.stack_bytes - sum(t.bytes), d.reachable_bytes + d.garbage_bytes - max(t.retained)
		FROM dump d JOIN tree t ON t.dump = d.id GROUP BY d.id" "0|0
0|0
0|0"
	is 'the tree: what the whole database has' "SELECT max(retained) - (SELECT max(retained_size) FROM whole.node) FROM tree WHERE dump = 2" 0
	is 'the tree: a place retains its own bytes and what is below it' "SELECT count(*) FROM tree t WHERE kind <> 'others' AND retained <> bytes +
		coalesce((SELECT sum(retained) FROM tree c WHERE c.dump = t.dump AND c.parent = t.place), 0)" 0
	is 'the tree: the same place in both' "SELECT count(*) > 500 FROM tree o JOIN tree n USING (place) WHERE o.dump = 1 AND n.dump = 2" 1
	is 'the tree: what who holds' "SELECT p.name, t.name, t.objects FROM tree t JOIN tree p ON p.place = t.parent AND p.dump = t.dump
		WHERE t.dump = 2 AND t.name = 'map[string]*main.Preview'" 'previews.byName|map[string]*main.Preview|1'
	is 'goroutines: sums are those of the dumps' "SELECT d.goroutines - sum(g.count), (SELECT retained FROM tree WHERE dump = d.id AND name = '(goroutines)')
		- sum(g.retained) FROM dump d JOIN goroutine_stat g ON g.dump = d.id GROUP BY d.id" "0|0
0|0
0|0"
	is 'goroutines: by where they are' "SELECT dump, count FROM goroutine_stat WHERE goroutines = 'goroutines [chan send] main.ask main.go:178'
		AND started_by LIKE '%main.go:166'" "1|20
2|80"

	# Only the largest classes and places have rows; further rows sum up the others.
	odd many 2500
	append --exe "$build/odd.exe" "$build/many.dump"
	result $? 'many classes: a summary is added'
	is 'many classes: so many rows at most' "SELECT count(*), sum(class = '(others)') FROM class_stat WHERE dump = 4" "1001|1"
	is 'many classes: so many places at most' "SELECT sum(kind <> 'others'), sum(kind = 'others') BETWEEN 1 AND 2000 FROM tree WHERE dump = 4" "2000|1"
	is 'many classes: sums are those of the dump' "SELECT bytes - (SELECT sum(bytes + garbage_bytes) FROM class_stat WHERE dump = 4),
		objects - map_parts - (SELECT sum(objects + garbage_objects) FROM class_stat WHERE dump = 4), bytes + stack_bytes - (SELECT sum(bytes) FROM tree WHERE dump = 4),
		objects - map_parts - (SELECT sum(objects) FROM tree WHERE dump = 4) FROM dump WHERE id = 4" "0|0|0|0"
	is 'many classes: a place retains what is below it' "SELECT count(*) FROM tree t WHERE dump = 4 AND kind <> 'others' AND retained <> bytes +
		coalesce((SELECT sum(retained) FROM tree c WHERE c.dump = 4 AND c.parent = t.place), 0)" 0

	# Without --append, a summary has a database of its own; its bytes are the same for any number of threads.
	for threads in 1 3; do
		"$g2h" -j $threads --format sqlite --summary --exe "$exe" -o "$build/alone.$threads.db" "$sample.2.dump.gz" 2>"$log"
	done
	[ "$(sqlite3 "$build/alone.1.db" 'SELECT count(*), sum(bytes) FROM class_stat')" = "$(sqlite3 "$build/fleet.db" 'SELECT count(*), sum(bytes) FROM class_stat WHERE dump = 2')" ] &&
		cmp "$build/alone.1.db" "$build/alone.3.db" >>"$log" 2>&1
	result $? 'alone: the same rows, for any number of threads'
	"$g2h" --redact --format sqlite --summary --exe "$build/odd.exe" -o "$build/redacted.db" "$build/many.dump" 2>"$log"
	[ -s "$build/redacted.db" ] && ! grep -aq 'größer\|say "hi"\|before' "$build/redacted.db"
	result $? 'redacted: no text of the heap'
	together
}

# Tests several programs that append at once, and programs that are killed before they end.
together() {
	dumps() { sqlite3 "$build/fleet.db" 'SELECT count(*) FROM dump'; }
	before=$(dumps)
	for i in 1 2 3 4; do
		"$g2h" --format sqlite --summary --append -o "$build/fleet.db" "$sample.1.dump.gz" 2>>"$log" &
	done
	wait
	[ "$(dumps)" -eq $((before + 4)) ]
	result $? 'several at once: each is added'
	for i in 1 2 3 4; do
		"$g2h" --format sqlite --summary --append -o "$build/new.db" "$sample.1.dump.gz" 2>>"$log" &
	done
	wait
	[ "$(sqlite3 "$build/new.db" 'SELECT count(*) FROM dump')" -eq 4 ]
	result $? 'several at once to a database that is not there yet'

	# A preloaded library kills the program when it syncs a file for the Nth time, N being $KILL_AT.
	cat >"$build/kill.c" <<-'END'
		#include <signal.h>
		#include <stdlib.h>
		#include <unistd.h>
		static int sync_of(void)
		{
			static int count;
			return ++count == atoi(getenv("KILL_AT")) ? kill(getpid(), SIGKILL) : 0;
		}
		int fsync(int fd) { return (void)fd, sync_of(); }
		int fdatasync(int fd) { return (void)fd, sync_of(); }
	END
	${CC:-cc} -shared -fPIC -o "$build/kill.so" "$build/kill.c" >"$log" 2>&1
	before=$(dumps)
	left=0
	for i in 1 2 3 4 5 6; do
		KILL_AT=$i LD_PRELOAD=$build/kill.so "$g2h" --format sqlite --summary --append -o "$build/fleet.db" "$sample.1.dump.gz" >>"$log" 2>&1 && break
		[ -e "$build/fleet.db-journal" ] && left=$((left + 1))
		[ "$(sqlite3 "$build/fleet.db" 'PRAGMA integrity_check')" = ok ] && [ "$(dumps)" -eq "$before" ]
		result $? "killed at sync $i: the database is as it was"
	done
	[ $left -gt 1 ] && [ "$(dumps)" -eq $((before + 1)) ]
	result $? 'killed: it had begun to write, and goes on'
	cp "$build/whole.db" "$build/other.db"
	! "$g2h" --format sqlite --summary --append -o "$build/other.db" "$sample.1.dump.gz" 2>"$log" && cmp "$build/whole.db" "$build/other.db" &&
		grep -q 'other\.db: is a database of something else; --append takes one that --summary made$' "$log"
	result $? 'a database of something else is refused, and stays'
	sqlite3 "$build/new.db" 'PRAGMA user_version = 7'
	! "$g2h" --format sqlite --summary --append -o "$build/new.db" "$sample.1.dump.gz" 2>"$log" && grep -q 'new\.db: its tables are of version 7, ' "$log"
	result $? 'tables of another version are refused'
	cp "$exe" "$build/none.db"
	! "$g2h" --format sqlite --summary --append -o "$build/none.db" "$sample.1.dump.gz" 2>"$log" && grep -q 'none\.db: is not an SQLite database$' "$log" &&
		cmp "$exe" "$build/none.db"
	result $? 'what is no database is refused, and stays'
}
