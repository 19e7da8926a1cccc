#!/bin/sh
# Each format but DevTools' own, read by the program that it is for: as much is in it as in the snapshot of the same dump. TAP on
# standard output.
#
#   run.sh FORMAT          pprof
#
#   G2H                    the program (default: build/go2heapsnapshot)
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
g2h=${G2H:-$top/build/go2heapsnapshot}
build=${BUILD:-$top/build/formats}/$1
rm -rf "$build"
mkdir -p "$build" || exit 1
go=$("$top/tools/setup" go-current)/bin/go
export GOTOOLCHAIN=local HOME="$build"
log=$build/log

# result STATUS NAME
result() {
	if [ "$1" -eq 0 ]; then
		echo "ok - $2"
	else
		echo "not ok - $2"
		tail -n 20 "$log" | sed 's/^/# /'
	fi
}

# convert NAME ARGUMENT...: $build/NAME.heapsnapshot and $build/NAME.pb.gz
convert() {
	name=$1
	shift
	"$g2h" "$@" -o "$build/$name.heapsnapshot" 2>"$log" && "$g2h" "$@" --format pprof -o "$build/$name.pb.gz" 2>"$log"
	result $? "$name: is written"
}

# same NAME: what pprof reads of it.
same() {
	node "$here/pprof.mjs" "$go" "$build/$1.pb.gz" "$build/$1.heapsnapshot" | sed -E "s/^((not )?ok [0-9]+ - )/\1$1: /"
}

pprof() {
	sample=$top/samples/leakserver
	for i in 1 2; do
		convert typed.$i --exe "$sample.exe.gz" "$sample.$i.dump.gz"
		same typed.$i
	done
	convert untyped "$sample.2.dump.gz"
	same untyped
	convert reachable --reachable --exe "$sample.exe.gz" "$sample.2.dump.gz"
	same reachable
	for dump in go1.3.3-amd64 go1.26-386; do
		convert $dump "$top/samples/dumps/$dump.2.dump.gz"
		same $dump
	done

	# The walk of samples/README.md, without a browser.
	"$go" tool pprof -top -cum -base "$build/typed.1.pb.gz" "$build/typed.2.pb.gz" >"$build/grown" 2>"$log"
	result $? 'pprof compares two'
	cp "$build/grown" "$log"
	grep -Eq ' main\.Watcher$' "$build/grown" && grep -Eq ' main\.previews\.byName$' "$build/grown" &&
		grep -Eq ' goroutines \[chan send\] main\.ask ← main\.\(\*Server\)\.value\.gowrap1$' "$build/grown"
	result $? 'the three leaks have grown'
	"$go" tool pprof -peek 'main.previews.byName$' "$build/typed.2.pb.gz" >"$log" 2>&1
	grep -Eq '\| +main$' "$log" && grep -Eq '\| +map\[string\]\*main\.Preview$' "$log"
	result $? 'a variable is below its package, and holds a map'
	"$g2h" --redact --exe "$sample.exe.gz" --format pprof -o "$build/redacted.pb.gz" "$sample.2.dump.gz" 2>"$log" &&
		! gzip -dc "$build/redacted.pb.gz" | grep -aq '127\.0\.0\.1\|Go-http-client'
	result $? 'redacted: no text of the heap'
	"$g2h" --exe "$sample.exe.gz" --format pprof -j 1 "$sample.2.dump.gz" 2>"$log" | cmp - "$build/typed.2.pb.gz" >>"$log" 2>&1
	result $? 'the same bytes with one thread'
}

"$1"
