#!/bin/bash
# The recipes of docs/oom.md as they are written there, each with many deaths: out of memory, SIGKILL, a panic with GOTRACEBACK=crash,
# and SIGKILL after an exec. Each death must leave its heap, whole or marked as cut, with the leak as first suspect, and the exit
# status that belongs to it. TAP on standard output. To be run by run.sh, as root, in a mount namespace or a machine of its own.
#
#   recipes.sh RECIPE...
#
#   WORK     a directory with `server` (tests/process/death), `go2heapsnapshot` (static), `busybox`, `oom.md` and `Dockerfile`
#   DEATHS   how many deaths each recipe has (default: 20)
#   WHERE    what the names of tests begin with
set -u
work=${WORK:?} where=${WHERE:-here} deaths=${DEATHS:-20}
export PATH=$work:$PATH
cd "$work" || exit 1
exec 2>>shell.log # the shell tells of each program that it was killed
limit=128 # MB of the server, in place of those of the recipes
dumps=$work/dumps
box=
mkdir -p "$dumps"

# await COMMAND...: waits until the command succeeds. A machine that is emulated needs long.
await() {
	local tries=2400
	until "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return
		sleep 0.1
	done
}

# block HEADING LANGUAGE: prints the block of docs/oom.md below the heading.
block() {
	awk -v heading="$1" -v begin='```'"$2" '/^#/ { here = $0 == heading } here && is_in && /^```$/ { exit } is_in { print } here && $0 == begin { is_in = 1 }' oom.md
}

# how_of NUMBER: prints how the server ends in a death.
how_of() { set -- "$1" oom kill panic exec && shift $(($1 % 4 + 1)) && echo "$1"; }

# armed COUNT: succeeds when the box has said so often that it is armed.
armed() { [ "$(grep -c 'is written when it is killed' "$work/box.log")" -ge "$1" ]; }

# ready COUNT: succeeds when the server has said so often that it is ready.
ready() { [ "$(grep -c '^ready' "$work/server.log")" -ge "$1" ]; }

# dies HOW PID: ends the server, which is armed for the $armings-th time.
dies() {
	[ "${2:-0}" -gt 1 ] || { echo "$1: no process" >>told && return; }
	case $1 in
	oom) kill -HUP "$2" ;;
	kill) kill -KILL "$2" ;;
	panic) kill -USR1 "$2" ;;
	exec)
		kill -USR2 "$2"
		armings=$((armings + 1))
		await armed $armings
		kill -KILL "$2"
		;;
	esac
}

# begin RECIPE: counts from here on.
begin() {
	recipe=$1 whole=0 cut=0 before=0 lost=0 wrong=0
	: >told
}

