# shellcheck shell=bash
# shellcheck disable=SC2154 # bad-input sets what is used here
# S3 that refuses: against OpenStack Swift, which checks signatures.

tools/servers install swift
tools/servers start swift "$work/swift" >/dev/null
servers+=("$work/swift")
url=$(<"$work/swift/url")
# shellcheck disable=SC1091 # written by tools/servers
source "$work/swift/env"
export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_REGION
python3 -B - "$url" <<'END'
import os, sys
sys.path.insert(0, "tools/crash")
import s3
e = os.environ
s3.S3(sys.argv[1], e["AWS_ACCESS_KEY_ID"], e["AWS_SECRET_ACCESS_KEY"], e["AWS_REGION"]).make_bucket("present")
END
make_files "$work/for-s3"
head -c 12000000 /dev/urandom >"$work/for-s3/in-parts"

store s3-good
expect "S3: accepted by a server that checks signatures" 0 . \
  "$transfers" push --endpoint-url "$url" --part-size 5M "$work/for-s3" s3://present/a/
check "S3: every file was confirmed by more than a status" is \
  "$(count "SELECT count(*) FROM v_files WHERE state = 'done' AND confirmed_by IN ('digest', 'etag')")" 4
store s3-secret
expect "S3: a wrong secret" 77 'SignatureDoesNotMatch.*Try: ' env AWS_SECRET_ACCESS_KEY=wrong-canary-77aa \
  "$transfers" push --endpoint-url "$url" "$work/for-s3" s3://present/b/
check "S3: a wrong secret: every file waits" is "$(in_state pending)" 4
check "S3: the wrong secret is not in the ledger" bash -c "! grep -rq wrong-canary-77aa '${TRANSFERS_STORE%/*}'"
store s3-bucket
expect "S3: no such bucket" 78 'NoSuchBucket.*Try: ' \
  "$transfers" push --endpoint-url "$url" "$work/for-s3" s3://absent/c/
check "S3: no such bucket: every file waits" is "$(in_state pending)" 4
expect "S3: no such bucket: the failures name it" 0 'proto.no_destination' "$transfers" report failures --json
