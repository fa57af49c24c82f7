"""The receiver through each upload protocol that needs several requests or a form, and a third-party tus server."""

import base64
import collections
import glob
import json
import os
import shutil
import sqlite3

import targets

# The contents of a profile's credential, which the test searches for in the ledger and in the output.
SECRET = "canary-profile-secret-4be1"


class ByProtocol(targets.Receiver):
    """`scheme` and `path` make the destination; keys are CASE/NAME, so each case sends its own copy of the tree."""

    server = "receiver"
    copies_source = True
    tree = "chunks"
    random_kills = 5
    steps = {"before": 3}
    scheme, path, words = "http", "", ()

    def destination(self, case):
        return f"{self.scheme}://{self.url.removeprefix('http://')}{self.path}"

    def flags(self, case):
        return [word.replace("CASE", case) for word in self.words]

    def secrets(self):
        return [SECRET]

    def requests(self, case):
        return None  # `received` is compared instead

    def received(self, case):
        """Bytes of bodies that the server received for each object, including those of its partial uploads and those
        sent again."""
        events = [json.loads(line) for line in self.lines(case)]
        by_path, origins = collections.Counter(), collections.defaultdict(set)
        for event in events:
            path = event.get("path_b64")
            if event["t"] == "bytes":
                by_path[path] += event["length"]
            elif event["t"] == "joined":
                origins[path].add(event["from_b64"])
        prefix, found = case.encode() + b"/", {}
        for path in by_path.keys() | origins.keys():
            name = base64.b64decode(path or "")
            if name.startswith(prefix):
                found[name[len(prefix) :]] = by_path[path] + sum(by_path[origin] for origin in origins[path] - {path})
        return found


def by_form(kind):
    words = ("--field", "key={path}")
    return type(kind, (ByProtocol,), dict(scheme="form+http", path="/-/form/", words=words, asks=False, may_be_unknown=True))


def by_scheme(kind, scheme, path, may_be_unknown=False):
    words = ("--part-size", "1M")
    return type(kind, (ByProtocol,), dict(scheme=scheme, path=path, words=words, may_be_unknown=may_be_unknown))


def by_profile(name, path, inputs=(), secret=None, part="1M", **is_so):
    words = ["--via", name]
    for pair in (*inputs, *([f"{secret}=env:TRANSFERS_TEST_SECRET"] if secret else [])):
        words += ["--input", pair]
    words += ["--part-size", part] if part else []
    return type(name, (ByProtocol,), dict(path=path, words=tuple(words), **is_so))


class TusServer(targets.Target):
    """PyPI's resumable-upload: its folder has the stored bytes, its database their names."""

    server = "tus"
    copies_source = True
    tree = "chunks"
    random_kills = 5
    may_be_unknown = True

    def destination(self, case):
        return f"tus+{self.url}/files"

    def flags(self, case):
        return ["--part-size", "1M"]

    def uploads(self, case):
        """(id, name) of the uploads of a case that are complete and not part of another."""
        with sqlite3.connect(f"file:{self.folder}/uploads.db?mode=ro", uri=True) as database:
            rows = database.execute("SELECT upload_id, metadata FROM uploads WHERE completed AND NOT is_partial").fetchall()
        named = ((upload, json.loads(metadata).get("filename", "")) for upload, metadata in rows)
        return [(upload, name.removeprefix(case + "/")) for upload, name in named if name.startswith(case + "/")]

    def objects(self, case):
        found = {}
        for upload, name in self.uploads(case):
            (path,) = glob.glob(f"{self.folder}/data/{glob.escape(upload)}*")
            with open(path, "rb") as file:
                found[name.encode()] = file.read()
        return found

    def clean(self, case):
        for upload, _ in self.uploads(case):
            for path in glob.glob(f"{self.folder}/data/{glob.escape(upload)}*"):
                os.unlink(path)


def copy_source(source, folder, case, left_out):
    """The tree as CASE/…, and the prefix of its keys. A copy, because links would change the ctime of the original."""
    shutil.copytree(source, f"{folder}/source/{case}", ignore=shutil.ignore_patterns(*left_out))
    return f"{folder}/source/{case}", ["--base", f"{folder}/source"]


PROFILES = {
    "token-blocks": by_profile("token-blocks", "/-/blocks", may_be_unknown=True),
    "numbered-chunks": by_profile("numbered-chunks", "/-/chunks"),
    "numbered-chunks-form": by_profile("numbered-chunks-form", "/-/chunks?merge=idempotent"),
    "resumablejs": by_profile("resumablejs", "/-/resumablejs"),
    "flow": by_profile("flow", "/-/flow"),
    "dropzone": by_profile("dropzone", "/-/dropzone", may_be_unknown=True, asks=False),
    "qiniu-v1": by_profile("qiniu-v1", "/-/qiniu", secret="uptoken", part=None, asks=False),
    "qiniu-v2": by_profile("qiniu-v2", "/-/qiniu", ("bucket=b",), secret="uptoken", may_be_unknown=True, asks=False),
    "graph": by_profile("graph", "/-/graph", ("drive=d",), secret="token", part="960K", left_out=("empty",), forgets_finished=True),
    "dropbox": by_profile("dropbox", "/-/dropbox/2/files", secret="token", may_be_unknown=True, asks=False),
    "nextcloud": by_profile("nextcloud", "/-/nextcloud/remote.php/dav", ("user=u",), secret="login", part=None),
    "google": by_profile("google", "/-/google/upload"),
}

KINDS = {
    "form": by_form("form"),
    # A joined upload cannot be queried if the answer with its name was lost.
    "tus": by_scheme("tus", "tus+http", "/-/tus/", may_be_unknown=True),
    "resumable": by_scheme("resumable", "resumable+http", "/-/resumable/"),
    "davpatch": by_scheme("davpatch", "davpatch+http", "/-/davpatch/"),
    "tus-server": TusServer,
    **PROFILES,
}
