#!/bin/sh
# Reads a process that stands still in all ways: copied, by a fork, and in a control group without memory for a copy.
#
#   reads.sh GO2HEAPSNAPSHOT PID DIRECTORY [GROUP]
set -e
"$1" --pid "$2" --format dump -o "$3/ours.dump"
[ "$(uname -m)" = x86_64 ] || exit 0
"$1" --fork --pid "$2" --format dump -o "$3/forked.dump"
[ -n "${4-}" ] || exit 0
echo $$ >"$4/cgroup.procs"
exec "$1" --fork --pid "$2" --format dump -o "$3/window.dump"
