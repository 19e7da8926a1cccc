#!/bin/sh
# Builds heaps with a release of Go and takes their dumps and truths: take.sh GOROOT DIRECTORY SHARE [HEAP]... makes
# DIRECTORY/HEAP/{plain,stripped}/{app,1.dump,1.truth}; of httpserver and churn also 2.dump and 2.truth, later in the same
# process; of churn also 3.dump and 3.truth.
# SHARE is how much of each heap to make: 1 is all, small shares are for tests.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
goroot=$1 directory=$2 share=$3
shift 3
[ $# -gt 0 ] || set -- gotypes httpserver maps
for variant in plain stripped; do
	flags=
	[ $variant = plain ] || flags='-ldflags=-s -w'
	HEAPS="$*" "$here/build.sh" "$goroot" "$directory/bin-$variant" ${flags:+"$flags"}
	for heap; do
		at=$directory/$heap/$variant
		mkdir -p "$at"
		mv "$directory/bin-$variant/$heap" "$at/app"
		second=
		[ "$heap" != httpserver ] || second=$at/2
		[ "$heap" != churn ] || second="$at/2 $at/3"
		# shellcheck disable=SC2086  # there may be none, or two
		GOROOT=$goroot "$at/app" "$at/1" "$share" $second
	done
	rm -r "$directory/bin-$variant"
done
