# shellcheck shell=sh
# To be sourced by suites in which a test is a command.

# result NAME COMMAND...: prints a line of TAP for a test, which passes if the command succeeds; if not, also the
# end of what it said. It has a shell of its own.
result() {
	result_name=$1 result_said=$(mktemp)
	shift
	if ("$@") >"$result_said" 2>&1; then
		echo "ok - $result_name"
	else
		echo "not ok - $result_name"
		tail -n 30 "$result_said" | sed 's/^/# /'
	fi
	rm -f "$result_said"
}
