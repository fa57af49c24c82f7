# shellcheck shell=bash
# shellcheck disable=SC2154 # root and dir are set by the script that sources this
# rclone's WebDAV: a server that punishes careless clients. A PUT with Content-Range is answered 201 and replaces the
# whole file with the fragment, and an interrupted PUT leaves the received bytes under the final name.

install_server() { need rclone:rclone curl:curl; }

start_server() {
  local port
  port=$(free_ports 1)
  printf 'http://127.0.0.1:%s\n' "$port" >"$dir/url"
  # Without the user's configuration, and without AWS_CA_BUNDLE, with which version 1.60 fails.
  launch "$dir/log" env -u AWS_CA_BUNDLE rclone serve webdav "$dir/data" --config '' --addr "127.0.0.1:$port" \
    --cache-dir "$dir/cache" -vv
}

server_is_ready() { answers "$(<"$dir/url")/"; }
