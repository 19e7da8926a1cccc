# shellcheck shell=bash
# Tests several dumps of one process: -o DIRECTORY, --base, and dumps that are refused.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

gzip -dc "$top/samples/leakserver.exe.gz" >app
for n in 1 2; do gzip -dc "$top/samples/leakserver.$n.dump.gz" >$n.dump; done

# left_out NAME DUMP...: tests the lines of stderr that say how much garbage is left out of each dump, and removes them.
left_out() {
	local dump
	for dump in "${@:2}"; do
		check "$1: says how much garbage is left out of $dump" grep -Eq \
			"^go2heapsnapshot: note: $dump: left out as garbage: [0-9]+ objects?, [0-9.]+ k?B, which --garbage keeps" err
	done
	sed -i '/: left out as garbage: /d' err
}

# survived NAME AFTER BEFORE: tests the line of stderr that says which objects have survived, and removes it.
survived() {
	check "$1: says what has survived" grep -Eqx \
		"go2heapsnapshot: $2: since $3 [0-9]+ objects have survived, [0-9]+ are gone, [0-9]+ are new, of these [0-9]+ in reused slots; [0-9]+ undecided" err
	sed -i '/ have survived, /d' err
}

for pair in '1.dump 2.dump' '2.dump 1.dump'; do
	run go2heapsnapshot --format report --exe app --base "${pair% *}" -o report "${pair#* }"
	equal "--base ${pair% *} ${pair#* }: says if the base is newer" "$(sed -n 's/[0-9.]* s later/N s later/; /newer/p' err)" "$(
		[ "$pair" = '1.dump 2.dump' ] || echo 'go2heapsnapshot: warning: 1.dump: the base, 2.dump, is newer: its last collection was N s later; what is called growth is the reverse of what has happened'
	)"
done

run go2heapsnapshot -o plain 1.dump 2.dump
survived "a series" 2.dump 1.dump
left_out "a series" 1.dump 2.dump
said "a series: nothing else to say" 0
wrote_nothing "a series: nothing on stdout"
equal "a series: its snapshots are named after the dumps" "$(ls plain)" "$(printf '1.heapsnapshot\n2.heapsnapshot')"
check "a series: snapshots" eval 'is_snapshot plain/1.heapsnapshot && is_snapshot plain/2.heapsnapshot'

# All but ids is as in a conversion of one dump: everything except the header and the third number of each node.
cat >without_ids.mjs <<'END'
import fs from 'node:fs';
const snapshot = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
snapshot.snapshot.go2heapsnapshot = null;
for (let i = 2; i < snapshot.nodes.length; i += 7) snapshot.nodes[i] = 0;
console.log(JSON.stringify(snapshot));
END
go2heapsnapshot --reachable 2.dump >single 2>/dev/null
check "a series: all but ids is as in a single snapshot without garbage" cmp \
	<("${NODE:-node}" without_ids.mjs plain/2.heapsnapshot) <("${NODE:-node}" without_ids.mjs single)
run go2heapsnapshot --garbage -o whole 1.dump 2.dump
survived "--garbage" 2.dump 1.dump
said "--garbage: nothing else to say" 0
go2heapsnapshot 2.dump >single
check "--garbage: all but ids is as in a single snapshot" cmp \
	<("${NODE:-node}" without_ids.mjs whole/2.heapsnapshot) <("${NODE:-node}" without_ids.mjs single)
run go2heapsnapshot --garbage 2.dump
check "--garbage: a single dump keeps it anyway" cmp out single
run go2heapsnapshot --garbage --reachable -o whole 1.dump 2.dump
said "--garbage and --reachable" 2 "go2heapsnapshot: --reachable leaves out what --garbage keeps" "Try 'go2heapsnapshot --help'."

