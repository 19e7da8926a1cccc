# shellcheck shell=sh disable=SC2154 # variables that run.sh sets
# Tests the data of pages of --format html, without a browser. Sourced by run.sh.

# written NAME ARGUMENT...: writes $build/NAME.html, and the report of the same as $build/NAME.json and $build/NAME.txt.
written() {
	name=$1
	shift
	"$g2h" "$@" --format html -o "$build/$name.html" 2>"$log" && "$g2h" "$@" --format report --json -o "$build/$name.json" 2>>"$log" &&
		COLUMNS=120 "$g2h" "$@" --format report -o "$build/$name.txt" 2>>"$log"
	result $? "$name: is written"
}

# agrees NAME ARGUMENT...: the page and the reports of NAME, which the arguments give, must agree.
agrees() {
	written "$@"
	node "$here/page.mjs" "$1" "$build/$1.html" "$build/$1.json" "$build/$1.txt"
}

page() {
	of="--exe $exe $sample.2.dump.gz"
	for i in 1 2; do agrees typed.$i --exe "$exe" "$sample.$i.dump.gz"; done
	agrees grown --exe "$exe" --base "$sample.1.dump.gz" "$sample.2.dump.gz"
	agrees shrunk --exe "$exe" --base "$sample.2.dump.gz" "$sample.1.dump.gz"
	agrees untyped "$sample.2.dump.gz"
	agrees reachable --reachable --names full --exe "$exe" "$sample.2.dump.gz"
	for dump in go1.3.3-amd64 go1.26-s390x; do agrees $dump "$top/samples/dumps/$dump.2.dump.gz"; done
	node "$here/page.mjs" grown "$build/grown.html" --before "$build/typed.1.html"
	node "$here/page.mjs" shrunk "$build/shrunk.html" --before "$build/typed.2.html"

	odd twins twins
	agrees twins --exe "$build/odd.exe" "$build/twins.dump"
	node "$here/page.mjs" twins "$build/twins.html" --suspects main.more main.fewer

	# 800 variables that were let go: more than a page lists. And one that grew, for a report that nothing grew in has no tree.
	mkdir -p "$build/many" && awk 'BEGIN {
		print "package main\n\nimport (\n\t\"os\"\n\t\"runtime\"\n\t\"runtime/debug\"\n)\n"
		for (i = 0; i < 800; i++) print "var v" i " = new([8192]byte)"
		print "var kept = new([8192]byte)\nvar more *[1 << 20]byte"
		print "\nfunc dump(name string) {\n\truntime.GC()\n\truntime.GC()\n\tfile, _ := os.Create(name)\n\tdebug.WriteHeapDump(file.Fd())\n}\n"
		print "func main() {\n\tdump(os.Args[1])"
		for (i = 0; i < 800; i++) print "\tv" i " = nil"
		print "\tmore = new([1 << 20]byte)"
		print "\tdump(os.Args[2])\n}"
	}' >"$build/many/main.go" && "$go" build -o "$build/many.exe" "$build/many/main.go" >"$log" 2>&1 &&
		"$build/many.exe" "$build/many.1.dump" "$build/many.2.dump" >"$log" 2>&1
	result $? 'many: the program writes its dumps'
	agrees many.1 --exe "$build/many.exe" "$build/many.1.dump"
	agrees many --exe "$build/many.exe" --base "$build/many.1.dump" "$build/many.2.dump"
	node "$here/page.mjs" many "$build/many.html" --before "$build/many.1.html"
	rm -f "$build"/many.?.dump

	# Garbage counts in no trend.
	for i in 1 2; do "$g2h" --exe "$exe" --reachable --format report --json -o "$build/alive.$i.json" "$sample.$i.dump.gz" 2>"$log"; done
	# shellcheck disable=SC2046 # words
	"$g2h" --exe "$exe" --format html -o "$build/series.html" $(printf "$sample.%s.dump.gz " 1 2 2) 2>"$log"
	result $? 'series: is written'
	node "$here/page.mjs" series "$build/series.html" --series "$build/alive.1.json" "$build/alive.2.json" "$build/alive.2.json"

	# Any two dumps of a series can be compared.
	# shellcheck disable=SC2046 # words
	"$g2h" --exe "$exe" --reachable --format html -o "$build/past.html" $(printf "$sample.%s.dump.gz " 2 1 2) 2>"$log" &&
		"$g2h" --exe "$exe" --reachable --format html -o "$build/past.grown.html" --base "$sample.1.dump.gz" "$sample.2.dump.gz" 2>"$log"
	result $? 'past: is written'
	node "$here/page.mjs" past "$build/past.html" --past "$build/past.grown.html" "$build/alive.1.json"

	set --
	# shellcheck disable=SC2086 # words
	for address in $(grep -o '"class":[0-9]*,"address":"0x[0-9a-f]*","own"' "$build/typed.2.html" | grep -o '0x[0-9a-f]*' | head -n 12); do
		"$g2h" --format report --json --path-to "$address" -o "$build/object.$address.path" $of 2>"$log" &&
			"$g2h" --format report --json --show "$address" -o "$build/object.$address.show" $of 2>>"$log" || result $? "$address: is found"
		set -- "$@" "$build/object.$address.path" "$build/object.$address.show"
	done
	node "$here/page.mjs" objects "$build/typed.2.html" --objects "$@"

	if "$g2h" --version | grep -q 'without SQLite'; then
		echo 'ok - database # SKIP the program is built without SQLite'
	else
		# shellcheck disable=SC2086
		"$g2h" --format sqlite -o "$build/nodes.db" $of 2>"$log" && sqlite3 -json "$build/nodes.db" "SELECT n.address, n.name, n.self_size,
			n.retained_size, d.address AS above, n.name LIKE '% entries' AS is_entries
			FROM node n LEFT JOIN node d ON d.id = n.dominator WHERE n.address IS NOT NULL ORDER BY n.retained_size DESC LIMIT 3000" >"$build/rows.json" 2>>"$log"
		result $? 'database: is read'
		node "$here/page.mjs" typed.2 "$build/typed.2.html" --database "$build/rows.json"
	fi

	# A million classes; and a hundred thousand, in whose names each sign takes six bytes.
	(cd "$top" && ${CC:-cc} -std=c17 -D_GNU_SOURCE -O1 -Iinclude -Isrc -Itests/unit -o "$build/grow" tests/growth/grow.c tests/unit/dump_builder.c \
		"${LIBRARY:-build/internal.a}" -lcmocka ${test_libs-$(make -s libs)}) >"$log" 2>&1
	result $? 'heaps with very many classes can be made'
	for heap in classes-tree.1000000 classes-marked.100000; do
		"$build/grow" "${heap%.*}" "${heap#*.}" >"$build/many.dump" && "$g2h" --format html -o "$build/$heap.html" "$build/many.dump" 2>"$log"
		result $? "$heap: is written"
		node "$here/page.mjs" "$heap" "$build/$heap.html" --limits
	done
	rm -f "$build/many.dump"
}
