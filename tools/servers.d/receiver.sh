# shellcheck shell=bash
# shellcheck disable=SC2154 # root and dir are set by the script that sources this
# The receiver of this repository, with its record of every byte range that it accepted.
# RECEIVER_FLAGS adds arguments to its command line (--script FILE, --discard …).

install_server() { :; }

start_server() {
  find_release transfers-receiver
  local flags=()
  read -r -a flags <<<"${RECEIVER_FLAGS:-}"
  launch "$dir/log" "$bin/transfers-receiver" --listen 127.0.0.1:0 --dir "$dir/data" --record "$dir/record.ndjson" \
    --port-file "$dir/port" "${flags[@]}"
  wait_until 20 test -s "$dir/port" || give_up 70 "the receiver wrote no port; see \"$dir/log\""
  printf 'http://127.0.0.1:%s\n' "$(<"$dir/port")" >"$dir/url"
}

server_is_ready() { answers "$(<"$dir/url")/"; }
