#!/bin/bash
# Tests what a release consists of: run.sh dist | SUITE. TAP on standard output.
#
#   dist       `make dist`: the same bytes from a clone and, in another directory, from the tarball of the sources without git; the
#              programs run in an empty root directory, on a bare bullseye, bookworm and trixie, and, those for arm64, under
#              qemu-user, and write what this tree's do
#   SUITE      `make deb`: lintian is content; the packages install on a bare Debian of that suite, run, link, and leave nothing
#
#   BUILD   where everything goes (default: build/packages)
set -u
cd "$(dirname "$0")/../.." || exit 1
top=$PWD
. tests/sanitize.sh
. tests/result.sh
export CACHED=$cached
build=$(realpath -m "${BUILD:-build/packages}")/$1
dump=$top/samples/leakserver.2.dump.gz exe=$top/samples/leakserver.exe.gz
release=go2heapsnapshot-$(sed -n 's/.*G2H_VERSION "\(.*\)"/\1/p' include/go2heapsnapshot/version.h)

# convert PROGRAM... OUT: converts the sample.
convert() { "${@:1:$#-1}" --exe "$exe" -o "${@: -1}" "$dump"; }

# --- dist

again() {
	tar -xzf "$build/dist/$release.tar.gz" -C "$build" && (cd "$build/$release" && [ ! -e .git ] && tools/dist "$build/again") &&
		diff -r "$build/dist" "$build/again"
}

