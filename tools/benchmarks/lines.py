"""Goodput over bad networks: transfers as it is and with one connection, by tus, S3 and PUT; and curl by PUT, which
restarts after each loss."""

import fnmatch
import os
import subprocess
import sys
import time
import urllib.parse

import built
import clients
import line
import measure
import protocols
import servers
import work

sys.path.append(os.path.join(built.ROOT, "tools", "crash"))

import s3  # noqa: E402

MEGABYTE = 1_000_000

# The networks, by name, with their faults.
LINES = {
    "4 MB/s, cut every 8 s": {"rate": 4 * MEGABYTE, "cut_every": 8.0},
    "10 MB/s, cut within 5 % of MiB": {"rate": 10 * MEGABYTE, "loss": 0.05},
    "10 MB/s, 200 ms round trip": {"rate": 10 * MEGABYTE, "delay": 0.1},
}


class Moto:
    """An S3 server that supports ListParts; the sink does not."""

    def __init__(self, at):
        self.folder = at.folder + "/moto"
        subprocess.run([servers.SERVERS, "start", "moto", self.folder], check=True, stdout=sys.stderr)
        self.url = open(self.folder + "/url").read().strip()
        self.client = s3.S3(self.url, *list(clients.KEYS.values()))
        self.client.make_bucket(servers.BUCKET)

    def stop(self):
        subprocess.run([servers.SERVERS, "stop", self.folder], check=True)

    def pids(self):
        return [int(open(self.folder + "/pids").readline())]

    def empty(self):
        self.client.empty_bucket(servers.BUCKET)
        self.client.make_bucket(servers.BUCKET)

    def compare(self, source, what, crcs, every_byte):
        for name in what.names:
            with open(f"{source}/{name}", "rb") as file:
                if self.client.get(servers.BUCKET, f"in/{name}") != file.read():
                    raise servers.Wrong(f"{name} did not arrive as it was sent")


# By name: what is sent, to which server, and to which URL.
MIB = work.MIB
CASES = {
    "tus": ((1, 70 * MIB), "receiver", "tus+{url}/-/tus/"),
    "s3": ((1, 70 * MIB), "moto", "s3://bench/in/"),
    "s3-without-listparts": ((1, 70 * MIB), "sink", "s3://bench/in/"),
    "put": ((20, 7 * MIB // 2), "receiver", "{url}/"),
}


class Push(clients.Transfers):
    """One `push`, which has to complete."""

    def __init__(self, at, case, url, workers):
        super().__init__(at, case.split("-")[0], "plain", url, None)
        self.name = "transfers" + (f" --workers {workers}" if workers else "")
        self.destination = CASES[case][2].format(url=url)
        self.words = ["--workers", str(workers)] if workers else []
        self.words += ["--endpoint-url", url] if self.is_s3 else []

    def command(self, what):
        store = f"{self.at.disk}/line-{time.monotonic_ns()}.db"
        return [self.at.binary, "push", "--quiet", "--store", store, *self.words, self.at.source(what) + "/", self.destination]


class Curl(protocols.Curl):
    """One PUT, repeated until it succeeds, as scripts do."""

    def command(self, what):
        return [*super().command(what), "--retry", "5", "--retry-all-errors", "--retry-delay", "1"]


def server(at, kind):
    if ("lines", kind) not in at.running:
        make = {"receiver": lambda: protocols.Receiver(at), "moto": lambda: Moto(at), "sink": lambda: servers.Sink("plain", False, "")}
        at.running["lines", kind] = make[kind]()
    return at.running["lines", kind]


def figures(at, options):
    found = []
    for name, settings in LINES.items():
        for case, ((files, size), kind, _) in CASES.items():
            if not fnmatch.fnmatch(f"{name}/{case}", options.only):
                continue
            what = work.Work(f"line-{files}", files, size // (2 if options.quick else 1))
            if what not in at.expected:
                at.make(what)
            makers = [lambda url: Push(at, case, url, None), lambda url: Push(at, case, url, 1)]
            makers += [lambda url: Curl(at, "put", "plain", url, None)] if case == "tus" else []
            found += compare(at, name, settings, case, makers, what, server(at, kind))
    return found


def compare(at, name, settings, case, makers, what, running):
    """Compares the first client with the second, which has one connection."""
    rows = [once(at, name, settings, case, make, what, running) for make in makers]
    for row in rows:
        share = row["goodput"] / rows[1]["goodput"] if rows[1]["goodput"] else 0.0
        print(
            "{line:31} {case:21} {client:21} {seconds:6.1f} s {goodput:6.2f} MB/s, {sent:6.1f} MB over the line, {cuts:2} cut  {outcome}".format(**row)
            + f"  {share:.2f} × one connection",
            flush=True,
        )
    return rows


def once(at, name, settings, case, make, what, running):
    running.empty()
    bad = line.Line(("127.0.0.1", urllib.parse.urlsplit(running.url).port), **settings)
    client = make(bad.url)
    began = time.monotonic()
    outcome = "done"
    try:
        measure.run(client.command(what), client.environment(), running.pids())
        running.compare(at.source(what), what, at.expected[what], True)
    except (measure.Failed, servers.Wrong) as failed:
        outcome = str(failed).split(": ")[-1]
    seconds = time.monotonic() - began
    cuts = bad.cuts
    bad.stop()
    goodput = what.bytes / seconds / MEGABYTE if outcome == "done" else 0.0
    return {
        "line": name, "case": case, "client": client.name, "seconds": seconds, "goodput": goodput, "sent": bad.passed / MEGABYTE,
        "cuts": cuts, "outcome": outcome,
    }  # fmt: skip
