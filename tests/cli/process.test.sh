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

finish
