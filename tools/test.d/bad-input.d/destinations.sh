# shellcheck shell=bash
# shellcheck disable=SC2154 # bad-input sets what is used here
# Destinations that refuse, do not exist, or hide a secret in the command line.

make_files "$work/three"
# Refused credentials are one answer for all files: they wait, and the server gets a few requests, not one for each
# file.
serve "says-401" "match PUT * : status=401"
store "says-401"
expect "a server that answers 401" 77 '401.*Try: ' "$transfers" push "$work/three" "$url/x/"
check "a server that answers 401: every file waits" is "$(in_state pending)" 3
check "a server that answers 401: it got a few requests" test "$(asked PUT)" -le 6

for status in 403 404 413; do
  serve "says-$status" "match PUT * : status=$status"
  store "says-$status"
  expect "a server that answers $status" 4 "$status|refused" "$transfers" push "$work/three" "$url/x/"
  check "a server that answers $status: every file has failed" is "$(in_state failed)" 3
  check "a server that answers $status: one request for each" is \
    "$(asked PUT)" 3
done

serve "says-404-once" "match PUT */file-2 : status=404"
store one-refused
expect "one file refused: the others are sent" 3 'file-2|http.404' "$transfers" push "$work/three" "$url/x/"
check "one file refused: two done" is "$(in_state 'done')-$(in_state failed)" 2-1

serve "says-503" "match PUT * times=2 : status=503 retry-after=0"
store says-503
expect "a server that answers 503 twice: retried" 0 . "$transfers" push "$work/three" "$url/x/"
check "a server that answers 503 twice: all done" is "$(in_state 'done')" 3

serve "loses" "match PUT */file-1 nth=1 : lose-answer"
store loses
expect "a lost answer to PUT: sent again, done" 0 . "$transfers" push "$work/three" "$url/x/"
serve "loses-post" "match POST * nth=1 : lose-answer"
store loses-post
expect "a lost answer to POST: unknown, not repeated" 3 'unknown' "$transfers" push "$work/three" "post+$url/x/"
check "a lost answer to POST: one unknown, two done" is "$(in_state unknown)-$(in_state 'done')" 1-2
check "a lost answer to POST: three requests, no more" is \
  "$(asked POST)" 3

store grammar
expect "unknown scheme" 64 'gopher' "$transfers" push "$work/three" gopher://127.0.0.1/x/
expect "no destination" 64 . "$transfers" push "$work/three"
expect "a password in the URL" 64 'auth' "$transfers" push "$work/three" http://user:hunter2@127.0.0.1:1/x/
expect "unknown option" 64 'frobnicate' "$transfers" push --frobnicate "$work/three" "$url/x/"
expect "unknown command" 64 . "$transfers" frobnicate
check "a refused command line creates no ledger" test ! -e "$TRANSFERS_STORE"
check "a password in the URL is not repeated" bash -c \
  "! '$transfers' push '$work/three' http://user:hunter2@127.0.0.1:1/x/ 2>&1 | grep hunter2"

store credentials
unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_PROFILE
expect "S3 without credentials" 77 'credential' env HOME="$work" "$transfers" push \
  --endpoint-url "$url" "$work/three" s3://bucket/x/

port=$(free_ports 1)
store down
"$transfers" push "$work/three" "http://127.0.0.1:$port/x/" >"$work/out" 2>"$work/err" </dev/null &
engine=$!
tried() { [[ -f $TRANSFERS_STORE ]] && (($(count "SELECT count(*) FROM v_attempts WHERE outcome = 'retry'") > 0)); }
wait_until 30 tried || true
kill -TERM "$engine"
code=0
wait "$engine" || code=$?
check "a server that is down, then SIGTERM: exit 5, work left" is "$code" 5
check "a server that is down: nothing failed" is "$(in_state failed)" 0
