# shellcheck shell=bash
# Processes that a script starts, and ends by their ids. Needs say.sh.

# Ports that nothing listened on a moment ago, one a line: free_ports COUNT.
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

# wait_until SECONDS COMMAND …: asks every 20 ms until the command succeeds; 1 when the time is over.
wait_until() {
  local until=$((${EPOCHREALTIME/./} + $1 * 1000000))
  shift
  until "$@" >/dev/null 2>&1; do
    if ((${EPOCHREALTIME/./} > until)); then return 1; fi
    pause_20ms
  done
}

# A pause without a process: a read that nobody answers.
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

# A process that is there and has not ended (a zombie has).
alive() {
  local stat
  { read -r stat <"/proc/$1/stat"; } 2>/dev/null && [[ ${stat##*) } != Z* ]]
}

gone() { ! alive "$1"; }

# end PID …: SIGTERM, and SIGKILL for what is still there after five seconds.
end() {
  local pid
  for pid in "$@"; do kill "$pid" 2>/dev/null || true; done
  for pid in "$@"; do
    wait_until 5 gone "$pid" || kill -9 "$pid" 2>/dev/null || true
  done
}

# A folder in memory when there is one, else on disk; removed by the caller.
fast_temp() {
  local base=${TMPDIR:-/tmp}
  if [[ -d /dev/shm && -w /dev/shm ]]; then base=/dev/shm; fi
  mktemp -d "$base/transfers-$1.XXXXXX"
}
