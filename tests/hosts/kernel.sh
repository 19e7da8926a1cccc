#!/bin/bash
# Reads live processes on arm64: an emulator of a whole machine runs each of Debian's kernels, with pages of 4 and of 16 kB, and in it
# the programs of tests/process/everything, the program, and the checks of tests/process. TAP on standard output. run.sh calls it, when
# it has built the program for arm64.
#
#   kernel.sh HOST_BUILD    where run.sh has built for arm64
#
#   BUILD                   where everything goes (default: build/hosts/kernel)
#   RELEASES                of Go (default: 1.22 and 1.27)
#   KERNELS                 directories with a kernel and busybox (default: all that there are)
set -u
cd "$(dirname "$0")/../.." || exit 1
host=$1
build=$(realpath -m "${BUILD:-build/hosts/kernel}")
root=$build/root
seconds=3000 # an emulated machine that needs more hangs

fail() {
	echo "not ok - $1"
	[ -z "${2-}" ] || tail -n 20 "$2" | sed 's/^/# /'
	exit 1
}

kernels=${KERNELS:-$(tools/setup kernel arm64 2>/dev/null)}
[ -n "$kernels" ] && command -v qemu-system-aarch64 >/dev/null || { echo 'ok - arm64 kernel # SKIP no kernel or no emulator here'; exit; }
rm -rf "$root"
mkdir -p "$root"/{bin,proc,sys,dev,tmp,apps}
for name in sh mount mkfifo kill sleep cat grep tail sed awk poweroff uname ifconfig; do ln -s busybox "$root/bin/$name"; done
cp "$host/go2heapsnapshot" "$root/bin"
# shellcheck disable=SC2046  # libraries are words
for name in 'pause pause' 'compare compare differences listing spoil' 'dangling dangling listing'; do
	set -- $name
	aarch64-linux-gnu-gcc -std=c17 -D_GNU_SOURCE -O1 -static -Isrc -Iinclude -I"$host/libraries" -L"$host/libraries" -o "$root/bin/$1" \
		$(printf 'tests/process/%s.c ' "${@:2}") "$host/internal.a" $(make -s libs WITH_ZSTD= WITH_LZMA= WITH_LZ4= WITH_DEFLATE=) 2>"$build/log" || fail "arm64 kernel: $1 builds" "$build/log"
done
aarch64-linux-gnu-strip "$root"/bin/{go2heapsnapshot,pause,compare,dangling}
for release in ${RELEASES:-1.22 1.27}; do
	goroot=$(tools/setup go-all | grep "go-$release\$") || fail "arm64 kernel: there is Go $release"
	for way in plain stripped; do
		ld=
		[ $way = plain ] || ld='-s -w'
		(cd tests/process/everything && GOROOT=$goroot GOARCH=arm64 CGO_ENABLED=0 GOFLAGS='' GOTOOLCHAIN=local "$goroot/bin/go" build -ldflags="$ld" -o "$root/apps/$release-$way" .) \
			>"$build/log" 2>&1 || fail "arm64 kernel: $release, $way builds" "$build/log"
	done
	GOROOT=$goroot "$goroot/bin/go" tool nm -size "$root/apps/$release-plain" >"$root/apps/symbols-$release"
	(cd tests/process/aged && GOROOT=$goroot GOARCH=arm64 CGO_ENABLED=0 GOFLAGS='' GOTOOLCHAIN=local "$goroot/bin/go" build -ldflags='-s -w' -o "$root/apps/aged-$release" .) \
		>"$build/log" 2>&1 || fail "arm64 kernel: $release, aged builds" "$build/log"
done
cp tests/process/ages.awk "$root/bin"
cp tests/hosts/kernel-init.sh "$root/init"
chmod +x "$root/init"
for kernel in $kernels; do
	console=$build/$(basename "$kernel").console
	cp "$kernel/busybox" "$root/bin"
	(cd "$root" && find . | cpio -o -H newc --quiet) >"$build/initrd" || fail 'arm64 kernel: the initramfs is made'
	timeout -k 5 $seconds qemu-system-aarch64 -M virt -cpu max,pauth-impdef=on -smp 2 -m 2048 -nographic -no-reboot -net none \
		-kernel "$kernel/vmlinuz" -initrd "$build/initrd" -append 'console=ttyAMA0 quiet panic=-1 rdinit=/init' </dev/null >"$console" 2>&1
	tr -d '\r' <"$console" | grep -E '^((not )?ok - |# )'
	tr -d '\r' <"$console" | grep -qx 'the end' || fail 'arm64 kernel: all is tried' "$console"
done
