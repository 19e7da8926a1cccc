# shellcheck shell=bash
# Tests where a dump may come from, and the messages about files that are no dumps.
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
head -c 100000 /dev/zero >zeros
run go2heapsnapshot zeros
said "a file of zeros" 1 "go2heapsnapshot: zeros: $not_a_dump"
printf 'go1.7 heap' >header.dump
run go2heapsnapshot header.dump
said "cut within the header" 1 "go2heapsnapshot: header.dump: byte 10: the dump is cut within its header"
printf 'go1.7 heap dump\n' >header.dump
run go2heapsnapshot header.dump
said "cut behind the header" 1 "go2heapsnapshot: header.dump: byte 16: the dump is cut: nothing follows its header"

# instead NAME WHAT WHAT_TO_DO: tests the file foreign, given in place of a dump, and then gzipped.
instead() {
	run go2heapsnapshot foreign
	said "instead of a dump: $1" 1 "go2heapsnapshot: foreign: not a Go heap dump but $2; $3"
	wrote_nothing "instead of a dump: $1: nothing on stdout"
	gzip -nc foreign >foreign.gz
	run go2heapsnapshot - <foreign.gz
	said "instead of a dump: $1, gzipped, on stdin" 1 "go2heapsnapshot: standard input: not a Go heap dump but $2; $3"
}
# text LINE: tests the file foreign, a text, of which the message must quote this line.
text() {
	instead "text: $1" "text that begins \"$1\"" \
		'if a server was asked for the dump, that is its answer: curl -f would have failed'
}
dumped='a heap dump is what runtime/debug.WriteHeapDump writes'
cp good.heapsnapshot foreign
instead "a snapshot" 'a heap snapshot already' 'open it in DevTools as it is: Memory, "Load profile"'

# core NAME MESSAGE: tests the file foreign, a core that cannot be read.
core() {
	run go2heapsnapshot foreign
	said "a core file: $1" 1 "go2heapsnapshot: foreign: $2"
	gzip -nc foreign >foreign.gz
	run go2heapsnapshot - <foreign.gz
	said "a core file: $1, gzipped, on stdin" 1 "go2heapsnapshot: standard input: $2"
}
kinds='a core file of this kind is not read: ELF cores of 64-bit little-endian machines are'
# ELF headers, of both byte orders: e_type is the 2 bytes from offset 16 on.
printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\4\0\76\0' >foreign
core "less than a header" "$kinds"
{
	printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\4\0\76\0'
	head -c 44 /dev/zero
} >foreign
core "without memory" 'this core file has no memory in it'
{
	printf '\177ELF\1\2\1\0\0\0\0\0\0\0\0\0\0\4\0\10'
	head -c 44 /dev/zero
} >foreign
core "big-endian" 'is the core of a 32-bit big-endian process: only 64-bit little-endian ones are read'
printf '\317\372\355\376\7\0\0\1\3\0\0\0\4\0\0\0' >foreign
core "of macOS" "$kinds"
give_exe='give it beside the dump that it wrote: --exe EXECUTABLE DUMP'
cp /bin/sh foreign
instead "an executable" 'an executable' "$give_exe"
printf '\177ELF\1\2\1\0\0\0\0\0\0\0\0\0\0\2\0\10' >foreign
instead "an executable, big-endian" 'an executable' "$give_exe"
printf '\317\372\355\376\7\0\0\1\3\0\0\0\2\0\0\0' >foreign
instead "an executable of macOS" 'an executable' "$give_exe"
printf 'MZ\220\0\3\0\0\0' >foreign
instead "an executable of Windows" 'an executable' "$give_exe"

