# shellcheck shell=bash
# Tests where a snapshot may be written to, and which files are left if it cannot be written.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

dump go1.3.3-386.1 good.dump
echo "no dump" >bad.dump
go2heapsnapshot good.dump >good.heapsnapshot || exit 2

# files PATTERN: prints the names of files that match, including temporary ones.
files() {
	find . -maxdepth 1 -name "$1" | sort | tr '\n' ' '
}

run go2heapsnapshot -o new.heapsnapshot good.dump
said "-o" 0
wrote_nothing "-o: nothing on stdout"
check "-o: the bytes are in the file" cmp new.heapsnapshot good.heapsnapshot
equal "-o: no other file" "$(files 'new.heapsnapshot*')" "./new.heapsnapshot "
equal "-o: permissions follow the umask" "$(stat -c %a new.heapsnapshot)" 644
(umask 077 && go2heapsnapshot --output=private.heapsnapshot good.dump)
equal "--output: permissions follow another umask" "$(stat -c %a private.heapsnapshot)" 600
echo old >new.heapsnapshot
run go2heapsnapshot -o new.heapsnapshot good.dump
check "-o over a file that is there" cmp new.heapsnapshot good.heapsnapshot
mkdir directory
run go2heapsnapshot -o directory/new.heapsnapshot good.dump
check "-o in another directory" cmp directory/new.heapsnapshot good.heapsnapshot

echo old >old.heapsnapshot
run go2heapsnapshot -o old.heapsnapshot bad.dump
check "-o, but the input is no dump: exit 1" [ "$status" -eq 1 ]
equal "-o, but the input is no dump: the old file stays" "$(cat old.heapsnapshot)" old
equal "-o, but the input is no dump: no temporary file" "$(files 'old.heapsnapshot*')" "./old.heapsnapshot "
cp good.dump own.dump
only='DevTools loads only what is called *.heapsnapshot'
for name in app.bin heapsnapshot app.gz; do
	run go2heapsnapshot -o "$name" good.dump
	said "-o $name: says that DevTools does not load it" 0 "go2heapsnapshot: note: $name: $only"
	check "-o $name: is written all the same" cmp "$name" good.heapsnapshot
done
unpacked='is compressed: DevTools wants it unpacked, and called *.heapsnapshot'
run go2heapsnapshot -z -o app.heapsnapshot.gz good.dump
said "-z -o app.heapsnapshot.gz: nothing to say" 0
run go2heapsnapshot -z -o app.heapsnapshot good.dump
said "-z -o app.heapsnapshot: says that DevTools does not load it" 0 "go2heapsnapshot: note: app.heapsnapshot: $unpacked"
run go2heapsnapshot -o /dev/null good.dump
said "-o /dev/null: nothing to say" 0
run go2heapsnapshot -o app.bin bad.dump
check "-o app.bin, but the input is no dump: the name is not the matter" [ "$(wc -l <err)" -eq 1 ]
run go2heapsnapshot -o own.dump own.dump
said "-o onto the dump itself" 1 "go2heapsnapshot: own.dump: is the dump itself; give the snapshot another name"
check "-o onto the dump itself: it is as it was" cmp good.dump own.dump
run go2heapsnapshot -o - good.dump
equal "-o -: exit 0" "$status" 0
wrote "-o -: to stdout" good.heapsnapshot
check "-o -: no file of that name" [ ! -e ./- ]
run go2heapsnapshot -o '' good.dump
said "-o without a name" 2 "go2heapsnapshot: -o takes a file's name, not ''
Try 'go2heapsnapshot --help'."
touch private
chmod 600 private
run go2heapsnapshot -o private good.dump
equal "-o over a file that only its owner may read: stays so" "$(stat -c %a private)" 600
run go2heapsnapshot -o missing/new.heapsnapshot good.dump
said "-o in a directory that is missing" 1 \
	"go2heapsnapshot: missing/new.heapsnapshot: cannot create: No such file or directory"
