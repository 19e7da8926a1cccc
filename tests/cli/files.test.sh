# shellcheck shell=bash
# Tests that inputs are never written to, descriptors that are closed, and the permissions of the files that are written.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

gzip -dc "$top/samples/leakserver.1.dump.gz" >app.dump
gzip -dc "$top/samples/leakserver.exe.gz" >app
go2heapsnapshot app.dump >untyped.heapsnapshot || exit 2
cp app.dump good.dump
cp app good

# ---- an input as the output ----

# kept NAME TARGET WHAT: tests that the last run refused TARGET, since it is WHAT itself, and that no input has changed.
kept() {
	said "$1" 1 "go2heapsnapshot: $2: is the $3 itself; give the snapshot another name"
	check "$1: the inputs are as they were" cmp app.dump good.dump
	check "$1: the inputs are as they were, the executable as well" cmp app good
	cp good.dump app.dump
	cp good app
}
run go2heapsnapshot --exe app -o app app.dump
kept "-o onto the executable" app executable
run go2heapsnapshot -o app.dump --exe app app.dump
kept "-o onto the dump" app.dump dump
run go2heapsnapshot -o app.dump - <app.dump
kept "-o onto the dump on stdin" app.dump dump
ln app.dump hard
ln -s hard link
run go2heapsnapshot -o link app.dump
kept "-o onto the dump by a link to a link" link dump
for way in '1<>' '>>'; do
	status=0
	eval "go2heapsnapshot app.dump 2>err $way app.dump" || status=$?
	kept "stdout $way onto the dump" "standard output" dump
	eval "go2heapsnapshot - <app.dump 2>err $way app.dump" || status=$?
	kept "stdout $way onto the dump on stdin" "standard output" dump
	eval "go2heapsnapshot --exe app app.dump 2>err $way app" || status=$?
	kept "stdout $way onto the executable" "standard output" executable
	eval "go2heapsnapshot -o /dev/stdout app.dump 2>err $way app.dump" || status=$?
	kept "-o /dev/stdout $way onto the dump" /dev/stdout dump
	eval "go2heapsnapshot -o - app.dump 2>err $way app.dump" || status=$?
	kept "-o - $way onto the dump" "standard output" dump
done
status=0
go2heapsnapshot -o /proc/self/fd/7 app.dump 2>err 7>>app.dump || status=$?
kept "-o onto the dump by a descriptor" /proc/self/fd/7 dump
status=0
go2heapsnapshot missing.dump --exe app >out 2>>app || status=$?
equal "stderr onto the executable: exit 1, without a word" "$status $(cmp app good)" "1 "
status=0
go2heapsnapshot -v app.dump >out 2>>app.dump || status=$?
equal "stderr onto the dump: exit 1, without a word" "$status $(cmp app.dump good.dump)" "1 "

objcopy --only-keep-debug app app.debug
objcopy --strip-all --add-gnu-debuglink=app.debug app stripped
cp app.debug good.debug
run go2heapsnapshot --exe stripped -o x.heapsnapshot app.dump
check "a separate debug file: is read" [ "$(grep -c 'is stripped' err)" -eq 0 ]
run go2heapsnapshot --exe stripped -o app.debug app.dump
said "-o onto the executable's debug file" 1 \
	"go2heapsnapshot: app.debug: is the executable's debug file itself; give the snapshot another name"
check "-o onto the executable's debug file: it is as it was" cmp app.debug good.debug
status=0
go2heapsnapshot --exe stripped app.dump 2>err >>app.debug || status=$?
said "stdout onto the executable's debug file" 1 \
	"go2heapsnapshot: standard output: is the executable's debug file itself; give the snapshot another name"
check "stdout onto the executable's debug file: it is as it was" cmp app.debug good.debug
run go2heapsnapshot -o /dev/null - </dev/null
check "/dev/null may be both" grep -q 'is empty' err

# ---- descriptors that are closed ----

for closed in '<&-' '2>&-' '<&- 2>&-' '>&-' '<&- >&- 2>&-'; do
	rm -f closed.heapsnapshot
	status=0
	eval "go2heapsnapshot -v --exe app -o closed.heapsnapshot app.dump >out 2>err $closed" || status=$?
	equal "-v -o, $closed: exit 0" "$status" 0
	cp closed.heapsnapshot "closed$tests.heapsnapshot"
	check "-v -o, $closed: the same bytes" cmp "closed$tests.heapsnapshot" <(go2heapsnapshot --exe app app.dump 2>/dev/null)
