# shellcheck shell=bash
# Tests --pid where this program cannot look at any process: what it says is then not about the process.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

sleep 3600 &
pid=$!
# The program's libraries are opened one after the other, so one descriptor is enough for them.
run bash -c 'exec 3>&- 4>&-; ulimit -n 4 && exec go2heapsnapshot --pid "$1" -o x' - "$pid"
if grep -q 'shared librar' err; then
	skip "no file descriptors" "the program does not start"
else
	said "no file descriptors" 1 "go2heapsnapshot: process $pid: cannot be read, because no file descriptor is left for this program: raise ulimit -n"
fi
if unshare -m sh -c 'mount -t tmpfs none /proc' 2>/dev/null; then
	# shellcheck disable=SC2016
	run unshare -m sh -c 'mount -t tmpfs none /proc && exec go2heapsnapshot --pid "$1" -o x' - "$pid"
	said "no /proc" 1 "go2heapsnapshot: process $pid: cannot be looked at, because /proc is not mounted here: mount -t proc proc /proc"
	# shellcheck disable=SC2016
	run unshare -pf sh -c 'go2heapsnapshot --pid "$1" -o x; exit $?' - "$pid"
	said "another pid namespace" 1 "go2heapsnapshot: process $pid: /proc is of another pid namespace than this program is in, so that numbers of processes are others: mount -t proc proc /proc, or run this by nsenter where the process is"
else
	skip "no /proc, another pid namespace" "no mount namespace can be made here"
fi
kill "$pid"

# A pipe gets a snapshot, which is said; a file gets one silently, as the documentation has it.
note='go2heapsnapshot: note: a pipe gets a snapshot for DevTools; --format report writes a report'
run sh -c 'go2heapsnapshot --pid 2147483647 | cat'
check "--pid into a pipe: says that it is a snapshot" grep -qxF "$note" err
for option in '--format heapsnapshot' '--show main.T' '--watch 1s' '-z' '--at-death'; do
	run sh -c "go2heapsnapshot $option --pid 2147483647 | cat"
	check "--pid $option into a pipe: does not" eval '! grep -qF "a pipe gets" err'
done
run go2heapsnapshot --pid 2147483647
check "--pid into a file: does not" eval '! grep -qF "a pipe gets" err'

# --pid alone, and a name: a program that waits, and has what makes it a Go program of 1.27.4 to whoever looks at its file.
cat >waits.c <<'END'
#include <unistd.h>
__attribute__((section(".go.buildinfo"), aligned(16), used)) static const unsigned char info[48] = {
    0xff, ' ', 'G', 'o', ' ', 'b', 'u', 'i', 'l', 'd', 'i', 'n', 'f', ':', 8, 2,
    [32] = 8, 'g', 'o', '1', '.', '2', '7', '.', '4', 0};
int main(void)
{
    sleep(3600);
    return info[0];
}
END
"${CC:-cc}" -o auctions$$ waits.c 2>/dev/null
cp auctions$$ "other one $$"
./auctions$$ &
first=$!
"./other one $$" &
second=$!
"./other one $$" &
third=$!
# A process has its name once it has started its program.
started() {
	local i
	for ((i = 0; i < patience; i++)); do
		[ "$(go2heapsnapshot --pid 2>/dev/null | grep -cw -e "$first" -e "$second" -e "$third")" -eq 3 ] && return
		kill -0 "$first" "$second" "$third" 2>/dev/null || return 1
		sleep 0.05
	done
	return 1
}
if [ -x auctions$$ ] && preloads && started; then
	run go2heapsnapshot --pid
	check "--pid alone: lists Go processes" grep -Eq "^ *$first  [-0-9]{10} [0-9:]{5}  +[0-9.]+ .?B  go1\.[0-9.]+ +auctions$$$" out
	check "--pid alone: and no others" [ "$(grep -cE "^ *$$ " out)" -eq 0 ]
	check "--pid alone: exit status 0" [ "$status" -eq 0 ]
	run go2heapsnapshot --pid "other one $$" -o x
	check "a name that two processes have: exit status" [ "$status" -eq 2 ]
	equal "a name that two processes have: which they are" "$(awk '{ print $1 }' err | tail -n 2 | xargs)" "$second $third"
	check "a name that two processes have: says so" grep -qxF "go2heapsnapshot: 2 Go processes are called 'other one $$': choose one by its number" err
	kill "$third"
	wait "$third" 2>/dev/null
	run go2heapsnapshot --pid auctins$$ -o x
	check "a name that no process has: the nearest" grep -q "^go2heapsnapshot: no Go process is called 'auctins$$'; did you mean .*auctions$$" err
	run go2heapsnapshot --pid auctions$$ -o x.json --format report
	check "a name is as its number" grep -q "^go2heapsnapshot: /proc/$first/exe: " err
else
	skip "--pid alone, and a name" "no program can be made here"
fi
kill "$first" "$second" "$third" 2>/dev/null

finish
