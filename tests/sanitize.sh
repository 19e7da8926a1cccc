# shellcheck shell=sh
# What all suites share of builds; to be sourced, with $top set. make_plain, make_sanitized and make_threads TARGET... make
# $plain/TARGET, $sanitized/TARGET, $threads/TARGET (paths from the top), whoever else does so at the same time.
#
# What is built with sanitizers: the compiler, $sanitizing_cc, its flags, $sanitize, with which a test's own program is
# compiled as well. clang where it has them, for it sees more than gcc: 0 added to NULL, values that an implicit
# conversion changes. $sanitize_threads: those of ThreadSanitizer; empty where it does not run.
#
# $cached: what a compiler is called by; ccache, where it is there, so that what any clone has compiled before is taken from
# beside the toolchains of tools/setup. CACHED= goes without.
cached=${CACHED-$(command -v ccache)}
export CCACHE_DIR="${CCACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/go2heapsnapshot/ccache}" CCACHE_MAXSIZE="${CCACHE_MAXSIZE:-1G}"
export CCACHE_NOHASHDIR=yes # a clone elsewhere is the same
plain=build sanitizing_cc=clang sanitized=build/sanitized-clang threads=build/threads
sanitize='-fsanitize=address,undefined,implicit-conversion -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1'
sanitize_threads='-fsanitize=thread -O1 -g1'

# sanitizes FLAG...: whether a program that is built with them runs. Not every system has the memory map that they expect.
sanitizes() {
	sanitizing_probe=$(mktemp) || exit 1
	echo 'int main(void) { return 0; }' | $sanitizing_cc "$@" -x c -o "$sanitizing_probe" - 2>/dev/null &&
		"$sanitizing_probe" 2>/dev/null
	set -- $?
	rm -f "$sanitizing_probe"
	return "$1"
}

# shellcheck disable=SC2086  # flags are words
if ! sanitizes $sanitize; then
	sanitizing_cc=${CC:-cc} sanitized=build/sanitized
	sanitize='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1'
fi
sanitizes $sanitize_threads || sanitize_threads=

# make_in DIRECTORY [VARIABLE=VALUE]... TARGET...: a path from there, all or objects; what make says is shown where it fails only.
make_in() {
	(
		cd "$top" && mkdir -p "$1" || exit 1
		directory=$1
		shift
		for argument; do
			shift
			case $argument in *=* | -* | all | objects) ;; *) argument=$directory/$argument ;; esac
			set -- "$@" "$argument"
		done
		exec 7>"$directory/lock" && flock 7 &&
			make -s -j"$(nproc)" BUILD="$directory" "$@" >"$directory/make.log" 2>&1 7>&- ||
			{ cat "$directory/make.log" >&2; exit 1; }
	)
}
make_plain() { make_in "$plain" CC="$cached ${CC:-cc}" "$@"; }
make_sanitized() { make_in "$sanitized" CC="$cached $sanitizing_cc" CFLAGS="$sanitize" "$@"; }
make_threads() { make_in "$threads" CC="$cached $sanitizing_cc" CFLAGS="$sanitize_threads" "$@"; }

# damages FEW MANY: how many damaged inputs to try: $DAMAGES, else few; with $CHECK_ALL many, for sanitizers are slow.
damages() {
	if [ -n "${CHECK_ALL-}" ]; then echo "${DAMAGES:-$2}"; else echo "${DAMAGES:-$1}"; fi
}
