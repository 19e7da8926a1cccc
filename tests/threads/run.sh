#!/bin/bash
# Converts on four threads under ThreadSanitizer, which makes a conversion fail if two threads race for the same memory. The
# output must be the same as that of one thread without it. TAP on standard output.
#
#   GO2HEAPSNAPSHOT      the converter to compare with (default: build/go2heapsnapshot)
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
cd "$top" || exit 1
converter=${GO2HEAPSNAPSHOT:-$top/build/go2heapsnapshot}
. tests/sanitize.sh
build=build/threads/conversions
mkdir -p "$build"
if [ -z "$sanitize_threads" ]; then
	echo 'ok - races of threads # SKIP no ThreadSanitizer here'
	exit
fi
make_threads go2heapsnapshot || exit 1
rm -f "$build/key"
(umask 077 && head -c 32 /dev/urandom >"$build/key")
failed=0

# converts NAME ARGUMENT...: tests a conversion to standard output.
converts() {
	local name=$1
	shift
	if ! TSAN_OPTIONS=halt_on_error=0:exitcode=66 "$threads/go2heapsnapshot" -j 4 "$@" >"$build/raced" 2>"$build/log"; then
		echo "not ok - $name: no races"
		grep -a -A 12 -m 3 'WARNING: ThreadSanitizer' "$build/log" | sed 's/^/# /'
		tail -n 3 "$build/log" | sed 's/^/# /'
		failed=1
	elif ! "$converter" -j 1 "$@" 2>/dev/null | cmp -s - "$build/raced"; then
		echo "not ok - $name: no races, and the same bytes"
		failed=1
	else
		echo "ok - $name: no races, and the same bytes"
	fi
}

server=(--exe samples/leakserver.exe.gz samples/leakserver.2.dump.gz)
converts 'with types' "${server[@]}"
converts 'with types, without garbage' --reachable "${server[@]}"
converts 'with types, folded' --max-nodes 3000 "${server[@]}"
converts 'with types, redacted' --redact-key "$build/key" "${server[@]}"
converts 'with types, folded, redacted, packed' -z --max-nodes 3000 --redact-key "$build/key" "${server[@]}"
converts 'without types' samples/leakserver.2.dump.gz
converts 'without types, folded' --max-nodes 3000 samples/leakserver.2.dump.gz
converts 'types in the dump' samples/dumps/go1.3.3-amd64.2.dump.gz
converts '32 bits' samples/dumps/go1.26-386.2.dump.gz
# series NAME ARGUMENT...: tests the conversion of a series.
series() {
	local name=$1
	shift
	rm -rf "$build/raced.d" "$build/alone.d"
	if ! TSAN_OPTIONS=halt_on_error=0:exitcode=66 "$threads/go2heapsnapshot" -j 4 -o "$build/raced.d" "$@" 2>"$build/log"; then
		echo "not ok - $name: no races"
		grep -a -A 12 -m 3 'WARNING: ThreadSanitizer' "$build/log" | sed 's/^/# /'
		tail -n 3 "$build/log" | sed 's/^/# /'
		failed=1
	elif ! "$converter" -j 1 -o "$build/alone.d" "$@" 2>/dev/null || ! diff -rq "$build/raced.d" "$build/alone.d" >/dev/null; then
		echo "not ok - $name: no races, and the same bytes"
		failed=1
	else
		echo "ok - $name: no races, and the same bytes"
	fi
}

series 'a series' --exe samples/leakserver.exe.gz samples/leakserver.[12].dump.gz
series 'a series, folded' --max-nodes 3000 --exe samples/leakserver.exe.gz samples/leakserver.[12].dump.gz
converts 'big-endian' samples/dumps/go1.26-s390x.2.dump.gz
exit $failed
