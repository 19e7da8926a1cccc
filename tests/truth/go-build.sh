#!/bin/sh
# Runs go build with a runtime whose allocator keeps a log: go-build.sh GOROOT SCRATCH ARGUMENT...
set -eu
here=$(cd "$(dirname "$0")" && pwd)
GOROOT=$(cd "$1" && pwd -P) scratch=$2
shift 2
export GOROOT
go=$GOROOT/bin/go
mkdir -p "$scratch"
scratch=$(cd "$scratch" && pwd)
"${NODE:-node}" "$here/overlay.mjs" "$GOROOT" "$scratch"
if "$go" help build | grep -q -e ' -overlay'; then
	exec "$go" build -overlay "$scratch/overlay.json" "$@"
fi
# Before Go 1.16: builds in a GOROOT of links to the release's files, with the patched files in place of the originals.
links=$scratch/goroot
rm -rf "$links"
for part in '' /src /src/runtime; do
	mkdir "$links$part"
	for file in "$GOROOT$part"/*; do
		case ${file#"$GOROOT"} in
		/src | /src/runtime) ;;
		*) ln -s "$file" "$links$part/" ;;
		esac
	done
done
for file in "$scratch"/*.go; do
	rm -f "$links/src/runtime/${file##*/}"
	cp "$file" "$links/src/runtime/"
done
GOROOT=$links exec "$go" build "$@"
