"""The command lines for downloads from a bucket: nginx answers GetObject and HeadObject for the same files, without a
checksum and without looking at signatures, so that the source costs what it costs for the other downloads. Listings are
not part of it: every client gets the list of keys."""

import clients
import fetchers


class S3Fetcher(fetchers.Fetcher):
    """The bucket is the folder of the works."""

    protocol = "s3-get"

    @property
    def endpoint(self):
        return self.url.rpartition("/")[0]

    @property
    def bucket(self):
        return self.url.rpartition("/")[2]


class S5cmd(S3Fetcher):
    """Ranges of 50 MiB; five of one file at a time."""

    name = "s5cmd"

    def command(self, work):
        words = [self.at.peers["s5cmd"], "--endpoint-url", self.endpoint, "--numworkers", self.workers, "--log", "error"]
        lines = self.list(work, f"cp s3://{self.bucket}/{work.name}/{{name}} {{folder}}/{{name}}\n")
        return [*words, "run", lines]

    def environment(self):
        return super().environment(**({"AWS_CA_BUNDLE": self.ca} if self.ca else {}))


class Rclone(S3Fetcher):
    """Sends a HEAD for each file first; fetches files of 250 MiB and more in four parallel ranges."""

    name = "rclone"

    def command(self, work):
        words = [self.tool("rclone"), "copy", "--config", "", "--transfers", self.workers, "--checkers", self.workers]
        words += ["--retries", "1", "--multi-thread-streams", self.segments, *(["--ca-cert", self.ca] if self.ca else [])]
        words += ["--s3-provider", "Other", "--s3-env-auth", "--s3-endpoint", self.endpoint]
        return [*words, "--no-traverse", "--files-from-raw", self.list(work, "{name}\n"), f":s3:{self.bucket}/{work.name}/", self.folder]


class Transfers(S3Fetcher, clients.Transfers):
    """With its ledger, which is created anew for each run; every range has If-Match."""

    def command(self, work):
        words = [self.at.binary, "pull", "--quiet", "--workers", self.workers, *(["--ca-file", self.ca] if self.ca else [])]
        words += ["--endpoint-url", self.endpoint, "--base-url", f"s3://{self.bucket}/{work.name}/"]
        if work.files == 1:
            return [*words, work.names[0], self.folder]
        return [*words, "--files-from", self.list(work, "{name}\n"), self.folder]


ALL = [S5cmd, Rclone, Transfers]
