"""One pull of several files that change on their server meanwhile, and the checks of its results."""

import dataclasses
import os
import shutil
import signal
import subprocess
import time
import urllib.parse

import ledger as ledgers
import pulls

DOCUMENTED = (0, 3, 4, 5, 8, 78)  # of transfers help exit-codes, for changed or refused files
KIB = 1 << 10
PULLED = "SELECT path, state, cause, message, finished_at, confirmed_by, id FROM v_files WHERE state <> 'superseded'"


class Source:
    """A file on the server, and all versions that it had."""

    def __init__(self, path, rng, way, fresh):
        self.path, self.rng, self.way = path, rng, way
        self.versions, self.changed_ms = [], []
        self.put(rng.randbytes(rng.randrange(150 * KIB, 500 * KIB)))
        if not fresh:
            os.utime(path, (time.time() - 100, time.time() - 100 - rng.random()))

    def put(self, data):
        """Writes a version: as a new file that takes the name, or into the same file."""
        self.versions.append(data)
        if self.way == "in place" and os.path.exists(self.path):
            self.write(self.path, os.O_WRONLY | (os.O_TRUNC if os.path.getsize(self.path) != len(data) else 0))
            return
        self.write(self.path + ".new", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        os.rename(self.path + ".new", self.path)

    def write(self, path, flags):
        descriptor = os.open(path, flags, 0o644)
        os.write(descriptor, self.versions[-1])
        os.close(descriptor)

    def change(self):
        length = len(self.versions[-1])
        if self.rng.random() < 0.3:
            length = self.rng.randrange(150 * KIB, 500 * KIB)
        self.put(self.rng.randbytes(length))
        self.changed_ms.append(time.time() * 1000)

    def is_put_together(self, data):
        """Each byte occurs at its position in some version."""
        return all(any(i < len(v) and v[i] == byte for v in self.versions) for i, byte in enumerate(data))


@dataclasses.dataclass
class Outcome:
    name: str
    problems: list = dataclasses.field(default_factory=list)
    moments: int = 0  # changes of files that were not done by then
    torn: int = 0  # files that the server itself mixed while they were rewritten in place
    refused: int = 0  # files that the program refused to fetch from such a server


class ChangeCase:
    """`way` is "rename" or "in place". A third of the pulls are killed once or twice, and files change in between."""

    files = 12

    def __init__(self, server, name, program, folder, rng, way):
        self.server, self.name, self.program, self.rng, self.way = server, name, program, rng, way
        self.folder = os.path.join(folder, server.kind + "-" + name)
        self.into, self.store = self.folder + "/target", self.folder + "/ledger.db"
        self.data = f"{server.folder}/data/{name}"
        self.outcome = Outcome(name)
        self.said = []

    def run(self):
        os.makedirs(self.into)
        os.mkdir(self.data)
        fresh = self.rng.random() < 0.5
        names = [f"f{n}" for n in range(self.files)]
        self.sources = {name: Source(f"{self.data}/{name}", self.rng, self.way, fresh) for name in names}
        kills = self.rng.choice([0, 0, 0, 0, 1, 2])
        command = self.pull()
        for _ in range(kills):
            self.attempt(command, kill=self.rng.uniform(0.05, 1))
            for source in self.rng.sample(list(self.sources.values()), 3):
                source.change()
            command = ["run"] if self.is_recorded() else self.pull()
        self.attempt(command)
        self.finish()
        self.judge()
        self.write_or_remove()
        return self.outcome

    def is_recorded(self):
        """A kill at the very start leaves no ledger, or one without files."""
        if not ledgers.exists(self.store):
            return False
        with ledgers.Ledger(self.store) as ledger:
            return bool(ledger.files())

    def pull(self):
        part = self.rng.choice([["--part-size", "64K"], ["--part-size", "64K"], []])
        url = f"{self.server.url}/{urllib.parse.quote(self.name)}/"
        return ["pull", *part, "--rate", "6M", *(url + name for name in self.sources), self.into]

    def attempt(self, arguments, kill=None):
        """Runs the program, and changes each file at most twice while it runs."""
        moments = [(self.rng.uniform(0, 1.5), source) for source in self.sources.values() for _ in range(self.rng.choice([0, 1, 1, 2]))]
        began = time.monotonic()
        process = self.start(arguments)
        for at, source in sorted(moments, key=lambda moment: moment[0]):
            if kill is not None and at > kill or self.has_ended(process, began + at - time.monotonic()):
                break
            source.change()
        if kill is not None and not self.has_ended(process, began + kill - time.monotonic()):
            process.send_signal(signal.SIGKILL)
        self.end(process, arguments, kill)

    def start(self, arguments):
        said = open(self.folder + "/said.txt", "ab")
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        environment = kept | {"HOME": self.folder, "TRANSFERS_STORE": self.store}
        with said:
            said.write(f"$ {' '.join(arguments[:4])} …\n".encode())
            said.flush()
            return subprocess.Popen(
                [self.program, *arguments], env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said
            )

    @staticmethod
    def has_ended(process, seconds):
        try:
            process.wait(max(0, seconds))
        except subprocess.TimeoutExpired:
            return False
        return True

    def end(self, process, arguments, kill=None):
        if not self.has_ended(process, 120):
            process.kill()
            process.wait()
            self.outcome.problems.append(f"{arguments[0]} did not end within 120 s")
        elif process.returncode not in DOCUMENTED and not (kill is not None and process.returncode == -signal.SIGKILL):
            self.outcome.problems.append(f"{arguments[0]} ended with {process.returncode}")
        self.look_at_names()
        return process.returncode

    def finish(self):
        """No more changes: the rest is fetched, and failed files are retried once."""
        code = self.end(self.start(["run"]), ["run"])
        if code != 0:
            self.end(self.start(["retry", "--state", "failed"]), ["retry"])
            self.end(self.start(["run"]), ["run"])
        if self.end(self.start(["store", "check"]), ["store check"]) != 0:
            self.outcome.problems.append("store check found something")

    # MARK: checks

    def look_at_names(self):
        """A name does not exist, or has a file that somebody could have read from the server."""
        for name in os.listdir(self.into):
            if pulls.PARTIAL.fullmatch(os.fsencode(name)):
                continue
            with open(f"{self.into}/{name}", "rb") as file:
                data = file.read()
            source = self.sources[name]
            if data in source.versions or self.way == "in place" and source.is_put_together(data):
                continue
            problem = f"{name} has {len(data)} bytes of no version: {self.make_up(data, source)}"
            if problem not in self.outcome.problems:
                self.outcome.problems.append(problem)

    def make_up(self, data, source):
        """The version of each 64 KiB."""
        blocks = range(0, len(data), 64 * KIB)
        same = [[n for n, v in enumerate(source.versions) if v[at : at + 64 * KIB] == data[at : at + 64 * KIB]] for at in blocks]
        return f"versions {same} of lengths {[len(v) for v in source.versions]}"

    def judge(self):
        with ledgers.Ledger(self.store) as ledger:
            rows = {os.path.basename(os.fsdecode(row[0])): row[1:] for row in ledger.rows(PULLED)}
            etags = {row[0]: row[1] for row in ledger.rows("SELECT file_id, count(DISTINCT etag) FROM v_chunks GROUP BY file_id")}
        for name, source in self.sources.items():
            state, cause, message, finished_ms, proof, file = rows.get(name, (None,) * 6)
            if state == "done":
                self.outcome.moments += sum(at < finished_ms for at in source.changed_ms)
                self.judge_done(name, source, proof, etags.get(file, 1))
            elif cause == "proto.unsupported":
                self.outcome.refused += 1
            else:
                self.outcome.problems.append(f"{name} is {state}: {cause}: {message}")
        left = [name for name in os.listdir(self.into) if pulls.PARTIAL.fullmatch(os.fsencode(name))]
        if left:
            self.outcome.problems.append(f"partial files left: {left}")

    def judge_done(self, name, source, proof, etags):
        path = f"{self.into}/{name}"
        if not os.path.exists(path):
            self.outcome.problems.append(f"{name} is done, but missing")
            return
        with open(path, "rb") as file:
            data = file.read()
        if data in source.versions:
            return
        if self.way == "rename":
            return  # already reported
        # Rewritten in place while the server read it. Only the answers can show that; a different version in one of
        # them, or a digest that differs, must have been noticed.
        self.outcome.torn += 1
        if etags > 1 or self.server.kind == "receiver" and proof != "digest":
            self.outcome.problems.append(f"{name}: the answers said that it changed ({etags} ETags, proof {proof})")

    def write_or_remove(self):
        if not self.outcome.problems:
            shutil.rmtree(self.folder)
            shutil.rmtree(self.data)
