# shellcheck shell=bash
# shellcheck disable=SC2154 # root and dir are set by the script that sources this
# OpenStack Swift with s3api, one replica, on loopback: signatures, part order, part sizes and MD5s are checked.
# All of its configuration is in DIR/etc: /etc/swift is neither read nor written, so it can run beside a real one.

install_server() {
  need curl:curl memcached:memcached swift-ring-builder:swift-proxy swift-proxy-server:swift-proxy \
    swift-account-server:swift-account swift-container-server:swift-container swift-object-server:swift-object
}

start_server() {
  local ports part i=1
  mapfile -t ports < <(free_ports 5)
  mkdir -p "$dir/etc" "$dir/data/d1"
  write_swift_conf
  for part in account container object; do
    make_ring "$part" "${ports[i]}"
    write_storage_conf "$part" "${ports[i]}"
    i=$((i + 1))
  done
  write_proxy_conf "${ports[0]}" "${ports[4]}"
  printf 'http://127.0.0.1:%s\n' "${ports[0]}" >"$dir/url"
  printf '%s\n' "${ports[@]}" >"$dir/ports"
  cat >"$dir/env" <<END
AWS_ACCESS_KEY_ID=test:tester
AWS_SECRET_ACCESS_KEY=canary-swift-secret-5c2e
AWS_REGION=us-east-1
END
  launch "$dir/log" memcached -u "$(id -un)" -l 127.0.0.1 -p "${ports[4]}" -m 64
  for part in proxy account container object; do
    launch "$dir/log" /usr/bin/python3 "$root/tools/servers.d/swift-server.py" "$dir/etc" "$part"
  done
}

# The proxy disables a storage server for a minute after ten refused connections (memcached too), so it gets no request
# before all five listen.
server_is_ready() { all_listen && answers "$(<"$dir/url")/healthcheck" && storage_is_ready; }

all_listen() {
  local port
  while read -r port; do listens "$port" || return 1; done <"$dir/ports"
}

# A successful request that needs all three storage servers is the proof.
storage_is_ready() {
  [[ $(curl --silent --noproxy '*' --max-time 5 --output /dev/null --write-out '%{http_code}' --head \
    -H "X-Auth-Token: $(swift_token)" "$(<"$dir/url")/v1/AUTH_test") == 20? ]]
}

swift_token() {
  curl --silent --noproxy '*' --max-time 5 --dump-header - --output /dev/null \
    -H 'X-Auth-User: test:tester' -H 'X-Auth-Key: canary-swift-secret-5c2e' "$(<"$dir/url")/auth/v1.0" |
    tr -d '\r' | sed -n 's/^X-Auth-Token: //Ip'
}

write_swift_conf() {
  cat >"$dir/etc/swift.conf" <<'END'
[swift-hash]
swift_hash_path_suffix = loop
swift_hash_path_prefix = back
[storage-policy:0]
name = gold
default = yes
[swift-constraints]
END
}

make_ring() {
  local ring=$dir/etc/$1.builder
  {
    swift-ring-builder "$ring" create 4 1 1
    swift-ring-builder "$ring" add "r1z1-127.0.0.1:$2/d1" 1
    swift-ring-builder "$ring" rebalance || true # exit 1 means "with a warning"
  } >>"$dir/log" 2>&1
  [[ -f $dir/etc/$1.ring.gz ]] || give_up 70 "swift-ring-builder made no $1 ring; see \"$dir/log\""
}

server_defaults() {
  cat <<END
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = $1
workers = 0
user = $(id -un)
swift_dir = $dir/etc
log_level = WARNING
END
}

write_storage_conf() {
  {
    server_defaults "$2"
    cat <<END
devices = $dir/data
mount_check = false
[pipeline:main]
pipeline = $1-server
[app:$1-server]
use = egg:swift#$1
END
  } >"$dir/etc/$1-server.conf"
}

write_proxy_conf() {
  {
    server_defaults "$1"
    cat <<END
[pipeline:main]
pipeline = catch_errors healthcheck cache bulk s3api tempauth copy slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
error_suppression_limit = 1000000
allow_account_management = true
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:healthcheck]
use = egg:swift#healthcheck
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:$2
[filter:bulk]
use = egg:swift#bulk
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
s3_acl = false
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = canary-swift-secret-5c2e .admin
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
END
  } >"$dir/etc/proxy-server.conf"
}
