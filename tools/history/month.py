"""What reports and live views cost on a ledger of a month, and the design goals that these costs may not exceed."""

import collections
import fcntl
import http.client
import os
import pty
import signal
import struct
import subprocess
import termios
import threading
import time
import urllib.parse

REPORT_S, SUMMARY_S, MEMORY_MIB, CORE_SHARE = 2.0, 0.5, 64, 0.05
# Lists are measured page by page, as people see them; their rows are as many as the ledger has.
PAGE = ["--limit", "1000"]
RUNS, WATCHED_S, FIRST_S = 3, 20, 5
Cost = collections.namedtuple("Cost", "wall_s rss_mib")


class TooMuch(Exception):
    pass


def reports(middle):
    """The arguments of each report by its name; `middle` is a moment within the month."""
    lists = {name: ["report", name, *PAGE] for name in ("files", "attempts", "receipts", "events", "batches", "runs")}
    plain = ("summary", "failures", "throughput", "slow", "latency", "waste", "integrity", "retries", "hosts", "daily", "weekly", "monthly")
    found = {name: ["report", name, "--json"] for name in plain} | {name: [*words, "--json"] for name, words in lists.items()}
    found["chunks"] = ["report", "chunks", "f1", "--map", "--json"]
    found["compare"] = ["report", "compare", f"..{middle}", f"{middle}..", "--json"]
    found["html"] = ["report", "--format", "html"]
    return found


def run(words):
    began = time.monotonic()
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise TooMuch(f"{' '.join(words)} exited {process.returncode}")
    return Cost(time.monotonic() - began, usage.ru_maxrss / 1024)


def of_report(program, path, name, words):
    """The fastest of some runs, because the machine may do other things, too; the most memory of all."""
    costs = [run([program, *words, "--store", path]) for _ in range(RUNS)]
    cost = Cost(min(cost.wall_s for cost in costs), max(cost.rss_mib for cost in costs))
    limit = SUMMARY_S if name == "summary" else REPORT_S
    said = f"{cost.wall_s:.2f} s of {limit} s, {cost.rss_mib:.0f} MiB of {MEMORY_MIB} MiB"
    if cost.wall_s > limit or cost.rss_mib > MEMORY_MIB:
        raise TooMuch(said)
    return said


def used(pid):
    """CPU seconds of a process, and the most memory that it has had, in MiB."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        ticks = sum(map(int, file.read().rpartition(")")[2].split()[11:13]))
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM:"))
    return ticks / os.sysconf("SC_CLK_TCK"), peak / 1024


def watched(pid, turn):
    """Calls `turn` every second; the start, which reads the whole ledger once, does not count towards the share."""
    for _ in range(FIRST_S):
        turn()
        time.sleep(1)
    began, (before, _) = time.monotonic(), used(pid)
    for _ in range(WATCHED_S):
        turn()
        time.sleep(1)
    after, peak = used(pid)
    share = (after - before) / (time.monotonic() - began)
    said = f"{share:.1%} of {CORE_SHARE:.0%} of a core, {peak:.0f} MiB of {MEMORY_MIB} MiB"
    if share >= CORE_SHARE or peak > MEMORY_MIB:
        raise TooMuch(said)
    return said


def drain(descriptor, kept):
    while True:
        try:
            data = os.read(descriptor, 65536)
        except OSError:
            return
        if not data:
            return
        kept[0] += len(data)


def of_top(program, path):
    """`transfers top` in a terminal of 100 columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    with subprocess.Popen([program, "top", "--store", path], stdin=theirs, stdout=theirs, env=os.environ | {"TERM": "xterm-256color"}) as process:
        os.close(theirs)
        drawn = [0]
        threading.Thread(target=drain, args=(ours, drawn), daemon=True).start()
        try:
            said = watched(process.pid, lambda: None)
            if process.poll() is not None or not drawn[0]:
                raise TooMuch(f"top ended with {process.returncode}, or drew nothing")
            return said
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()
            os.close(ours)


class Page:
    """An open window: it asks what is new every second, and for the report as often as its script does."""

    def __init__(self, url):
        self.place = urllib.parse.urlsplit(url)
        self.headers = {"Authorization": f"Bearer {urllib.parse.parse_qs(self.place.fragment)['token'][0]}"}
        self.tags, self.due = {}, 0.0

    def fetch(self, path):
        connection = http.client.HTTPConnection(self.place.netloc, timeout=60)
        connection.request("GET", path, headers=self.headers | ({"If-None-Match": self.tags[path]} if path in self.tags else {}))
        answer = connection.getresponse()
        answer.read()
        connection.close()
        if answer.status not in (200, 304):
            raise TooMuch(f"{path} was answered with {answer.status}")
        self.tags[path] = answer.headers.get("ETag", "")

    def look(self):
        self.fetch("/now")
        began = time.monotonic()
        if began >= self.due:
            self.fetch("/")
            self.due = time.monotonic() + max(15, 20 * (time.monotonic() - began))


def of_serve(program, path):
    """`transfers serve` with one window open."""
    words = [program, "serve", "--listen", "127.0.0.1:0", "--store", path]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            return watched(process.pid, Page(process.stdout.readline().strip()).look)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()
