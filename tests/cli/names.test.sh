# shellcheck shell=bash
# What objects are called: the classes that are not just a type's name.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

cp "$top/samples/leakserver.exe.gz" app.gz
gzip -dc "$top/samples/leakserver.2.dump.gz" >app.dump

# strings FILE: the snapshot's strings, one a line.
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

finish
