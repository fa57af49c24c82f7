# shellcheck shell=bash
# shellcheck disable=SC2154 # root and dir are set by the script that sources this
# rclone's WebDAV: the server that punishes careless clients. A PUT with Content-Range is answered 201 and replaces the
# whole file with the fragment, and a PUT that breaks leaves what came of it under the final name.

install_server() { need rclone:rclone curl:curl; }

start_server() {
  local port
  port=$(free_ports 1)
  printf 'http://127.0.0.1:%s\n' "$port" >"$dir/url"
  # No configuration of a person's, and no AWS_CA_BUNDLE, which its 1.60 cannot stand.
  launch "$dir/log" env -u AWS_CA_BUNDLE rclone serve webdav "$dir/data" --config '' --addr "127.0.0.1:$port" \
    --cache-dir "$dir/cache" -vv
}

server_is_ready() { answers "$(<"$dir/url")/"; }
