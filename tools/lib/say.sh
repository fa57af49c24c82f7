# shellcheck shell=bash
# Output of scripts. Source it; it starts nothing.

# A heading.
say() { printf '\n== %s\n' "$*"; }

# Prints a command as a user would type it, then runs it.
run() {
  show "$@"
  "$@"
}

# Prints a command without running it (for one that needs a redirection or runs in the background).
show() {
  local word line='$'
  for word in "$@"; do
    if [[ $word == '&' || $word =~ ^[A-Za-z0-9_./:=,@%+{}-]+$ ]]; then line+=" $word"; else line+=" ${word@Q}"; fi
  done
  printf '%s\n' "$line"
}

# give_up CODE TEXT: one line on stderr, then exit with a code of sysexits.h.
give_up() {
  local code=$1
  shift
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit "$code"
}

# Prints the comment block at the top of the calling script, which documents it.
usage() { awk 'NR == 1 { next } /^#/ { sub(/^# ?/, ""); print; next } { exit }' "$0"; }
