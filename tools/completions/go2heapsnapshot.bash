# Completion of go2heapsnapshot(1) in bash. It has no list of options of its own: `go2heapsnapshot --help` has them, what they take
# (--exe=FILE), and the formats, so what is completed is what this program knows.

# Prints what matches in the help text: _go2heapsnapshot_help EXPRESSION, a command of sed.
_go2heapsnapshot_help() { "${COMP_WORDS[0]}" --help 2>/dev/null | sed -nE "$1"; }

_go2heapsnapshot() {
	local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} takes words=
	COMPREPLY=()
	# Bash splits --exe=app into three words at the "=".
	if [[ $word == '=' ]]; then
		word=
	elif [[ $option == '=' ]]; then
		option=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if [[ $word == -* && $option != -- ]]; then
		words=$(_go2heapsnapshot_help 's/^ {2,6}(-., )?(--[a-z-]+=?).*/\2/p')
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
		[[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
		return
	fi
	case $option in
	--*) takes=$(_go2heapsnapshot_help "s/^ {2,6}(-., )?$option=([A-Z]+).*/\2/p") ;;
	-?) takes=$(_go2heapsnapshot_help "s/^  $option, --[a-z-]+=([A-Z]+).*/\1/p") ;;
	esac
	case $option:$takes in
	*:PID) words=$("${COMP_WORDS[0]}" --pid 2>/dev/null | awk 'NR > 1 { print $1; print $NF }') ;; # Go processes: numbers, names
	--format:*) words=$(_go2heapsnapshot_help 's/^ {24}([a-z0-9]+)  .*/\1/p') ;;
	--names:*) words='short full' ;;
	--by:*) words='retained alloc' ;;
	*:FILE | *:DIR | *:DUMP | *:) # dumps, executables and outputs are files
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _go2heapsnapshot go2heapsnapshot
