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
	refused 'd["results"][0]["samples"][0]["marks"] = []' 'two samples of one round count'
	refused 'd["results"][1]["rate"]["median"] *= 1.001' 'not the median of the samples'
	refused 'd["results"][1]["rate"]["low"] *= 2' 'outside its interval'
}

@test "an overhead is honest and stays on this machine" {
	refused 'd["results"][1]["overhead"] += 0.01' 'the overhead is not'
	refused 'd["targets"][0]["local"] = False' 'an overhead, though'
	refused 'd["results"][1]["streams"] = 3' 'an overhead of several streams'
}

@test "a sample measured with another cipher is not valid" {
	refused 'd["results"][1]["samples"][0]["negotiated"]["cipher"] = "none"' 'measured with none'
	refused 'd["results"][1]["samples"][0]["negotiated"]["mac"] = "hmac-md5"' 'measured with hmac'
}

@test "what is not ranked has no place and does not lead" {
	refused 'd["results"][7]["leader"] = True' 'results[7].leader'
	refused 'd["results"][7]["group"] = 0' 'results[7].group'
	refused 'd["results"][8]["warning"] = "zeros"' 'results[8].leader'
	refused 'd["results"][3]["leader"] = True' 'results[3].leader'
}

@test "each group has one leader, its fastest, and cases of one direction and target alone" {
	refused 'd["results"][6]["leader"] = False' 'group 0 has 0 leaders'
	refused 'd["results"][6]["leader"] = False; d["results"][1]["leader"] = True' 'not its fastest'
	refused 'd["results"][8]["group"] = 0' 'group 0 mixes directions'
	refused 'd["results"][5]["group"] = 2' 'two groups have the same'
	refused 'd["results"][6]["group"] = None' 'results[6].group'
}

@test "a case names its target, and none of an absent server has trials" {
	refused 'd["results"][8]["target"] = 2' 'there is no target 2'
	refused 'd["results"][8]["target"] = 1' 'its server is absent'
}

@test "scaling factor and wire ratio are those of the samples" {
	refused 'd["results"][6]["scaling"]["median"] = 1.9' 'not that of the paired samples'
	refused 'd["results"][1]["scaling"] = d["results"][6]["scaling"]' 'without one stream'
	refused 'd["results"][8]["wire_ratio"] = 0.5' 'wire ratio is not'
	refused 'd["results"][8]["samples"][0]["negotiated"]["compression"] = "none"' 'measured with none'
}

@test "only a reference, or what was left to the client, has no cipher" {
	refused 'd["results"][1]["cipher"] = None' 'results[1].cipher'
	refused 'd["results"][7]["cipher"] = "aes128-ctr"' 'results[7].cipher'
}

@test "a login has seconds and no rate" {
	refused 'd["results"][1]["method"] = "login"' 'results[1].rate'
	refused 'd["results"][1]["method"] = "login"; d["results"][1]["rate"] = None;
d["results"][1]["overhead"] = None; d["results"][1]["login"] = None' 'results[1].login'
	refused 'd["results"][1]["login"]["total"]["median"] = 0.05' 'median'
	refused 'd["results"][1]["kex"] = "curve25519-sha256"' 'results[1].kex'
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
