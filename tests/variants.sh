# shellcheck shell=sh
# What the suites share whose program dumps itself, built in several ways with several releases of Go; to be sourced first. Sets
# $here, the suite's directory; $top; $converter, $GO2HEAPSNAPSHOT if that is set; $build, $BUILD if that is set; and $goroots, as
# tests/go.sh does.

here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
converter=${GO2HEAPSNAPSHOT:-$top/build/go2heapsnapshot}
build=${BUILD:-$top/build/$(basename "$here")}
. "$top/tests/go.sh"

# each_release COMMAND...: runs a command with each release: with $GOROOT, $go, its program, and $release, its name.
each_release() {
	for GOROOT in $goroots; do
		export GOROOT
		go=$GOROOT/bin/go
		if release=$(go_release "$GOROOT"); then
			"$@"
		else
			echo "not ok - there is a Go in $GOROOT"
		fi
	done
	return 0 # whatever the last command was: TAP says what failed
}

# failed WHAT: says that a variant has failed, whose output is in $at/log.
failed() {
	echo "not ok - $name: $1"
	tail -n 20 "$at/log" | sed 's/^/# /'
}

# builds PACKAGE GO_BUILD_FLAG...: builds a package of the suite as $at/app, by $go_build if that is set. Says so if it cannot.
builds() {
	package=$1
	shift
	mkdir -p "$at"
	# shellcheck disable=SC2086  # a command and its arguments
	(cd "$here" && ${go_build:-"$go" build} -o "$at/app" "$@" "./$package") >"$at/log" 2>&1 || {
		failed builds
		return 1
	}
}
