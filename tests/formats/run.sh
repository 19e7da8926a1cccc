#!/bin/sh
# Tests each format except DevTools' own: the program that the format is for reads it, and must find as much in it as in the
# snapshot of the same dump. TAP on standard output.
#
#   run.sh FORMAT          pprof, alloc (pprof with --by alloc), report, page (html), hprof, sqlite, csv, summary
#
#   G2H                    the program (default: build/go2heapsnapshot)
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
g2h=${G2H:-$top/build/go2heapsnapshot}
build=${BUILD:-$top/build/formats}/$1
rm -rf "$build"
mkdir -p "$build" || exit 1
usual_goroots=$("$top/tools/setup" go-leaks) two_releases=yes
. "$top/tests/go.sh"
go=$newest/bin/go
log=$build/log
sample=$top/samples/leakserver exe=$build/leakserver.exe
gzip -dc "$sample.exe.gz" >"$exe" || exit 1 # once, and not in each conversion, where it takes more than all else
case $1 in pprof | alloc) pprof=$(go_pprof "$newest" "$build") || exit 1 ;; esac

# result STATUS NAME: reports a test, which passed if STATUS is 0.
result() {
	if [ "$1" -eq 0 ]; then
		echo "ok - $2"
	else
		echo "not ok - $2"
		tail -n 20 "$log" | sed 's/^/# /'
	fi
}

# convert NAME ARGUMENT...: writes $build/NAME.heapsnapshot and $build/NAME.pb.gz.
convert() {
	name=$1
	shift
	"$g2h" "$@" -o "$build/$name.heapsnapshot" 2>"$log" && "$g2h" "$@" --format pprof -o "$build/$name.pb.gz" 2>"$log"
	result $? "$name: is written"
}

# same NAME: what pprof reads from $build/NAME.pb.gz must agree with the snapshot.
same() {
	node "$here/pprof.mjs" "$pprof" "$build/$1.pb.gz" "$build/$1.heapsnapshot" | sed -E "s/^((not )?ok [0-9]+ - )/\1$1: /"
}

pprof() {
	for i in 1 2; do
		convert typed.$i --exe "$exe" "$sample.$i.dump.gz"
		same typed.$i
	done
	convert untyped "$sample.2.dump.gz"
	same untyped
	convert reachable --reachable --exe "$exe" "$sample.2.dump.gz"
	same reachable
	for dump in go1.3.3-amd64 go1.26-386; do
		convert $dump "$top/samples/dumps/$dump.2.dump.gz"
		same $dump
	done

	# The walk of samples/README.md, without a browser.
	"$pprof" -top -cum -base "$build/typed.1.pb.gz" "$build/typed.2.pb.gz" >"$build/grown" 2>"$log"
	result $? 'pprof compares two'
	cp "$build/grown" "$log"
	grep -Eq ' main\.Watcher$' "$build/grown" && grep -Eq ' main\.previews\.byName$' "$build/grown" &&
		grep -Eq ' goroutines \[chan send\] main\.ask main\.go:178$' "$build/grown"
	result $? 'the three leaks have grown'
	"$pprof" -peek 'main.previews.byName$' "$build/typed.2.pb.gz" >"$log" 2>&1
	grep -Eq '\| +main$' "$log" && grep -Eq '\| +map\[string\]\*main\.Preview$' "$log"
	result $? 'a variable is below its package, and holds a map'
	"$g2h" --redact --exe "$exe" --format pprof -o "$build/redacted.pb.gz" "$sample.2.dump.gz" 2>"$log" &&
		! gzip -dc "$build/redacted.pb.gz" | grep -aq '127\.0\.0\.1\|Go-http-client'
	result $? 'redacted: no text of the heap'
}

# by_alloc NAME DUMP ARGUMENT...: writes $build/NAME.pb.gz with --by alloc.
by_alloc() {
	name=$1 dump=$2
	shift 2
	"$g2h" "$@" --format pprof --by alloc -o "$build/$name.pb.gz" "$dump" 2>"$log"
}

# as_they_say NAME FILE...: compares profiles; alloc.mjs gets NAME and the FILEs.
as_they_say() {
	node "$here/alloc.mjs" "$pprof" "$@" | sed -E 's/^((not )?ok) [0-9]+ - /\1 - /; /^1\.\./d'
}

