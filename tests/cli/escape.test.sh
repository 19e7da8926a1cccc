# shellcheck shell=bash
# Tests that text from outside reaches the terminal only as text, in every message: without control characters, including
# those of UTF-8 (C1), without bytes that are not UTF-8, and without characters that change the direction of the text behind
# them.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

gzip -dc "$top/samples/leakserver.1.dump.gz" >app.dump
gzip -dc "$top/samples/leakserver.exe.gz" >app
# An escape sequence, a window title, C1's CSI as a character and as a byte, a change to right-to-left text, a line of its
# own.
bad=$'\e[J\e]0;\a\302\233J\233\342\200\256\nok\177'
function='main.(*Server).value.gowrap1'
odd="main.$bad"
odd+=$(printf '%*s' $((${#function} - $(printf %s "$odd" | wc -c))) '' | tr ' ' x)

# clean NAME: tests that the last run wrote something to stderr, and that all of it is text.
clean() {
	check "$1: something is said" [ -s err ]
	check "$1: no controls" [ "$(tr -d '\n' <err | LC_ALL=C tr -cd '\0-\37\177' | wc -c)" -eq 0 ]
	check "$1: is UTF-8" iconv -f UTF-8 -t UTF-8 err
	check "$1: no controls of UTF-8, no other direction" [ "$(LC_ALL=C grep -c $'\302[\200-\237]\|\342\200[\250-\256]' err)" -eq 0 ]
	check "$1: no line of another's" [ "$(grep -c '^ok' err)" -eq 0 ]
}

printf 's/%s/%s/g' "$(sed 's/[*.]/\\&/g' <<<"$function")" "$(sed 's/\[/\\[/g; $!s/$/\\/' <<<"$odd")" >function.sed
LC_ALL=C sed -f function.sed app.dump >function.dump
equal "a function in the dump: of the same size" "$(stat -c %s function.dump)" "$(stat -c %s app.dump)"
run go2heapsnapshot --exe app function.dump
check "a function in the dump: is named" grep -q 'it has no function main\.?\[J?\]0;??J???ok?' err
clean "a function in the dump"
run go2heapsnapshot --untyped-ok --exe app function.dump
clean "a function in the dump, --untyped-ok"

# All that is written for people, and what programs show to people as it is. JSON has escapes instead, by which programs get
# the name as it was; in a profile and in a summary it is as in the report.
run go2heapsnapshot --format report -o report.txt function.dump
cp report.txt err
check "the report: has the function" grep -q 'main\. \[J' err
clean "the report"
run go2heapsnapshot --format report --json -o report.json function.dump
cp report.json err
clean "the report as JSON"
check "the report as JSON: has the function's name as it was" "${NODE:-node}" -e '
	const texts = []; JSON.parse(require("fs").readFileSync("report.json", "utf8"), (key, value) => (typeof value === "string" && texts.push(value), value));
	process.exit(texts.some((text) => text.includes("main.\x1b[J") && text.includes("\u009bJ") && text.includes("\u202e")) ? 0 : 1)'
run go2heapsnapshot --format html -o odd.html function.dump
cp odd.html err
clean "a page"
run go2heapsnapshot -o odd.heapsnapshot function.dump
cp odd.heapsnapshot err
clean "the snapshot"
check "the snapshot: has the function's name as it was" "${NODE:-node}" -e '
	const { strings } = JSON.parse(require("fs").readFileSync("odd.heapsnapshot", "utf8"));
	process.exit(strings.some((text) => text.includes("main.\x1b[J") && text.includes("\u009bJ") && text.includes("\u202e")) ? 0 : 1)'
run go2heapsnapshot --format pprof -o odd.pb.gz function.dump
gzip -dc odd.pb.gz | LC_ALL=C grep -ao 'main\.[^ ]*J[^ ]*' | head -n 1 >err
clean "a profile: the function"
if grep -q '^ *sqlite ' "$here/help.expected" && go2heapsnapshot --version | grep -qv 'without SQLite'; then
	run go2heapsnapshot --format sqlite --summary -o odd.db function.dump
	sqlite3 odd.db "SELECT text FROM text WHERE text LIKE '%main.?[J?]0;%'" >err
	clean "a summary: the function"
	check "a summary: has no name as it was" [ "$(LC_ALL=C grep -ac $'main\\.\e\|\342\200\256' odd.db)" -eq 0 ]
fi
run go2heapsnapshot --format report --path-to "$bad" function.dump
clean "--path-to: what is not found"
run go2heapsnapshot --format report --show "$bad" function.dump
clean "--show: what is not found"

LC_ALL=C sed $'1,3s/go1\\.27\\.4/go\e[7m\302\233/; 1,3s/amd64/a\e[7m/' app.dump >version.dump
run go2heapsnapshot -v version.dump
check "version and architecture: are shown" grep -q 'format go1.7, go?\[7m? a?\[7m, 64-bit' err
clean "version and architecture"
run go2heapsnapshot --exe app version.dump
check "another version: exit 1" [ "$status" -eq 1 ]
clean "another version"

cp app.dump "$bad.dump"
cp app "$bad.app"
objcopy --strip-all app "$bad.stripped"
head -c 400000 app.dump >"$bad.cut"
run go2heapsnapshot -v --exe "$bad.app" "$bad.dump"
clean "names of files"
run go2heapsnapshot --exe "$bad.stripped" -o "$bad.out" "$bad.dump"
clean "names of files: notes"
check "names of files: the file has the whole name" [ -s "$bad.out" ]
run go2heapsnapshot --reachable --max-nodes 1 "$bad.cut"
clean "names of files: warnings"
run go2heapsnapshot "$bad.missing"
clean "names of files: errors"
run go2heapsnapshot -o "$bad.dir/x" app.dump
clean "names of files: of the output"
run go2heapsnapshot "$bad.app" "$bad.dump"
clean "usage: two files"
run go2heapsnapshot "$bad" "$bad"
clean "usage: two dumps"
for option in "--$bad" "-$bad" "--gzip=$bad" "--max-nodes=$bad" "-j$bad" "--re$bad"; do
	run go2heapsnapshot "$option" app.dump
	check "usage: ${option%"$bad"}: exit 2" [ "$status" -eq 2 ]
	clean "usage: ${option%"$bad"}"
done
TMPDIR="/missing/$bad" run go2heapsnapshot - < <(cat app.dump)
clean "TMPDIR"
if SHELL=/bin/sh script -qec true /dev/null </dev/null >/dev/null 2>&1; then
	cp "$bad.dump" name
	name="$bad.dump" on_terminal 'go2heapsnapshot "$name" 2>err'
	clean "a terminal as stdout"
fi

# Text is shown unchanged.
cp app.dump 'Größe 日本.dump'
run go2heapsnapshot --exe app 'Größe 日本.dump'
check "names of files: any language" grep -q '^go2heapsnapshot: Größe 日本.dump: ' err

finish
