# shellcheck shell=bash
# Tests formats that write several files to a directory: all of the files are written, or none.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

dump go1.3.3-386.1 good.dump
echo "no dump" >bad.dump

run go2heapsnapshot --format csv good.dump
said "csv to standard output" 2 "go2heapsnapshot: --format csv is written to a directory, not to standard output: -o app
Try 'go2heapsnapshot --help'."
wrote_nothing "csv to standard output: nothing on stdout"
run go2heapsnapshot --format csv -o new good.dump
said "csv: a directory that is made" 0
wrote_nothing "csv: nothing on stdout"
equal "csv: two files" "$(ls -A new)" "$(printf 'edges.csv\nnodes.csv')"
equal "csv: permissions follow the umask" "$(stat -c %a new/nodes.csv)" 644
# Until all is written, the directory has another name, which a program that is killed leaves.
mkfifo never
exec 3<>never
for signal in TERM KILL; do
	go2heapsnapshot --format csv -o early/ - <never 2>wrong 3>&- &
	await_file 'early*'
	end $! $signal
	check "csv, ended early by $signal: no directory of that name" [ ! -e early ]
	[ $signal = KILL ] || equal "csv, ended early by $signal: none is left" "$(compgen -G 'early*')" ""
done
exec 3>&-
equal "csv, ended early: only SIGKILL leaves one, which is empty" "$(find early.* | wc -l)" 1
rmdir early.*
run go2heapsnapshot -z --format csv -o new/ good.dump
said "csv: a directory that is there" 0
equal "csv, -z: names" "$(ls -A new)" "$(printf 'edges.csv\nedges.csv.gz\nnodes.csv\nnodes.csv.gz')"

run go2heapsnapshot --format csv -o none bad.dump
check "csv, but the input is no dump: exit 1" [ "$status" -eq 1 ]
check "csv, but the input is no dump: no directory is left" [ ! -e none ]
mkdir old
echo old | tee old/nodes.csv >old/edges.csv
run go2heapsnapshot --format csv -o old bad.dump
equal "csv, but the input is no dump: old files stay" "$(cat old/*)" "$(printf 'old\nold')"
equal "csv, but the input is no dump: no other file" "$(ls -A old | wc -l)" 2
for full in nodes edges; do
	mkdir $full
	ln -s /dev/full $full/$full.csv
	run go2heapsnapshot --format csv -o $full good.dump
	said "csv, no room for $full" 1 "go2heapsnapshot: $full: cannot write: No space left on device"
	equal "csv, no room for $full: not the other file either" "$(ls -A $full)" $full.csv
done
mkdir -p blocked/edges.csv
run go2heapsnapshot --format csv -o blocked good.dump
said "csv, a directory has a file's name" 1 "go2heapsnapshot: blocked/edges.csv: cannot write: Is a directory"
equal "csv, a directory has a file's name: not the other file either" "$(ls -A blocked)" edges.csv
cp good.dump file
run go2heapsnapshot --format csv -o file good.dump
said "csv to a file" 1 "go2heapsnapshot: file: is not a directory, which csv needs"
run go2heapsnapshot --format csv -o no/such good.dump
said "csv below a directory that is not there" 1 "go2heapsnapshot: no/such: cannot create the directory: No such file or directory"
mkdir own
cp good.dump own/edges.csv
run go2heapsnapshot --format csv -o own own/edges.csv
said "csv onto the dump itself" 1 "go2heapsnapshot: own/edges.csv: is the dump itself; give the snapshot another name"
check "csv onto the dump itself: it is as it was" cmp good.dump own/edges.csv
equal "csv onto the dump itself: no other file" "$(ls -A own)" edges.csv

# On a file system that has no files without names, both files have temporary names. A signal removes the files.
mkfifo input
exec 4<>input
if preloads; then
	make_named
	env --default-signal LD_PRELOAD="$PWD/named.so" go2heapsnapshot --format csv -o named - <input >out 2>err 4>&- &
	pid=$!
	await_file 'named.??????/nodes.csv.*'
	await_file 'named.??????/edges.csv.*'
	end "$pid" TERM
	check "csv, SIGTERM: neither file is left, nor the directory" eval '! compgen -G "named.??????" && [ ! -e named ]'
	LD_PRELOAD=$PWD/named.so run go2heapsnapshot --format csv -o named good.dump
	equal "csv, temporary names: two files and no other" "$(ls -A named)" "$(printf 'edges.csv\nnodes.csv')"
	check "csv, temporary names: the same bytes" diff <(cat named/*) <(cat new/*.csv)
else
	skip "csv, temporary names" "nothing can be preloaded"
fi

# A signal removes a directory that is new, too, if nothing is in it yet.
start_new() {
	env --default-signal go2heapsnapshot "$@" <input >out 2>err 4>&- &
	pid=$!
}
start_new --format csv -o gone -
await_file 'gone.*'
end "$pid" TERM
check "csv, SIGTERM: the new directory is not left" eval '! compgen -G "gone*"'
mkfifo second.dump
start_new -o gone second.dump good.dump
await_file gone
end "$pid" INT
check "a series, SIGINT: the new directory is not left" [ ! -e gone ]
run go2heapsnapshot -o gone nothing.dump good.dump
check "a series of which the first dump is not there: the new directory is not left" [ ! -e gone ]

finish
