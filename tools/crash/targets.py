"""The targets that a case uploads to, and what the server itself reports about it afterwards."""

import base64
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.parse

import s3

TOOLS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOOLS, "lib"))

from whole_lines import end_of_lines, whole_lines  # noqa: E402


class Target:
    """One started server. A case is a name that is unique in it."""

    server = None  # the kind of tools/servers; None: the name of the target
    tree = "whole"  # of source.py
    account = None  # the file below the folder in which the server records requests
    settles = False  # gets time after a kill to finish the requests of the killed program
    asks = True  # the protocol can query what the server has
    may_be_unknown = False  # it has a request after whose lost answer no query helps
    forgets_finished = False  # after a lost last answer, a finished upload looks as if it had never begun
    copies_source = False  # keys begin with the name of the case, so each case has its own tree
    left_out = ()  # names of the tree that the protocol cannot send
    random_kills = None  # a share of --kills
    case = None  # its own subclass of Case
    faults = ("power", "full", "eio")  # long form
    steps = {"before": 3}  # short form: every n-th of the places where the kind of call changes
    in_recovery = "before"  # the kind of kill at each call of the recovery

    def __init__(self, kind, folder, binaries):
        self.marks = {}
        self.kind, self.folder = kind, folder
        environment = dict(os.environ, TRANSFERS_BIN=binaries) | self.settings(folder)
        # The server keeps running, so it must not hold our end of a pipe: output goes to a file.
        with open(folder + ".start", "w+b") as said:
            subprocess.run([TOOLS + "/servers", "start", self.server or kind, folder], check=True, env=environment, stdout=said)
            said.seek(0)
            self.banner = said.read().decode().strip()
        self.url = open(folder + "/url").read().strip()
        self.environment = dict(
            line.split("=", 1) for line in open(folder + "/env").read().splitlines() if "=" in line
        )

    def settings(self, folder):
        """Environment variables for the server."""
        return {}

    def stop(self):
        subprocess.run([TOOLS + "/servers", "stop", self.folder], check=True)

    def prepare(self, case):
        """Called once before the first upload of the case."""

    def lines(self, case):
        """The additions to the server's record since the case was prepared."""
        return whole_lines(self.folder + "/" + self.account, self.marks[case])

    def mark(self, case):
        self.marks[case] = end_of_lines(self.folder + "/" + self.account)

    def flags(self, case):
        return []

    def secrets(self):
        return [value for name, value in self.environment.items() if "SECRET" in name]

    def open_uploads(self, case):
        """Uploads that were started and neither finished nor aborted."""
        return []

    def requests(self, case):
        """Counter of (key, part number or 0): requests with a body that the server saw. None if it keeps no record."""
        return None

    def total(self, case):
        """The number of requests that the server saw, as far as it can attribute them. None if it does not record all
        of them."""
        return None

    def received(self, case):
        """Bytes of bodies that the server received, by name. None if it does not record them."""
        return None


class FolderTarget(Target):
    """A server that stores plain files below data/."""

    def prepare(self, case):
        self.mark(case)

    def destination(self, case):
        return f"{self.url}/{case}/"

    def objects(self, case):
        found, root = {}, os.fsencode(f"{self.folder}/data/{case}")
        for place, _, names in os.walk(root):
            for name in names:
                path = os.path.join(place, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, root)] = file.read()
        return found

    def clean(self, case):
        shutil.rmtree(f"{self.folder}/data/{case}", ignore_errors=True)


class Nginx(FolderTarget):
    account = "access.log"

    def requests(self, case):
        seen = collections.Counter()
        for line in self.lines(case):
            method, _, _, _, uri = line.split(b" ", 4)
            path = urllib.parse.unquote_to_bytes(uri).lstrip(b"/")
            if method == b"PUT" and path.startswith(case.encode() + b"/"):
                seen[path.split(b"/", 1)[1], 0] += 1
        return seen


class Receiver(FolderTarget):
    account = "record.ndjson"
    steps = {"before": 1, "power": 1, "full": 2}

    def events(self, case):
        prefix = case.encode() + b"/"
        for line in self.lines(case):
            event = json.loads(line)
            path = base64.b64decode(event.get("path_b64", ""))
            if path.startswith(prefix):
                yield path[len(prefix) :], event

    def requests(self, case):
        return collections.Counter(
            (path, 0) for path, event in self.events(case) if event["t"] == "start" and event["method"] == "PUT"
        )

    def total(self, case):
        """A connection belongs to one program, and so to the case whose objects appear on it."""
        events = [json.loads(line) for line in self.lines(case)]
        prefix = case.encode() + b"/"
        own = {e["conn"] for e in events if base64.b64decode(e.get("path_b64", "")).startswith(prefix)}
        return sum(e["t"] == "start" and e["conn"] in own for e in events)


class S3Target(Target):
    tree = "parts"
    settles = True

    def __init__(self, *arguments):
        super().__init__(*arguments)
        e = self.environment
        self.client = s3.S3(self.url, e["AWS_ACCESS_KEY_ID"], e["AWS_SECRET_ACCESS_KEY"], e["AWS_REGION"])

    def prepare(self, case):
        self.client.make_bucket(case)

    def destination(self, case):
        return f"s3://{case}/in/"

    def flags(self, case):
        return ["--endpoint-url", self.url, "--part-size", "5M"]

    def objects(self, case):
        found = {}
        for key in self.client.keys(case):
            name = key.encode()
            # Names outside the prefix stay complete, and so are reported as unexpected.
            found[name.removeprefix(b"in/")] = self.client.get(case, key)
        return found

    def open_uploads(self, case):
        return self.client.uploads(case)

    def clean(self, case):
        self.client.empty_bucket(case)


class Moto(S3Target):
    account = "log"
    line = re.compile(rb'"(?:\x1b\[\d+m)*PUT /([^/? ]+)/([^? ]*)(?:\?([^ ]*))? HTTP')

    def prepare(self, case):
        super().prepare(case)
        self.mark(case)

    def requests(self, case):
        seen = collections.Counter()
        for match in map(self.line.search, self.lines(case)):
            if match and match[1] == case.encode():
                part = urllib.parse.parse_qs((match[3] or b"").decode()).get("partNumber", ["0"])[0]
                seen[urllib.parse.unquote_to_bytes(match[2]).removeprefix(b"in/"), int(part)] += 1
        return seen


KINDS = {"receiver": Receiver, "nginx": Nginx, "moto": Moto, "swift": S3Target}