done
for closed in '>&-' '<&- >&-' '>&- 2>err <&-'; do
	status=0
	eval "go2heapsnapshot app.dump 2>err $closed" || status=$?
	said "stdout, $closed" 1 "go2heapsnapshot: standard output: cannot write: Bad file descriptor"
done
status=0
go2heapsnapshot app.dump >&- 2>&- || status=$?
equal "stdout and stderr that are closed: exit 1" "$status" 1
status=0
go2heapsnapshot --help 2>err >&- || status=$?
said "--help, stdout that is closed" 1 "go2heapsnapshot: standard output: cannot write: Bad file descriptor"
status=0
go2heapsnapshot - >out 2>&- <&- || status=$?
equal "stdin and stderr that are closed: exit 1" "$status" 1
wrote_nothing "stdin and stderr that are closed: nothing on stdout"

# ---- permissions ----

# mode NAME DUMP_MODE EXPECTED [OLD_MODE]: tests the permissions of the snapshot of a dump that has DUMP_MODE. With OLD_MODE
# the snapshot replaces a file with these permissions.
mode() {
	rm -f private.dump new.heapsnapshot
	cp good.dump private.dump
	chmod "$2" private.dump
	[ -z "${4-}" ] || { : >new.heapsnapshot && chmod "$4" new.heapsnapshot; }
	go2heapsnapshot -o new.heapsnapshot private.dump
	equal "$1" "$(stat -c %a new.heapsnapshot)" "$3"
}
mode "a dump that all may read: the snapshot too" 644 644
mode "a dump that its owner may read: nor may others the snapshot" 600 600
mode "a dump that its group may read: so may it the snapshot" 640 640
mode "a dump that its owner may only read: the snapshot can be written to" 400 600
mode "a dump that all may write to: as the umask has it" 666 644
mode "over a file that all may read: no more than the dump" 600 600 644
mode "over a file that its owner may read: stays so" 644 600 600
mode "over a file that others may write to: stays so, if they may to the dump" 666 666 666
chmod 600 app.dump
go2heapsnapshot -o stdin.heapsnapshot - <app.dump
equal "a dump on stdin that its owner may read" "$(stat -c %a stdin.heapsnapshot)" 600
gzip -c app.dump >app.dump.gz
chmod 600 app.dump.gz
go2heapsnapshot -z -o packed.heapsnapshot.gz app.dump.gz 2>/dev/null
equal "a compressed one" "$(stat -c %a packed.heapsnapshot.gz)" 600
go2heapsnapshot -o piped.heapsnapshot - < <(cat app.dump)
equal "a pipe has no permissions: as the umask has it" "$(stat -c %a piped.heapsnapshot)" 644
: >owned
other=$(id -G | tr ' ' '\n' | grep -vx "$(stat -c %g owned)" | head -n 1)
[ "$(id -u)" -ne 0 ] || other=1
if [ -n "$other" ]; then
	cp good.dump group.dump
	chgrp "$other" group.dump
	chmod 640 group.dump
	go2heapsnapshot -o group.heapsnapshot group.dump
	equal "a dump of another group: is not for ours" "$(stat -c %a group.heapsnapshot)" 600
	chmod 644 group.dump
	go2heapsnapshot -o all.heapsnapshot group.dump
	equal "a dump of another group that all may read" "$(stat -c %a all.heapsnapshot)" 644
	chmod 640 app.dump owned
	chgrp "$other" owned
	go2heapsnapshot -o owned app.dump 2>/dev/null
	equal "over a file of another group: stays of that, which may not read the dump" "$(stat -c '%a %g' owned)" "600 $other"
else
	skip "a dump of another group" "we have one only"
fi

# The temporary copy of a dump that comes through a pipe.
mkdir temporary
mkfifo input
exec 4<>input
TMPDIR=$PWD/temporary go2heapsnapshot -o /dev/null - <input 4>&- &
pid=$!
await_nameless "$pid" "$PWD/temporary"
equal "the temporary copy: only its owner may read it" "$(stat -L -c %a "$(nameless "$pid" "$PWD/temporary")")" 600
equal "the temporary copy: has no name" "$(ls -A temporary)" ""
end "$pid" TERM

finish
