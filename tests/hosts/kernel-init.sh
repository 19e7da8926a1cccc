#!/bin/sh
# The first process of the machine that kernel.sh starts: reads the programs of /apps from outside. TAP on the console.
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
ifconfig lo 127.0.0.1 up
cd /tmp || exit 1
pages=$(sed -n '/^KernelPageSize:/{s/^[^0-9]*//p; q; }' /proc/self/smaps)
echo "# Linux $(uname -r) on $(uname -m), pages of $pages"

# result STATUS NAME FILE: prints a line of TAP, and the end of a log if the status is not 0.
result() {
	if [ "$1" -eq 0 ]; then
		echo "ok - $2"
	else
		echo "not ok - $2"
		tail -n 20 "$3" | sed 's/^/# /'
	fi
}

# ready: waits until the program in app.log has begun.
ready() {
	i=0
	while ! grep -q ready app.log && [ $i -lt 600 ]; do
		sleep 0.2
		i=$((i + 1))
	done
}

# The program writes its heap dump to a FIFO, whose reader pauses in the middle of it: tests/process/same-moment.sh.
same_moment() {
	rm -f fifo ./*.dump
	mkfifo fifo
	"/apps/$name" fifo /tmp/fifo >app.log 2>&1 &
	pid=$!
	pause fifo $pid reference.dump go2heapsnapshot --pid {} --format dump -o ours.dump >log 2>&1
	result $? "arm64, pages of $pages, $name: is read from outside" log
	wait $pid
	result $? "arm64, pages of $pages, $name: goes on" app.log
	compare --may-change runtime.sched --may-change runtime.m0 --threads-move $stripped --symbols "/apps/symbols-${name%-*}" ours.dump reference.dump >log 2>&1
	result $? "arm64, pages of $pages, $name: what was read is what it writes" log
	rm -f ./*.dump
}

# A program that allocates all the time: tests/process/any-moment.sh. At the end the reader is killed while it reads.
any_moment() {
	"/apps/$name" -trees 4 alloc 2 >app.log 2>&1 &
	pid=$!
	ready
	for i in 1 2 3; do
		go2heapsnapshot --pid $pid --format dump -o any.dump >log 2>&1 && dangling any.dump >log 2>&1
		result $? "arm64, pages of $pages, $name: nothing dangles at moment $i" log
	done
	dangling --control any.dump >log 2>&1
	result $? "arm64, pages of $pages, $name: what is taken out is missed" log
	go2heapsnapshot --pid $pid --format report >log 2>&1
	result $? "arm64, pages of $pages, $name: is reported" log
	go2heapsnapshot --pid $pid --format dump -o any.dump >log 2>&1 &
	reader=$!
	while kill -0 $reader 2>/dev/null && ! grep -q '^State:.t' /proc/$pid/task/*/status; do :; done
	kill -KILL $reader
	wait $reader
	echo "status $?" >log
	grep -q 'status 137' log
	result $? "arm64, pages of $pages, $name: its reader is killed" log
	sleep 1
	grep -h '^State' /proc/$pid/task/*/status >log
	! grep -q '[Tt] (' log
	result $? "arm64, pages of $pages, $name: goes on when its reader is killed" log
	kill -KILL $pid
	wait $pid 2>/dev/null
	rm -f ./*.dump
}

# Objects that know in which collection they were born: tests/process/ages.sh. An emulated machine may miss collections; then some objects
# are taken for the ones that had their slots before.
ages() {
	rm -f in
	mkfifo in
	"/apps/$name" <in >app.log 2>&1 &
	pid=$!
	exec 9>in
	ready
	go2heapsnapshot --pid $pid --ages 20s --format dump -o aged.dump >log 2>&1 &&
		go2heapsnapshot --exe "/apps/$name" --format csv -o csv aged.dump >>log 2>&1
	result $? "arm64, pages of $pages, $name: is watched" log
	echo >&9
	exec 9>&-
	wait $pid
	grep -v '^ready' app.log >answers
	awk -F, -f /bin/ages.awk csv/nodes.csv answers >compared 2>&1
	cat compared >>log
	awk '$1 != "off-by" { all += $2; good += $3 } END { exit !(all > 200 && good * 100 >= all * 90) }' compared
	result $? "arm64, pages of $pages, $name: objects live since the collection after their birth" log
	sed 's/^/# /' compared
	rm -rf csv ./*.dump
}

for app in /apps/aged-*; do
	name=${app#/apps/}
	ages
done
for app in /apps/[0-9]*; do
	name=${app#/apps/} stripped=
	case $name in *-stripped) stripped=--stripped ;; esac
	same_moment
	any_moment
done
echo 'the end'
poweroff -f
