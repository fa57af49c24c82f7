"""One measured run of a command: its own CPU time and memory by wait4, the server's by /proc, and all the rest."""

import dataclasses
import os
import re
import sys
import threading
import time

TICK = os.sysconf("SC_CLK_TCK")


@dataclasses.dataclass
class Result:
    """Seconds; `other` is CPU time that is neither the client's nor the server's."""

    wall: float
    cpu: float
    server: float
    other: float
    rss_mib: float

    def __str__(self):
        mark = " †" if self.other > 0.3 else ""
        return (
            f"{self.wall:6.2f} s  client {self.cpu:5.2f} CPU s {self.rss_mib:4.0f} MiB  "
            f"server {self.server:5.2f}  other {self.other:5.2f}{mark}"
        )


def run(command, environment, server_pids):
    busy, server = machine_busy(), processes_busy(server_pids)
    began = time.monotonic()
    null = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, null, 1)]
    pid = os.posix_spawnp(command[0], command, environment, file_actions=actions)
    memory = Memory(pid)
    _, status, usage = os.wait4(pid, 0)
    wall = time.monotonic() - began
    memory.join()
    os.close(null)
    if status != 0:
        sys.exit(f"bench: {command[0]} ended with {os.waitstatus_to_exitcode(status)}")
    server = processes_busy(server_pids) - server
    cpu = usage.ru_utime + usage.ru_stime
    return Result(wall, cpu, server, max(0.0, machine_busy() - busy - cpu - server), memory.peak_mib)


class Memory(threading.Thread):
    """Watches the largest resident memory of a process. `ru_maxrss` would not do: Linux starts it with the size of the
    process that called exec, which is this script."""

    def __init__(self, pid):
        super().__init__()
        self.pid, self.peak_mib = pid, 0.0
        self.start()

    def run(self):
        moment = threading.Event()
        while True:
            try:
                with open(f"/proc/{self.pid}/status") as file:
                    found = re.search(r"VmHWM:\s+(\d+) kB", file.read())
            except FileNotFoundError:
                return
            if not found:  # it has ended and waits to be collected
                return
            self.peak_mib = max(self.peak_mib, int(found[1]) / 1024)
            moment.wait(0.02)


def machine_busy():
    """CPU seconds of the whole machine that were not idle: user, nice, system, irq, softirq (proc(5))."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, irq, softirq = map(int, file.readline().split()[1:8])
    return (user + nice + system + irq + softirq) / TICK


def processes_busy(pids):
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICK
