# shellcheck shell=bash
# Tests that an agent, which knows of --mcp only the list of its tools, finds each leak of programs in at most eight calls: agent.mjs.
# tests/mcp does the same with the official clients, for more kinds of leaks.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

# agent NAME ARGUMENT...: runs the agent.
agent() {
	name=$1
	shift
	node "$here/agent.mjs" "$(command -v go2heapsnapshot)" "$@" >found 2>err
	status=$?
	cat found err >wrong
	check "$name: the agent comes to its end" [ $status -eq 0 ]
	check "$name: at most eight calls for a leak" eval '! grep -vE "^[1-8] calls " found'
}
# finds WHAT HOLDER: tests that a leak is found as this class or place, with this holder, each a pattern.
finds() { check "$name: $1" grep -qE "^[0-9]+ calls \| $1 \| $2" found; }

of=("--exe" "$top/samples/leakserver.exe.gz")
agent "the sample server, what grew" "${of[@]}" --values --base "$top/samples/leakserver.1.dump.gz" "$top/samples/leakserver.2.dump.gz"
finds 'main\.Watcher' 'main\.previews\.byName\[".*"\]\.Auction\.watchers'
finds 'goroutines \[chan send\] main\.ask main\.go:178' 'go statement in main\.\(\*Server\)\.value main\.go:166 \| chan \*main\.Valuation \| 80 leaked'
finds 'main\.Preview' 'main\.previews\.byName$'
agent 'the sample server, one heap' "${of[@]}" "$top/samples/leakserver.2.dump.gz"
finds 'main\.Watcher' 'main\.previews\.byName\[".*"\]\.Auction\.watchers'
finds 'goroutines \[chan send\] main\.ask main\.go:178' 'go statement in main\.\(\*Server\)\.value main\.go:166'

inputs=$top/tests/golden/inputs
for input in go1.27-dwarf go1.22-stripped; do # the second one has an answer of 4,005 bytes unless lists are cut again
	agent $input --exe "$inputs/$input.exe.gz" --base "$inputs/$input.1.dump.gz" "$inputs/$input.2.dump.gz"
	finds 'goroutines \[chan send\] main\.bWorker goroutines\.go:48' 'go statement in main\.startB goroutines\.go:53'
	case $input in
	*-dwarf)
		finds 'main\.bTicket' 'main\.bOpen$'
		finds 'main\.bTicket' 'main\.bLast$'
		;;
	*)
		finds 'main\.bTicket' 'the global used by main\.leak '
		finds 'main\.bTicket' 'the global set by main\.leak '
		;;
	esac
done
finish
