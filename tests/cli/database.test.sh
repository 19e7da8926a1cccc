# shellcheck shell=bash
# Tests files that SQLite writes: who may read a database to which something is added, inputs with the names of its journals,
# and places where no database can be.
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

if go2heapsnapshot --version | grep -q 'without SQLite'; then
	skip "databases" "the program is built without SQLite"
	finish
fi
dump go1.3.3-386.1 private.dump
cp private.dump public.dump
chmod 600 private.dump
go2heapsnapshot public.dump >good.heapsnapshot
append() {
	run go2heapsnapshot --format sqlite --summary --append "$@"
}
mode() {
	stat -c %a "$@" | tr '\n' ' '
}
dumps_in() {
	sqlite3 "$1" 'SELECT count(*) FROM dump'
}

# ---- who may read it

append -o fleet.db public.dump
equal "a public dump: permissions follow the umask" "$(mode fleet.db)" '644 '
append -o fleet.db public.dump
said "another public dump: nothing to say" 0
append -o fleet.db private.dump
check "a private dump: says that permissions change" grep -qx \
	'go2heapsnapshot: note: fleet.db: had permissions 644 and has 600 now, as no more users may read it than the dump' err
equal "a private dump: nobody else may read the database" "$(mode fleet.db)" '600 '
append -o fleet.db public.dump
equal "a public dump again: the database stays private" "$(mode fleet.db) $(dumps_in fleet.db)" '600  4'
check "a public dump again: nothing to say of permissions" [ "$(grep -c permissions err)" -eq 0 ]
append -o new.db private.dump
equal "a private dump, a new database" "$(mode new.db)" '600 '
chmod 640 private.dump
append -o group.db public.dump
append -o group.db private.dump
equal "a dump for a group: a database for the group" "$(mode group.db)" '640 '
chmod 600 private.dump

# A journal beside a database that something is added to: whoever made it was killed, or is at work.
append -o killed.db public.dump
echo 'no journal of SQLite at all' >killed.db-journal
run go2heapsnapshot --format sqlite --summary --append -o killed.db public.dump
check "--append, a journal: a note" grep -qx "go2heapsnapshot: note: killed.db-journal: a program that changed killed.db was killed, or changes it now; what it has not completed is undone" err
equal "--append, a journal: the dump is added" "$status $(dumps_in killed.db)" "0 2"
rm killed.db
# A journal of SQLite's is as private as the database, also one that is there already: a writer in WAL mode holds it open.
append -o wal.db public.dump
mkfifo to_sqlite
sqlite3 wal.db <to_sqlite >sqlite.log 2>&1 &
exec 6>to_sqlite
echo 'PRAGMA journal_mode=WAL; UPDATE dump SET source = source; SELECT 1;' >&6
await_file 'wal.db-wal'
append -o wal.db private.dump
equal "WAL: the files beside the database are private, too" "$(mode wal.db wal.db-wal wal.db-shm)" '600 600 600 '
exec 6>&-
wait
equal "WAL: the dump is added" "$(dumps_in wal.db)" 2
# It is narrowed before anything is written, and not if nothing is.
cp good.heapsnapshot other.db
chmod 644 other.db
append -o other.db private.dump
said "no database: says so" 1 "go2heapsnapshot: other.db: is not an SQLite database"
equal "no database: keeps its permissions" "$(mode other.db)" '644 '

# A report that compares with a private dump.
run go2heapsnapshot --format report --base private.dump -o compared.txt public.dump
equal "--base with a private dump: the report is private" "$(mode compared.txt)" '600 '
run go2heapsnapshot --format report --base public.dump -o compared.txt private.dump
equal "--base with a public dump: the report of a private one is private" "$(mode compared.txt)" '600 '

if [ "$(id -u)" -ne 0 ]; then
	skip "a database of another user" "only root can make one"
