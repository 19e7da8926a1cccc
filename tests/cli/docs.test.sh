# shellcheck shell=bash
# Tests the commands and the code that the documentation tells the reader to type.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

# Wherever a dump is fetched: without -f, curl would save the server's error message in place of the dump.
check "curl has -f wherever it fetches a dump" [ -z "$(cd "$top" && grep -n 'curl .*/debug/heapdump' README.md docs/*.1 docs/*.md \
	samples/README.md samples/leakserver/main.go | grep -v -- ' -f ')" ]

check "links lead to files and headings" "${NODE:-node}" "$here/links.mjs" "$top"

# Each key of the report's templates (output/report/page.h) is in the pages that define the JSON.
undefined_keys() {
	grep -ohE '"[^"]*"' "$top"/src/output/report/*.c | grep -oE '\{[a-z_]+\}|\[[a-z_]+\]|<[a-z_]+>' | tr -d '[]{}<>' | sort -u >keys
	[ "$(wc -l <keys)" -ge 200 ] || echo 'few keys were found'
	while IFS= read -r key; do
		grep -qE "[\`.]$key(\[\])?\`" "$top"/docs/report-json.md "$top"/docs/show.md "$top"/docs/watch.md || echo "$key"
	done <keys
}
equal "the pages define each key of the report's JSON" "$(undefined_keys)" ''

# Runs each command of the pages that begins with the program's name. The samples stand for the files: app, app.dump, 1.dump ….
# A dump stands for a process or a core, too, which tests/process tests; an object of it for the address.
gunzip -c "$top/samples/leakserver.exe.gz" >app
for i in 1 2; do
	gunzip -c "$top/samples/leakserver.$i.dump.gz" >$i.dump
	cp "$top/samples/leakserver.$i.dump.gz" $i.dump.gz
done
ln 1.dump first.dump && ln 2.dump app.dump && ln 2.dump.gz app.dump.gz && ln 2.dump core.1234 && ln 2.dump 3.dump
find "$top/README.md" "$top"/docs/*.md -exec sed -n '/^```sh$/,/^```$/s/^\(go2heapsnapshot .*\)/\1/p' {} + |
	grep -v -e '--by alloc' | sort -u >commands # the samples' server does not sample its allocations
check "the pages have commands" [ "$(grep -c . commands)" -ge 20 ]
while IFS= read -r command; do
	command=${command%%  *#*}
	ran=$(echo "$command" | sed 's/ --fork//; s/--pid 1234/app.dump/; s/0xc000123450/0x3374cc1b81b0/; s/core\.1234 >/core.1234 --exe app >/; s/ | jq .*//')
	case $command in
	*--inspect*) # it serves until it is told to end; of a process, there must be none
		if [[ $command == *'--inspect --pid'* ]]; then
			check "$command" bash -c "${command/--pid 1234/--pid 2147483647} >said 2>&1; [ \$? -eq 1 ]"
			continue
		fi
		: >said
		bash -c "exec ${command/--inspect/--inspect=0}" >said 2>&1 &
		until grep -q 'waits for DevTools' said || ! kill -0 $! 2>kill.err; do sleep 0.05; done
		kill $!
		check "$command" wait $!
		continue ;;
	*--at-death*' -- '*) # the command that it starts stands for a server
		check "$command" bash -c "${command%%./server*}true >said 2>&1"
		continue ;;
	*--older*) # nobody has watched the process of the dump, and that is all that is wrong
		check "$command" bash -c "! $ran >said 2>&1 && grep -q 'not known how old objects are' said"
		continue ;;
	*--watch* | *--at-death* | *--ages*) # no dump stands for a process that goes on: there must be none, and nothing else be wrong
		check "$command" bash -c "${command/--pid 1234/--pid 2147483647} >said 2>&1; [ \$? -eq 1 ]"
		continue ;;
	esac
	rm -rf snapshots app.heapsnapshot
	check "$command" bash -c "$ran >said 2>&1"
done <commands

# Help, man page and completions cannot differ: the completions read --help, and the man page has its options, each with its letter and
# what it takes, and no others.
page=$top/docs/go2heapsnapshot.1
go2heapsnapshot --help | sed -nE 'h; s/^ {2,6}((-.), )?(--[a-z-]+)(\[?=?).*/\3 \2 \4/p; g; s/.*(-V), (--version):.*/\2 \1 /p' | sed 's/ *$//' | sort >of.help
sed -n '/^The options are:/,/^\.Sh ENVIRONMENT/p' "$page" | sed -nE 's/^\.It Fl ([A-Za-z]) (Ar [a-z]+ )?, Fl -([a-z-]+)( Ns (Op )?= ?.*)?$/--\3 -\1 \4/p; s/^\.It Fl -([a-z-]+)( Ns .*)?$/--\1 \2/p' |
	sed -E 's/ Ns Op = .*/ [=/; s/ Ns = .*/ =/; s/ +/ /g; s/ *$//' | sort >of.man
sed -E 's/ +/ /g' of.help | sort >of.help.sorted
equal "the man page has the options of --help" "$(cat of.man)" "$(cat of.help.sorted)"
# And both have those of the table that the command line is read by, with the letters there.
sed -n '/^static const struct known known/,/^};/p' "$top/src/cli/options.c" | sed -nE "s/^ +\{\"([a-z-]+)\"(, '(.)')?,.*/--\1 -\3/p" | sed 's/ -$//' | sort >of.table
equal "--help has the options of the table" "$(sed -E 's/ *\[?=?$//' of.help.sorted)" "$(cat of.table)"
check "the man page is found by: apropos leak" grep -q '^\.Nd .*leak' "$page"
for option in pid base path-to show watch at-death; do
	check "the man page has an example of --$option" grep -Eq "^\\$ .*go2heapsnapshot .*--$option" "$page"
done
# Each example is a command line that is understood: what is missing is the file or the process.
sed -n 's/^\$ \(sudo \)\{0,1\}\(go2heapsnapshot .*\)/\2/p' "$page" >commands.man
check "the man page has examples" [ "$(wc -l <commands.man)" -ge 10 ]
mkdir -p nothing
while IFS= read -r command; do
	[[ $command != *'--base 1.dump 2.dump' ]] || command+=' --format report' # what a terminal gets
	(cd nothing && bash -c "${command/--pid app/--pid 2147483647} >said 2>&1 </dev/null")
	check "the man page: $command" [ $? -le 1 ]
done < <(sed 's|/var/lib/dumps|.|; s|app\.\*\.dump|app.1.dump|' commands.man)

finish
