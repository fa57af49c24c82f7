# shellcheck shell=bash
# shellcheck disable=SC2154 # root and dir are set by the script that sources this
# moto: an S3 in one Python process that keeps everything in memory and checks no signatures. Its log has one line per
# request, which the crash test reads.

install_server() {
  need python3:python3 curl:curl
  moto_python "$root/.build/tools" >/dev/null
}

start_server() {
  local port python
  port=$(free_ports 1)
  python=$(moto_python "$root/.build/tools")
  printf 'http://127.0.0.1:%s\n' "$port" >"$dir/url"
  cat >"$dir/env" <<END
AWS_ACCESS_KEY_ID=AKIAMOTOTESTKEY
AWS_SECRET_ACCESS_KEY=canary-moto-secret-8d1f
AWS_REGION=us-east-1
END
  launch "$dir/log" "$python" -c 'from moto.server import main; main()' -H 127.0.0.1 -p "$port"
}

server_is_ready() { answers "$(<"$dir/url")/"; }
