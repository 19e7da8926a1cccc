#!/bin/bash
# Tests that the libraries in ROOT export exactly what the headers there declare: symbols.sh ROOT. TAP on standard output.
set -u
root=$1
cd "$root" || exit 1

# same NAME LIST: tests that a list of functions is the list of those that the headers declare.
same() {
	local difference
	if [ -n "$2" ] && difference=$(diff <(echo "$declared") <(echo "$2")); then
		echo "ok - $1"
	else
		echo "not ok - $1"
		sed 's/^/# /' <<<"$difference"
	fi
}

# Declarations without comments, one per line: the name is the word before the first parenthesis.
code=$(cat include/go2heapsnapshot/*.h | sed '/^#/d' | cc -E -P -x c - | tr '\n' ' ' | sed 's/;/;\n/g')
declared=$(grep -o 'G2H_PUBLIC [^(]*' <<<"$code" | grep -o '[a-z0-9_]*$' | sort)
inlined=$(grep -o 'static inline [^(]*' <<<"$code" | grep -o '[a-z0-9_]*$')
functions=$(grep -o '\bg2h_[a-z0-9_]*(' <<<"$code" | tr -d '(' | sort -u | grep -vxF "$inlined")
static=$(nm -g --defined-only lib/libgo2heapsnapshot.a | awk 'NF == 3 { print $3 }' | sort)
shared=$(nm -D --defined-only lib/libgo2heapsnapshot.so | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)

same "the headers' $(wc -l <<<"$declared") functions are all marked as public" "$functions"
same 'the static library has these global symbols and no other' "$static"
same 'the shared library exports these symbols and no other' "$shared"
