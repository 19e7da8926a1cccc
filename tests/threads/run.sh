#!/bin/bash
# Converts on four threads under ThreadSanitizer, which makes a conversion fail if two threads race for the same memory. The
# output must be the same as that of one thread without it. And converts a heap of 600,000 objects, of which thousands of
# goroutines hold most together, by ways that lead through each other, with several numbers of threads and again: the output
# must always be the same. TAP on standard output.
#
#   GO2HEAPSNAPSHOT      the converter to compare with (default: build/go2heapsnapshot)
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
cd "$top" || exit 1
converter=${GO2HEAPSNAPSHOT:-$top/build/go2heapsnapshot}
. tests/sanitize.sh
build=build/threads/conversions
mkdir -p "$build"
failed=0

# digest NUMBER FORMAT [OPTION]...: prints the digest of the large heap in a format, written by this number of threads.
digest() {
	local threads=$1
	shift
	rm -rf "$build/large"
	nice "$converter" -j "$threads" --format "$@" -o "$build/large" "$build/large.dump" 2>/dev/null || echo "fails with $threads threads"
	find "$build/large" -type f -print0 | sort -z | xargs -0 cat | sha256sum
}

# large NUMBERS FORMAT [OPTION]...: tests a format with each of these numbers of threads.
large() {
	local numbers=$1 number
	shift
	for number in $numbers; do digest "$number" "$@"; done | sort | uniq -c >"$build/log"
	if [ "$(wc -l <"$build/log")" = 1 ] && ! grep -q fails "$build/log"; then
		echo "ok - 600,000 objects as $*: the same with $numbers threads"
	else
		echo "not ok - 600,000 objects as $*: the same with $numbers threads"
		sed 's/^/# /' "$build/log"
		failed=1
	fi
}

if make_plain internal.a && ${CC:-cc} -std=c17 -D_GNU_SOURCE -O1 -Iinclude -Isrc -Itests/unit -o "$build/grow" tests/growth/grow.c \
	tests/unit/dump_builder.c "$plain/internal.a" -lcmocka ${test_libs-$(make -s libs)} >&2 && "$build/grow" places-shared 600000 >"$build/large.dump"; then
	# All formats share the reading and the graph, which the first two repeat; the text of the report is made of what JSON has.
	large '1 2 2 2 8' report --json
	large '1 2 2 2 8' heapsnapshot
	large '1 2 8' heapsnapshot --max-nodes 100000
	for format in html pprof hprof csv; do large '1 2 8' $format; done
	if ! "$converter" --version | grep -q 'without SQLite'; then
		large '1 2 8' sqlite
		large '1 2 8' sqlite --summary
	fi
	rm -rf "$build/large" "$build/large.dump"
else
	echo 'not ok - the generator of large heaps builds'
	failed=1
fi

if [ -z "$sanitize_threads" ]; then
	echo 'ok - races of threads # SKIP no ThreadSanitizer here'
	exit $failed
fi
make_threads go2heapsnapshot || exit 1
rm -f "$build/key"
(umask 077 && head -c 32 /dev/urandom >"$build/key")

# converts NAME ARGUMENT...: tests a conversion to standard output.
converts() {
	local name=$1
	shift
	if ! TSAN_OPTIONS=halt_on_error=0:exitcode=66 "$threads/go2heapsnapshot" -j 4 "$@" >"$build/raced" 2>"$build/log"; then
		echo "not ok - $name: no races"
		grep -a -A 12 -m 3 'WARNING: ThreadSanitizer' "$build/log" | sed 's/^/# /'
		tail -n 3 "$build/log" | sed 's/^/# /'
		failed=1
	elif ! cmp -s <("$converter" -j 1 "$@" 2>/dev/null | $filter) <($filter <"$build/raced"); then
		echo "not ok - $name: no races, and the same bytes"
		failed=1
	else
		echo "ok - $name: no races, and the same bytes"
	fi
}

filter=cat # what is compared of an output

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

# writes NAME ARGUMENT...: tests a conversion to a file or a directory.
writes() {
	local name=$1
	shift
	rm -rf "$build/raced.files" "$build/alone.files"
	if ! TSAN_OPTIONS=halt_on_error=0:exitcode=66 "$threads/go2heapsnapshot" -j 4 -o "$build/raced.files" "$@" 2>"$build/log"; then
		echo "not ok - $name: no races"
		grep -a -A 12 -m 3 'WARNING: ThreadSanitizer' "$build/log" | sed 's/^/# /'
		tail -n 3 "$build/log" | sed 's/^/# /'
		failed=1
	elif ! "$converter" -j 1 -o "$build/alone.files" "$@" 2>/dev/null || ! diff -rq "$build/raced.files" "$build/alone.files" >/dev/null; then
		echo "not ok - $name: no races, and the same bytes"
		failed=1
	else
		echo "ok - $name: no races, and the same bytes"
	fi
}

writes 'a series' --exe samples/leakserver.exe.gz samples/leakserver.[12].dump.gz
writes 'a series, folded' --max-nodes 3000 --exe samples/leakserver.exe.gz samples/leakserver.[12].dump.gz
typed=(--exe samples/leakserver.exe.gz samples/leakserver.1.dump.gz)
for format in hprof report html pprof dump; do
	converts "$format" --format $format "${typed[@]}"
done
converts 'pprof by alloc' --format pprof --by alloc samples/dumps/go1.26-386.2.dump.gz
converts 'hprof, folded, packed' -z --format hprof --max-nodes 1000 "${typed[@]}"
converts 'a report with a base' --format report --json --base samples/leakserver.1.dump.gz "${server[@]}"
converts 'a page of a series' --format html samples/leakserver.1.dump.gz samples/leakserver.1.dump.gz "${server[@]}"
writes 'csv' --format csv samples/leakserver.[12].dump.gz
if ! "$converter" --version | grep -q 'without SQLite'; then
	writes 'sqlite' --format sqlite "${typed[@]}"
	writes 'sqlite, folded, redacted' --format sqlite --max-nodes 1000 --redact-key "$build/key" "${typed[@]}"
	writes 'a summary' --format sqlite --summary "${typed[@]}"
fi
converts 'big-endian' samples/dumps/go1.26-s390x.2.dump.gz

# live: copies a live process, which is stopped, so that all copies of it are the same.
live() {
	local name='a live process'
	. tests/go.sh
	if ! (cd tests/process/ballast && GOROOT=$newest "$newest/bin/go" build -o "$top/$build/app" .) >"$build/log" 2>&1; then
		echo "not ok - $name: builds"
		sed 's/^/# /' "$build/log"
		failed=1
		return
	fi
	"$build/app" none >"$build/app.log" &
	pid=$!
	until grep -q '^ready' "$build/app.log"; do
		kill -0 "$pid" || return
		sleep 0.1
	done
	kill -STOP "$pid"
	if "$converter" --pid "$pid" --format dump 2>"$build/log" >"$build/alone"; then
		converts "$name" --pid "$pid" --format dump
		# The system may take pages from it, and reading pages of its executable makes these resident.
		filter='sed /^..RSS/d'
		converts "$name, its report" --pid "$pid" --format report --path-to main.object
	else
		echo "ok - $name # SKIP $(tail -n 1 "$build/log")"
	fi
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
}
live
exit $failed
