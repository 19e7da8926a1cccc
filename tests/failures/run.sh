#!/bin/bash
# Tests conversions in which a call fails: the n-th malloc, mmap, pthread_create, write, or other call on a file, for all n.
# Each conversion must end with status 1 and a line that says why, and leave no file and no memory; if it can do without the
# call, it must write the usual file. TAP on standard output.
#
#   GO2HEAPSNAPSHOT   the program (default: build/go2heapsnapshot of the tree)
#   STEP              for malloc, every STEPth call fails (default: 1 with CHECK_ALL; else of the calls from one place the
#                     first two and the last fail)
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

# Builds the shim, the driver, and tests/exe/small, a program with all that typing knows, which dumps itself.
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

# fails NAME KIND STEP ARGUMENT...: lets calls of a kind fail in conversions with these arguments.
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
[ -z "${CHECK_ALL-}" ] ||
	fails 'gzipped, without types' memory "${STEP:-0}" -j 1 "$build/app.dump.gz"
few=307 # every 307th call fails
[ -z "${CHECK_ALL-}" ] || few=23
fails 'typed, all from one on' memory+ $few "${plain[@]}"
fails 'folded and packed, on three threads' memory $few "${packed[@]}"
for kind in map write file; do
	fails typed $kind 1 "${plain[@]}"
	fails 'folded and packed, on three threads' $kind 1 "${packed[@]}"
done
fails 'folded and packed, on three threads' thread 1 "${packed[@]}"
exit $failed
