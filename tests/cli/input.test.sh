# shellcheck shell=bash
# Where a dump may come from.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

dump go1.3.3-386.1 good.dump
gzip -c good.dump >good.dump.gz
go2heapsnapshot good.dump >good.heapsnapshot || exit 2
not_a_dump='byte 0: not a Go heap dump: it does not start with "go1.N heap dump\n", as what runtime/debug.WriteHeapDump writes does'

run go2heapsnapshot missing.dump
said "a file that is missing" 1 "go2heapsnapshot: missing.dump: cannot open: No such file or directory"
wrote_nothing "a file that is missing: nothing on stdout"
mkdir directory
run go2heapsnapshot directory
said "a directory" 1 "go2heapsnapshot: directory: is a directory"
: >empty
run go2heapsnapshot empty
said "an empty file" 1 "go2heapsnapshot: empty: is empty (was the disk full, or did the program end while it dumped?)"
run go2heapsnapshot - </dev/null
said "an empty stdin" 1 "go2heapsnapshot: standard input: is empty (was the disk full, or did the program end while it dumped?)"
echo "There is no heap dump in here." >text
run go2heapsnapshot text
said "a text file" 1 "go2heapsnapshot: text: $not_a_dump"
wrote_nothing "a text file: nothing on stdout"
head -c 100000 /dev/zero >zeros
run go2heapsnapshot zeros
said "a file of zeros" 1 "go2heapsnapshot: zeros: $not_a_dump"
printf 'go1.7 heap' >header.dump
run go2heapsnapshot header.dump
said "cut within the header" 1 "go2heapsnapshot: header.dump: byte 10: the dump is cut within its header"
printf 'go1.7 heap dump\n' >header.dump
run go2heapsnapshot header.dump
said "cut behind the header" 1 "go2heapsnapshot: header.dump: byte 16: the dump is cut: nothing follows its header"
run go2heapsnapshot good.heapsnapshot
said "a snapshot" 1 "go2heapsnapshot: good.heapsnapshot: is a heap snapshot already"
gzip -c text >text.gz
run go2heapsnapshot text.gz
said "a gzipped text file" 1 "go2heapsnapshot: text.gz: $not_a_dump; a profile of net/http/pprof is none"
if [ "$(id -u)" -eq 0 ]; then
	skip "a file without read permission" "root may read it"
else
	cp good.dump secret.dump
	chmod 0 secret.dump
	run go2heapsnapshot secret.dump
	said "a file without read permission" 1 "go2heapsnapshot: secret.dump: cannot open: Permission denied"
fi

run go2heapsnapshot good.dump
said "a dump" 0
run go2heapsnapshot good.dump.gz
said "a gzipped dump" 0
wrote "a gzipped dump gives the same bytes" good.heapsnapshot
cp good.dump.gz plain.dump
run go2heapsnapshot plain.dump
wrote "gzip is told by content: a gzipped file with another name" good.heapsnapshot
cp good.dump plain.dump.gz
run go2heapsnapshot plain.dump.gz
wrote "gzip is told by content: a plain file named .gz" good.heapsnapshot
{ head -c 1000000 good.dump | gzip && tail -c +1000001 good.dump | gzip; } >members.gz
run go2heapsnapshot members.gz
said "gzip of two members" 0
wrote "gzip of two members gives the same bytes" good.heapsnapshot
{ cat good.dump.gz && head -c 512 /dev/zero; } >padded.gz
run go2heapsnapshot padded.gz
wrote "gzip with padding behind it" good.heapsnapshot

run go2heapsnapshot - <good.dump
said "- with a redirected file" 0
wrote "- with a redirected file gives the same bytes" good.heapsnapshot
run go2heapsnapshot - <good.dump.gz
wrote "- with a redirected gzipped file" good.heapsnapshot
run go2heapsnapshot - < <(cat good.dump)
said "- with a pipe" 0
wrote "- with a pipe gives the same bytes" good.heapsnapshot
run go2heapsnapshot - < <(cat good.dump.gz)
wrote "- with a gzipped pipe" good.heapsnapshot
run go2heapsnapshot <(cat good.dump)
wrote "a pipe that has a name" good.heapsnapshot
run go2heapsnapshot - < <(head -c 1 good.dump && sleep 0.1 && tail -c +2 good.dump)
wrote "- with a pipe that gives one byte first" good.heapsnapshot
run go2heapsnapshot - <<<'not a dump'
said "- with a text: the message calls it standard input" 1 "go2heapsnapshot: standard input: $not_a_dump"
run go2heapsnapshot - <&-
said "- with a closed stdin" 1 "go2heapsnapshot: standard input: cannot read: Bad file descriptor"

no_room="/proc/missing: cannot make a temporary file (set TMPDIR): No such file or directory"
TMPDIR=/proc/missing run go2heapsnapshot - < <(cat good.dump)
said "a pipe, but no TMPDIR" 1 "go2heapsnapshot: $no_room"
wrote_nothing "a pipe, but no TMPDIR: nothing on stdout"
TMPDIR=/proc/missing run go2heapsnapshot good.dump.gz
said "gzip, but no TMPDIR" 1 "go2heapsnapshot: $no_room"
TMPDIR=/proc/missing run go2heapsnapshot good.dump
said "a plain file needs no TMPDIR" 0
TMPDIR=/proc/missing run go2heapsnapshot - <good.dump
said "nor does a redirected one" 0
mkdir temporary
TMPDIR=$PWD/temporary run go2heapsnapshot good.dump.gz
equal "nothing is left in TMPDIR" "$(ls -A temporary)" ""

finish
