# shellcheck shell=sh disable=SC2154 # variables that run.sh sets
# Tests the format csv: the rows that SQLite's shell reads must be those of the database. Sourced by run.sh.

# read_as_sqlite NAME ARGUMENT...: converts to CSV files in $build/NAME, from which SQLite's shell must read the rows of the
# database that the same arguments give.
read_as_sqlite() {
	name=$1
	shift
	"$g2h" "$@" --format csv -o "$build/$name" 2>"$log"
	status=$?
	"$g2h" "$@" --format sqlite -o "$build/$name/other.db" 2>>"$log"
	[ $? -eq $status ] && [ -s "$build/$name/nodes.csv" ] && [ -s "$build/$name/edges.csv" ]
	result $? "$name: is written, with the status that the database has"
	(cd "$build/$name" && sqlite3 -bail read.db <"$here/csv.sql" >>"$log" 2>&1) && ! grep -E '^(nodes|edges|node|edge)\|' "$log"
	result $? "$name: SQLite reads the rows that are in the database"
}

# sql NAME QUERY: queries the rows that SQLite's shell read.
sql() {
	sqlite3 "$build/$1/read.db" "$2"
}

csv() {
	read_as_sqlite typed --exe "$exe" "$sample.2.dump.gz"
	read_as_sqlite untyped "$sample.2.dump.gz"
	read_as_sqlite reachable --reachable --exe "$exe" "$sample.2.dump.gz"
	read_as_sqlite folded --max-nodes 3000 --exe "$exe" "$sample.2.dump.gz"
	for dump in go1.3.3-386 go1.26-s390x; do
		read_as_sqlite $dump "$top/samples/dumps/$dump.2.dump.gz"
	done
	gzip -dc "$sample.2.dump.gz" | head -c 1000000 >"$build/cut.dump"
	read_as_sqlite cut --exe "$exe" "$build/cut.dump"
	[ "$status" -eq 3 ] && [ "$(sql cut 'SELECT count(*) > 1000 FROM node_read')" = 1 ]
	result $? 'cut: what there is, and status 3'

	odd odd
	read_as_sqlite odd --exe "$build/odd.exe" "$build/odd.dump"
	newline="' || char(10) || '" return="' || char(13) || '" replacement="' || char(65533) || '" tab="' || char(9) || '"
	for text in 'a,b' 'say "hi"' '"' "two${newline}lines" "cr$return${newline}lf" ' before' 'behind ' "nul${replacement}byte" \
		"tab${tab}bed" "it''s; -- so" 'größer €' "not $replacement UTF-8" NULL 0042 '\N' 'last\'; do
		[ "$(sql odd "SELECT count(*) >= 1 FROM node_read WHERE type = 'string' AND instr(name, '$text') > 0")" = 1 ]
		result $? "odd: there is a text with $text"
	done
	[ "$(sql odd "SELECT count(*) FROM edge_read WHERE name_or_index = '[\"key a,b\"]'")" = 1 ] &&
		[ "$(sql odd "SELECT count(*) FROM edge_read WHERE name_or_index = '[\"key say \"hi\"\"]'")" = 1 ]
	result $? 'odd: edges are called by their keys'

	"$g2h" -j 1 -z --exe "$exe" --format csv -o "$build/packed" "$sample.2.dump.gz" 2>"$log" &&
		gzip -dc "$build/packed/nodes.csv.gz" | cmp - "$build/typed/nodes.csv" >>"$log" 2>&1 &&
		gzip -dc "$build/packed/edges.csv.gz" | cmp - "$build/typed/edges.csv" >>"$log" 2>&1
	result $? 'compressed, by one thread: the same bytes'
	[ "$(head -n 1 "$build/typed/nodes.csv")" = id,name,type,self_size,edge_count,retained_size,dominator,address ] &&
		[ "$(head -n 1 "$build/typed/edges.csv")" = from_node,to_node,type,name_or_index ]
	result $? 'the first lines are the names of the columns'
	[ "$(sed -n '2s/synthetic.*//p' "$build/typed/nodes.csv")" = '2,"",' ]
	result $? 'a name that is empty is told from none'
	"$g2h" --redact --exe "$build/odd.exe" --format csv -o "$build/redacted" "$build/odd.dump" 2>"$log"
	[ -s "$build/redacted/nodes.csv" ] && ! grep -aq 'key \|größer\|before\|,0042,' "$build/redacted/nodes.csv" "$build/redacted/edges.csv"
	result $? 'redacted: no text of the heap'
	"$g2h" --exe "$exe" --format csv -o "$build/series" "$sample.1.dump.gz" "$sample.2.dump.gz" 2>"$log" &&
		[ -s "$build/series/leakserver.1/nodes.csv" ] && [ -s "$build/series/leakserver.2/edges.csv" ]
	result $? 'a series has a directory for each'
}