else
	append -o theirs.db public.dump
	chown 12345 theirs.db
	append -o theirs.db private.dump
	said "a database of another user: no private dump is added" 1 \
		"go2heapsnapshot: theirs.db: belongs to another user, who may not read the dump; --append adds no private dump to it"
	append -o theirs.db public.dump
	equal "a database of another user: a public dump is" "$status $(dumps_in theirs.db)" '0 2'
fi

# ---- what a database makes of rows

append -o made.db public.dump
# other NAME SQL: makes other.db, a database of --summary that somebody has changed, and adds to it.
other() {
	cp made.db other.db
	sqlite3 other.db "$2"
	append -o other.db public.dump
}
for table in dump text place class_stat_ tree_ goroutine_stat_; do
	other "$table" "CREATE TRIGGER t BEFORE INSERT ON $table BEGIN SELECT raise(ignore); END"
	equal "a trigger on $table: does not run" "$status $(dumps_in other.db)" '0 2'
done
other dump 'CREATE TABLE log(n); CREATE TRIGGER t AFTER INSERT ON dump BEGIN
	INSERT INTO log WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c; END'
equal "an endless trigger: does not run" "$status $(dumps_in other.db)" '0 2'
other text 'ALTER TABLE text RENAME TO old; CREATE VIEW text AS
	WITH RECURSIVE c(id, text) AS (SELECT 1, 1 UNION ALL SELECT id + 1, 1 FROM c) SELECT id, text FROM c'
equal "an endless view: is not asked" "$status $(dumps_in other.db)" '1 1'
for how in IGNORE REPLACE; do
	other place "DROP TABLE place; CREATE TABLE place(id INTEGER PRIMARY KEY, parent INTEGER, kind TEXT, name INTEGER, UNIQUE(kind) ON CONFLICT $how)"
	said "a constraint ON CONFLICT $how: says that rows would be missing" 1 \
		"go2heapsnapshot: other.db: does not keep the rows that are added to it: its tables are not as --summary makes them; nothing is added"
	equal "a constraint ON CONFLICT $how: nothing is added" "$(dumps_in other.db)" 1
done

# ---- inputs beside it

# stays NAME FILE ARGUMENT...: tests that the arguments are refused, and that FILE stays as it is.
stays() {
	local name=$1 file=$2 before
	before=$(cat "$file" | cksum)
	shift 2
	run "$@"
	check "$name: refused" grep -Eq "^[a-z0-9]+: .*app\.db-(journal|wal|shm): is the (dump|executable|key|snapshot), and SQLite deletes a file of this name beside .*app\.db; give one of them another name\$" err
	equal "$name: stays, and nothing is made" "$status $(cat "$file" | cksum) $(ls -A . | grep -c 'app\.db$')" "1 $before 0"
}
mkdir beside elsewhere
cd beside || exit 2
for ending in journal wal shm; do
	for how in '--summary --append' '--summary' ''; do
		cp ../public.dump "app.db-$ending"
		# shellcheck disable=SC2086 # options are words
		stays "a dump called app.db-$ending, ${how:-all rows}" "app.db-$ending" go2heapsnapshot --format sqlite $how -o app.db "app.db-$ending"
		rm "app.db-$ending"
	done
done
to_append() {
	go2heapsnapshot --format sqlite --summary --append -o app.db "$@"
}
gzip -dc "$top/samples/leakserver.exe.gz" >app.db-journal
gzip -dc "$top/samples/leakserver.1.dump.gz" >server.dump
stays "an executable" app.db-journal to_append --exe app.db-journal server.dump
(umask 077 && rm app.db-journal && head -c 32 /dev/urandom >app.db-journal)
stays "a key" app.db-journal to_append --redact-key app.db-journal server.dump
rm app.db-journal
cp ../public.dump app.db-journal
stays "one of several dumps" app.db-journal to_append ../public.dump app.db-journal
stays "standard input" app.db-journal to_append - <app.db-journal
ln app.db-journal linked.dump
stays "a hard link to a dump" linked.dump to_append linked.dump
rm app.db-journal
ln -s linked.dump app.db-journal
stays "a symbolic link to a dump" linked.dump to_append linked.dump
rm app.db-journal linked.dump
cp ../public.dump ../elsewhere/app.db-wal
ln -s ../elsewhere/app.db named.db
stays "beside what the output leads to" ../elsewhere/app.db-wal go2heapsnapshot --format sqlite --summary --append -o named.db ../elsewhere/app.db-wal
rm named.db
cp ../good.heapsnapshot app.db-wal
if [ -x "$(dirname "$(readlink -f "$(command -v go2heapsnapshot)")")/heapquery" ]; then
	stays "heapquery's snapshot" app.db-wal "$(dirname "$(readlink -f "$(command -v go2heapsnapshot)")")/heapquery" app.db-wal app.db
