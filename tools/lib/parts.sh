# shellcheck shell=bash
# shellcheck disable=SC2154 # root is set by the script that sources this
# The parts of tools/test: each is one command with a log and a time limit. Needs say.sh and processes.sh; `root` is the
# repository.

logs=$root/.build/test-logs
counts=$logs/.counts
lines_of_a_failure=40
child='' lanes=()
rm -rf "$counts" && mkdir -p "$counts"
trap 'stop_parts; exit 130' INT
trap 'stop_parts; exit 143' TERM

# Ends the running command with its children, which are one process group; and those of the lanes.
stop_parts() {
  local pid
  for pid in $child "${lanes[@]}"; do kill "$pid" 2>/dev/null || true; done
}

# part NAME SECONDS COMMAND …: runs it, shows its output or only failures, and counts its closing line. A part without
# such a line counts as one test.
part() {
  local name=$1 limit=$2 code=0 began busy log=$logs/$1.log
  shift 2
  began=$(now_ms)
  count_cpu_ms && busy=$cpu_ms
  say "$name"
  show "$@"
  : >"$log"
  timeout --kill-after=20 "$limit" "$@" >>"$log" 2>&1 </dev/null &
  child=$!
  tail -n +1 -f -s 0.2 --pid="$child" "$log" | shown "$name" &
  wait "$child" || code=$?
  wait "$!" || true
  child=''
  if ((code == 124 || code == 137)); then
    { printf 'FAILED  %s: ended after its %d s; last output:\n' "$name" "$limit" && tail -n 5 "$log" | sed 's/^/        /'; } \
      >"$log.end"
    tee -a "$log" <"$log.end"
    rm -f "$log.end"
  fi
  count_cpu_ms
  add_up "$name" "$code" $((($(now_ms) - began) / 1000)) $(((cpu_ms - busy) / 1000))
  return "$code"
}

# Sets `cpu_ms` to the processor time of all children that have ended, in milliseconds. Not in a subshell: it has
# children of its own.
count_cpu_ms() {
  local user system
  times >"$logs/.times.$BASHPID"
  { read -r _ && read -r user system; } <"$logs/.times.$BASHPID"
  rm -f "$logs/.times.$BASHPID"
  cpu_ms=$(($(ms_of "$user") + $(ms_of "$system")))
}

# ms_of 1m2.345s: 62345
ms_of() {
  local minutes=${1%%m*} seconds=${1#*m}
  seconds=${seconds%s}
  printf '%d\n' $((minutes * 60000 + 10#${seconds/./}))
}

# in_lanes COMMAND NAME …: performs `COMMAND NAME` for each part, two at a time, because many parts wait for processes
# and disks; those that mostly wait (`mostly_waits NAME`) have a third lane. What a part prints is shown when it ends.
in_lanes() {
  local command=$1 name taken lane queue=$logs/.queue waiting=$logs/.queue.waiting
  shift
  : >"$queue" && : >"$waiting"
  for name in "$@"; do
    if mostly_waits "$name"; then printf '%s\n' "$name" >>"$waiting"; else printf '%s\n' "$name" >>"$queue"; fi
  done
  for taken in "$queue" "$queue" "$waiting"; do
    take_parts "$command" "$taken" <"$logs" &
    lanes+=("$!")
  done
  for lane in "${lanes[@]}"; do wait "$lane" || true; done
  lanes=()
}

# take_parts COMMAND QUEUE: performs the first part of the queue, until it is empty. Standard input, a folder, is the
# lock.
take_parts() {
  trap 'stop_parts; exit 143' TERM
  lanes=()
  local name
  while name=$(flock 0 && sed -n 1p "$2" && sed -i 1d "$2" && flock -u 0) && [[ $name ]]; do
    "$1" "$name" >"$logs/$name.shown" 2>&1 || true
    cat "$logs/$name.shown"
    rm -f "$logs/$name.shown"
  done
}

# not_run NAME WHY: a part that cannot be run counts as failed.
not_run() {
  say "$1"
  printf 'FAILED  %s: not run: %s\n' "$1" "$2" | tee "$logs/$1.log"
  add_up "$1" 1 0 0
}

# add_up NAME CODE SECONDS CPU_SECONDS
add_up() {
  local p f s
  read -r p f s <<<"$(closing_line "$2" "$logs/$1.log")"
  printf '%d %d %d %d %d\n' "$p" "$f" "$s" "$3" "$4" >"$counts/$1"
  printf -- '-- %s: %d passed, %d failed in %d s (%d s of CPU)\n' "$1" "$p" "$f" "$3" "$4"
}

# shown PART: shows the lines of its output that are shown while it runs.
shown() {
  if [[ $1 == unit || ${CI:-} == true ]]; then failing_lines; else cat; fi
}

# The failures, with the indented lines that follow them.
failing_lines() {
  awk '
    /^FAILED|^error: |^[^ ]+:[0-9]+:[0-9]+: error: / { on = 1; print; fflush(); next }
    on && /^[ \t]/ { print; fflush(); next }
    { on = 0 }
  '
}

# Prints "passed failed skipped" of the part that ended with the code $1 and the log $2.
closing_line() {
  local line p=0 f=0 s=0
  line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed' "$2" | tail -n 1 || true)
  if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)? ]]; then
    p=${BASH_REMATCH[1]} f=${BASH_REMATCH[2]} s=${BASH_REMATCH[4]:-0}
  elif ((${1} == 0)); then
    p=1
  fi
  if (($1 != 0 && f == 0)); then f=1; fi
  printf '%d %d %d\n' "$p" "$f" "$s"
}

# closing NAME …: the summary: a line for each of these parts, and the failures once more, so that the end of the output
# shows them.
closing() {
  local name p f s took cpu passed=0 failed=0 skipped=0 failures=()
  say "all"
  printf '%-18s %7s %7s %8s %8s\n' part passed failed seconds 'cpu s'
  for name in "$@"; do
    if [[ ! -e $counts/$name ]]; then not_run "$name" "it was not reached"; fi
    read -r p f s took cpu <"$counts/$name"
    printf '%-18s %7d %7d %8d %8d\n' "$name" "$p" "$f" "$took" "$cpu"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    if ((f > 0)); then failures+=("$name"); fi
  done
  printf '%-18s %7d %7d %8d\n' all "$passed" "$failed" "$SECONDS"
  for name in "${failures[@]}"; do
    say "failed: $name"
    failures_of "$logs/$name.log"
    printf 'full output: %s\n' "$logs/$name.log"
  done
  printf '\n'
  ((${#failures[@]} == 0)) || printf 'failed: %s\n' "${failures[*]}"
  if ((skipped > 0)); then
    printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  else
    printf '%d passed, %d failed\n' "$passed" "$failed"
  fi
  ((failed == 0))
}

# failures_of LOG: its lines about failures, or its last lines if there are none.
failures_of() {
  local all
  mapfile -t all < <(failing_lines <"$1" | cut -c 1-600)
  if ((${#all[@]} == 0)); then mapfile -t all < <(tail -n "$lines_of_a_failure" "$1" | cut -c 1-600); fi
  ((${#all[@]} == 0)) || printf '%s\n' "${all[@]:0:lines_of_a_failure}"
  if ((${#all[@]} > lines_of_a_failure)); then printf '… and %d lines more\n' $((${#all[@]} - lines_of_a_failure)); fi
}
