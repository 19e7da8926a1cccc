# shellcheck shell=bash
# Tests what --show and --path-to take: everything that reports print, and what they say instead of an answer.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

gzip -dc "$top/samples/leakserver.exe.gz" >app
gzip -dc "$top/samples/leakserver.2.dump.gz" >2.dump

# asked NAME PATTERN WHAT: both options must print PATTERN for WHAT.
asked() {
	local option
	for option in --show --path-to; do
		run go2heapsnapshot --exe app "$option" "$3" 2.dump
		cp out wrong
		check "$option: $1" grep -q -e "$2" out
	done
}
# refused NAME MESSAGE WHAT: both options must end with the message.
refused() {
	local option
	for option in --show --path-to; do
		run go2heapsnapshot --exe app "$option" "$3" 2.dump
		said "$option: $1" 1 "go2heapsnapshot: $2"
	done
}

asked "a variable" '^VARIABLE   main.previews of type struct' main.previews
asked "a variable of main, without the package" '^VARIABLE   main.previews of type struct' previews
asked "an expression without main" '^OBJECT   main.Auction at ' 'previews.byName["globe, 359 wide"].Auction'
asked "a number in an object" '^VALUE   main.previews.byName\["globe, 359 wide"\].Width of type int at address 0x[0-9a-f]*, 8 B: 359$' \
	'main.previews.byName["globe, 359 wide"].Width'
asked "a field of the object at an address" '^VALUE   0x3374cc43a060.Width of type int at address 0x[0-9a-f]*, 8 B: ' 0x3374cc43a060.Width
asked "a class with a field" '^CLASS   main.Watcher: 2,000 objects' main.Watcher.Session
asked "a location of goroutines" '^  \[chan send\] main.ask main.go:178  *80 ' '[chan send] main.ask main.go:178'
asked "a location in a narrow column" '^  \[IO wait\] .*(\*persistConn).Read transport.go:2300' '[IO wait] …(*persistConn).Read transport.go:2300'
asked "a line of code" '^  \[chan send\] main.ask main.go:178  *80 ' main.go:178
asked "a go statement" '^  \[chan send\] main.ask main.go:178  *80 ' 'go statement in main.(*Server).value main.go:166'
asked "a function" '^  \[chan send\] main.ask main.go:178  *80 ' main.ask
asked "a package" '^GROUP   main retains ' main
asked "a line of the report, with how large the container is" '^OBJECT   map\[uint64\]\*main.Watcher at ' \
	'main.previews.byName["globe, 359 wide"].Auction.watchers, a map of 500 entries, one of 4'
asked "an object by its class and address" '^OBJECT   map\[uint64\]\*main.Watcher at 0x3374cc28b800' 'map[uint64]*main.Watcher at 0x3374cc28b800'
asked "a field of a class, with the variable above" '^CLASS   main.Auction: 4 objects' 'main.Auction.watchers, a map of 500 entries, below main.previews'
run go2heapsnapshot --exe app --path-to 'main.previews.byName["globe, 359 wide"].Width' 2.dump
check "a number: the path to its object" grep -qF '  held by     main.previews.byName["globe, 359 wide"]' out
run go2heapsnapshot --exe app --path-to main.previews 2.dump
check "a variable: what it leads to" grep -q '^  byName  *map\[string\]\*main.Preview  *0x' out

refused "a key that is not there" 'no entry "globe, 359 wid" in main.previews.byName (400 entries; nearest "globe, 359 wide", "globe, 355 wide" or "globe, 259 wide")' \
	'main.previews.byName["globe, 359 wid"]'
refused "a field that is not there" 'main.previews has no field byNam: its fields are mu, byName; did you mean byName' main.previews.byNam
refused "a field of a field" 'main.previews.byName["globe, 359 wide"].Auction has no field Closed: its fields are Name, mu, best, watchers, next' \
	'main.previews.byName["globe, 359 wide"].Auction.Closed'
refused "a field of a map" 'main.previews.byName is a map: it has keys in brackets, not fields' main.previews.byName.chair
refused "an element of a number" 'main.previews.byName["globe, 359 wide"].Width has no elements' 'main.previews.byName["globe, 359 wide"].Width[0]'
refused "a field of a local variable" 'v? has no field Sesion: its fields are Auction, Cents, Reasons' 'v?.Sesion'
refused "a field that no object of a class has" "'main.Watcher.Sesion': main.Watcher has no field Sesion" main.Watcher.Sesion
refused "a field that the only class of such a name lacks" "'Watcher.x[2]': Watcher has no field x[2]" 'Watcher.x[2]'
refused "a key without its quotation mark" 'main.previews.byName is followed by a bracket that is not closed' 'main.previews.byName["globe'
refused "a class that is misspelled" "'main.Wacher' is not a class, variable or function; did you mean: main.Watcher" main.Wacher
refused "a class in another case, without its package" "'watcher' is not a class, variable or function; did you mean: main.Watcher" watcher
refused "nothing like it" "no object in this heap has the class 'main.Foooo', and no variable or goroutine that name" main.Foooo
run go2heapsnapshot --exe app --redact --show 'main.previews.byName["globe, 359 wide"].Wid' 2.dump
check "redacted: no key is said" [ "$(grep -c 'globe, 35[0-8]\|chair' err)" -eq 0 ]

run go2heapsnapshot --exe app --show runtime.p 2.dump
check "a class with arrays: a few elements, and how many more" \
	awk '/^  runq\[/ { n++ } /^  [0-9]+ more, of elements from 8 on$/ { more = 1 } END { exit n != 8 || !more }' out
run go2heapsnapshot --exe app --json --show runtime.p 2.dump
check "a class with arrays: JSON has all elements" grep -qF '"name":"runq[8]"' out
dump go1.15-amd64.2 garbage.dump
run go2heapsnapshot --format report --path-to ptr32 garbage.dump
check "a class with garbage: the share is that of the others" \
	grep -q '^CLASS   ptr32: [0-9,]* objects of .* kB; [0-9]* are garbage, the others retain .* kB ([0-9.]* %)$' out
run go2heapsnapshot --format report --path-to "(unreachable)" garbage.dump
check "garbage has no share of what is reachable" grep -q '^GROUP   (unreachable) retains 91.6 kB$' out

if command -v "${NODE:-node}" >/dev/null; then
	# all NAME TOOLS OPTION... DUMP
	all() {
		local name=$1
		shift
		run "${NODE:-node}" "$here/lookup.mjs" go2heapsnapshot "$@"
		check "$name: everything that the report prints can be asked for" grep -qx 'asked [1-9][0-9]*' out
		grep -v '^asked ' out >wrong
		result "$([ -s wrong ] && echo 1 || echo 0)" "$name: and is found"
	}
	all typed path,show --exe app 2.dump
	all untyped path 2.dump
	for heap in go1.22-stripped go1.27-dwarf go1.27-stripped; do
		all "$heap" path,show --exe "$top/tests/golden/inputs/$heap.exe.gz" "$top/tests/golden/inputs/$heap.2.dump.gz"
	done
	dump go1.26-386.2 old.dump
	all "of a 32-bit processor" path old.dump
else
	skip "everything that the report prints can be asked for" "there is no Node.js"
fi

finish
