# shellcheck shell=bash
# Tests the format that the name of the output and the other options ask for, and what hints say of the command line.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

hint="Try 'go2heapsnapshot --help'."
dump go1.3.3-386.1 good.dump

# same NAME OPTIONS...: the file out.NAME has the bytes that the options write.
same() {
	local name=$1
	shift
	run go2heapsnapshot -o "out.$name" good.dump
	go2heapsnapshot "$@" -o expected.bin good.dump
	check "-o out.$name: $*" diff -r "out.$name" expected.bin
	rm -rf expected.bin "out.$name"
}
same heapsnapshot --format heapsnapshot
same heapsnapshot.gz --format heapsnapshot -z
same txt --format report
same txt.gz --format report -z
same json --format report --json
same json.gz --format report --json -z
same pb.gz --format pprof
same hprof --format hprof
same hprof.gz --format hprof -z
same csv --format csv
same csv/ --format csv
same dump --format dump
same unknown --format heapsnapshot
same gz --format heapsnapshot
run go2heapsnapshot -o out.html good.dump
check "-o out.html: a page" grep -qi '^<!doctype html' out.html
run go2heapsnapshot --format report -o out.json good.dump
check "--format report -o out.json: JSON" grep -q '^"version":2' out.json
run go2heapsnapshot --format heapsnapshot -o out.json good.dump
check "--format heapsnapshot -o out.json: a snapshot is JSON, too" is_snapshot out.json
if go2heapsnapshot --version | grep -qv 'without SQLite'; then
	for name in db sqlite sqlite3; do
		run go2heapsnapshot -o "out.$name" good.dump
		equal "-o out.$name: a database" "$(head -c 15 "out.$name")" "SQLite format 3"
	done
	run go2heapsnapshot --summary -o summary.bin good.dump
	equal "--summary: a database" "$(head -c 15 summary.bin)" "SQLite format 3"
	run go2heapsnapshot -o out.db.gz good.dump
	said "-o out.db.gz" 2 "go2heapsnapshot: -z does not go with --format sqlite, whose files are read as they are" "$hint"
fi

for pair in html:db csv:html pprof:hprof report:heapsnapshot dump:heapsnapshot heapsnapshot:dump; do
	format=${pair%:*}
	declare -A names=([db]=sqlite)
	run go2heapsnapshot --format "$format" -o "contrary.${pair#*:}" good.dump
	of=${pair#*:}
	said "--format $format -o contrary.$of" 2 "go2heapsnapshot: 'contrary.$of' is a name for --format ${names[$of]-$of}, not for $format" "$hint"
done
equal "contradictions: nothing is written" "$(ls -d contrary* 2>/dev/null)" ""

go2heapsnapshot --format report --json good.dump >report.json
run go2heapsnapshot --json good.dump
wrote "--json: a report" report.json
class='(string)'
go2heapsnapshot --format report --path-to "$class" good.dump >path.txt
run go2heapsnapshot --path-to "$class" good.dump
wrote "--path-to: a report" path.txt
run go2heapsnapshot --show main.T good.dump
said "--show: a report" 1 "go2heapsnapshot: without types there are no values to show: --exe gives them"
run go2heapsnapshot --show main.T -o out.html good.dump
said "--show, but the name is another format's" 2 "go2heapsnapshot: --show goes with --format report, not with html" "$hint"
go2heapsnapshot --format pprof --by retained good.dump >retained.pb.gz
run go2heapsnapshot --by retained good.dump
wrote "--by: a profile" retained.pb.gz

# The number of a process in place of a dump.
if [ -d /proc/$$ ]; then
	run go2heapsnapshot $$
	said "the number of a process" 2 "go2heapsnapshot: no file is called '$$', but there is a process of that number:" "  go2heapsnapshot --pid $$"
	cp good.dump $$
	run go2heapsnapshot $$
	said "a dump that is called like a process" 0
fi
run go2heapsnapshot 4294967295
said "a number that no process has" 1 "go2heapsnapshot: 4294967295: cannot open: No such file or directory"

finish