# ids FILE: prints the ids of all nodes, in ascending order.
ids() {
	"${NODE:-node}" -e 'const s = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
		for (let i = 2; i < s.nodes.length; i += 7) console.log(s.nodes[i])' "$1" | sort -n
}
ids plain/1.heapsnapshot >1.ids
ids plain/2.heapsnapshot >2.ids
check "a series: ids are odd, and each is there once" awk '$1 % 2 == 0 || $1 == last { exit 1 } { last = $1 }' 1.ids
check "a series: the second one's too" awk '$1 % 2 == 0 || $1 == last { exit 1 } { last = $1 }' 2.ids
check "a series: what is new has an id above all of the first" awk '
	FNR == NR { known[$1] = 1; most = $1; next } !($1 in known) { fresh++; if ($1 <= most) exit 1 } END { exit fresh < 1000 }' 1.ids 2.ids
check "a series: some ids are gone, and most are still there" awk '
	FNR == NR { known[$1] = 1; all++; next } $1 in known { still++ } END { exit still == all || still < 0.8 * all }' 1.ids 2.ids

run go2heapsnapshot -j 1 --base 1.dump -o base 2.dump
survived "--base" 2.dump 1.dump
left_out "--base" 1.dump 2.dump
said "--base: nothing else to say" 0
check "--base, -j 1: the same bytes" diff -r plain base
run go2heapsnapshot -z -o packed 1.dump 2.dump
equal "-z: names" "$(ls packed)" "$(printf '1.heapsnapshot.gz\n2.heapsnapshot.gz')"
check "-z: the same snapshot" cmp <(gzip -dc packed/2.heapsnapshot.gz) plain/2.heapsnapshot

run go2heapsnapshot --exe app --max-nodes 3000 -o folded 1.dump 2.dump
survived "--max-nodes" 2.dump 1.dump
check "--max-nodes: a series" eval 'is_snapshot folded/1.heapsnapshot && is_snapshot folded/2.heapsnapshot'
ids folded/2.heapsnapshot >folded.ids
check "--max-nodes: ids are odd, and each is there once" awk '$1 % 2 == 0 || $1 == last { exit 1 } { last = $1 }' folded.ids

# The key is random, but the same for all snapshots of a series: equal texts are equal in all of them.
run go2heapsnapshot --redact --exe app -o redacted 1.dump 2.dump
survived "--redact" 2.dump 1.dump
cat >same_texts.mjs <<'END'
import fs from 'node:fs';
const texts = (file) => {
  const { nodes, strings } = JSON.parse(fs.readFileSync(file, 'utf8')), found = new Map();
  for (let i = 0; i < nodes.length; i += 7) if (nodes[i] === 2) found.set(nodes[i + 2], strings[nodes[i + 1]]);
  return found;
};
const [before, after] = process.argv.slice(2).map(texts);
const both = [...before.keys()].filter((id) => after.has(id));
process.exitCode = both.length > 100 && both.every((id) => before.get(id) === after.get(id)) ? 0 : 1;
END
check "--redact: survivors have the same texts in all of a series" "${NODE:-node}" same_texts.mjs redacted/1.heapsnapshot redacted/2.heapsnapshot

run go2heapsnapshot -o twice 1.dump 1.dump
said "the same dump twice: one name for two" 1 "go2heapsnapshot: twice/1.heapsnapshot: two of the dumps would have this snapshot; give them different names"
mkdir copy && cp 1.dump copy/again.dump.gz.dump
run go2heapsnapshot -o twice 1.dump copy/again.dump.gz.dump
equal "the same dump again: nothing is gone or new" "$(sed -n 's/.*survived, \([0-9]*\) are gone, \([0-9]*\) are new.*/\1 \2/p' err)" "0 0"
equal "only the last ending goes" "$(ls twice)" "$(printf '1.heapsnapshot\nagain.dump.gz.heapsnapshot')"
check "the same dump again: the same nodes" cmp <(sed 1d twice/1.heapsnapshot) <(sed 1d twice/again.dump.gz.heapsnapshot)

