# shellcheck shell=bash
# shellcheck disable=SC2154 # root and dir are set by the script that sources this
# gcp-storage-emulator: Google's resumable sessions with 308 and Range, the query by `bytes */N`, resume. It accepts
# chunks that are not a multiple of 256 KiB, which Google does not. Objects are fetched from
# URL/download/storage/v1/b/transfers-test/o/NAME?alt=media.

install_server() {
  need python3:python3 curl:curl
  gcs_python >/dev/null
}

gcs_python() { private_python "$root/.build/tools/servers" gcp_storage_emulator 'gcp-storage-emulator==2026.7.19'; }

start_server() {
  local port python
  port=$(free_ports 1)
  python=$(gcs_python)
  printf 'http://127.0.0.1:%s\n' "$port" >"$dir/url"
  printf 'GCS_BUCKET=transfers-test\n' >"$dir/env"
  launch "$dir/log" "${python%/*}/gcp-storage-emulator" --data-dir "$dir/data" start --host 127.0.0.1 --port "$port" \
    --default-bucket transfers-test
}

server_is_ready() { answers "$(<"$dir/url")/"; }
