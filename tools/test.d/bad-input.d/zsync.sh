# shellcheck shell=bash
# shellcheck disable=SC2154 # bad-input sets what is used here
# `pull --zsync` with tables of checksums that are hostile, broken or of another file: each time the file is fetched as
# the server has it, a line says why, and what the table claims costs nothing.

# make_table FILE TABLE [NAME=VALUE …]: a .zsync file for the bytes of FILE, with other values in its header.
make_table() {
  python3 -B - "$@" <<'END'
import hashlib, struct, sys
source, target, *changes = sys.argv[1:]
data = open(source, "rb").read()
block = 2048
header = {"zsync": "0.6.2", "Filename": "o", "Blocksize": str(block), "Length": str(len(data)),
          "Hash-Lengths": "1,4,3", "SHA-1": hashlib.sha1(data).hexdigest()}
header.update(change.split("=", 1) for change in changes)
# Only the rolling checksums are right, so that no block is ever confirmed.
table = b""
for at in range(0, len(data), block):
    part = data[at:at + block].ljust(block, b"\0")
    a = sum(part) & 0xFFFF
    b = sum((block - i) * byte for i, byte in enumerate(part)) & 0xFFFF
    table += struct.pack(">HH", a, b) + b"no!"
text = "".join(f"{name}: {value}\n" for name, value in header.items())
open(target, "wb").write(text.encode() + b"\n" + table)
END
}

serve zsync "match GET /up/never : hold=never"
kept=$server/data/up
mkdir -p "$kept"
head -c 300000 /dev/urandom >"$work/zsync-old"
{ printf x && cat "$work/zsync-old"; } >"$work/zsync-new"
head -c 300000 /dev/urandom >"$work/zsync-other"

# zsync NAME PATTERN: pulls a new version of a file over the old one; the table is in $work/table.
zsync() {
  local folder=$work/zsync-$1 limit=()
  mkdir -p "$folder"
  cp "$work/zsync-old" "$folder/o-$1"
  cp "$work/zsync-new" "$kept/o-$1"
  cp "$work/table" "$kept/o-$1.zsync"
  touch -d '1 hour ago' "$kept/o-$1" "$kept/o-$1.zsync"
  store "zsync-$1"
  # What the table claims is not allocated: 4 GiB of addresses are enough for the program itself.
  limit=(prlimit --as=4294967296)
  expect "zsync: $1" 0 "$2" "${limit[@]}" "$transfers" pull --zsync --overwrite "$url/up/o-$1" "$folder"
  check "zsync: $1: the file is what the server has" cmp "$folder/o-$1" "$work/zsync-new"
  check "zsync: $1: nothing else is left" is "$(ls -A "$folder")" "o-$1"
  check "zsync: $1: the ledger is sound" "$transfers" store check
}

make_table "$work/zsync-new" "$work/table"
zsync lying 'the existing file has no block of it'
make_table "$work/zsync-new" "$work/table" Length=1000000000
zsync claims-1-GB 'its table has another length than its header says'
make_table "$work/zsync-new" "$work/table" Length=999999999999999999 Blocksize=256
zsync claims-all 'it has more than 2097152 blocks'
make_table "$work/zsync-new" "$work/table" Blocksize=1073741824
zsync long-blocks 'its Blocksize is not a power of two'
make_table "$work/zsync-new" "$work/table" Hash-Lengths=2,99999999999999999999,5
zsync long-sums 'its Hash-Lengths are invalid'
make_table "$work/zsync-new" "$work/table" SHA-1=../../../etc/passwd
zsync no-digest 'it has no valid SHA-1'
make_table "$work/zsync-new" "$work/table" $'Filename=\e[2J\r../../etc/passwd' URL=http://169.254.169.254/latest
zsync strange-names 'the existing file has no block of it'
make_table "$work/zsync-other" "$work/table"
zsync of-another-file 'it is for a file of 300000 bytes'
make_table "$work/zsync-new" "$work/table"
truncate -s 700 "$work/table"
zsync truncated 'its table has another length than its header says'
truncate -s 60 "$work/table"
zsync cut-in-the-header 'its header has no end'
: >"$work/table"
zsync empty 'it is not a .zsync file'
head -c 40000000 /dev/zero >"$work/table"
zsync endless 'it is too long'
printf 'zsync: 0.6.2\nLength: 300001\nLength: 1\n\n' >"$work/table"
zsync twice-the-same-field 'its header has a field twice'
check "zsync: no request left the server that was named" bash -c "! grep -q 169.254 '$server/record.ndjson'"