no_objects='it has no objects; --pid reads the heap of the process, as does a core file of it'
# Profiles: one that has period_type, period, sample_type and a string_table whose first entry is ""; one that has a time and
# two strings; profiles in text form.
printf '\132\4\10\1\20\2\140\200\200\40\12\4\10\3\20\4\62\0\62\5space' >foreign
instead "a heap profile" 'a pprof profile' "$no_objects"
printf '\110\200\200\200\10\62\0\62\3cpu' >foreign
instead "a CPU profile" 'a pprof profile' "$no_objects"
for line in 'heap profile: 1: 32 [2: 64] @ heap/1048576' 'goroutine profile: total 7' 'threadcreate profile: total 8' '--- mutex:' \
	'--- contention:'; do
	printf '%s\n1 @ 0x43\n' "$line" >foreign
	instead "$line" 'a pprof profile' "$no_objects"
done
printf 'goroutine 1 [running]:\nmain.main()\n' >foreign
instead "a traceback" 'a traceback of goroutines' "$no_objects"
printf 'go 1.22 trace\0\0\0' >foreign
instead "a trace" 'an execution trace of runtime/trace' "$no_objects"
printf 'SIGQUIT: quit\nPC=0x46a1 m=0 sigcode=0\n' >foreign
instead "a traceback of SIGQUIT" 'a traceback of goroutines' "$no_objects"
printf 'panic: oh\n\ngoroutine 1 [running]:\n' >foreign
instead "a traceback of a panic" 'a traceback of goroutines' "$no_objects"
printf 'PERFILE2h\0\0\0\0\0\0\0' >foreign
instead "perf.data" 'a profile of perf' "$no_objects"
printf 'KDUMP   \6\0\0\0Linux' >foreign
instead "kdump" "a dump of a machine's memory (kdump)" 'a core file of the process, as by gcore, has its heap'
go2heapsnapshot --format hprof good.dump >foreign
instead "hprof" 'an hprof heap dump' 'memory analyzers for Java open it; this program reads the dump, core file or process that it may have been made of'
printf 'SQLite format 3\0\20\0\1\1' >foreign
instead "SQLite" 'an SQLite database' 'it may be an output of this program, which reads the dump, core file or process that it was made of'
sed 's/$/\r/' good.dump >foreign
instead "CR LF" 'one in which line feeds have become CR LF, by a terminal or a transfer as text, which destroys it' \
	'write it to a file in the process, or transfer it in binary mode'