# Succeeds if each bill of materials is JSON, has the sum of its tarball, and names each licence that is in there.
bills() {
	local bill tarball
	for bill in "$build"/dist/*.spdx.json; do
		tarball=${bill%.spdx.json}
		[ -e "$tarball" ] || tarball=$tarball.tar.gz
		jq -e --arg sum "$(sha256sum <"$tarball" | cut -d ' ' -f 1)" '.spdxVersion == "SPDX-2.3" and
			([.packages[] | select(.SPDXID == "SPDXRef-go2heapsnapshot").checksums[0].checksumValue] == [$sum]) and
			all(.packages[]; .versionInfo != "") and
			([.packages[].SPDXID] - ([.relationships[].relatedSpdxElement] | unique) == [])' "$bill" || return
		[[ $tarball = *.html ]] || [ "$(jq '.packages | length - 1' "$bill")" -eq "$(tar -tzf "$tarball" | grep -c 'licences/.')" ] || return
	done
}

# in_root COMMAND...: runs a command in the root, which sees no other process.
in_root() {
	unshare --mount --pid --fork --kill-child bash -ec '
		mount -t proc proc "$1/proc"
		exec chroot "$1" /busybox sh -ec "$2"' bash "$build/root" "$1"
}

# make_root [SUITE]: makes a root that has nothing but these programs, busybox and the samples, as an image without a distribution
# is; or a bare Debian with these.
make_root() {
	local go root=$build/root
	rm -rf --one-file-system "${root:?}" && mkdir -p "$root" && { [ -z "${1-}" ] || debootstrap --variant=minbase "$1" "$root"; } &&
		mkdir -p "$root"/{proc,tmp,dev} && { [ -e "$root/dev/null" ] || mknod "$root/dev/null" c 1 3; } &&
		cp "$build/unpacked/$release-linux-amd64/"{go2heapsnapshot,heapquery} "$(command -v busybox)" "$dump" "$exe" "$root" &&
		go=$(tools/setup go-current) && CGO_ENABLED=0 GOFLAGS=-buildvcs=false "$go/bin/go" build -ldflags=-s -o "$root/waits" tests/packages/waits.go
}

# works_in NAME [SUITE]: tests the programs of the tarball in a root.
works_in() {
	local name=$1
	shift
	result "$name: is made" make_root "$@"
	result "$name: a dump is converted" in_root "./go2heapsnapshot --exe $(basename "$exe") -o s.heapsnapshot $(basename "$dump")"
	result "$name: to the same bytes" cmp "$build/ours.heapsnapshot" "$build/root/s.heapsnapshot"
	result "$name: heapquery" in_root './heapquery s.heapsnapshot s.db'
	result "$name: a process is read" in_root './waits > ready & while ! [ -s ready ] && kill -0 $!; do :; done
		./go2heapsnapshot --pid $! --format report > report; /busybox grep "1,000 main.Order" report'
	rm -rf --one-file-system "${build:?}/root"
}

dist() {
	rm -rf "$build" && mkdir -p "$build/unpacked"
	result 'make dist' tools/dist "$build/dist"
	result 'the same bytes, built in another directory from the tarball of the sources, without git' again
	result 'sums are right' bash -c 'cd "$1" && sha256sum -c SHA256SUMS' bash "$build/dist"
	result 'the bills of materials are those of the tarballs and the page' bills
	result 'the page writes what the program of this tree writes' node tests/web/program.test.mjs "$build/dist/$release.html" "$GO2HEAPSNAPSHOT" "$build/page"
	for tarball in "$build"/dist/*-linux-*.tar.gz; do tar -xzf "$tarball" -C "$build/unpacked"; done
	result 'amd64: the program writes what that of this tree writes' convert "$build/unpacked/$release-linux-amd64/go2heapsnapshot" "$build/amd64.heapsnapshot"
	convert "$GO2HEAPSNAPSHOT" "$build/ours.heapsnapshot"
	result 'amd64: byte for byte' cmp "$build/ours.heapsnapshot" "$build/amd64.heapsnapshot"
	if command -v qemu-aarch64 >/dev/null; then
		result 'arm64: the program runs' convert qemu-aarch64 "$build/unpacked/$release-linux-arm64/go2heapsnapshot" "$build/arm64.heapsnapshot"
		result 'arm64: it writes the same' cmp "$build/ours.heapsnapshot" "$build/arm64.heapsnapshot"
	else
		echo 'ok - arm64 # SKIP no qemu-user'
	fi
	if ! unshare --mount --pid --fork true 2>/dev/null || ! command -v busybox >/dev/null; then
		echo 'ok - in an empty root # SKIP no right to make one, or no busybox'
		return
	fi
	works_in 'an empty root'
	if ! command -v debootstrap >/dev/null; then
		echo 'ok - in a bare Debian # SKIP no debootstrap'
		return
	fi
	for suite in bullseye bookworm trixie; do works_in "a bare $suite" $suite; done
}

# --- deb

# in_debian COMMAND: runs a command in the bare Debian.
in_debian() {
	unshare --mount --pid --fork --kill-child bash -ec '
		mount -t proc proc "$1/proc"
		exec chroot "$1" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive bash -ec "$2"' bash "$build/$suite" "$1"
}

# Prints the files of the Debian, but for those that apt and dpkg keep of every package.
files() { (cd "$build/$suite" && find . -path ./proc -prune -o -path ./debs -prune -o -path ./var -prune -o -path ./tmp -prune -o -print | sort); }

settled() { in_debian 'apt-get -qy purge "?narrow(?installed, ?name(go2heapsnapshot))" && apt-get -qy autoremove --purge' && files | diff "$build/before-$suite" -; }

bare() {
	rm -rf "${build:?}/$suite" && debootstrap --variant=minbase --include=gcc,libc6-dev,pkg-config "$suite" "$build/$suite" &&
		cp -L /etc/resolv.conf "$build/$suite/etc/resolv.conf" &&
		{ apt-config dump | grep -E '^Acquire::https?::(.*::)?(Proxy|CaInfo)' >"$build/$suite/etc/apt/apt.conf.d/90host" || true; } &&
		mkdir "$build/$suite/debs" && cp "$build"/out/*.deb samples/count.c "$dump" "$exe" "$build/$suite/debs" && files >"$build/before-$suite"
}

deb() {
	suite=$1
	mkdir -p "$build"
	result 'make deb' env CC="$cached gcc" DEBFULLNAME='A Maintainer' DEBEMAIL=maintainer@debian.org tools/deb "$build/out"
	result 'lintian is content' lintian --allow-root --fail-on error,warning "$build"/out/*.changes
	if ! command -v debootstrap >/dev/null || ! unshare --mount --pid --fork true 2>/dev/null; then
		echo "ok - $suite # SKIP no debootstrap, or no right to mount"
		return
	fi
	result "a bare $suite" bare
	result "$suite: the packages install" in_debian 'apt-get -qy install /debs/go2heapsnapshot_*.deb /debs/libgo2heapsnapshot0_*.deb /debs/libgo2heapsnapshot-dev_*.deb /debs/*-dbgsym_*.deb'
	result "$suite: the program runs" in_debian "cd /debs && go2heapsnapshot --exe $(basename "$exe") -o /tmp/s.heapsnapshot $(basename "$dump") && heapquery /tmp/s.heapsnapshot /tmp/s.db"
	convert "$GO2HEAPSNAPSHOT" "$build/ours.heapsnapshot"
	result "$suite: it writes what this tree's does" cmp "$build/ours.heapsnapshot" "$build/$suite/tmp/s.heapsnapshot"
	# shellcheck disable=SC2016  # expanded there
	result "$suite: a program on the library links" in_debian 'cd /tmp && gcc /debs/count.c -o shared $(pkg-config --cflags --libs go2heapsnapshot) &&
		gcc /debs/count.c -o static $(pkg-config --cflags --libs --static go2heapsnapshot) && [ "$(./shared /debs/*.dump.gz)" = "$(./static /debs/*.dump.gz)" ]'
	result "$suite: purged, they leave nothing" settled
	rm -rf --one-file-system "${build:?}/$suite"
}

if [ "$1" = dist ]; then dist; else deb "$1"; fi
