"""One large file by each upload protocol to the bundled receiver, beside `curl -T` of the same bytes to the same
receiver."""

import filecmp
import fnmatch
import os
import shutil
import subprocess
import sys

import clients
import measure
import send
import servers
import work

FULL = [work.Work("1gib", 1, 1024 * work.MIB)]
QUICK = [work.Work("64mib", 1, 64 * work.MIB)]
# The design goal for tus is of this size.
TUS = work.Work("2gib", 1, 2048 * work.MIB)

# Scheme, path, and arguments of the command line. The profile is the one with parallel chunks.
PROTOCOLS = {
    "put": ("http", "/", ()),
    "form": ("form+http", "/-/form/", ("--field", "key={path}")),
    # Sequential bodies without a checksum, as curl sends them; and the default: parallel partial uploads, which the
    # receiver joins by copying the file, with a SHA-256 of each body at both ends.
    "tus": ("tus+http", "/-/tus/", ("--digest", "none")),
    "tus-joined": ("tus+http", "/-/tus/", ()),
    "resumable": ("resumable+http", "/-/resumable/", ()),
    "numbered-chunks": ("http", "/-/chunks", ("--via", "numbered-chunks")),
}


class Receiver:
    """The release build of the receiver, with its files in memory and its record of all that it receives."""

    def __init__(self, at):
        self.folder = at.folder + "/receiver"
        binaries = {"TRANSFERS_BIN": os.path.dirname(os.path.abspath(at.binary))}
        subprocess.run([servers.SERVERS, "start", "receiver", self.folder], check=True, stdout=sys.stderr, env=os.environ | binaries)
        self.url = open(self.folder + "/url").read().strip()

    def stop(self):
        subprocess.run([servers.SERVERS, "stop", self.folder], check=True)

    def pids(self):
        return [int(open(self.folder + "/pids").readline())]

    def empty(self):
        for name in os.listdir(self.folder + "/data"):
            if not name.startswith("."):  # its own files, for uploads in progress
                shutil.rmtree(f"{self.folder}/data/{name}")

    def compare(self, source, what, crcs, every_byte):
        for name in what.names:
            arrived = f"{self.folder}/data/{name}"
            if not os.path.exists(arrived) or not filecmp.cmp(f"{source}/{name}", arrived, shallow=not every_byte):
                raise servers.Wrong(f"{name} did not arrive as it was sent")
        return "by the receiver's crc32c"


class Curl(clients.Client):
    """`curl -T`: one PUT, whichever protocol it is compared with."""

    name = "curl -T"

    def command(self, what):
        words = [self.at.peers["curl"], "-q", "--silent", "--show-error", "--fail", "--header", "Expect:", "--output", "/dev/null"]
        return [*words, "-T", f"{self.at.source(what)}/{what.names[0]}", f"{self.url}/{what.names[0]}"]


class Transfers(clients.Transfers):
    def command(self, what):
        scheme, path, words = PROTOCOLS[self.protocol]
        destination = f"{scheme}://{self.url.removeprefix('http://')}{path}"
        source = self.at.source(what) + "/"
        return [self.at.binary, "push", "--quiet", "--workers", self.workers, *words, source, destination]


class Cell(send.Cell):
    def __init__(self, at, receiver, protocol, client, what):
        self.protocol, self.line, self.work, self.server = protocol, "plain", what, receiver
        self.client = client(at, protocol, "plain", receiver.url, None)
        self.runs, self.integrity = [], "?"


def figures(at, options):
    at.running["receiver"] = Receiver(at)
    pairs = [(name, what) for name in PROTOCOLS for what in (QUICK if options.quick else FULL + [TUS] * (name == "tus"))]
    pairs = [(name, what) for name, what in pairs if fnmatch.fnmatch(name, options.only)]
    if not pairs:
        sys.exit(f"bench: --only {options.only} matches none of {' '.join(PROTOCOLS)}")
    for what in dict.fromkeys(what for _, what in pairs):
        measure.progress(f"making {what.title}")
        at.make(what)
    cells = [Cell(at, at.running["receiver"], name, client, what) for name, what in pairs for client in (Curl, Transfers)]
    send.take_turns(at, cells, options.rounds)
    send.summary(cells)
    return [cell.figures() for cell in cells]
