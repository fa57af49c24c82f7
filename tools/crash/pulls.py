"""Downloads from the receiver: the files on the server, how they are fetched, and what the folder must contain
afterwards."""

import base64
import collections
import hashlib
import os
import re
import shutil
import urllib.parse
from xml.sax import saxutils

import case as cases
import ledger as ledgers
import targets

PARTIAL = re.compile(rb"\..+\.[0-9a-f]{32}\.part", re.DOTALL)
OLD = b"what stood here before\n"


class PullCase(cases.Case):
    """A case of an upload with source and target exchanged: the source is on the server, and the folder is checked."""

    stranger = None  # a name under which somebody else made a file after the kill

    @property
    def into(self):
        return os.path.join(self.folder, "target")

    def prepare(self):
        os.makedirs(self.into)
        self.target.publish(self.name, self.source)
        self.target.prepare(self.name)
        if self.target.replaces:
            for name in self.content:
                self.make_file(name.encode(), self.old(name.encode()))
        if self.target.lists:
            with open(self.sums, "w") as file:
                file.writelines(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in self.content.items())

    @property
    def sums(self):
        return os.path.join(self.folder, "SHA256SUMS")

    def push(self, names=None):
        base = self.target.destination(self.name)
        words = ["pull", *self.target.flags(self.name), "--base-url", base]
        if self.target.lists:
            return [*words, "--files-from", self.sums, self.into]
        return [*words, *(base + urllib.parse.quote(name) for name in names or self.content), self.into]

    def perform(self, arguments, kill=None):
        ended = super().perform(arguments, kill)
        self.check_folder(f"after {arguments[0]}" + (f" with {kill}" if kill else ""))
        return ended

    def allowed(self, kill):
        """Files wait while there is no room for them; one whose disk fails has failed, and the others continue."""
        if kill.how == "room":
            return (*self.fair, 5, 7)
        return (*self.fair, 3, 4, 7) if kill.is_fault else self.fair

    @property
    def fair(self):
        """Exit codes of a run that was not hit: cancelled files count as well."""
        return (0, 3, 4) if self.target.cancels else (0,)

    def next_command(self):
        """Files are cancelled after the first kill: later kills hit its completion."""
        command = super().next_command()
        if command == ["run"] and self.target.cancels:
            self.perform(["cancel", "--all"])
        return command

    @property
    def cut_off(self):
        failing = self.target.meddles or any(kill.how in ("room", "disk") for kill in self.plan)
        return (*super().cut_off, "fatal") if failing else super().cut_off

    def recover(self):
        look = self.look()
        cancels = self.target.cancels and look and look.files
        if cancels:
            self.perform(["cancel", "--all"])
        if look and self.target.meddles:
            self.meddle(look)
        if look:
            self.finish()
        if self.stranger:
            self.make_way()
        if not cancels:
            self.fetch_the_rest()

    def finish(self):
        """`run` finishes the recorded files; those that failed because of a disk fault are retried first. Those that
        waited for room continue by themselves."""
        if any(kill.is_fault and kill.how != "room" for kill in self.plan):
            self.perform(["retry", "--state", "failed"])
        ended = self.perform(["run"])
        if ended.code not in ((3, 4) if self.stranger else self.fair):
            self.problems.append(f"the run after the kill: {ended}")

    def old(self, name):
        """What has the name first, if something is replaced."""
        return OLD

    def meddle(self, look):
        """Somebody replaces all partial files with other files, and creates one where nothing has arrived yet."""
        found = self.found()
        for name, data in found.items():
            if PARTIAL.fullmatch(os.path.basename(name)):
                self.make_file(name + b".new", bytes(len(data)))
                os.rename(os.path.join(os.fsencode(self.into), name + b".new"), os.path.join(os.fsencode(self.into), name))
        absent = {self.name_of(file) for file in look.files if file.state != "done"} - found.keys()
        self.sent_anew, self.cuts_of_others = {file.id for file in look.files}, 1
        if absent:
            self.stranger = min(absent)
            self.make_file(self.stranger, OLD)

    def make_file(self, name, data):
        path = os.path.join(os.fsencode(self.into), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)

    def make_way(self):
        """The file of somebody else still exists, and is then removed."""
        if self.found().get(self.stranger) != OLD:
            self.problems.append(f"{self.stranger!r} was replaced without a request")
            return
        os.unlink(os.path.join(os.fsencode(self.into), self.stranger))
        self.stranger = None
        self.perform(["retry", "--state", "failed"])
        self.finish()

    def fetch_the_rest(self):
        """Files that were not recorded are requested again. A list can be requested as a whole: files that exist with
        their digest are not fetched twice."""
        between = self.look()
        recorded = {self.name_of(file) for file in between.files} if between else set()
        missing = [name for name in self.content if name.encode() not in recorded]
        if missing or self.target.lists:
            ended = self.perform(self.push(missing))
            if ended.code != 0:
                self.problems.append(f"pulling again: {ended}")
        if between and not missing:
            self.check_second_push(between, self.look())

    # MARK: checks

    def due(self, files, chunks, tries):
        """The first request fetches the beginning, which is fetched again if it was interrupted or could not be
        used."""
        allowed = super().due(files, chunks, tries)
        with ledgers.Ledger(self.store) as ledger:
            lost = ledger.forgotten() if any(kill.how in ("room", "disk") for kill in self.plan) else ()
            first = [attempt for attempt in ledger.attempts() if attempt.operation == "create"]
        known = {file.id: file for file in files}
        for file in lost:
            # Its partial file could not be synced, so none of it counts any longer (docs/guarantees.md).
            allowed[self.name_of(known[file])] += known[file].size or 0
        for attempt in first:
            if attempt.outcome != "ok" or not self.target.keeps_beginning:
                # The ledger may not know its size.
                name = self.name_of(known[attempt.file_id])
                allowed[name] += min(len(self.content[os.fsdecode(name)]), self.target.beginning)
        return allowed

    def name_of(self, file):
        return os.path.relpath(file.path, os.fsencode(self.into))

    def found(self):
        """{name: bytes} of all files in the target folder."""
        files, root = {}, os.fsencode(self.into)
        for place, _, names in os.walk(root):
            for name in names:
                path = os.path.join(place, name)
                with open(path, "rb") as file:
                    files[os.path.relpath(path, root)] = file.read()
        return files

    def check_folder(self, when):
        """At any time: a name has its previous content, none, or the complete new file; and done files exist."""
        found, wanted = self.found(), {name.encode(): data for name, data in self.content.items()}
        for name, data in found.items():
            if PARTIAL.fullmatch(os.path.basename(name)):
                continue
            if name not in wanted:
                self.problems.append(f"{when}: unexpected file: {name!r}")
            elif data != wanted[name] and not self.may_be_old(name, data):
                self.problems.append(f"{when}: {name!r} has {len(data)} bytes that are not the file's")
        for name in wanted.keys() - found.keys() if self.target.replaces else ():
            self.problems.append(f"{when}: the previous file {name!r} is gone")
        look = self.look()
        for file in look.files if look else []:
            name = self.name_of(file)
            if file.state == "done" and found.get(name) != wanted[name]:
                self.problems.append(f"{when}: {name!r} is done, but missing")

    def may_be_old(self, name, data):
        return data == OLD if name == self.stranger else self.target.replaces and data == self.old(name)

    def check_server(self):
        """Only complete files are left, and all of them exist unless they were cancelled."""
        found = self.found()
        for name in found:
            if PARTIAL.fullmatch(os.path.basename(name)):
                self.problems.append(f"partial file left: {name!r}")
        with ledgers.Ledger(self.store) as ledger:
            over = {self.name_of(file) for file in ledger.files() if file.state == "cancelled"}
        for name, data in self.content.items():
            if name.encode() not in over and found.get(name.encode()) != data:
                self.problems.append(f"missing or incomplete: {name!r}")

    def done_as_it_should_be(self, files):
        states = {self.name_of(file): file.state for file in files}
        wanted = ("done", "cancelled") if self.target.cancels else ("done",)
        return states.keys() == {name.encode() for name in self.content} and set(states.values()) <= set(wanted)


