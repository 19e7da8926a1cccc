#!/bin/bash
# Tests what `make install` installs: headers, libraries, and the programs of samples/ built on them, whose output must agree
# with DevTools. TAP on standard output.
#
#   BUILD   where everything goes (default: build/install)
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$(realpath -m "${BUILD:-build/install}")
root=$build/root
leakserver=samples/leakserver

# result NAME COMMAND...: a test that passes if the command succeeds.
result() {
	local name=$1 log
	shift
	if log=$("$@" 2>&1); then echo "ok - $name"; else echo "not ok - $name" && tail -n 30 <<<"$log" | sed 's/^/# /'; fi
}

rm -rf "$build"
# Other suites make in build/ at the same time: hence the lock.
result 'make install' flock build/lock make -s install PREFIX="$root"
result 'the program and its page are there' test -x "$root/bin/go2heapsnapshot" -a -f "$root/share/man/man1/go2heapsnapshot.1"
tests/install/symbols.sh "$root"
tests/install/build.sh "$root" "$build"

# One dump of each kind is enough; with CHECK_ALL all dumps are used.
dumps=("$leakserver".2.dump.gz samples/dumps/go1.{15-amd64,26-386,26-s390x,3.3-386}.1.dump.gz)
[ -z "${CHECK_ALL-}" ] || dumps=("$leakserver".[12].dump.gz samples/dumps/*.dump.gz)
for linked in static shared; do
	# All samples are put into one directory, whichever language they are written in.
	cp "$build/g++/$linked/"* "$build/gcc/$linked/"
	LD_LIBRARY_PATH=$root/lib node tests/install/samples.test.mjs "$root/bin/go2heapsnapshot" "$build/gcc/$linked" \
		"$leakserver.1.dump.gz+$leakserver.exe.gz" "${dumps[@]}" | sed -E "s/^((not )?ok [0-9]+ - )/\1$linked: /"
	dumps=()
done
result 'and count counts objects' env LD_LIBRARY_PATH="$root/lib" "$build/gcc/shared/count" "$leakserver.1.dump.gz"

result 'make samples' flock build/lock make -s samples
result 'samples/README.md shows what they print' node tests/install/readme.mjs samples/README.md
