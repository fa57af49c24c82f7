# shellcheck shell=bash
# Starts processes, and ends them by their IDs. Needs say.sh.

# free_ports COUNT: ports on which nothing listened a moment ago, one per line.
free_ports() {
  python3 - "$1" <<'END'
import socket, sys
held = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in held:
    s.bind(("127.0.0.1", 0))
for s in held:
    print(s.getsockname()[1])
END
}

now_ms() { printf '%s\n' "$((${EPOCHREALTIME/./} / 1000))"; }

# wait_until SECONDS COMMAND …: tries the command every 20 ms until it succeeds; 1 on timeout.
wait_until() {
  local until=$((${EPOCHREALTIME/./} + $1 * 1000000))
  shift
  until "$@" >/dev/null 2>&1; do
    if ((${EPOCHREALTIME/./} > until)); then return 1; fi
    pause_20ms
  done
}

# A pause without a process: a read that never gets input.
pause_20ms() {
  if [[ -z ${pause_fd:-} ]]; then
    local fifo
    fifo=$(mktemp -u)
    mkfifo "$fifo"
    exec {pause_fd}<>"$fifo"
    rm -f "$fifo"
  fi
  read -r -t 0.02 -u "$pause_fd" _ || true
}

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Whether the process exists and has not ended (a zombie has).
alive() {
  local stat
  { read -r stat <"/proc/$1/stat"; } 2>/dev/null && [[ ${stat##*) } != Z* ]]
}

gone() { ! alive "$1"; }

# end PID …: SIGTERM, and SIGKILL for those that still exist after five seconds.
end() {
  local pid
  for pid in "$@"; do kill "$pid" 2>/dev/null || true; done
  for pid in "$@"; do
    wait_until 5 gone "$pid" || kill -9 "$pid" 2>/dev/null || true
  done
}

# A folder in memory if possible, otherwise on disk; removed by the caller.
fast_temp() {
  local base=${TMPDIR:-/tmp}
  if [[ -d /dev/shm && -w /dev/shm ]]; then base=/dev/shm; fi
  mktemp -d "$base/transfers-$1.XXXXXX"
}
