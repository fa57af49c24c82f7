# shellcheck shell=bash
# shellcheck disable=SC2154 # bad-input sets what is used here
# Downloads from servers that refuse, lie or never end, into a folder, to standard output and into an archive; names and
# places that are not usable. Each time nothing half-written gets a name, and nothing lies outside of the folder.

# bad_server NAME [ARGUMENT …]: starts downloads.py; sets url and bad_server.
bad_server() {
  local out=$work/$1.url
  shift
  python3 -B tools/test.d/bad-input.d/downloads.py "$@" >"$out" &
  bad_server=$!
  wait_until 20 test -s "$out" || true
  url=$(<"$out")
}

# nothing NAME FOLDER: no file has a name in FOLDER.
nothing() { check "$1: no file has its name" is "$(find "$2" -mindepth 1 ! -type d ! -name '.*.part')" ""; }

# fetch NAME CODES PATTERN ARGUMENT …: CODES of the three kinds of targets, `-` to leave one out.
fetch() {
  local name=download:\ $1 codes pattern=$3 folder=$work/pull-${1// /-}
  read -ra codes <<<"$2"
  shift 3
  mkdir -p "$folder/in"
  store "pull-${folder##*/}"
  expect "$name" "${codes[0]}" "$pattern" "$transfers" pull "$@" "$folder/in"
  nothing "$name" "$folder"
  if [[ ${codes[1]} != - ]]; then
    expect "$name, to standard output" "${codes[1]}" "$pattern" "$transfers" pull "$@" -
  fi
  if [[ ${codes[2]} != - ]]; then
    expect "$name, into an archive" "${codes[2]}" "$pattern" "$transfers" pull --into-tar "$folder/x.tar" "$@"
    check "$name, into an archive: nothing is left" is "$(ls -A "$folder")" in
  fi
}

# A list of one file for `fetch`, in a format that knows more than its URL.
listed() {
  # shellcheck disable=SC2059 # the first argument is a format
  printf "$1\n" "${@:2}" >"$work/pull-list"
}

bad_server plain
plain=$url
plain_server=$bad_server
fetch "404" "4 4 4" 'http.404' "$plain/404/a.bin"
fetch "410" "4 4 4" 'http.410' "$plain/410/a.bin"
fetch "403" "4 77 77" 'http.403' "$plain/403/a.bin"
fetch "416" "4 4 4" 'no beginning of the file' "$plain/416/a.bin"
fetch "416 of a file of 7 bytes" "4 4 4" 'no beginning of the file' "$plain/416-of-7/a.bin"
fetch "a login page" "4 4 4" 'web page' "$plain/login/a.bin"
fetch "redirects without end" "4 4 4" 'more than 10 redirects' "$plain/loop/a.bin"
fetch "a redirect to itself" "4 4 4" 'redirect loop' "$plain/itself/a.bin"
fetch "truncated" "5 - -" 'net.reset' "$plain/too-short/a.bin" --max-duration 1s
fetch "a wrong digest" "8 8 8" 'integrity.mismatch' "$plain/good/a.bin" --digest md5:00000000000000000000000000000000

# What a manifest says.
listed 'url,path,size\n%s/endless/a.bin,a.bin,1000' "$plain"
fetch "endless, where a list has its size" "8 - 8" 'must have 1000 bytes' --files-from "$work/pull-list"
listed 'url,path,size\n%s/good/a.bin,a.bin,1000' "$plain"
fetch "a wrong size in a list" "8 - 8" 'must have 1000 bytes' --files-from "$work/pull-list"
listed '%064d  good/a.bin' 0
fetch "a wrong digest in a list" "8 - 8" 'integrity.mismatch' --files-from "$work/pull-list" --list-format sums \
  --base-url "$plain"
sum=$(printf '0123456789abcde\n%.0s' {1..6400} | sha256sum)
sum=${sum%% *}
listed 'url,path,sha256,mirrors\n%s/other/a.bin,a.bin,%s,%s/other/b.bin' "$plain" "$sum" "$plain"
fetch "mirrors that all lie" "8 - 8" 'integrity.mismatch' --files-from "$work/pull-list"
listed 'url,path,sha256,mirrors\r\n%s/good/a.bin,a.bin,%s,\r' "$plain" "$sum"
store pull-crlf
mkdir -p "$work/pull-crlf"
expect "download: a list with CRLF at its ends of lines" 0 . "$transfers" pull --files-from "$work/pull-list" "$work/pull-crlf"
listed 'url,path,sha256,mirrors\n%s/other/a.bin,a.bin,%s,%s/good/a.bin' "$plain" "$sum" "${plain/127.0.0.1/localhost}"
store pull-mirror
expect "download: a mirror has what the first place has not" 0 . "$transfers" pull --files-from "$work/pull-list" "$work/pull-mirror"
check "download: a mirror has what the first place has not: its bytes arrived" is \
  "$(sha256sum <"$work/pull-mirror/a.bin")" "$sum  -"

# bad_name KIND CODE PATTERN NAME: each kind in a list whose last line has it; nothing of such a list is recorded.
bad_name() {
  python3 -B - "$4" "$plain" >"$work/pull-list" <<'END'
import json, sys
for n in range(10_000):
    print(json.dumps({"url": f"{sys.argv[2]}/good/a?{n}", "path": f"d/{n}" if n < 9_999 else json.loads(sys.argv[1])}))
END
  store "pull-name-${1// /-}"
  expect "download: 10,000 names, one $1" "$2" "$3" \
    "$transfers" pull --files-from "$work/pull-list" --list-format jsonl "$work/pull-names/in"
  check "download: 10,000 names, one $1: nothing is recorded or made" test ! -e "$TRANSFERS_STORE" -a ! -e "$work/pull-names/in/d"
}

mkdir -p "$work/pull-names/in"
bad_name "is absolute" 65 'line 10000' '"/etc/passwd"'
bad_name "leads up" 65 'line 10000' '"../outside"'
bad_name "leads up from a folder" 65 'line 10000' '"d/../../outside"'
bad_name "has an empty component" 65 'line 10000' '"d//x"'
bad_name "has a component of 256 bytes" 65 'line 10000' "\"d/$(printf 'x%.0s' {1..256})\""
bad_name "has an escape sequence" 65 'line 10000' '"d/\u001b[31mred"'
bad_name "contains NUL" 65 'line 10000' '"d/a\u0000b"'
bad_name "is that of another file" 64 'd/7".*both' '"d/7"'
bad_name "needs a file as a folder" 64 'd/7/x' '"d/7/x"'

# All of these are legal names on Linux.
serve pull-names
mkdir -p "$server/data/up"
printf 'x' >"$server/data/up/o"
python3 -B - "$url" >"$work/pull-list" <<'END'
import json, sys
odd = ["two\nlines", "\r\nSet-Cookie: a", "-rf", "--help", "%2e%2e", "%2F", "a b", "?q=1&x#f", "'\"`$(id)", "\\..\\back", "\u202egnp.exe",
       "=cmd()", "x" * 240, "e\u0301", "\u00e9", "...", ". ", "semi;colon", "CON", "nul.txt", "~", "*", "\U0001f600"]
for n in range(10_000):
    print(json.dumps({"url": f"{sys.argv[1]}/up/o?{n}", "path": f"{n % 100}{odd[n % len(odd)]}/{odd[n // 100 % len(odd)]}{n}"}))
END
store pull-odd-names
expect "download: 10,000 odd names" 0 '10000 done' "$transfers" pull --files-from "$work/pull-list" --list-format jsonl "$work/pull-names/in"
check "download: 10,000 odd names: each is where the list says" python3 -B - "$work/pull-list" "$work/pull-names" <<'END'
import json, os, sys
wanted = {os.path.join("in", json.loads(line)["path"]) for line in open(sys.argv[1])}
found = {os.path.relpath(os.path.join(at, name), sys.argv[2]) for at, _, names in os.walk(sys.argv[2]) for name in names}
assert wanted == found, sorted(wanted ^ found)[:9]
END

# Places. --overwrite replaces regular files only.
for kind in file symlink folder fifo; do
  folder=$work/pull-$kind
  mkdir -p "$folder/in" "$folder/outside"
  printf 'mine' >"$folder/outside/kept"
  case $kind in
    file) printf 'mine' >"$folder/in/a.bin" ;;
    symlink) ln -s ../outside/kept "$folder/in/a.bin" ;;
    folder) mkdir "$folder/in/a.bin" ;;
    fifo) mkfifo "$folder/in/a.bin" ;;
  esac
  before=$(find "$folder" -printf '%p %i %s %y\n' | sort)
  store "pull-$kind"
  expect "download: the name is taken by a $kind" 4 'policy.exists' "$transfers" pull "$plain/good/a.bin" "$folder/in"
  if [[ $kind != file ]]; then
    store "pull-$kind-overwrite"
    expect "download: --overwrite, and the name is taken by a $kind" 4 'policy.exists' \
      "$transfers" pull --overwrite "$plain/good/a.bin" "$folder/in"
  fi
  check "download: the name is taken by a $kind: everything is as before" is "$(find "$folder" -printf '%p %i %s %y\n' | sort)" "$before"
