# shellcheck shell=bash
# Tests what goes with --inspect, and how it begins and ends. tests/inspect tests what it serves.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

hint="Try 'go2heapsnapshot --help'."
gzip -dc "$top/samples/leakserver.exe.gz" >app
for n in 1 2; do gzip -dc "$top/samples/leakserver.$n.dump.gz" >$n.dump; done

for address in x -1 65536 127.0.0.1 :80 1.2.3:80 example.com:80 '[::1]' 127.0.0.1:99999; do
	run go2heapsnapshot "--inspect=$address" 1.dump
	said "--inspect=$address" 2 "go2heapsnapshot: --inspect takes a port or an address and a port, 9230 or 127.0.0.1:9230, not '$address'" "$hint"
done
for other in --format=report --output=x --gzip --base=2.dump --watch=1s --path-to=x --show=x --json; do
	run go2heapsnapshot --inspect=0 --pid 1 "$other"
	check "--inspect $other: exit status 2" [ "$status" -eq 2 ]
done
run go2heapsnapshot --inspect=0
said "--inspect of nothing" 2 "go2heapsnapshot: no dump given: name a heap dump or core file, or a process by --pid" "$hint"
run go2heapsnapshot --command cat 1.dump
said "--command alone" 2 "go2heapsnapshot: --command goes with --inspect or --watch" "$hint"
run go2heapsnapshot --inspect --command cat --pid 1
said "--command and --pid" 2 "go2heapsnapshot: --command takes the place of --pid" "$hint"
run go2heapsnapshot --inspect --command cat 1.dump
said "--command and a dump" 2 "go2heapsnapshot: --command takes the place of a dump, so '1.dump' is one too many" "$hint"
run go2heapsnapshot --source . 1.dump
said "--source alone" 2 "go2heapsnapshot: --source goes with --inspect" "$hint"
run go2heapsnapshot --inspect=0 nothing.dump
said "a dump that is not there" 1 "go2heapsnapshot: nothing.dump: No such file or directory"
run go2heapsnapshot --inspect=0 --pid 2147483647
check "a process that is not there" [ "$status" -eq 1 ]
wrote_nothing "nothing goes to standard output"

# begin ARGUMENT...: begins to serve, with what is said in the file said.
begin() {
	: >said
	go2heapsnapshot "$@" >said.out 2>said &
	server=$!
	until grep -q 'devtools://' said || ! kill -0 $server 2>kill.err; do sleep 0.05; done
}

for signal in INT TERM; do
	begin --inspect=0 --exe app 1.dump 2.dump
	kill -s $signal $server
	check "SIG$signal ends it: exit status 0" wait $server
	check "SIG$signal: the first line says what waits" grep -qx 'go2heapsnapshot: app waits for DevTools: chrome://inspect, or in Chrome.s address bar' said
done
begin --inspect=0 --exe app 1.dump
port=$(sed -n 's/.*ws=127.0.0.1:\([0-9]*\).*/\1/p' said)
run go2heapsnapshot "--inspect=$port" --exe app 1.dump
check "a port that is taken: fails, and says so" eval '[ "$status" -eq 1 ] && grep -q "$port" err'
kill $server
wait $server
deep=$(printf 'd%.0s' {1..130})
mkdir -p "$deep/$deep"
mv 2.dump "$deep/$deep/long.dump"
begin --inspect=0 "$deep/$deep/long.dump"
kill $server
wait $server
check "a dump whose path is long: has its own name" grep -q '^go2heapsnapshot: long.dump waits for DevTools' said
begin --inspect=0.0.0.0:0 --exe app 1.dump
kill $server
wait $server
check "an address that others can reach: a warning" grep -q '^go2heapsnapshot: warning: whoever can reach this address' said
# Who reads that it waits may end it at once: until then nothing is printed.
statuses=
for round in {1..12}; do
	mkfifo "line.$round"
	go2heapsnapshot --inspect=0 --exe app 1.dump 2>"line.$round" &
	read -r line <"line.$round"
	kill $!
	wait $!
	statuses+="$? "
done
equal "ended by what says that it waits: exit status 0" "$statuses" "$(printf '0 %.0s' {1..12})"
finish
