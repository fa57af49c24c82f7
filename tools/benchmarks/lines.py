"""Goodput over bad lines to the bundled receiver: transfers by tus as it is and with one connection, and curl by PUT, which begins anew
after each loss."""

import fnmatch
import time
import urllib.parse

import clients
import line
import measure
import protocols
import servers
import work

FULL = work.Work("70mib", 1, 70 * work.MIB)
QUICK = work.Work("20mib", 1, 20 * work.MIB)
MEGABYTE = 1_000_000

# What the line does, and what of it is worth knowing.
LINES = {
    "4 MB/s, cut every 8 s": {"rate": 4 * MEGABYTE, "cut_every": 8.0},
    "10 MB/s, 5 % of connections cut": {"rate": 10 * MEGABYTE, "loss": 0.05},
    "10 MB/s, 200 ms round trip": {"rate": 10 * MEGABYTE, "delay": 0.1},
}


class Push(clients.Transfers):
    """One `push`, which has to bring it to its end."""

    def __init__(self, at, url, workers):
        super().__init__(at, "tus", "plain", url, None)
        self.name = "transfers" + (f" --workers {workers}" if workers else "")
        self.words = ["--workers", str(workers)] if workers else []

    def command(self, what):
        store = f"{self.at.disk}/line-{time.monotonic_ns()}.db"
        destination = f"tus+{self.url}/-/tus/"
        return [self.at.binary, "push", "--quiet", "--store", store, *self.words, self.at.source(what) + "/", destination]


class Curl(protocols.Curl):
    """One PUT, repeated until it arrives, as scripts do."""

    def command(self, what):
        return [*super().command(what), "--retry", "5", "--retry-all-errors", "--retry-delay", "1"]


def figures(at, options):
    what = QUICK if options.quick else FULL
    at.make(what)
    receiver = at.running["receiver", "line"] = protocols.Receiver(at)
    target = ("127.0.0.1", urllib.parse.urlsplit(receiver.url).port)
    found = []
    for name, settings in LINES.items():
        if not fnmatch.fnmatch(name, options.only):
            continue
        for make in (lambda url: Push(at, url, None), lambda url: Push(at, url, 1), lambda url: Curl(at, "put", "plain", url, None)):
            found.append(once(at, name, settings, make, what, receiver, target))
            print("{line:34} {client:22} {seconds:7.1f} s {goodput:6.2f} MB/s, {sent:6.1f} MB over the line, {cuts} cut  {outcome}".format(**found[-1]), flush=True)
    return found


def once(at, name, settings, make, what, receiver, target):
    receiver.empty()
    bad = line.Line(target, **settings)
    client = make(bad.url)
    began = time.monotonic()
    outcome = "done"
    try:
        measure.run(client.command(what), client.environment(), receiver.pids())
        receiver.compare(at.source(what), what, at.expected[what], True)
    except (measure.Failed, servers.Wrong) as failed:
        outcome = str(failed).split(": ")[-1]
    seconds = time.monotonic() - began
    cuts = bad.cuts
    bad.stop()
    goodput = what.size * what.files / seconds / MEGABYTE if outcome == "done" else 0.0
    return {
        "line": name, "client": client.name, "seconds": seconds, "goodput": goodput, "sent": bad.passed / MEGABYTE, "cuts": cuts,
        "outcome": outcome,
    }  # fmt: skip
