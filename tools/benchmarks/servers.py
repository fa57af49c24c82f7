"""The servers that the clients send to: nginx for PUT, the S3 sink of this folder for S3; each with and without TLS."""

import filecmp
import os
import shutil
import subprocess
import sys
import urllib.request

import built

SERVERS = os.path.join(built.ROOT, "tools", "servers")
BUCKET = "bench"


class Wrong(Exception):
    """Something arrived incomplete or corrupted."""


class Nginx:
    """Stores files below its folder, so that they can be compared."""

    def __init__(self, folder):
        self.folder = folder
        subprocess.run([SERVERS, "install", "nginx"], check=True, stdout=sys.stderr)
        subprocess.run([SERVERS, "start", "nginx", folder], check=True, stdout=sys.stderr)
        settings = dict(line.split("=", 1) for line in open(folder + "/env").read().splitlines())
        self.ca = settings["CA_FILE"]
        self.urls = {"plain": open(folder + "/url").read().strip(), "tls": settings["TLS_URL"]}

    def stop(self):
        subprocess.run([SERVERS, "stop", self.folder], check=True)

    def pids(self):
        """The process IDs of the master and its worker."""
        master = int(open(self.folder + "/pids").readline())
        with open(f"/proc/{master}/task/{master}/children") as file:
            return [master, *map(int, file.read().split())]

    def empty(self):
        shutil.rmtree(f"{self.folder}/data/in", ignore_errors=True)

    def compare(self, source, work, crcs, every_byte):
        for name in work.names:
            arrived = f"{self.folder}/data/in/{name}"
            if not os.path.exists(arrived) or os.path.getsize(arrived) != work.size:
                raise Wrong(f"{name} did not arrive whole")
            if every_byte and not filecmp.cmp(f"{source}/{name}", arrived, shallow=False):
                raise Wrong(f"{name} arrived corrupted")
        return "not requested"


class Sink:
    """The S3 sink: digests everything and stores nothing. It needs one process with and one without TLS, as TLS has a
    port of its own."""

    def __init__(self, line, is_strict, certificate):
        self.port = int(built.shell("source tools/lib/processes.sh; free_ports 1"))
        words = [built.sink(), "--port", str(self.port)]
        words += ["--strict"] if is_strict else []
        words += ["--tls", f"{certificate}/server.pem", f"{certificate}/server.key"] if line == "tls" else []
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL)
        self.ca = f"{certificate}/ca.pem"
        self.context = None
        if line == "tls":
            import ssl

            self.context = ssl.create_default_context(cafile=self.ca)
        self.url = f"{'https' if line == 'tls' else 'http'}://127.0.0.1:{self.port}"
        built.shell('source tools/lib/processes.sh; wait_until 10 listens "$2"', str(self.port))

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def pids(self):
        return [self.process.pid]

    def ask(self, path, method="GET"):
        request = urllib.request.Request(f"{self.url}/-/{path}", method=method)
        with urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=self.context)
        ).open(request) as answer:
            return answer.read().decode()

    def empty(self):
        self.ask("reset", "POST")

    def compare(self, source, work, crcs, every_byte):
        """Checks every byte of every object in every round by its CRC, and returns what protected them in transit."""
        arrived = {key: (int(size), crc) for key, size, crc, _ in (line.split("\t") for line in self.ask("objects").splitlines())}
        for name in work.names:
            size, crc = arrived.pop(f"/{BUCKET}/in/{name}", (None, None))
            if size != work.size:
                raise Wrong(f"{name} did not arrive whole")
            if crc != crcs[name]:
                raise Wrong(f"{name} arrived corrupted")
        if arrived:
            raise Wrong(f"{next(iter(arrived))} arrived unexpectedly")
        return self.integrity()

    def integrity(self):
        counted = {name: int(count) for name, count in (line.split() for line in self.ask("counters").splitlines())}
        bodies = max(1, counted["puts"] + counted["parts"])
        kinds = {"SHA-256": "signed_payloads", "MD5": "md5s", "CRC-64": "crc64s", "other": "other_checksums"}
        return " + ".join(kind for kind, counter in kinds.items() if counted[counter] >= 0.9 * bodies) or "none"