done
folder=$work/pull-out
mkdir -p "$folder/in" "$folder/outside"
ln -s ../outside "$folder/in/d"
listed 'url,path\n%s/good/a.bin,d/a.bin' "$plain"
store pull-out
expect "download: a link leads out of the folder" 4 'leads out of the target folder' "$transfers" pull --files-from "$work/pull-list" "$folder/in"
check "download: a link leads out of the folder: nothing is outside" is "$(ls -A "$folder/outside")" ""
printf 'mine' >"$folder/file"
store pull-into-file
expect "download: the folder is a file" 64 'folder' "$transfers" pull "$plain/good/a.bin" "$folder/file"
expect "download: the archive is a folder" 4 'policy.exists' "$transfers" pull --into-tar "$folder/in" "$plain/good/a.bin"

# Folders that cannot be written, and a full disk.
mkdir -p "$work/pull-denied"
chmod 555 "$work/pull-denied"
store pull-denied
if ((EUID == 0)); then chown 65534 "${TRANSFERS_STORE%/*}"; fi
expect "download: a folder that cannot be written" 4 'denied|not permitted' "${nobody[@]}" "$transfers" pull "$plain/good/a.bin" "$work/pull-denied"
check "download: a folder that cannot be written: it is empty" is "$(ls -A "$work/pull-denied")" ""
expect "download: an archive that cannot be written" 1 'denied|not permitted' \
  "${nobody[@]}" "$transfers" pull --into-tar "$work/pull-denied/x.tar" "$plain/good/a.bin"
