#!/bin/sh
# Measures how much of real heaps is typed (two, with CHECK_ALL or GOROOTS three), and how much of that is wrong, with DWARF and stripped, and which objects of
# another heap are recognised from dump to dump, all against the log of a patched allocator. TAP on standard output; the
# tables are in build/truth/GO/HEAP/VARIANT/measure.txt, and `table.mjs build/truth` makes one table of them all.
#
#   GO2HEAPSNAPSHOT      the converter (default: build/go2heapsnapshot)
#   GOROOTS              the releases (default: see tests/go.sh)
#   SHARE                the part of each heap (default: 0.1; 1 is millions of objects)
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
converter=${GO2HEAPSNAPSHOT:-$top/build/go2heapsnapshot}
build=${BUILD:-$top/build/truth}
share=${SHARE:-0.1}
node="${NODE:-node} --max-old-space-size=8000"
. "$top/tests/go.sh"
# Most of the time goes into compiling the packages that a heap is made of with the patched runtime.
heaps='httpserver maps'
! all_ways || heaps="gotypes $heaps"

# since MINOR YES NO: prints YES if this release is 1.MINOR or later, and NO if not.
since() {
	minor=${release#go1.}
	if [ "${minor%%[!0-9]*}" -ge "$1" ]; then echo "$2"; else echo "$3"; fi
}

# limits HEAP VARIANT: what a heap must reach, in percent: objects with a typed region, such objects with pointers, bytes, edges;
# and how much may be wrong at most.
limits() {
	case $1-$2 in
	gotypes-plain) echo any=99.9,pointers=99.9,bytes=99,edges=99.9,wrong=0.01 ;;
	gotypes-stripped) echo any=99.5,bytes=98,edges=99.5,wrong=0.01 ;;
	httpserver-plain) echo any=99,pointers=99.5,bytes=97,edges=99,wrong=0.01 ;;
	# Before 1.22 there are no malloc headers, and clients hang from locals.
	httpserver-stripped) echo "any=$(since 22 95 $(since 19 93 90)),bytes=80,edges=$(since 22 90 75),wrong=0.01" ;;
	maps-plain) echo any=99,pointers=99.5,bytes=97,edges=99,wrong=0.01 ;;
	# Everything hangs from globals, and before 1.24 a map is in one piece; large pieces have no malloc header.
	maps-stripped) echo "any=$(since 24 95 $(since 19 85 84)),bytes=80,edges=70,wrong=0.01" ;;
	esac
}

check() { # HEAP VARIANT N
	at=$build/$release/$1/$2
	if ! "$converter" --names=full --exe "$at/app" -o "$at/$3.heapsnapshot" "$at/$3.dump" 2>"$at/log"; then
		echo "not ok - $release $1 $2: converts"
		sed 's/^/# /' "$at/log"
		return
	fi
	# shellcheck disable=SC2086  # node has options
	if $node "$here/measure.mjs" --truth "$at/$3.truth" --dump "$at/$3.dump" --snapshot "$at/$3.heapsnapshot" \
		--json "$at/measure.$3.json" --min "$(limits "$1" "$2")" >"$at/measure.txt" 2>&1; then
		echo "ok - $release $1 $2: $(limits "$1" "$2")"
	else
		echo "not ok - $release $1 $2: $(limits "$1" "$2")"
		sed -n 's/^/# /; 2,14p' "$at/measure.txt"
		echo "# more in $at/measure.txt"
	fi
}

# series: checks three dumps of a process with the ids of a series. In a small heap chance decides how many objects lose their ids
# as a map grows; and if one object is mistaken for another, all that hang together with it may be: once 259 sessions, 15 % of
# 5,182 slots. So there such a group counts as one mistake, and of the objects, more may be missed.
series() {
	[ -n "$(since 19 yes '')" ] || return
	if ! "$here/take.sh" "$goroot" "$build/$release" "$share" churn >"$build/$release/log" 2>&1; then
		echo "not ok - $release churn: dumps itself"
		tail -n 20 "$build/$release/log" | sed 's/^/# /'
		return
	fi
	lost=0.1 found=98
	[ "$share" = 1 ] || lost=1.5 found=60
	for variant in plain $(since 22 stripped ''); do
		at=$build/$release/churn/$variant
		rm -rf "$at/series"
		if ! "$converter" --garbage --exe "$at/app" -o "$at/series" "$at/1.dump" "$at/2.dump" "$at/3.dump" >"$at/log" 2>&1; then
			echo "not ok - $release churn $variant: converts"
			sed 's/^/# /' "$at/log"
			continue
		fi
		for n in 1 2 3; do
			"$converter" --exe "$at/app" -o "$at/$n.heapsnapshot" "$at/$n.dump" 2>"$at/log"
		done
		# At whole size the slice of all main.Leaked is too large for a malloc header: only DWARF names its type.
		unnamed=
		[ "$variant$share" != stripped1 ] || unnamed='--unnamed main.Leaked'
		for n in 1 2; do
			# shellcheck disable=SC2086  # node has options, and unnamed is two words
			$node "$here/series.mjs" "$at" $n $((n + 1)) --min "found=$found,apart=98,lost=$lost" $unnamed 2>&1 |
				sed -E "s/^((not )?ok) [0-9]+ - /\1 - $release churn $variant: /; /^(not )?ok|^#/!s/^/# /"
		done
	done
}

for goroot in $goroots; do
	release=$(go_release "$goroot")
	mkdir -p "$build/$release"
	# shellcheck disable=SC2086  # words
	if ! "$here/take.sh" "$goroot" "$build/$release" "$share" $heaps >"$build/$release/log" 2>&1; then
		echo "not ok - $release: the heaps dump themselves"
		tail -n 20 "$build/$release/log" | sed 's/^/# /'
		continue
	fi
	for heap in $heaps; do
		at=$build/$release/$heap/plain
		"$converter" -o "$at/untyped.heapsnapshot" "$at/1.dump" 2>/dev/null
		# shellcheck disable=SC2086  # node has options
		$node "$here/selftest.mjs" "$at/1.truth" "$at/1.dump" "$at/untyped.heapsnapshot" 2>&1 |
			sed -E "s/^((not )?ok - )/\1$release $heap: /; /^(not )?ok|^#/!s/^/# /"
		check "$heap" plain 1
		check "$heap" stripped 1
	done
	# In two dumps of one process, the objects that survived have the same class.
	for variant in plain stripped; do
		at=$build/$release/httpserver/$variant
		check httpserver "$variant" 2
		changed=0
		[ "$variant" = plain ] || changed=$(since 19 0 0.01)
		# shellcheck disable=SC2086  # node has options
		if $node "$here/measure.mjs" --pair --json "$at/pair.json" --min "changed=$changed" --truth "$at/1.truth" --dump "$at/1.dump" --snapshot "$at/1.heapsnapshot" \
			--truth2 "$at/2.truth" --dump2 "$at/2.dump" --snapshot2 "$at/2.heapsnapshot" >"$at/pair.txt" 2>&1; then
			echo "ok - $release httpserver $variant: $(head -n 1 "$at/pair.txt")"
		else
			echo "not ok - $release httpserver $variant: $(head -n 1 "$at/pair.txt")"
			sed -n 's/^/# /; 2,20p' "$at/pair.txt"
		fi
	done
	series
	# Whole heaps of all releases would be 30 GB.
	[ "$share" != 1 ] || find "$build/$release" -type f -size +1M ! -name app -delete
done
