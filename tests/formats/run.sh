#!/bin/sh
# Each format but DevTools' own, read by the program that it is for: as much is in it as in the snapshot of the same dump. TAP on
# standard output.
#
#   run.sh FORMAT          pprof, report, hprof
#
#   G2H                    the program (default: build/go2heapsnapshot)
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
g2h=${G2H:-$top/build/go2heapsnapshot}
build=${BUILD:-$top/build/formats}/$1
rm -rf "$build"
mkdir -p "$build" || exit 1
go=$("$top/tools/setup" go-current)/bin/go
export GOTOOLCHAIN=local GOCACHE="${GOCACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/go2heapsnapshot/gocache}"
log=$build/log

# result STATUS NAME
result() {
	if [ "$1" -eq 0 ]; then
		echo "ok - $2"
	else
		echo "not ok - $2"
		tail -n 20 "$log" | sed 's/^/# /'
	fi
}

# convert NAME ARGUMENT...: $build/NAME.heapsnapshot and $build/NAME.pb.gz
convert() {
	name=$1
	shift
	"$g2h" "$@" -o "$build/$name.heapsnapshot" 2>"$log" && "$g2h" "$@" --format pprof -o "$build/$name.pb.gz" 2>"$log"
	result $? "$name: is written"
}

# same NAME: what pprof reads of it.
same() {
	node "$here/pprof.mjs" "$go" "$build/$1.pb.gz" "$build/$1.heapsnapshot" | sed -E "s/^((not )?ok [0-9]+ - )/\1$1: /"
}

pprof() {
	sample=$top/samples/leakserver
	for i in 1 2; do
		convert typed.$i --exe "$sample.exe.gz" "$sample.$i.dump.gz"
		same typed.$i
	done
	convert untyped "$sample.2.dump.gz"
	same untyped
	convert reachable --reachable --exe "$sample.exe.gz" "$sample.2.dump.gz"
	same reachable
	for dump in go1.3.3-amd64 go1.26-386; do
		convert $dump "$top/samples/dumps/$dump.2.dump.gz"
		same $dump
	done

	# The walk of samples/README.md, without a browser.
	"$go" tool pprof -top -cum -base "$build/typed.1.pb.gz" "$build/typed.2.pb.gz" >"$build/grown" 2>"$log"
	result $? 'pprof compares two'
	cp "$build/grown" "$log"
	grep -Eq ' main\.Watcher$' "$build/grown" && grep -Eq ' main\.previews\.byName$' "$build/grown" &&
		grep -Eq ' goroutines \[chan send\] main\.ask ← main\.\(\*Server\)\.value\.gowrap1$' "$build/grown"
	result $? 'the three leaks have grown'
	"$go" tool pprof -peek 'main.previews.byName$' "$build/typed.2.pb.gz" >"$log" 2>&1
	grep -Eq '\| +main$' "$log" && grep -Eq '\| +map\[string\]\*main\.Preview$' "$log"
	result $? 'a variable is below its package, and holds a map'
	"$g2h" --redact --exe "$sample.exe.gz" --format pprof -o "$build/redacted.pb.gz" "$sample.2.dump.gz" 2>"$log" &&
		! gzip -dc "$build/redacted.pb.gz" | grep -aq '127\.0\.0\.1\|Go-http-client'
	result $? 'redacted: no text of the heap'
	"$g2h" --exe "$sample.exe.gz" --format pprof -j 1 "$sample.2.dump.gz" 2>"$log" | cmp - "$build/typed.2.pb.gz" >>"$log" 2>&1
	result $? 'the same bytes with one thread'
}

