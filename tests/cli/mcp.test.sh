# shellcheck shell=bash
# Tests --mcp: the protocol line by line, each tool, cursors, bad input, and what it keeps to itself. tests/mcp tests it with the
# official client.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

hint="Try 'go2heapsnapshot --help'."
gzip -dc "$top/samples/leakserver.exe.gz" >app
for n in 1 2; do gzip -dc "$top/samples/leakserver.$n.dump.gz" >$n.dump; done

for other in --format=report -o=x --gzip --watch=1s --inspect=0 --at-death --command=cat --numbers --path-to=x --show=x --json --full --top=1; do
	run go2heapsnapshot --mcp "$other" 1.dump
	check "--mcp $other: exit status 2" [ "$status" -eq 2 ]
done
run go2heapsnapshot --values 1.dump
said "--values alone" 2 "go2heapsnapshot: --values goes with --mcp" "$hint"
run go2heapsnapshot --mcp 1.dump 2.dump
check "two dumps: exit status 2" [ "$status" -eq 2 ]
run go2heapsnapshot --mcp -
said "a dump on standard input" 2 "go2heapsnapshot: with --mcp, standard input is the client's: the dump must be a file" "$hint"
run go2heapsnapshot --mcp --base - 1.dump
said "a base on standard input" 2 "go2heapsnapshot: with --mcp, standard input is the client's: the base must be a file" "$hint"
run go2heapsnapshot --mcp nothing.dump </dev/null
said "a dump that is not there" 1 "go2heapsnapshot: nothing.dump: cannot open: No such file or directory"
wrote_nothing "a dump that is not there: nothing on stdout"

begin='{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
# call ID TOOL ARGUMENTS: prints the request.
call() { printf '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s","arguments":%s}}\n' "$1" "$2" "${3:-{\}}"; }
# serve OPTION...: sends the lines of standard input to a server of the second dump, after initialize. Its answers are in the file out.
serve() {
	{
		printf '%s\n' "$begin" '{"jsonrpc":"2.0","method":"notifications/initialized"}'
		cat
	} >in
	run timeout 3600 go2heapsnapshot --mcp --exe app "$@" 2.dump <in
}
# answer ID: prints the answer to a request, with the quotation marks of the text as they are in it.
answer() { grep -F "\"id\":$1," out | sed 's/\\"/"/g; s/\\\\/\\/g'; }
# matches ID PATTERN: succeeds if the answer does, and else prints its beginning.
matches() { answer "$1" | grep -q -e "$2" || { answer "$1" | cut -c1-300 && false; }; }
# has NAME ID PATTERN: tests that the answer matches.
has() { check "$1" matches "$2" "$3"; }

serve <<<''
said "EOF ends it" 0
check "initialize: the revision, the name, tools, instructions" grep -q '"protocolVersion":"2025-11-25","serverInfo":{"name":"go2heapsnapshot".*"capabilities":{"tools":{}},"instructions":"' out
equal "a notification and an empty line have no answers" "$(wc -l <out)" 1
check "a last line without a line feed is answered" eval 'printf "%s" "$begin" | go2heapsnapshot --mcp 1.dump 2>err | grep -q "\"id\":0"'

