# shellcheck shell=bash
# shellcheck disable=SC2154 # bad-input sets what is used here
# More hosts than there are threads or descriptors for them (bad_server of downloads.sh).

LISTEN=0.0.0.0 bad_server hosts
for n in {1..200}; do printf 'http://127.0.1.%s:%s/good/f%s\n' "$n" "${url##*:}" "$n"; done >"$work/hosts"

# hosts NAME COMMAND …: runs the command with a list of 200 files at 200 hosts.
hosts() {
  local name=$1 folder=$work/hosts-${1// /-}
  shift
  store "hosts-${folder##*/}"
  mkdir -p "$folder"
  chmod 777 "$folder" "$work/stores/hosts-${folder##*/}"
  expect "$name" 0 . "$@" "$transfers" pull --files-from "$work/hosts" "$folder"
  check "$name: all files are there" is "$(find "$folder" -name 'f*' -size 102400c | wc -l)" 200
}

hosts "200 hosts with 256 descriptors" prlimit --nofile=256:256
hosts "200 hosts with 64 descriptors" prlimit --nofile=64:64
# Other programs of the user count, too; root has no limit.
user=$(if ((EUID == 0)); then echo 65534; else id -u; fi)
threads=$({ ps -L -U "$user" --no-headers || true; } | wc -l)
hosts "200 hosts with few threads" "${nobody[@]}" prlimit --nproc=$((threads + 60)) env HOME="$work/hosts-home"
kill "$bad_server"
