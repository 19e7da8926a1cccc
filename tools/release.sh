# shellcheck shell=bash
# What tools/dist and tools/deb know of a release; to be sourced at the top of the tree. $version is that of the header, $date its
# date in CHANGELOG.md.

version=$(sed -n 's/.*G2H_VERSION "\(.*\)"/\1/p' include/go2heapsnapshot/version.h)
date=$(sed -n "s/^## $version, \\([0-9-]*\\)\$/\\1/p" CHANGELOG.md)
[ -n "$date" ] || { echo "CHANGELOG.md has no date of version $version" >&2; exit 1; }

# sources DIRECTORY: copies the sources there: what git knows, or in an unpacked tarball all but what was built.
sources() {
	mkdir -p "$1"
	if [ -e .git ]; then git ls-files -z; else find . -type f ! -path './build/*' ! -path '*/node_modules/*' -printf '%P\0'; fi |
		tar -c --null --files-from=- | tar -x -C "$1"
}
