# shellcheck shell=bash
# Tests the options and arguments of the command line, and the messages about wrong usage.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

hint="Try 'go2heapsnapshot --help'."
dump go1.3.3-386.1 good.dump
go2heapsnapshot good.dump >good.heapsnapshot || exit 2

expected_help >help.expected
run go2heapsnapshot --help
said "--help" 0
wrote "--help prints help.expected" help.expected
check "--help fits 80 columns and 90 lines" awk 'length > 80 { wide = 1 } END { exit wide || NR > 90 }' out
run go2heapsnapshot -h
wrote "-h is --help" help.expected

version=$(sed -n 's/.*G2H_VERSION "\(.*\)"/\1/p' "$top/include/go2heapsnapshot/version.h")
run go2heapsnapshot --version
said "--version" 0
equal "--version prints name and version" "$(head -n 1 out)" "go2heapsnapshot $version"
# Versions of the libraries: the program may be built elsewhere, so any number is accepted.
number=[0-9][0-9.]*
check "--version: then what was built in" grep -Eqx "built with zlib $number, (without SQLite|SQLite $number), (without zstd|zstd $number), (without xz|xz $number), (without lz4|lz4 $number)" <(sed 1d out)
cp out version
run go2heapsnapshot -V
wrote "-V is --version" version

run go2heapsnapshot
said "no dump" 2 "go2heapsnapshot: no dump given: name a heap dump or core file, or a process by --pid" "$hint"
wrote_nothing "no dump: nothing on stdout"
series='go2heapsnapshot: several dumps are taken for a series of one process, whose snapshots go to a directory:'
run go2heapsnapshot one.dump two.dump
said "two dumps" 2 "$series" "  go2heapsnapshot -o snapshots one.dump two.dump"
run go2heapsnapshot --base one.dump two.dump three.dump
said "--base and two dumps" 2 "$series" "  go2heapsnapshot -o snapshots one.dump two.dump ..."
wrote_nothing "two dumps: nothing on stdout"
run go2heapsnapshot -o snapshots one.dump -
said "two dumps, one of them standard input" 2 "go2heapsnapshot: standard input cannot be one of several dumps"
run go2heapsnapshot /bin/sh good.dump
said "an executable and a dump" 2 "go2heapsnapshot: '/bin/sh' is an executable, which is given with --exe:" \
	"  go2heapsnapshot --exe /bin/sh good.dump"
wrote_nothing "an executable and a dump: nothing on stdout"
gzip -c /bin/sh >app.gz
run go2heapsnapshot good.dump app.gz
said "a dump and an executable, gzipped" 2 "go2heapsnapshot: 'app.gz' is an executable, which is given with --exe:" \
	"  go2heapsnapshot --exe app.gz good.dump"
run go2heapsnapshot ''
said "a dump without a name" 2 "go2heapsnapshot: the name of a dump is empty" "$hint"
run go2heapsnapshot --path-to '' good.dump
said "an empty argument" 2 "go2heapsnapshot: the argument of --path-to is empty" "$hint"
mkfifo pipe
run timeout 3600 go2heapsnapshot pipe good.dump
check "two files, one of them a pipe: is not waited for" [ "$status" -eq 2 ]
run go2heapsnapshot --colour good.dump
said "an unknown option" 2 "go2heapsnapshot: unrecognized option '--colour'" "$hint"
wrote_nothing "an unknown option: nothing on stdout"
run bash -c 'exec -a /opt/odd/name go2heapsnapshot --colour'
said "an unknown option: begins like all messages, whatever the program is called" 2 \
	"go2heapsnapshot: unrecognized option '--colour'" "$hint"
