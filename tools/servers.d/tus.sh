# shellcheck shell=bash
# shellcheck disable=SC2154 # root and dir are set by the script that sources this
# resumable-upload, a tus 1.0 server in Python: creation, checksum (460, and the offset does not change), expiration,
# termination, concatenation, relative Location. The endpoint is URL/files; uploads are files named by their ID in
# data/, their metadata is in uploads.db.

install_server() {
  need python3:python3 curl:curl
  tus_python >/dev/null
}

tus_python() { private_python "$root/.build/tools/servers" resumable_upload 'resumable-upload==0.3.0'; }

start_server() {
  local port python
  port=$(free_ports 1)
  python=$(tus_python)
  printf 'http://127.0.0.1:%s\n' "$port" >"$dir/url"
  launch "$dir/log" "$python" -m resumable_upload serve --host 127.0.0.1 --port "$port" --upload-dir "$dir/data" \
    --db-path "$dir/uploads.db" --upload-expiry 86400 --enable-downloads --log-level INFO
}

server_is_ready() { answers "$(<"$dir/url")/files"; }