{
	echo '{"jsonrpc":"2.0","id":"a\"b","method":"ping"}'
	echo '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
	call 2 summary
	call 3 suspects
	call 4 growth
	call 5 classes
	call 6 path '{"what":"main.Watcher"}'
	call 7 show '{"what":"main.previews"}'
	call 8 instances '{"class":"main.Session","rows":2}'
	call 9 goroutines
	call 10 find '{"text":"SESS"}'
	call 11 waste
	call 12 waste '{"kind":"maps"}'
	call 13 path '{"what":"main.previews.byName[\"globe, 359 wide\"].Auction"}'
	call 14 path '{"what":"0x3374cc1b49a8"}'
	call 15 show '{"what":"main.previews.byName[\"globe, 359 wide\"].Auction"}'
	call 16 find '{"text":"main.ask"}'
	call 17 find '{"text":"previews"}'
} >requests
serve --base 1.dump --values <requests
said "each tool" 0
equal "each request has an answer" "$(wc -l <out)" 19
has "an id may be a string" '"a\"b"' '"result":{'
has "tools/list: growth and show, with schemas" 1 '"name":"growth".*"name":"show","description":.*"inputSchema":{"type":"object","properties":{"what":.*"required":\["what"\]'
has "summary" 2 '"objects":16535.*"since":.*"goroutines":60.*"has_types":true,"has_values":true,"has_base":true,"is_redacted":false'
has "suspects: what there is, not what grew" 3 '"suspects":\[{"retained":716128,"count":2000,"item":"main.Watcher".*"leaked":{"count":80'
has "growth" 4 '"retained_grown":577536,.*"count_grown":1600,"item":"main.Watcher".*"classes":\[{"class":"chan \*main.Bid".*"grown":179200}.*"classes_left_out":159'
has "classes" 5 '"classes":\[{"class":"chan \*main.Bid","objects":2000.*"next_cursor":"'
has "path of a class" 6 '"holders":"main › previews.byName.*"held_by":"main.previews.byName.*"dominators":\[.*"referrers":\['
has "show" 7 '"byName"'
has "instances" 8 '"instances":\[{"address":"0x[0-9a-f]*","bytes":96,"retained":152},{[^}]*}\],"instances_left_out":1998}'
has "goroutines" 9 '"grown":60,"count":80,"leaked":80'
has "find: a class" 10 '"class":"main.Session"'
has "find: goroutines" 16 '"location":"goroutines \[chan send\] main.ask[^"]*","count":80'
has "find: a variable" 17 '"variable":"main.previews'
has "waste" 11 '"maps":{.*"types_left_out":26.*"strings":{'
check "waste of one kind" eval 'answer 12 | grep -q "\"maps\":" && ! answer 12 | grep -q "\"strings\":"'
has "path: an expression reads back" 13 '"class":"main.Auction".*"held_by":"main.previews.byName\[.*globe, 359 wide.*\].Auction"'
has "path: an address" 14 '"class":"main.Watcher","address":"0x3374cc1b49a8"'
has "show: an expression" 15 '"name":"watchers"'
check "answers have 4 kB at most" awk 'NR > 3 && length > 5200 { print NR ": " length; bad = 1 } END { exit bad }' out # with quotation marks that are escaped

# What the server says of all parts of a list is what the whole list has.
all=$(serve <<<"$(call 1 classes '{"bytes":100000}')" && answer 1 | grep -o '"class":"[^"]*"')
rm -f parts
cursor=
for ((i = 0; i < 100; i++)); do
	serve <<<"$(call 1 classes "{\"bytes\":1500$cursor}")"
	answer 1 | grep -o '"class":"[^"]*"' >>parts
	next=$(answer 1 | sed -n 's/.*"next_cursor":"\([^"]*\)".*/\1/p')
	[ -n "$next" ] || break
	cursor=",\"cursor\":\"$next\""
done
check "a cursor: several parts" [ "$i" -gt 3 ]
equal "a cursor: the parts are the whole" "$(cat parts)" "$all"
serve <<<"$(call 1 goroutines "{\"bytes\":1500$cursor}" && call 2 classes '{"cursor":"x"}' && call 3 classes "{\"rows\":3$cursor}")"
has "a cursor of another tool" 1 'cursor: of another question.*"isError":true'
has "a cursor that is none" 2 'cursor: not one that an answer had.*"isError":true'
has "a cursor of other arguments" 3 'cursor: of another question.*"isError":true'

serve <<<"$(call 1 find '{"text":"a","bytes":50000}')"
answer 1 | sed 's/.*"variables":\[//; s/\].*//' | grep -o '"retained":[0-9]*' | cut -d: -f2 >variables
check "find: there are variables" [ "$(wc -l <variables)" -ge 5 ]
check "find: the heaviest is the first" sort -nrc variables

