# shellcheck shell=bash
# shellcheck disable=SC2154 # root and dir are set by the script that sources this
# sabre/dav 1.8.12 in PHP's own server: WebDAV whose objects accept PATCH with X-Update-Range. PHP's server takes one
# connection at a time, closes each after its answer, and passes a body to the program when it is complete: nothing of
# an interrupted one is kept. A repeated MOVE deletes the file at the destination.

install_server() {
  need php:php-cli curl:curl
  [[ -e /usr/share/php/Sabre/DAV/PartialUpdate/Plugin.php ]] || install_packages php-sabre-dav
}

start_server() {
  local port
  port=$(free_ports 1)
  printf 'http://127.0.0.1:%s\n' "$port" >"$dir/url"
  launch "$dir/log" env SABRE_DATA="$dir/data" php -d include_path=/usr/share/php \
    -S "127.0.0.1:$port" "$root/tools/servers.d/sabre.php"
}

server_is_ready() { answers "$(<"$dir/url")/"; }
