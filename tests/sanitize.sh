# shellcheck shell=sh
# The builds that all suites share; to be sourced, with $top set. make_plain, make_sanitized and make_threads TARGET... make
# $plain/TARGET (at -O1, which compiles in half the time), $sanitized/TARGET and $threads/TARGET (paths from the top). Several
# processes may do so at the same time.
# With clang, what is on the stack begins with a pattern, so that a variable that nothing has set is seen; what gcc 12 makes with that is wrong.
# make_debug makes $debug/TARGET, without optimizing: for a single test, whose build must not take long.
#
# For builds with sanitizers, $sanitizing_cc is the compiler and $sanitize its flags; tests compile their own programs with
# them as well. The compiler is clang if it has sanitizers, since it detects more than gcc: 0 added to NULL, values that an
# implicit conversion changes; SANITIZERS=gcc takes gcc's all the same. $sanitize_threads has the flags of ThreadSanitizer; it is
# empty if that does not run here.
#
# $cached: the command that runs a compiler: ccache, if it is installed, so that what any clone has compiled before is taken
# from its cache, which is beside the toolchains of tools/setup. CACHED= compiles without ccache.
cached=${CACHED-$(command -v ccache)}
export CCACHE_DIR="${CCACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/go2heapsnapshot/ccache}" CCACHE_MAXSIZE="${CCACHE_MAXSIZE:-1G}"
export CCACHE_NOHASHDIR=yes # a clone in another directory shares the cache
export CCACHE_DEPEND=yes # what is not in the cache is not preprocessed once more: a tenth of each build
plain=build/tested debug=build/debug sanitizing_cc=clang sanitized=build/sanitized-clang threads=build/threads
sanitize='-fsanitize=address,undefined,implicit-conversion -fno-sanitize-recover=all -ftrivial-auto-var-init=pattern -fno-omit-frame-pointer -O1 -g1'
sanitize_threads='-fsanitize=thread -O0 -g1' # compiles in a third of the time, and runs half as long again

# sanitizes NAME FLAG...: succeeds if a program that is built with these flags runs. Not every system has the memory map that
# sanitizers expect. A compiler is asked once: scripts that are started inherit its answers in $sanitizers_asked. With $UNSANITIZED none is asked, and there are none.
sanitizes() {
	[ -z "${UNSANITIZED-}" ] || return 1
	case " ${sanitizers_asked-}" in
	*" $sanitizing_cc,$1=0 "*) return 0 ;;
	*" $sanitizing_cc,$1="*) return 1 ;;
	esac
	sanitizing_name=$1
	shift
	sanitizing_probe=$(mktemp) || exit 1
	echo 'int main(void) { return 0; }' | $sanitizing_cc "$@" -x c -o "$sanitizing_probe" - 2>/dev/null &&
		"$sanitizing_probe" 2>/dev/null
	set -- $?
	rm -f "$sanitizing_probe"
	export sanitizers_asked="${sanitizers_asked-}$sanitizing_cc,$sanitizing_name=$1 "
	return "$1"
}

# shellcheck disable=SC2086  # flags are words
if [ "${SANITIZERS-}" = gcc ] || ! sanitizes address $sanitize; then
	sanitizing_cc=${CC:-cc} sanitized=build/sanitized
	sanitize='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1'
fi
# shellcheck disable=SC2086  # flags are words
sanitizes thread $sanitize_threads || sanitize_threads=
# The whole stack of each allocation costs a quarter of the time; a few frames say enough of where it was.
export ASAN_OPTIONS="malloc_context_size=6${ASAN_OPTIONS:+:$ASAN_OPTIONS}"

# make_in DIRECTORY [VARIABLE=VALUE]... TARGET...: makes targets, each of which is a path from the directory, all or objects.
# The output of make is shown only if it fails. What has been made in this run of tests/run, which exports $tests_run, is not made
# again: make needs seconds to see that nothing is to be done. DIRECTORY/made has a line for each.
make_in() {
	(
		cd "$top" && mkdir -p "$1" || exit 1
		directory=$1 wanted="${tests_run-} $*"
		shift
		[ -z "${tests_run-}" ] || ! grep -qsxF -e "$wanted" "$directory/made" || exit 0
		for argument; do
			shift
			case $argument in *=* | -* | all | objects) ;; *) argument=$directory/$argument ;; esac
			set -- "$@" "$argument"
		done
		exec 7>"$directory/lock" && flock 7 &&
			make -s -j"$(nproc)" BUILD="$directory" "$@" >"$directory/make.log" 2>&1 7>&- ||
			{ cat "$directory/make.log" >&2; exit 1; }
		[ -n "${tests_run-}" ] || exit 0
		{
			grep -sF -e "$tests_run " "$directory/made"
			echo "$wanted"
		} >"$directory/made.new" && mv "$directory/made.new" "$directory/made"
	)
}
make_plain() { make_in "$plain" CC="$cached ${CC:-cc}" CFLAGS="${CFLAGS:--O1 -g1}" "$@"; }
make_debug() { make_in "$debug" CC="$cached ${CC:-cc}" CFLAGS='-O0 -g' "$@"; }
# For another host, which is in the environment: CC, BUILD, CPPFLAGS, LDFLAGS, CROSS_COMPILE (tests/hosts/run.sh).
make_host() { make_in "$BUILD" CC="$cached $CC" CFLAGS='-O1 -Wno-maybe-uninitialized' WERROR=1 "$@"; }
# clang must not warn; which warnings gcc has depends on its version. Only some modules are optimized: tests/cold.
make_sanitized() {
	case $sanitizing_cc in clang) set -- WERROR=1 "$@" ;; esac
	make_in "$sanitized" CC="tests/cold $cached $sanitizing_cc" CFLAGS="$sanitize" "$@"
}
make_threads() { make_in "$threads" CC="$cached $sanitizing_cc" CFLAGS="$sanitize_threads" "$@"; }

# damages FEW MANY: prints how many damaged inputs to try: $DAMAGES if that is set, else few, or many with $CHECK_ALL.
# Sanitizers are slow.
damages() {
	if [ -n "${CHECK_ALL-}" ]; then echo "${DAMAGES:-$2}"; else echo "${DAMAGES:-$1}"; fi
}