# packed METHOD COMMAND BYTES: tests files of a method, for which there may be a library in the program and a command here.
packed() {
	local has=no file cut
	go2heapsnapshot --version | grep -Eq "[^t] $1 [0-9]" && has=yes
	printf "$3" >foreign
	if [ $has = no ]; then
		instead "$1" "$(article "$1") $1 archive" "unpack it first: $2"
		run go2heapsnapshot --exe foreign good.dump
		equal "--exe, $1" "$status $(head -n 1 err)" "1 go2heapsnapshot: foreign: is packed by $1; unpack it first: $2"
		return
	fi
	run go2heapsnapshot foreign
	said "$1: a header alone" 1 "go2heapsnapshot: foreign: byte $(stat -c %s foreign): the $1 stream is cut"
	if ! command -v "${2% *}" >/dev/null; then
		echo "ok $((tests += 1)) - cli: $1 # SKIP there is no ${2% *}"
		return
	fi
	file=good.dump.$1
	"${2% *}" -c <good.dump >"$file"
	run go2heapsnapshot "$file"
	said "$1" 0
	wrote "$1: the same bytes" good.heapsnapshot
	run go2heapsnapshot - <"$file"
	wrote "$1, on stdin: the same bytes" good.heapsnapshot
	run cat_to go2heapsnapshot /dev/stdin <"$file"
	wrote "$1, by a pipe as /dev/stdin: the same bytes" good.heapsnapshot
	cat "$file" "$file" >foreign
	run go2heapsnapshot foreign
	said "$1: two streams" 0 "go2heapsnapshot: warning: foreign: the bytes after the EOF record are ignored"
	if [ "$1" = lz4 ]; then lz4 -B4 -c <good.dump >"$file"; fi # in blocks of 64 KB
	head -c $(($(stat -c %s "$file") * 2 / 3)) "$file" >foreign
	run go2heapsnapshot foreign
	equal "$1, cut: status 3" "$status" 3
	check "$1, cut: says so" grep -q "^go2heapsnapshot: warning: foreign: byte [0-9]*: the $1 stream is cut" err
	head -c 100000000 /dev/zero | "${2% *}" -c >"zeros.$1"
	endless $small : "zeros.$1"
	said "zeros by $1" 1 "go2heapsnapshot: zeros.$1: $not_a_dump"
	endless $small : --exe "zeros.$1" good.dump
	equal "--exe, zeros by $1" "$status $(head -n 1 err)" "1 go2heapsnapshot: zeros.$1: is not an executable (ELF, Mach-O or PE)"
	"${2% *}" -c <"$file" >foreign
	run go2heapsnapshot foreign
	said "$1 within $1" 1 "go2heapsnapshot: foreign: not a Go heap dump but $(article "$1") $1 archive; unpack it first: $2"
}
article() { if [ "$1" = zstd ]; then echo a; else echo an; fi; }
cat_to() { cat | "$@"; }
printf 'BZh91AY' >foreign
instead "bzip2" 'a bzip2 archive' 'unpack it first: bzip2 -d'
printf 'PK\3\4\24' >foreign
instead "zip" 'a zip archive' 'unpack it first: unzip'
printf '7z\274\257\47\34' >foreign
instead "7z" 'a 7z archive' 'unpack it first: 7z x'
tar cf foreign good.dump
instead "tar, and .tgz" 'a tar archive' 'unpack it first: tar -x'
gzip -c good.dump | gzip -c >foreign.gz
run go2heapsnapshot foreign.gz
said "instead of a dump: gzip within gzip" 1 "go2heapsnapshot: foreign.gz: not a Go heap dump but gzip within gzip; unpack it first: gzip -d"
printf 'MDMP\223\247' >foreign
instead "a minidump" 'a minidump of Windows' "$dumped"
printf '\377\376g\0o\0001\0.\0007\0' >foreign
instead "UTF-16" "UTF-16, as PowerShell's > makes of it" 'write it with curl -o'

echo '404 page not found' >foreign
text '404 page not found'
printf '\r\n  <html>\r\n<title>502 Bad Gateway</title>\r\n' >foreign
text '<html>'
printf 'Nicht gef\303\274hrt\33[31m\t!' >foreign
text 'Nicht gef?hrt?[31m?!'
printf '%072d\n' 1 >foreign
text "$(printf '%072d' 1)"
printf '%073d\n' 1 >foreign
text "$(printf '%072d...' 0)"
echo 'Just a moment...' >foreign # no hprof dump, of which the first byte is the same
text 'Just a moment...'
echo >foreign
text ''
printf 'go1.7 heap dump of mine\n' >foreign
text 'go1.7 heap dump of mine'
printf 'go1.7 heap\0dump' >foreign
run go2heapsnapshot foreign
said "bytes of no kind" 1 "go2heapsnapshot: foreign: $not_a_dump"

# Root may read it, so another user runs the program then.
cp good.dump secret.dump
chmod 0 secret.dump
as_user=()
[ "$(id -u)" -ne 0 ] || as_user=(setpriv --reuid=54321 --regid=54321 --clear-groups --inh-caps=-all)
if ! "${as_user[@]}" go2heapsnapshot --version >as_user.said 2>&1 || ! "${as_user[@]}" head -c 1 good.dump >>as_user.said 2>&1; then
	skip "a file without read permission" "root may read it, and there is no setpriv, or nothing here is for other users"
else
	run "${as_user[@]}" go2heapsnapshot secret.dump
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

