# shellcheck shell=bash
# Tests what is different on a terminal.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

dump go1.3.3-386.1 good.dump
go2heapsnapshot good.dump >good.heapsnapshot || exit 2
clear=$'\r\033[K'

if ! SHELL=/bin/sh script -qec true /dev/null </dev/null >/dev/null 2>&1; then
	skip "on a terminal" "script (util-linux) does not work here"
	finish
fi

note='go2heapsnapshot: note: a terminal gets a report; -o app.heapsnapshot writes a snapshot'
on_terminal 'go2heapsnapshot good.dump 2>err'
said "a terminal as stdout gets a report, and a line that says so" 0 "$note"
check "a terminal as stdout: the report" grep -q 'WHO HOLDS THE MEMORY' shown
on_terminal 'go2heapsnapshot --format heapsnapshot good.dump 2>err'
said "a terminal as stdout is refused for other formats" 2 \
	"go2heapsnapshot: a terminal cannot show the format heapsnapshot; write it to a file:" \
	"  go2heapsnapshot good.dump -o app.heapsnapshot"
equal "a terminal as stdout: nothing is shown" "$(cat shown)" ""
cp good.dump "it's one.dump"
cp good.dump ./-x
for options in '-z' '--numbers=main.T' '--by=alloc' '--max-nodes 2K -j 2' "--redact --format=pprof --names full" '--format=hprof -z'; do
	for file in good.dump "'it'\\''s one.dump'" '-- -x'; do
		on_terminal "go2heapsnapshot $options $file 2>err"
		check "a terminal as stdout is refused with $options" [ "$status" -eq 2 ]
		sed -n 's/^  //p' err >hint
		check "$options $file: the hint is one line" [ "$(wc -l <hint)" -eq 1 ]
		run bash hint
		# Numbers need types, a profile of allocations needs samples.
		check "$options $file: its command has no mistake" [ "$status" -le "$([[ $options =~ numbers|alloc ]] && echo 1 || echo 0)" ]
	done
done
on_terminal 'go2heapsnapshot --help'
equal "--help is shown on a terminal" "$(tr -d '\r' <shown)" "$(expected_help)"

on_terminal 'go2heapsnapshot good.dump >out'
equal "a terminal as stderr: exit 0" "$status" 0
wrote "a terminal as stderr: the same bytes" good.heapsnapshot
shown=$(cat shown)
# How much has been read when progress is first shown depends on the machine.
equal "a terminal as stderr: begins with progress" "$(sed -E 's/[0-9]+ %, [0-9]+/N %, N/; s/ +/ /g' <<<"${shown:0:23}")" \
	"${clear}reading N %, N MB"
equal "a terminal as stderr: ends with a clean line" "${shown: -4}" "$clear"
check "a terminal as stderr: one line, written over" [ "$(wc -l <shown)" -eq 0 ]
on_terminal 'go2heapsnapshot -o file.heapsnapshot good.dump'
equal "a terminal as stdout, but -o: exit 0" "$status" 0
check "a terminal as stdout, but -o: the same bytes" cmp file.heapsnapshot good.heapsnapshot
on_terminal 'go2heapsnapshot missing.dump >out'
equal "an error on a terminal has no progress before it" "$(tr -d '\r' <shown)" \
	"go2heapsnapshot: missing.dump: cannot open: No such file or directory"
on_terminal 'cat good.dump | head -c 2000000 | go2heapsnapshot - >out'
equal "a warning on a terminal: exit 3" "$status" 3
check "a warning on a terminal begins a line of its own" grep -qF "${clear}go2heapsnapshot: warning: standard input: " shown
on_terminal 'go2heapsnapshot good.dump >out 2>err'
check "no terminal as stderr: no progress" [ ! -s err ]

# A report is as wide as the terminal, and what a reader looks for stands out by its colour.
report='go2heapsnapshot --format report good.dump 2>err'
plain=$(COLUMNS=80 go2heapsnapshot --format report good.dump 2>err)
unset COLUMNS NO_COLOR
escape=$'\033['
TERM=xterm on_terminal "stty cols 80; $report"
check "a report on a terminal: what stands out has a colour" grep -qF "${escape}36mWHO HOLDS THE MEMORY${escape}m" shown
equal "a report on a terminal: as wide as that, and the same text" "$(tr -d '\r' <shown | sed 's/\x1b\[[0-9]*m//g')" "$plain"
count() { grep -oF "${escape}$1" shown | wc -l; }
equal "a report on a terminal: each colour ends" "$(count 36m)" "$(count m)"
TERM=xterm on_terminal "stty cols 200; COLUMNS=80 $report"
equal "COLUMNS goes before the terminal's width" "$(tr -d '\r' <shown | sed 's/\x1b\[[0-9]*m//g')" "$plain"
for none in NO_COLOR=1 TERM=dumb TERM=; do
	TERM=xterm on_terminal "stty cols 80; $none $report"
	equal "a report on a terminal, $none: no colour" "$(tr -d '\r' <shown)" "$plain"
done
TERM=xterm on_terminal "stty cols 80; NO_COLOR= $report"
check "NO_COLOR that is empty says nothing" grep -qF "$escape" shown
TERM=xterm on_terminal "stty cols 80; go2heapsnapshot --format report --json good.dump 2>err"
check "JSON has no colour" grep -qF '"version":1' shown
check "JSON has no escape" [ "$(grep -cF "$escape" shown)" -eq 0 ]
TERM=xterm on_terminal "stty cols 80; go2heapsnapshot --format report -o report.txt good.dump 2>err"
check "what goes to a file has no colour" [ "$(grep -cF "$escape" report.txt)" -eq 0 ]
TERM=xterm on_terminal "stty cols 80; $report | cat"
equal "what goes to a pipe has no colour, and its usual width" "$(tr -d '\r' <shown)" "$(go2heapsnapshot --format report good.dump 2>err)"

finish
