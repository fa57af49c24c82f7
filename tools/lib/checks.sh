# shellcheck shell=bash
# Checks of one test script: each prints one line, the script ends with `N passed, N failed, N skipped`. Needs say.sh.

passed=0 failed=0 skipped=0

pass() {
  passed=$((passed + 1))
  printf 'ok      %s\n' "$1"
}

# fail NAME WHY …: the reasons are shown indented, without control characters.
fail() {
  failed=$((failed + 1))
  printf 'FAILED  %s\n' "$1"
  shift
  printf '%s\n' "$@" | tr -d '\000-\010\013-\037' | sed 's/^/        /' | head -n 20
}

skip() {
  skipped=$((skipped + 1))
  printf 'skipped %s: %s\n' "$1" "$2"
}

# check NAME COMMAND …: passes when the command succeeds.
check() {
  local name=$1 said
  shift
  if said=$("$@" 2>&1); then pass "$name"; else fail "$name" "$*" "$said"; fi
}

totals() {
  printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  ((failed == 0))
}
