# shellcheck shell=bash
# Counts the results of scripts/check. A failure shows its output, a skip its reason.

passed=0 failed=0 skipped=0
# The directory of the run: one build directory and one log for each stage.
work=

pass() {
	passed=$((passed + 1))
}

fail() {
	failed=$((failed + 1))
	echo "FAIL $*"
}

skip() {
	skipped=$((skipped + 1))
	echo "SKIP $*"
}

# step STAGE NAME COMMAND...: runs a command that is silent when all goes well. When it
# fails, that is one failed test, and the end of its output is shown.
step() {
	local stage=$1 name=$2 log=$work/step.log
	shift 2
	if "$@" >"$log" 2>&1 </dev/null; then
		return 0
	fi
	tail -n 60 "$log"
	fail "$stage: $name"
	return 1
}

# count_tap STAGE FILE: counts the TAP lines of a file. No line at all is a failure.
count_tap() {
	local stage=$1 file=$2 line before=$failed seen=0
	while IFS= read -r line; do
		case $line in
		'ok '*'# SKIP'*) skip "$stage: ${line#ok * - }" ;;
		'ok '*) pass ;;
		'not ok '*) fail "$stage: ${line#not ok * - }" ;;
		*) continue ;;
		esac
		seen=$((seen + 1))
	done <"$file"
	if [ "$failed" -gt "$before" ] || [ "$seen" -eq 0 ]; then
		grep -v '^ok ' "$file" || true
	fi
	if [ "$seen" -eq 0 ]; then
		fail "$stage: no result"
	fi
}

# count_trs STAGE BUILD: counts what automake's driver wrote about each test of each test
# program, and shows the log of a program with a failure.
count_trs() {
	local stage=$1 build=$2 trs name seen=0
	while IFS= read -r trs; do
		name=${trs#"$build/"}
		seen=$((seen + 1))
		count_one_trs "$stage" "${name%.trs}" "$trs"
	done < <(find "$build" -name '*.trs' | sort)
	if [ "$seen" -eq 0 ]; then
		tail -n 60 "$work/$stage.log"
		fail "$stage: make check ran no test"
	fi
}

# The driver writes one bare result for each test; names and reasons are in the log. A test
# program with failures also ends with an exit status of 1, which the driver reports as one
# more error; that is not counted beside the failures that it repeats.
count_one_trs() {
	local stage=$1 name=$2 trs=$3 line bad=0 results=0 log=${3%.trs}.log
	while IFS= read -r line; do
		case $line in
		':test-result: PASS'*) pass ;;
		':test-result: SKIP'*) skipped=$((skipped + 1)) ;;
		':test-result: '*) bad=$((bad + 1)) ;;
		*) continue ;;
		esac
		results=$((results + 1))
	done <"$trs"
	if [ "$results" -eq 0 ]; then
		bad=1
	fi
	if [ "$bad" -gt 1 ] && grep -q '^ERROR: .* - exited with status' "$log"; then
		bad=$((bad - 1))
	fi
	grep -iE '^(ok |not ok |1\.\.0).*# *skip' "$log" | sed "s|^|SKIP $stage: $name: |" || true
	if [ "$bad" -gt 0 ]; then
		failed=$((failed + bad))
		echo "FAIL $stage: $name"
		grep -vE '^(ok |PASS: )' "$log" | sed 's|^|    |' || true
	fi
}
