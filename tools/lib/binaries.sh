# shellcheck shell=bash
# shellcheck disable=SC2154 # root and dir are set by the script that sources this
# Finds or builds the programs. Needs say.sh and install.sh; `root` is the repository.

# A release build has a separate folder: SwiftPM allows one build at a time in a folder, and this one leaves half of two
# cores idle, because an optimised module is compiled by one process, after those that it imports.
release_build=(swift build --package-path "$root" --scratch-path "$root/.build/for-release" -c release)

# Builds the two programs for release and sets `bin` to their folder. TRANSFERS_BIN names programs that have been built
# already.
build_release() {
  if [[ ${TRANSFERS_BIN:-} ]]; then
    find_release transfers transfers-receiver
    return
  fi
  run "${release_build[@]}" --product transfers || return
  run "${release_build[@]}" --product transfers-receiver || return
  ship transfers transfers-receiver || return
  find_release transfers transfers-receiver
}

# ship PROGRAM …: copies the built programs to .build/dist without their symbols, which are two thirds of them, and the
# symbols beside them as PROGRAM.debug, where debuggers and perf find them.
ship() {
  local built name objcopy
  objcopy=$(command -v llvm-objcopy || command -v objcopy) || give_up 69 "neither llvm-objcopy nor objcopy is installed"
  built=$("${release_build[@]}" --show-bin-path) || return
  mkdir -p "$root/.build/dist"
  for name in "$@"; do
    [[ ! $root/.build/dist/$name -nt $built/$name ]] || continue
    (
      cd "$root/.build/dist"
      "$objcopy" --only-keep-debug "$built/$name" "$name.debug"
      "$objcopy" --strip-all --add-gnu-debuglink="$name.debug" "$built/$name" "$name.new"
      mv "$name.new" "$name"
    ) || return
  done
}

# find_release PROGRAM …: sets `bin` without building; fails when a program is missing. TRANSFERS_BIN names another
# folder.
find_release() {
  bin=${TRANSFERS_BIN:-$root/.build/dist}
  local name
  for name in "$@"; do
    [[ -x $bin/$name ]] || give_up 69 "no $bin/$name: run tools/quickstart or tools/test --only release first"
  done
}

# Builds the preload shim of tools/crash after each change of its sources; prints its path.
build_shim() {
  local shim=$root/.build/tools/shim.so
  if [[ ! $shim -nt $root/tools/crash/shim.c || ! $shim -nt $root/tools/crash/powercut.h ]]; then
    mkdir -p "${shim%/*}"
    "${CC:-cc}" -shared -fPIC -O1 -Wall -Wextra -o "$shim.$$" "$root/tools/crash/shim.c" -ldl -lpthread
    mv "$shim.$$" "$shim"
  fi
  printf '%s\n' "$shim"
}