run go2heapsnapshot -o directory good.dump
said "-o that is a directory" 1 "go2heapsnapshot: directory: cannot write: Is a directory"
run go2heapsnapshot -o /dev/full good.dump
said "-o /dev/full" 1 "go2heapsnapshot: /dev/full: cannot write: No space left on device"
check "-o /dev/full: it still is a device" [ -c /dev/full ]
echo old >target
ln -s target link
run go2heapsnapshot -o link good.dump
check "-o that is a symbolic link: stays one" [ -L link ]
check "-o that is a symbolic link: what it leads to is written" cmp target good.heapsnapshot
rm -r target link
mkdir -p there/deep
ln -s there/link link
ln -s deep/../../target there/link
run go2heapsnapshot -o link good.dump
check "-o that is a symbolic link to nothing: stays one" [ -L link ]
check "-o that is a symbolic link to nothing: so does the link that it leads to" [ -L there/link ]
check "-o that is a symbolic link to nothing: what it leads to is made" cmp target good.heapsnapshot
ln -s "$PWD/absolute" there/link.2
run go2heapsnapshot -o there/link.2 good.dump
check "-o that is a symbolic link to an absolute path: what it leads to is made" cmp absolute good.heapsnapshot
rm -f absolute
ln -s round2 round1
ln -s round1 round2
run go2heapsnapshot -o round1 good.dump
said "-o that is a symbolic link to itself" 1 "go2heapsnapshot: round1: cannot create: Too many levels of symbolic links"
# /dev/stdout is a link like this one. The test does not use that name: run as root, the program might replace it, whereas
# nothing can be created in /proc.
run go2heapsnapshot -o /proc/self/fd/1 good.dump
said "-o /proc/self/fd/1" 0
wrote "-o /proc/self/fd/1" good.heapsnapshot
exec 5<>removed
rm removed
run go2heapsnapshot -o /proc/self/fd/5 good.dump
check "-o that is a descriptor of a file that was removed" cmp /proc/self/fd/5 good.heapsnapshot
equal "-o that is a descriptor of a file that was removed: no other file" "$(files 'removed*')" ""
exec 5>&-
mkfifo pipe
cat pipe >piped &
go2heapsnapshot -o pipe good.dump
wait $!
check "-o that is a pipe" cmp piped good.heapsnapshot

