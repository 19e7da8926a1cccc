# shellcheck shell=bash
# --exe: what is said of an executable, and what the snapshot then has; --redact.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

cp "$top/samples/leakserver.exe.gz" app.gz
gzip -dc app.gz >app
gzip -dc "$top/samples/leakserver.1.dump.gz" >app.dump
note='go2heapsnapshot: note'
cost='what only they lead to may stay untyped'

go2heapsnapshot app.dump >untyped.heapsnapshot
run go2heapsnapshot --exe app app.dump
said "--exe: nothing to say" 0
cp out typed.heapsnapshot
check "--exe: a snapshot" is_snapshot typed.heapsnapshot
for name in '"main.Session"' '"map\[string\]\*main.Preview"' '"previews.byName"' '"v (inlined main.ask)?"' '"lamp, 100 wide"' \
	'"\[\\"lamp, 100 wide\\"\]"'; do
	check "--exe: has the name $name" grep -q "$name" typed.heapsnapshot
	check "without: has it not" [ "$(grep -c "$name" untyped.heapsnapshot)" -eq 0 ]
done
run go2heapsnapshot --exe app.gz app.dump
said "--exe, gzipped: nothing to say" 0
wrote "--exe, gzipped: the same bytes" typed.heapsnapshot
run go2heapsnapshot -j 1 -e app app.dump
wrote "-e, -j 1: the same bytes" typed.heapsnapshot

run go2heapsnapshot -v --exe app app.dump
# How much is known of types may become more.
sed '/^executable/,/^pointers/s/  *[0-9][0-9]*/ N/g; /^snapshot/,$s/  *[0-9][0-9]*/ N/g' err >masked
check "--exe -v: account-leakserver.1.expected" diff "$here/account-leakserver.1.expected" masked
check "--exe -v: the types add up to the objects" awk '
	/^  in the snapshot/ { all = $4 } / their size/ && !bytes { bytes = $3 }
	/^types of objects/ { inside = 1 } /^pointers/ { inside = 0 }
	inside && /^  [a-z]/ { objects += $(NF - 2); sum += $(NF - 1) }
	END { exit objects != all || sum != bytes }' err
cp err typed.account
run go2heapsnapshot -v app.dump
check "--exe -v: pointers are as without" diff \
	<(sed -n '/^pointers/,/^reachability/p' err) <(sed -n '/^pointers/,/^reachability/p' typed.account)
check "--exe -v: without, what cleanups hold is garbage" [ "$(sed -n '/that nothing holds/p' err)" = \
	"  objects that nothing holds                      7  garbage since the last collection, or cleanups" ]

run go2heapsnapshot --redact --exe app app.dump
said "--redact: nothing to say" 0
cp out redacted.heapsnapshot
check "--redact: a snapshot" is_snapshot redacted.heapsnapshot
check "--redact: has names of types and variables" grep -q '"previews.byName"' redacted.heapsnapshot
check "--redact: neither strings nor keys" [ "$(grep -cE '"lamp"|100 wide|127\.0\.0\.1|Go-http-client' redacted.heapsnapshot)" -eq 0 ]
run go2heapsnapshot -r app.dump
wrote "-r without an executable: changes nothing" untyped.heapsnapshot

objcopy --strip-all app stripped
run go2heapsnapshot --exe stripped app.dump
said "--exe, stripped: says what that costs" 0 \
	"$note: stripped: it is stripped: no names and types of global and local variables; $cost"
check "--exe, stripped: has types all the same" grep -q '"main.Session"' out
run go2heapsnapshot -v --exe stripped app.dump
check "--exe -v, stripped: says so" grep -q '^  global variables with names  *0  it is stripped$' err
objcopy --strip-debug app no-dwarf
run go2heapsnapshot --exe no-dwarf app.dump
said "--exe without DWARF: says what that costs" 0 \
	"$note: no-dwarf: it has no DWARF: no types of global variables, no names of locals; $cost"
check "--exe without DWARF: has names of globals" grep -q '"previews.f8"' out

# refused NAME FILE WHY
refused() {
	run go2heapsnapshot --exe "$2" app.dump
	said "--exe, $1: a warning" 0 "go2heapsnapshot: warning: $2: $3; going on without it"
	wrote "--exe, $1: as without" untyped.heapsnapshot
}
refused "a text" "$top/Makefile" 'is no executable (ELF, Mach-O or PE)'
refused "not Go" /bin/sh 'has no table of functions (pclntab): it is no Go program'
run go2heapsnapshot --exe missing app.dump
said "--exe, no such file" 1 "go2heapsnapshot: missing: cannot open: No such file or directory"
wrote_nothing "--exe, no such file: nothing on stdout"

finish
