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
. tests/sanitize.sh
. tests/result.sh

rm -rf "$build"
# Prints the files that make installs, and when they were written.
built() { stat -c '%n %Y %Z' "$plain"/go2heapsnapshot "$plain"/heapquery "$plain"/libgo2heapsnapshot.*; }

# Succeeds if installing from a build directory that cannot be written works, as when root installs what a user has built. Root may write
# anything, so what counts is that nothing was.
installs() {
	local before
	before=$(built) && make -s BUILD="$plain" install PREFIX="$1" && diff <(echo "$before") <(built)
}

# Succeeds if the files in a directory are the expected ones, and if uninstalling leaves nothing but directories.
uninstalls() {
	make -s BUILD="$plain" install DESTDIR="$build/staged" PREFIX=/opt/g2h LIBDIR=/opt/g2h/lib64 || return
	(cd "$build/staged/opt/g2h" && find . ! -type d | sort | sed 's/so[.]0[.][0-9.]*$/so.VERSION/') | diff - tests/install/files || return
	grep -qx 'libdir=/opt/g2h/lib64' "$build/staged/opt/g2h/lib64/pkgconfig/go2heapsnapshot.pc" || return
	make -s BUILD="$plain" uninstall DESTDIR="$build/staged" PREFIX=/opt/g2h LIBDIR=/opt/g2h/lib64 && [ -z "$(find "$build/staged" ! -type d)" ]
}

# Succeeds if a tree that cannot be written builds elsewhere: a copy, in a mount that is read-only.
builds_outside() {
	mkdir -p "$build/source" && git ls-files -z Makefile include src docs tools | tar -c --null --files-from=- | tar -x -C "$build/source" &&
		unshare --mount bash -ec 'mount --bind -o ro "$1" "$1"; cd "$1"; if touch new 2>/dev/null; then exit 1; fi
			make -s -j"$(nproc)" CC="$2" CFLAGS=-O0 BUILD="$3" install DESTDIR="$3/staged"' bash "$build/source" "$cached ${CC:-cc}" "$build/outside" &&
		"$build/outside/staged/usr/local/bin/go2heapsnapshot" --version
}

# Other suites make in that directory at the same time: hence the lock.
export -f installs uninstalls builds_outside built
export build cached plain
result 'make install, without building anything' flock "$plain/lock" bash -c 'installs "$1"' bash "$root"
result 'make install puts its files where they belong, and make uninstall removes them' flock "$plain/lock" bash -c uninstalls
if [ -n "${CHECK_ALL-}" ]; then # it compiles everything once more
	if unshare --mount true 2>/dev/null; then
		result 'make install from a directory that is read-only' builds_outside
	else
		echo 'ok - make install from a directory that is read-only # SKIP no right to mount'
	fi
fi
tests/install/completions.sh "$root"
tests/install/symbols.sh "$root"
tests/install/handler.sh "$build/handler"
tests/install/build.sh "$root" "$build"

# One dump of each kind is enough; with CHECK_ALL all dumps are used.
dumps=("$leakserver".2.dump.gz samples/dumps/go1.{26-s390x,3.3-386}.1.dump.gz)
[ -z "${CHECK_ALL-}" ] || dumps=("$leakserver".[12].dump.gz samples/dumps/*.dump.gz)
for linked in static shared; do
	# All samples are put into one directory, whichever language they are written in.
	cp "$build/g++/$linked/"* "$build/gcc/$linked/"
	LD_LIBRARY_PATH=$root/lib node tests/install/samples.test.mjs "$root/bin/go2heapsnapshot" "$build/gcc/$linked" \
		"$leakserver.1.dump.gz+$leakserver.exe.gz" "${dumps[@]}" | sed -E "s/^((not )?ok [0-9]+ - )/\1$linked: /"
	dumps=()
done
result 'and count counts objects' env LD_LIBRARY_PATH="$root/lib" "$build/gcc/shared/count" "$leakserver.1.dump.gz"

result 'make samples' flock "$plain/lock" make -s BUILD="$plain" samples
result 'samples/README.md shows what they print' node tests/install/readme.mjs samples/README.md "$plain"
