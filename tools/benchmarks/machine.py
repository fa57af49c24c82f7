"""CPU time of the machine, of processes and of their threads, from /proc (proc(5)); and a description of the
machine."""

import os
import platform
import subprocess

TICK = os.sysconf("SC_CLK_TCK")
CORES = os.cpu_count()


def busy():
    """CPU seconds of the whole machine that were not idle: user, nice, system, irq, softirq."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, irq, softirq = map(int, file.readline().split()[1:8])
    return (user + nice + system + irq + softirq) / TICK


def io_stalled():
    """Seconds during which something waited for a disk; 0 if the kernel does not count it (psi(5))."""
    try:
        with open("/proc/pressure/io") as file:
            return int(file.readline().rpartition("total=")[2]) / 1e6
    except OSError:
        return 0.0


def processes(pids):
    """CPU seconds of the processes, including those of threads that have ended."""
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICK


def threads(pids):
    """CPU seconds of every thread of the processes, by its id."""
    found = {}
    for pid in pids:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
            found[int(thread)] = (int(fields[11]) + int(fields[12])) / TICK
    return found


def describe():
    """What has to accompany a result so that it can be compared with another one."""
    model = next((line.partition(":")[2].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    memory = next(int(line.split()[1]) for line in open("/proc/meminfo") if line.startswith("MemTotal"))
    return {"cpu": model, "cores": CORES, "memory_mib": memory >> 10, "kernel": platform.release()}


def version(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return (done.stdout or done.stderr).splitlines()[0].strip() if done.stdout or done.stderr else "?"
