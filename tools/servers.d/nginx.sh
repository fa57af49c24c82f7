# shellcheck shell=bash
# shellcheck disable=SC2154 # root and dir are set by the script that sources this
# nginx with its dav module: the fastest PUT sink. One worker; plain HTTP and TLS with a throw-away authority. In
# addition, two proxies before it that drop If-Range, as caches do: a request for a range gets one, of whatever version;
# the second drops ETag and Last-Modified of all ranges but the first, too.

dav_ext=/usr/lib/nginx/modules/ngx_http_dav_ext_module.so

install_server() {
  need nginx:nginx curl:curl openssl:openssl
  # PROPFIND, which WebDAV clients need first.
  [[ -e $dav_ext ]] || install_packages libnginx-mod-http-dav-ext
}

start_server() {
  local ports
  mapfile -t ports < <(free_ports 4)
  make_certificate
  write_nginx_conf "${ports[@]}"
  printf 'http://127.0.0.1:%s\n' "${ports[0]}" >"$dir/url"
  cat >"$dir/env" <<END
TLS_URL=https://127.0.0.1:${ports[1]}
UNCONDITIONAL_URL=http://127.0.0.1:${ports[2]}
UNNAMED_URL=http://127.0.0.1:${ports[3]}
CA_FILE=$dir/ca.pem
END
  PATH=$PATH:/usr/sbin launch "$dir/log" nginx -p "$dir" -c "$dir/nginx.conf" -e "$dir/log"
}

server_is_ready() { answers "$(<"$dir/url")/"; }

make_certificate() {
  {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj '/CN=transfers test authority' \
      -keyout "$dir/ca.key" -out "$dir/ca.pem"
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj '/CN=127.0.0.1' \
      -keyout "$dir/server.key" -out "$dir/server.csr"
    openssl x509 -req -in "$dir/server.csr" -CA "$dir/ca.pem" -CAkey "$dir/ca.key" -CAcreateserial -days 2 \
      -extfile <(printf 'subjectAltName=IP:127.0.0.1,DNS:localhost\n') -out "$dir/server.pem"
  } >>"$dir/log" 2>&1
}

write_nginx_conf() {
  mkdir "$dir/temp"
  {
    if ((EUID == 0)); then echo 'user root;'; fi
    echo "load_module $dav_ext;"
    cat <<END
daemon off;
worker_processes 1;
pid $dir/nginx.pid;
error_log $dir/log warn;
events { worker_connections 1024; }
http {
  log_format told '\$request_method \$status \$request_length \$request_completion \$request_uri';
  access_log $dir/access.log told;
  client_max_body_size 0;
  client_body_temp_path $dir/temp/body;
  proxy_temp_path $dir/temp/proxy;
  fastcgi_temp_path $dir/temp/fastcgi;
  uwsgi_temp_path $dir/temp/uwsgi;
  scgi_temp_path $dir/temp/scgi;
  client_body_buffer_size 256k;
  keepalive_requests 1000000;
  server {
    listen 127.0.0.1:$1 backlog=1024;
    listen 127.0.0.1:$2 ssl backlog=1024;
    ssl_certificate $dir/server.pem;
    ssl_certificate_key $dir/server.key;
    location / {
      root $dir/data;
      autoindex on;
      dav_methods PUT DELETE MKCOL;
      dav_ext_methods PROPFIND OPTIONS;
      create_full_put_path on;
    }
  }
  server {
    listen 127.0.0.1:$3;
    location / {
      proxy_pass http://127.0.0.1:$1;
      proxy_http_version 1.1;
      proxy_set_header If-Range "";
      proxy_buffering off;
    }
  }
  map "\$upstream_status \$upstream_http_content_range" \$is_named { default yes; "~^206 bytes [1-9]" ""; }
  map "\$is_named" \$named_etag { default ""; yes \$upstream_http_etag; }
  map "\$is_named" \$named_time { default ""; yes \$upstream_http_last_modified; }
  server {
    listen 127.0.0.1:$4;
    location / {
      proxy_pass http://127.0.0.1:$1;
      proxy_http_version 1.1;
      proxy_set_header If-Range "";
      proxy_hide_header ETag;
      proxy_hide_header Last-Modified;
      add_header ETag \$named_etag;
      add_header Last-Modified \$named_time;
      proxy_buffering off;
    }
  }
}
END
  } >"$dir/nginx.conf"
}