# judge HOW STATUS WANTED_STATUS [EXECUTABLE]: looks at the one heap of a death in $dumps, and at the server's status; those before the death are
# dumps at a part of the limit.
judge() {
	local dump status exe=${4:-server}
	[ "$2" = "$3" ] || { echo "$1: the server's status is $2, $3 is right" >>told; wrong=$((wrong + 1)); }
	set -- "$1" $(ls "$dumps"/*.dump.gz 2>/dev/null | grep -v -e '%.dump.gz')
	if [ $# -eq 1 ] && ls "$dumps" | grep -q '%.dump.gz$' && grep -q 'the kernel took memory of the process before it could be copied' box.log; then
		before=$((before + 1)) # the dump at 90 % is there, and looked at below
	elif [ $# -ne 2 ] || ls -A "$dumps" | grep -q '^\.'; then
		lost=$((lost + 1))
		{ echo "$1: $(ls -A "$dumps" | tr '\n' ' ')" && tail -n 6 box.log; } >>told
	fi
	for dump in "$dumps"/*.dump.gz; do
		[ -e "$dump" ] || continue
		go2heapsnapshot --exe "$exe" --format report "$dump" >report 2>&1
		status=$?
		# Of a heap that is cut to a few percent, the map may be missing.
		if ! grep -A 2 '^  1 ' report | grep -q 'held by     main\.leaking\.byID' && ! { [ $status -eq 3 ] && grep -q '^  1 .* main\.Session' report; }; then
			wrong=$((wrong + 1))
			{ echo "$1: $dump: status $status" && head -n 12 report; } >>told
		elif [ $# -eq 2 ] && [ "$dump" = "$2" ]; then
			case $status in
			0) whole=$((whole + 1)) ;;
			3) cut=$((cut + 1)) ;;
			esac
		fi
	done
	rm -rf "${dumps:?}"/*
}

# end: the result of a recipe.
end() {
	local all=$deaths verdict='not ok'
	[ $((whole + cut + before)) -eq "$all" ] && [ $lost -eq 0 ] && [ $wrong -eq 0 ] && verdict=ok
	echo "$verdict - $where, $recipe: of $all deaths $whole heaps whole, $cut cut, $before only as of 90 %, $lost lost, $wrong wrong"
	[ "$verdict" = ok ] || tail -n 60 told | sed 's/^/# /'
}

# skip RECIPE REASON
skip() { echo "ok - $where, $1: $deaths deaths # SKIP $2"; }

# ---- images ----

has_images=
images() {
	[ -z "$has_images" ] || return 0
	command -v podman >/dev/null || { no_images='no podman' && return 1; }
	mkdir -p image server.root
	cp go2heapsnapshot busybox Dockerfile image
	cp server server.root
	{ podman build --network none -t go2heapsnapshot image && tar -C server.root -c server |
		podman import -c 'ENTRYPOINT ["/server"]' -c 'ENV GOTRACEBACK=crash' - server; } >images.log 2>&1 || {
		no_images="no image can be built: $(tail -n 1 images.log)"
		return 1
	}
	podman run --rm --memory 64m go2heapsnapshot --version >images.log 2>&1 || {
		no_images="no container runs here: $(tail -n 1 images.log)"
		return 1
	}
	has_images=yes
}

# docker: what the recipes call so.
docker() { podman "$@"; }

# container_pid NAME: prints the process of a container.
container_pid() { podman inspect -f '{{.State.Pid}}' "$1"; }

# remove_containers: one whose namespace another one uses is removed after that.
remove_containers() { await eval 'podman rm -f -t 0 -a; [ -z "$(podman ps -aq)" ]'; }

# ---- the recipes ----

# Docker: the two commands.
recipe_docker() {
	images || { skip Docker "$no_images" && return; }
	local commands first second number how pid status
	commands=$(block '### Docker' sh)
	first=$(sed -n '/--name server/p' <<<"$commands" | sed "s/--memory 1g/--memory ${limit}m/")
	second=$(sed '/--name server/d' <<<"$commands")
	begin Docker
	for number in $(seq 0 $((deaths - 1))); do
		how=$(how_of "$number") armings=1
		: >box.log
		: >server.log
		(cd "$dumps" && eval "$first") >run.log 2>&1 || { cat run.log >>told; continue; }
		podman logs -f server >server.log 2>&1 &
		await ready 1
		(cd "$dumps" && eval "$second") >box.log 2>&1 &
		box=$!
		await armed 1
		dies "$how" "$(container_pid server)"
		wait $box
		status=$(podman wait server)
		case $how in panic) judge "$how" "$status" 134 ;; *) judge "$how" "$status" 137 ;; esac
		remove_containers
	done
	end
}

# As the container's first process.
recipe_entrypoint() {
	images || { skip 'first process' "$no_images" && return; }
	local number how pid status
	mkdir -p boxed
	{ echo 'FROM server' && block "### As the container's first process" dockerfile; } >boxed/Dockerfile
	podman build --network none -t boxed boxed >boxed.log 2>&1 || { echo "not ok - $where, first process: builds" && tail boxed.log | sed 's/^/# /' && return; }
	for recipe in 'first process' 'first process, out of memory'; do
		begin "$recipe"
		for number in $(seq $((deaths))); do
			case $recipe in
			*memory) how=oom ;;
			*) set -- kill panic exec && shift $((number % 3)) && how=$1 ;;
			esac
			armings=1
			: >box.log
			podman run --name boxed --memory ${limit}m -v "$dumps:/dumps" boxed >box.log 2>&1 &
			server=$!
			await armed 1
			await eval 'grep -q "^ready" "$work/box.log"'
			dies "$how" "$(pgrep -P "$(container_pid boxed)")"
			wait $server
			status=$?
			case $how in panic) judge "$how" $status 134 ;; *) judge "$how" $status 137 ;; esac
			remove_containers
		done
		case $recipe in
		*memory) # which may cost the heap
			verdict=$([ $wrong -eq 0 ] && echo ok || echo 'not ok')
			echo "$verdict - $where, $recipe: of $deaths deaths $whole heaps whole, $cut cut, $lost lost, $wrong wrong"
			;;
		*) end ;;
		esac
	done
}

# Kubernetes: the pod, in which the server starts again each time, and the sidecar watches the new process.
recipe_kubernetes() {
	images || { skip Kubernetes "$no_images" && return; }
	local number how pid of_pod
	mkdir -p empty
	{
		printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: pod}\n'
		block '### Kubernetes: a sidecar' yaml
	} | sed "s/memory: 1Gi/memory: ${limit}Mi/; s/memory: 1536Mi/memory: $((limit * 3 / 2))Mi/" >empty/pod.yaml
	if ! (cd empty && podman play kube pod.yaml) >play.log 2>&1; then
		skip Kubernetes "podman runs no pod here: $(tail -n 1 play.log)"
		podman pod rm -f -t 0 -a >/dev/null 2>&1
		return
	fi
	begin Kubernetes
	of_pod=$dumps dumps=$(podman volume inspect -f '{{.Mountpoint}}' dumps) armings=0
	for number in $(seq 0 $((deaths - 1))); do
		how=$(how_of "$number") armings=$((armings + 1))
		await eval 'podman logs pod-at-death >"$work/box.log" 2>&1; armed $armings'
		pid=$(container_pid pod-server)
		dies_in_pod "$how" "$pid"
		await eval '[ "$(container_pid pod-server)" != $pid ]'
		await eval 'podman logs pod-at-death >"$work/box.log" 2>&1; grep -q "/dumps/[a-z]*-[0-9]*-[0-9TZ]*.dump.gz is written" "$work/box.log" && ls "$dumps"/*Z.dump.gz'
		judge "$how" 0 0
		[ "$(container_pid pod-server)" -gt 1 ] || podman start pod-server >/dev/null
	done
	end
	dumps=$of_pod
	podman pod rm -f -t 0 -a >/dev/null 2>&1
	umount /run/netns/* 2>/dev/null
}

# dies_in_pod HOW PID: like dies, but what the box says must be asked for.
dies_in_pod() {
	case $1 in
	exec)
		kill -USR2 "$2"
		armings=$((armings + 1))
		await eval 'podman logs pod-at-death >"$work/box.log" 2>&1; armed $armings'
		kill -KILL "$2"
		;;
	*) dies "$@" ;;
	esac
}

# systemd: the unit, enabled, beside a server that starts again.
recipe_systemd() {
	local number how pid units systemctl=${SYSTEMCTL:-systemctl} start
	$systemctl is-system-running >systemd.log 2>&1
	if ! grep -q -e running -e degraded -e starting systemd.log; then
		skip systemd "no systemd here: $(tail -n 1 systemd.log)"
		return
	fi
	units=${UNITS:-/etc/systemd/system}
	start="ExecStart=$work/server"
	[ -z "$group" ] || start="ExecStart=/bin/sh -c 'echo \$\$\$\$ >$group/cgroup.procs; exec $work/server'"
	printf '[Service]\n%s\nRestart=always\nMemoryMax=%sM\nEnvironment=GOTRACEBACK=crash\n[Install]\nWantedBy=default.target\n' "$start" $limit >"$units/server.service"
	if [ "$systemctl" = systemctl ]; then # a machine of its own
		dumps=/var/lib/dumps
		cp go2heapsnapshot /usr/local/bin
		block '### systemd' ini >"$units/at-death@.service"
	else
		block '### systemd' ini | sed "s/systemctl show/$systemctl show/; s|/var/lib/dumps/|$dumps/|; s|exec go2heapsnapshot|exec $work/go2heapsnapshot|" >"$units/at-death@.service"
	fi
	$systemctl daemon-reload
	$systemctl start server
	$systemctl enable --now at-death@server >systemd.log 2>&1
	begin systemd
	: >box.log
	for number in $(seq 0 $((deaths - 1))); do
		how=$(how_of "$number")
		await eval 'pid=$($systemctl show -p MainPID --value server); [ "${pid:-0}" -gt 1 ] && grep -l "^TracerPid:.*[1-9]" /proc/$pid/task/*/status'
		pid=$($systemctl show -p MainPID --value server)
		sleep 0.5 # memory is reserved
		case $how in
		exec)
			kill -USR2 "$pid"
			sleep 2
			kill -KILL "$pid"
			;;
		*) dies "$how" "$pid" ;;
		esac
		await eval '[ "$($systemctl show -p MainPID --value server)" != $pid ]'
		await eval 'ls "$dumps"/*Z.dump.gz'
		judge "$how" 0 0
	done
	end
	# Stopping both writes nothing, and both come back.
	$systemctl stop server
	await eval '[ "$($systemctl is-active at-death@server)" = inactive ]'
	[ "$($systemctl is-active at-death@server)" = inactive ] && [ -z "$(ls -A "$dumps")" ] && verdict=ok || verdict='not ok'
	echo "$verdict - $where, systemd: a stop of the server stops the box, without a dump"
	$systemctl start server
	await eval '[ "$($systemctl is-active at-death@server)" = active ]'
	[ "$($systemctl is-active at-death@server)" = active ] && verdict=ok || verdict='not ok'
	echo "$verdict - $where, systemd: and a start starts it"
	$systemctl stop server
	$systemctl disable at-death@server >/dev/null 2>&1
	dumps=$work/dumps
}

