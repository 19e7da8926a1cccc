# Prints what zsh offers to complete a line, one per line: completions.zsh DIRECTORY LINE. The functions are in the directory.
# Completion needs a terminal, so another zsh runs at one (zsh/zpty), where compadd prints the matches that it is given.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D"
# Functions of zsh call compadd with -O, -A or -D to sort out words, not to offer them.
zpty -w shell 'compadd() {
	local -a found
	[[ ${argv[(I)-[OAD]]} -ne 0 ]] || { builtin compadd -O found "$@"; print -l -- "<"${^found}">" }
	builtin compadd "$@"
}'
zpty -w shell 'report() { print; _main_complete; print "<end>" }; zle -C report complete-word report; bindkey "^I" report; print "<rea""dy>"'
zpty -r -m shell output '*<ready>*'
zpty -n -w shell "$2"$'\t'
zpty -r -m shell output '*<end>*'
print -r -- "${output//$'\r'/}" | sed -n 's/^<\([^<>]*\)>$/\1/p' | grep -vx end | sort -u
zpty -d shell
