# shellcheck shell=bash
# Tests -v, which prints an account of the conversion. golden has digests of whole accounts.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

# Pages may be read from a disk at any time.
mask() { sed -i '/^  pages that a disk was waited for/s/  *[0-9][0-9]*/ N/' err; }

for name in go1.3.3-386.1 go1.26-386.1; do
	dump "$name" "$name.dump"
	go2heapsnapshot "$name.dump" >plain.heapsnapshot
	run go2heapsnapshot -v "$name.dump"
	equal "-v ($name): exit 0" "$status" 0
	wrote "-v ($name): the same bytes" plain.heapsnapshot
	mask
	cp err "$name.account"
	check "-v ($name): fits 100 columns" awk 'length > 100 { exit 1 }' err
done
run go2heapsnapshot --verbose -j 1 go1.26-386.1.dump
mask
check "--verbose -j 1: the same account" diff go1.26-386.1.account err
check "-v: objects and bytes are those of memstats" [ "$(grep -c ' as memstats say$' err)" -eq 2 ]

run go2heapsnapshot -v --no-stacks go1.26-386.1.dump
check "--no-stacks: no stacks in the account" [ "$(grep -c -i stackinuse err)" -eq 0 ]
check "--no-stacks: nor in the snapshot, nor in its header" [ "$(grep -c 'goroutine stack\|"stacks":' out)" -eq 0 ]
check "--no-stacks: as many nodes less" awk '
	/^  goroutines that have one/ { stacks = $5 } FNR == NR && /^  nodes / { with = $2; next } /^  nodes / { without = $2 }
	END { exit !stacks || with - stacks != without }' go1.26-386.1.account err
run go2heapsnapshot go1.26-386.1.dump
check "stacks are in the header" grep -q '"stacks":27,"stack_bytes":94208,"stack_inuse":557056,' out

head -c 2000000 go1.26-386.1.dump >cut.dump
run go2heapsnapshot -v cut.dump
equal "-v on a cut dump: exit 3" "$status" 3
check "-v on a cut dump: the warning, then the account" awk '
	NR == 1 { warned = /^go2heapsnapshot: warning: cut.dump: byte / }
	/^cut.dump: format go1.7, / { account = warned }
	END { exit !account }' err
check "-v on a cut dump: does not say that all bytes were read" awk '/bytes read/ && / all$/ { exit 1 }' err

# Native contexts in the snapshot and in the account, and none with --no-contexts.
contexts() { grep -c '"system / NativeContext / ' "$1"; }
run go2heapsnapshot -v go1.26-386.1.dump
check "contexts: they are there" [ "$(contexts out)" -gt 2 ]
nodes() { grep -o '"node_count":[0-9]*' "$1" | cut -d: -f2; }
with=$(nodes out) said=$(awk '/of these contexts/ { print $4 }' err)
run go2heapsnapshot --no-contexts go1.26-386.1.dump
check "contexts, event handlers and groups: as many as -v says" [ $((with - $(nodes out))) -eq "$said" ]
run go2heapsnapshot -v go1.26-386.1.dump
check "contexts: of packages, places, garbage and the rest" \
	[ "$(grep -cE 'NativeContext / (globals in bss|[0-9]+ goroutines .GC worker.*|garbage|other roots)"' out)" -eq 4 ]
check "nodes and edges: those of -v" awk '
	FNR == NR && match($0, /"node_count":[0-9]+,"edge_count":[0-9]+/) { split(substr($0, RSTART, RLENGTH), of, /[:,]/) }
	FNR == NR { next } /^  nodes / { nodes = $2 } /^  edges / { edges = $2 }
	END { exit nodes != of[2] || edges != of[4] }' out err
run go2heapsnapshot -v --reachable go1.26-386.1.dump
check "contexts: none of garbage where there is none" [ "$(grep -c 'NativeContext / garbage' out)" -eq 0 ]
run go2heapsnapshot -v --no-contexts go1.26-386.1.dump
check "--no-contexts: none" [ "$(contexts out)" -eq 0 ]
check "--no-contexts: nor in the account" [ "$(grep -c context err)" -eq 0 ]

finish
