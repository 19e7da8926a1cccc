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
check "a report is short" [ "$(grep -c CLASSES shown)" -eq 0 ]
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

on_terminal 'go2heapsnapshot --untyped-ok good.dump >out'
equal "a terminal as stderr: exit 0" "$status" 0
wrote "a terminal as stderr: the same bytes" good.heapsnapshot
shown=$(cat shown)
# How much has been read when progress is first shown depends on the machine.
equal "a terminal as stderr: begins with progress" "$(sed -E 's/ +[0-9]+ %, [0-9]+/ N %, N/' <<<"${shown:0:37}")" \
	"${clear}reading, step 1 of 3, N %, N MB"
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
report='go2heapsnapshot --format report --full good.dump 2>err'
plain=$(COLUMNS=400 go2heapsnapshot --format report good.dump 2>err)
unset COLUMNS NO_COLOR
escape=$'\033['
TERM=xterm on_terminal "stty cols 400; $report"
check "a report on a terminal: what stands out is bold" grep -qF "${escape}1mWHO HOLDS THE MEMORY${escape}m" shown
equal "a report on a terminal: as wide as that, and the same text" "$(tr -d '\r' <shown | sed 's/\x1b\[[0-9]*m//g')" "$plain"
count() { grep -oF "${escape}$1" shown | wc -l; }
equal "a report on a terminal: what is bold ends" "$(count 1m)" "$(count m)"
TERM=xterm on_terminal "stty cols 80; COLUMNS=400 $report"
equal "COLUMNS goes before the terminal's width" "$(tr -d '\r' <shown | sed 's/\x1b\[[0-9]*m//g')" "$plain"
for none in NO_COLOR=1 TERM=dumb TERM=; do
	TERM=xterm on_terminal "stty cols 400; $none $report"
	equal "a report on a terminal, $none: no colour" "$(tr -d '\r' <shown)" "$plain"
done
TERM=xterm on_terminal "stty cols 80; NO_COLOR= $report"
check "NO_COLOR that is empty says nothing" grep -qF "$escape" shown
TERM=xterm on_terminal "stty cols 80; go2heapsnapshot --format report --json good.dump 2>err"
check "JSON has no colour" grep -qF '"version":2' shown
check "JSON has no escape" [ "$(grep -cF "$escape" shown)" -eq 0 ]
TERM=xterm on_terminal "stty cols 80; go2heapsnapshot --format report -o report.txt good.dump 2>err"
check "what goes to a file has no colour" [ "$(grep -cF "$escape" report.txt)" -eq 0 ]
TERM=xterm on_terminal "stty cols 80; go2heapsnapshot --format report good.dump 2>err | cat"
equal "what goes to a pipe has no colour, and its usual width" "$(tr -d '\r' <shown)" "$(go2heapsnapshot --format report good.dump 2>err)"

# Progress goes through all phases, and is gone before the report.
on_terminal 'TERM=dumb go2heapsnapshot good.dump'
tr '\r' '\n' <shown | sed -n 's/^\x1b\[K\([a-z]*\).*/\1/p' | uniq >phases
equal "progress: its phases" "$(grep -x -e types -e graph -e report phases | paste -sd' ')" "types graph report"
# The percentage is that of the whole: it never falls, and reading is not most of it.
tr '\r' '\n' <shown | sed -n 's/.*, step [0-9] of [0-9], *\([0-9]*\) %.*/\1/p' >shares
check "progress: how much of the whole is done" [ -s shares ]
check "progress: it never falls" sort -nc shares
check "progress: a report is not almost done when the dump has been read" [ "$(tr '\r' '\n' <shown | sed -n 's/.*graph, step 2 of 3, *\([0-9]*\) %.*/\1/p')" -le 10 ]
check "progress is cleared before the report" grep -qF "${clear}good.dump " shown
check "a dump without --exe: says once that an executable has the types" [ "$(grep -c 'the executable that wrote it has them: --exe app' shown)" -eq 1 ]
on_terminal 'TERM=dumb go2heapsnapshot --untyped-ok good.dump'
check "--untyped-ok: says nothing of types" [ "$(grep -c 'has no types' shown)" -eq 0 ]

# A pager gets the report, and none if there is none.
cat >pager <<-'END'
	#!/bin/sh
	echo "LESS=$LESS"
	cat
	sleep 0
END
chmod +x pager
on_terminal 'PAGER="./pager" TERM=xterm NO_COLOR=1 go2heapsnapshot good.dump 2>err'
equal "PAGER shows the report" "$(tr -d '\r' <shown | head -n 1)" "LESS=FRX"
check "PAGER shows the report: all of it" grep -q '^NEXT' shown
on_terminal 'LESS=R PAGER=./pager TERM=xterm go2heapsnapshot good.dump 2>err'
equal "LESS of the user stays" "$(tr -d '\r' <shown | head -n 1)" "LESS=R"
for none in PAGER= PAGER=cat PAGER=./missing "TERM=dumb PAGER=./pager"; do
	on_terminal "TERM=xterm; export TERM; $none NO_COLOR=1 go2heapsnapshot good.dump 2>err"
	check "$none: the report is shown" grep -q '^NEXT' shown
	check "$none: without a pager" [ "$(grep -c '^LESS=' shown)" -eq 0 ]
	equal "$none: exit 0" "$status" 0