# make_group: makes a memory group with the limit, as $group, or leaves that empty.
group=
make_group() {
	local parent=/sys/fs/cgroup/memory file=memory.limit_in_bytes
	[ -e $parent/cgroup.procs ] || {
		parent=/sys/fs/cgroup file=memory.max
		echo +memory >$parent/cgroup.subtree_control
	} 2>/dev/null
	mkdir "$parent/recipes.$$" 2>/dev/null && group=$parent/recipes.$$ && echo $((limit << 20)) >"$group/$file" && return
	group=
}

# The commands at the beginning, with programs of all releases: `--pid` with a file and a directory, and a command.
recipe_commands() {
	local number how pid status lines line exe releases
	mapfile -t lines < <(block '# An OOM-killed pod: who held the memory?' sh | sed 's/ *#.*//')
	releases=("$work"/releases/server-*)
	for exe in "${releases[@]}"; do
		begin "commands, Go ${exe##*-}"
		for number in $(seq 0 $((deaths - 1))); do
			how=$(how_of "$number") armings=1 line=${lines[number / 4 % 3]}
			rm -f app.dump.gz
			: >box.log
			: >server.log
			case $line in
			*--pid*)
				{
					[ -z "$group" ] || echo $BASHPID >"$group/cgroup.procs"
					GOTRACEBACK=crash exec "$exe"
				} >server.log 2>&1 &
				server=$!
				await ready 1
				eval "exec ${line/1234/$server}" 2>box.log &
				box=$!
				await armed 1
				if [ "$how" = oom ] && [ -z "$group" ]; then how='kill'; fi
				dies "$how" $server
				wait $server
				status=$?
				wait $box
				;;
			*)
				[ "$how" != oom ] || how='kill' # its limit would be the box's
				eval "exec env GOTRACEBACK=crash ${line/.\/server/$exe}" >server.log 2>box.log &
				box=$!
				await ready 1
				await armed 1
				dies "$how" "$(pgrep -P $box)"
				wait $box
				status=$?
				;;
			esac
			mv -f app.dump.gz dumps/ 2>/dev/null && mv dumps/app.dump.gz dumps/appZ.dump.gz
			case $how in panic) judge "$how" $status 134 "$exe" ;; *) judge "$how" $status 137 "$exe" ;; esac
		done
		end
	done
}

