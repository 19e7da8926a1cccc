# shellcheck shell=bash
# Tests --exe: the messages about an executable, and what it adds to the snapshot; and --redact.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

cp "$top/samples/leakserver.exe.gz" app.gz
gzip -dc app.gz >app
gzip -dc "$top/samples/leakserver.1.dump.gz" >app.dump
note='go2heapsnapshot: note'
cost='what only they point to may stay untyped'
typed='[0-9]*\.[0-9] % of live bytes typed'

# share NAME PATTERN: tests the last line of stderr, which says how much is typed, and removes it: said() tests the rest.
share() {
	check "$1" grep -qx "go2heapsnapshot: $2" <(tail -n 1 err)
	sed -i '$d' err
}

go2heapsnapshot app.dump >untyped.heapsnapshot
run go2heapsnapshot --exe app app.dump
cp err typed.share
share "--exe: the last line says how much of what lives has a type" "app.dump: 99$typed"
said "--exe: nothing else to say" 0
cp out typed.heapsnapshot
check "--exe: a snapshot" is_snapshot typed.heapsnapshot
for name in '"main.Session"' '"map\[string\]\*main.Preview"' '"previews.byName"' '"v?"' '"lamp, 100 wide"' \
	'"\[\\"lamp, 100 wide\\"\]"'; do
	check "--exe: has the name $name" grep -q "$name" typed.heapsnapshot
	check "without: has it not" [ "$(grep -c "$name" untyped.heapsnapshot)" -eq 0 ]
done
run go2heapsnapshot --exe app.gz app.dump
check "--exe, gzipped: nothing else to say" cmp err typed.share
wrote "--exe, gzipped: the same bytes" typed.heapsnapshot
run go2heapsnapshot -j 1 -e app app.dump
wrote "-e, -j 1: the same bytes" typed.heapsnapshot

run go2heapsnapshot -v --exe app app.dump
check "--exe -v: ends with how much is typed" cmp typed.share <(tail -n 1 err)
sed -i '$d' err
# shellcheck disable=SC2016
kinds='/^types of objects/ { inside = 1; next } /^pointers/ { inside = 0 } inside && /^  [a-z]/'
check "--exe -v: the types add up to the objects, what lives and what nothing holds apart" awk '
	/^  in the snapshot/ { all = $4 } / their size/ && !bytes { bytes = $3 }
	'"$kinds"' { living += $(NF - 3); living_bytes += $(NF - 2); dead += $(NF - 1); dead_bytes += $NF }
	/^  objects that nothing holds/ { held = dead == $5 } held && /their size/ { held_bytes = dead_bytes == $3 }
	END { exit living + dead != all || living_bytes + dead_bytes != bytes || !held_bytes }' err
check "--exe -v: what is typed is the sum of what it consists of" awk '
	'"$kinds"' && /^  typed/ { living = $(NF - 2); dead = $NF }
	'"$kinds"' { next } /^    (by|closures,|contents) / { living -= $(NF - 2); dead -= $NF }
	END { exit living || dead }' err
check "--exe -v: the share is that of the live bytes, rounded down" awk '
	FNR == NR { said = $3; next }
	'"$kinds"' { all += $(NF - 2) } '"$kinds"' && /^  typed/ { typed = $(NF - 2) }
	END { exit int(said * 10 + 0.5) != int(typed * 1000 / all) }' typed.share err
cp err typed.account
run go2heapsnapshot -v app.dump
check "--exe -v: pointers are as without" diff \
	<(sed -n '/^pointers/,/^reachability/p' err) <(sed -n '/^pointers/,/^reachability/p' typed.account)
check "--exe -v: without, what cleanups hold is garbage" [ "$(sed -n '/that nothing holds/p' err)" = \
	"  objects that nothing holds                      7  garbage since the last collection, or cleanups" ]

for option in --reachable --max-nodes=3K; do
	run go2heapsnapshot $option --exe app app.dump
	check "--exe $option: the share is that of all that lives, too" cmp typed.share <(tail -n 1 err)
done
run go2heapsnapshot --exe app missing.dump
check "--exe, but no dump: no share" [ "$(grep -c typed err)" -eq 0 ]
run go2heapsnapshot app.dump
said "without --exe: no share" 0
head -c 400000 app.dump >cut.dump
run go2heapsnapshot --exe app cut.dump
share "--exe, a dump that is cut before its globals: says so" "cut.dump: nothing typed: it is cut before what types are found by"
check "--exe, a dump that is cut: exit 3" [ "$status" -eq 3 ]

run go2heapsnapshot --redact --exe app app.dump
check "--redact: nothing else to say" cmp err typed.share
cp out redacted.heapsnapshot
check "--redact: a snapshot" is_snapshot redacted.heapsnapshot
check "--redact: has names of types and variables" grep -q '"previews.byName"' redacted.heapsnapshot
check "--redact: neither strings nor keys" [ "$(grep -cE '"lamp"|100 wide|127\.0\.0\.1|Go-http-client' redacted.heapsnapshot)" -eq 0 ]
run go2heapsnapshot -r app.dump
wrote "-r without an executable: changes nothing" untyped.heapsnapshot

# A map whose type has a name of its own, http.Header, has its entries in "map[string][]string entries".
run go2heapsnapshot --exe app --format report --json=classes app.dump
check "--exe: the entries of a map with a declared type count as part of it" \
	jq -e '[.classes[] | select(.class | endswith(" entries"))] == [] and any(.classes[]; .class == "http.Header")' out
