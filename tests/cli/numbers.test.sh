# shellcheck shell=bash
# Tests --numbers: which objects have numbers in a snapshot, what it does not go with, and what is said.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

hint="Try 'go2heapsnapshot --help'."
gzip -dc "$top/samples/leakserver.exe.gz" >app
gzip -dc "$top/samples/leakserver.1.dump.gz" >1.dump
gzip -dc "$top/samples/leakserver.2.dump.gz" >2.dump
share='of live bytes typed'
# header MEMBER FILE: prints a number of a snapshot's header.
header() { grep -o "\"$1\":[0-9]*" "$2" | head -n 1 | cut -d : -f 2; }
edges() { header edge_count "$1"; }

go2heapsnapshot --exe app 1.dump >plain 2>/dev/null
run go2heapsnapshot --exe app --numbers -v 1.dump
equal "--numbers: fine" "$status" 0
cp out all
cp err account
run go2heapsnapshot --exe app --numbers -j 1 1.dump
wrote "--numbers -j 1: the same bytes" all
check "--numbers -v: nodes and edges are those of the file" awk -v nodes="$(header node_count all)" -v edges="$(edges all)" -v before="$(edges plain)" '
	/^  nodes / { good += $2 == nodes } /^  edges / { good += $2 == edges } /of them to numbers/ { good += $5 == edges - before && $5 > 10000 }
	END { exit good != 3 }' account
check "without --numbers: nothing of it in the account" [ "$(go2heapsnapshot --exe app -v 1.dump 2>&1 >out | grep -c numbers)" -eq 0 ]
wrote "without --numbers: the same bytes with -v" plain

# Each of these classes has its own numbers, and together they have the sum. A name may contain commas.
of() {
	go2heapsnapshot --exe app "--numbers=$1" 1.dump 2>/dev/null >out || return
	echo $(($(edges out) - $(edges plain)))
}
sessions=$(of main.Session) bids=$(of main.Bid)
equal "--numbers=CLASS: only these: each of 400 sessions has a time" "$sessions" 400
check "--numbers=CLASS,CLASS: the sum" [ "$sessions" -gt 0 -a "$bids" -gt 0 -a "$(of main.Session,main.Bid)" -eq $((sessions + bids)) ]
comma=$(grep -o '^,\{0,1\}"internal/sync\.[a-zA-Z]*\[[^"]*,[^"]*\]"' plain | head -n 1 | tr -d '"' | sed 's/^,//')
check "--numbers=CLASS: a name with a comma: $comma" [ "$(of "$comma")" -gt 0 -a "$(of "$comma,main.Session")" -gt 400 ]

run go2heapsnapshot --exe app --numbers=main.Sessoin -o none.heapsnapshot 1.dump
said "--numbers=CLASS: there is none" 1 "go2heapsnapshot: there is no class 'main.Sessoin'"
check "--numbers=CLASS: there is none: no file" [ ! -e none.heapsnapshot ]
run go2heapsnapshot --exe app --numbers= 1.dump
said "--numbers=: no name" 2 "go2heapsnapshot: --numbers= takes names of classes, not ''" "$hint"
run go2heapsnapshot --numbers 1.dump
said "--numbers without --exe" 1 'go2heapsnapshot: without types there are no numbers to show: --exe gives them'
for redact in --redact --redact-key=key; do
	run go2heapsnapshot --exe app --numbers $redact 1.dump
	said "--numbers $redact" 2 'go2heapsnapshot: --numbers shows what --redact hides' "$hint"
	wrote_nothing "--numbers $redact: nothing on stdout"
done
run go2heapsnapshot --exe app --numbers --max-nodes 1K 1.dump
said "--numbers --max-nodes" 2 'go2heapsnapshot: --numbers does not go with --max-nodes: folded nodes have no values' "$hint"
run go2heapsnapshot --exe app --numbers --format report 1.dump
said "--numbers --format report" 2 'go2heapsnapshot: --numbers goes with --format heapsnapshot, not with report' "$hint"

# In a series, ids of numbers are those of the dump before, and a class need not be in each dump.
run go2heapsnapshot --exe app --numbers=main.Session,main.Nobody -o series 1.dump 2.dump
equal "--numbers in a series: fine" "$status $(grep -c "$share" err) $(ls series)" "0 2 1.heapsnapshot
2.heapsnapshot"
numbers() { sed -n 's/^,7,\([0-9]*\),\([0-9]*\),0,0,0,0$/\2/p' "$1" | sort; }
check "--numbers in a series: the numbers of the first are in the second, by their ids" [ "$(comm -12 <(numbers series/1.heapsnapshot) <(numbers series/2.heapsnapshot) | wc -l)" -gt 300 ]

finish