{
	call 1 path
	call 2 path '{"what":7}'
	call 3 path '{"what":""}'
	call 4 path '{"what":"main.Sesion"}'
	call 5 path '{"what":"a\u0000b"}'
	call 6 path '{"what":"main.Session","who":"me"}'
	call 7 classes '{"rows":-1}'
	call 8 classes '{"bytes":7}'
	call 9 instances '{"class":"main.previews"}'
	call 10 waste '{"kind":"time"}'
	call 11 show '{"what":"main.Session"}'
	call 12 growth
	call 13 nothing
	call 14 classes '[]'
	call 15 path "{\"what\":\"$(printf '%5000s' x)\"}"
	call 16 path '{"what":"main.Session","older":30}'
	call 17 path '{"what":"main.Session","older":0}'
	call 18 instances '{"class":"main.Session","older":30}'
} >requests
serve <requests
said "bad arguments" 0
has "an argument that is missing" 1 'what: missing; it is an object by its address.*"isError":true'
has "an argument of another type" 2 'what: not a string.*"isError":true'
has "an argument that is empty" 3 'what: empty.*"isError":true'
has "a name that is misspelled: what was meant" 4 "'main.Sesion' is not a class, variable or function; did you mean: main.Session.*\"isError\":true"
has "a null character" 5 'what: has a null character in it.*"isError":true'
has "an argument that there is not" 6 "path has no argument 'who'.*\"isError\":true"
has "rows" 7 'rows: not a whole number from 1 to 100000.*"isError":true'
has "bytes" 8 'bytes: not a whole number from 1000 to 100000.*"isError":true'
has "instances of an object" 9 '"isError":true'
has "a kind of waste that there is not: the kinds" 10 "'time' is not a kind of waste; there are slices, stale, .* and pinned.*\"isError\":true"
has "show without --values" 11 '"error":{"code":-32602,"message":"the server was started without --values"}'
has "growth without --base" 12 '"error":{"code":-32602,"message":"the server was started without --base"}'
has "a tool that there is not" 13 '"error":{"code":-32602,"message":"there is no tool of this name"}'
has "arguments that are a list" 14 '"error":{"code":-32602'
has "an argument that is long" 15 'what: too long.*"isError":true'
has "the age of objects of a process that was not watched" 16 'it is not known how old objects are: .*"isError":true'
has "an age of nothing" 17 'older: not a whole number from 1 to 2592000.*"isError":true'
has "the age of objects, asked of a tool that does not choose by it" 18 "instances has no argument 'older'.*\"isError\":true"

{
	echo 'no JSON'
	echo '{"jsonrpc":"2.0","id":1,"method":"ping"'
	printf '%0100d\n' 0 | tr 0 '['
	echo '[]'
	echo '7'
	echo '{"id":2,"method":"ping"}'
	echo '{"jsonrpc":"2.0","id":3}'
	echo '{"jsonrpc":"2.0","id":null,"method":"ping"}'
	echo '{"jsonrpc":"2.0","id":{},"method":"ping"}'
	printf '{"jsonrpc":"2.0","id":"%s","method":"ping"}\n' "$(printf '%300s' x)"
	printf '\000\377\n'
	echo '{"jsonrpc":"2.0","id":9,"result":{}}'
	printf '%2000000s\n' '{"jsonrpc":"2.0","id":4,"method":"ping"}'
	echo '{"jsonrpc":"2.0","id":5,"method":"resources/list"}'
	echo '{"jsonrpc":"2.0","id":6,"method":"tools/list","params":{"cursor":"x"}}'
	echo '{"jsonrpc":"2.0","method":"tools/call"}'
	printf '{"jsonrpc":"2.0","id":"\377","method":"ping"}\r\n'
	echo '{"jsonrpc":"2.0","id":7,"method":"ping"}'
} >requests
serve <requests
said "bad messages" 0
equal "bad messages: their errors" "$(grep -o '"error":{"code":[-0-9]*' out | cut -d: -f3 | tr '\n' ' ')" \
	"-32700 -32700 -32700 -32600 -32600 -32600 -32600 -32600 -32600 -32600 -32700 -32600 -32601 -32602 "
