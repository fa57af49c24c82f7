"""The programs of this repository, killed at one of the calls that change a file (tools/crash/shim.c)."""

import dataclasses
import os
import signal
import subprocess
import tempfile


@dataclasses.dataclass
class Ended:
    code: int
    out: str
    err: str

    @property
    def was_killed(self):
        return self.code == -signal.SIGKILL


class Programs:
    def __init__(self, root):
        self.folder = os.environ.get("TRANSFERS_BIN") or os.path.join(root, ".build", "dist")
        words = 'set -eu; root=$1; source "$1/tools/lib/say.sh"; source "$1/tools/lib/binaries.sh"; build_shim'
        built = subprocess.run(["bash", "-c", words, "shim", root], check=True, stdout=subprocess.PIPE, text=True)
        self.shim = built.stdout.strip()

    def run(self, words, kill=None, names=None, settings=None):
        """`kill` is before:N, after:N, or power:N: a power cut, which also undoes unsynced renames and removals of
        names that contain `names`. `settings` are those of the shim."""
        settings = dict(settings or {})
        if kill:
            how, _, at = kill.partition(":")
            settings["SHIM_KILL_AFTER" if how == "after" else "SHIM_KILL_BEFORE"] = at
            if how == "power":
                settings |= {"SHIM_POWER": "1"} | ({"SHIM_POWER_NAMES": names} if names else {})
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("TRANSFERS_", "SHIM_"))}
        if settings:
            environment |= {"LD_PRELOAD": self.shim, "SHIM_CLASSES": "file"} | settings
        ended = subprocess.run(
            [os.path.join(self.folder, "transfers"), *words], capture_output=True, timeout=120, check=False, env=environment)
        return Ended(ended.returncode, ended.stdout.decode(errors="replace"), ended.stderr.decode(errors="replace"))

    @staticmethod
    def calls(perform):
        """The calls of a run without a kill, as lines; `perform` runs the command with settings for the shim."""
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "calls")
            ended = perform({"settings": {"SHIM_LOG": log}})
            if ended.code != 0:
                raise SystemExit(f"without a kill: {ended}")
            with open(log, encoding="utf-8", errors="replace") as file:
                return file.read().splitlines()


class Receiver:
    def __init__(self, programs, root):
        self.objects = os.path.join(root, "objects")
        os.mkdir(self.objects)
        self.process = subprocess.Popen(
            [os.path.join(programs.folder, "transfers-receiver"), "--quiet", "--dir", self.objects],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.url = self.process.stdout.readline().decode().strip()

    def object(self, path):
        return content(os.path.join(self.objects, path))

    def stop(self):
        self.process.terminate()
        self.process.wait()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def content(path):
    """The content of a file; None if it does not exist."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
