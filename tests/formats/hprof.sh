# shellcheck shell=sh disable=SC2154 # variables that run.sh sets
# Tests the format hprof: compares it strictly with the snapshot, and lets VisualVM's library read it. Sourced by run.sh.

# letter NAME [FILE]: $build/NAME.hprof must agree with $build/NAME.heapsnapshot, and with FILE, which says what VisualVM's
# library read.
letter() {
	node "$here/hprof.mjs" "$build/$1.hprof" "$build/$1.heapsnapshot" ${2+"$2"} >"$log" 2>&1
	sed -nE "s/^((not )?ok - )/\1$1: /p; /^#/p" "$log"
	grep -Eq '^(not )?ok - ' "$log"
	result $? "$1: is compared"
}

# java_dump NAME DUMP ARGUMENT...: writes $build/NAME.heapsnapshot and $build/NAME.hprof. If VisualVM's library is there,
# visualvm() compares them, after it has read the file; if not, this does.
java_dump() {
	name=$1 dump=$2
	shift 2
	"$g2h" --reachable --no-contexts "$@" -o "$build/$name.heapsnapshot" "$dump" 2>"$log" && "$g2h" "$@" --format hprof -o "$build/$name.hprof" "$dump" 2>"$log"
	result $? "$name: is written"
	[ -n "$jar" ] || letter "$name"
}

# visualvm NAME CLASS...: VisualVM's library reads $build/NAME.hprof and writes what it found to $build/NAME.visualvm.
visualvm() {
	name=$1
	shift
	LC_ALL=C.UTF-8 java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "$build/java:$jar" Hprof "$build/$name.hprof" "$@" >"$build/$name.visualvm" 2>"$log" && [ ! -s "$log" ]
	result $? "$name: VisualVM's library reads it without complaint"
	letter "$name" "$build/$name.visualvm"
	grep -q "^ok - VisualVM" "$log"
	result $? "$name: VisualVM counts the objects and bytes of each class that the snapshot has"
}

# says NAME WHAT LINE: VisualVM's library must have printed LINE, in which \t is a tab.
says() {
	grep -Fx "$(printf "$3")" "$build/$1.visualvm" >/dev/null || {
		cp "$build/$1.visualvm" "$log"
		false
	}
	result $? "$1: $2"
}

hprof() {
	jar=$("$top/tools/setup" visualvm 2>"$log") || jar=
	java_dump typed "$sample.2.dump.gz" --exe "$exe"
	java_dump untyped "$sample.2.dump.gz"
	java_dump redacted "$sample.2.dump.gz" --exe "$exe" --redact --no-stacks
	for nodes in 5000 100; do
		java_dump folded-$nodes "$sample.2.dump.gz" --exe "$exe" --reachable --max-nodes $nodes
	done
	for dump in "$top"/samples/dumps/*.2.dump.gz; do
		java_dump "$(basename "$dump" .2.dump.gz)" "$dump"
	done
	gzip -dc "$sample.2.dump.gz" | head -c 900000 >"$build/cut.dump"
	"$g2h" -o "$build/cut.heapsnapshot" "$build/cut.dump" 2>"$log"
	"$g2h" --format hprof -o "$build/cut.hprof" "$build/cut.dump" 2>"$log"
	[ $? -eq 3 ]
	result $? 'cut: is written, exit status 3'
	node "$here/hprof.mjs" "$build/cut.hprof" "$build/cut.heapsnapshot" | sed -E "s/^((not )?ok - )/\\1cut, with all that was read: /"
	"$g2h" --exe "$exe" --reachable --no-contexts --numbers -o "$build/numbers.heapsnapshot" "$sample.2.dump.gz" 2>"$log" &&
		node "$here/hprof.mjs" "$build/typed.hprof" "$build/numbers.heapsnapshot" >"$log" 2>&1
	sed -nE "s/^((not )?ok - )/\\1--numbers: /p; /^#/p" "$log"
	grep -q '^ok - the [1-9][0-9]* numbers in their fields' "$log"
	result $? "--numbers: the numbers of a heap snapshot are those of hprof's fields"
	"$g2h" --exe "$exe" --format hprof -j 1 "$sample.2.dump.gz" 2>"$log" | cmp - "$build/typed.hprof" >>"$log" 2>&1
	result $? 'the same bytes with one thread'
	"$g2h" --exe "$exe" --format hprof -z "$sample.2.dump.gz" 2>"$log" | gzip -dc | cmp - "$build/typed.hprof" >>"$log" 2>&1
	result $? 'the same bytes, compressed'
	"$g2h" --exe "$exe" --format hprof "$sample.2.dump.gz" 2>&1 >/dev/null | grep -q ': left out as garbage: '
	result $? 'it is said how much garbage is left out'
	! grep -aq '127\.0\.0\.1\|Go-http-client' "$build/redacted.hprof" && grep -aq '127\.0\.0\.1' "$build/typed.hprof"
	result $? 'redacted: no text of the heap'
	# The dump declares 4 GiB and has 5 MB of them. The snapshot has a second node for what is too large for one.
	node "$top/tests/oracle/writer.mjs" object-4gib >"$build/short.dump"
	for nodes in 1 1000; do
		"$g2h" --reachable --no-contexts --max-nodes $nodes -o "$build/short.heapsnapshot" "$build/short.dump" 2>"$log"
		(ulimit -f 20000 && "$g2h" --max-nodes $nodes --format hprof -o "$build/short.hprof" "$build/short.dump") 2>"$log" &&
			grep -q ': left out: 4.29 GB of arrays and stacks' "$log" &&
			node "$here/hprof.mjs" "$build/short.hprof" "$build/short.heapsnapshot" >>"$log"
		grep -q '^ok - .* the file is whole$' "$log" && grep -q '^ok - the roots hold the same [1-9]' "$log"
		result $? "an array is no longer than what the dump has of it, --max-nodes $nodes: the rest is said"
	done
	if [ -z "$jar" ]; then
		echo "ok - VisualVM's library # SKIP it is not here"
		return
	fi
	javac -cp "$jar" -d "$build/java" "$here/Hprof.java" >"$log" 2>&1
	result $? "what asks VisualVM's library is compiled"
	visualvm typed main.Preview main.Session main.Valuation 'map[string]*main.Preview'
	says typed 'a number by its field' 'field\tWidth\t175'
	says typed 'a string by its field' 'field\tAgent\tGo-http-client/1.1'
	says typed 'the length of a slice' 'field\tPixels.len\t175'
	says typed 'a pointer by its field' 'field\tAuction\tmain.Auction'
	says typed 'an entry holds the value' 'held by\tmap[string]*main.Preview entries\t[46].slots[1].elem'
	says typed 'a global holds the map' 'held by\tjava.lang.Class\tpreviews.byName'
	says typed 'the class of the package is a root' 'root\tsticky class\tmain'
	says typed 'a local of a goroutine is a root, by its frame' 'root\tJava frame\tmain.ask(main.go:178)\tgoroutine 898 [chan send] main.ask'
	says typed 'a goroutine is a thread, in a group with others in its place' 'thread\tgoroutine 898 [chan send] main.ask\t80 goroutines [chan send] main.ask main.go:178'
	says typed 'and has a stack with lines' 'at\truntime.chansend1(chan.go:161)'
	visualvm redacted main.Preview
	! grep -q '^field	Width' "$build/redacted.visualvm"
	result $? 'redacted: no number'
	for name in untyped folded-5000 folded-100; do
		visualvm $name
	done
	for dump in "$top"/samples/dumps/*.2.dump.gz; do
		visualvm "$(basename "$dump" .2.dump.gz)"
	done
}