for pair in --formt=report:format --out-put:output --jsno:json --redacted:redact --show-all: --put: --:; do
	run go2heapsnapshot "${pair%:*}" good.dump
	near=${pair##*:}
	if [ "${pair%:*}" = -- ]; then
		said "--: is no misspelled option" 0
	else
		said "a misspelled option, ${pair%:*}: names the nearest one" 2 "go2heapsnapshot: unrecognized option '${pair%:*}'" \
			${near:+"Did you mean '--$near'?"} "$hint"
	fi
done
run go2heapsnapshot -x good.dump
said "an unknown letter" 2 "go2heapsnapshot: invalid option -- 'x'" "$hint"
run go2heapsnapshot good.dump -o
said "-o without a file" 2 "go2heapsnapshot: option requires an argument -- 'o'" "$hint"

for number in 0 -1 1025 99999999999999999999 2x x '' ' 2' +2 0x2; do
	run go2heapsnapshot -j "$number" good.dump
	said "-j '$number'" 2 "go2heapsnapshot: -j takes a number from 1 to 1024, not '$number'" "$hint"
done
run go2heapsnapshot --threads=0 good.dump
check "--threads=0 is no number of threads" [ "$status" -eq 2 ]

run go2heapsnapshot --format heapsnapshot good.dump
wrote "--format heapsnapshot: what is written without" good.heapsnapshot
mapfile -t formats < <(sed -n '/--format=/,/--gzip/s/^ \{24\}/  /p' help.expected)
for format in pdf '' heap heapsnapshots; do
	run go2heapsnapshot --format "$format" good.dump
	said "--format '$format'" 2 "go2heapsnapshot: there is no format '$format'; --format takes" "${formats[@]}"
	wrote_nothing "--format '$format': nothing on stdout"
done

# Options that only some formats use.
if grep -q '^ *sqlite ' help.expected; then
	for option in --append --label=host=web; do
		run go2heapsnapshot --format sqlite $option -o new.db good.dump
		said "$option alone" 2 "go2heapsnapshot: ${option%%=*} goes with --summary" "$hint"
	done
	for format in heapsnapshot csv dump; do
		run go2heapsnapshot --format $format --summary -o new good.dump
		said "--summary with $format" 2 "go2heapsnapshot: --summary goes with --format sqlite, not with $format" "$hint"
	done
	for label in host =web ''; do
		run go2heapsnapshot --format sqlite --summary --label "$label" -o new.db good.dump
		said "--label '$label'" 2 "go2heapsnapshot: --label takes KEY=VALUE, not '$label'" "$hint"
	done
	for label in $'host=\xff' $'host=\e[31mred' $'ho\302\205st=web' $'host=\342\200\256web' $'host=a\nb'; do
		run go2heapsnapshot --format sqlite --summary --label "$label" -o new.db good.dump
		check "a label that is no text to show: says so" grep -q '^go2heapsnapshot: --label takes UTF-8 without control characters, not .ho' err
		check "a label that is no text to show: exit 2, no file" [ "$status$(ls new.db 2>/dev/null)" = 2 ]
	done
	run go2heapsnapshot --format sqlite --summary --label 'ort=Zürich 東京' -o labeled.db good.dump
	equal "a label in any language" "$status" 0
	run go2heapsnapshot --format sqlite --summary --max-nodes 2K -o new.db good.dump
	said "--summary with --max-nodes" 2 "go2heapsnapshot: --summary is small whatever is folded: it does not go with --max-nodes" "$hint"
	for size in 0 1023 64X -1; do
		run go2heapsnapshot --format dump --largest-array $size good.dump
		said "--largest-array $size" 2 "go2heapsnapshot: --largest-array takes a size of 1K or more, such as 64K or 1M, not '$size'" "$hint"
	done
	run go2heapsnapshot --format report --largest-array 1K good.dump
	said "--largest-array with a report" 2 "go2heapsnapshot: --largest-array goes with --format hprof or dump, not with report" "$hint"
	for sample in 0 1 1000001 10x 10, 10,x -1; do
		run go2heapsnapshot --format report --sample $sample good.dump
		said "--sample $sample" 2 "go2heapsnapshot: --sample takes N or N,SEED, to read one span in N: 2 to 1000000, not '$sample'" "$hint"
	done
	run go2heapsnapshot --sample 10 --format dump good.dump
	said "--sample with a dump" 2 "go2heapsnapshot: --sample goes with --format report, which says how exact each figure is, not with dump" "$hint"
	run go2heapsnapshot --sample 10 --format csv -o new good.dump
	said "--sample with another format" 2 "go2heapsnapshot: --sample goes with --format report, which says how exact each figure is, not with csv" "$hint"
	run go2heapsnapshot --sample 10 --format report --base good.dump good.dump
	said "--sample with --base" 2 "go2heapsnapshot: --sample does not go with --base" "$hint"
	run go2heapsnapshot --sample 10 --format report good.dump
	said "--sample of a dump" 1 "go2heapsnapshot: good.dump: --sample reads a part of a process (--pid) or of a core file, not of a dump"
	run go2heapsnapshot --format sqlite --summary --append good.dump
	said "--append to standard output" 2 "go2heapsnapshot: --format sqlite is written to a file, not to standard output: -o app.db" "$hint"
	equal "wrong usage: nothing is written" "$(ls -d new* 2>/dev/null)" ""
fi
with_base='heapsnapshot or report or html'
! grep -q '^ *sqlite ' help.expected || with_base+=' or sqlite'
with_base+=' or csv'
run go2heapsnapshot --format pprof --base good.dump good.dump
said "--base with a format that has none" 2 "go2heapsnapshot: --base goes with --format $with_base, not with pprof: go tool pprof -base 1.pb.gz 2.pb.gz compares two profiles" "$hint"
run go2heapsnapshot --base good.dump --format dump good.dump
said "--base with a dump" 2 "go2heapsnapshot: --base goes with --format $with_base, not with dump" "$hint"
wrote_nothing "--base with a dump: nothing on stdout"
run go2heapsnapshot --format pprof --by size good.dump
said "--by of what there is not" 2 "go2heapsnapshot: --by takes retained or alloc, not 'size'" "$hint"
wrote_nothing "--by of what there is not: nothing on stdout"
for format in heapsnapshot report dump; do
	run go2heapsnapshot --by alloc --format $format good.dump
	said "--by with --format $format" 2 "go2heapsnapshot: --by goes with --format pprof, not with $format" "$hint"
done
go2heapsnapshot --format pprof good.dump >retained.pb.gz
run go2heapsnapshot --by retained --format pprof good.dump
wrote "--by retained: what is written without" retained.pb.gz
for by in '' '--by retained'; do
	# shellcheck disable=SC2086
	run go2heapsnapshot --format pprof $by --memprofile-rate 4096 good.dump
	said "--memprofile-rate with pprof $by" 2 "go2heapsnapshot: --memprofile-rate goes with --format pprof --by alloc, not with pprof" "$hint"
done
for rate in 0 -1 x 9223372036854775808; do
	run go2heapsnapshot --format pprof --by alloc --memprofile-rate "$rate" good.dump
	said "--memprofile-rate '$rate'" 2 "go2heapsnapshot: --memprofile-rate takes a number from 1 to 9223372036854775807, not '$rate'" "$hint"
done

run go2heapsnapshot --format html --json good.dump
said "--json with a format that has none" 2 "go2heapsnapshot: --json goes with --format report, not with html" "$hint"
wrote_nothing "--json with another format: nothing on stdout"
run go2heapsnapshot --format report --base-exe app good.dump
said "--base-exe without --base" 2 "go2heapsnapshot: --base-exe goes with --base" "$hint"
run go2heapsnapshot --base good.dump --base-exe app good.dump
said "--base-exe with a format that has none" 2 "go2heapsnapshot: --base-exe goes with --format report or html, not with heapsnapshot" "$hint"
run go2heapsnapshot --format pprof --path-to main.T good.dump
said "--path-to with a format that has none" 2 "go2heapsnapshot: --path-to goes with --format report, not with pprof" "$hint"
run go2heapsnapshot --format pprof --show main.T good.dump
said "--show with a format that has none" 2 "go2heapsnapshot: --show goes with --format report, not with pprof" "$hint"
run go2heapsnapshot --format report --show main.T --path-to main.T good.dump
said "--show and --path-to" 2 "go2heapsnapshot: --path-to and --show are two reports" "$hint"
run go2heapsnapshot --format report --show main.T good.dump
said "--show without types" 1 "go2heapsnapshot: without types there are no values to show: --exe gives them"

run go2heapsnapshot good.dump -j 2
wrote "options may follow the dump" good.heapsnapshot
cp good.dump ./-x
run go2heapsnapshot -- -x
wrote "-- ends the options" good.heapsnapshot

for threads in 1 2 5 1024; do
	run go2heapsnapshot -j "$threads" good.dump
	wrote "-j $threads writes the same bytes" good.heapsnapshot
done
run go2heapsnapshot --threads=3 good.dump
wrote "--threads=3 writes the same bytes" good.heapsnapshot

finish
