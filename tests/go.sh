# shellcheck shell=sh
# Go for the suites that build programs; to be sourced, with $top set. Sets $goroots, the releases to run with: $GOROOTS,
# or else the distribution's and the current one; with $CHECK_ALL all that tools/setup check-all brought, the current one
# last.

# Nothing of the user's own settings, nothing from the network.
unset GODEBUG GOEXPERIMENT GOFLAGS GOARCH GOOS GOWORK GOGC GOMAXPROCS GOMEMLIMIT
export GOENV=off GO111MODULE=on GOTOOLCHAIN=local GOPROXY=off GOFLAGS=-mod=mod CGO_ENABLED=0
export GOCACHE="${GOCACHE:-$top/build/programs/gocache}"

# shellcheck disable=SC2034  # for who sources this
if [ -n "${GOROOTS-}" ]; then
	goroots=$GOROOTS
elif [ -n "${CHECK_ALL-}" ]; then
	goroots=$("$top/tools/setup" go-all)
else
	goroots="$("$top/tools/setup" go-dist) $("$top/tools/setup" go-current)"
fi

# go_release GOROOT: its release as the runtime says it, go1.19.8; fails if there is no Go. `go env GOVERSION` says nothing
# before 1.16.
go_release() {
	go_version=$(GOROOT=$1 "$1/bin/go" version) && echo "$go_version" | cut -d ' ' -f 3
}
