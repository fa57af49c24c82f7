# shellcheck shell=bash
# shellcheck disable=SC2154 # root and dir are set by the script that sources this
# copyparty: multipart/form-data (field act=bput, file field f), and WebDAV. It refuses folders in memory; no ETag; an
# interrupted PUT leaves a truncated file.

install_server() {
  need python3:python3 curl:curl
  copyparty_python >/dev/null
}

copyparty_python() { private_python "$root/.build/tools/servers" copyparty 'copyparty==1.20.26'; }

start_server() {
  local port python
  port=$(free_ports 1)
  python=$(copyparty_python)
  mkdir "$dir/home"
  printf 'http://127.0.0.1:%s\n' "$port" >"$dir/url"
  # -a and so on are not given: everybody may read, write, move and delete, and only loopback can come.
  launch "$dir/log" env HOME="$dir/home" XDG_CONFIG_HOME="$dir/home" "$python" -m copyparty -i 127.0.0.1 -p "$port" \
    -v "$dir/data::rwmda" --daw --no-thumb --no-crt
}

server_is_ready() { answers "$(<"$dir/url")/"; }
