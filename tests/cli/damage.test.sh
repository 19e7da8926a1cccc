# shellcheck shell=bash
# Tests dumps that are cut, damaged, of a newer format, or too long.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

dump go1.3.3-386.1 good.dump
dump go1.15-amd64.1 new.dump
go2heapsnapshot good.dump >good.heapsnapshot || exit 2
no_globals="without its data and bss records, objects that only globals hold look unreachable"

# cut_at BYTES FILE: makes FILE the first BYTES of good.dump.
cut_at() {
	head -c "$1" good.dump >"$2"
}

cut_at 10 header.dump
run go2heapsnapshot header.dump
check "cut in the header: exit 1" [ "$status" -eq 1 ]
wrote_nothing "cut in the header: nothing on stdout"
cut_at 16 params.dump
run go2heapsnapshot params.dump
check "cut behind the header: exit 1" [ "$status" -eq 1 ]
check "cut behind the header: the message has file and byte" grep -q '^go2heapsnapshot: params.dump: byte 16: ' err
cut_at 20 params.dump
run go2heapsnapshot params.dump
said "cut in the params record" 1 \
	"go2heapsnapshot: params.dump: byte 20: record 1 (params, begun at byte 16): the input is cut"
wrote_nothing "cut in the params record: nothing on stdout"
run go2heapsnapshot -o params.heapsnapshot params.dump
equal "cut in the params record: no file" "$(echo params.heapsnapshot*)" 'params.heapsnapshot*'

cut_at 2000000 object.dump
object="byte 1999985: record 6124 (object, begun at byte 1999976): a length is beyond the end of the input"
run go2heapsnapshot object.dump
said "cut in an object: file, byte, record and kind" 3 \
	"go2heapsnapshot: warning: object.dump: $object; everything before it is used" \
	"go2heapsnapshot: warning: object.dump: $no_globals"
check "cut in an object: everything before it is a snapshot" is_snapshot out
cp out object.heapsnapshot
run go2heapsnapshot -o named.heapsnapshot object.dump
check "cut in an object: exit 3 with -o too" [ "$status" -eq 3 ]
check "cut in an object: the named file is there" cmp named.heapsnapshot object.heapsnapshot
run go2heapsnapshot - < <(cat object.dump)
wrote "cut in an object: the same from a pipe" object.heapsnapshot
run go2heapsnapshot -j 1 object.dump
wrote "cut in an object: the same with one thread" object.heapsnapshot
run go2heapsnapshot --format report object.dump
check "cut in an object: the report does not say that all is garbage" grep -qx \
	'  reachable 0 B, garbage [0-9.]* MB or less: a part of the heap may be missing' out
run go2heapsnapshot --format report good.dump
check "whole: what is garbage is certain" grep -qE '^  reachable .*, garbage [0-9.]+ k?B$' out

size=$(stat -c %s good.dump)
cut_at $((size - 1)) eof.dump
run go2heapsnapshot eof.dump
check "cut before the EOF record: exit 3" [ "$status" -eq 3 ]
check "cut before the EOF record: the message has file, byte and reason" grep -q \
	"^go2heapsnapshot: warning: eof.dump: byte $((size - 1)): .*: the input ends without an EOF record; everything before it is used\$" err
equal "cut before the EOF record: one line" "$(wc -l <err)" 1
incomplete='s/"complete":true/"complete":false/'
sed "$incomplete" good.heapsnapshot >incomplete.heapsnapshot
wrote "cut before the EOF record: nothing is lost, but the header says that it is cut" incomplete.heapsnapshot

{ head -c 2000000 good.dump && printf '\x7f' && tail -c +2000002 good.dump; } >overwritten.dump
run go2heapsnapshot overwritten.dump
check "a byte of an object's contents: exit 0" [ "$status" -eq 0 ]
{ head -c 1999976 good.dump && printf '\x7f' && tail -c +1999978 good.dump; } >tag.dump
run go2heapsnapshot tag.dump
check "a record of no known kind: exit 3" [ "$status" -eq 3 ]
check "a record of no known kind: byte, record and reason" grep -q \
	'^go2heapsnapshot: warning: tag.dump: byte 199997[67]: record 6124: unknown tag; everything before it is used$' err
check "a record of no known kind: everything before it is a snapshot" is_snapshot out

gzip -c good.dump | head -c 100000 >cut.gz
run go2heapsnapshot cut.gz
check "gzip that is cut: exit 3" [ "$status" -eq 3 ]
equal "gzip that is cut: says so first" "$(head -n 1 err)" \
	"go2heapsnapshot: warning: cut.gz: byte 100000: the gzip stream is cut"
check "gzip that is cut: then where the dump ends" grep -q \
	'^go2heapsnapshot: warning: cut.gz: byte [0-9]*.*: record [0-9]* (.*, begun at byte [0-9]*): .*; everything before it is used$' err
check "gzip that is cut: everything before it is a snapshot" is_snapshot out
gzip -c good.dump | head -c 12 >cut.gz
run go2heapsnapshot cut.gz
check "gzip that is cut in its header: exit 1" [ "$status" -eq 1 ]
equal "gzip that is cut in its header: says so" "$(head -n 1 err)" \
	"go2heapsnapshot: cut.gz: byte 12: the gzip stream is cut"
gzip -c good.dump >checksum.gz
head -c -8 checksum.gz >damaged.gz
printf 'checksum' >>damaged.gz
run go2heapsnapshot damaged.gz
check "gzip with a wrong checksum: exit 3" [ "$status" -eq 3 ]
check "gzip with a wrong checksum: says so" grep -q \
	'^go2heapsnapshot: warning: damaged.gz: byte [0-9]*: the gzip stream is damaged: incorrect data check$' err
