#!/usr/bin/env bash
# Tests the program's command line: what it accepts, prints, writes and leaves behind, to the byte. TAP goes to stdout; the
# exit code is 1 if a test failed.
#
#   run.sh [DUMP_DIR]    sample dumps (default: samples/dumps of the tree)
#
#   GO2HEAPSNAPSHOT      the program (default: build/go2heapsnapshot of the tree)
#   EMULATED             set if the program is run by an emulator: what needs a library that is preloaded is skipped
#   FILES                the tests, without .test.sh (default: all)
#   ONLY                 a regular expression: of their results, only these

set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
program=$(realpath "${GO2HEAPSNAPSHOT:-$top/build/go2heapsnapshot}") || exit 1
dumps=$(cd "${1:-$top/samples/dumps}" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
chmod 711 "$work" # for tests that run the program as another user

# The tests find the program by its own name. The rest of the environment is that of a plain system.
mkdir "$work/bin"
ln -s "$program" "$work/bin/go2heapsnapshot"
export PATH="$work/bin:$PATH" LC_ALL=C here top dumps
unset TMPDIR POSIXLY_CORRECT
export PAGER=cat # which shows at once what a terminal gets
umask 022

for name in ${FILES:-$(basename -s .test.sh "$here"/*.test.sh)}; do
	mkdir "$work/$name"
	(cd "$work/$name" && timeout -k 5 3h bash "$here/$name.test.sh" </dev/null) || [ $? -eq 1 ] || echo "not ok 0 - cli: $name.test.sh itself"
done | awk '
	/^1\.\./            { next }
	/^(not )?ok [0-9]+/ { sub(/ok [0-9]+/, "ok " ++n) }
	/^not ok/           { failed = 1 }
	                    { print; fflush() }
	END                 { print "1.." n + 0; exit failed || !n }'
