#!/bin/bash
# Tests what the completions in ROOT offer, in the shells that are there: completions.sh ROOT. TAP on standard output.
set -u
root=$1
export PATH=$root/bin:$PATH
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
touch "$work/app.dump"
mkdir "$work/kept"

# in_bash LINE: prints what bash completes the line to, as readline splits it, one per line.
in_bash() {
	bash --norc -c '
		. "$1/share/bash-completion/completions/go2heapsnapshot"
		read -ra COMP_WORDS <<<"${2//=/ = }"
		[[ $2 != *" " ]] || COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_go2heapsnapshot
		printf "%s\n" "${COMPREPLY[@]}"' bash "$root" "$1"
}

# in_zsh LINE: the same in zsh: a shell at a terminal of its own, with a style that lists matches one per line.
in_zsh() {
	zsh -f "$here/completions.zsh" "$root/share/zsh/site-functions" "$1"
}

in_fish() {
	fish --no-config -c 'source $argv[1]/share/fish/vendor_completions.d/go2heapsnapshot.fish; complete -C $argv[2]' "$root" "$1" |
		cut -f 1
}

# offers SHELL LINE WORD...: a test that the line's completion has these words and, if the last one is "only", no other.
offers() {
	local shell=$1 line=$2 word found
	shift 2
	found=$(cd "$work" && "in_$shell" "$line" 2>&1)
	for word; do
		if [ "$word" = only ]; then
			[ "$(sort <<<"$found")" = "$(printf '%s\n' "${@:1:$#-1}" | sort)" ] && continue
		else
			grep -qxF -e "$word" <<<"$found" && continue
		fi
		echo "not ok - $shell: '$line' is completed"
		printf '# wanted %s, found:\n%s\n' "$*" "$(sed 's/^/#   /' <<<"$found")"
		return
	done
	echo "ok - $shell: '$line' is completed"
}

# Every option of --help, as the shells show them.
mapfile -t options < <("$root/bin/go2heapsnapshot" --help | sed -nE 's/^ {2,6}(-., )?(--[a-z-]+).*/\2/p')
mapfile -t with_equals < <("$root/bin/go2heapsnapshot" --help | sed -nE 's/^ {2,6}(-., )?(--[a-z-]+=?).*/\2/p')
mapfile -t formats < <("$root/bin/go2heapsnapshot" --help | sed -nE 's/^ {24}([a-z0-9]+)  .*/\1/p')
[ "${#options[@]}" -ge 25 ] && [ "${#formats[@]}" -ge 7 ] || echo "not ok - --help lists options and formats"

for shell in bash zsh fish; do
	if ! command -v "$shell" >/dev/null; then
		echo "ok - completion in $shell # SKIP it is not installed"
		continue
	fi
	# Bash alone shows the "=" before what an option takes.
	if [ "$shell" = bash ]; then wanted=("${with_equals[@]}"); else wanted=("${options[@]}"); fi
	if [ "$shell" = fish ]; then directory=kept/; else directory=kept; fi # fish alone shows that it is one
	offers "$shell" 'go2heapsnapshot --' "${wanted[@]}" only
	offers "$shell" 'go2heapsnapshot --format ' "${formats[@]}" only
	offers "$shell" 'go2heapsnapshot --names ' short full only
	offers "$shell" 'go2heapsnapshot --by ' retained alloc only
	offers "$shell" 'go2heapsnapshot --exe ' app.dump
	offers "$shell" 'go2heapsnapshot --keep ' "$directory"
	offers "$shell" 'go2heapsnapshot ap' app.dump only
done
# What an option takes may be left out.
! command -v zsh >/dev/null || offers zsh 'go2heapsnapshot --fork --pi' --pid only
# What an option takes may stand behind a "=" or behind its letter as well.
offers bash 'go2heapsnapshot --format=' "${formats[@]}" only
offers bash 'go2heapsnapshot --format=re' report only
offers bash 'go2heapsnapshot -e ap' app.dump only
# Processes are those that the program lists; here it is another one that lists two.
mkdir "$work/bin"
cat >"$work/bin/go2heapsnapshot" <<END
#!/bin/sh
[ "\$*" = --pid ] || exec "$root/bin/go2heapsnapshot" "\$@"
echo '     PID  started               RSS  Go         name'
echo '    1234  2026-11-28 23:10  10.0 MB  go1.27.4   shop'
echo '   12345  2026-11-28 23:11  1.20 GB             api'
END
chmod +x "$work/bin/go2heapsnapshot"
PATH=$work/bin:$PATH
for shell in bash zsh fish; do
	! command -v "$shell" >/dev/null || offers "$shell" 'go2heapsnapshot --pid 12' 1234 12345 only
done
offers bash 'go2heapsnapshot --pid s' shop only