# shellcheck disable=SC2016 # the inner shell expands them
expect "download: standard output cannot be written" 1 'disk_full' \
  bash -c '"$0" pull "$1" - >/dev/full' "$transfers" "$plain/good/a.bin"
mkdir -p "$work/small-disk"
if ((EUID == 0)) && mount -t tmpfs -o size=2m tmpfs "$work/small-disk" 2>/dev/null; then
  # Without a length nobody knows whether the file would fit on the empty disk.
  while read -r kind code of_archive; do
    store "pull-full-$kind"
    expect "download: a full disk, $kind" "$code" 'local.disk_full' "$transfers" pull "$plain/$kind/a.bin" "$work/small-disk"
    nothing "download: a full disk, $kind" "$work/small-disk"
    rm -f "$work/small-disk"/.*.part
    expect "download: a full disk, $kind, into an archive" "$of_archive" 'disk_full|the size of the file' \
      "$transfers" pull --into-tar "$work/small-disk/x.tar" "$plain/$kind/a.bin"
    check "download: a full disk, $kind, into an archive: nothing is left" is "$(ls -A "$work/small-disk")" ""
  done <<<$'endless 5 4\nlarge 4 1'
  umount "$work/small-disk"
else
  skip "download: a full disk" "mount is not allowed here"
fi

# From TLS to none.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj '/CN=127.0.0.1' \
  -addext 'subjectAltName=IP:127.0.0.1' -keyout "$work/tls.key" -out "$work/tls.pem" 2>/dev/null
PLAIN=$plain bad_server tls "$work/tls.pem" "$work/tls.key"
fetch "https that redirects to http" "4 4 4" 'http.redirect' "$url/plain/a.bin" --ca-file "$work/tls.pem"
fetch "a certificate that nobody signed" "4 4 4" 'net.cert' "$url/good/a.bin"
kill "$plain_server" "$bad_server"
wait "$plain_server" "$bad_server" 2>/dev/null || true
