#!/bin/sh
# The first process of the machine that at-death.sh starts: a program in a group with a limit of 100 MB leaks until the kernel kills
# it, or does not leak and is killed by SIGKILL. TAP on the console.
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev 2>/dev/null
mount -t tmpfs -o size=900M tmp /tmp
mount -t cgroup2 none /sys/fs/cgroup
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
cd /tmp || exit 1
echo "# Linux $(uname -r)"

# result STATUS NAME: prints a line of TAP, and the end of the log if the status is not 0.
result() {
	if [ "$1" -eq 0 ]; then
		echo "ok - $linux, $name: $2"
	else
		echo "not ok - $linux, $name: $2"
		tail -n 20 log | sed 's/^/# /'
	fi
}

# start OOM_GROUP [SESSIONS]: starts the program, which leaks so many sessions of 4 KB a second, in a group of its own.
start() {
	group=/sys/fs/cgroup/$name
	mkdir "$group"
	echo 100M >"$group/memory.max"
	echo "$1" >"$group/memory.oom.group"
	(
		echo 0 >"$group/cgroup.procs"
		exec leaker leak "${2:-5000}"
	) >app.log 2>&1 &
	pid=$!
	while ! grep -q ready app.log; do sleep 0.1; done
}

# holds DUMP: the first suspect is the map that leaks.
holds() {
	go2heapsnapshot --exe /bin/leaker --format report "$1" >report 2>>log
	cat report >>log
	grep -q '^ *1 .* main\.Session' report && grep -q '^ *held by *main\.leaking\.byID' report
	result $? "$2"
}

linux=$(uname -r)
linux=Linux\ ${linux%.*}\ $(uname -m)
for oom_group in 0 1; do
	name="oom.group $oom_group"
	start $oom_group
	go2heapsnapshot --at-death --pid $pid -o app.dump 2>log
	result $? 'is written whole'
	grep -q 'was killed by the OOM killer' log
	result $? 'says how it died'
	holds app.dump 'the first suspect is the leak'
done
name='at 80 % of the limit'
mkdir dumps
start 1
go2heapsnapshot --at-death=80% --pid $pid -o dumps/ 2>log
result $? 'is written'
set -- dumps/*
[ $# -eq 2 ]
result $? 'before the end and at the end'
for dump; do holds "$dump" 'the first suspect is the leak'; done
name=SIGKILL
start 1 0
go2heapsnapshot --at-death --pid $pid -o killed.dump 2>log &
box=$!
while ! grep -q 'is written when it is killed' log && kill -0 $box; do sleep 0.1; done
kill -KILL $pid
wait $box
result $? 'is written whole'
grep -q 'was killed by signal 9' log
result $? 'says how it died'
holds killed.dump 'the first suspect is the leak'
echo 'the end'
poweroff -f
