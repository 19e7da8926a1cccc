#!/bin/bash
# Runs the recipes of docs/oom.md (recipes.sh): run.sh PART. TAP on standard output.
#
#   containers   on this machine: the commands, with several releases of Go, and the containers and the pod, by podman with images
#                that are made here
#   systemd      on this machine: the unit, with a systemd of its own for a user
#   machine      all of it in a Debian with systemd, podman and control groups of version 2, on Debian's kernel in an emulator
#
#   BUILD        where everything goes (default: build/recipes)
#   DEATHS       how many deaths each recipe has (default: 20; machine: 8)
#   RECIPES      which recipes (default: all)
#   GOROOTS      the releases for the commands (default: 1.22, 1.24 and the current one, if they are there)
#
# Only root may run it: it makes mount namespaces, in which it hides what stays as it is for this machine.
set -u
cd "$(dirname "$0")/../.." || exit 1
part=${1:?} here=$PWD/tests/recipes
build=$(realpath -m "${BUILD:-build/recipes}")
work=$build/work
seconds=5000 # an emulated machine that needs more hangs

fail() {
	echo "not ok - $part: $1"
	[ -z "${2-}" ] || tail -n 20 "$2" | sed 's/^/# /'
	exit 1
}

skip() {
	echo "ok - recipes, $part # SKIP $1"
	exit
}

[ "$(uname -s)" = Linux ] || skip 'not Linux'
[ "$(id -u)" -eq 0 ] && unshare -m --propagation private true 2>/dev/null || skip 'no mount namespace can be made here: only root may'

# ---- what all parts need ----

rm -rf --one-file-system "$work"
mkdir -p "$work/releases" || exit 1
make -s -j2 BUILD="$build/static" CC="${CACHED-} ${CC:-gcc}" CFLAGS='-O2 -g0' LDFLAGS=-static "$build/static/go2heapsnapshot" >"$build/log" 2>&1 ||
	fail 'a static program is built' "$build/log"
cp "$build/static/go2heapsnapshot" docs/oom.md tools/image/Dockerfile tests/recipes/recipes.sh "$work"
cp "$(command -v busybox)" "$work/busybox" 2>/dev/null || skip 'no busybox (busybox-static)'
goroots=${GOROOTS:-$(for goroot in $(tools/setup go-all); do
	case $(sed -n '1s/^go\(1\.[0-9]*\).*/\1/p' "$goroot/VERSION") in 1.22 | 1.24) echo "$goroot" ;; esac
done) $(tools/setup go-current)}
for goroot in $goroots; do
	(cd tests/process/death && CGO_ENABLED=0 GOROOT=$goroot GOFLAGS=-mod=mod GOTOOLCHAIN=local "$goroot/bin/go" build \
		-o "$work/releases/server-$(sed -n '1s/^go\(1\.[0-9]*\).*/\1/p' "$goroot/VERSION")" .) >"$build/log" 2>&1 || fail 'the server is built' "$build/log"
	release=$(sed -n '1s/^go\(1\.[0-9]*\).*/\1/p' "$goroot/VERSION")
done
cp "$work/releases/server-$release" "$work/server"

# settings DIRECTORY GRAPH RUN: writes settings of podman: all it has is in these directories, and its containers have no network.
settings() {
	printf '[containers]\nnetns = "none"\ndefault_ulimits = ["nofile=1000:1000", "nproc=1000:1000"]\n[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\nruntime = "crun"\n' >"$1/containers.conf"
	printf '[storage]\ndriver = "vfs"\ngraphroot = "%s"\nrunroot = "%s"\n' "$2" "$3" >"$1/storage.conf"
}

# ---- on this machine ----

# apart SCRIPT [ARGUMENT...]: runs a script in a mount namespace, where crun finds version 1 of control groups or version 2, not both.
apart() {
	# shellcheck disable=SC2016  # for the inner shell
	unshare -m --propagation private bash -uc 'umount /sys/fs/cgroup/unified 2>/dev/null; mount -t tmpfs tmpfs /run; '"$1" bash "${@:2}"
}