# Objects of a bucket have tables beside them as well.
mkdir -p "$server/data/bucket" "$work/zsync-s3"
cp "$work/zsync-old" "$work/zsync-s3/o"
cp "$work/zsync-new" "$server/data/bucket/o"
make_table "$work/zsync-other" "$server/data/bucket/o.zsync"
touch -d '1 hour ago' "$server/data/bucket/o" "$server/data/bucket/o.zsync"
store zsync-s3
expect "zsync: from S3" 0 'it is for a file of 300000 bytes' \
  env AWS_ACCESS_KEY_ID=key AWS_SECRET_ACCESS_KEY=secret AWS_REGION=us-east-1 \
  "$transfers" pull --zsync --overwrite --endpoint-url "$url" s3://bucket/o "$work/zsync-s3"
check "zsync: from S3: the file is what the server has" cmp "$work/zsync-s3/o" "$work/zsync-new"
check "zsync: from S3: the ledger is sound" "$transfers" store check

store zsync-usage
expect "zsync: without --overwrite" 64 'add --overwrite' "$transfers" pull --zsync "$url/up/o" "$work/zsync-usage"
expect "zsync: with --url-command" 64 'exclude each other' \
  "$transfers" pull --zsync --overwrite --url-command true "$url/up/o" "$work/zsync-usage"

# A server of two sparse files of 270 MiB and a short one. It answers the request for the table of a long file only when
# the short file was fetched, or when the table of the other one was requested as well, which it then prints.
cat >"$work/tables.py" <<'END'
import http.server, sys, threading
size = {"l1": 270 << 20, "l2": 270 << 20, "s": 40001}
begun, tables, lock = set(), [], threading.Condition()
state = {"done": False}

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        name = self.path.strip("/")
        if name.endswith(".zsync"):
            if name[0] == "l":
                with lock:
                    tables.append(name)
                    lock.notify_all()
                    lock.wait_for(lambda: len(tables) > 1 or state["done"], 60)
                    if len(tables) > 1 and not state["done"]:
                        print("together", flush=True)
            self.send_response(404)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        first, last = self.headers["Range"][6:].split("-")
        last = min(int(last), size[name] - 1)
        with lock:
            # The first answer of the short file comes after those of the long ones.
            if name == "s":
                lock.wait_for(lambda: {"l1", "l2"} <= begun, 60)
        if name[0] == "l" and int(first) > 0:
            # Nothing more of the long files is needed: they fail.
            self.send_response(410)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{last}/{size[name]}")
        self.send_header("Content-Length", str(last - int(first) + 1))
        self.send_header("ETag", '"1"')
        self.end_headers()
        self.wfile.write(bytes(last - int(first) + 1))
        with lock:
            begun.add(name)
            if name == "s" and last == size["s"] - 1:
                state["done"] = True
            lock.notify_all()

    def log_message(self, *args):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
END
mkdir -p "$work/zsync-long"
for name in l1 l2 s; do head -c 9000 /dev/urandom >"$work/zsync-long/$name"; done
python3 -B "$work/tables.py" >"$work/tables.out" &
tables=$!
for _ in {1..100}; do
  [[ ! -s $work/tables.out ]] || break
  sleep 0.1
done
url=$(head -1 "$work/tables.out")
store zsync-long
# No more of the long files is sent.
expect "zsync: two long files" 3 '2 failed' \
  "$transfers" pull --zsync --overwrite "$url/l1" "$url/l2" "$url/s" "$work/zsync-long"
check "zsync: two long files: their tables are not in memory together" \
  bash -c "! grep -q together '$work/tables.out'"
check "zsync: two long files: the short one did not wait for them" is "$(in_state 'done')" 1
kill "$tables"
wait "$tables" || true
