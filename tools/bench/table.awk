# Prints the table of the figures that tools/bench/run has measured, and compares them with the limits that were set.
#
#   awk -f table.awk -v rows='ROW …' -v only=HEAP -v rounds=N -v processors=N RESULTS
#       prints the rows of one heap
#   awk -f table.awk RESULTS
#       prints the limits, when all heaps have been measured
#
# RESULTS has lines
#   heap HEAP OBJECTS_OF_THE_DUMP EDGES BYTES_OF_THE_DUMP
#   bytes HEAP ROW BYTES_WRITTEN
#   time HEAP ROUND ROW WALL CPU RSSANON_KB 0 BLOCKS_FROM_DISK
# HEAP is PROGRAM:OBJECTS, where OBJECTS is the number of objects that were asked for.

BEGIN { LARGE = 10000000 } # objects; the limits are for heaps with at least this many

$1 == "heap" { heaps[++heap_count] = $2; objects[$2] = $3; edges[$2] = $4; input[$2] = $5 }
$1 == "bytes" { output[$2, $3] = $4 }
$1 == "time" {
	if (!($2 in round_count) || $3 >= round_count[$2])
		round_count[$2] = $3 + 1
	wall[$2, $4, $3] = $5
	cpu[$2, $4, $3] = $6
	if ($7 * 1024 > anon[$2, $4])
		anon[$2, $4] = $7 * 1024 # the highest of all rounds: the limit must hold in each round
	if ($9 * 512 > input[$2] / 100) # a smaller number is a page or two of the programs themselves
		from_disk[$2]++
}

# Sorts values[1 … count], and returns their median.
function median(count,    i, j, value) {
	for (i = 2; i <= count; i++) {
		value = values[i]
		for (j = i - 1; j >= 1 && values[j] > value; j--)
			values[j + 1] = values[j]
		values[j + 1] = value
	}
	return values[int(count / 2) + 1]
}

function median_wall(heap, row,    i) {
	for (i = 0; i < round_count[heap]; i++)
		values[i + 1] = wall[heap, row, i]
	return median(round_count[heap])
}

function median_cpu(heap, row,    i) {
	for (i = 0; i < round_count[heap]; i++)
		values[i + 1] = cpu[heap, row, i]
	return median(round_count[heap])
}

# Returns the median, over the rounds, of how many times as long a row took as another row, or as two other rows together,
# in the same round.
function ratio(heap, row, other, second,    i) {
	for (i = 0; i < round_count[heap]; i++)
		values[i + 1] = wall[heap, row, i] / (wall[heap, other, i] + (second ? wall[heap, second, i] : 0))
	return median(round_count[heap])
}

# Returns how many bytes per object a row may take, besides 4 bytes per edge and 64 MB; 0: there is no limit.
function per_object(row) {
	return row == "untyped" || row == "one-thread" ? 32 : row == "typed" || row == "stripped" ? 48 : 0
}

function beside(heap) { return 4 * edges[heap] + 64e6 }

function megabytes(bytes) { return sprintf(bytes ? "%.0f" : "-", bytes / 1e6) }

function print_row(heap, row,    limit, out) {
	limit = per_object(row) * objects[heap] + beside(heap)
	out = row == "cat-dump" ? input[heap] : row == "cat-snapshot" ? output[heap, "untyped"] : output[heap, row]
	printf "%-17s %-12s %8.3f %8.3f %8s %8s %7s %7s %9.3f %8.2f %8.1f\n", heap, row, median_wall(heap, row),
	       median_cpu(heap, row), megabytes(anon[heap, row]),
	       per_object(row) ? sprintf("%.0f", 100 * anon[heap, row] / limit) : "-",
	       megabytes(row == "cat-snapshot" ? out : input[heap]), megabytes(out),
	       median_wall(heap, row) * 1e6 / objects[heap], ratio(heap, row, "cat-dump", "cat-snapshot"),
	       100 * ratio(heap, row, "gzip-1")
}

function print_goal(what, heap, is, limit, aim) {
	printf "%-58s %17s %8.2f %8.2f %6s  %s\n", what, heap, is, limit, aim, is <= limit ? "holds" : "DOES NOT HOLD"
}

function growth(row, from, to) {
	return 100 * (median_wall(to, row) / objects[to] / (median_wall(from, row) / objects[from]) - 1)
}

function asked(heap) {
	sub(/.*:/, "", heap)
	return heap + 0
}

# Returns the smallest (sign -1) or the largest (sign 1) of the heaps that the first program made. Heaps of other programs
# cannot be compared with these.
function extreme(sign,    i, program, found) {
	program = heaps[1]
	sub(/:.*/, ":", program)
	for (i = 1; i <= heap_count; i++)
		if (index(heaps[i], program) == 1 && (!found || sign * asked(heaps[i]) > sign * asked(found)))
			found = heaps[i]
	return found
}

