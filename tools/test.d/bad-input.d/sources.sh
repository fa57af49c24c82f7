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
expect "a FIFO is reported and skipped, an empty file is sent" 0 'fifo' "$transfers" push "$work/odd" "$url/odd/"
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
expect "hostile names are printed safely" 0 . "$transfers" list files --all

make_files "$work/vanishes"
store vanishes
expect "a file that vanishes: added" 0 . "$transfers" add "$work/vanishes" "$url/vanishes/"
rm "$work/vanishes/file-2"
expect "a file that vanishes: the others are sent" 3 'source.missing' "$transfers" run
check "a file that vanishes: two done, one failed" is "$(in_state 'done')-$(in_state failed)" 2-1

serve slow 'match PUT */grows : slow=20000000'
mkdir "$work/changes"
# Larger than the socket buffers: the change must come while there is something left to read.
head -c 40000000 /dev/zero >"$work/changes/grows"
store changes
"$transfers" push "$work/changes" "$url/changes/" >"$work/out" 2>&1 </dev/null &
engine=$!
wait_until 20 was_asked PUT || true
head -c 50000 /dev/urandom >>"$work/changes/grows"
wait "$engine" || true
expect "a file that changes while it is sent: the next run sends its new version" 0 . "$transfers" push "$work/changes" "$url/changes/"
check "a file that changes while it is sent: one version arrived" cmp "$work/changes/grows" "$server/data/changes/grows"
check "a file that changes while it is sent: the first generation is not done" is \
  "$(count "SELECT count(*) FROM v_files WHERE state = 'done' AND size = 40000000")" 0

# Lists and patterns.
serve lists
make_files "$work/listed"
mkdir "$work/listed/folder"
list() { printf '%b' "$2" >"$work/list-$1"; }
no_ledger() { [[ ! -e $TRANSFERS_STORE ]]; }
# refused NAME CODE PATTERN LIST-TEXT: refuses the whole list, before anything is created.
refused() {
  list "$1" "$4"
  store "list-$1"
  expect "list: $1" "$2" "$3" "$transfers" push --base "$work/listed" --files-from "$work/list-$1" "$url/$1/"
  check "list: $1: no ledger was created" no_ledger
}
refused missing 66 'does not exist \(line 2\), first "gone"' 'file-1\ngone\nfile-3\n'
refused folder 65 'line 2: "folder" is a folder' 'file-1\nfolder\n'
refused nul 65 'line 2: it holds a NUL.*--files-from0' 'file-1\nfile\0-2\n'
refused upwards 65 'line 1: "../x" leads upwards' '../x\n'
refused mixed-base 65 'line 2: ".*" is not below the base' 'file-1\n/etc/passwd\n'
refused endless-line 65 'line 1: it is longer than any path' "$(head -c 100000 /dev/zero | tr '\0' x)"
refused hostile 66 'first "\\x1b\[31mgone"' '\033[31mgone\n'
store list-none
expect "list: it does not exist" 66 'no such file' "$transfers" push --files-from "$work/no-list" "$url/none/"
expect "list: it is a folder" 66 'is a directory.*without --files-from' "$transfers" push --files-from "$work/listed" "$url/none/"
check "list: it does not exist: no ledger was created" no_ledger
list unreadable 'file-1\n'
chmod 000 "$work/list-unreadable"
expect "list: it cannot be read" 66 'permission denied' "${nobody[@]}" "$transfers" push --files-from "$work/list-unreadable" "$url/none/"
list empty ''
expect "list: it is empty" 0 '0 new, 0 unchanged' "$transfers" push --files-from "$work/list-empty" "$url/none/"
list dos 'file-1\r\nfile-2\r\n\r\nfile-1\r\nfile-3\r\n'
store list-dos
expect "list: CRLF and a name twice" 0 '3 new, 0 unchanged, 1 named again' "$transfers" push --base "$work/listed" --files-from "$work/list-dos" "$url/dos/"
check "list: CRLF and a name twice: all arrived" is "$(find "$server/data/dos" -type f | wc -l)" 3
list some 'file-1\ngone\nfile-3\n'
store list-some
expect "list: --missing skip sends the others" 3 'source.missing' "$transfers" push --missing skip --base "$work/listed" --files-from "$work/list-some" "$url/some/"
check "list: --missing skip: two done, one failed" is "$(in_state 'done')-$(in_state failed)" 2-1
store patterns
expect "a pattern that matches nothing" 66 'none matches it' "$transfers" push "$work/listed/*.none" "$url/p/"
expect "a broken rule" 64 'without' "$transfers" push --exclude '[' "$work/listed" "$url/p/"
expect "two files for one object" 64 'the same key "file-[123]"' "$transfers" push "$work/listed" "$work/unreadable" "$url/p?n={name}"
check "two files for one object: no ledger was created" no_ledger
expect "a list and sources" 64 'not both' "$transfers" push --files-from "$work/list-dos" "$work/listed" "$url/p/"
