# shellcheck shell=bash
# Tests --watch, --fork and reports of several dumps as far as no process is read: what goes together, what a report of a series has and
# what it ends with. tests/unit/test_trend.c tests what it says of made-up series, tests/process/watch.sh what of processes.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

hint="Try 'go2heapsnapshot --help'."
gzip -dc "$top/samples/leakserver.exe.gz" >app
for n in 1 2; do gzip -dc "$top/samples/leakserver.$n.dump.gz" >$n.dump; done

# ---- the command line ----

for time in 0 x 1x -1 '' 1.5s 60ss 31d 99999999999999999999; do
	run go2heapsnapshot --watch "$time" --pid 1
	said "--watch '$time'" 2 "go2heapsnapshot: --watch takes a time from 1 s to 30 days such as 30s, 5m or 1h, not '$time'" "$hint"
done
run go2heapsnapshot --fork 1.dump
said "--fork of a dump" 2 "go2heapsnapshot: --fork goes with --pid" "$hint"
run go2heapsnapshot --fork=small --pid 1
said "--fork=small" 2 "go2heapsnapshot: --fork= takes huge, not 'small'" "$hint"
for size in 0 x 1T -1K '' 99999999999999999999 9999999999G; do
	run go2heapsnapshot --watch 1s --until-growth "$size" --pid 1
	said "--until-growth '$size'" 2 "go2heapsnapshot: --until-growth takes a size such as 500K, 64M or 2G, not '$size'" "$hint"
done
run go2heapsnapshot --watch 1s --count 0 --pid 1
said "--count 0" 2 "go2heapsnapshot: --count takes a number from 1 to 2147483647, not '0'" "$hint"
run go2heapsnapshot --watch 1s 1.dump
said "--watch without --pid" 2 "go2heapsnapshot: --watch goes with --pid, or with --command" "$hint"
run go2heapsnapshot --ages 1m --watch 1s --command 'cat 1.dump'
said "--ages with --command" 2 "go2heapsnapshot: --ages goes with --pid" "$hint"
run go2heapsnapshot --older 1m 1.dump
said "--older without --path-to" 2 "go2heapsnapshot: --older goes with --path-to CLASS" "$hint"
run go2heapsnapshot --pid 1 --format report --path-to main.T --older 1m
said "--older of a process without --ages" 2 \
	"go2heapsnapshot: --older of a process needs --ages, which watches it first: --ages 5m" "$hint"
run go2heapsnapshot --format report --path-to main.Session --older 1w 1.dump
said "--older 1w" 2 "go2heapsnapshot: --older takes a time such as 30s or 5m, not '1w'" "$hint"
run go2heapsnapshot --count 3 1.dump
said "--count without --watch" 2 "go2heapsnapshot: --count goes with --watch" "$hint"
run go2heapsnapshot --until-growth 3M 1.dump
said "--until-growth without --watch" 2 "go2heapsnapshot: --until-growth goes with --watch" "$hint"
run go2heapsnapshot --keep kept 1.dump
said "--keep without --watch" 2 "go2heapsnapshot: --keep goes with --watch" "$hint"
for redact in --redact --redact-key=1.dump; do
	run go2heapsnapshot --watch 1s --keep kept $redact --pid 1
	said "--keep and $redact" 2 "go2heapsnapshot: --keep keeps dumps, which have what --redact hides" "$hint"
done
run go2heapsnapshot --watch 1s --keep kept --pid 2147483647
check "--keep of no process: fails, and leaves no directory" eval '[ "$status" -eq 1 ] && [ ! -e kept ]'
for format in heapsnapshot pprof dump; do
	run go2heapsnapshot --watch 1s --pid 1 --format $format
	said "--watch --format $format" 2 "go2heapsnapshot: --watch prints a report of its own: it does not go with --format $format" "$hint"
done
run go2heapsnapshot --watch 1s --pid 1 --format html
said "--watch --format html without a file" 2 "go2heapsnapshot: the page of --watch is written anew with each snapshot: -o app.html" "$hint"
run go2heapsnapshot --watch 1s --pid 1 --format html -z -o app.html
said "--watch --format html -z" 2 "go2heapsnapshot: the page of --watch is not compressed: it does not go with -z" "$hint"
for other in base path-to show; do
	run go2heapsnapshot --watch 1s --pid 1 --$other 1.dump
	said "--watch --$other" 2 "go2heapsnapshot: --watch does not go with --$other" "$hint"
done
run go2heapsnapshot --watch 1s --pid 2147483647
check "--watch of no process: fails" [ "$status" -eq 1 ]
wrote_nothing "--watch of no process: nothing on stdout"
run go2heapsnapshot --watch 1s --pid 2147483647 -o report
check "--watch of no process: no file" eval '[ "$status" -eq 1 ] && [ ! -e report ]'

# ---- the output of a command ----

