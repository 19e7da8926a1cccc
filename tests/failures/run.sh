#!/bin/bash
# Conversions in which a call fails: the n-th malloc, mmap, pthread_create, write, or another one that is done to a file,
# for all n. Each must end with status 1 and a line that says why, and leave no file and no memory. TAP on standard
# output.
#
#   GO2HEAPSNAPSHOT   the program (default: build/go2heapsnapshot of the tree)
#   STEP              of malloc, every so many (default: 1 with CHECK_ALL; else of those from one place the first two and
#                     the last)
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
program=$(realpath "${GO2HEAPSNAPSHOT:-$top/build/go2heapsnapshot}") || exit 1
build=$top/build/failures
. "$top/tests/go.sh"
mkdir -p "$build/out" "$build/tmp"
if ! ldd "$program" 2>/dev/null | grep -q libc.so; then
	echo 'ok - failures # SKIP the program is not linked with the libc that is here'
	exit
fi

# The small program, of all that typing knows: its executable and its dump.
go=$("$top/tools/setup" go-current)/bin/go
if ! cc -std=c17 -D_GNU_SOURCE -Wall -Wextra -O1 -fPIC -shared -o "$build/shim.so" "$top/tests/failures/shim.c" -ldl >"$build/log" 2>&1 ||
	! cc -std=c17 -D_GNU_SOURCE -Wall -Wextra -O1 -o "$build/drive" "$top/tests/failures/drive.c" >>"$build/log" 2>&1 ||
	! (cd "$top/tests/exe/small" && "$go" build -trimpath -o "$build/app" . && "$build/app" "$build/app.dump") >>"$build/log" 2>&1 ||
	! gzip -9 -k -f "$build/app" "$build/app.dump"; then
	echo 'not ok - what is needed builds'
	sed 's/^/# /' "$build/log"
	exit 1
fi
rm -f "$build/key"
(umask 077 && head -c 32 /dev/urandom >"$build/key")

# fails NAME KIND STEP ARGUMENT...: of a conversion.
failed=0
fails() {
	local name=$1 kind=$2 step=$3 said
	shift 3
	said=$("$build/drive" "$build/shim.so" "$build" "$kind" "$step" "$program" -o "$build/out/file" "$@" 2>"$build/log") ||
		said="not ok - the driver itself: status $?"
	[[ $said == ok* ]] || failed=1
	echo "${said%% - *} - $name, $kind: ${said#* - }"
	[[ $said == ok* ]] || sed 's/^/# /' "$build/log"
}

plain=(-j 1 --exe "$build/app" "$build/app.dump")
packed=(-j 3 -z --redact-key "$build/key" --max-nodes 2000 --exe "$build/app.gz" "$build/app.dump.gz")
fails typed memory "${STEP:-$([ -n "${CHECK_ALL-}" ] && echo 1 || echo 0)}" "${plain[@]}"
fails 'gzipped, without types' memory "${STEP:-0}" -j 1 "$build/app.dump.gz"
few=61 # of calls, one in so many
[ -z "${CHECK_ALL-}" ] || few=23
fails 'typed, all from one on' memory+ $few "${plain[@]}"
fails 'folded and packed, on three threads' memory $few "${packed[@]}"
for kind in map write file; do
	fails typed $kind 1 "${plain[@]}"
	fails 'folded and packed, on three threads' $kind 1 "${packed[@]}"
done
fails 'folded and packed, on three threads' thread 1 "${packed[@]}"
exit $failed