done
on_terminal 'PAGER=false TERM=xterm go2heapsnapshot good.dump 2>err'
equal "a pager that fails has been seen: exit 0" "$status" 0
on_terminal 'PAGER=./pager TERM=xterm go2heapsnapshot --path-to nothing.here good.dump 2>err'
check "an error is shown by no pager" [ "$status$(grep -c LESS= shown)" = 10 ]

# Commands at the end of a short report, each of which does what it says.
gunzip -c "$top/samples/leakserver.exe.gz" >'my app'
gunzip -c "$top/samples/leakserver.1.dump.gz" >1.dump
gunzip -c "$top/samples/leakserver.2.dump.gz" >2.dump
for options in "--exe 'my app' 2.dump" "-e 'my app' --base=1.dump 2.dump -j 2" "2.dump" "-r --exe 'my app' 2.dump" "--show main.Watcher --exe 'my app' 2.dump"; do
	on_terminal "stty cols 80; TERM=dumb go2heapsnapshot $options 2>err"
	tr -d '\r' <shown >report
	sed '1,/^NEXT$/d' report >next
	case $options in *--show*) equal "$options: is short already" "$(cat next)" ""; continue ;; esac
	check "$options: commands" [ "$(grep -c '^  go2heapsnapshot ' next)" -ge 3 ]
	check "$options: fits 80 columns" awk '/^NEXT/ { exit } { gsub(/[\200-\277]/, "") } length > 80 { wide = 1; print } END { exit wide }' report
	while IFS= read -r command; do
		rm -f page.html
		check "runs: $command" bash -c "$command"
	done <next
	check "$options: the last command writes a page" [ -s page.html ]
done
grep -q -- '--show' next || on_terminal "TERM=dumb go2heapsnapshot --exe 'my app' 2.dump 2>err"
check "a typed report: --show of what holds the memory" grep -q -- "^  go2heapsnapshot --exe 'my app' 2.dump --show " shown
check "a typed report: --path-to of what there is most of" grep -q -- "^  go2heapsnapshot --exe 'my app' 2.dump --path-to main.Watcher" shown
on_terminal 'TERM=dumb go2heapsnapshot - <good.dump 2>err'
check "standard input cannot be read again: no commands" [ "$(grep -c '^NEXT' shown)" -eq 0 ]

# No screen is wider than its terminal, whatever it is about; columns are as wide as their content.
sample="--exe 'my app' 2.dump"
screens=("$sample" "--full $sample" "--base 1.dump --full $sample" "--path-to main.Watcher $sample" "--path-to main.previews $sample"
	"--path-to main.ask $sample" "--show main.Watcher $sample" "--show 'previews.byName[\"globe, 359 wide\"].Auction' $sample"
	"--show main.previews.byName $sample" "--show main $sample" "--exe 'my app' 1.dump 2.dump 2.dump" "--watch 1s --count 2 --command 'cat 1.dump'")
for columns in 80 100 200; do
	for screen in "${screens[@]}"; do
		on_terminal "stty cols $columns; TERM=dumb go2heapsnapshot $screen 2>err"
		tr -d '\r' <shown | sed '/^NEXT$/,$d' | grep -v "^$(pwd)" >report
		check "$columns columns: $screen: has lines" [ "$(wc -l <report)" -ge 4 ]
		awk -v most="$columns" '{ gsub(/[\200-\277]/, "") } length > most' report >wrong
		result "$([ -s wrong ] && echo 1 || echo 0)" "$columns columns: $screen: no line is wider"
	done
	on_terminal "stty cols $columns; TERM=dumb go2heapsnapshot --path-to main.Watcher $sample 2>err"
	check "$columns columns: a step is one row" grep -Eq '^  watchers  +map\[uint64\]\*main.Watcher  +.* 179 kB.?$' shown
	check "$columns columns: the column of steps is as wide as its longest" grep -Eq '^  \["globe, 359 wide"\]   main.Preview ' shown
done
on_terminal "stty cols 80; TERM=dumb go2heapsnapshot --path-to main.Watcher $sample 2>err"
check "80 columns: addresses go first" [ "$(sed -n '/^STEPS/,/^HELD/p' shown | grep -c 0x)" -eq 0 ]
on_terminal "stty cols 80; TERM=dumb go2heapsnapshot $sample 2>err"
check "80 columns: a long location has a line of its own" grep -q '^  \[IO wait\] http.(\*Server).Serve server.go:3578 ← main.run.func1.\?$' shown
check "80 columns: of a location that is too long for a line, the function that the goroutine runs is cut" \
	grep -q '^  \[IO wait\] http.(\*persistConn).Read transport.go:2300 ← ….*readLoop.\?$' shown

# --top bounds lists, of text and of JSON.
go2heapsnapshot --full --top 2 --exe 'my app' 2.dump >two.txt 2>err
equal "--top: rows of a table" "$(sed -n '/^CLASSES/,/^$/p' two.txt | grep -c '^  [^ ]*.*  .*[0-9]')" 2
go2heapsnapshot --json --top 2 --exe 'my app' 2.dump >two.json 2>err
check "--top: JSON is short" [ "$(wc -c <two.json)" -lt 8000 ]
check "--top: JSON says so" grep -q '^"top":2,' two.json
for top in 0 x -1; do
	run go2heapsnapshot --top=$top good.dump
	check "--top=$top: wrong usage" [ "$status" -eq 2 ]
done

finish
