# shellcheck shell=bash
# Tests --redact and --redact-key: which keys are accepted, and when two snapshots have the same hashes. tests/keys tests
# what redacted snapshots still tell.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

gzip -dc "$top/samples/leakserver.exe.gz" >app
gzip -dc "$top/samples/leakserver.1.dump.gz" >1.dump
gzip -dc "$top/samples/leakserver.2.dump.gz" >2.dump
how_to='(umask 077; head -c 32 /dev/urandom > FILE) makes a key'

# hashes FILE: prints the hashes in a snapshot, each once.
hashes() {
	grep -o '#[0-9a-f]\{8,\}' "$1" | sort -u
}
# common FILE FILE: prints how many hashes two snapshots have in common.
common() {
	comm -12 <(hashes "$1") <(hashes "$2") | wc -l
}

go2heapsnapshot --exe app -r 1.dump >random.1 2>/dev/null
go2heapsnapshot --exe app -r 1.dump >again.1 2>/dev/null
go2heapsnapshot --exe app -r 2.dump >random.2 2>/dev/null
check "--redact: there are texts" [ "$(hashes random.1 | wc -l)" -gt 500 ]
equal "--redact: the same dump again has no hash in common" "$(common random.1 again.1)" 0
equal "--redact: two dumps have none in common" "$(common random.1 random.2)" 0

for redact in -r --redact-key=1.dump; do
	run go2heapsnapshot $redact --format dump 1.dump
	said "$redact --format dump" 2 "go2heapsnapshot: a dump cannot be redacted: --redact does not go with --format dump" "Try 'go2heapsnapshot --help'."
	check "$redact --format dump: nothing is written" [ ! -s out ]
done

(umask 077 && head -c 32 /dev/urandom >key && head -c 16 /dev/urandom >short.key && head -c 4096 /dev/urandom >long.key)
run go2heapsnapshot --exe app --redact-key key 1.dump
check "--redact-key: fine, and is --redact" [ "$status" -eq 0 -a "$(grep -cE '"lamp"|100 wide' out)" -eq 0 ]
cp out keyed.1
go2heapsnapshot --exe app --redact-key=key -j 1 -r 1.dump >out 2>/dev/null
wrote "--redact-key: again with -j 1: the same bytes" keyed.1
go2heapsnapshot --exe app --redact-key <(cat key) -o - 1.dump >out 2>/dev/null
wrote "--redact-key: from a pipe: the same bytes" keyed.1
go2heapsnapshot --exe app --redact-key key 2.dump >keyed.2 2>/dev/null
check "--redact-key: two dumps agree on their texts" [ "$(common keyed.1 keyed.2)" -gt 500 ]
for other in short.key long.key; do
	run go2heapsnapshot --exe app --redact-key $other 1.dump
	equal "--redact-key $other: is taken, and is another key" "$status $(common keyed.1 out)" '0 0'
done
# Each byte of a key matters: keys that only begin with the same bytes are different keys.
(umask 077 && { cat key && echo; } >longer.key)
go2heapsnapshot --exe app --redact-key longer.key 1.dump >out 2>/dev/null
equal "--redact-key: a key that begins like another is another" "$(common keyed.1 out)" 0

# refused NAME FILE WHY: tests that FILE is refused as a key with the message WHY.
refused() {
	run go2heapsnapshot --exe app --redact-key "$2" -o refused.heapsnapshot 1.dump
	said "--redact-key, $1: an error, and what to do" 1 "go2heapsnapshot: $2: $3"
	equal "--redact-key, $1: no file" "$(find . -name 'refused*')" ''
}
refused "no such file" missing 'cannot open: No such file or directory'
(umask 077 && : >empty && head -c 15 /dev/urandom >15 && head -c 4097 /dev/urandom >4097 && head -c 32 /dev/zero >zeros)
refused "empty" empty "is too short for a key: 0 bytes, at least 16 are needed; $how_to"
refused "15 bytes" 15 "is too short for a key: 15 bytes, at least 16 are needed; $how_to"
refused "4097 bytes" 4097 "is too large for a key, which has at most 4096 bytes; $how_to"
refused "zeros" zeros "is not a random key: has only 1 different bytes; $how_to"
refused "no file" /dev/urandom "is not a key file; $how_to"
refused "a directory" . "is not a key file; $how_to"
cp key readable && chmod 644 readable
refused "readable by everybody" readable 'is a key that everyone can read or write; chmod 600 it if no one has, or make a new one'
chmod 640 readable
run go2heapsnapshot --exe app --redact-key readable 1.dump
wrote "--redact-key: one that a group may read is taken" keyed.1
run go2heapsnapshot --redact-key
said "--redact-key without a file" 2 "go2heapsnapshot: option '--redact-key' requires an argument" "Try 'go2heapsnapshot --help'."

# The program rather writes no snapshot than one with a key that can be guessed.
printf '%s\n' '#include <errno.h>' '#include <sys/types.h>' 'ssize_t getrandom(void *data, size_t size, unsigned flags);' \
	'ssize_t getrandom(void *data, size_t size, unsigned flags)' '{' 'return errno = data || size || flags ? ENOSYS : 0, -1;' '}' >no-random.c
if preloads && "${CC:-cc}" -shared -fPIC -o no-random.so no-random.c 2>/dev/null; then
	run env LD_PRELOAD=./no-random.so go2heapsnapshot --exe app -r 1.dump
	said "--redact without random numbers: an error" 1 "go2heapsnapshot: cannot redact: no random numbers: Function not implemented"
	wrote_nothing "--redact without random numbers: nothing on stdout"
	run env LD_PRELOAD=./no-random.so go2heapsnapshot --exe app --redact-key key 1.dump
	wrote "--redact-key needs none" keyed.1
else
	skip "--redact without random numbers" "no C compiler, or nothing can be preloaded"
fi

finish