report() {
	sample=$top/samples/leakserver
	"$g2h" --exe "$sample.exe.gz" --format report "$sample.2.dump.gz" 2>"$log" | sed "s|^$sample|leakserver|" >"$build/sample"
	diff "$here/report.expected" "$build/sample" >"$log" 2>&1
	result $? 'the report of the sample is the one that is expected'
	"$g2h" --exe "$sample.exe.gz" --format report --base "$sample.1.dump.gz" "$sample.2.dump.gz" 2>"$log" | sed "s|$sample|leakserver|" >"$build/pair"
	diff "$here/report.base.expected" "$build/pair" >"$log" 2>&1
	result $? 'the report of what grew is the one that is expected'
	"$g2h" --exe "$sample.exe.gz" --format report --base "$sample.2.dump.gz" "$sample.2.dump.gz" >"$log" 2>&1 &&
		grep -q '^  Nothing grew by much\.$' "$log"
	result $? 'nothing grew since the same dump'
	"$g2h" --exe "$sample.exe.gz" --format report --base "$top/samples/README.md" "$sample.2.dump.gz" >"$log" 2>&1
	[ $? -eq 1 ] && grep -q 'README\.md: ' "$log"
	result $? 'a base that is no dump is refused'
	COLUMNS=72 "$g2h" --exe "$sample.exe.gz" --format report "$sample.2.dump.gz" 2>"$log" | sed -n '/^GOROUTINES/,/^$/p;/^CLASSES/,$p' >"$build/narrow"
	[ "$(grep -v '^WHAT\|^STRINGS' "$build/narrow" | LC_ALL=C.UTF-8 wc -L)" -eq 72 ]
	result $? 'tables are as wide as COLUMNS says'
	"$g2h" --format report "$sample.2.dump.gz" >"$build/untyped" 2>"$log" && grep -q '^CLASSES' "$build/untyped"
	result $? 'without types there is one, too'
	"$g2h" --redact --exe "$sample.exe.gz" --format report "$sample.2.dump.gz" >"$build/redacted" 2>"$log"
	! grep -q 'wide"\]\|Go-http' "$build/redacted"
	result $? 'redacted: no key'
	for dump in "$top"/samples/dumps/*.1.dump.gz; do
		"$g2h" --format report "$dump" >"$build/other" 2>"$log" && grep -q '^WHAT HOLDS WHAT' "$build/other"
		result $? "$(basename "$dump" .1.dump.gz): has one"
	done
	for goroot in $("$top/tools/setup" go-leaks); do
		release=$("$goroot/bin/go" env GOVERSION)
		case $release in
		go1.22* | go1.27*) planted ;;
		esac
	done
}

# Programs with one leak each.
planted() {
	(cd "$here/planted" && GOROOT=$goroot GOFLAGS=-mod=mod GOPROXY=off "$goroot/bin/go" build -o "$build/planted" .) >"$log" 2>&1
	result $? "$release: the programs build"
	for leak in map slice channel closure goroutine conn timer context pool syncmap finalizer lru pointer list interface nested keys none; do
		"$build/planted" "$leak" "$build/leak.dump" >"$log" 2>&1 &&
			"$g2h" --exe "$build/planted" --format report "$build/leak.dump" >"$build/leak.txt" 2>"$log"
		result $? "$release, $leak: has a report"
		node "$here/report.mjs" "$release" "$leak" "$build/leak.txt"
	done
}

# java_dump NAME DUMP ARGUMENT...: $build/NAME.heapsnapshot and $build/NAME.hprof, which agree by the letter.
java_dump() {
	name=$1 dump=$2
	shift 2
	"$g2h" --reachable --no-contexts "$@" -o "$build/$name.heapsnapshot" "$dump" 2>"$log" && "$g2h" "$@" --format hprof -o "$build/$name.hprof" "$dump" 2>"$log"
	result $? "$name: is written"
	node "$here/hprof.mjs" "$build/$name.hprof" "$build/$name.heapsnapshot" | sed -E "s/^((not )?ok - )/\1$name: /"
}

# visualvm NAME CLASS...: what VisualVM's library reads of it, in $build/NAME.visualvm.
visualvm() {
	name=$1
	shift
	java -cp "$jar" "$here/Hprof.java" "$build/$name.hprof" "$@" >"$build/$name.visualvm" 2>"$log" && [ ! -s "$log" ]
	result $? "$name: VisualVM's library reads it without complaint"
	node "$here/hprof.mjs" "$build/$name.hprof" "$build/$name.heapsnapshot" "$build/$name.visualvm" >"$log" 2>&1
	grep -q "^ok - VisualVM" "$log"
	result $? "$name: VisualVM counts the objects and bytes of each class that the snapshot has"
}

# says NAME WHAT LINE: VisualVM's library said a line; \t is a tab.
says() {
	grep -Fx "$(printf "$3")" "$build/$1.visualvm" >/dev/null || {
		cp "$build/$1.visualvm" "$log"
		false
	}
	result $? "$1: $2"
}

hprof() {
	sample=$top/samples/leakserver
	jar=$("$top/tools/setup" visualvm 2>"$log") || jar=
	java_dump typed "$sample.2.dump.gz" --exe "$sample.exe.gz"
	java_dump untyped "$sample.2.dump.gz"
	java_dump redacted "$sample.2.dump.gz" --exe "$sample.exe.gz" --redact --no-stacks
	for nodes in 5000 100; do
		java_dump folded-$nodes "$sample.2.dump.gz" --exe "$sample.exe.gz" --reachable --max-nodes $nodes
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
	"$g2h" --exe "$sample.exe.gz" --format hprof -j 1 "$sample.2.dump.gz" 2>"$log" | cmp - "$build/typed.hprof" >>"$log" 2>&1
	result $? 'the same bytes with one thread'
	"$g2h" --exe "$sample.exe.gz" --format hprof -z "$sample.2.dump.gz" 2>"$log" | gzip -dc | cmp - "$build/typed.hprof" >>"$log" 2>&1
	result $? 'the same bytes, compressed'
	"$g2h" --exe "$sample.exe.gz" --format hprof "$sample.2.dump.gz" 2>&1 >/dev/null | grep -q ': left out as garbage: '
	result $? 'it is said how much garbage is left out'
	! grep -aq '127\.0\.0\.1\|Go-http-client' "$build/redacted.hprof" && grep -aq '127\.0\.0\.1' "$build/typed.hprof"
	result $? 'redacted: no text of the heap'
	if [ -z "$jar" ]; then
		echo "ok - VisualVM's library # SKIP it is not here"
		return
	fi
	visualvm typed main.Preview main.Session main.Valuation 'map[string]*main.Preview'
	says typed 'a number by its field' 'field\tWidth\t175'
	says typed 'a string by its field' 'field\tAgent\tGo-http-client/1.1'
	says typed 'the length of a slice' 'field\tPixels.len\t175'
	says typed 'a pointer by its field' 'field\tAuction\tmain.Auction'
	says typed 'an entry holds the value' 'held by\tmap[string]*main.Preview entries\t[46].slots[1].elem'
	says typed 'a global holds the map' 'held by\tjava.lang.Class\tpreviews.byName'
	says typed 'the class of the package is a root' 'root\tsticky class\tmain'
	says typed 'a local of a goroutine is a root, by its frame' 'root\tJava frame\tmain.(*Server).value.gowrap1(main.go:178)\tgoroutine 898 [chan send] main.(*Server).value.gowrap1'
	says typed 'a goroutine is a thread, in a group with others in its place' 'thread\tgoroutine 898 [chan send] main.(*Server).value.gowrap1\t80 goroutines [chan send] main.ask ← main.(*Server).value.gowrap1'
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

"$1"
