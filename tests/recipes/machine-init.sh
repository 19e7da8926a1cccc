#!/bin/busybox sh
# shellcheck shell=dash
# The first program of the machine that run.sh starts: makes the root directory, in which systemd then is the first process.
/bin/busybox mkdir -p /new
/bin/busybox mount -t tmpfs -o size=90% tmpfs /new
/bin/busybox tar -xf /root.tar -C /new
/bin/busybox tar -xf /work.tar -C /new
/bin/busybox rm /root.tar /work.tar
exec /bin/busybox switch_root /new /sbin/init
