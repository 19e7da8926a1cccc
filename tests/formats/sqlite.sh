# shellcheck shell=sh
# Tests the format sqlite, which sqlite3 itself reads, and tools/heapquery, which makes the same tables from a snapshot. Sourced
# by run.sh.
heapquery=${HEAPQUERY:-$top/build/heapquery}

# The rows that two databases must have in common: all except their sources, addresses and goroutines, which a snapshot does not have.
rows='select "number", type, name, id, self_size, edge_count, first_edge, retained_size, dominator, trace_node_id, detachedness from node_;
	select * from edge_; select number, hex(text) from string; select * from node_type; select * from edge_type;
	select name, sql from sqlite_schema where tbl_name not like "goroutine%" order by name'

# same_rows NAME ONE.db OTHER.db: both must have the same rows.
same_rows() {
	sqlite3 "$2" "$rows" >"$build/one" 2>"$log" && sqlite3 "$3" "$rows" >"$build/other" 2>>"$log" && [ -s "$build/one" ] &&
		cmp "$build/one" "$build/other" >>"$log" 2>&1
	result $? "$1"
}

# convert_both NAME ARGUMENT...: writes $build/NAME.heapsnapshot, $build/NAME.db and, from the snapshot, $build/NAME.query.db,
# which must have the same rows.
convert_both() {
	name=$1
	shift
	"$g2h" "$@" --no-contexts -o "$build/$name.heapsnapshot" 2>"$log" && "$g2h" "$@" --format sqlite -o "$build/$name.db" 2>"$log"
	result $? "$name: is written"
	"$heapquery" "$build/$name.heapsnapshot" "$build/$name.query.db" >"$log" 2>&1
	result $? "$name: the snapshot is read"
	same_rows "$name: the database has all rows that the snapshot has" "$build/$name.db" "$build/$name.query.db"
	[ "$(sqlite3 "$build/$name.db" 'pragma integrity_check')" = ok ]
	result $? "$name: PRAGMA integrity_check"
}

# refused NAME STATUS TEXT OUTPUT COMMAND...: the command must end with STATUS, print TEXT and leave no file that begins with
# OUTPUT.
refused() {
	name=$1 status=$2 text=$3 output=$4
	shift 4
	"$@" >"$log" 2>&1
	[ $? -eq "$status" ] && grep -q -e "$text" "$log" && ! ls -d "$output"* >/dev/null 2>&1
	result $? "$name"
}

conversions() {
	for i in 1 2; do
		convert_both typed.$i --exe "$exe" "$sample.$i.dump.gz"
	done
	convert_both folded --max-nodes 3000 --exe "$exe" "$sample.2.dump.gz"
	dumps='go1.3.3-amd64 go1.26-s390x'
	if [ -n "${CHECK_ALL-}" ]; then
		convert_both untyped "$sample.2.dump.gz"
		convert_both reachable --reachable --no-stacks --exe "$exe" "$sample.2.dump.gz"
		dumps="$dumps go1.15-amd64 go1.26-386"
	fi
	for dump in $dumps; do
		convert_both $dump "$top/samples/dumps/$dump.2.dump.gz"
	done
	for name in typed.2 folded go1.26-s390x; do
		node "$here/sqlite.mjs" "$build/$name.db" "$build/$name.heapsnapshot" | sed -E "s/^((not )?ok [0-9]+ - )/\1$name: /"
	done
	"$g2h" --exe "$exe" --format sqlite -o "$build/series" "$sample.1.dump.gz" "$sample.2.dump.gz" 2>"$log" &&
		"$g2h" --no-contexts --exe "$exe" -o "$build/series" "$sample.1.dump.gz" "$sample.2.dump.gz" 2>"$log" &&
		"$heapquery" "$build/series/leakserver.2.heapsnapshot" "$build/series/query.db" 2>"$log"
	result $? 'of a series there is one each'
	same_rows 'of a series: the ids are those of its snapshots' "$build/series/leakserver.2.db" "$build/series/query.db"
}

