# shellcheck shell=bash
# Tests the commands and the code that the documentation tells the reader to type.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

# Wherever a dump is fetched: without -f, curl would save the server's error message in place of the dump.
check "curl has -f wherever it fetches a dump" [ -z "$(cd "$top" && grep -n 'curl .*/debug/heapdump' README.md docs/*.1 docs/*.md \
	samples/README.md samples/leakserver/main.go | grep -v -- ' -f ')" ]

# Compiles the handler of samples/README.md, unchanged, in a module of its own.
mkdir app
cp -r "$top/samples/leakserver/heapdump" app
sed -n '/^```go$/,/^```$/p' "$top/samples/README.md" | sed '/^```/d' >app/dumps.go
printf 'package main\n\nfunc main() {\n\tgo serveDumps()\n\tselect {}\n}\n' >app/main.go
printf 'module app\n\ngo 1.19\n' >app/go.mod
if go=$("$top/tools/setup" go-current 2>/dev/null)/bin/go; then
	check "the handler of samples/README.md compiles as it stands" env -C app GOTOOLCHAIN=local GOFLAGS= GOPROXY=off "$go" build -o app .
	check "and is formatted as gofmt does" [ -z "$("${go%/*}/gofmt" -l app/dumps.go 2>&1)" ]
else
	skip "the handler of samples/README.md compiles" "no Go"
fi

finish