fi
rm app.db-wal

# A journal that an earlier database of that name left would be applied to a new one.
echo left >app.db-journal
run go2heapsnapshot --format sqlite -o app.db ../public.dump
said "the journal of an earlier database" 1 "go2heapsnapshot: app.db-journal: is of an earlier database, and SQLite would apply it to the new one; remove it, or give the new one another name"
check "the journal of an earlier database: nothing is made" [ ! -e app.db ]
rm app.db-journal
cp ../public.dump app.txt-journal
run go2heapsnapshot --format report -o app.txt app.txt-journal
equal "other formats have no journal" "$status" 0
rm app.txt-journal app.txt
cd .. || exit 2

# ---- where none can be

for place in /dev/null /dev/full pipe .; do
	[ "$place" != pipe ] || mkfifo pipe
	append -o "$place" public.dump
	said "--append to $place" 1 \
		"go2heapsnapshot: $place: cannot write a database there: it takes a file of its own, no pipe and no device"
done
append -o no/such.db public.dump
said "--append below a directory that is not there" 1 "go2heapsnapshot: no/such.db: cannot write: No such file or directory"
mkdir disk
# shellcheck disable=SC2016
on_disk='mount -t tmpfs -o size=64k none disk && { go2heapsnapshot --format sqlite --summary --append -o disk/x.db public.dump; status=$?
	sqlite3 disk/x.db "PRAGMA integrity_check"; exit $status; }'
status=none
if unshare -m true 2>/dev/null; then
	run unshare -m bash -c "$on_disk"
elif unshare -rm true 2>/dev/null; then
	run unshare -rm bash -c "$on_disk"
fi
if [ "$status" = none ]; then
	skip "--append on a full disk" "no permission to mount one"
else
	said "--append on a full disk" 1 "go2heapsnapshot: disk/x.db: cannot write: No space left on device"
	equal "--append on a full disk: the database is whole" "$(cat out)" ok
fi
run bash -c 'trap "" XFSZ; ulimit -f 64; go2heapsnapshot --format sqlite --summary --append -o limited.db public.dump'
said "--append beyond the limit of files' sizes" 1 "go2heapsnapshot: limited.db: cannot write: File too large"

# Many processes add to one database at the same time: each waits for the others, and none is lost.
for ((i = 0; i < 20; i++)); do
	go2heapsnapshot --format sqlite --summary --append --label "host=web-$i" -o many.db public.dump 2>"many.$i" &
	pids[i]=$!
done
ended=
for ((i = 0; i < 20; i++)); do
	wait "${pids[i]}" || ended+=" $i: $(cat "many.$i")"
done
equal "--append, 20 processes at once: all succeed" "$ended" ""
equal "--append, 20 processes at once: all dumps, each once" \
	"$(sqlite3 many.db 'SELECT count(*), count(DISTINCT value), (SELECT count(*) FROM dump) FROM label')" "20|20|20"
equal "--append, 20 processes at once: all rows" \
	"$(sqlite3 many.db 'SELECT count(*) FROM (SELECT DISTINCT n, b FROM (SELECT dump, count(*) n, sum(bytes) b FROM class_stat GROUP BY dump))')" 1
finish