secrets() {
	printf '0123456789abcdef0123456789abcdef' >"$build/key" && chmod 600 "$build/key"
	grep -aq 'Go-http-client' "$build/typed.2.db" && grep -aq 'wide"\]' "$build/typed.2.db"
	result $? 'texts and keys of maps are in a database'
	convert_both redacted --redact-key "$build/key" --exe "$exe" "$sample.2.dump.gz"
	! grep -aq '127\.0\.0\.1\|Go-http\|wide"\]' "$build/redacted.db" && [ -s "$build/redacted.db" ]
	result $? 'redacted: no text of the heap'
}

failures() {
	gzip -dc "$top/samples/dumps/go1.3.3-386.1.dump.gz" >"$build/whole.dump"
	head -c 2000000 "$build/whole.dump" >"$build/cut.dump"
	"$g2h" --format sqlite -o "$build/cut.db" "$build/cut.dump" >"$log" 2>&1
	[ $? -eq 3 ] && "$g2h" --no-contexts -o "$build/cut.heapsnapshot" "$build/cut.dump" >>"$log" 2>&1
	[ $? -eq 3 ] && "$heapquery" "$build/cut.heapsnapshot" "$build/cut.query.db" >>"$log" 2>&1
	result $? 'a dump that is cut gives status 3'
	same_rows 'and what could be read of it' "$build/cut.db" "$build/cut.query.db"
	[ "$(sqlite3 "$build/cut.db" "select value from about where key = 'complete'")" = 0 ]
	result $? 'which the database says'
	refused 'not to standard output' 2 'is written to a file, not to standard output: -o app.db' "$build/none.db" \
		"$g2h" --format sqlite "$build/whole.dump"
	refused 'not by -o -' 2 'is written to a file' "$build/none.db" "$g2h" --format sqlite -o - "$build/whole.dump"
	refused 'not with -z' 2 '^go2heapsnapshot: -z does not go with --format sqlite' "$build/none.db" \
		"$g2h" -z --format sqlite -o "$build/none.db" "$build/whole.dump"
	refused 'not to a device' 1 '^go2heapsnapshot: /dev/null: cannot write a database there' "$build/none.db" \
		"$g2h" --format sqlite -o /dev/null "$build/whole.dump"
	refused 'a directory that is missing' 1 'none/none.db: cannot create: No such file' "$build/none.db" \
		"$g2h" --format sqlite -o "$build/none/none.db" "$build/whole.dump"
	refused 'a directory that cannot be written to' 1 '/proc/none.db: cannot create' /proc/none.db \
		"$g2h" --format sqlite -o /proc/none.db "$build/whole.dump"
	refused 'no room for the file' 1 "none.db: cannot write: File too large" "$build/none.db" \
		sh -c 'ulimit -f 400; exec "$@"' - "$g2h" --format sqlite -o "$build/none.db" "$build/whole.dump"
	refused 'no dump' 1 'README.md: ' "$build/none.db" "$g2h" --format sqlite -o "$build/none.db" "$top/samples/README.md"
	cp "$build/cut.db" "$build/old.db"
	"$g2h" --format sqlite -o "$build/old.db" "$top/samples/README.md" >"$log" 2>&1
	[ $? -eq 1 ] && cmp "$build/old.db" "$build/cut.db" >>"$log" 2>&1
	result $? 'what was there stays where nothing is written'
	"$g2h" --format sqlite -o "$build/old.db" "$build/whole.dump" >"$log" 2>&1 &&
		[ "$(sqlite3 "$build/old.db" "select value from about where key = 'complete'")" = 1 ]
	result $? 'and is replaced where it is'
}

# Tests the queries of docs/sqlite.md as they stand there: each must give the row that it says comes first.
queries() {
	mkdir -p "$build/readme"
	for i in 1 2; do
		cp "$build/typed.$i.db" "$build/readme/leak.$i.db"
	done
	node "$here/queries.mjs" "$top/docs/sqlite.md" "$build/readme" 6
}