cat >next <<'END'
n=$(($(cat number 2>/dev/null || echo 0) + 1))
echo $n >number
[ $n -le 2 ] && exec cat $n.dump
[ $n -le 3 ] && exec cat 2.dump
echo first >&2
echo 'no pod' >&2
exit 7
END
run go2heapsnapshot --exe app --watch 1s --count 3 --command 'sh next'
check "--command: exit status 0, for so few heaps tell nothing" [ "$status" -eq 0 ]
check "--command: a line per heap, which did not stand still as far as is known" eval \
	'[ "$(grep -c "reachable, .* objects, 95 goroutines$\|reachable, .* goroutines$" err)" -eq 3 ] && ! grep -q "paused for" err'
check "--command: the report names the command" grep -q '^3 heaps in .* of sh next$' out
run go2heapsnapshot --exe app --watch 1s --count 3 --command 'sh next'
said "--command that fails" 1 "go2heapsnapshot: 'sh next' failed with status 7: no pod"
run go2heapsnapshot --watch 1s --count 3 --command true
said "--command that prints nothing" 1 \
	"go2heapsnapshot: the output of --command 'true': is empty (was the disk full, or did the program end while it dumped?)"
rm number
run go2heapsnapshot --exe app --watch 1s --count 3 --command 'sh next' --format html -o page.html
check "--command --format html: a page with trends, and the report on standard error" eval \
	'[ "$status" -eq 0 ] && grep -q "^3 heaps in " err && grep -q "\"series\"" page.html'

# A dump of another program fits neither the executable nor the series: it is kept, though it cannot be converted.
rm -f number
cat >next <<'END'
n=$(($(cat number 2>/dev/null || echo 0) + 1))
echo $n >number
[ $n -le 1 ] && exec cat 1.dump
exec cat other.dump
END
dump go1.26-386.2 other.dump
run go2heapsnapshot --exe app --watch 1s --count 9 --keep kept --command 'sh next'
check "three failures in a row: exit status 1, and a report of what there was" eval \
	'[ "$status" -eq 1 ] && grep -qx "go2heapsnapshot: 3 snapshots in a row have failed, which ends the watch" err && grep -q "^1 heap of sh next$" out'
check "--keep: dumps that are not converted" eval 'gzip -dc kept/first.dump.gz | cmp - 1.dump && gzip -dc kept/last.dump.gz | cmp - other.dump'
check "--keep: these two files" [ "$(ls kept)" = "$(printf 'first.dump.gz\nlast.dump.gz')" ]

# While the first snapshot cannot be converted, as its line does not fit into a pipe that nobody reads, the second one is taken and
# waits, and a third one is missed.
rm -rf number kept
mkfifo lines
exec 3<>lines
dd if=/dev/zero of=lines bs=4096 oflag=nonblock 2>wrong
cat >next <<'END'
n=$(($(cat number 2>/dev/null || echo 0) + 1))
echo $n >number
[ $n -le 1 ] && exec cat 1.dump
exec cat 2.dump
END
# await_line PATTERN: waits until a line of err matches.
await_line() {
	local i
	for ((i = 0; i < patience; i++)); do
		grep -q "$1" err && return
		sleep 0.05
	done
	return 1
}
go2heapsnapshot --exe app --watch 1s --count 3 --json --keep kept --command 'sh next' >lines 2>err 3>&- &
watcher=$!
check "a conversion that takes long: a missed snapshot is said" await_line \
	'^go2heapsnapshot: note: a snapshot was missed: the one before took longer than 1 s$'
check "a conversion that takes long: one more snapshot was taken beside it, and waits" eval '[ "$(cat number)" -eq 2 ] && [ "$(ls kept)" = first.dump.gz ]'
tr -d '\0' <lines >all 3>&- &
reader=$!
exec 3>&-
status=0
wait $watcher || status=$?
wait $reader
check "a conversion that takes long: then all goes on" eval '[ "$status" -eq 0 ] && [ "$(wc -l <all)" -eq 4 ] && [ "$(cat number)" -eq 3 ]'
check "a conversion that takes long: once it is said how long, and which interval would do" [ "$(grep -cx \
	'go2heapsnapshot: note: a snapshot takes [1-9][0-9]* s here: use --watch [1-9][0-9]*s' err)" -eq 1 ]
check "a conversion that takes long: missed snapshots are said once, and counted at the end" eval \
	'[ "$(grep -c "snapshot was missed: the one" err)" -eq 1 ] && grep -qE "note: [1-9][0-9]* snapshots? w(as|ere) missed$" err'
check "a conversion that takes long: the last dump" eval 'gzip -dc kept/last.dump.gz | cmp - 2.dump'

# The dump of a snapshot is written before anything else is done with it.
rm -rf number kept
exec 3<>lines
go2heapsnapshot --exe app --watch 1s --json --keep kept --command 'sh next' >lines 2>err 3>&- &
watcher=$!
head -n 1 <&3 >all
await_file kept/last.dump
kill -s KILL $watcher
wait $watcher 2>/dev/null
exec 3>&-
check "--keep, killed: both dumps are there" eval 'gzip -dc kept/first.dump.gz | cmp - 1.dump && cmp kept/last.dump 2.dump'