# The executable is read once for all dumps, also if another build takes its place meanwhile. The second dump is a pipe, so that the
# test knows when the first one has been converted.
cp app own
mkfifo second.dump
{ exec 3>second.dump && cp 1.dump other && mv other own && cat 2.dump >&3; } &
run go2heapsnapshot --exe own -o replaced 1.dump second.dump
equal "an executable that is replaced between two dumps: converts" "$status" 0
equal "an executable that is replaced between two dumps: says so" "$(grep replaced err)" \
	"go2heapsnapshot: note: own: was replaced since it was read: types are those of the file that was read first"
go2heapsnapshot --exe app -o kept 1.dump 2.dump 2>/dev/null
check "an executable that is replaced between two dumps: the same nodes" cmp <(sed 1d kept/2.heapsnapshot) <(sed 1d replaced/second.heapsnapshot)
cp app own
{ exec 3>second.dump && cp 1.dump own && cat 2.dump >&3; } &
run go2heapsnapshot --exe own -o written 1.dump second.dump
equal "an executable that is written to between two dumps: is read again" "$status $(grep own: err)" \
	"1 go2heapsnapshot: own: is not an executable (ELF, Mach-O or PE)"
rm second.dump

# Dumps that are no series.
run go2heapsnapshot -o order 2.dump 1.dump
check "in the wrong order: says so" grep -Eqx 'go2heapsnapshot: 1\.dump: is older than 2\.dump, or of another process: [0-9]+ [a-z ]+ so far, there [0-9]+' err
equal "in the wrong order: fails" "$status" 1
equal "in the wrong order: the first one is there" "$(ls order)" 2.heapsnapshot
dump go1.15-amd64.1 other.dump
run go2heapsnapshot -o other 1.dump other.dump
left_out "of another release" 1.dump
said "of another release" 1 "go2heapsnapshot: other.dump: is not from the process that wrote 1.dump: that is of another release of Go"
dump go1.26-386.1 small.dump
run go2heapsnapshot -o other 1.dump small.dump
left_out "of another architecture" 1.dump
said "of another architecture" 1 "go2heapsnapshot: small.dump: is not from the process that wrote 1.dump: that has another architecture"
touch file
run go2heapsnapshot -o file 1.dump 2.dump
said "-o: a file" 1 "go2heapsnapshot: file: is not a directory, which a series of snapshots needs"
run go2heapsnapshot -o missing/directory 1.dump 2.dump
said "-o: in a directory that is not there" 1 "go2heapsnapshot: missing/directory: cannot create the directory: No such file or directory"
run go2heapsnapshot -o odd 1.dump nothing.dump
left_out "a dump that is not there" 1.dump
said "a dump that is not there" 1 "go2heapsnapshot: nothing.dump: cannot open: No such file or directory"
run go2heapsnapshot -o odd app 1.dump
said "an executable among the dumps" 2 "go2heapsnapshot: 'app' is an executable, which is given with --exe:" "  go2heapsnapshot --exe app 1.dump"
mkdir names && cp 1.dump names/x.dump && ln names/x.dump names/x.heapsnapshot
run go2heapsnapshot -o names names/x.dump 2.dump
said "a snapshot's name is a dump's" 1 "go2heapsnapshot: names/x.heapsnapshot: is the dump itself; give the snapshot another name"

# A dump that is cut is still part of the series.
head -c $(($(stat -c %s 2.dump) * 9 / 10)) 2.dump >cut.dump
run go2heapsnapshot -o cut 1.dump cut.dump
equal "a dump that is cut: exit status 3" "$status" 3
check "a dump that is cut: what has survived is said" grep -q 'cut\.dump: since 1\.dump [1-9][0-9]* objects have survived' err
check "a dump that is cut: both snapshots" eval 'is_snapshot cut/1.heapsnapshot && is_snapshot cut/cut.heapsnapshot'
check "a dump that is cut: nothing of it is left out as garbage" eval '! grep -q "cut.dump: left out" err && grep -q "1.dump: left out" err'

finish
