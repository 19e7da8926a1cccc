#!/bin/sh
# Builds samples/count.c against what `make install` put into ROOT, as a user of the library would: build.sh ROOT OUTPUT
set -eu
test -x "$1/bin/go2heapsnapshot"
test -f "$1/share/man/man1/go2heapsnapshot.1"
# shellcheck disable=SC2046  # flags are words
cc -Wall -Wextra -Werror -o "$2" "$(dirname "$0")/../../samples/count.c" $(pkg-config --cflags --libs go2heapsnapshot)
