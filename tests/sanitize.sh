# shellcheck shell=sh
# What is built with sanitizers: the compiler, $sanitizing_cc, its flags, $sanitize, and a name for what it makes,
# $sanitized; to be sourced. clang where it has them, for it sees more than gcc: 0 added to NULL, values that an implicit
# conversion changes.
sanitizing_cc=clang sanitized=sanitized-clang
sanitize='-fsanitize=address,undefined,implicit-conversion -fno-sanitize-recover=all'
sanitizing_probe=$(mktemp) || exit 1
# shellcheck disable=SC2086  # flags are words
if ! echo 'int main(void) { return 0; }' | clang $sanitize -x c -o "$sanitizing_probe" - 2>/dev/null || ! "$sanitizing_probe"; then
	sanitizing_cc=${CC:-cc} sanitized=sanitized
	sanitize='-fsanitize=address,undefined -fno-sanitize-recover=all'
fi
rm -f "$sanitizing_probe"
