# shellcheck shell=bash
# shellcheck disable=SC2154 # bad-input sets what is used here
# Sources that are missing, unreadable, endless, odd, or change while they are read.

serve plain
store missing-source
expect "missing source" 66 'no_source.*nowhere' "$transfers" push "$work/nowhere" "$url/a/"

make_files "$work/unreadable"
chmod 000 "$work/unreadable/file-2"
store unreadable
if ((EUID == 0)); then chown 65534 "${TRANSFERS_STORE%/*}"; fi
expect "unreadable file: the others are sent" 3 'source.denied' "${nobody[@]}" "$transfers" push "$work/unreadable" "$url/unreadable/"
check "unreadable file: two done, one failed" is "$(in_state 'done')-$(in_state failed)" 2-1
chmod 644 "$work/unreadable/file-2"
expect "unreadable file: readable again, retry" 0 . "${nobody[@]}" "$transfers" push "$work/unreadable" "$url/unreadable/"
check "unreadable file: all three arrived" diff -r "$work/unreadable" "$server/data/unreadable"

make_files "$work/loop"
ln -s .. "$work/loop/up"
ln -s self "$work/loop/self"
store loop
expect "loop of links: skipped" 0 . "$transfers" push "$work/loop" "$url/loop/"
check "loop of links: the files arrived" is "$(in_state 'done')" 3
make_files "$work/loop-followed/inner"
ln -s ../inner "$work/loop-followed/inner/again"
store loop-followed
expect "loop of links: followed, it is named once and the files are sent" 3 'loop'  "$transfers" push --follow-symlinks "$work/loop-followed" "$url/followed/"

mkdir -p "$work/odd"
printf 'text' >"$work/odd/plain"
: >"$work/odd/empty"
mkfifo "$work/odd/fifo"
store odd
expect "a FIFO is named and left out, an empty file is sent" 0 'fifo' "$transfers" push "$work/odd" "$url/odd/"
check "a FIFO: the others arrived" is "$(in_state 'done')" 2
check "an empty file arrived empty" test -f "$server/data/odd/empty" -a ! -s "$server/data/odd/empty"

python3 - "$work/names" <<'END'
import os, sys
folder = os.fsencode(sys.argv[1])
names = [b"two\nlines", b"\x1b[31mred", b"latin-\xe9", b"-rf", b"--help", b"%2e%2e", b"a b", b"?q=1&x#f", b"+", b"~", b"'\"`$(id)",
         b"\\back", b"\xe2\x80\xaegnp.exe", b"=cmd()", b"x" * 255, "e\u0301".encode(), "\u00e9".encode(), b"...", b"semi;colon", b"\x7f", b"tab\there"]
os.makedirs(folder)
for n, name in enumerate(names):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(b"%d" % n)
END
store names
expect "hostile names" 0 . "$transfers" push "$work/names" "$url/names/"
check "hostile names arrived byte for byte" diff -r "$work/names" "$server/data/names"
expect "hostile names are printed harmless" 0 . "$transfers" list files --all

make_files "$work/vanishes"
store vanishes
expect "a file that vanishes: added" 0 . "$transfers" add "$work/vanishes" "$url/vanishes/"
rm "$work/vanishes/file-2"
expect "a file that vanishes: the others are sent" 3 'source.missing' "$transfers" run
check "a file that vanishes: two done, one failed" is "$(in_state 'done')-$(in_state failed)" 2-1

serve slow 'match PUT */grows : slow=20000000'
mkdir "$work/changes"
# Larger than what socket buffers swallow: the change must come while there is something left to read.
head -c 40000000 /dev/zero >"$work/changes/grows"
store changes
"$transfers" push "$work/changes" "$url/changes/" >"$work/out" 2>&1 </dev/null &
engine=$!
wait_until 20 was_asked PUT || true
head -c 50000 /dev/urandom >>"$work/changes/grows"
wait "$engine" || true
expect "a file that changes while it is sent: the next run sends it as it is" 0 . "$transfers" push "$work/changes" "$url/changes/"
check "a file that changes while it is sent: one version arrived" cmp "$work/changes/grows" "$server/data/changes/grows"
check "a file that changes while it is sent: the first generation is not done" is \
  "$(count "SELECT count(*) FROM v_files WHERE state = 'done' AND size = 40000000")" 0
