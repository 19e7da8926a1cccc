#!/bin/sh
# Builds each test_*.c with the library, plainly and under AddressSanitizer and UndefinedBehaviorSanitizer (clang's where
# they are there), and runs it; those that have threads under ThreadSanitizer, too. TAP on standard output.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/sanitize.sh
helpers=$(find tests/unit -name '*.c' ! -name 'test_*')
for kind in plain "$sanitized" ${sanitize_threads:+threads}; do
	build=build/unit/$kind
	tests=$(echo tests/unit/test_*.c)
	case $kind in
	plain) flags=-O1 cc=${CC:-cc} ;;
	threads)
		flags="-O1 -g $sanitize_threads" cc=$sanitizing_cc
		tests=$(printf 'tests/unit/test_%s.c ' exe index order workers)
		;;
	*) flags="-O1 -g $sanitize" cc=$sanitizing_cc ;;
	esac
	make -s BUILD="$build" CC="$cc" CFLAGS="$flags" "$build/libgo2heapsnapshot.a" || exit 1
	for test in $tests; do
		name=$(basename "$test" .c)
		# shellcheck disable=SC2086  # flags and helpers are words
		if ! $cc -std=c17 -D_GNU_SOURCE -Wall -Wextra $flags -Iinclude -Isrc -Itests/unit -o "$build/$name" "$test" $helpers \
			"$build/libgo2heapsnapshot.a" -lcmocka $(make -s libs); then
			echo "not ok - $name builds ($kind)"
			continue
		fi
		CMOCKA_MESSAGE_OUTPUT=TAP "$build/$name" >"$build/$name.tap" 2>"$build/$name.err"
		status=$?
		sed -nE "s/^((not )?ok [0-9]+ - )/\1$name: /p; /^#/p" "$build/$name.tap"
		if [ $status -ne 0 ] && ! grep -q '^not ok' "$build/$name.tap"; then
			echo "not ok - $name ended with status $status ($kind)"
			tail -n 20 "$build/$name.err" | sed 's/^/# /'
		fi
	done
done
