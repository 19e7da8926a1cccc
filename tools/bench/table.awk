# Makes the table of what tools/bench/run has measured, and compares it with the limits that were set.
#
#   awk -f table.awk -v rows='ROW …' -v only=OBJECTS -v rounds=N -v processors=N RESULTS
#       the rows of one size
#   awk -f table.awk RESULTS
#       the limits, after all sizes
#
# RESULTS has lines
#   size OBJECTS OBJECTS_OF_THE_DUMP EDGES BYTES_OF_THE_DUMP
#   bytes OBJECTS ROW BYTES_WRITTEN
#   time OBJECTS ROUND ROW WALL CPU RSSANON_KB 0 BLOCKS_FROM_DISK
# OBJECTS is what was asked for, which names the size.

$1 == "size" { sizes[++size_count] = $2; objects[$2] = $3; edges[$2] = $4; input[$2] = $5 }
$1 == "bytes" { output[$2, $3] = $4 }
$1 == "time" {
	if (!($2 in round_count) || $3 >= round_count[$2])
		round_count[$2] = $3 + 1
	wall[$2, $4, $3] = $5
	cpu[$2, $4, $3] = $6
	if ($7 * 1024 > anon[$2, $4])
		anon[$2, $4] = $7 * 1024 # the highest of all rounds: a limit holds in each
	if ($9 * 512 > input[$2] / 100) # less is a page or two of the programs themselves
		from_disk[$2]++
}

# Of values[1 … count].
function median(count,    i, j, value) {
	for (i = 2; i <= count; i++) {
		value = values[i]
		for (j = i - 1; j >= 1 && values[j] > value; j--)
			values[j + 1] = values[j]
		values[j + 1] = value
	}
	return values[int(count / 2) + 1]
}

function median_wall(size, row,    i) {
	for (i = 0; i < round_count[size]; i++)
		values[i + 1] = wall[size, row, i]
	return median(round_count[size])
}

function median_cpu(size, row,    i) {
	for (i = 0; i < round_count[size]; i++)
		values[i + 1] = cpu[size, row, i]
	return median(round_count[size])
}

# How many times as long a row took as another, or as two others together, in the same round.
function ratio(size, row, other, second,    i) {
	for (i = 0; i < round_count[size]; i++)
		values[i + 1] = wall[size, row, i] / (wall[size, other, i] + (second ? wall[size, second, i] : 0))
	return median(round_count[size])
}

# Bytes per object that a row may take, beside 4 per edge and 64 MB; 0: there is no limit.
function per_object(row) {
	return row == "untyped" || row == "one-thread" ? 32 : row == "typed" || row == "stripped" ? 48 : 0
}

function beside(size) { return 4 * edges[size] + 64e6 }

function megabytes(bytes) { return sprintf(bytes ? "%.0f" : "-", bytes / 1e6) }

function print_row(size, row,    limit, out) {
	limit = per_object(row) * objects[size] + beside(size)
	out = row == "cat-dump" ? input[size] : row == "cat-snapshot" ? output[size, "untyped"] : output[size, row]
	printf "%-10d %-12s %8.3f %8.3f %8s %8s %7s %7s %9.3f %8.2f %8.1f\n", size, row, median_wall(size, row),
	       median_cpu(size, row), megabytes(anon[size, row]),
	       per_object(row) ? sprintf("%.0f", 100 * anon[size, row] / limit) : "-",
	       megabytes(row == "cat-snapshot" ? out : input[size]), megabytes(out),
	       median_wall(size, row) * 1e6 / objects[size], ratio(size, row, "cat-dump", "cat-snapshot"),
	       100 * ratio(size, row, "gzip-1")
}

function print_goal(what, size, is, limit, aim) {
	printf "%-58s %10d %8.2f %8.2f %6s  %s\n", what, size, is, limit, aim, is <= limit ? "holds" : "DOES NOT HOLD"
}

function growth(row, from, to) {
	return 100 * (median_wall(to, row) / objects[to] / (median_wall(from, row) / objects[from]) - 1)
}

# The size at which a row takes the most bytes per object.
function hungriest(row,    i, worst) {
	for (i = 1; i <= size_count; i++)
		if (!worst || taken(row, sizes[i]) > taken(row, worst))
			worst = sizes[i]
	return worst
}

function taken(row, size,    bytes) {
	bytes = anon[size, row] - beside(size)
	return bytes > 0 ? bytes / objects[size] : 0
}

END {
	if (only) {
		if (size_count == 1) {
			printf "%d processors, %d rounds, medians; RssAnon: the most of all rounds\n", processors, rounds
			printf "%-10s %-12s %8s %8s %8s %8s %7s %7s %9s %8s %8s\n", "", "", "wall", "CPU", "RssAnon", "% of its", "MB",
			       "MB", "us per", "x cat +", "% of"
			printf "%-10s %-12s %8s %8s %8s %8s %7s %7s %9s %8s %8s\n", "objects", "what", "s", "s", "MB", "limit", "in",
			       "out", "object", "cat", "gzip -1"
		}
		count = split(rows, names)
		for (i = 1; i <= count; i++)
			print_row(only, names[i])
		printf "%-10d %d objects, %d edges\n", only, objects[only], edges[only]
		if (from_disk[only])
			printf "%-10d %d commands had to read from a disk: memory is short, these times say little\n", only, from_disk[only]
		exit
	}
	first = last = main = sizes[1]
	for (i = 2; i <= size_count; i++) {
		first = sizes[i] + 0 < first + 0 ? sizes[i] : first
		last = sizes[i] + 0 > last + 0 ? sizes[i] : last
	}
	main = 11000000 in objects ? 11000000 : last
	if (main != 11000000)
		print "The limits are for heaps of 11000000 objects, of which there was none, and of millions."
	printf "\n%-58s %10s %8s %8s %6s\n", "limit", "objects", "measured", "limit", "aim"
	print_goal("untyped, in times of cat DUMP + cat SNAPSHOT", main, ratio(main, "untyped", "cat-dump", "cat-snapshot"), 8, 5)
	print_goal("untyped, in percent of gzip -1", main, 100 * ratio(main, "untyped", "gzip-1"), 100 / 6, "")
	print_goal("typed, in times of untyped", main, ratio(main, "typed", "untyped"), 2, 1.5)
	if (first != last) {
		what = sprintf("time per object more than with %d, in percent: ", first)
		print_goal(what "untyped", last, growth("untyped", first, last), 15, "")
		print_goal(what "typed", last, growth("typed", first, last), 15, "")
	}
	print_goal("RssAnon - 64 MB - 4 B/edge, in bytes per object: untyped", hungriest("untyped"),
	           taken("untyped", hungriest("untyped")), 32, "")
	print_goal("RssAnon - 64 MB - 4 B/edge, in bytes per object: typed", hungriest("typed"),
	           taken("typed", hungriest("typed")), 48, 40)
	print_goal("folded, all of it, in seconds per million objects", last, median_wall(last, "folded") * 1e6 / objects[last], 1, "")
}
