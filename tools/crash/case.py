"""One case: uploads a tree, kills the upload as planned, lets it recover, and compares source, server and ledger."""

import collections
import contextlib
import dataclasses
import os
import shutil
import time

import ledger as ledgers
import protocols


@dataclasses.dataclass
class Verdict:
    """The result of a case. `kills` counts those that hit; `reached` is true if the first one did."""

    name: str
    problems: list
    kills: int = 0
    reached: bool = False
    resent: int = 0


class Case:
    def __init__(self, name, target, runner, folder, source, content, plan, settle):
        self.name, self.target, self.runner, self.plan = name, target, runner, plan
        self.source, self.content = source, content
        self.folder = os.path.join(folder, name)
        self.store = os.path.join(self.folder, "ledger.db")
        self.said = []
        self.problems = []
        self.kills = 0
        self.settle = settle
        self.base = []
        self.sent_anew = set()  # files that a user restarted
        self.beginnings = 2  # how often each of them may begin

    def push(self):
        return ["push", *self.target.flags(self.name), *self.base, self.source, self.target.destination(self.name)]

    def perform(self, arguments, kill=None):
        number = len(self.said)
        ended = self.runner.run(arguments, self.folder, self.store, kill, log=f"{self.folder}/calls-{number}" if kill else None)
        self.said.append(ended)
        if ended.hung:
            self.problems.append(f"did not end within {self.runner.limit} s: {ended}")
        return ended

    def run(self):
        self.prepare()
        reached = self.perform_kills()
        self.recover()
        if not self.problems:
            self.check_ledger()
            self.check_server()
            self.check_secrets()
        verdict = Verdict(self.name, self.problems, self.kills, reached, getattr(self, "resent", 0))
        self.write_or_remove()
        return verdict

    @property
    def fair(self):
        """Exit codes of a run that was not hit: an earlier kill may have left files unknown if the protocol has no
        query."""
        return (0, 3, 4) if self.target.may_be_unknown else (0,)

    def prepare(self):
        os.makedirs(self.folder)
        if self.target.copies_source:
            self.source, self.base = protocols.copy_source(self.source, self.folder, self.name, self.target.left_out)
            self.content = {name: data for name, data in self.content.items() if name not in self.target.left_out}
        self.target.prepare(self.name)

    def perform_kills(self):
        """Runs the planned kills; the first command is a push, later ones are `run` if there is a ledger."""
        reached = False
        for number, kill in enumerate(self.plan):
            ended = self.perform(self.next_command(), kill)
            if ended.killed:
                time.sleep(self.settle / 1000)
                self.kills += 1
                reached = reached or number == 0
            allowed = self.allowed(kill) if ended.killed else self.fair
            if (kill.is_fault or not ended.killed) and ended.code not in allowed:
                self.problems.append(f"{kill}: {ended}")
            if kill.passes and ended.code in (0, 7):
                self.check_nothing_unknown(kill)
        return reached

    def next_command(self):
        return ["run"] if ledgers.exists(self.store) else self.push()

    def allowed(self, kill):
        """Exit codes of a run that a fault hit."""
        return (*self.fair, 7) if kill.is_fault else self.fair

    def check_nothing_unknown(self, kill):
        """A momentary failure of the disk loses no answer: it is recorded once the disk works again."""
        look = self.look()
        unknown = [file.key for file in look.files if file.state == "unknown"] if look else []
        left_open = [a for a in look.attempts if a.outcome == "open"] if look else []
        if unknown or left_open:
            self.problems.append(f"{kill}: unknown: {unknown}, attempts left open: {left_open}")

    def recover(self):
        """`run` must finish the recorded files; pushing again must add those that were not recorded, and nothing
        else."""
        before = self.look()
        if before:
            ended = self.perform(["run"])
            if ended.code not in self.fair:
                self.problems.append(f"the run after the kill: {ended}")
                return
            self.send_the_unknown()
        between = self.look()
        for file in between.files if between else []:
            if file.state != "done":
                self.problems.append(f"run exited 0, but {file.key!r} is {file.state}")
        ended = self.perform(self.push())
        if ended.code != 0:
            self.problems.append(f"pushing again: {ended}")
            return
        after = self.look()
        self.check_second_push(between, after)
        if before:
            self.check_probe(before, after)

    def send_the_unknown(self):
        """Files that cannot be queried stay unknown until a user, here this test, has them sent again. Only a request
        that was open at a kill may make a file unknown, and only if the protocol has no query."""
        look = self.look()
        unknown = {file.id for file in look.files if file.state == "unknown"}
        if not unknown or not self.target.may_be_unknown:
            return
        cut = {a.file_id for a in look.attempts if a.outcome in ("crashed", "interrupted", "unknown")}
        if unknown - cut:
            self.problems.append(f"unknown without an interrupted request: files {unknown - cut}")
        self.sent_anew = unknown
        before = len(look.attempts)
        self.perform(["run"])
        if len(self.look().attempts) != before:
            self.problems.append("an unknown file was sent again automatically")
        self.perform(["retry", "--reset", "--state", "unknown"])
        self.perform(["run"])

    def look(self):
        if not ledgers.exists(self.store):
            return None
        with ledgers.Ledger(self.store) as ledger:
            return Look(ledger.files(), ledger.chunks(), ledger.attempts(), ledger.open_sessions())

    def check_second_push(self, between, after):
        known = {file.id for file in between.files} if between else set()
        last = max((attempt.id for attempt in between.attempts), default=0) if between else 0
        for attempt in after.attempts:
            if attempt.id > last and attempt.file_id in known:
                self.problems.append(f"pushing again sent something for a file that was done: {attempt}")

    def check_probe(self, before, after):
        """An upload session that survived the kill: the server must be queried before anything more is sent."""
        if not self.target.asks:
            return
        last = max((attempt.id for attempt in before.attempts), default=0)
        sessions = {a.file_id for a in before.attempts if a.operation == "create" and a.outcome == "ok"} & before.sessions
        # If everything was acknowledged, no query is needed: the finish is requested, and checks the object.
        unsent = {chunk.file_id for chunk in before.chunks if chunk.state != "done"}
        unfinished = {file.id for file in before.files if file.state != "done"} & sessions & unsent - self.sent_anew
        for file in unfinished:
            # Aborting the upload that a lost create may have made is not a continuation.
            later = [a.operation for a in after.attempts if a.file_id == file and a.id > last and a.operation != "abort"]
            if later and later[0] not in ("probe", "verify"):
                self.problems.append(f"the session of file {file} was continued without asking the server: {later}")

    def name_of(self, file):
        """The name below the source folder, with which the key must end, whatever the prefix is."""
        return os.path.relpath(file.path, os.fsencode(self.source))

    def check_ledger(self):
        ended = self.perform(["store", "check"])
        if ended.code != 0:
            self.problems.append(f"store check: {ended.out.strip()[:400]} {ended}")
        with ledgers.Ledger(self.store) as ledger:
            self.problems += ledger.findings()
            files, attempts, chunks = ledger.files(), ledger.attempts(), ledger.chunks()
            if self.target.forgets_finished:
                self.sent_anew |= ledger.forgotten()
        if not self.done_as_it_should_be(files):
            self.problems.append(f"files: {sorted((self.name_of(file), file.state) for file in files)}")
        self.check_sent_again(files, chunks, attempts)

    def done_as_it_should_be(self, files):
        done = sorted(self.name_of(file) for file in files if file.state == "done")
        return done == sorted(name.encode() for name in self.content)

    def check_sent_again(self, files, chunks, attempts):
        """A chunk may be sent once more for each kill at which it was open, and for no other reason."""
        tries, refused = collections.defaultdict(list), collections.Counter()
        for attempt in attempts:
            if attempt.operation == "part":
                tries[attempt.chunk_id].append(attempt.outcome)
                refused[attempt.chunk_id] += attempt.error_code == self.wrong_content
        self.resent = 0
        for chunk in chunks:
            outcomes = tries[chunk.id]
            open_at_a_kill = sum(outcome in self.cut_off for outcome in outcomes)
            due = (self.beginnings if chunk.file_id in self.sent_anew else 1) + min(refused[chunk.id], 1)
            if open_at_a_kill > self.kills + self.cuts_of_others or len(outcomes) > due + open_at_a_kill:
                self.problems.append(f"chunk {chunk}: {outcomes} after {self.kills} kills")
            self.resent += max(0, len(outcomes) - 1) * chunk.length
        self.check_total(attempts)
        self.check_account(files, chunks, tries)
        self.check_received(files, chunks, tries)

    wrong_content = None  # error code that a server may wrongly give once for a chunk
    cuts_of_others = 0  # attempts of a chunk that something other than a kill may end

    @property
    def cut_off(self):
        """The outcomes of an attempt that a kill ended, or the engine itself when its ledger failed."""
        return ("crashed", "interrupted")

    def check_received(self, files, chunks, tries):
        """The server received each byte once, except for the chunks whose requests a kill interrupted."""
        received = self.target.received(self.name)
        if received is None:
            return
        allowed = self.due(files, chunks, tries)
        for name, count in received.items():
            if count > allowed.get(name, 0):
                self.problems.append(f"the server took {count} bytes for {name!r}; {allowed.get(name, 0)} expected")

    def due(self, files, chunks, tries):
        """{name: bytes} that the server may have received."""
        names = {file.id: self.name_of(file) for file in files}
        allowed = {names[file.id]: (file.size or 0) * (2 if file.id in self.sent_anew else 1) for file in files}
        for chunk in chunks:
            cut = sum(outcome != "ok" for outcome in tries[chunk.id])
            allowed[names[chunk.file_id]] += cut * chunk.length
        return allowed

    def check_total(self, attempts):
        """Each request on the wire is an attempt: no layer may silently repeat one."""
        seen = self.target.total(self.name)
        if seen is not None and seen > len(attempts):
            self.problems.append(f"the server saw {seen} requests; the ledger knows {len(attempts)} attempts")

    def check_account(self, files, chunks, tries):
        """The server must not have seen a request that is missing in the ledger: intentions are recorded first."""
        seen = self.target.requests(self.name)
        if seen is None:
            return
        known = collections.Counter()
        names = {file.id: file for file in files}
        parts = collections.Counter(chunk.file_id for chunk in chunks)
        for chunk in chunks:
            name = self.name_of(names[chunk.file_id])
            known[name, chunk.seq + 1 if parts[chunk.file_id] > 1 else 0] += len(tries[chunk.id])
        for (name, part), count in seen.items():
            if count > known[name, part]:
                self.problems.append(
                    f"the server saw {count} requests for {name!r} part {part}; the ledger knows {known[name, part]}"
                )

    def check_server(self):
        objects = self.target.objects(self.name)
        wanted = {name.encode(): data for name, data in self.content.items()}
        for name in sorted(objects.keys() | wanted.keys()):
            if name not in objects:
                self.problems.append(f"not at the server: {name!r}")
            elif name not in wanted:
                self.problems.append(f"at the server, but not in the source: {name!r}")
            elif objects[name] != wanted[name]:
                self.problems.append(f"bytes differ: {name!r}, {len(objects[name])} of {len(wanted[name])}")
        for key, upload in self.target.open_uploads(self.name):
            self.problems.append(f"multipart upload left open: {upload!r} of {key!r}")

    def check_secrets(self):
        texts = [ended.out.encode() + ended.err.encode() for ended in self.said]
        for suffix in ("", "-wal"):
            with contextlib.suppress(FileNotFoundError), open(self.store + suffix, "rb") as file:
                texts.append(file.read())
        for secret in self.target.secrets():
            if any(secret.encode() in text for text in texts):
                self.problems.append("a secret key is in the ledger or in the output")

    def write_or_remove(self):
        if not self.problems:
            shutil.rmtree(self.folder)
            self.target.clean(self.name)
            return
        with open(f"{self.folder}/said.txt", "w") as file:
            for ended in self.said:
                file.write(f"$ {' '.join(ended.command)}\n{ended.out}{ended.err}exit {ended.code}\n\n")


Look = collections.namedtuple("Look", "files chunks attempts sessions")
