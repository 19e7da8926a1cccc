# shellcheck shell=bash
# Tests --reachable and --max-nodes: which objects are left out and folded, and the messages about them.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

hint="Try 'go2heapsnapshot --help'."
note='go2heapsnapshot: note: app.dump'
gzip -dc "$top/samples/leakserver.exe.gz" >app
gzip -dc "$top/samples/leakserver.2.dump.gz" >app.dump
go2heapsnapshot --exe app app.dump >whole.heapsnapshot 2>err

# nodes: prints the number of nodes of the last run's snapshot.
nodes() {
	sed -n 's/.*"node_count":\([0-9]*\),.*/\1/p' out
}

share=$(go2heapsnapshot --exe app app.dump 2>&1 >/dev/null)
run go2heapsnapshot --exe app --max-nodes 20K app.dump
said "--max-nodes, more than there are: nothing to say but how much is typed" 0 "$share"
wrote "--max-nodes, more than there are: the same bytes" whole.heapsnapshot

run go2heapsnapshot --exe app --max-nodes 5K app.dump
cp out folded.heapsnapshot
objects=$(sed -n 's/.* folded: \([0-9]*\) objects .*/\1/p' err)
into=$(sed -n 's/.* into \([0-9]*\) nodes.*/\1/p' err)
said "--max-nodes: says how much" 0 "$note: folded: $objects objects into $into nodes; there are $(nodes) nodes now" "$share"
check "--max-nodes: a snapshot" is_snapshot folded.heapsnapshot
check "--max-nodes: not more, and not many fewer" [ "$(nodes)" -le 5000 ] && [ "$(nodes)" -gt 4900 ]
check "--max-nodes: has the node (folded)" grep -q '^"(folded)",$' folded.heapsnapshot
check "--max-nodes: lists nodes of the header's number" [ "$(sed -n '/"nodes":\[/,/^\],/p' out | grep -c '^[",0-9].*[0-9]$')" -eq "$(nodes)" ]
for same in --max-nodes=5000 '--max-nodes 5k'; do
	# shellcheck disable=SC2086  # two words
	run go2heapsnapshot --exe app $same app.dump
	wrote "$same: the same bytes" folded.heapsnapshot
done
run go2heapsnapshot --exe app --max-nodes 5K -j 1 app.dump
wrote "--max-nodes -j 1: the same bytes" folded.heapsnapshot
run go2heapsnapshot --exe app --max-nodes 5K -j 7 -z app.dump
check "--max-nodes -j 7 -z: the same bytes" cmp folded.heapsnapshot <(gzip -dc out)

run go2heapsnapshot --exe app --max-nodes 5K -v app.dump
check "--max-nodes -v: says so too" awk -v objects="$objects" -v into="$into" '
	/^snapshot/ { inside = 1 }
	inside && /objects folded/ { found += $3 == objects } inside && /into nodes/ { found += $3 == into }
	END { exit found != 2 }' err

run go2heapsnapshot --max-nodes 1 app.dump
fewest=$(nodes)
check "--max-nodes 1: folds what can be folded" [ "$(sed 1d err)" = \
	"go2heapsnapshot: warning: app.dump: it cannot be folded to fewer than $fewest nodes" ]
run go2heapsnapshot --max-nodes "$fewest" app.dump
check "--max-nodes, as few as can be: no warning" [ "$(grep -c warning err)" -eq 0 ]

run go2heapsnapshot --exe app --redact --max-nodes 10K app.dump
check "--max-nodes --redact: no strings" [ "$(grep -cE '"lamp"|100 wide|127\.0\.0\.1|Go-http-client' out)" -eq 0 ]

run go2heapsnapshot -v app.dump
garbage=$(awk '/^objects that nothing holds/ || /  objects that nothing holds/ { print $5 }' err)
bytes=$(awk '/that nothing holds/ { getline; print $3 }' err)
all=$(nodes)
run go2heapsnapshot --reachable app.dump
said "--reachable: says how much" 0 "$note: left out as garbage: $garbage objects, $(awk -v n="$bytes" 'BEGIN { if (n < 1000) printf "%d B", n; else printf "%.2f kB", n / 1000 }'); what cleanups hold may be among them, which --exe would tell"
check "--reachable: they and (unreachable) are gone" [ "$(nodes)" -eq $((all - garbage - 2)) ] # 2: (unreachable) and its context
check "--reachable: there is some" [ "$garbage" -gt 0 ]
cp out reachable.heapsnapshot
run go2heapsnapshot --reachable -j 1 app.dump
wrote "--reachable -j 1: the same bytes" reachable.heapsnapshot
run go2heapsnapshot --reachable --max-nodes 5K app.dump
check "--reachable --max-nodes: says both" awk '/left out as garbage/ { n++ } /folded: / { n++ } END { exit n != 2 || NR != 2 }' err

dump go1.3.3-386.1 clean.dump
go2heapsnapshot -v clean.dump >clean.heapsnapshot 2>clean.err
run go2heapsnapshot --reachable clean.dump
check "--reachable: says it of any dump" grep -q '^go2heapsnapshot: note: clean.dump: left out as garbage: [0-9]* object' err

for number in 0 -1 x '' 2G 5KK 1.5M ' 2' 2MB 99999999999999999999; do
	run go2heapsnapshot --max-nodes "$number" app.dump
	said "--max-nodes '$number'" 2 \
		"go2heapsnapshot: --max-nodes takes a number such as 500K or 2M, not '$number'" "$hint"
done

finish
