"""Measures nothing: every client and mode works, the bytes arrive, and the sink refuses what it claims to refuse."""

import base64
import contextlib
import copy
import hashlib
import http.client
import io
import os

import commands
import fetch
import history
import listing
import measure
import merging
import place
import send
import servers
import work


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, text, holds, why=""):
        self.passed, self.failed = self.passed + bool(holds), self.failed + (not holds)
        print(("ok      " if holds else "FAILED  ") + text + (f": {why}" if why and not holds else ""), flush=True)


def main(options):
    checks = Checks()
    measure.LONGEST = 30
    for is_strict in (False, True):
        options = copy.copy(options)
        options.tls, options.strict, options.workers = True, is_strict, 4
        with place.Place(options) as at:
            every_client(at, checks, send.cells(at, work.SMOKE, "s3*" if is_strict else "*"))
            if not is_strict:
                every_client(at, checks, fetch.cells(at, fetch.SMOKE, "*"))
            refusals(at, checks, is_strict)
    merges(options, checks)
    histories(options, checks)
    listings(options, checks)
    print(f"{checks.passed} passed, {checks.failed} failed")
    return int(checks.failed > 0)


def merges(options, checks):
    """The generated shards are sound, and so is what is merged from them."""
    with place.Place(options) as at:
        parts, merged = merging.shards(at.disk, 300, 3, count=3), f"{at.disk}/all.db"
        every = [["store", "check", "--store", path] for path in (*parts, merged)]
        for words in [*every[:3], ["store", "merge", merged, *parts], every[3]]:
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    measure.repeat(1, [at.binary, *words], commands.environment(merged))
                why = ""
            except measure.Failed as failed:
                why = str(failed)
            checks.check(f"merge: {' '.join(words[:2])}", not why, why)


def histories(options, checks):
    """The generated ledger is sound, every command works on it, and a push finds nothing new."""
    with place.Place(options) as at:
        path, folder = f"{at.disk}/transfers.db", f"{at.folder}/sent"
        os.makedirs(folder)
        history.make(path, 10_000, folder)
        environment = commands.environment(path)
        for words in ([["store", "check"]] + list(history.looks(at.binary, folder).values()) + list(history.verbs().values()) + [["store", "check"]]):
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    measure.repeat(1, [at.binary, *words], environment)
                why = ""
            except measure.Failed as failed:
                why = str(failed)
            checks.check(f"history: {' '.join(words[:2])}", not why, why)


def listings(options, checks):
    """All keys are recorded and none is requested; then all are fetched."""
    with place.Place(options) as at:
        for name, words, code in (("recorded", ["--max-bytes", "1"], 5), ("fetched", [], 0)):
            try:
                listing.pull(at, name, 2 * listing.PAGE + 1, code, *words)
                why = ""
            except measure.Failed as failed:
                why = str(failed)
            checks.check(f"listing: {name}", not why, why)


def every_client(at, checks, cells):
    mode = "strict " if at.options.strict else ""
    for cell in cells:
        try:
            cell.run(at)
            why = ""
        except (servers.Wrong, measure.Failed) as wrong:
            why = str(wrong)
        checks.check(f"{mode}{cell.name} ({cell.integrity})", not why, why)


def ask(sink, method, path, body, fields=None):
    line = http.client.HTTPConnection("127.0.0.1", sink.port, timeout=10)
    line.request(method, f"/{servers.BUCKET}/{path}", body, fields or {})
    answer = line.getresponse()
    return answer.status, answer.read().decode(), answer.headers.get("ETag", "").strip('"')


def refusals(at, checks, is_strict):
    """A sink that accepted everything would make every client look correct."""
    sink, _ = at.server("s3-signed", "plain")
    mode, looks = ("strict sink", "refused") if is_strict else ("sink", "not checked")
    body, md5 = b"sixteen bytes ok", hashlib.md5(b"sixteen bytes ok")
    status, _, etag = ask(sink, "PUT", "a", body, {"content-md5": base64.b64encode(md5.digest()).decode()})
    checks.check(f"{mode}: a right Content-MD5 is taken and is the ETag", status == 200 and etag == md5.hexdigest(), etag)
    zero = [base64.b64encode(bytes(length)).decode() for length in (4, 8, 16)]
    checks.check(f"{mode}: a wrong CRC-64 is refused", ask(sink, "PUT", "a", body, {"x-amz-checksum-crc64nvme": zero[1]})[0] == 400)
    for name, value in {"content-md5": zero[2], "x-amz-content-sha256": "0" * 64, "x-amz-checksum-crc32c": zero[0]}.items():
        checks.check(f"{mode}: a wrong {name} is {looks}", (ask(sink, "PUT", "a", body, {name: value})[0] == 400) == is_strict)
    checks.check(f"{mode}: a part of an unknown upload is refused", ask(sink, "PUT", "a?partNumber=1&uploadId=none", body)[0] == 404)
    parts(sink, checks, mode, looks, is_strict)


def parts(sink, checks, mode, looks, is_strict):
    upload = ask(sink, "POST", "b?uploads", b"")[1].partition("<UploadId>")[2].partition("<")[0]
    etags = [ask(sink, "PUT", f"b?partNumber={n}&uploadId={upload}", b"part %d" % n)[2] for n in (1, 2)]

    def complete(*named):
        xml = "".join(f"<Part><PartNumber>{n}</PartNumber><ETag>{etag}</ETag></Part>" for n, etag in named)
        return ask(sink, "POST", f"b?uploadId={upload}", f"<CompleteMultipartUpload>{xml}</CompleteMultipartUpload>".encode())

    checks.check(f"{mode}: parts out of order are refused", "InvalidPartOrder" in complete((2, etags[1]), (1, etags[0]))[1])
    checks.check(f"{mode}: another ETag of a part is refused", "InvalidPart<" in complete((1, etags[1]), (2, etags[1]))[1])
    small = "EntityTooSmall" in complete((1, etags[0]), (2, etags[1]))[1]
    checks.check(f"{mode}: parts that are too small are {looks}", small == is_strict)
