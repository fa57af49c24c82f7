"""Downloads from one nginx, by HTTP and as from a bucket: one file of 2 GiB, 64 × 32 MiB, 5,000 × 64 KiB, by each
client, in turns."""

import filecmp
import fnmatch
import os
import shutil
import sys

import fetchers
import fetchers_s3
import measure
import send
import servers
import work

FULL = [work.Work("fetch-large", 1, 2048 * work.MIB), work.Work("fetch-medium", 64, 32 * work.MIB), work.Work("fetch-small", 5_000, 64 << 10)]
QUICK = [work.Work("fetch-large", 1, 256 * work.MIB), work.Work("fetch-medium", 16, 16 * work.MIB), work.Work("fetch-small", 1_000, 64 << 10)]
SMOKE = [work.Work("fetch-large", 1, 24 * work.MIB), work.Work("fetch-medium", 3, 9 * work.MIB), work.Work("fetch-small", 40, 64 << 10)]


class Origin:
    """nginx as a source: the files stay, and the folder that they are fetched to is emptied."""

    def __init__(self, nginx, folder):
        self.nginx, self.folder = nginx, folder
        self.pids = nginx.pids

    def empty(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.mkdir(self.folder)

    def compare(self, source, what, crcs, every_byte):
        for name in what.names:
            path = f"{self.folder}/{name}"
            if not os.path.exists(path) or os.path.getsize(path) != what.size:
                raise servers.Wrong(f"{name} did not arrive whole")
            if every_byte and not filecmp.cmp(f"{source}/{name}", path, shallow=False):
                raise servers.Wrong(f"{name} arrived corrupted")
        if left := sum(len(files) for *_, files in os.walk(self.folder)) - what.files:
            raise servers.Wrong(f"{left} unexpected files arrived")
        return "length"


class Cell(send.Cell):
    def __init__(self, at, line, client, what):
        self.protocol, self.line, self.work = client.protocol, line, what
        self.server = Origin(at.nginx(), f"{at.folder}/fetched")
        self.client = client(at, client.protocol, line, f"{at.nginx().urls[line]}/sources", at.nginx().ca)
        self.runs, self.integrity = [], "?"


def cells(at, works, only):
    lines = ["plain", "tls"] if at.options.tls else ["plain"]
    wanted = [
        (line, client, what) for line in lines for what in works for client in fetchers.ALL + fetchers_s3.ALL
        if line in client.kinds and client.fits(client.protocol, what)
        and fnmatch.fnmatch(f"{client.protocol}/{line}/{what.name}/{client.name}", only)
    ]  # fmt: skip
    if not wanted:
        sys.exit(f"bench: --only {only} matches nothing; for example get/plain/fetch-small/*, s3-get/*, or *transfers")
    at.fetchers = fetchers.tools()
    shown = f"{at.nginx().folder}/data/sources"
    if not os.path.exists(shown):
        os.symlink(at.folder, shown)
    for what in dict.fromkeys(what for _, _, what in wanted):
        measure.progress(f"making {what.title}")
        at.make(what)
    return [Cell(at, *cell) for cell in wanted]


def figures(at, options):
    found = cells(at, QUICK if options.quick else FULL, options.only)
    send.take_turns(at, found, options.rounds)
    send.summary(found)
    return [cell.figures() for cell in found]
