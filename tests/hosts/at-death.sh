#!/bin/bash
# --at-death where control groups are of version 2: an emulator of a whole machine runs each of Debian's kernels for amd64, and in it
# a program in a group with a memory limit, which the kernel kills. TAP on standard output.
#
#   G2H       the program (default: build/go2heapsnapshot)
#   BUILD     where everything goes (default: build/hosts/at-death)
#   KERNELS   directories with a kernel and busybox (default: all that there are)
set -u
cd "$(dirname "$0")/../.." || exit 1
g2h=${G2H:-build/go2heapsnapshot}
build=$(realpath -m "${BUILD:-build/hosts/at-death}")
root=$build/root
seconds=1500 # an emulated machine that needs more hangs

fail() {
	echo "not ok - $1"
	[ -z "${2-}" ] || tail -n 20 "$2" | sed 's/^/# /'
	exit 1
}

kernels=${KERNELS:-$(tools/setup kernel amd64 2>/dev/null)}
[ -n "$kernels" ] && command -v qemu-system-x86_64 >/dev/null || { echo 'ok - at death, groups of version 2 # SKIP no kernel or no emulator here'; exit; }
[ "$(uname -m)" = x86_64 ] || { echo 'ok - at death, groups of version 2 # SKIP the program is not of amd64'; exit; }
rm -rf "$root"
mkdir -p "$root"/{bin,proc,sys,dev,tmp}
for name in sh mount mkdir cat grep sleep tail sed poweroff uname; do ln -s busybox "$root/bin/$name"; done
cp "$g2h" "$root/bin/go2heapsnapshot"
for library in $(ldd "$g2h" | grep -o '/[^ ]*'); do
	mkdir -p "$root$(dirname "$library")"
	cp "$library" "$root$library"
done
goroot=$(tools/setup go-current) || fail 'at death: there is Go'
(cd tests/process/death && GOROOT=$goroot CGO_ENABLED=0 GOFLAGS='' GOTOOLCHAIN=local "$goroot/bin/go" build -o "$root/bin/leaker" .) >"$build/log" 2>&1 ||
	fail 'at death: the program builds' "$build/log"
cp tests/hosts/at-death-init.sh "$root/init"
chmod +x "$root/init"
for kernel in $kernels; do
	console=$build/$(basename "$kernel").console
	cp "$kernel/busybox" "$root/bin"
	(cd "$root" && find . | cpio -o -H newc --quiet) >"$build/initrd" || fail 'at death: the initramfs is made'
	timeout -k 5 $seconds qemu-system-x86_64 -cpu max -smp 2 -m 1600 -nographic -no-reboot -net none \
		-kernel "$kernel/vmlinuz" -initrd "$build/initrd" -append 'console=ttyS0 quiet panic=-1 rdinit=/init' </dev/null >"$console" 2>&1
	tr -d '\r' <"$console" | grep -E '^((not )?ok - |# )'
	tr -d '\r' <"$console" | grep -qx 'the end' || fail 'at death: all is tried' "$console"
done
