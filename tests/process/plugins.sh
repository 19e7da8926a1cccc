#!/bin/sh
# Objects that only the variables of a plugin hold are found from outside, also if the runtime refused another plugin before.
# WriteHeapDump writes only the program's own variables. TAP on standard output.
#
#   G2H                  the program (default: build/go2heapsnapshot)
#   GOROOTS              the releases (default: see tests/go.sh)
set -u
. "$(dirname "$0")/lib.sh"
may_trace plugins || exit 0

plugins() {
	name="$release, a plugin"
	at=$build/$release
	rm -rf "$at"
	mkdir -p "$at"
	if ! c_of_go "$at"; then
		echo "ok - $name # SKIP no C compiler for cgo"
		return
	fi
	if ! (cd "$here/plugins" && CGO_ENABLED=1 "$goroot/bin/go" build -buildmode=plugin -o "$at/holds.so" ./holds &&
		CGO_ENABLED=1 "$goroot/bin/go" build -buildmode=plugin -ldflags='-s -w' -o "$at/stripped.so" ./holds &&
		CGO_ENABLED=1 "$goroot/bin/go" build -buildmode=plugin -tags newer -o "$at/refused.so" ./refused &&
		CGO_ENABLED=1 "$goroot/bin/go" build -o "$at/app" .) >"$at/log" 2>&1; then
		echo "not ok - $name: builds"
		tell "$at/log"
		return
	fi
	"$at/app" "$at/holds.so" "$at/app.dump" "$at/refused.so" >"$at/app.log" 2>&1 &
	pid=$!
	wait_ready "$at/app.log"
	"$g2h" -v --pid "$pid" -o "$at/outside.heapsnapshot" >"$at/outside.log" 2>&1
	result $? "$name: is read" "$at/outside.log"
	complete 'from outside' outside
	grep -q "the plugin $at/holds.so have names with --exe" "$at/outside.log"
	result $? "$name: says how its types get names" "$at/outside.log"
	! grep -q "refused\.so" "$at/outside.log"
	result $? "$name: says nothing of a plugin that the runtime refused" "$at/outside.log"
	for file in holds stripped; do
		"$g2h" --format report --exe "$at/$file.so" --pid "$pid" >"$at/report" 2>"$at/report.log"
		cat "$at/report" >>"$at/report.log"
		grep -q 'main\.reader.* 3 .*holds\.go' "$at/report" &&
			{ [ "$file" = stripped ] || { tr -d , <"$at/report" | grep -Eq '^ *main\.entry +2000[0-9] ' && grep -q 'held by *main\.entries' "$at/report"; }; }
		result $? "$name: what is the plugin's has names with --exe $file.so" "$at/report.log" 60
	done
	"$g2h" -v --exe "$at/app" -o "$at/inside.heapsnapshot" "$at/app.dump" >"$at/inside.log" 2>&1
	result $? "$name: its own dump fits the program" "$at/inside.log"
	kill_app
	[ "$(garbage outside)" -lt 1000 ]
	result $? "$name: the 20,000 objects of its global are held" "$at/outside.log" 60
	[ "$(garbage inside)" -ge 20000 ]
	result $? "$name: in a dump they are not" "$at/inside.log" 60
}

# complete WHAT SNAPSHOT: the goroutines of the plugin have their functions.
complete() {
	! grep -q 'could not be found' "$at/$2.log" && grep -q 'plugins/holds\.reader' "$at/$2.heapsnapshot"
	result $? "$name: the stacks of its goroutines are complete, $1" "$at/$2.log"
}

# garbage LOG: prints how many objects nothing holds.
garbage() {
	sed -nE 's/^ *objects that nothing holds +([0-9]+).*/\1/p' "$at/$1.log"
}

for goroot in $goroots; do
	export GOROOT="$goroot"
	release=$(go_release "$goroot")
	plugins
done