class MirrorCase(PullCase):
    """A Metalink with digests of pieces names each file at two places that have it, and at one that has an older
    version."""

    piece = 64 << 10
    wrong_content = "integrity.mismatch"

    @property
    def sums(self):
        return os.path.join(self.folder, "list.meta4")

    def prepare(self):
        super().prepare()
        base = self.target.destination(self.name)
        with open(self.sums, "w") as file:
            file.write('<?xml version="1.0" encoding="utf-8"?><metalink xmlns="urn:ietf:params:xml:ns:metalink">')
            for name, data in self.content.items():
                pieces = (data[at : at + self.piece] for at in range(0, len(data), self.piece))
                hashes = "".join(f"<hash>{hashlib.sha256(piece).hexdigest()}</hash>" for piece in pieces)
                at = urllib.parse.quote(name)
                urls = [f"{base}{place}{at}" for place in ("", Mirrors.second, Mirrors.older)]
                file.write(f"<file name={saxutils.quoteattr(name)}><size>{len(data)}</size>")
                file.write(f'<hash type="sha-256">{hashlib.sha256(data).hexdigest()}</hash>')
                file.write(f'<pieces length="{self.piece}" type="sha-256">{hashes}</pieces>')
                file.write("".join(f"<url>{saxutils.escape(url)}</url>" for url in urls) + "</file>")
            file.write("</metalink>")


