# shellcheck shell=bash
# Tests --under: what it takes, what it says of the rest, and that the totals of all formats stay what they are.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

gzip -dc "$top/samples/leakserver.exe.gz" >app
gzip -dc "$top/samples/leakserver.2.dump.gz" >app.dump
gzip -dc "$top/samples/leakserver.1.dump.gz" >old.dump

# part KEY: prints a number of "under" in the report's JSON: .bytes, .else.objects.
part() {
	node -e 'const part = JSON.parse(require("fs").readFileSync("out")).under; console.log(eval("part" + process.argv[1]) ?? 0)' "$1"
}

# sum FILE: prints the bytes of all nodes of a heap snapshot.
sum() {
	node -e 'const { snapshot, nodes } = JSON.parse(require("fs").readFileSync(process.argv[1]));
		const fields = snapshot.meta.node_fields;
		let sum = 0;
		for (let i = fields.indexOf("self_size"); i < nodes.length; i += fields.length)
			sum += nodes[i];
		console.log(sum);' "$1"
}

go2heapsnapshot --exe app --format report --json app.dump >whole.json 2>err
all=$(node -p 'const { heap } = JSON.parse(require("fs").readFileSync("whole.json")); `${heap.bytes - heap.garbage} ${heap.objects}`')
for what in main.previews main.previews.byName previews.byName 'main.previews.byName["globe, 359 wide"]' main.Session main.ask 'goroutine 898' \
	'[chan send] main.ask main.go:178' '20 goroutines [chan send] main.ask' '[IO wait] …(*persistConn).Read transport.go:2300' \
	'map[uint64]*main.Watcher' main; do
	run go2heapsnapshot --exe app --format report --json --under "$what" app.dump
	equal "--under $what: it, its holders and the rest are the heap" \
		"$(($(part .bytes) + $(part .holders?.bytes) + $(part .else.bytes))) $(($(part .objects) + $(part .holders?.objects) + $(part .else.objects)))" "$all"
	check "--under $what: has something, and says what it is" [ "$(part .objects)" -gt 0 -a "$(part .asked)" = "$what" ]
done

# What is under a variable is what it retains in the report of all.
run go2heapsnapshot --exe app --format report --json --under main.previews.byName app.dump
retained=$(node -p '[...JSON.parse(require("fs").readFileSync("whole.json")).classes].find(row => row.class === "map[string]*main.Preview").retained')
equal '--under a variable: what it retains' "$(part .bytes)" "$retained"
check '--under: only suspects below it' node -e '
	const { suspects, classes } = JSON.parse(require("fs").readFileSync("out"));
	if (suspects.length === 0 || suspects.some(suspect => suspect.goroutines) || classes.some(row => row.class.startsWith("runtime.")))
		process.exit(1)'
run go2heapsnapshot --exe app --format report --under 'goroutine 898' app.dump
check '--under a goroutine: only this one is listed' [ "$(sed -n '/^GOROUTINES/,/^$/p' out | grep -c '^  \[chan send\] main.ask  *1  *1 ')" -eq 1 ]
check '--under a goroutine: it alone is leaked' grep -q '^  leaked: 1 can never run again' out
check '--under a goroutine: says what is shared' grep -q '^  shared: it points to 1 object that others hold, too' out
check '--under: the rest is in the classes' grep -q '^  (everything else): [0-9,]* objects, ' out

for wrong in nosuch main.previews.byNam 0x1 'goroutine 4711' 'main.previews.byName["nosuch"]' previews.mu.state; do
	run go2heapsnapshot --exe app --format report --show "$wrong" app.dump
	grep -v 'bytes typed' err >shown
	[ "$status" = 0 ] && continue
	run go2heapsnapshot --exe app --format report --under "$wrong" app.dump
	check "--under $wrong: what --show says" cmp err shown
	equal "--under $wrong: fails" "$status" 1
done
run go2heapsnapshot --exe app --format report --under main.previews.mu app.dump
said '--under what leads nowhere' 1 \
	"go2heapsnapshot: 'main.previews.mu' leads to no object that is not garbage, so there is nothing under it"

# All formats.
go2heapsnapshot --exe app -o whole.heapsnapshot app.dump 2>err
run go2heapsnapshot --exe app -o under.heapsnapshot --under main.previews app.dump
said '--under, snapshot: says how much' 0 \
	'go2heapsnapshot: note: app.dump: under main.previews: 15276 objects, 881 kB; held by 0 objects, 0 B; everything else: 1259 objects, 437 kB' \
	"$(grep typed err)"
check '--under, snapshot: is one' is_snapshot under.heapsnapshot
equal '--under, snapshot: the same total' "$(sum under.heapsnapshot)" "$(sum whole.heapsnapshot)"
check '--under, snapshot: has the rest' grep -q '^"(everything else)",$' under.heapsnapshot
run go2heapsnapshot --exe app -j 1 --under main.previews app.dump
check '--under -j 1: the same bytes' cmp out under.heapsnapshot
run go2heapsnapshot --exe app --max-nodes 4K --under main.previews app.dump
check '--under --max-nodes: folds what is below' [ "$(sed -n 's/.*"node_count":\([0-9]*\),.*/\1/p' out)" -le 4000 ]
cp out both.heapsnapshot
equal '--under --max-nodes: the same total' "$(sum both.heapsnapshot)" "$(sum whole.heapsnapshot)"
run go2heapsnapshot --exe app -o under.html --under main.previews app.dump
check '--under, page: says it' grep -q '"asked":"main.previews"' under.html
run go2heapsnapshot --exe app -o under.csv --under main.previews app.dump
check '--under, CSV: has the rest' grep -q '"\?(everything else)' under.csv/nodes.csv
for format in pprof hprof; do
	run go2heapsnapshot --exe app --format $format -o "under.$format" --under main.previews app.dump
	equal "--under, $format: is written" "$status" 0
done
run go2heapsnapshot --format report --under 0x3374cc57c330 app.dump
check '--under without types: an address' grep -q '^  under 0x3374cc57c330: 881 kB in 15,276 objects' out

# With a base, what is under it has grown.
run go2heapsnapshot --exe app --format report --under main.previews --base old.dump app.dump
check '--under --base: what grew is under it' grep -q '1,600 main.Watcher, now 2,000' out

hint="Try 'go2heapsnapshot --help'."
for option in '--format dump' '--inspect' '--format sqlite --summary -o app.db'; do
	# shellcheck disable=SC2086  # several words
	run go2heapsnapshot --under main.x $option app.dump
	equal "--under $option: is refused" "$status $(tail -n 1 err)" "2 $hint"
done
