"""One measured run of a command: its CPU time and memory, the server's CPU time, and that of everything else."""

import dataclasses
import subprocess
import sys
import time

import built
import machine


LONGEST = 1800  # seconds


class Failed(Exception):
    """The command could not be started, timed out, or ended with an exit code other than 0."""


@dataclasses.dataclass
class Result:
    """Seconds; `other` is CPU time that is neither the client's nor the server's."""

    wall: float
    cpu: float
    rss_mib: float
    server: float = 0.0
    busiest_server_thread: float = 0.0
    other: float = 0.0
    io_stalled: float = 0.0

    @property
    def is_disturbed(self):
        return self.other > 0.3

    @property
    def limit(self):
        """The bottleneck of this run, as far as these numbers show it."""
        capacity = machine.CORES * self.wall
        if self.other > 0.25 * capacity:
            return "other work"
        if self.cpu + self.server + self.other > 0.88 * capacity:
            share = self.cpu / max(self.cpu + self.server, 0.01)
            return f"{machine.CORES} cores, {share:.0%} client"
        if self.busiest_server_thread > 0.85 * self.wall:
            return "server, one thread"
        if self.cpu > 0.85 * self.wall:
            return "client CPU"
        return "disk" if self.io_stalled > 0.4 * self.wall else "waiting"

    def __str__(self):
        mark = " †" if self.is_disturbed else ""
        return (
            f"{self.wall:7.2f} s  client {self.cpu:6.2f} CPU s {self.rss_mib:4.0f} MiB  server {self.server:5.2f}  "
            f"other {self.other:5.2f}{mark:2}  {self.limit}"
        )


def run(command, environment, server_pids=()):
    """Runs the command once."""
    busy, servers, stalled = machine.busy(), machine.threads(server_pids), machine.io_stalled()
    server = machine.processes(server_pids)
    result = repeat(1, command, environment)[0]
    after = machine.threads(server_pids)
    spent = [seconds - servers.get(thread, 0.0) for thread, seconds in after.items()]
    # Not the sum of the threads: a server may end the thread of a connection together with it.
    result.server = machine.processes(server_pids) - server
    result.busiest_server_thread = max(spent, default=0.0)
    result.other = max(0.0, machine.busy() - busy - result.cpu - result.server)
    result.io_stalled = machine.io_stalled() - stalled
    return result


def repeat(times, command, environment):
    """Runs the command several times in succession, without looking at the rest of the machine."""
    words = [built.launch(), str(times), *command]
    try:
        done = subprocess.run(
            words, env=environment, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, timeout=LONGEST
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(command)}: timed out after {LONGEST} s") from None
    if done.returncode:
        raise Failed(f"{command[0]} could not be started")
    results = []
    for line in done.stdout.splitlines():
        wall, user, system, kib, status = line.split()
        if int(status):
            raise Failed(f"{' '.join(command)}: exited with {status}")
        results.append(Result(float(wall), float(user) + float(system), int(kib) / 1024))
    return results


def progress(text):
    print(f"{time.strftime('%H:%M:%S')}  {text}", file=sys.stderr, flush=True)
