#!/bin/bash
# Compiles the program of samples/README.md, unchanged, in a module of its own, which gets the handler as any other module: from a
# proxy, here a directory. A second program only imports it. TAP on standard output.
#
#   handler.sh DIRECTORY    where everything goes
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
go=$("$top/tools/setup" go-current 2>/dev/null)/bin/go
if [ ! -x "$go" ]; then
	echo 'ok - the handler of samples/README.md # SKIP no Go'
	exit 0
fi
rm -rf "$1"
mkdir -p "$1" && cd "$1" || exit 1

. "$top/tests/result.sh"

module=go2heapsnapshot.invalid/heapdump version=v0.1.0
mkdir -p module/dumps module/imports pack proxy
sed -n '/^```go$/,/^```$/p' "$top/samples/README.md" | sed '/^```/d' >module/dumps/dumps.go
printf 'package main\n\nfunc main() {\n\tgo serveDumps()\n\tselect {}\n}\n' >module/dumps/main.go
printf 'package main\n\nimport (\n\t"net/http"\n\t_ "net/http/pprof"\n\n\t_ "%s"\n)\n\nfunc main() { http.ListenAndServe("localhost:6060", nil) }\n' $module >module/imports/main.go
printf 'module app\n\ngo 1.19\n' >module/go.mod

# What a proxy serves: the versions, and of one when it was made, its go.mod, and a zip, whose files are below MODULE@VERSION.
published=$PWD/proxy/$module/@v
mkdir -p "$published"
echo $version >"$published/list"
echo '{"Version": "'$version'"}' >"$published/$version.info"
cp "$top/samples/heapdump/go.mod" "$published/$version.mod"
cat >pack/main.go <<'EOF'
package main

import (
	"archive/zip"
	"os"
	"path/filepath"
)

func main() {
	archive := zip.NewWriter(os.Stdout)
	err := filepath.WalkDir(os.Args[1], func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := archive.Create(os.Args[2] + path[len(os.Args[1]):])
		if err == nil {
			_, err = file.Write(content)
		}
		return err
	})
	if err != nil || archive.Close() != nil {
		os.Exit(1)
	}
}
EOF
export GOTOOLCHAIN=local GOPROXY="file://$PWD/proxy" GONOSUMDB='*' GOMODCACHE="$PWD/modules" GOFLAGS='-modcacherw -trimpath' CGO_ENABLED=0
result 'a proxy has the handler' bash -c '"$1" run pack/main.go "$2" "$3" >"$4"' bash "$go" "$top/samples/heapdump" $module@$version "$published/$version.zip"
result 'go get takes the handler' env -C module "$go" get $module@$version
result 'the handler of samples/README.md compiles as it stands' env -C module "$go" build -o app ./dumps
result 'and is formatted as gofmt does' [ -z "$("${go%/*}/gofmt" -l module/dumps/dumps.go 2>&1)" ]
result 'and by import alone, as net/http/pprof does' env -C module "$go" build -o imports/app ./imports
[ -z "${CHECK_ALL-}" ] || # vet reads the whole standard library
	result 'the module is content with go vet' env -C "$top/samples/heapdump" GOFLAGS= "$go" vet ./...