# Input that has no end, or that unpacks to a thousand times its size, is not copied as a whole: the conversion stays within
# a limit on files' sizes that a whole copy would exceed.
# endless LIMIT_KB SOURCE ARGUMENT...: converts, within the limit, with the output of the shell command SOURCE as standard
# input.
endless() {
	local limit=$1 source=$2
	shift 2
	status=0
	eval "$source" 2>/dev/null | (ulimit -f "$limit" && timeout 3600 go2heapsnapshot "$@" >out 2>err)
	status=${PIPESTATUS[1]}
}
small=24000 large=72000 # kB: a copy of input that is no dump has 16 MB at most; if it begins as a dump, 64 MB and the part read
endless $small : /dev/zero
said "/dev/zero" 1 "go2heapsnapshot: /dev/zero: $not_a_dump"
endless $small 'cat /dev/zero' -
said "zeros without end on stdin" 1 "go2heapsnapshot: standard input: $not_a_dump"
endless $small 'yes 404 page not found' -
said "text without end" 1 'go2heapsnapshot: standard input: not a Go heap dump but text that begins "404 page not found"; if a server was asked for the dump, that is its answer: curl -f would have failed'
head -c 100000000 /dev/zero | gzip -1 >zeros.gz
endless $small : zeros.gz
said "gzipped zeros" 1 "go2heapsnapshot: zeros.gz: $not_a_dump"
endless $small 'cat zeros.gz' -
said "gzipped zeros on stdin" 1 "go2heapsnapshot: standard input: $not_a_dump"

# Behind the header of a dump and its params follow zeros, the first of which is an EOF record, or the beginning of a record
# that takes all bytes behind it.
header='go1.7 heap dump\n\6\0\10\200\200\200\1\200\200\200\2\5amd64\0\2'
huge='\200\200\200\200\200\200\200\200\1' # 2^56
# takes_all NAME RECORD FILLER STATUS PATTERN: converts the header, RECORD, and the output of the shell command FILLER. The
# exit status must be STATUS, and a line of stderr match PATTERN.
takes_all() {
	endless $large "printf '$header$2'; $3" -
	check "$1: exit $4, not a full disk" [ "$status" -eq "$4" ]
	check "$1: what is wrong is that" grep -q "$5" err
}
takes_all "zeros after a header" '' 'cat /dev/zero' 0 'bytes after the EOF record'
takes_all "a description of 2^56 bytes" "\\2$huge" 'cat /dev/zero' 3 '(otherroot, .*beyond the end'
takes_all "a profile of 2^56 frames" "\\20\\1\\1$huge" 'cat /dev/zero' 3 '(alloc/free profile, .*beyond the end'
takes_all "fields without end" '\1\200\200\200\1\10go1.go1.' "yes | tr 'y\\n' '\\1\\0'" 3 '(object, .*is cut'
takes_all "a record of no kind" '\177' 'cat /dev/zero' 3 'unknown tag'
# shellcheck disable=SC2059
{ printf "$header" && head -c 100000000 /dev/zero; } | gzip -1 >bomb.gz
endless $large : bomb.gz
check "gzipped zeros after a header: exit 0, not a full disk" [ "$status" -eq 0 ]
{ cat good.dump && head -c 100000000 /dev/zero; } | gzip -1 >behind.gz
endless $large : behind.gz
said "gzipped zeros after the EOF record" 0 \
	"go2heapsnapshot: warning: behind.gz: the bytes after the EOF record are ignored"
wrote "gzipped zeros after the EOF record: the same bytes" good.heapsnapshot

packed xz 'xz -d' '\3757zXZ\0'
packed zstd 'zstd -d' '\50\265\57\375\4'
packed lz4 'lz4 -d' '\4\42\115\30d'

no_exe='is not an executable (ELF, Mach-O or PE)'
endless $small : --exe /dev/zero good.dump
equal "--exe /dev/zero" "$status $(head -n 1 err)" "1 go2heapsnapshot: /dev/zero: $no_exe"
endless $small : --exe zeros.gz good.dump
equal "--exe, gzipped zeros" "$status $(head -n 1 err)" "1 go2heapsnapshot: zeros.gz: $no_exe"
{ head -c 64 /bin/sh && head -c 100000000 /dev/zero; } | gzip -1 >exe.gz
endless $large : --exe exe.gz good.dump
equal "--exe, gzipped zeros after a header" "$status $(head -n 1 err)" \
	"1 go2heapsnapshot: exe.gz: unpacks to more than an executable does"

finish