# A disk of 64 kB; then a limit on files' sizes, which needs no privilege.
mkdir disk
# shellcheck disable=SC2016
on_disk='mount -t tmpfs -o size=64k none disk && { echo old >disk/x; go2heapsnapshot -o disk/x good.dump; status=$?
	cat disk/*; exit $status; }'
if unshare -m true 2>/dev/null; then
	run unshare -m bash -c "$on_disk"
elif unshare -rm true 2>/dev/null; then
	run unshare -rm bash -c "$on_disk"
else
	status=none
fi
if [ "$status" = none ]; then
	skip "-o on a full disk" "no permission to mount one"
else
	said "-o on a full disk" 1 "go2heapsnapshot: disk/x: cannot write: No space left on device"
	equal "-o on a full disk: the old file stays, and no other" "$(cat out)" old
fi
run bash -c 'trap "" XFSZ; ulimit -f 64; go2heapsnapshot -o limited.heapsnapshot good.dump'
said "-o beyond the limit of files' sizes" 1 \
	"go2heapsnapshot: limited.heapsnapshot: cannot write: File too large"
equal "-o beyond the limit of files' sizes: no file" "$(files 'limited*')" ""

# A signal ends the program while it waits for more input: nothing is left of the unfinished file. Nothing is left of it even
# after SIGKILL, since the file has no name. On a file system without nameless files, which a preloaded library simulates
# here, it has a temporary name.
ulimit -c 0
mkfifo input
exec 4<>input

# start NAME [PRELOAD]: starts a conversion in the background, with the default action for all signals: bash starts jobs with
# SIGINT ignored.
start() {
	# shellcheck disable=SC2086
	env --default-signal ${2:+"$2"} go2heapsnapshot -o "$1.heapsnapshot" - <input >out 2>err 4>&- &
	pid=$!
}

# ended NAME SIGNAL: sends the signal, and tests that it ends the conversion, of which no file is left.
ended() {
	status=0
	end "$pid" "$2" || status=$?
	equal "$1: the shell sees the signal" "$status" $((128 + $(kill -l "$2")))
	equal "$1: no file is left" "$(files "$2.*")" ""
}

for signal in TERM KILL; do
	start "$signal"
	await_nameless "$pid" "$PWD"
	equal "SIG$signal: there is a file before" "$(nameless "$pid" "$PWD" | wc -l)" 1
	equal "SIG$signal: that only its owner may read" "$(stat -L -c %a "$(nameless "$pid" "$PWD")")" 600
	equal "SIG$signal: that has no name" "$(files "$signal.*")" ""
	ended "SIG$signal" "$signal"
done
if preloads; then
	make_named
	for signal in HUP INT QUIT ILL TRAP ABRT BUS FPE USR1 SEGV USR2 PIPE ALRM TERM STKFLT XCPU VTALRM PROF IO PWR SYS; do
		start "$signal" LD_PRELOAD="$PWD/named.so"
		await_file "$signal.heapsnapshot.*"
		equal "SIG$signal, a temporary name: there is a file before" "$(files "$signal.*" | wc -w)" 1
		equal "SIG$signal, a temporary name: that only its owner may read" "$(stat -c %a "$signal.heapsnapshot."*)" 600
		ended "SIG$signal, a temporary name" "$signal"
	done
	LD_PRELOAD=$PWD/named.so run go2heapsnapshot -o preloaded.heapsnapshot good.dump
	check "a temporary name: the file is there" cmp preloaded.heapsnapshot good.heapsnapshot
	equal "a temporary name: and no other" "$(files 'preloaded*')" "./preloaded.heapsnapshot "
	equal "a temporary name: permissions follow the umask" "$(stat -c %a preloaded.heapsnapshot)" 644
	run bash -c 'trap "" XFSZ; ulimit -f 64; LD_PRELOAD=$PWD/named.so go2heapsnapshot -o limited.heapsnapshot good.dump'
	equal "a temporary name, beyond the limit of files' sizes: no file" "$status $(files 'limited*')" "1 "
else
	skip "a temporary name" "nothing can be preloaded"
fi
env --ignore-signal=HUP go2heapsnapshot -o nohup.heapsnapshot - <input >out 2>err 4>&- &
pid=$!
await_nameless "$pid" "$PWD"
kill -s HUP "$pid"
timeout 3600 cat good.dump >input
exec 4>&-
status=0
{ wait "$pid" || status=$?; } 2>/dev/null
equal "SIGHUP that is ignored, as with nohup, stays so" "$status" 0
check "SIGHUP that is ignored: the file is there" cmp nohup.heapsnapshot good.heapsnapshot

run go2heapsnapshot -z good.dump
said "-z" 0
check "-z is gzip" gzip -dc <out
gzip -dc <out >unpacked
check "-z unpacks to the same bytes" cmp unpacked good.heapsnapshot
cp out good.gz
for threads in 1 2 5; do
	run go2heapsnapshot --gzip -j "$threads" good.dump
	wrote "--gzip -j $threads writes the same bytes" good.gz
done
run go2heapsnapshot -z -o packed.gz good.dump
check "-z -o" cmp packed.gz good.gz

go2heapsnapshot good.dump >/dev/full 2>err
status=$?
said "stdout that is full" 1 "go2heapsnapshot: standard output: cannot write: No space left on device"
go2heapsnapshot -z good.dump >/dev/full 2>err
status=$?
said "stdout that is full, with -z" 1 "go2heapsnapshot: standard output: cannot write: No space left on device"
go2heapsnapshot good.dump >&- 2>err
status=$?
said "stdout that is closed" 1 "go2heapsnapshot: standard output: cannot write: Bad file descriptor"
go2heapsnapshot good.dump 2>err | head -c 10 >out
status=${PIPESTATUS[0]}
said "stdout that nobody reads: ends by SIGPIPE, without a word" $((128 + $(kill -l PIPE)))
env --ignore-signal=PIPE go2heapsnapshot good.dump 2>err | head -c 10 >out
status=${PIPESTATUS[0]}
said "stdout that nobody reads, SIGPIPE ignored" 1 "go2heapsnapshot: standard output: cannot write: Broken pipe"

# --largest-array: the dump is smaller, and all that is said of it is the same.
gzip -dc "$top/samples/leakserver.2.dump.gz" >whole.dump
gzip -dc "$top/samples/leakserver.exe.gz" >app
go2heapsnapshot --format dump --largest-array 2K -o 2K.dump whole.dump
go2heapsnapshot --format dump --largest-array 1K -o 1K.dump whole.dump
check "--largest-array: smaller dumps" [ "$(stat -c %s 1K.dump)" -lt "$(stat -c %s 2K.dump)" -a "$(stat -c %s 2K.dump)" -lt "$(stat -c %s whole.dump)" ]
for format in heapsnapshot report; do
	for size in 1K 2K; do
		cp whole.dump app.dump
		go2heapsnapshot --exe app --format $format app.dump >whole.out 2>whole.err
		cp $size.dump app.dump
		run go2heapsnapshot --exe app --format $format app.dump
		wrote "--largest-array $size: the same $format" whole.out
	done
done
cp whole.dump app.dump
go2heapsnapshot --exe app --format hprof --largest-array 1K app.dump >short.hprof 2>/dev/null
run go2heapsnapshot --exe app --format hprof app.dump
check "--largest-array 1K: a smaller Java heap dump" [ "$(stat -c %s short.hprof)" -lt "$(stat -c %s out)" ]
cp 1K.dump app.dump
run go2heapsnapshot --exe app --format hprof app.dump
wrote "--largest-array 1K: the Java heap dump of the shortened dump" short.hprof
run go2heapsnapshot --exe app -v 1K.dump
check "--largest-array 1K: a note says so" grep -q '^go2heapsnapshot: note: 1K.dump: only the beginning of [1-9][0-9]* arrays is there (--largest-array); ' err
check "--largest-array 1K: -v counts them" grep -q '^  shortened arrays  *[1-9]' err
# A map without pointers: which of its slots are in use is not in the dump.
input=$top/tests/golden/inputs/go1.27-dwarf
go2heapsnapshot --format dump --largest-array 1K -o map.dump "$input.2.dump.gz" 2>/dev/null
for of in "$input.2.dump.gz 0" "map.dump 1"; do
	run go2heapsnapshot --exe "$input.exe.gz" --format report "${of% *}"
	equal "${of##*/}: entries that the dump lacks" "$(grep -c '^  maps .*; not counted: 63 entries in arrays that the dump lacks$' out)" "${of#* }"
done
# A buffer of 4 KB, of which 200 characters are shown.
go2heapsnapshot --exe app --format csv -o nodes 1K.dump 2>/dev/null
reader=$(printf '0x%x' "$(awk -F, '$2 == "bufio.Reader" { print $8; exit }' nodes/nodes.csv)")
cp whole.dump app.dump
go2heapsnapshot --exe app --show "$reader" app.dump >whole.out 2>/dev/null
cp 1K.dump app.dump
run go2heapsnapshot --exe app --show "$reader" app.dump
wrote "--largest-array 1K: --show of $reader shows the beginning of its buffer" whole.out
check "--show of $reader: there is a buffer" grep -q '^  buf .*len 4096 cap 4096' out
for options in '1K 2K.dump 1K.dump' '4K 2K.dump 2K.dump'; do
	read -r size from to <<<"$options"
	run go2heapsnapshot --format dump --largest-array "$size" -z -j 3 "$from"
	check "--largest-array $size of an array that has been shortened" cmp "$to" <(gzip -dc out)
done
run go2heapsnapshot --format dump --largest-array 1K good.dump
said "--largest-array with a dump of Go 1.3" 1 "go2heapsnapshot: good.dump: arrays of a dump of Go 1.3 cannot be shortened: its objects do not say whether they have pointers"
wrote_nothing "--largest-array with a dump of Go 1.3"

finish