has "then it still answers" 7 '"result":{'
check "what is not UTF-8 is not repeated" eval '! LC_ALL=C grep -q "$(printf "\377")" out'

# The revision 2026-07-28 has no handshake.
meta='"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'
{
	echo '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
	echo '{"jsonrpc":"2.0","id":2,"method":"server/discover","params":{'"$meta"'}}'
	echo '{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{'"$meta"'}}'
	echo '{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"summary",'"$meta"'}}'
	echo '{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{'"${meta/2026/1999}"'}}'
	echo '{"jsonrpc":"2.0","id":6,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}'
} >requests
run go2heapsnapshot --mcp 2.dump <requests
has "before initialize: refused" 1 '"error":{"code":-32602'
has "server/discover" 2 '"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":.*"supportedVersions":\["2026-07-28","2025-11-25",.*"ttlMs":'
has "tools/list without a handshake" 3 '"resultType":"complete".*"tools":\[.*"cacheScope":"private"'
has "tools/call without a handshake" 4 '"resultType":"complete".*"objects":16535'
has "another revision" 5 '"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":\["2026-07-28",.*"requested":"1999-07-28"}}'
has "a revision without capabilities" 6 '"error":{"code":-32602'
check "without types: no values, and the tools that remain" eval 'answer 3 | grep -q "\"name\":\"suspects\"" && ! answer 3 | grep -q "\"name\":\"show\""'

# Values are off, and keys are hashes in a heap that is redacted.
{
	call 1 waste '{"kind":"strings"}'
	call 2 suspects
	call 3 show '{"what":"main.previews"}'
} >requests
serve <requests
check "no --values: no texts" eval 'answer 1 | grep -q "\"texts\":\[{\"wasted\":48000,\"count\":2001}" && ! grep -q "Go-http-client" out'
serve --values <requests
has "--values: texts" 1 'Go-http-client/1.1'
serve --values --redact <requests
check "--redact: neither texts nor keys" eval '! grep -q -e "Go-http-client" -e "wide" out'
has "--redact: keys without their texts" 2 '"held_by":"main.previews.byName\[(<=16 bytes'
call 1 find '{"text":"x"}' >requests
mkfifo pipe
for changed in changed.dump changed; do # the dump; the executable, which keys and strings are in
	cp 2.dump changed.dump
	cp app changed
	: >said # which has the answers of the round before until the shell opens it
	go2heapsnapshot --mcp --exe changed changed.dump <pipe >said 2>err &
	exec 3>pipe
	printf '%s\n' "$begin" "$(call 1 summary)" >&3
	until grep -q '"id":1' said; do sleep 0.05; done
	printf x >>$changed
	call 2 summary >&3
	exec 3>&-
	wait $!
	check "$changed is written to: an error instead of an answer" grep -q "\"id\":2,.*\"$changed: .*\"isError\":true" said
done

# Sections of the JSON by name.
run go2heapsnapshot --exe app --json=suspects,goroutines 2.dump
equal "--json=suspects,goroutines: these members" "$(grep -o '^,*"[a-z_]*"' out | tr -d ',"' | tr '\n' ' ')" "format version heap process suspects goroutines leaked "
run go2heapsnapshot --exe app --json=heap 2.dump
equal "--json=heap: the totals" "$(grep -o '^,*"[a-z_]*"' out | tr -d ',"' | tr '\n' ' ')" "format version heap process "
run go2heapsnapshot --json=all 2.dump
said "--json=all" 2 "go2heapsnapshot: --json= takes heap, suspects, goroutines, classes, tree, waste, or several of these with commas, not 'all'" "$hint"
run go2heapsnapshot --json=waste --path-to main.Session 2.dump
check "--json=waste --path-to: exit status 2" [ "$status" -eq 2 ]
finish
