#!/bin/bash
# --at-death where control groups are of version 2: an emulator of a whole machine runs each of Debian's kernels for a processor, and in
# it a program in a group with a memory limit, which the kernel kills. TAP on standard output.
#
#   at-death.sh [PROCESSOR]    amd64 (default) or arm64
#
#   G2H       the program, built for the processor (default: build/go2heapsnapshot)
#   BUILD     where everything goes (default: build/hosts/at-death)
#   KERNELS   directories with a kernel and busybox (default: all that there are)
set -u
cd "$(dirname "$0")/../.." || exit 1
processor=${1:-amd64}
g2h=${G2H:-build/go2heapsnapshot}
build=$(realpath -m "${BUILD:-build/hosts/at-death}")
root=$build/root
seconds=1500 # an emulated machine that needs more hangs

fail() {
	echo "not ok - $1"
	[ -z "${2-}" ] || tail -n 20 "$2" | sed 's/^/# /'
	exit 1
}

skip() {
	echo "ok - at death, $processor, groups of version 2 # SKIP $1"
	exit
}

# By -icount, the time in the machine is the number of instructions: however busy this host is, the kernel reclaims the memory of what it
# has killed after as many of them. The kernel for amd64 does not boot with that.
case $processor in
amd64) machine=X86-64 console=ttyS0 emulator=(qemu-system-x86_64 -cpu max) ;;
arm64) machine=AArch64 console=ttyAMA0 emulator=(qemu-system-aarch64 -M virt -cpu 'max,pauth-impdef=on' -icount 'shift=0,sleep=off') ;;
*) fail "at death: a processor $processor" ;;
esac
kernels=${KERNELS:-$(tools/setup kernel "$processor" 2>/dev/null)}
if [ -z "$kernels" ] || ! command -v "${emulator[0]}" >/dev/null; then skip 'no kernel or no emulator here'; fi
LC_ALL=C readelf -h "$g2h" | grep -q "Machine:.*$machine" || skip "the program is not of $processor"
rm -rf "$root"
mkdir -p "$root"/{bin,proc,sys,dev,tmp}
for name in sh mount mkdir cat grep sleep tail sed poweroff uname; do ln -s busybox "$root/bin/$name"; done
cp "$g2h" "$root/bin/go2heapsnapshot"
for library in $(readelf -l "$g2h" | grep -q INTERP && ldd "$g2h" | grep -o '/[^ ]*'); do # one for another processor has none
	mkdir -p "$root$(dirname "$library")"
	cp "$library" "$root$library"
done
goroot=$(tools/setup go-current) || fail 'at death: there is Go'
(cd tests/process/death && GOROOT=$goroot GOARCH=$processor CGO_ENABLED=0 GOFLAGS='' GOTOOLCHAIN=local "$goroot/bin/go" build -o "$root/bin/leaker" .) >"$build/log" 2>&1 ||
	fail 'at death: the program builds' "$build/log"
cp tests/hosts/at-death-init.sh "$root/init"
chmod +x "$root/init"
for kernel in $kernels; do
	log=$build/$(basename "$kernel").console
	cp "$kernel/busybox" "$root/bin"
	(cd "$root" && find . | cpio -o -H newc --quiet) >"$build/initrd" || fail 'at death: the initramfs is made'
	timeout -k 5 $seconds "${emulator[@]}" -smp 2 -m 1600 -nographic -no-reboot -net none \
		-kernel "$kernel/vmlinuz" -initrd "$build/initrd" -append "console=$console quiet panic=-1 rdinit=/init" </dev/null >"$log" 2>&1
	tr -d '\r' <"$log" | grep -E '^((not )?ok - |# )'
	tr -d '\r' <"$log" | grep -qx 'the end' || fail 'at death: all is tried' "$log"
done
