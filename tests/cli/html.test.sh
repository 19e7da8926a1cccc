# shellcheck shell=bash
# Tests --format html as a file: what becomes one page and what does not, who may read it, that it is the same bytes however it
# is made, what of a program it never shows, and that it is whole when the dump is not. tests/formats tests what it says.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

hint="Try 'go2heapsnapshot --help'."
gzip -dc "$top/samples/leakserver.exe.gz" >app
for n in 1 2; do gzip -dc "$top/samples/leakserver.$n.dump.gz" >$n.dump; done
typed='go2heapsnapshot: 2.dump: 99.8 % of live bytes typed'

# is_page FILE: succeeds if the file begins and ends as a page does, and has each of its parts once.
is_page() {
	[ "$(head -n 1 "$1")" = '<!doctype html>' ] && [ "$(tail -n 1 "$1")" = '</html>' ] &&
		[ "$(grep -c '<script type="application/json" id="data">' "$1")" -eq 1 ] && [ "$(grep -c '<pre id="text">' "$1")" -eq 1 ] &&
		! grep -q '%[A-Z]*%' "$1"
}

# data FILE: prints the JSON of a page.
data() {
	sed -n '/<script type="application\/json" id="data">/,/<\/script>/p' "$1" | sed '1s/.*id="data">//; s/<\/script>.*//'
}

# ---- how it is made ----