# profiled WAY [BUILD ARGUMENT...]: builds a program that writes a dump and a profile of the same moments at each rate of
# $rates, and compares the profiles that the dumps give with its own.
profiled() {
	way="$release $1" program=$build/profiled-$release-$1
	shift
	(cd "$here/profiled" && GOROOT=$goroot "$goroot/bin/go" build "$@" -o "$program" .) >"$log" 2>&1
	result $? "$way: the program builds"
	for rate in $rates; do
		own=$program.$rate
		"$program" "$rate" "$own" >"$log" 2>&1
		result $? "$way, $rate: it profiles itself"
		given=
		[ "$rate" -ne 4096 ] || given=--memprofile-rate=4096
		for i in 1 2; do
			by_alloc ours.$i "$own.$i.dump" --exe "$program" $given
			result $? "$way, $rate: is written"
		done
		as_they_say "$way, $rate" "$own.1.pb.gz" "$build/ours.1.pb.gz" "$own.2.pb.gz" "$build/ours.2.pb.gz"
		by_alloc bare "$own.2.dump" $given
		as_they_say "$way, $rate, no executable" "$own.2.pb.gz" "$build/bare.pb.gz" bare
	done
	"$program" 4096 early "$program" >"$log" 2>&1 && by_alloc early "$program.early.dump" --exe "$program" --memprofile-rate=4096
	result $? "$way: before the first collection: is written"
	as_they_say "$way, before the first collection" "$program.early.pb.gz" "$build/early.pb.gz"
}

