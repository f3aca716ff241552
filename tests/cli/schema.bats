#!/usr/bin/env bats
# doc/result.schema.json and tests/validate-json, which judge every result file of the other tests:
# a good document passes, and each kind of lie is refused.

setup() {
	validate="$BATS_TEST_DIRNAME/../validate-json"
	good="$BATS_TEST_DIRNAME/../data/result.json"
}

# refused CHANGE MESSAGE: the good document d, changed by one Python statement, is not valid.
refused() {
	python3 -c '
import json, sys
d = json.load(open(sys.argv[1], encoding="ascii"))
before = json.dumps(d)
exec(sys.argv[2])
assert json.dumps(d) != before, "nothing was changed"
json.dump(d, open(sys.argv[3], "w", encoding="ascii"))
' "$good" "$1" "$BATS_TEST_TMPDIR/bad.json"
	run "$validate" "$BATS_TEST_TMPDIR/bad.json"
	echo "$1: $output"
	[ "$status" -eq 1 ]
	[[ "$output" == *"$2"* ]]
}

@test "a whole document is valid, also from standard input" {
	"$validate" "$good"
	"$validate" - <"$good"
}

@test "a refused case with a rate is not valid" {
	refused 'd["results"][3]["rate"] = d["results"][0]["rate"]' 'results[3].rate'
	refused 'd["results"][2]["place"] = 1' 'results[2].place'
	refused 'd["results"][4]["overhead"] = 0.5' 'results[4].overhead'
}

@test "a case without a rate needs a reason" {
	refused 'd["results"][3]["reason"] = None' 'results[3].reason'
	refused 'd["results"][2]["samples"][0]["reason"] = ""' 'samples[0].reason'
}

@test "a measured case needs its rate and a measured sample" {
	refused 'd["results"][0]["rate"] = None' 'results[0].rate'
	refused 'd["results"][1]["samples"] = []' 'results[1].samples'
	refused 'd["results"][1]["samples"][0]["bytes"] = 0' 'samples[0].bytes'
	refused 'd["results"][1]["samples"][0]["seconds"] = None' 'samples[0].seconds'
}

@test "no login is made for a case that cannot succeed" {
	refused 'd["results"][3]["samples"] = d["results"][2]["samples"]' 'results[3].samples'
}

@test "a planned case ends no whole run" {
	refused 'd["results"][3]["status"] = "planned"' 'results[3].status'
	refused 'd["partial"] = True' 'partial_reason'
	refused 'd["rounds_done"] = 2' 'not partial'
}

@test "a rate is the median of the samples that count" {
	refused 'd["results"][0]["samples"][0]["marks"] = []' 'not the median of the samples'
	refused 'd["results"][1]["rate"]["median"] *= 1.001' 'not the median of the samples'
	refused 'd["results"][1]["rate"]["low"] *= 2' 'outside its interval'
}

@test "an overhead is honest and stays on this machine" {
	refused 'd["results"][1]["overhead"] += 0.01' 'the overhead is not'
	refused 'd["target"]["local"] = False' 'overhead'
}

@test "a sample measured with another cipher is not valid" {
	refused 'd["results"][1]["samples"][0]["negotiated"]["cipher"] = "none"' 'measured with none'
	refused 'd["results"][1]["samples"][0]["negotiated"]["mac"] = "hmac-md5"' 'measured with hmac'
}

@test "a seed is a string of all its digits" {
	refused 'd["settings"]["seed"] = 13835058055282163712' 'settings.seed'
	refused 'd["settings"]["seed"] = "1.3835058055282e19"' 'settings.seed'
}

@test "a missing field and a field that the schema does not describe are told" {
	refused 'del d["results"][0]["samples"][0]["auth_seconds"]' 'auth_seconds'
	refused 'd["results"][0]["rate"]["mean"] = 1' 'mean'
}

@test "a field there twice, NaN and text that is no JSON are told" {
	run "$validate" - <<<'{"schema": 1, "schema": 2}'
	[ "$status" -eq 1 ]
	[[ "$output" == *"twice"* ]]
	refused 'd["null_rate"] = float("nan")' 'NaN is not JSON'
	run "$validate" - <<<'{"schema": '
	[ "$status" -eq 1 ]
}

@test "a file that cannot be read is no verdict" {
	run "$validate" "$BATS_TEST_TMPDIR/absent.json"
	[ "$status" -eq 2 ]
	run "$validate"
	[ "$status" -eq 2 ]
}
