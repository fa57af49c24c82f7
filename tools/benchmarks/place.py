"""Where a benchmark happens: sources and server data in memory, ledgers on the normal disk, one nginx."""

import dataclasses
import filecmp
import os
import random
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@dataclasses.dataclass(frozen=True)
class Work:
    name: str
    files: int
    size: int  # bytes of each

    @property
    def bytes(self):
        return self.files * self.size

    @property
    def names(self):
        return [f"{n // 1000:03}/{n:06}.bin" for n in range(self.files)]


class Place:
    def __init__(self, options):
        self.options = options
        self.binary = options.binary or os.path.join(os.environ.get("TRANSFERS_BIN") or release(), "transfers")
        if not os.access(self.binary, os.X_OK):
            sys.exit(f"bench: no {self.binary}: run `swift build -c release` first")

    def __enter__(self):
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = tempfile.mkdtemp(prefix="transfers-bench.", dir=memory)
        build = os.path.join(ROOT, ".build")
        os.makedirs(build, exist_ok=True)
        self.disk = tempfile.mkdtemp(prefix="bench-ledgers.", dir=build)
        self.server = self.folder + "/nginx"
        try:
            subprocess.run([ROOT + "/tools/servers", "install", "nginx"], check=True)
            subprocess.run([ROOT + "/tools/servers", "start", "nginx", self.server], check=True, stdout=sys.stderr)
        except BaseException:
            self.__exit__()
            raise
        settings = dict(line.split("=", 1) for line in open(self.server + "/env").read().splitlines())
        self.ca = settings["CA_FILE"] if self.options.tls else None
        self.url = settings["TLS_URL"] if self.options.tls else open(self.server + "/url").read().strip()
        return self

    def __exit__(self, *_):
        if os.path.exists(self.server + "/pids"):
            subprocess.run([ROOT + "/tools/servers", "stop", self.server], check=True)
        shutil.rmtree(self.folder)
        shutil.rmtree(self.disk)

    def source(self, work):
        return f"{self.folder}/{work.name.replace(' ', '-')}"

    def make(self, work):
        """Bytes that do not compress and do not repeat within a file."""
        rng = random.Random(work.files)
        for name in work.names:
            path = f"{self.source(work)}/{name}"
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                for at in range(0, work.size, 1 << 20):
                    file.write(rng.randbytes(min(1 << 20, work.size - at)))

    def empty(self):
        """Takes away what the run before stored, and its ledger."""
        for folder in (self.server + "/data", self.disk):
            shutil.rmtree(folder)
            os.mkdir(folder)

    def compare(self, work, every_byte):
        for name in work.names:
            sent, arrived = f"{self.source(work)}/{name}", f"{self.server}/data/in/{name}"
            if not os.path.exists(arrived) or os.path.getsize(arrived) != work.size:
                sys.exit(f"bench: {name} did not arrive whole")
            if every_byte and not filecmp.cmp(sent, arrived, shallow=False):
                sys.exit(f"bench: {name} arrived with other bytes")

    def server_pids(self):
        """The master and its workers."""
        master = int(open(self.server + "/pids").readline())
        with open(f"/proc/{master}/task/{master}/children") as file:
            return [master, *map(int, file.read().split())]


def release():
    words = ["swift", "build", "--package-path", ROOT, "-c", "release", "--show-bin-path"]
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
