# shellcheck shell=bash
# shellcheck disable=SC2154 # root and dir are set by the script that sources this
# lighttpd with mod_webdav: no partial PUT (400), does not create parents, and the answer to HEAD for a new file has
# neither ETag nor Last-Modified. Its configuration is DIR/lighttpd.conf.

install_server() {
  need lighttpd:lighttpd curl:curl
  [[ -e /usr/lib/lighttpd/mod_webdav.so ]] || install_packages lighttpd-mod-webdav
}

start_server() {
  local port
  port=$(free_ports 1)
  mkdir "$dir/temp"
  write_lighttpd_conf "$port"
  printf 'http://127.0.0.1:%s\n' "$port" >"$dir/url"
  PATH=$PATH:/usr/sbin launch "$dir/log" lighttpd -D -f "$dir/lighttpd.conf"
}

server_is_ready() { answers "$(<"$dir/url")/"; }

write_lighttpd_conf() {
  cat >"$dir/lighttpd.conf" <<END
server.modules = ("mod_webdav", "mod_accesslog")
server.bind = "127.0.0.1"
server.port = $1
server.document-root = "$dir/data"
server.upload-dirs = ("$dir/temp")
server.errorlog = "$dir/log"
server.max-request-size = 0
server.max-keep-alive-requests = 100000
accesslog.filename = "$dir/access.log"
accesslog.format = "%m %s %{Content-Length}i %X %U"
webdav.activate = "enable"
END
}
