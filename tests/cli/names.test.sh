# shellcheck shell=bash
# Tests the names of objects: classes that are not just a type's name, and --names.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

cp "$top/samples/leakserver.exe.gz" app.gz
gzip -dc "$top/samples/leakserver.2.dump.gz" >app.dump

# strings_of FILE: prints the snapshot's strings, one per line.
strings_of() {
	sed -n '/^"strings":\[/,$p' "$1"
}

run go2heapsnapshot --exe app.gz -o app.heapsnapshot app.dump
strings_of app.heapsnapshot >strings
check "what is in a map has one class" grep -q '^"map\[string\]\*main.Preview entries"' strings
check "no part of a map has another" [ "$(grep -cE '"(\[\])?\*?(table|group|bucket|mapextra)<' strings)" -eq 0 ]
check "the map has its own" grep -q '^"map\[string\]\*main.Preview"' strings
check "the words of a string are no string" grep -q '^"string header"' strings
check "nothing else is called so" [ "$(grep -cx '"string",\?' strings)" -eq 0 ]
check "arrays of strings are what they were" grep -q '^"\[\]string"' strings

# ---- --names

run go2heapsnapshot --exe app.gz --names=short -o short.heapsnapshot app.dump
said "--names=short: nothing to say of it" 0 "$(cat err)"
check "--names=short: is the default" cmp short.heapsnapshot app.heapsnapshot
run go2heapsnapshot --exe app.gz --names full -o full.heapsnapshot app.dump
said "--names=full: nothing to say of it" 0 "$(cat err)"
strings_of full.heapsnapshot >full

# one NAME: tests that a name, a regular expression, matches a string of the snapshot with short names. other NAME: tests
# that it matches a string of the snapshot with full names, and none of that with short names.
one() {
	check "--names=short: $1" grep -qx "\"$1\",\?" strings
}
other() {
	check "--names=full: $1" grep -qx "\"$1\",\?" full
	check "--names=short: not $1" [ "$(grep -cx "\"$1\",\?" strings)" -eq 0 ]
}
other 'net/http\.conn' && one 'http\.conn'                                      # a type
other '\[\]math/big\.Word' && one '\[\]big\.Word'                               # an array
other 'map\[\*net/http\.conn\]struct {} entries' && one 'map\[\*http\.conn\]struct {} entries'
other 'net/http' && one 'http'                                                  # the package of globals
other 'c (argument of net/http\.(\*conn)\.serve)' && one 'c (argument of http\.(\*conn)\.serve)'
other 'net/http\.(\*conn)\.serve server\.go:[0-9]*' && one 'http\.(\*conn)\.serve server\.go:[0-9]*' # a frame
other 'func net/http\.[^"]*' && one 'func http\.[^"]*'                          # a closure

# Two packages of the executable are named atomic, and two cpu. It does not matter which objects are in the dump.
for name in 'func sync/atomic\.[^"]*' '[^"]*vendor/golang\.org/x/sys/cpu\.option'; do
	check "--names=short: $name, since there are several" grep -qx "\"$name\",\?" strings
done
check "--names=short: and no short name that two could have" [ "$(grep -cE '"\[?[]*0-9]*(atomic|cpu)\.' strings)" -eq 0 ]

# --names changes only names of packages: texts of the program, and the number of nodes, stay the same.
check "--names: texts are the same" cmp <(grep '/godebug/' strings) <(grep '/godebug/' full)
ids() {
	sed -n '/^"nodes":\[/,/^\]/p' "$1" | tr -d '\n[]' | tr ',' '\n' | wc -l
}
equal "--names: there are as many nodes" "$(ids short.heapsnapshot)" "$(ids full.heapsnapshot)"

# In two dumps of a process the names are the same, since they depend on the executable.
gzip -dc "$top/samples/leakserver.1.dump.gz" >before.dump
run go2heapsnapshot --exe app.gz -o before.heapsnapshot before.dump
strings_of before.heapsnapshot >before
check "--names=short: the same in another dump" [ "$(comm -12 <(sort before) <(sort strings) | grep -cE '"(http|big|tls)\.')" -gt 5 ]
check "--names=short: a package is never called in two ways" [ "$(sort -u before strings | grep -cE '"\*?(net/http|math/big|crypto/tls)\.')" -eq 0 ]

# Without an executable it is unknown which packages there are.
go2heapsnapshot app.dump >untyped
go2heapsnapshot --names=full app.dump >untyped.full
check "--names without --exe: names are the dump's" cmp untyped untyped.full

for name in '' long Short shorter; do
	run go2heapsnapshot --exe app.gz --names="$name" app.dump
	said "--names='$name' is wrong usage" 2 "go2heapsnapshot: --names takes short or full, not '$name'" \
		"Try 'go2heapsnapshot --help'."
	wrote_nothing "--names='$name': nothing written"
done
run go2heapsnapshot --names
said "--names wants one" 2 "go2heapsnapshot: option '--names' requires an argument" "Try 'go2heapsnapshot --help'."

finish
