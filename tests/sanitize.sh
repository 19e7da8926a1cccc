# shellcheck shell=sh
# What is built with sanitizers: the compiler, $sanitizing_cc, its flags, $sanitize, and a name for what it makes,
# $sanitized; to be sourced. clang where it has them, for it sees more than gcc: 0 added to NULL, values that an implicit
# conversion changes. $sanitize_threads: those of ThreadSanitizer; empty where it does not run.
sanitizing_cc=clang sanitized=sanitized-clang
sanitize='-fsanitize=address,undefined,implicit-conversion -fno-sanitize-recover=all'
sanitize_threads=-fsanitize=thread

# sanitizes FLAG...: whether a program that is built with them runs. Not every system has the memory map that they expect.
sanitizes() {
	sanitizing_probe=$(mktemp) || exit 1
	# shellcheck disable=SC2086  # a compiler may have arguments
	echo 'int main(void) { return 0; }' | $sanitizing_cc "$@" -x c -o "$sanitizing_probe" - 2>/dev/null &&
		"$sanitizing_probe" 2>/dev/null
	set -- $?
	rm -f "$sanitizing_probe"
	return "$1"
}

# shellcheck disable=SC2086  # flags are words
if ! sanitizes $sanitize; then
	sanitizing_cc=${CC:-cc} sanitized=sanitized
	sanitize='-fsanitize=address,undefined -fno-sanitize-recover=all'
fi
sanitizes $sanitize_threads || sanitize_threads=
