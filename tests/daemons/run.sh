#!/bin/sh
# Tests what is said of daemons as Debian ships them: run.sh PACKAGE...; all of them if none is named. daemons.test.mjs says what is
# tested. TAP on standard output; the dumps and outputs stay in build/daemons.
#
#   GO2HEAPSNAPSHOT      the program (default: build/go2heapsnapshot)
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
build=${BUILD:-$top/build/daemons}
usual=leaks
. "$top/tests/process/lib.sh"
g2h=${GO2HEAPSNAPSHOT:-$top/build/go2heapsnapshot}
may_trace 'daemons' || exit 0
if ! daemons=$("$top/tools/setup" daemons 2>/dev/null); then
	echo 'ok - daemons # SKIP no daemons: tools/setup check-all fetches them'
	exit 0
fi
[ $# -gt 0 ] || set -- caddy docker-registry etcd-server influxdb nats-server ntfy prometheus prometheus-node-exporter \
	prometheus-pushgateway rclone restic-rest-server victoria-metrics webhook
for package; do
	"${NODE:-node}" "$here/daemons.test.mjs" "$g2h" "$daemons" "$build" "$package"
done