# The dump has these types by other names than the executable: they are left out, each by itself.
perl -pe 's!net/http\.statusError!net/http.statusMirro!g' app.dump >renamed.dump
run go2heapsnapshot --exe app renamed.dump
check "--exe, a type with another name: says so" grep -qE \
	"^go2heapsnapshot: warning: renamed.dump: 1 of [0-9,]+ types have another name in app, or are not in it: these are left out\$" err
check "--exe, a type with another name: the others are known" cmp <(sed -n 's/.*: \([0-9.]* % of live\)/\1/p' err) \
	<(sed -n 's/.*: \([0-9.]* % of live\)/\1/p' typed.share)
perl -pe 's!(?<=[^\x00-\x7f]|[\x00-\x1f*])crypto/!cryptO/!g' app.dump >renamed.dump
run go2heapsnapshot -v --exe app renamed.dump
check "--exe, a tenth of the types with other names: says how many" grep -qE \
	"^go2heapsnapshot: warning: renamed.dump: [0-9]{2} of [0-9,]+ types have another name in app, or are not in it: these are left out\$" err
check "--exe -v, a tenth of the types with other names: says how many" grep -qE \
	"^  types of the dump that do not fit  *[0-9]{2}  they are left out\$" err
check "--exe, a tenth of the types with other names: the others are known" grep -qE "9[0-9]$typed" err
run go2heapsnapshot --exe app --format report --json renamed.dump
check "--exe, a tenth of the types with other names: JSON says how many, too" jq -e '.heap.types_left_out > 20' out

objcopy --strip-all app stripped
run go2heapsnapshot --exe stripped app.dump
share "--exe, stripped: how much is typed, and what would be better" "app.dump: 94$typed; an executable that is not stripped would tell more"
said "--exe, stripped: says what that costs" 0 \
	"$note: stripped: it is stripped: global and local variables are inferred from the machine code; $cost"
check "--exe, stripped: has types all the same" grep -q '"main.Session"' out
run go2heapsnapshot -v --exe stripped app.dump
check "--exe -v, stripped: says so" grep -q '^  global variables with names  *0  it is stripped$' err
objcopy --strip-debug app no-dwarf
run go2heapsnapshot --exe no-dwarf app.dump
share "--exe without DWARF: how much is typed, and what would be better" "app.dump: 94$typed; an executable with DWARF would tell more"
said "--exe without DWARF: says what that costs" 0 \
	"$note: no-dwarf: it has no DWARF: no types of global variables, no names of locals; $cost"
check "--exe without DWARF: has names of globals" grep -q '"previews.f8"' out

remedy='Give --exe the executable that wrote the dump, or build the same commit with the same Go and flags.
--untyped-ok converts without types where it does not fit.'

# refused NAME FILE WHY: tests that the executable FILE is refused with the message WHY, and with --untyped-ok ignored.
refused() {
	run go2heapsnapshot --exe "$2" app.dump
	said "--exe, $1: an error, and what to do" 1 "go2heapsnapshot: $2: $3" "$remedy"
	wrote_nothing "--exe, $1: nothing on stdout"
	run go2heapsnapshot --exe "$2" -o refused.heapsnapshot app.dump
	equal "--exe, $1: no file" "$(find . -name 'refused*')" ''
	run go2heapsnapshot --untyped-ok --exe "$2" app.dump
	said "--exe, $1, --untyped-ok: a warning" 0 "go2heapsnapshot: warning: $2: $3; going on without types"
	wrote "--exe, $1, --untyped-ok: as without" untyped.heapsnapshot
}
refused "a text" "$top/Makefile" 'is not an executable (ELF, Mach-O or PE)'
refused "not Go" /bin/sh 'has no function table (pclntab): not a Go program'
refused "go2heapsnapshot itself" "$(command -v go2heapsnapshot)" 'has no function table (pclntab): not a Go program'
# marked TEXT [OFFSET]: makes the file marked of a program that is not Go, with a text put into it, or at its end.
marked() {
	cp /bin/sh marked
	if [ $# -gt 1 ]; then printf "$1" | dd of=marked bs=1 seek="$2" conv=notrunc status=none; else printf "$1" >>marked; fi
}
other='it has another heap than programs of the toolchain of golang.org, and is not read'
marked '\0libgo.so.21\0'
refused "gccgo" marked "was built by gccgo; $other"
marked '\0tinygo_startTask\0'
refused "TinyGo" marked "was built by TinyGo; $other"
marked '\xff Go buildinf:'
refused "Go, without a pclntab" marked "its table of functions (pclntab) is not found; give --exe the executable as the linker wrote it, before a packer or obfuscator changed it"
marked 'UPX!' 2000
refused "UPX" marked "is packed by UPX; \`upx -d -o UNPACKED PACKED\` makes the executable for --exe of it"
# Another build, in which a function of the dump has another name.
sed 's/value\.gowrap1/value.gowrap2/g' app >other
refused "another build" other 'is not the executable that wrote the dump: it has no function main.(*Server).value.gowrap1'
run go2heapsnapshot --untyped-ok --exe app app.dump
wrote "--untyped-ok, but the executable fits: typed" typed.heapsnapshot
run go2heapsnapshot --untyped-ok --exe missing app.dump
said "--untyped-ok, no such file: an error all the same" 1 "go2heapsnapshot: missing: cannot open: No such file or directory"
run go2heapsnapshot --exe missing app.dump
said "--exe, no such file" 1 "go2heapsnapshot: missing: cannot open: No such file or directory"
wrote_nothing "--exe, no such file: nothing on stdout"

finish