snapshots() {
	(cd "$build" && node "$here/planted.js" node.heapsnapshot) >"$log" 2>&1 && "$heapquery" "$build/node.heapsnapshot" "$build/node.db" >>"$log" 2>&1
	result $? "Node's snapshot is read"
	node "$here/sqlite.mjs" "$build/node.db" "$build/node.heapsnapshot" | sed -E "s/^((not )?ok [0-9]+ - )/\1Node: /"
	. "$top/tests/sanitize.sh"
	make_sanitized heapquery
	result $? 'heapquery is built with sanitizers'
	node "$here/heapquery.mjs" "$top/$sanitized/heapquery" "$build" "$(damages 300 3000)"
	"$heapquery" "$build/typed.2.heapsnapshot" >"$log" 2>&1
	[ $? -eq 2 ] && grep -q '^Usage: heapquery ' "$log"
	result $? 'heapquery: one file is wrong usage'
	refused 'heapquery: no such file' 1 '^heapquery: .*missing: ' "$build/none.db" "$heapquery" "$build/missing" "$build/none.db"
	cp "$build/typed.2.heapsnapshot" "$build/own"
	"$heapquery" "$build/own" "$build/own" >"$log" 2>&1
	[ $? -eq 1 ] && cmp "$build/own" "$build/typed.2.heapsnapshot" >>"$log" 2>&1
	result $? 'heapquery: the snapshot itself is not overwritten'
	gzip -c "$build/typed.2.heapsnapshot" | "$heapquery" - "$build/pipe.db" >"$log" 2>&1
	result $? 'heapquery: from a pipe, compressed'
	same_rows 'heapquery: the same from there' "$build/pipe.db" "$build/typed.2.query.db"
	refused 'heapquery: no room for the file' 1 '^heapquery: .*none.db: cannot write: File too large' "$build/none.db" \
		sh -c 'ulimit -f 400; exec "$@"' - "$heapquery" "$build/typed.2.heapsnapshot" "$build/none.db"
}

# Tests a build without SQLite.
without() {
	[ -n "${CHECK_ALL-}" ] || return 0 # it compiles everything once more; hosts:musl-sources compiles without SQLite, too
	. "$top/tests/sanitize.sh"
	make -s -C "$top" CC="$cached ${CC:-cc}" BUILD="$build/without" WITH_SQLITE= WITH_ZSTD= WITH_LZMA= WITH_LZ4= WITH_DEFLATE= CFLAGS=-O0 -j"$(nproc)" all >"$log" 2>&1
	result $? 'make WITH_SQLITE= WITH_ZSTD= WITH_LZMA= WITH_LZ4= WITH_DEFLATE= builds'
	"$build/without/go2heapsnapshot" --version >"$log" 2>&1 && grep -q ', without SQLite' "$log"
	result $? 'without: --version says so'
	refused 'without: the format is not there, and why' 2 "built without SQLite, so it has no format 'sqlite'" "$build/none.db" \
		"$build/without/go2heapsnapshot" --format sqlite -o "$build/none.db" "$build/whole.dump"
	! readelf -d "$build/without/go2heapsnapshot" | grep -q sqlite && readelf -d "$g2h" | grep -q 'NEEDED.*libsqlite3'
	result $? 'without: it is not linked'
	make -s -C "$top" BUILD="$build/without" WITH_SQLITE= WITH_ZSTD= WITH_LZMA= WITH_LZ4= WITH_DEFLATE= CFLAGS=-O0 DESTDIR="$build/installed" install >"$log" 2>&1 &&
		grep -qx 'Requires.private: zlib' "$build/installed/usr/local/lib/pkgconfig/go2heapsnapshot.pc"
	result $? 'without: nor do programs on the library need it'
	G2H="$build/without/go2heapsnapshot" "$build/without/go2heapsnapshot" -o "$build/without.heapsnapshot" "$build/whole.dump" 2>"$log" &&
		"$g2h" -o "$build/with.heapsnapshot" "$build/whole.dump" 2>"$log" && cmp "$build/with.heapsnapshot" "$build/without.heapsnapshot" >>"$log" 2>&1
	result $? 'without: a snapshot is the same'
	! readelf -d "$build/without/go2heapsnapshot" | grep -Eq 'zstd|lzma|lz4'
	result $? 'without: zstd, xz and lz4 are not linked'
	for method in zstd xz lz4; do
		command -v $method >/dev/null || continue
		$method -c <"$build/whole.dump" >"$build/whole.$method"
		refused "without: $method is named, with what unpacks it" 1 "unpack it first: $method -d" "$build/none" \
			"$build/without/go2heapsnapshot" -o "$build/none" "$build/whole.$method"
	done
}

sqlite() {
	conversions
	secrets
	failures
	queries
	snapshots
	without
}
