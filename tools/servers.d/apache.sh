# shellcheck shell=bash
# shellcheck disable=SC2154 # root and dir are set by the script that sources this
# Apache with mod_dav and its file system: 409 if a parent collection is missing, 412 on conditions, and a PUT with
# Content-Range is written into the middle of the file. Its configuration is DIR/apache.conf; /etc/apache2 is not read.

install_server() { need apache2:apache2 curl:curl; }

start_server() {
  local port
  port=$(free_ports 1)
  mkdir "$dir/locks"
  write_apache_conf "$port"
  own_for_apache
  printf 'http://127.0.0.1:%s\n' "$port" >"$dir/url"
  PATH=$PATH:/usr/sbin launch "$dir/log" apache2 -f "$dir/apache.conf" -DFOREGROUND
}

server_is_ready() { answers "$(<"$dir/url")/"; }

# Apache serves nothing as root; it then runs as Debian's www-data, which needs access to the folder.
own_for_apache() {
  ((EUID == 0)) || return 0
  chown www-data "$dir/data" "$dir/locks"
  setpriv --reuid=www-data --regid=www-data --clear-groups -- test -w "$dir/data" ||
    give_up 77 "www-data cannot write into \"$dir/data\": give others access to its parents (chmod o+x)"
}

write_apache_conf() {
  local module modules=/usr/lib/apache2/modules
  {
    for module in mpm_event authz_core dav dav_fs dav_lock; do echo "LoadModule ${module}_module $modules/mod_$module.so"; done
    if ((EUID == 0)); then printf 'User www-data\nGroup www-data\n'; fi
    cat <<END
ServerRoot $dir
ServerName 127.0.0.1
Listen 127.0.0.1:$1
PidFile $dir/apache.pid
DefaultRuntimeDir $dir
ErrorLog $dir/log
LogFormat "%m %>s %{Content-Length}i %X %U" told
CustomLog $dir/access.log told
MaxKeepAliveRequests 0
LimitRequestBody 0
DavLockDB $dir/locks/db
DocumentRoot $dir/data
<Directory $dir/data>
  Require all granted
  Options None
  Dav On
</Directory>
END
  } >"$dir/apache.conf"
}
