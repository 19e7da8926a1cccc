# shellcheck shell=bash
# What `make` finds and says. Nothing is built here: make -n shows what it would do.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

unset WITH_LIBDW
said_at_end='^echo .Built without libdw of elfutils .*: DWARF is not read'

# no_tool NAME: a command of that name, found first, that fails.
mkdir none
no_tool() {
	printf '#!/bin/sh\nexit 127\n' >"none/$1"
	chmod +x "none/$1"
}
no_tool pkg-config

if echo 'int main(void) { return 0; }' | cc -include elfutils/libdw.h -x c - -o linked -ldw 2>/dev/null; then
	run env PATH="$PWD/none:$PATH" make -s -C "$top" libs
	check "make finds libdw without pkg-config" grep -qe '-ldw -lelf' out
	run env PATH="$PWD/none:$PATH" make -n --no-print-directory -C "$top" BUILD="$PWD/build" all
	check "make with libdw: has nothing to say of it" [ "$(grep -c 'Built without' out)" -eq 0 ]
else
	skip "make finds libdw without pkg-config" "no libdw here"
fi
# A compiler that has no libdw.
printf '#!/bin/sh\nfor word; do [ "$word" != -ldw ] || exit 1; done\nexec cc "$@"\n' >none/poor-cc
chmod +x none/poor-cc
run make -s -C "$top" CC="$PWD/none/poor-cc" libs
check "make without libdw: links without" [ "$(xargs <out)" = '-lz -pthread' ]
run make -n --no-print-directory -C "$top" CC="$PWD/none/poor-cc" BUILD="$PWD/build" all
check "make without libdw: says so at the end" grep -q "$said_at_end" <(tail -n 1 out)
run make -n --no-print-directory -C "$top" WITH_LIBDW= BUILD="$PWD/build" all
check "make WITH_LIBDW=: need not be told" [ "$(grep -c 'Built without' out)" -eq 0 ]
check "make WITH_LIBDW=: builds without" [ "$(grep -ce 'HAVE_LIBDW\|-ldw' out)" -eq 0 ]

finish