# A frozen group, as of a container that is paused: the box, or the server, is frozen when the server is killed, and goes on soon.
recipe_frozen() {
	local number frozen file=freezer.state on=FROZEN off=THAWED parent=/sys/fs/cgroup/freezer
	[ -e $parent/cgroup.procs ] || parent=/sys/fs/cgroup file=cgroup.freeze on=1 off=0
	frozen=$parent/recipes-frozen.$$
	if ! mkdir "$frozen" 2>/dev/null || [ ! -e "$frozen/$file" ]; then
		skip 'frozen' 'no group can be frozen here'
		return
	fi
	begin "a frozen group ($file)"
	for number in $(seq 0 $((deaths - 1))); do
		: >box.log
		: >server.log
		server >server.log 2>&1 &
		server=$!
		await ready 1
		go2heapsnapshot --at-death --pid $server -o dumps/ 2>box.log &
		box=$!
		await armed 1
		if [ $((number % 2)) -eq 0 ]; then echo $box >"$frozen/cgroup.procs"; else echo $server >"$frozen/cgroup.procs"; fi
		echo $on >"$frozen/$file"
		sleep 0.3
		kill -KILL $server
		sleep 2
		echo $off >"$frozen/$file"
		wait $server
		status=$?
		wait $box
		judge "$([ $((number % 2)) -eq 0 ] && echo box || echo server)" $status 137
	done
	end
	await rmdir "$frozen"
}

make_group
for recipe; do "recipe_$recipe"; done
[ -z "$group" ] || await rmdir "$group"
