#!/bin/bash
# Builds each test_*.c with the library and runs it: plainly; under AddressSanitizer and UndefinedBehaviorSanitizer
# (clang's where they are there); those that have threads under ThreadSanitizer. TAP on standard output.
#
#   run.sh [KIND | NAME]...     plain, sanitized, threads (default: these three); unsanitized: plain ones that sanitizers would
#                               disturb; or a test_NAME.c, or NAME:FUNCTION of it, which is built plainly, with a library that
#                               is not optimized
#   run.sh host                 for the host that tests/hosts/run.sh has prepared by make_host
#
# All tests of a kind are one program, which runs the one that its name says: linking takes longer than compiling. A test whose
# functions replace others of the library (__wrap_FUNCTION) is a program of its own.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
cd "$top" || exit 1
. tests/sanitize.sh
mapfile -t helpers < <(find tests/unit -name '*.c' ! -name 'test_*')
emulator='' # what runs the tests
failed=0

# wraps TEST: prints the linker's options for a test that defines __wrap_FUNCTION, which is called instead of FUNCTION. If it
# defined FUNCTION itself, it would replace the one of a sanitizer, which must see the call.
wraps() {
	sed -n 's/.*[ *]__wrap_\([a-z0-9_]*\)(.*/-Wl,--wrap=\1/p' "$1" | sort -u
}

not_ok() {
	echo "not ok - $*"
	failed=1
}

# link NAME OBJECT... [OPTION]...: links $build/unit/NAME with the library.
link() {
	local name=$1
	shift
	# shellcheck disable=SC2046,SC2086  # flags and libraries are words
	$compiler $flags -o "$build/unit/$name" "$@" "${helpers[@]/#/$build/}" "$build/internal.a" ${LDFLAGS-} -lcmocka $(<"$build/libs") && return
	not_ok "$name is linked ($kind)"
	return 1
}

# is_newest FILE OTHER...: succeeds if the file is there, and newer than all others.
is_newest() {
	local other
	for other in "${@:2}"; do [ "$1" -nt "$other" ] || return; done
}

# link_all NAME...: links the tests into $build/unit/all, each with another name for its main(), and makes each NAME a link to it.
link_all() {
	local name objects=()
	{
		echo '#include <string.h>'
		printf 'int %s_main(void);\n' "$@"
		echo 'int main(int argc, char **argv) { const char *slash = strrchr(argv[0], 47), *name = slash ? slash + 1 : argv[0]; (void)argc;'
		printf '%s\n' "$@" | sed 's/.*/if (strcmp(name, "&") == 0) return &_main();/'
		echo 'return 2; }'
	} >"$build/unit/all.c"
	for name; do
		"${OBJCOPY:-${CROSS_COMPILE-}objcopy}" --redefine-sym main="${name}_main" "$build/tests/unit/$name.o" "$build/unit/$name.o" || return
		objects+=("$build/unit/$name.o")
	done
	link all "$build/unit/all.c" "${objects[@]}" || return
	for name; do ln -f "$build/unit/all" "$build/unit/$name" || return; done
}

# run_test NAME: runs a test; its TAP goes to $build/unit/NAME.said. cmocka calls a test that is skipped not ok.
run_test() {
	local status at=$build/unit/$1
	CMOCKA_MESSAGE_OUTPUT=TAP $emulator "$at" >"$at.tap" 2>"$at.err"
	status=$?
	{
		sed -nE "s/^((not )?ok [0-9]+ - )/\1$1: /p; s/^not ok ([0-9]+) # SKIP (.*)/ok \1 - $1: \2 # SKIP by itself ($kind)/p; /^#/p" "$at.tap"
		if [ $status -ne 0 ] && ! grep -q '^not ok [0-9]* - ' "$at.tap"; then
			echo "not ok - $1 ended with status $status ($kind)"
			tail -n 20 "$at.err" | sed 's/^/# /'
		fi
	} >"$at.said"
	return $status
}

# kind NAME MAKE BUILD COMPILER FLAGS TEST...: the flags are for the tests, which need not be fast. One test has those of the library:
# make needs a quarter of a second to see that nothing is to be done.
kind() {
	local test name names=() together=() is_made=
	kind=$1 make=$2 build=$3 compiler=$4 flags=$5
	shift 5
	mkdir -p "$build/unit"
	if [ $# -eq 1 ] && $make libs internal.a "${helpers[@]/%.c/.o}" "${1%.c}.o" 2>/dev/null; then
		is_made=yes
	elif ! $make libs internal.a "${helpers[@]/%.c/.o}"; then
		not_ok "the library and the helpers build ($kind)"
		return
	fi
	helpers=("${helpers[@]/%.c/.o}")
	if [ -z "$is_made" ] && $make -k CFLAGS="$flags" "${@/%.c/.o}" 2>/dev/null; then is_made=yes; fi
	for test; do
		name=$(basename "$test" .c)
		if [ $# -eq 1 ] && [ -n "$is_made" ] && is_newest "$build/unit/$name" "$build/${test%.c}.o" "$build/internal.a" "${helpers[@]/#/$build/}"; then
			names+=("$name")
			continue
		fi
		rm -f "$build/unit/$name"
		if [ -z "$is_made" ] && ! $make CFLAGS="$flags" "${test%.c}.o"; then
			not_ok "$name builds ($kind)"
		elif [ $# -eq 1 ] || [ -n "$(wraps "$test")" ]; then
			# shellcheck disable=SC2046  # options are words
			link "$name" "$build/${test%.c}.o" $(wraps "$test") && names+=("$name")
		else
			together+=("$name")
		fi
	done
	if [ ${#together[@]} -gt 0 ]; then
		if link_all "${together[@]}"; then names+=("${together[@]}"); else not_ok "the tests become one program ($kind)"; fi
	fi
	for name in "${names[@]}"; do
		while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || failed=1; done
		run_test "$name" &
	done
	while [ -n "$(jobs -rp)" ]; do wait -n || failed=1; done
	for name in "${names[@]}"; do
		cat "$build/unit/$name.said"
		! grep -q '^not ok' "$build/unit/$name.said" || failed=1
	done
	helpers=("${helpers[@]/%.o/.c}")
}

# shellcheck disable=SC2046  # names are words
for wanted in ${*:-plain sanitized threads}; do
	case $wanted in
	plain) kind plain make_plain "$plain" "${CC:-cc}" '-O0 -g1' tests/unit/test_*.c ;;
	unsanitized) kind plain make_plain "$plain" "${CC:-cc}" '-O0 -g1' tests/unit/test_base.c tests/unit/test_attach.c ;;
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
	*)
		[[ $wanted != *:* ]] || export UNIT_TEST=${wanted#*:}
		kind debug make_debug "$debug" "${CC:-cc}" '-O0 -g' "tests/unit/test_${wanted%%:*}.c"
		;;
	esac
done
exit $failed