class PieceCase(MirrorCase):
    """The same, and an older version of each file has its name: every fourth of its pieces, and so one of each chunk,
    begins with another byte."""

    def old(self, name):
        data = bytearray(self.content[os.fsdecode(name)])
        data[:: 4 * self.piece] = bytes(byte ^ 1 for byte in data[:: 4 * self.piece])
        return bytes(data) or OLD


class Pull(targets.Receiver):
    """Concurrent ranges; names of a tree, kept below the base URL."""

    server = "receiver"
    asks = False
    random_kills = 5
    case = PullCase
    faults = ("power", "names", "full", "eio", "room", "disk")
    steps = {"before": 5, "names": 6, "room": 24, "full": 12, "recovery": 97}
    words = ("--part-size", "256K")
    beginning = 256 << 10  # bytes that the first request fetches
    keeps_beginning = True  # if the file is longer
    script = ""
    replaces = False  # other files have the names first, and are replaced
    cancels = False  # after the kills everything is cancelled
    meddles = False  # after the kills somebody else makes files in the folder
    lists = False  # a list with digests names the files

    def settings(self, folder):
        if not self.script:
            return {}
        with open(folder + ".script", "w") as file:
            file.write(self.script)
        return {"RECEIVER_FLAGS": f"--script {folder}.script"}

    def publish(self, case, tree):
        shutil.copytree(tree, f"{self.folder}/data/{case}")

    def flags(self, case):
        return self.words

    def requests(self, case):
        return None  # `received` is compared instead

    def received(self, case):
        """Bytes of files that the server sent, by its own record."""
        sent = collections.Counter()
        for path, event in self.events(case):
            if event["t"] == "content":
                sent[path] += event["length"]
        return sent


class OneBody(Pull):
    """A weak ETag: nothing can be resumed. Existing files are replaced."""

    words = ("--overwrite",)
    beginning = 1 << 20
    keeps_beginning = False
    script = "match * * : weak-etag\n"
    replaces = True
    steps = {"before": 8, "names": 10}


class Listed(Pull):
    lists = True
    steps = {"before": 12, "names": 12}


class Cancelled(Pull):
    cancels = True
    steps = {"before": 14, "recovery": 11}
    in_recovery = "names"


class Meddled(Pull):
    meddles = True
    steps = {"before": 14}


class Mirrors(Pull):
    """Ranges from two places, and a third one with different content."""

    lists = True
    second, older = "second/", "older/"
    case = MirrorCase
    script = "match GET /*/older/* : version=7\n"
    steps = {"before": 14, "recovery": 97}

    def publish(self, case, tree):
        super().publish(case, tree)
        for place in (self.second, self.older):
            shutil.copytree(tree, f"{self.folder}/data/{case}/{place}")

    def received(self, case):
        """Bytes from the older place are useless, and its wrong pieces are fetched again."""
        sent = collections.Counter()
        for path, length in super().received(case).items():
            if not path.startswith(self.older.encode()):
                sent[path.removeprefix(self.second.encode())] += length
        return sent


class Pieces(Mirrors):
    """Most pieces are copied from an existing file. The first request of a file is short, and fetches no piece."""

    words = ("--part-size", "256K", "--overwrite")
    case = PieceCase
    replaces = True
    keeps_beginning = False
    steps = {"before": 28, "recovery": 194}


KINDS = {"pull-mirrors": Mirrors, "pull-pieces": Pieces, "pull": Pull, "pull-meddled": Meddled, "pull-body": OneBody, "pull-list": Listed, "pull-cancel": Cancelled}
