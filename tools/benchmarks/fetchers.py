"""The command lines for downloads. Each fetches the files of a work into an empty folder."""

import os
import shutil

import built
import clients


class Fetcher(clients.Client):
    """`url` is the folder of the works, each of which has a folder of its name. A file is fetched over `segments`
    connections."""

    protocol = "get"
    segments = "4"
    kinds = {"plain", "tls"}

    @property
    def folder(self):
        return f"{self.at.folder}/fetched"

    def address(self, work, name):
        return f"{self.url}/{work.name}/{name}"

    def list(self, work, line="{url}\n"):
        """A list with a line for each file of the work."""
        path = f"{self.at.folder}/{self.name}-list"
        with open(path, "w") as file:
            for name in work.names:
                file.write(line.format(url=self.address(work, name), name=name, folder=self.folder))
        return path

    def tool(self, name):
        return self.at.fetchers[name]


class Curl(Fetcher):
    """One file over one connection."""

    name = "curl"

    def command(self, work):
        words = [self.tool("curl"), "-q", "--silent", "--no-progress-meter", "--show-error", "--fail", "--create-dirs"]
        words += ["--cacert", self.ca] if self.ca else []
        listed = self.list(work, 'url = "{url}"\noutput = "{folder}/{name}"\n')
        return [*words, "-Z", "--parallel-max", self.workers, "-K", listed]


class Wget2(Fetcher):
    """One file over one connection: with --chunk-size wget2 1.99.1 does not terminate."""

    name = "wget2"

    def command(self, work):
        words = [self.tool("wget2"), "--quiet", "--no-config", "--max-threads", self.workers]
        words += ["--ca-certificate", self.ca] if self.ca else []
        return [*words, "--force-directories", "--no-host-directories", "--cut-dirs=2", "-P", self.folder, "-i", self.list(work)]


class Aria2c(Fetcher):
    name = "aria2c"

    def command(self, work):
        words = [self.tool("aria2c"), "--no-conf", "--quiet", "--file-allocation=falloc", "-j", self.workers, "-x", self.segments]
        words += ["-s", self.segments, *(["--ca-certificate", self.ca] if self.ca else [])]
        return [*words, "-d", self.folder, "-i", self.list(work, "{url}\n  out={name}\n")]


class Axel(Fetcher):
    """One file only; it accepts no certificate authorities."""

    name = "axel"
    kinds = {"plain"}

    @staticmethod
    def fits(protocol, work):
        return work.files == 1

    def prepare(self, work):
        os.makedirs(os.path.dirname(f"{self.folder}/{work.names[0]}"))

    def command(self, work):
        name = work.names[0]
        return [self.tool("axel"), "-q", "-n", self.segments, "-o", f"{self.folder}/{name}", self.address(work, name)]


class Rclone(Fetcher):
    """Reads the folder first, from nginx's index; fetches files of 250 MiB and more in four parallel ranges."""

    name = "rclone"

    def command(self, work):
        words = [self.tool("rclone"), "copy", "--config", "", "--transfers", self.workers, "--checkers", self.workers]
        words += ["--retries", "1", "--multi-thread-streams", self.segments, *(["--ca-cert", self.ca] if self.ca else [])]
        return [*words, "--http-url", f"{self.url}/{work.name}", ":http:", self.folder]


class HFTransfer(Fetcher):
    """One file only; it uses only the authorities of the system. Its time includes the start of Python."""

    name = "hf_transfer"
    kinds = {"plain"}
    fits, prepare = Axel.fits, Axel.prepare

    def command(self, work):
        name = work.names[0]
        script = os.path.join(built.HERE, "peers", "fetch_hf.py")
        return [self.tool("hf_transfer"), script, self.address(work, name), f"{self.folder}/{name}", "8"]


class AWSCRT(Fetcher):
    """From nginx as a bucket, unsigned. Its time includes the start of Python."""

    name = "awscrt"
    kinds = {"plain"}

    def command(self, work):
        script = os.path.join(built.HERE, "peers", "fetch_awscrt.py")
        host, bucket = self.url.removeprefix("http://").split("/", 1)
        return [self.tool("awscrt"), script, host, f"{bucket}/{work.name}", self.list(work, "{name}\n"), self.folder]


class Transfers(Fetcher, clients.Transfers):
    """With its ledger, which is created anew for each run."""

    def command(self, work):
        words = [self.at.binary, "pull", "--quiet", "--workers", self.workers, *(["--ca-file", self.ca] if self.ca else [])]
        if work.files == 1:
            return [*words, "--base-url", f"{self.url}/{work.name}/", work.names[0], self.folder]
        return [*words, "--files-from", self.list(work, "{name}\n"), "--base-url", f"{self.url}/{work.name}/", self.folder]


LIBRARIES = {"hf_transfer": "hf_transfer==0.1.9", "awscrt": "awscrt==0.38.1"}
ALL = [Curl, Wget2, Aria2c, Axel, Rclone, HFTransfer, AWSCRT, Transfers]


def tools():
    """The paths of the programs, by name, installed if missing. For a library, a Python that has it."""
    built.shell("need curl:curl wget2:wget2 aria2c:aria2 axel:axel rclone:rclone >&2")
    found = {name: shutil.which(name) for name in ("curl", "wget2", "aria2c", "axel", "rclone")}
    for name, requirement in LIBRARIES.items():
        words = 'private_python "$root/.build/tools/$2" "$2" "$3"'
        found[name] = built.shell(words, name, requirement)
    return found
