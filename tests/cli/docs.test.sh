# shellcheck shell=bash
# Tests the commands and the code that the documentation tells the reader to type.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

# Wherever a dump is fetched: without -f, curl would save the server's error message in place of the dump.
check "curl has -f wherever it fetches a dump" [ -z "$(cd "$top" && grep -n 'curl .*/debug/heapdump' README.md docs/*.1 docs/*.md \
	samples/README.md samples/leakserver/main.go | grep -v -- ' -f ')" ]

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
	*--watch* | *--at-death*) # no dump stands for a process that goes on: there must be none, and nothing else be wrong
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

# Compiles the program of samples/README.md, unchanged, in a module of its own, which gets the handler as any other module: from a
# proxy, here a directory. A second program only imports it.
mkdir -p module/dumps module/imports proxy
cp -r "$top/samples/heapdump" proxy/heapdump@v0.1.0
sed -n '/^```go$/,/^```$/p' "$top/samples/README.md" | sed '/^```/d' >module/dumps/dumps.go
printf 'package main\n\nfunc main() {\n\tgo serveDumps()\n\tselect {}\n}\n' >module/dumps/main.go
printf 'package main\n\nimport (\n\t"net/http"\n\t_ "net/http/pprof"\n\n\t_ "go2heapsnapshot.invalid/heapdump"\n)\n\nfunc main() { http.ListenAndServe("localhost:6060", nil) }\n' >module/imports/main.go
printf 'module app\n\ngo 1.19\n' >module/go.mod
published=proxy/go2heapsnapshot.invalid/heapdump/@v
mkdir -p $published proxy/go2heapsnapshot.invalid
mv proxy/heapdump@v0.1.0 proxy/go2heapsnapshot.invalid/
echo v0.1.0 >$published/list
echo '{"Version": "v0.1.0"}' >$published/v0.1.0.info
cp "$top/samples/heapdump/go.mod" $published/v0.1.0.mod
if go=$("$top/tools/setup" go-current 2>/dev/null)/bin/go && command -v jar >/dev/null; then
	(cd proxy && jar --create --no-manifest --file=../v0.1.0.zip go2heapsnapshot.invalid/heapdump@v0.1.0) && mv v0.1.0.zip $published
	of_proxy=(env -C module GOTOOLCHAIN=local GOFLAGS=-modcacherw GOPROXY="file://$PWD/proxy" GONOSUMDB='*' GOMODCACHE="$PWD/modules")
	check "go get takes the handler" "${of_proxy[@]}" "$go" get go2heapsnapshot.invalid/heapdump@v0.1.0
	check "the handler of samples/README.md compiles as it stands" "${of_proxy[@]}" "$go" build -o app ./dumps
	check "and is formatted as gofmt does" [ -z "$("${go%/*}/gofmt" -l module/dumps/dumps.go 2>&1)" ]
	check "and by import alone, as net/http/pprof does" "${of_proxy[@]}" "$go" vet ./imports
	check "the module is content with go vet" env -C "$top/samples/heapdump" GOFLAGS= "$go" vet ./...
else
	skip "the handler of samples/README.md compiles" "no Go, or no jar to pack it"
fi

finish
