# Prints, for each kind of object of aged/main.go, those whose age is known, and how many are right: they live since the first collection
# that was seen after the one of their birth, or were there when the watch began; and "off-by" with the differences of the others.
# Objects that were born after the last look are not in the table, though others may have been in their slots then. The block of a tiny
# object may be older than the object. To be called with -F, for CSV's nodes and what the program has said.
NR == FNR {
	if (NF > 2 && $(NF - 1) ~ /^[0-9]+$/) {
		s = since[$(NF - 2)] = $(NF - 1) + 0
		if (first == 0 || s < first) first = s
		if (s > last) last = s
		is_seen[s] = 1
	}
	next
}
{
	split($0, one, " ")
	got = since[one[2]]
	if (got == "" || one[3] >= last) next
	all[one[1]]++
	for (next_seen = one[3] + 1; !(next_seen in is_seen); next_seen++);
	right = got == next_seen || (got == first && one[3] < first) || (one[1] == "tiny" && got <= one[3])
	good[one[1]] += right
	if (!right) off[got - next_seen]++
}
END {
	for (k in all) print k, all[k], good[k]
	for (o in off) print "off-by", o, off[o]
}
