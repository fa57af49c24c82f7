"""The receiver of the build, its record, and the checks of this script."""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "tools", "lib"))

from whole_lines import whole_lines  # noqa: E402

results = []


def programs():
    return os.environ.get("TRANSFERS_BIN") or os.path.join(ROOT, ".build", "dist")


def check(name, *facts):
    """Each fact is (subject, whether it holds)."""
    wrong = [what for what, holds in facts if not holds]
    results.append(not wrong)
    print(("ok      " if not wrong else "FAILED  ") + name, flush=True)
    for what in wrong:
        print("        " + str(what)[:2000].replace("\n", "\n        "))


class Receiver:
    """Runs as long as the `with` block; its folder is removed with it."""

    def __init__(self, *rules):
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = tempfile.mkdtemp(prefix="receiver-clients-", dir=base)
        with open(self.path("script"), "w") as script:
            script.write("".join(rule + "\n" for rule in rules))

    def path(self, name):
        return os.path.join(self.folder, name)

    def __enter__(self):
        flags = ["--dir", self.path("objects"), "--record", self.path("record"), "--script", self.path("script")]
        self.process = subprocess.Popen(
            [os.path.join(programs(), "transfers-receiver"), "--quiet", *flags], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.url = self.process.stdout.readline().decode().strip()
        self.port = int(self.url.rsplit(":", 1)[1])
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)

    def object(self, name):
        try:
            with open(os.path.join(self.path("objects"), name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def record(self):
        events = [json.loads(line) for line in whole_lines(self.path("record"))]
        for event in events:
            event["path"] = base64.b64decode(event.get("path_b64", "")).decode()
        return events

    def ranges(self, name):
        """(offset, length) of the bytes received for an object, in order, without empty bodies."""
        return [(e["offset"], e["length"]) for e in self.record() if (e["t"], e["path"]) == ("bytes", name) and e["length"]]

    def commits(self, name):
        return [event["size"] for event in self.record() if (event["t"], event["path"]) == ("commit", name)]

    def peak_memory(self):
        """Bytes, since the start."""
        with open(f"/proc/{self.process.pid}/status") as lines:
            return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))


def sample(count):
    """Bytes that look random and are always the same."""
    block = bytes((i * 31 + (i >> 8)) & 255 for i in range(1 << 16))
    return (block * (count // len(block) + 1))[:count]
