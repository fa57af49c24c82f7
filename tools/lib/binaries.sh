# shellcheck shell=bash
# shellcheck disable=SC2154 # root and dir are set by the script that sources this
# Where the programs are. Needs say.sh and install.sh; `root` is the repository.

# Builds the two programs for release and sets `bin` to their folder. TRANSFERS_BIN names programs that are built already.
build_release() {
  if [[ ${TRANSFERS_BIN:-} ]]; then
    find_release transfers transfers-receiver
    return
  fi
  run swift build --package-path "$root" -c release --product transfers || return
  run swift build --package-path "$root" -c release --product transfers-receiver || return
  find_release transfers transfers-receiver
}

# find_release PROGRAM …: sets `bin` without building; fails when a program is missing. TRANSFERS_BIN names another folder.
find_release() {
  bin=${TRANSFERS_BIN:-$(swift build --package-path "$root" -c release --show-bin-path)}
  local name
  for name in "$@"; do
    [[ -x $bin/$name ]] || give_up 69 "no $bin/$name: run tools/quickstart or swift build -c release first"
  done
}

# Builds the preload shim of tools/crash once for each change of its sources; prints its path.
build_shim() {
  local shim=$root/.build/tools/shim.so
  if [[ ! $shim -nt $root/tools/crash/shim.c || ! $shim -nt $root/tools/crash/powercut.h ]]; then
    mkdir -p "${shim%/*}"
    "${CC:-cc}" -shared -fPIC -O1 -Wall -Wextra -o "$shim.$$" "$root/tools/crash/shim.c" -ldl -lpthread
    mv "$shim.$$" "$shim"
  fi
  printf '%s\n' "$shim"
}
