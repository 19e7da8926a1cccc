#!/bin/sh
# Builds each test_*.c with the library and runs it: plainly; under AddressSanitizer and UndefinedBehaviorSanitizer
# (clang's where they are there); those that have threads under ThreadSanitizer. TAP on standard output.
#
#   run.sh [KIND | NAME]...     plain, sanitized, threads (default: all); or a test_NAME.c, which is built plainly, with a
#                               library that is not optimized
#   run.sh host                 for the host that tests/hosts/run.sh has prepared by make_host
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
cd "$top" || exit 1
. tests/sanitize.sh
helpers=$(find tests/unit -name '*.c' ! -name 'test_*')
libraries=$(make -s libs)
emulator= # what runs the tests
failed=0

# wraps TEST: prints the linker's options for a test that defines __wrap_FUNCTION, which is called instead of FUNCTION. If it
# defined FUNCTION itself, it would replace the one of a sanitizer, which must see the call.
wraps() {
	sed -n 's/.*[ *]__wrap_\([a-z0-9_]*\)(.*/-Wl,--wrap=\1/p' "$1" | sort -u
}

# kind NAME MAKE BUILD COMPILER FLAGS TEST...: the flags are for the tests, which need not be fast.
kind() {
	kind=$1 make=$2 build=$3 compiler=$4 flags=$5
	shift 5
	mkdir -p "$build/unit"
	if ! $make internal.a $(echo "$helpers" | sed 's/\.c$/.o/'); then
		echo "not ok - the library and the helpers build ($kind)"
		failed=1
		return
	fi
	all_made=yes
	$make -k CFLAGS="$flags" $(printf '%s\n' "$@" | sed 's/\.c$/.o/') 2>/dev/null || all_made=
	for test; do
		name=$(basename "$test" .c)
		if [ -z "$all_made" ] && ! $make CFLAGS="$flags" "${test%.c}.o"; then # it has been made, if it can be
			echo "not ok - $name builds ($kind)"
			failed=1
			continue
		fi
		# shellcheck disable=SC2046,SC2086  # flags, helpers and libraries are words
		if ! $compiler $flags -o "$build/unit/$name" "$build/${test%.c}.o" $(printf "$build/%s.o " $(echo "$helpers" | sed 's/\.c$//')) \
			"$build/internal.a" $(wraps "$test") ${LDFLAGS-} -lcmocka $libraries; then
			echo "not ok - $name is linked ($kind)"
			failed=1
			continue
		fi
		CMOCKA_MESSAGE_OUTPUT=TAP $emulator "$build/unit/$name" >"$build/unit/$name.tap" 2>"$build/unit/$name.err"
		status=$?
		sed -nE "s/^((not )?ok [0-9]+ - )/\1$name: /p; /^#/p" "$build/unit/$name.tap"
		[ $status -eq 0 ] || failed=1
		if [ $status -ne 0 ] && ! grep -q '^not ok' "$build/unit/$name.tap"; then
			echo "not ok - $name ended with status $status ($kind)"
			tail -n 20 "$build/unit/$name.err" | sed 's/^/# /'
		fi
	done
}

# shellcheck disable=SC2046  # names are words
for wanted in ${*:-plain sanitized threads}; do
	case $wanted in
	plain) kind plain make_plain "$plain" "${CC:-cc}" '-O0 -g1' tests/unit/test_*.c ;;
	sanitized) kind sanitized make_sanitized "$sanitized" "$sanitizing_cc" "$sanitize -O0" tests/unit/test_*.c ;;
	threads)
		if [ -n "$sanitize_threads" ]; then
			kind threads make_threads "$threads" "$sanitizing_cc" "$sanitize_threads -O0" \
				$(printf 'tests/unit/test_%s.c ' exe identity index mark order workers)
		else
			echo 'ok - races of threads # SKIP no ThreadSanitizer here'
		fi
		;;
	host)
		emulator=${EMULATOR-}
		kind "$HOST" "make_host WERROR=" "$BUILD" "$cached $CC" '-O0 -g1' tests/unit/test_*.c
		;;
	*) kind debug make_debug "$debug" "${CC:-cc}" '-O0 -g' "tests/unit/test_$wanted.c" ;;
	esac
done
exit $failed
