# shellcheck shell=sh
# Go for the suites that build programs; to be sourced, with $top set. Sets $goroots, the releases to run with: $GOROOTS if
# that is set; else, with $CHECK_ALL and without $two_releases, all releases that tools/setup check-all fetched, the current
# one last; else $usual_goroots, or the current release. If $GO_ONLY is set (to 1.27, for
# example), only that release of these remains: tests/run runs each release in another process.

# Ignores the user's own settings, and takes nothing from the network.
unset GODEBUG GOEXPERIMENT GOFLAGS GOARCH GOOS GOWORK GOGC GOMAXPROCS GOMEMLIMIT
export GOENV=off GO111MODULE=on GOTOOLCHAIN=local GOPROXY=off GOFLAGS="-mod=mod -trimpath" CGO_ENABLED=0
# The linker packs DWARF, and each conversion unpacks it, which takes half of its time. With $packed_dwarf or $CHECK_ALL it is packed.
[ -n "${CHECK_ALL-}${GOROOTS-}${packed_dwarf-}" ] || GOFLAGS="$GOFLAGS -ldflags=-compressdwarf=false"
# All suites share one build cache, beside the toolchains: the standard library is compiled once for each way to build it,
# not in every clone. Go knows which inputs each entry was built from.
# With -trimpath it is compiled in another way, hence always with it.
export GOCACHE="${GOCACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/go2heapsnapshot/gocache}"

if [ -n "${GOROOTS-}" ]; then
	goroots=$GOROOTS
elif [ -n "${CHECK_ALL-}" ] && [ -z "${two_releases-}" ]; then
	goroots=$("$top/tools/setup" go-all)
else
	goroots=${usual_goroots:-$("$top/tools/setup" go-current)}
fi

# go_release GOROOT: prints its release as the runtime names it, such as go1.19.8; fails if there is no Go. `go env
# GOVERSION` prints nothing before 1.16.
go_release() {
	go_version=$(GOROOT=$1 "$1/bin/go" version) && echo "$go_version" | cut -d ' ' -f 3
}

# go_pprof GOROOT DIRECTORY: builds pprof in the directory, and prints its path. From Go 1.25 on "go tool pprof" would build it, with a
# standard library compiled in another way.
go_pprof() {
	GOROOT=$1 GOFLAGS=-trimpath "$1/bin/go" build -o "$2/pprof" cmd/pprof >&2 && echo "$2/pprof"
}

# runs_386: succeeds if this machine runs programs for 386, which not all kernels for amd64 do. It runs one that ends at
# once.
runs_386() {
	if [ -z "${machine_386-}" ]; then
		program_386=$(mktemp) && machine_386=no
		printf '\177ELF\001\001\001\000\000\000\000\000\000\000\000\000\002\000\003\000\001\000\000\000T\200\004\0104\000\000\000\000\000\000\000\000\000\000\0004\000\040\000\001\000\000\000\000\000\000\000\001\000\000\000\000\000\000\000\000\200\004\010\000\200\004\010\133\000\000\000\133\000\000\000\005\000\000\000\000\020\000\0001\3331\300\100\315\200' >"$program_386"
		chmod +x "$program_386"
		! "$program_386" >/dev/null 2>&1 || machine_386=yes
		rm -f "$program_386"
	fi
	[ "$machine_386" = yes ]
}

# skips_386 NAME: succeeds, and prints a skipped test, if this machine does not run programs for 386.
skips_386() {
	! runs_386 || return
	echo "ok - $1 # SKIP this machine does not run programs for 386"
}

# all_ways: succeeds if programs are to be built in all ways: with $CHECK_ALL or $GOROOTS.
all_ways() {
	[ -n "${CHECK_ALL-}${GOROOTS-}" ]
}
# two_ways: succeeds if programs of $GOROOT are to be built in two ways, plain and stripped: those of the newest release. How the
# others differ from it does not depend on the way to build.
two_ways() {
	all_ways || [ "$GOROOT" = "$newest" ]
}
for newest in $goroots; do :; done

if [ -n "${GO_ONLY-}" ]; then
	chosen=
	for goroot in $goroots; do
		case $(go_release "$goroot") in
		"go$GO_ONLY" | "go$GO_ONLY".*) chosen=$goroot ;;
		esac
	done
	# shellcheck disable=SC2034  # for the script that sources this
	goroots=$chosen
fi