alloc() {
	for goroot in $goroots; do
		release=$("$goroot/bin/go" env GOVERSION)
		case $release in
		go1.22*) rates="${CHECK_ALL:+1 4096 }524288" && profiled stripped -trimpath -ldflags='-s -w' ;;
		go1.27*)
			[ -z "${CHECK_ALL-}" ] || { rates=1 && profiled pie -buildmode=pie; }
			rates='1 4096 524288' && profiled plain
			;;
		*) [ -z "${CHECK_ALL-}" ] || { rates='1 4096 524288' && profiled plain; } ;;
		esac
	done
	# The tests below use the program that was built last.
	dump=$program.524288.2.dump
	by_alloc one "$dump" --exe "$program" -j 1 && by_alloc two "$dump" --exe "$program" -j 3 && cmp "$build/one.pb.gz" "$build/two.pb.gz" >"$log" 2>&1
	result $? 'the same bytes with any number of threads'
	grep -aq 'correct horse' "$program.1.2.dump" && by_alloc redacted "$program.1.2.dump" --exe "$program" --redact && ! gzip -dc "$build/redacted.pb.gz" | grep -aq 'correct horse'
	result $? 'redacted: no text of the heap'
	by_alloc verbose "$program.1.2.dump" --exe "$program" -v && grep -q '^allocations: .* runtime\.MemProfileRate of 1, which is supposed as most objects have samples$' "$log"
	result $? 'it is said by which rate is scaled, and why'
	by_alloc wrong "$program.4096.2.dump" --exe "$program" &&
		grep -Eq 'warning: .* runtime\.MemProfileRate of (2048|4096|8192), which the samples fit; they are too many for the usual 524288' "$log"
	result $? 'a rate that cannot have been it is said'
	by_alloc none "$top/samples/leakserver.2.dump.gz"
	[ $? -eq 1 ] && [ "$(wc -l <"$log")" -eq 1 ] && grep -q 'leakserver\.2\.dump\.gz: .* runtime/pprof .*: import one, and dump again$' "$log" && [ ! -e "$build/none.pb.gz" ]
	result $? 'a program without a profile: what to do is said'
	head -c "$(($(wc -c <"$program.1.2.dump") / 2))" "$program.1.2.dump" >"$build/cut.dump"
	by_alloc cut "$build/cut.dump"
	[ $? -eq 1 ] && grep -q 'cut\.dump: is cut or damaged before it says where memory was allocated$' "$log"
	result $? 'a dump that is cut before its records: is said'
	for dump in "$top"/samples/dumps/*.2.dump.gz; do
		by_alloc other "$dump"
		status=$? sites=$("$g2h" -v -o /dev/null "$dump" 2>&1 | awk '/^  alloc\/free profile/ { print $3 }')
		cp "$log" "$build/said"
		if [ "${sites:-0}" -eq 0 ]; then
			[ $status -eq 1 ]
		else
			[ $status -eq 0 ] && [ "$("$pprof" -raw "$build/other.pb.gz" 2>"$log" | grep -c '^ *bytes:\[')" -eq "$sites" ]
		fi
		result $? "$(basename "$dump" .2.dump.gz): has as many samples as records"
	done
}

report() {
	"$g2h" --exe "$exe" --format report "$sample.2.dump.gz" 2>"$log" | sed "s|^$sample|leakserver|" >"$build/sample"
	"$g2h" --exe "$exe" --format report --base "$sample.2.dump.gz" "$sample.2.dump.gz" >"$log" 2>&1 &&
		grep -q '^  Nothing grew by much\.$' "$log"
	result $? 'nothing grew since the same dump'
	"$g2h" --exe "$exe" --format report --base "$top/samples/README.md" "$sample.2.dump.gz" >"$log" 2>&1
	[ $? -eq 1 ] && grep -q 'README\.md: ' "$log"
	result $? 'a base that is no dump is refused'
	COLUMNS=72 "$g2h" --exe "$exe" --format report "$sample.2.dump.gz" 2>"$log" | sed -n '/^GOROUTINES/,/^$/p;/^CLASSES/,/^WASTE/p' >"$build/narrow"
	[ "$(grep -v '^WHAT\|^WASTE\|^  leaked: ' "$build/narrow" | LC_ALL=C.UTF-8 wc -L)" -eq 72 ]
	result $? 'tables are as wide as COLUMNS says'
	COLUMNS=80 "$g2h" --exe "$exe" --format report "$sample.2.dump.gz" 2>"$log" | sed -n '/^GOROUTINES/,/^$/p' >"$build/narrow"
	grep -q '^  \[sel.*Trip:3092 ' "$build/narrow" && ! grep -n ' $' "$build/narrow" "$build/sample" >"$log"
	result $? 'the lines where goroutines wait are in a file of 80 columns, and lines do not end in blanks'
	"$g2h" --format report "$sample.2.dump.gz" >"$build/untyped" 2>"$log" && grep -q '^CLASSES' "$build/untyped"
	result $? 'without types there is one, too'
	"$g2h" --redact --exe "$exe" --format report "$sample.2.dump.gz" >"$build/redacted" 2>"$log"
	! grep -q 'wide"\]\|Go-http' "$build/redacted"
	result $? 'redacted: no key'
	for dump in "$top"/samples/dumps/*.1.dump.gz; do
		"$g2h" --format report "$dump" >"$build/said" 2>"$log" && grep -q "^WHAT HOLDS WHAT" "$build/said"
		result $? "$(basename "$dump" .1.dump.gz): has one"
	done
	json
	path_to
	for goroot in $goroots; do
		release=$("$goroot/bin/go" env GOVERSION)
		case $release in
		go1.27*) planted && wasteful && other_build ;;
		go1.22*) [ -z "${CHECK_ALL-}" ] || { planted && wasteful && other_build; } ;;
		esac
	done
}

# The report as JSON must have the figures of the report as text, and those of the snapshot.
json() {
	"$g2h" --exe "$exe" --format report --json "$sample.2.dump.gz" >"$build/sample.json" 2>"$log" &&
		"$g2h" --exe "$exe" --format report "$sample.2.dump.gz" >"$build/sample.txt" 2>"$log"
	result $? 'JSON is written'
	node "$here/report-json.mjs" 'as JSON' "$build/sample.json" "$build/sample.txt"
	"$g2h" --exe "$exe" --format report --json --base "$sample.1.dump.gz" "$sample.2.dump.gz" >"$build/pair.json" 2>"$log" &&
		"$g2h" --exe "$exe" --format report --base "$sample.1.dump.gz" "$sample.2.dump.gz" >"$build/pair.txt" 2>"$log"
	result $? 'JSON with a base is written'
	node "$here/report-json.mjs" 'as JSON, with a base' "$build/pair.json" "$build/pair.txt"
	"$g2h" --exe "$exe" "$sample.2.dump.gz" >"$build/sample.heapsnapshot" 2>"$log"
	jq -e --slurpfile of "$build/sample.heapsnapshot" '
		($of[0].snapshot.meta.node_fields | [length, index("self_size")]) as [$fields, $at]
		| .heap.bytes + .heap.stacks == ([$of[0].nodes | .[range($at; length; $fields)]] | add)
		and .heap.bytes + .heap.stacks == .heap.reachable + .heap.garbage
		and ([.classes[].bytes] | add) == .heap.bytes
		and ([.goroutines[].count] | add) == .heap.goroutines' "$build/sample.json" >"$log" 2>&1
	result $? 'as JSON: totals are those of the snapshot, classes and goroutines add up'
	odd=$build/$(printf 'a "b"\\\377\001.dump.gz')
	cp "$sample.2.dump.gz" "$odd"
	"$g2h" --format report --json "$odd" 2>"$log" | iconv -f UTF-8 -t UTF-8 2>>"$log" | jq -e '.heap.source | test("a \"b\"\\\\\ufffd\u0001")' >>"$log" 2>&1
	result $? 'as JSON: valid, whatever bytes a name has'
	"$g2h" --redact --exe "$exe" --format report --json "$sample.2.dump.gz" >"$build/redacted.json" 2>"$log"
	! grep -q ' wide\\"\|Go-http\|127\.0\.0\.1' "$build/redacted.json" && jq -e '.waste.slices.places | length > 0' "$build/redacted.json" >"$log"
	result $? 'as JSON, redacted: no text of the heap'
}

# asked NAME PATTERN ARGUMENT...: the report as JSON with these arguments, of which one is --path-to, must match the pattern of jq.
asked() {
	name=$1 pattern=$2
	shift 2
	"$g2h" --format report --json "$@" >"$build/path.json" 2>"$log" && jq -e "$pattern" "$build/path.json" >>"$log" 2>&1
	result $? "--path-to: $name"
}

# refused NAME MESSAGE ASKED: --path-to ASKED must end with the error MESSAGE and print nothing on standard output.
refused() {
	"$g2h" --exe "$exe" --format report --path-to "$3" "$sample.2.dump.gz" >"$build/path.txt" 2>"$log"
	[ $? -eq 1 ] && [ ! -s "$build/path.txt" ] && grep -Fxq "go2heapsnapshot: $2" "$log"
	result $? "--path-to: $1"
}

path_to() {
	of="--exe $exe $sample.2.dump.gz"
	# shellcheck disable=SC2086  # words
	asked 'a class' '.class.class == "main.Preview" and .class.objects == 400 and .class.holders[0].objects == 400
		and (.class.holders[0].holders | test("^main › previews.byName › map")) and .class.garbage == 0
		and (.object.held_by | test("^main.previews.byName\\[\".*wide\"\\]$")) and .object.steps[-1].class == "main.Preview"
		and .object.steps[-2].step == "previews.byName" and .object.dominators[-1].class == "main"' --path-to main.Preview $of
	address=$(jq -r .object.address "$build/path.json")
	retained=$(jq -r .object.retained "$build/path.json")
	# shellcheck disable=SC2086
	asked 'an address' ".object.address == \"$address\" and .object.retained == $retained and .object.class == \"main.Preview\" and .object.offset == null" --path-to "$address" $of
	# shellcheck disable=SC2086
	asked 'an address inside an object' ".object.address == \"$address\" and .object.offset == 13" --path-to "$(printf '0x%x' $((address + 13)))" $of
	# shellcheck disable=SC2086
	asked 'who refers to it' '[.object.referrers[] | [.field, .times]] == [["main.Preview.Auction", 100], ["main.Valuation.Auction", 20], ["map[string]*main.Auction[]", 1]]
		and (.object.shared_by | not) and .object.dominators[-1].class == "main"' --path-to main.Auction $of
	# shellcheck disable=SC2086
	asked 'a type without its package' '.class.class == "main.Watcher"' --path-to Watcher $of
	# shellcheck disable=SC2086
	asked 'a type with its import path' '.class.class == "map[http.connectMethodKey]http.wantConnQueue"' --path-to 'map[net/http.connectMethodKey]net/http.wantConnQueue' $of
	# shellcheck disable=SC2086
	asked 'a part of a name' '.class.class == "map[uint64]*main.Watcher"' --path-to 'uint64]*main.W' $of
	# shellcheck disable=SC2086
	asked 'an expression' '.object.class == "main.Preview" and (.class | not) and (.object.held_by | test("^main.previews.byName\\[\"chair, 338 wide\"\\]$"))' --path-to 'main.previews.byName["chair, 338 wide"]' $of
	# shellcheck disable=SC2086
	asked 'with a base' '.class.objects == 2000 and .class.objects_grown == 1600' --path-to main.Watcher --base "$sample.1.dump.gz" $of
	asked 'without types' '.class.objects > 100 and .object.steps[-1].class == "ptr48"' --path-to ptr48 "$sample.2.dump.gz"
	# shellcheck disable=SC2086
	asked 'redacted' '.object.held_by | test("wide") | not' --redact --path-to main.Preview $of
	refused 'what is no class' "'main.Whatcher' is not a class, variable or function; did you mean: main.Watcher" main.Whatcher
	refused 'what is not clear' "'Server' is a part of the names of several classes: http.Server, main.Server" Server
	refused 'what is in no object' "'0x10' is in no object of this heap" 0x10
	refused 'what is no address' "'0xyz' is not an address" 0xyz
}

# Tests a base that another build of the program wrote, in which nothing leaks.
other_build() {
	(cd "$here/planted" && GOROOT=$goroot "$goroot/bin/go" build -gcflags=-N -o "$build/other" .) >"$log" 2>&1 &&
		"$build/other" none "$build/before.dump" >"$log" 2>&1 && "$build/planted" map "$build/leak.dump" >"$log" 2>&1
	result $? "$release: two builds of a program"
	"$g2h" --exe "$build/planted" --format report --base "$build/before.dump" "$build/leak.dump" >"$build/grown.txt" 2>"$log"
	[ $? -eq 1 ] && [ ! -s "$build/grown.txt" ] && grep -Fq -- '--base-exe' "$log"
	result $? "$release: a base of another build is refused, and what to do is said"
	"$g2h" --exe "$build/planted" --base-exe "$build/other" --format report --base "$build/before.dump" "$build/leak.dump" >"$build/grown.txt" 2>"$log"
	cp "$build/grown.txt" "$log"
	grep -q "^since $build/before.dump, of another build: +" "$log" && grep -Eq '^  1 .* \+(19,9..|20,000) main\.record, now 20,0.., in map\[string\]\*main\.record$' "$log" &&
		grep -q '^      example     main\.byName\["record ' "$log"
	result $? "$release: with its executable it is compared"
	"$g2h" --exe "$build/planted" --base-exe "$build/planted" --format report --json --base "$build/leak.dump" "$build/leak.dump" 2>"$log" |
		jq -e '.since.is_other_build == false and .since.objects == 0 and .suspects == []' >>"$log"
	result $? "$release: the same build is no other one"
}

# Tests the report of a program that knows what it wastes.
wasteful() {
	(cd "$here/waste" && GOROOT=$goroot "$goroot/bin/go" build -o "$build/waste" .) >"$log" 2>&1 &&
		"$build/waste" "$build/waste.dump" >"$build/known.json" 2>"$log" &&
		"$g2h" --exe "$build/waste" --format report --json "$build/waste.dump" >"$build/waste.json" 2>"$log"
	result $? "$release: a program that wastes has a report"
	node "$here/waste.mjs" "$release" "$build/known.json" "$build/waste.json"
	. "$top/tests/sanitize.sh"
	make_sanitized go2heapsnapshot && "$top/$sanitized/go2heapsnapshot" --exe "$build/waste" --format report --json "$build/waste.dump" 2>"$log" >"$build/sanitized.json" &&
		cmp "$build/waste.json" "$build/sanitized.json" >>"$log" 2>&1
	result $? "$release: the same under sanitizers"
	asked "$release: a variable, and what is dropped" '(.object.held_by | test("^main.documents\\[")) and .class.objects > 500 and .class.garbage == .class.objects - 500' \
		--exe "$build/waste" --path-to main.document "$build/waste.dump"
	dropped=$(jq -r '[.class.holders[] | select(.holders | test("unreachable"))][0].address' "$build/path.json")
	asked "$release: garbage" '.object.is_garbage and .object.held_by == null and .object.steps == []' --exe "$build/waste" --path-to "$dropped" "$build/waste.dump"
}

# Tests the reports of programs with one leak each.
planted() {
	(cd "$here/planted" && GOROOT=$goroot "$goroot/bin/go" build -o "$build/planted" .) >"$log" 2>&1
	result $? "$release: the programs build"
	for leak in map slice channel closure goroutine conn timer context pool syncmap finalizer lru pointer list interface nested keys shards none; do
		"$build/planted" "$leak" "$build/leak.dump" >"$log" 2>&1 &&
			"$g2h" --exe "$build/planted" --format report "$build/leak.dump" >"$build/leak.txt" 2>"$log"
		result $? "$release, $leak: has a report"
		node "$here/report.mjs" "$release" "$leak" "$build/leak.txt"
	done
}

# odd NAME [MANY | twins]: the program in odd/ writes $build/NAME.dump.
odd() {
	[ -e "$build/odd.exe" ] || (cd "$here/odd" && "$go" build -o "$build/odd.exe" .) >"$log" 2>&1
	"$build/odd.exe" "$build/$1.dump" ${2-} >>"$log" 2>&1
	result $? "$1: the program writes its dump"
}

# shellcheck disable=SC1090  # one of the scripts beside this file
[ ! -e "$here/$1.sh" ] || . "$here/$1.sh"
"$1"