# Returns the figure of a heap for which a limit is set.
function figure(what, heap) {
	return what == "cat"    ? ratio(heap, "untyped", "cat-dump", "cat-snapshot") \
	       : what == "gzip" ? 100 * ratio(heap, "untyped", "gzip-1") \
	       : what == "typed" ? ratio(heap, "typed", "untyped") \
	       : what == "report" || what == "pprof" || what == "hprof" || what == "csv" ? ratio(heap, what, "typed") \
	       : what == "sqlite" ? ratio(heap, what, "import") \
	                         : median_wall(heap, "folded") * 1e6 / objects[heap]
}

# Prints a limit with the worst of all large heaps, or of all heaps if none is large.
function print_worst(text, what, limit, aim,    i, worst) {
	for (i = 1; i <= heap_count; i++)
		if ((!enough || asked(heaps[i]) >= LARGE) && (!worst || figure(what, heaps[i]) > figure(what, worst)))
			worst = heaps[i]
	print_goal(text, worst, figure(what, worst), limit, aim)
}

# Prints a limit with the worst of the heaps that were written to databases, large or not.
function print_worst_database(text, limit,    i, worst) {
	for (i = 1; i <= heap_count; i++)
		if ((heaps[i], "import", 0) in wall && (!worst || figure("sqlite", heaps[i]) > figure("sqlite", worst)))
			worst = heaps[i]
	if (worst)
		print_goal(text, worst, figure("sqlite", worst), limit, "")
}

# Returns the heap for which a row takes the most bytes per object.
function hungriest(row,    i, worst) {
	for (i = 1; i <= heap_count; i++)
		if (!worst || taken(row, heaps[i]) > taken(row, worst))
			worst = heaps[i]
	return worst
}

function taken(row, heap,    bytes) {
	bytes = anon[heap, row] - beside(heap)
	return bytes > 0 ? bytes / objects[heap] : 0
}

END {
	if (only) {
		if (heap_count == 1) {
			printf "%d processors, %d rounds, medians; RssAnon: the most of all rounds\n", processors, rounds
			printf "%-17s %-12s %8s %8s %8s %8s %7s %7s %9s %8s %8s\n", "", "", "wall", "CPU", "RssAnon", "% of its", "MB",
			       "MB", "us per", "x cat +", "% of"
			printf "%-17s %-12s %8s %8s %8s %8s %7s %7s %9s %8s %8s\n", "heap", "what", "s", "s", "MB", "limit", "in",
			       "out", "object", "cat", "gzip -1"
		}
		count = split(rows, names)
		for (i = 1; i <= count; i++)
			print_row(only, names[i])
		printf "%-17s %d objects, %d edges\n", only, objects[only], edges[only]
		if (from_disk[only])
			printf "%-17s %d commands had to read from a disk: memory is short, these times say little\n", only, from_disk[only]
		exit
	}
	for (i = 1; i <= heap_count; i++)
		enough = enough || asked(heaps[i]) >= LARGE
	if (!enough)
		print "The limits are for heaps of 10000000 objects and more, of which there was none."
	printf "\n%-58s %17s %8s %8s %6s\n", "limit, and the heap that comes nearest to it", "heap", "measured", "limit", "aim"
	print_worst("untyped, in times of cat DUMP + cat SNAPSHOT", "cat", 8, 5)
	print_worst("untyped, in percent of gzip -1", "gzip", 100 / 7, "")
	print_worst("typed, in times of untyped", "typed", 1.7, 1.5)
	first = extreme(-1)
	last = extreme(1)
	if (first != last) {
		what = sprintf("time per object more than with %d, in percent: ", asked(first))
		print_goal(what "untyped", last, growth("untyped", first, last), 15, "")
		print_goal(what "typed", last, growth("typed", first, last), 15, "")
	}
	print_goal("RssAnon - 64 MB - 4 B/edge, in bytes per object: untyped", hungriest("untyped"),
	           taken("untyped", hungriest("untyped")), 32, "")
	print_goal("RssAnon - 64 MB - 4 B/edge, in bytes per object: typed", hungriest("typed"),
	           taken("typed", hungriest("typed")), 48, 40)
	print_worst("report against the snapshot, both typed", "report", 1.5, "")
	print_worst("pprof against the snapshot, both typed", "pprof", 1.3, "")
	print_worst("hprof against the snapshot, both typed", "hprof", 1.2, "")
	print_worst("csv against the snapshot, both typed", "csv", 1.2, "")
	print_worst_database("sqlite with indexes against .import without, to 5 million", 1.25)
	print_worst("folded, all of it, in seconds per million objects", "folded", 1, "")
}
