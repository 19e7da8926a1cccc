#!/bin/bash
# Tests a dump that is larger than memory: converted in a control group whose limit, page cache included, is below the dump's
# size, it gives the same bytes as without a limit; with types, the dump is read at most seven times. TAP on standard output.
#
#   GO2HEAPSNAPSHOT      the converter (default: build/go2heapsnapshot)
#   MEMORY_GROUP         a group of the memory controller (v1 or v2) in which this script may make groups of its own; by
#                        default it uses the root group of v1, if it may write to it, or a group made by systemd-run.
#                        Without any group, all tests are skipped.
#   BUILD                where everything goes (default: build/memory); its file system must not be tmpfs, whose files
#                        are memory
set -u
cd "$(dirname "$0")/../.." || exit 1
top=$PWD
converter=${GO2HEAPSNAPSHOT:-$top/build/go2heapsnapshot}
build=${BUILD:-$top/build/memory}
dump=$build/heap.dump exe=$build/heapgen
names=('without types' 'with types' 'folded')

# skip REASON [WHY]: prints each test as skipped, and why more exactly.
skip() {
	local name
	for name in "${names[@]}"; do
		echo "ok - a dump larger than memory, $name # SKIP $1"
	done
	[ -z "${2-}" ] || echo "# $2"
	exit 0
}

# in_group MB COMMAND...: runs the command in a group that may use this much memory. The file pressed says how often the
# limit was reached.
in_group() {
	local limit=$(($1 << 20)) status=0
	shift
	if [ "$kind" = systemd ]; then
		# shellcheck disable=SC2016  # for the inner shell
		systemd-run "${systemd[@]}" -p MemoryMax=$limit -p MemorySwapMax=0 bash -c '
			"$@"
			status=$?
			sed -n "s/^max //p" "/sys/fs/cgroup$(sed -n "s/^0:://p" /proc/self/cgroup)/memory.events" >"$0"
			exit $status' "$build/pressed" "$@"
		return
	fi
	mkdir "$group" || return
	if [ "$kind" = v2 ]; then
		echo $limit >"$group/memory.max"
		[ ! -e "$group/memory.swap.max" ] || echo 0 >"$group/memory.swap.max"
	else
		echo $limit >"$group/memory.limit_in_bytes"
	fi
	(echo "$BASHPID" >"$group/cgroup.procs" && exec "$@") || status=$?
	if [ "$kind" = v2 ]; then
		sed -n 's/^max //p' "$group/memory.events" >"$build/pressed"
	else
		cat "$group/memory.failcnt" >"$build/pressed"
	fi
	for _ in {1..3000}; do # processes that have ended may take a moment to leave the group
		rmdir "$group" 2>/dev/null && break
		sleep 0.2
	done
	return $status
}

# Finds out which kind of group works here, by trying one.
find_group() {
	local of_v1=/sys/fs/cgroup/memory
	if [ -z "${MEMORY_GROUP-}" ] && [ -w $of_v1/memory.limit_in_bytes ] && [ -w $of_v1/cgroup.procs ]; then
		MEMORY_GROUP=$of_v1
	fi
	if [ -n "${MEMORY_GROUP-}" ]; then
		group=$MEMORY_GROUP/go2heapsnapshot-test.$$
		if [ -e "$MEMORY_GROUP/memory.limit_in_bytes" ]; then kind=v1; else kind=v2; fi
		[ $kind = v1 ] || grep -qw memory "$MEMORY_GROUP/cgroup.subtree_control" ||
			echo +memory >"$MEMORY_GROUP/cgroup.subtree_control"
		in_group 64 true || skip 'no control groups' "none can be made in $MEMORY_GROUP"
		return
	fi
	command -v systemd-run >/dev/null || skip 'no control groups' 'there is no systemd-run, and MEMORY_GROUP names none'
	kind=systemd systemd=(--user --scope -q)
	[ "$(id -u)" -ne 0 ] || systemd=(--scope -q)
	in_group 64 true 2>/dev/null || skip 'no control groups' 'systemd-run makes none, and MEMORY_GROUP names none'
	[ -s "$build/pressed" ] || skip 'no control groups' 'that of systemd-run does not count memory'
}

# Prints how many bytes were read from the disk, in percent of the dump's size, from the output of measure.
reads() {
	awk -v size="$(stat -c %s "$dump")" '{ printf "%d", 100 * 512 * $5 / size }' "$build/figures"
}

# converts NAME MB READS ARGUMENT...: tests that under a limit of this many MB the dump converts to the same bytes as without
# a limit, and that it is read at most READS times. If READS is -, it may be read any number of times, which then depends on
# how much the system reads ahead.
converts() {
	local name="a dump larger than memory, $1" limit=$2 most=$3 why=''
	shift 3
	rm -f "$build/pressed"
	if ! "$converter" -o "$build/whole" "$@" "$dump" 2>"$build/log"; then
		why='it does not convert without a limit'
	elif sync "$dump" && # the dump leaves the page cache, or its pages would count to another group, not to this one
		! { dd of="$dump" oflag=nocache conv=notrunc,fdatasync count=0 2>/dev/null &&
			in_group "$limit" "$build/measure" -o "$build/short" "$converter" "$@" "$dump" >"$build/figures" 2>"$build/log"; }; then
		why="it does not convert in $limit MB"
	elif ! cmp "$build/whole" "$build/short" 2>"$build/log"; then
		why='other bytes'
	elif [ "$(cat "$build/pressed")" -eq 0 ]; then
		why="$limit MB were enough: nothing was tested"
	elif [ "$most" != - ] && [ "$(reads)" -gt $((most * 100)) ]; then
		why="it is read more than $most times, $(reads) %"
	fi
	if [ -z "$why" ]; then
		echo "ok - $name"
	else
		echo "not ok - $name"
		{ echo "$why" && tail -n 10 "$build/log"; } | sed 's/^/# /'
	fi
	rm -f "$build/whole" "$build/short"
}

mkdir -p "$build"
[ "$(stat -f -c %T "$build")" != tmpfs ] || skip 'build is on tmpfs'
find_group
"${CC:-cc}" -O2 -o "$build/measure" tools/bench/measure.c 2>"$build/log" || {
	echo 'not ok - measure builds'
	exit 1
}
if [ ! -s "$dump" ]; then
	packed_dwarf=yes
	. tests/go.sh
	# shellcheck disable=SC2086  # words
	set -- $goroots
	go=${!#}/bin/go
	if ! (cd tools/bench/heapgen && "$go" build -o "$exe" . && "$exe" -n 1000000 -o "$dump") >"$build/log" 2>&1; then
		echo 'not ok - heapgen builds and dumps itself'
		sed 's/^/# /' "$build/log"
		exit 1
	fi
fi
# The dump has 118 MB. Its conversion needs 56 MB of anonymous memory, 91 MB with types, 95 MB folded.
[ -z "${CHECK_ALL-}" ] || # which the next one does as well
	converts 'without types' 76 -
converts 'with types' 116 7 --exe "$exe"
converts 'folded' 116 - --max-nodes 100K
rm -f "$dump"