containers() {
	settings "$work" "$work/graph" /run/containers/storage
	CONTAINERS_CONF=$work/containers.conf CONTAINERS_STORAGE_CONF=$work/storage.conf WORK=$work WHERE='this machine' \
		apart 'bash "$@"' $(: "${RECIPES:=commands frozen docker entrypoint kubernetes}" && echo "$work/recipes.sh" "$RECIPES")
}

# systemd as that of a user: it needs a group of its own, and no bus.
systemd() {
	[ -x /lib/systemd/systemd ] || skip 'no systemd'
	[ -w /sys/fs/cgroup/systemd ] || [ -w /sys/fs/cgroup/cgroup.procs ] || skip 'no control group can be made'
	# shellcheck disable=SC2016
	WORK=$work WHERE='this machine' apart '
		export XDG_RUNTIME_DIR=/run/user HOME=$WORK/home SYSTEMCTL="systemctl --user" UNITS=$WORK/home/.config/systemd/user
		mkdir -p -m 700 $XDG_RUNTIME_DIR /run/systemd/system $UNITS
		groups=/sys/fs/cgroup/systemd
		[ -d $groups ] || groups=/sys/fs/cgroup
		mkdir $groups/recipes.$$
		sh -c "echo \$\$ >$groups/recipes.$$/cgroup.procs; exec /lib/systemd/systemd --user --log-target=console --unit=basic.target" >$WORK/systemd.log 2>&1 &
		for _ in $(seq 300); do
			systemctl --user is-system-running 2>/dev/null | grep -q -e running -e degraded && break
			sleep 0.1
		done
		bash $WORK/recipes.sh systemd
		systemctl --user exit
		wait
		for _ in $(seq 100); do find $groups/recipes.$$ -depth -type d -exec rmdir {} + 2>/dev/null && break; sleep 0.1; done'
}

# ---- in a machine of its own ----

machine() {
	local root kernel log=$build/console
	root=$(tools/setup machine 2>/dev/null) || skip 'no Debian for a machine: tools/setup check-all makes it'
	kernel=$(tools/setup kernel amd64 2>/dev/null | head -n 1)
	[ -n "$kernel" ] && command -v qemu-system-x86_64 cpio >/dev/null || skip 'no kernel or no emulator'
	[ "$(uname -m)" = x86_64 ] || skip 'the programs are not for amd64'
	rm -rf "$build/tree" "$build/init"
	mkdir -p "$build/tree/w" "$build/tree/etc/systemd/system/multi-user.target.wants" "$build/tree/etc/containers" "$build/init/bin"
	cp -r "$work"/* "$build/tree/w"
	settings "$build/tree/etc/containers" /var/lib/containers/storage /run/containers/storage
	cp "$here/recipes.service" "$build/tree/etc/systemd/system"
	ln -s ../recipes.service "$build/tree/etc/systemd/system/multi-user.target.wants/recipes.service"
	printf 'WORK=/w\nWHERE=machine\nHOME=/root\nDEATHS=%s\nRECIPES=%s\n' "${DEATHS:-8}" "${RECIPES:-commands frozen systemd docker entrypoint kubernetes}" >"$build/tree/w/environment"
	tar -C "$build/tree" -cf "$build/init/work.tar" .
	cp "$root" "$build/init/root.tar"
	cp "$here/machine-init.sh" "$build/init/init"
	chmod +x "$build/init/init"
	cp "$work/busybox" "$build/init/bin"
	(cd "$build/init" && find . | cpio -o -H newc --quiet) >"$build/initrd" || fail 'the initramfs is made'
	timeout -k 5 $seconds qemu-system-x86_64 -cpu max -smp 2 -m 3000 -nographic -no-reboot -net none -kernel "$kernel/vmlinuz" -initrd "$build/initrd" \
		-append 'console=ttyS0 quiet panic=-1 rdinit=/init systemd.show_status=0' </dev/null >"$log" 2>&1
	tr -d '\r' <"$log" | grep -E '^((not )?ok - |# )'
	tr -d '\r' <"$log" | grep -qx 'the end' || fail 'all is tried' "$log"
}

[ -z "${DEATHS-}" ] || export DEATHS
case $part in
containers | systemd | machine) "$part" ;;
*)
	echo "tests/recipes/run.sh: no part $part" >&2
	exit 2
	;;
esac
