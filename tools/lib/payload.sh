# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # root and bin are set by the script that sources this, version and the rest here
# The contents of packages of all kinds. Needs say.sh; `root` is the repository, `bin` the folder of the shipped
# programs.

# Sets `version` (of the program, with the commit unless that is tagged) and `epoch`: the time of everything in a
# package, SOURCE_DATE_EPOCH or that of the commit, so that the same sources give the same bytes.
read_version() {
  version=$("$bin/transfers" --version)
  local commit
  commit=$(git -C "$root" rev-parse --short=12 HEAD)
  epoch=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}
  if ! git -C "$root" describe --exact-match --match "v$version" >/dev/null 2>&1; then
    version+="~git$(date --utc --date="@$epoch" +%Y%m%d).$commit"
  fi
  export SOURCE_DATE_EPOCH=$epoch
}

# put_man FOLDER: a compressed man page for each command.
put_man() {
  mkdir -p "$1"
  "$bin/transfers" --experimental-dump-help | python3 "$root/tools/lib/man_pages.py" "$version" "$epoch" "$1"
  gzip -9n "$1"/*.1
}

# put_completions BASH-FILE ZSH-FILE FISH-FILE
put_completions() {
  mkdir -p "${1%/*}" "${2%/*}" "${3%/*}"
  # Sourced, never run.
  "$bin/transfers" completions bash | sed '1{/^#!/d}' >"$1"
  "$bin/transfers" completions zsh >"$2"
  "$bin/transfers" completions fish >"$3"
}

# settle FOLDER: sets modes and times that do not depend on the user and time of packing.
settle() {
  chmod -R u=rwX,go=rX "$1"
  find "$1" -exec touch --no-dereference --date="@$epoch" {} +
}
