# shellcheck shell=sh
# Runs programs for Windows, with Wine; to be sourced, with $top set.

# wine_in DIRECTORY: makes an installation of Windows there, for `wine PROGRAM ARGUMENT...`. Fails if there is no Wine here.
wine_in() {
	wine_program=$(command -v wine64 || command -v /usr/lib/wine/wine64) && wine_zig=$("$top/tools/setup" zig 2>/dev/null) || return
	wine_directory=$1
	rm -rf "$wine_directory"
	mkdir -p "$wine_directory"
	# Of C's library, the DLL needs nothing, which Zig would have to compile first.
	ZIG_GLOBAL_CACHE_DIR="${XDG_CACHE_HOME:-$HOME/.cache}/go2heapsnapshot/zig" "$wine_zig" cc -target x86_64-windows-gnu -shared -nostdlib -s -O1 \
		-Wl,-e,DllMain -o "$wine_directory/bcryptprimitives.dll" "$top/tests/exe/windows/prng.c" -ladvapi32 &&
		wine "$wine_program" wineboot -i && cp "$wine_directory/bcryptprimitives.dll" "$wine_directory/prefix/drive_c/windows/system32"
}

# wine PROGRAM ARGUMENT...: a dump contains the environment: nobody wants ours.
wine() {
	[ "$1" = "$wine_program" ] || set -- "$wine_program" "$@"
	env -i HOME="$wine_directory" PATH=/usr/bin:/bin WINEPREFIX="$wine_directory/prefix" WINEDEBUG=-all WINEDLLOVERRIDES=bcryptprimitives=n,b \
		GOMAXPROCS=2 "$@"
}

# Ends what Wine has started, which would stay for a while.
wine_ends() { wine "$wine_program" wineboot -k; }