# ---- saved dumps ----

touch -d '2026-11-26 07:00:00' 1.dump
touch -d '2026-11-26 07:01:00' 2.dump
for n in 3 4 5 6; do
	cp 2.dump $n.dump
	touch -d "2026-11-26 07:0$((n - 1)):00" $n.dump
done
run go2heapsnapshot --exe app --format report 1.dump 2.dump 3.dump 4.dump 5.dump 6.dump
said "six dumps: nothing to say on stderr" 0
check "six dumps: the first line" [ "$(head -n 1 out)" = "6 heaps in 5 min, from 1.dump to 6.dump" ]
check "six dumps: what has grown has stopped, at the second" eval 'grep -q "^GREW, AND HAS STOPPED GROWING" out && grep -A 1 "main.Watcher$" out | grep -q " since 07:01:00$"'
check "six dumps: nothing grew in every interval" eval 'grep -qx "Nothing grew in every interval." out && ! grep -q "^GREW IN EVERY" out'
mv out six
run go2heapsnapshot --exe app --format report -j 1 1.dump 2.dump 3.dump 4.dump 5.dump 6.dump
wrote "-j 1: the same bytes" six
run go2heapsnapshot --exe app --format report -z 1.dump 2.dump 3.dump 4.dump 5.dump 6.dump
check "-z: the same bytes" cmp six <(gzip -dc out)
run go2heapsnapshot --exe app --format report --garbage 1.dump 2.dump 3.dump 4.dump 5.dump 6.dump
wrote "--garbage: the same, for garbage never counts" six
run go2heapsnapshot --exe app --format report --json 1.dump 2.dump 3.dump 4.dump 5.dump 6.dump
check "--json: one line" [ "$(wc -l <out)" -eq 1 ]
check "--json: the same" "${NODE:-node}" -e '
	const trend = JSON.parse(require("fs").readFileSync("out", "utf8"));
	const watchers = trend.stopped.find((found) => found.place.at(-1) === "main.Watcher");
	process.exitCode = trend.heaps.length === 6 && trend.elapsed_ms === 300000 && trend.steady.length === 0 && watchers.since === 1 &&
		watchers.count.length === 6 && watchers.count_grown === watchers.count[5] - watchers.count[0] ? 0 : 1;'
touch 3.dump
run go2heapsnapshot --exe app --format report 1.dump 2.dump 3.dump 4.dump
check "times that are not in order: none is said" eval '[ "$(head -n 1 out)" = "4 heaps, from 1.dump to 4.dump" ] && grep -A 1 "main.Watcher$" out | grep -q " since 2.dump$"'
run go2heapsnapshot --format report 1.dump 2.dump
said "two dumps" 2 "go2heapsnapshot: two dumps show no trend: --base 1.dump compares them, three or more show how the heap goes on" "$hint"
run go2heapsnapshot --format report --base 1.dump 2.dump 3.dump 4.dump
said "--base" 2 "go2heapsnapshot: a report of several dumps compares them all: give that of --base as the first one" "$hint"
# shellcheck disable=SC2046 # many words
run go2heapsnapshot --format report $(for _ in $(seq 201); do echo 1.dump; done)
said "too many" 2 "go2heapsnapshot: --format report shows trends over 200 dumps at most" "$hint"
run go2heapsnapshot --format report 1.dump - 2.dump
said "standard input" 2 "go2heapsnapshot: standard input cannot be one of several dumps"
run go2heapsnapshot --exe app --format report -o reports 1.dump 2.dump 3.dump
check "-o: a report of each, as before" eval '[ "$status" -eq 0 ] && grep -q "WHO HOLDS THE MEMORY" reports/3.txt'
run go2heapsnapshot --exe app --format report --path-to main.Session 1.dump 2.dump 3.dump
check "--path-to: is of one dump" [ "$status" -eq 2 ]
head -c 600000 2.dump >cut.dump
run go2heapsnapshot --format report 1.dump 2.dump cut.dump
check "a cut dump: exit status 3, and a report" eval '[ "$status" -eq 3 ] && grep -q "^3 heaps" out'
run go2heapsnapshot --format report 1.dump 2.dump nothing.dump
check "a dump that is not there: fails, and writes nothing" eval '[ "$status" -eq 1 ] && [ ! -s out ]'
run go2heapsnapshot --exe app --redact --format report 1.dump 2.dump 3.dump
check "--redact: a report without texts" eval '[ "$status" -eq 0 ] && ! grep -qi "alice\|password" out'
if [ -e /dev/full ]; then
	run bash -c 'go2heapsnapshot --exe app --format report 1.dump 2.dump 3.dump >/dev/full'
	check "a full disk: an error" [ "$status" -eq 1 ]
fi

finish
