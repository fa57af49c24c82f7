# shellcheck shell=bash
# shellcheck disable=SC2154 # bad-input sets what is used here
# Ledgers that are missing, full, read-only, corrupt, from the future, or in use.

make_files "$work/for-ledgers"
serve ledgers
store no-ledger
expect "no ledger: run" 7 'store.missing' "$transfers" run
expect "no ledger: status" 7 'store.missing' "$transfers" status

store foreign
head -c 8192 /dev/urandom >"$TRANSFERS_STORE"
expect "a file that is not a ledger" 7 'store.corrupt' "$transfers" push "$work/for-ledgers" "$url/x/"
check "a file that is not a ledger is left unchanged" is "$(wc -c <"$TRANSFERS_STORE")" 8192

store newer
expect "before it becomes newer" 0 . "$transfers" push "$work/for-ledgers" "$url/newer/"
python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("PRAGMA user_version = 9999")' "$TRANSFERS_STORE"
expect "a newer ledger: push" 7 'store.newer' "$transfers" push "$work/for-ledgers" "$url/newer/"
expect "a newer ledger: status" 7 'store.newer' "$transfers" status

store corrupt
expect "before it is damaged" 0 . "$transfers" push "$work/for-ledgers" "$url/corrupt/"
python3 - "$TRANSFERS_STORE" <<'END'
import os, sys
with open(sys.argv[1], "r+b") as file:
    size = os.path.getsize(sys.argv[1])
    for page in range(3, size // 4096):
        file.seek(page * 4096)
        file.write(b"\xa5" * 4096)
END
expect "a damaged ledger: store check finds it" 7 'corrupt|malformed|integrity' "$transfers" store check

if ((EUID == 0)); then
  store read-only
  expect "before it is read-only" 0 . "$transfers" push "$work/for-ledgers" "$url/ro/"
  chmod 755 "${TRANSFERS_STORE%/*}"
  chmod 644 "$TRANSFERS_STORE"*
  expect "a read-only ledger: push" 7 'store.read_only|read-only' "${nobody[@]}" "$transfers" push "$work/for-ledgers" "$url/ro/"
  expect "a read-only ledger: report" 0 . "${nobody[@]}" "$transfers" report

  mkdir -p "$work/small-disk"
  if mount -t tmpfs -o size=1m tmpfs "$work/small-disk" 2>/dev/null; then
    export TRANSFERS_STORE=$work/small-disk/ledger.db
    mkdir -p "$work/many"
    (cd "$work/many" && seq 1 5000 | xargs touch)
    expect "a full disk under the ledger" 7 'store.full|disk is full' "$transfers" push "$work/many" "$url/many/"
    mount -o remount,size=64m "$work/small-disk"
    expect "space again: resumes" 0 . "$transfers" push "$work/many" "$url/many/"
    check "space again: every file is done" is "$(in_state 'done')" 5000
    expect "space again: the ledger is sound" 0 . "$transfers" store check
    mkdir -p "$work/logs"
    truncate -s 80M "$work/logs/big.log"
    printf 'a\n' >"$work/logs/a.log"
    printf 'z\n' >"$work/logs/z.log"
    logs=("$transfers" push "$work/logs" "$url/logs/" --growing segments)
    expect "no room for the copy of a log: others are sent" 3 'failed .*big.log: local.disk_full.*free space' "${logs[@]}"
    check "no room for the copy of a log: others are done" is "$(in_state 'done')" 5002
    check "no room for the copy of a log: no half copy stays" is "$(find "$TRANSFERS_STORE.staged" -type f | wc -l)" 0
    mount -o remount,size=192m "$work/small-disk"
    expect "room for the copy again: the log is sent" 0 . "${logs[@]}"
    expect "room for the copy again: the ledger is sound" 0 . "$transfers" store check
    mkdir -p "$work/staged"
    truncate -s 180M "$work/staged/big"
    printf 'a\n' >"$work/staged/a"
    expect "no room for a staged copy: others are sent" 3 'failed .*big: local.disk_full.*free space' \
      "$transfers" push --stage "$work/staged" "$url/staged/"
    check "no room for a staged copy: others are done" is "$(in_state 'done')" 5004
    mount -o remount,size=512m "$work/small-disk"
    expect "room for the staged copy again: it is sent" 0 . "$transfers" run
    store textfile
    head -c 600M /dev/zero >"$work/small-disk/fill" 2>/dev/null || true
    config=$work/textfile.yaml
    printf 'jobs: {told: {from: [%s], to: "%s/told/", syslog: false, prom_file: %s}}\n' \
      "$work/for-ledgers" "$url" "$work/small-disk/told.prom" >"$config"
    chmod 600 "$config"
    expect "a full disk under the textfile: it is said" 1 'prom_file' "$transfers" job run told --config "$config"
    check "a full disk under the textfile: every file is done" is "$(in_state 'done')" 3
    rm "$work/small-disk/fill"
    expect "space for the textfile again" 0 . "$transfers" job run told -v --config "$config"
    check "space for the textfile again: it is there" grep -q transfers_job "$work/small-disk/told.prom"
    umount "$work/small-disk"
  else
    skip "a full disk under the ledger" "mount is not allowed here"
  fi
else
  skip "a read-only ledger, a full disk" "needs root"
fi

serve holds 'match PUT * : latency=6000'
store two-engines
"$transfers" push "$work/for-ledgers" "$url/two/" >/dev/null 2>&1 </dev/null &
engine=$!
wait_until 20 was_asked PUT || true
expect "a second engine on the same ledger" 6 'locked.*' "$transfers" run
expect "status while an engine runs" 0 . "$transfers" status
code=0
wait "$engine" || code=$?
check "the first engine was not disturbed" is "$code" 0
