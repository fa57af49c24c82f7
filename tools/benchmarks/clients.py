"""The command lines that are compared. Each copies a folder to an empty prefix, with its own settings for parts."""

import os
import shutil

from servers import BUCKET

KEYS = {"AWS_ACCESS_KEY_ID": "AKIABENCHMARK", "AWS_SECRET_ACCESS_KEY": "not-a-secret", "AWS_REGION": "us-east-1"}


class Client:
    """`at` is a Place. `protocol` is `put`, `s3-signed`, `s3-unsigned`, or `s3` for the client's default; `line` is
    `plain` or `tls`."""

    def __init__(self, at, protocol, line, url, ca):
        self.at, self.protocol, self.line, self.url = at, protocol, line, url
        self.ca = ca if line == "tls" else None
        self.workers = str(at.options.workers)
        self.is_s3 = protocol.startswith("s3")

    def environment(self, **more):
        # Excludes the user's settings for AWS or a proxy: AWS_CA_BUNDLE alone breaks rclone 1.60.
        kept = ("PATH", "LANG", "HOME", "TMPDIR")
        return {name: os.environ[name] for name in kept if name in os.environ} | (KEYS if self.is_s3 else {}) | more

    def prepare(self, work):
        """Runs before each measured run, outside of its time."""

    @staticmethod
    def fits(protocol, work):
        """Whether the comparison is worth the time."""
        return True


class Curl(Client):
    """One file by `-T`, many by `-Z`. Over S3 it signs the request but not the body (`UNSIGNED-PAYLOAD`), and sends no
    checksum."""

    name = "curl"

    def command(self, work):
        # Without `Expect: 100-continue`, which transfers does not send either.
        words = [self.at.peers["curl"], "-q", "--silent", "--no-progress-meter", "--show-error", "--fail", "--header", "Expect:"]
        words += ["--cacert", self.ca] if self.ca else []
        base = f"{self.url}/{BUCKET}/in" if self.is_s3 else f"{self.url}/in"
        words += ["--aws-sigv4", "aws:amz:us-east-1:s3", "--user", ":".join(list(KEYS.values())[:2])] if self.is_s3 else []
        if work.files == 1:
            return [*words, "--output", "/dev/null", "-T", f"{self.at.source(work)}/{work.names[0]}", f"{base}/{work.names[0]}"]
        return [*words, "-Z", "--parallel-max", self.workers, "-K", self.list(work, base)]

    def list(self, work, base):
        path = f"{self.at.folder}/curl-list"
        with open(path, "w") as file:
            for name in work.names:
                file.write(f'upload-file = "{self.at.source(work)}/{name}"\nurl = "{base}/{name}"\noutput = /dev/null\n')
        return path


class S5cmd(Client):
    name = "s5cmd"

    def command(self, work):
        words = [self.at.peers["s5cmd"], "--endpoint-url", self.url, "--numworkers", self.workers, "--log", "error"]
        return [*words, "cp", self.at.source(work) + "/", f"s3://{BUCKET}/in/"]

    def environment(self):
        return super().environment(**({"AWS_CA_BUNDLE": self.ca} if self.ca else {}))


class Rclone(Client):
    """By WebDAV, or by S3: large files in signed parts, small ones by presigned requests with MD5."""

    name = "rclone"

    @staticmethod
    def fits(protocol, work):
        # Its WebDAV waits 10 ms before each of about four requests a file: 25 files a second with any server.
        return protocol != "put" or work.files <= 1000

    def command(self, work):
        words = [self.at.peers["rclone"], "copy", "--config", "", "--transfers", self.workers, "--checkers", self.workers]
        words += ["--retries", "1", *(["--ca-cert", self.ca] if self.ca else []), self.at.source(work)]
        if self.is_s3:
            flags = ["--s3-provider", "Other", "--s3-env-auth", "--s3-no-check-bucket", "--s3-endpoint", self.url]
            return [*words, f":s3:{BUCKET}/in", *flags]
        return [*words, ":webdav:in", "--webdav-vendor", "other", "--webdav-url", self.url]


class Transfers(Client):
    name = "transfers"

    def command(self, work):
        words = [self.at.binary, "push", "--quiet", "--workers", self.workers, *(["--ca-file", self.ca] if self.ca else [])]
        if not self.is_s3:
            return [*words, self.at.source(work) + "/", f"{self.url}/in/"]
        words += ["--endpoint-url", self.url, *(["--unsigned-payload"] if self.protocol == "s3-unsigned" else [])]
        return [*words, self.at.source(work) + "/", f"s3://{BUCKET}/in/"]

    def environment(self):
        return super().environment(TRANSFERS_STORE=f"{self.at.disk}/ledger/transfers.db")

    def prepare(self, work):
        shutil.rmtree(f"{self.at.disk}/ledger", ignore_errors=True)
        os.mkdir(f"{self.at.disk}/ledger")


# The clients that are compared. The protection of the bodies is printed beside the results, as the server saw it. Over
# TLS transfers signs no body, and s5cmd signs all of them.
GROUPS = {
    ("put", "plain"): [Curl, Rclone, Transfers],
    ("put", "tls"): [Curl, Rclone, Transfers],
    ("s3-signed", "plain"): [S5cmd, Rclone, Transfers],
    ("s3-unsigned", "plain"): [Curl, Transfers],
    ("s3", "tls"): [Curl, S5cmd, Rclone, Transfers],
}
