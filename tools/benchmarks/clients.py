"""The two command lines that are compared."""

import os


class Client:
    def __init__(self, at, options):
        self.at, self.options = at, options

    def environment(self):
        kept = ("PATH", "LANG", "HOME", "TMPDIR")
        return {name: os.environ[name] for name in kept if name in os.environ}


class Curl(Client):
    name = "curl"

    def command(self, work):
        # Without `Expect: 100-continue`, which transfers does not send either.
        words = ["curl", "--silent", "--no-progress-meter", "--show-error", "--fail", "--output", "/dev/null", "--header", "Expect:"]
        words += ["--cacert", self.at.ca] if self.at.ca else []
        if work.files == 1:
            return [*words, "-T", f"{self.at.source(work)}/{work.names[0]}", f"{self.at.url}/in/{work.names[0]}"]
        return [*words, "-Z", "--parallel-max", str(self.options.workers), "-K", self.list(work)]

    def list(self, work):
        path = f"{self.at.folder}/curl-{work.files}"
        with open(path, "w") as file:
            for name in work.names:
                file.write(f'upload-file = "{self.at.source(work)}/{name}"\nurl = "{self.at.url}/in/{name}"\n')
                file.write("output = /dev/null\n")
        return path


class Transfers(Client):
    name = "transfers"

    def command(self, work):
        words = [self.at.binary, "push", "--quiet", "--workers", str(self.options.workers)]
        words += ["--ca-file", self.at.ca] if self.at.ca else []
        return [*words, self.at.source(work), f"{self.at.url}/in/"]

    def environment(self):
        return super().environment() | {"TRANSFERS_STORE": f"{self.at.disk}/ledger.db"}
