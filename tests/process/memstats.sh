#!/bin/sh
# The numbers of the report's head are those of runtime.ReadMemStats of the same process, and RSS is that of smaps. TAP on
# standard output.
#
#   G2H                  the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases (default: see tests/go.sh)
set -u
usual=leaks
. "$(dirname "$0")/lib.sh"
may_trace 'memstats' || exit 0

# arenas: tests that what is in user arenas counts as objects, and not as memory of C.
arenas() {
	app=$build/$release-arenas
	if ! GO111MODULE=off CGO_ENABLED=0 GOEXPERIMENT=arenas GOROOT=$goroot "$goroot/bin/go" build -o "$app" "$here/arenas/main.go" >"$build/log" 2>&1; then
		echo "not ok - $release, arenas: builds"
		tell "$build/log"
		return
	fi
	rm -f "$build/in" "$build/out"
	mkfifo "$build/in" "$build/out"
	"$app" <"$build/in" >"$build/out" &
	pid=$!
	exec 3>"$build/in"
	read -r bytes <"$build/out"
	"$g2h" --pid "$pid" --format report --json >"$build/report" 2>"$build/log"
	exec 3>&-
	wait "$pid"
	pid=
	node -e '
		const {parts} = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")).process.rss, bytes = Number(process.argv[2]);
		console.error(parts);
		process.exitCode = parts.objects >= bytes && parts.c < bytes / 10 ? 0 : 1;' "$build/report" "$bytes" 2>>"$build/log"
	result $? "$release, arenas: their memory is that of objects" "$build/log"
}
for goroot in $goroots; do
	release=$(go_release "$goroot")
	for way in plain stripped; do
		flags=
		[ "$way" = plain ] || flags='-s -w'
		app=$build/$release-$way
		if ! GO111MODULE=off CGO_ENABLED=0 GOROOT=$goroot "$goroot/bin/go" build -o "$app" -ldflags="$flags" "$here/memstats/main.go" >"$build/log" 2>&1; then
			echo "not ok - $release, $way: builds"
			tell "$build/log"
			continue
		fi
		node "$here/memstats.mjs" "$g2h" "$app" "$release, $way"
	done
	case $release in go1.19*) ;; *) arenas ;; esac
done | sed -E 's/^((not )?ok) [0-9]+ /\1 /; /^1\.\.[0-9]+$/d'