wrote "gzip with a wrong checksum: the snapshot is whole, but the header does not say so" incomplete.heapsnapshot

# A dump that is written as a dump.
gzip -c new.dump | head -c 100000 >cut.gz
run go2heapsnapshot --format dump cut.gz
said "a dump of gzip that is cut" 3 "go2heapsnapshot: warning: cut.gz: byte 100000: the gzip stream is cut"
{ head -c 200000 new.dump && head -c 100000 /dev/zero | tr '\0' '\177'; } >damaged.dump
run go2heapsnapshot --format dump --largest-array 1K damaged.dump
check "--largest-array of a damaged dump: exit 3" [ "$status" -eq 3 ]
check "--largest-array of a damaged dump: says where" grep -q \
	'^go2heapsnapshot: warning: damaged.dump: byte [0-9]*: record [0-9]*.*; everything before it is written$' err
check "--largest-array of a damaged dump: nothing behind the damage" [ "$(stat -c %s out)" -le 200000 -a "$(stat -c %s out)" -gt 1000 ]
check "--largest-array of a damaged dump: nothing of its end" sh -c "! grep -q '$(printf '\177%.0s' 1 2 3 4 5 6 7 8)' out"
head -c 20 new.dump >params.dump
run go2heapsnapshot --format dump --largest-array 1K params.dump
said "--largest-array of a dump that ends in the params record" 1 \
	"go2heapsnapshot: params.dump: byte 19: record 1 (params, begun at byte 16): the input is cut"
wrote_nothing "--largest-array of a dump that ends in the params record"

go2heapsnapshot new.dump >new.heapsnapshot
sed '1s/^go1\.7 /go1.9 /' new.dump >future.dump
run go2heapsnapshot future.dump
said "a header of the future" 0 "go2heapsnapshot: warning: future.dump: its header names a format newer than go1.7, the last one known; read as go1.7"
check "a header of the future: a snapshot" is_snapshot out
sed '1s/^go1\.7 /go1.70 /' new.dump >future.dump
run go2heapsnapshot future.dump
check "a header of the far future: exit 0" [ "$status" -eq 0 ]
sed '1s/^go1\.7 /go1.2 /' new.dump >past.dump
run go2heapsnapshot past.dump
check "a header of before heap dumps: exit 1" [ "$status" -eq 1 ]

{ cat good.dump && echo more; } >longer.dump
run go2heapsnapshot longer.dump
said "bytes after the EOF record" 0 \
	"go2heapsnapshot: warning: longer.dump: the bytes after the EOF record are ignored"
wrote "bytes after the EOF record change nothing" good.heapsnapshot

# meanwhile CHANGE ARGUMENT...: converts with these arguments, and runs the shell command CHANGE while the input is read:
# as soon as the first byte of the snapshot arrives in a pipe. The rest of the pipe is read only after the change.
meanwhile() {
	local change=$1 pid
	shift
	go2heapsnapshot -o pipe "$@" <&0 >/dev/null 2>err &
	pid=$!
	exec 3<pipe
	dd bs=1 count=1 <&3 >out 2>/dev/null
	eval "$change"
	cat <&3 >>out
	status=0
	wait "$pid" || status=$?
	exec 3<&-
}
mkfifo pipe
cp new.dump shrinking.dump
meanwhile ': >shrinking.dump' -j 1 shrinking.dump # one thread has not read all of the dump when it begins to write
said "a dump that becomes shorter while it is read" 1 \
	"go2heapsnapshot: shrinking.dump: became shorter while it was read"
changed='was changed while it was read; convert it again once nothing writes to it'
cp new.dump same.dump
cp -p same.dump old.dump
sleep 0.02 # times of files have a resolution of some milliseconds
meanwhile 'echo more >>same.dump' same.dump
said "a dump that becomes longer while it is read" 1 "go2heapsnapshot: same.dump: $changed"
cp new.dump same.dump
sleep 0.02
meanwhile 'printf go1.7 | dd conv=notrunc of=same.dump 2>/dev/null' same.dump
said "a dump that is written to while it is read" 1 "go2heapsnapshot: same.dump: $changed"
sleep 0.02
meanwhile 'printf go1.7 | dd conv=notrunc of=same.dump 2>/dev/null; touch -r old.dump same.dump' - <same.dump
said "a dump on stdin that is written to, and gets back its time" 1 "go2heapsnapshot: standard input: $changed"
meanwhile 'cat same.dump >/dev/null' same.dump
said "a dump that others read meanwhile" 0
wrote "a dump that others read meanwhile: the same bytes" new.heapsnapshot
meanwhile 'rm same.dump' same.dump
said "a dump that is removed meanwhile" 0
wrote "a dump that is removed meanwhile: the same bytes" new.heapsnapshot
gzip -c new.dump >same.dump.gz
meanwhile 'echo more >>same.dump.gz' same.dump.gz
said "a compressed dump that is written to once it has been read" 0
wrote "a compressed dump that is written to once it has been read: the same bytes" new.heapsnapshot
gzip -dc "$top/samples/leakserver.1.dump.gz" >app.dump
gzip -dc "$top/samples/leakserver.exe.gz" >app
meanwhile 'printf go1.7 >>app' --exe app app.dump
said "an executable that is written to while it is read" 1 "go2heapsnapshot: app: $changed"

node "$here/repeat.mjs" "$top/tests/golden/inputs/go1.27-stripped.2.dump.gz" repeated.dump
run go2heapsnapshot --exe "$top/tests/golden/inputs/go1.27-stripped.exe.gz" --format report repeated.dump
check "a record of data that is there nine times: a report" eval '[ "$status" -eq 0 ] && grep -q "^WHO HOLDS THE MEMORY" out'

finish
