"""Where a benchmark runs: sources and server data in memory, ledgers on the normal disk, servers on loopback."""

import os
import shutil
import tempfile

import built
import servers
import work as works


class Place:
    def __init__(self, options):
        self.options = options
        self.binary = built.transfers(options.binary)
        self.peers = built.peers() if options.needs_peers else {"curl": shutil.which("curl")}
        self.running, self.expected = {}, {}

    def __enter__(self):
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = tempfile.mkdtemp(prefix="transfers-bench.", dir=memory)
        build = os.path.join(built.ROOT, ".build")
        os.makedirs(build, exist_ok=True)
        self.disk = tempfile.mkdtemp(prefix="bench-ledgers.", dir=build)
        return self

    def __exit__(self, *_):
        for server in self.running.values():
            server.stop()
        shutil.rmtree(self.folder)
        shutil.rmtree(self.disk)

    def nginx(self):
        if "nginx" not in self.running:
            self.running["nginx"] = servers.Nginx(self.folder + "/nginx")
        return self.running["nginx"]

    def server(self, protocol, line):
        """The server of a group, and its URL. The certificate authority is nginx's in any case."""
        nginx = self.nginx()
        if protocol == "put":
            return nginx, nginx.urls[line]
        if ("s3", line) not in self.running:
            self.running["s3", line] = servers.Sink(line, self.options.strict, nginx.folder)
        sink = self.running["s3", line]
        return sink, sink.url

    def source(self, work):
        return f"{self.folder}/{work.name}"

    def make(self, work):
        works.make(self.source(work), work)
        self.expected[work] = works.crcs(self.source(work), work)
