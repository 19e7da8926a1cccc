#!/bin/bash
# Tests conversions in which a call fails: the n-th malloc, mmap, pthread_create, write, or other call on a file, for all n.
# Each conversion must end with status 1 and a line that says why, and leave no file and no memory; if it can do without the
# call, it must write the usual file. In a session of --mcp only the answer that is being made may fail. TAP on standard output.
#
#   GO2HEAPSNAPSHOT   the program (default: build/go2heapsnapshot of the tree)
#   STEP              for malloc, every STEPth call fails (default: 1 with CHECK_ALL; else of the calls from one place the
#                     first and the last fail)
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
program=$(realpath "${GO2HEAPSNAPSHOT:-$top/build/go2heapsnapshot}") || exit 1
build=$top/build/failures
packed_dwarf=yes
. "$top/tests/go.sh"
mkdir -p "$build/out" "$build/tmp"
if ! ldd "$program" 2>/dev/null | grep -q libc.so; then
	echo 'ok - failures # SKIP the program is not linked with the libc that is here'
	exit
fi

# Builds the shim, the driver, and the program of golden, which has all that typing knows, and dumps a part of its heap.
go=$("$top/tools/setup" go-current)/bin/go
if ! cc -std=c17 -D_GNU_SOURCE -Wall -Wextra -O1 -fPIC -shared -o "$build/shim.so" "$top/tests/failures/shim.c" -ldl >"$build/log" 2>&1 ||
	! cc -std=c17 -D_GNU_SOURCE -Wall -Wextra -O1 -o "$build/drive" "$top/tests/failures/drive.c" >>"$build/log" 2>&1 ||
	! (cd "$top/tests/golden/program" && "$go" build -trimpath -o "$build/app" . && "$build/app" small "$build/app.dump") >>"$build/log" 2>&1 ||
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

# session REQUESTS FAILURE: lets a client ask all of $build/REQUESTS, with a call failing. Its answers are in $build/answers.
session() {
	rm -f "$build/report"
	env LD_PRELOAD="$build/shim.so" FAILURE_REPORT="$build/report" FAILURE="$2" "$program" --mcp --values -j 1 --exe "$build/app" \
		"$build/app.dump" <"$build/$1" >"$build/answers" 2>"$build/said"
	status=$?
	calls=$(od -An -t u8 -N8 "$build/report" | tr -d ' ')
}

# sessions NAME MARK: once the heap is there, in each session a call for memory fails, and with + all calls after it. Each question
# must be answered, and the server must go on to the end.
sessions() {
	local before all number runs=0 wrong=0
	session requests.0 ''
	before=$calls
	session requests ''
	all=$((calls - before))
	: >"$build/log"
	for ((number = before + all / 20; number < before + all; number += all / ${CHECK_ALL:+3}25 + 1)); do
		session requests "memory:$number$2"
		runs=$((runs + 1))
		if [ $status -ne 0 ] || [ "$(grep -o '^{"jsonrpc":"2.0","id":[^,]*' "$build/answers" | sort -u | wc -l)" -ne "$(wc -l <"$build/requests")" ]; then
			wrong=$((wrong + 1))
			echo "memory:$number$2: status $status, $(wc -l <"$build/answers") answers: $(cat "$build/said")" >>"$build/log"
		fi
	done
	[ $wrong -eq 0 ] && [ $runs -ge 20 ] || failed=1
	[ $wrong -eq 0 ] && [ $runs -ge 20 ] && echo "ok - $1: $runs of $all calls fail" || echo "not ok - $1: $wrong of $runs went wrong"
	sed 's/^/# /' "$build/log"
}
for request in '0 initialize {"protocolVersion":"2025-11-25"}' '1 tools/list {}' '2 tools/call {"name":"summary"}' \
	'3 tools/call {"name":"suspects"}' '4 tools/call {"name":"classes"}' '5 tools/call {"name":"find","arguments":{"text":"main"}}' \
	'6 tools/call {"name":"goroutines"}' '7 tools/call {"name":"waste"}' '8 tools/call {"name":"path","arguments":{"what":"string"}}' \
	'9 tools/call {"name":"instances","arguments":{"class":"string"}}' '"last" ping {}'; do
	read -r id method params <<<"$request"
	echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"method\":\"$method\",\"params\":$params}"
done >"$build/requests"
head -n 1 "$build/requests" >"$build/requests.0"
sessions 'a session of --mcp, memory' ''
sessions 'a session of --mcp, memory from one call on' +

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