run go2heapsnapshot --exe app --format html -o page.html 2.dump
said "a page: nothing to say but how much is typed" 0 "$typed"
wrote_nothing "a page: nothing on stdout"
check "a page: is one" is_page page.html
check "a page: has no name of a file but the dump's" [ "$(grep -c "$PWD" page.html)" -eq 0 ]
check "a page: loads nothing" [ "$(grep -Eic '(src|href) *= *"|@import|url\(' page.html)" -eq 0 ]
run go2heapsnapshot --exe app --format html -j 1 2.dump
wrote "-j 1, to stdout: the same bytes" page.html
run go2heapsnapshot --exe app --format html -j 7 -z 2.dump
check "-j 7 -z: the same bytes" cmp page.html <(gzip -dc out)
run go2heapsnapshot --exe app --format html --base 1.dump -o grown.html 2.dump
said "--base: nothing else to say" 0 "$typed"
check "--base: says what the tree was" grep -q '^"was":\[' grown.html
check "without --base: does not" [ "$(grep -c '^"was":\[' page.html)" -eq 0 ]
run go2heapsnapshot --exe app --format html 1.dump 2.dump
wrote "two dumps: the same page as with --base" grown.html
run go2heapsnapshot --exe app --format html -o trends.html 1.dump 1.dump 2.dump
said "three dumps: nothing else to say" 0 "$typed"
check "three dumps: one page, with trends" eval 'is_page trends.html && grep -q "^\"series\":" trends.html'
check "two dumps: no trends" [ "$(grep -c '^"series":' grown.html)" -eq 0 ]
run go2heapsnapshot --exe app --format html -j 7 --base 1.dump 1.dump 2.dump
wrote "--base and two dumps: as if it were the first of three" trends.html
run go2heapsnapshot --exe app --format html --garbage -j 1 1.dump 1.dump 2.dump
wrote "--garbage: the same, for a page keeps it anyway" trends.html
dump go1.26-s390x.2 other.dump
run go2heapsnapshot --format html -o other.html other.dump 2.dump
check "dumps of two programs: a page" eval '[ "$status" -eq 0 ] && is_page other.html'

# ---- the text ----

sed -n '/<pre id="text">/,/<\/pre>/p' grown.html | sed '1s/.*<pre id="text">//; $s/<\/pre>.*//' |
	sed 's/&lt;/</g; s/&gt;/>/g; s/&quot;/"/g; s/&#39;/'"'"'/g; s/&amp;/\&/g' >text
go2heapsnapshot --exe app --format report --base 1.dump 2.dump 2>/dev/null >usual
COLUMNS=120 go2heapsnapshot --exe app --format report --base 1.dump 2.dump 2>/dev/null >report
check "the text is the report, 120 columns wide" cmp <(sed '/^$/d' report) <(sed '/^$/d' text)
heading() { grep '^GOROUTINES' "$1" | wc -L; }
check "which is wider than usual" [ "$(heading usual)" -lt "$(heading report)" ]

# ---- what is refused ----

for other in "--json" "--path-to main.Session" "--show main.Session"; do
	# shellcheck disable=SC2086 # two words
	run go2heapsnapshot --exe app --format html $other -o no.html 2.dump
	said "$other" 2 "go2heapsnapshot: ${other%% *} goes with --format report, not with html" "$hint"
done
run go2heapsnapshot --exe app --format html --base-exe app -o no.html 2.dump
said "--base-exe without --base" 2 "go2heapsnapshot: --base-exe goes with --base" "$hint"
run go2heapsnapshot --exe app --format html -o no.html 1.dump -
said "several dumps, one of them standard input" 2 "go2heapsnapshot: standard input cannot be one of several dumps"
mkdir directory
run go2heapsnapshot --exe app --format html -o directory 1.dump 2.dump
said "several dumps, to a directory" 1 "go2heapsnapshot: directory: cannot write: Is a directory"
ln 1.dump first
run go2heapsnapshot --exe app --format html -o first first 2.dump
said "several dumps, to one of them" 1 "go2heapsnapshot: first: is the dump itself; give the snapshot another name"
# shellcheck disable=SC2046 # many words
run go2heapsnapshot --exe app --format html -o no.html $(for _ in $(seq 201); do echo 1.dump; done)
said "201 dumps" 2 "go2heapsnapshot: --format html shows trends over 200 dumps at most" "$hint"
run go2heapsnapshot --exe app --format html -o no.html 1.dump missing.dump 2.dump
said "a dump that is not there" 1 "go2heapsnapshot: missing.dump: cannot open: No such file or directory"
run go2heapsnapshot --exe /bin/sh --format html -o no.html 1.dump 2.dump
check "another executable: is refused" [ "$status" -eq 1 ]
check "what is refused leaves no file" [ ! -e no.html ]

# ---- who may read it ----

chmod 600 1.dump
umask 022
run go2heapsnapshot --exe app --format html -o private.html 2.dump 1.dump 2.dump 2.dump
equal "a private dump in a series: the page is private" "$(stat -c %a private.html)" 600
chmod 644 1.dump
run go2heapsnapshot --exe app --format html -o public.html 2.dump 1.dump 2.dump
equal "public dumps: a public page" "$(stat -c %a public.html)" 644

# ---- redaction ----

# The texts and keys that the sample server has: names of auctions, what its previews are called, addresses and agents of clients.
secrets='lamp|"chair|globe|[0-9] wide|127\.0\.0\.1:[0-9]|Go-http-client'
check "a page has texts and keys" [ "$(grep -cE "$secrets" grown.html)" -gt 0 ]
run go2heapsnapshot --exe app --format html --redact --base 1.dump -o redacted.html 2.dump
said "--redact: nothing else to say" 0 "$typed"
equal "--redact: no text and no key in the file" "$(grep -oE "$secrets" redacted.html | sort -u)" ""
check "--redact: no values" [ "$(grep -c '"fields":\[\["ID","uint64","' redacted.html)" -eq 0 ]
check "--redact: the page says so" grep -q '"redacted":true' redacted.html
check "otherwise: it says so, too" grep -q '"redacted":false' grown.html
(umask 077 && head -c 32 /dev/urandom >key)
go2heapsnapshot --exe app --format html --redact-key key -o keyed.html 1.dump 1.dump 2.dump 2>/dev/null
go2heapsnapshot --exe app --format html --redact-key key -j 1 1.dump 1.dump 2.dump >out 2>/dev/null
wrote "--redact-key: the same bytes again" keyed.html
equal "--redact-key: no text and no key in the file" "$(grep -oE "$secrets" keyed.html | sort -u)" ""

# ---- names that a page must not obey ----

check "the data has no < > and &, whatever names have" [ "$(data grown.html | grep -c '[<>&]')" -eq 0 ]
check "of which there are some" [ "$(data grown.html | grep -c '\\u003c\|\\u003e\|\\u0026')" -gt 0 ]
cp 2.dump '<img src=x onerror="alert(1)">&.dump'
run go2heapsnapshot --exe app --format html -o named.html '<img src=x onerror="alert(1)">&.dump'
check "a dump's name is text" eval '[ "$(grep -c "<img" named.html)" -eq 0 ] &&
	grep -q "<title>&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;.dump" named.html'

# ---- dumps that are cut ----

head -c 600000 2.dump >cut.dump
run go2heapsnapshot --exe app --format html -o cut.html cut.dump
check "a cut dump: exit status 3, and a page" eval '[ "$status" -eq 3 ] && is_page cut.html'
run go2heapsnapshot --exe app --format html -o cut.html cut.dump 1.dump 2.dump
check "a cut dump in a series: exit status 3, and a page" eval '[ "$status" -eq 3 ] && is_page cut.html'
for format in html report pprof; do
	run go2heapsnapshot --exe app --format $format --max-nodes 3K -o folded 2.dump
	said "$format: what it says is true of a whole heap only" 2 \
		"go2heapsnapshot: --max-nodes goes with --format heapsnapshot or hprof or sqlite or csv, not with $format" "$hint"
done
if [ -e /dev/full ]; then
	run go2heapsnapshot --exe app --format html -o /dev/full 2.dump
	check "a full disk: an error" [ "$status" -eq 1 ]
fi

finish
