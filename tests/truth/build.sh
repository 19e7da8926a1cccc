#!/bin/sh
# Builds the heaps of this directory with a release of Go whose allocator keeps a log: build.sh GOROOT DIRECTORY FLAG...
# makes DIRECTORY/{gotypes,httpserver,maps}; only those in $HEAPS if that is set. The flags are go build's.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
GOROOT=$1 directory=$2
shift 2
export GOROOT
unset GODEBUG GOEXPERIMENT GOFLAGS GOOS GOWORK
export GOENV=off GO111MODULE=on GOTOOLCHAIN=local GOPROXY=off GOFLAGS="-mod=mod -trimpath" CGO_ENABLED=0
export GOCACHE="${GOCACHE:-$here/../../build/truth/gocache}"
mkdir -p "$directory"
cd "$here"
for heap in ${HEAPS:-gotypes httpserver maps}; do
	"$here/go-build.sh" "$GOROOT" "$directory/runtime" -o "$directory/$heap" "$@" "./heaps/$heap"
done
