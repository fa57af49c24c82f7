"""A prefix of S3 with many objects: the memory of `pull` must not depend on their number. The server makes each page of
the listing and each object when it is requested."""

import hashlib
import http.server
import os
import subprocess
import sys
import threading
import urllib.parse

import clients
import commands
import measure

PAGE = 1_000
LIMIT_MIB = 64


def content(key):
    """1,000 bytes, and their MD5, which is the ETag."""
    body = key.encode().ljust(1_000, b".")
    return body, hashlib.md5(body).hexdigest()


class Bucket(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, count):
        super().__init__(("127.0.0.1", 0), Handler)
        self.count, self.pages, self.objects = count, 0, 0
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        path, _, query = self.path.partition("?")
        values = urllib.parse.parse_qs(query)
        if "list-type" in values:
            return self.page(int(values.get("continuation-token", ["0"])[0]))
        self.server.objects += 1
        body, md5 = content(path.removeprefix("/bucket/"))
        self.answer(200, body, ETag=f'"{md5}"')

    def page(self, first):
        """Keys of 60 bytes, in order."""
        self.server.pages += 1
        last = min(first + PAGE, self.server.count)
        keys = [f"in/{n // 10_000:04}/an-object-with-a-name-of-usual-length-{n:012}" for n in range(first, last)]
        entry = "<Contents><Key>%s</Key><Size>1000</Size><ETag>&quot;%s&quot;</ETag>"
        entry += "<LastModified>2026-01-02T03:04:05.000Z</LastModified></Contents>"
        more = f"<NextContinuationToken>{last}</NextContinuationToken>" if last < self.server.count else ""
        text = '<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name>'
        text += f"<Prefix>in/</Prefix><IsTruncated>{'true' if more else 'false'}</IsTruncated>{more}"
        text += "".join(entry % (key, content(key)[1]) for key in keys) + "</ListBucketResult>"
        self.answer(200, text.encode(), Content_Type="application/xml")

    def answer(self, status, body, **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def pull(at, name, count, code, *words):
    """Runs `pull` of the prefix; returns its figures."""
    bucket = Bucket(count)
    environment = commands.fresh(at, name) | clients.KEYS
    folder = f"{at.folder}/{name}"
    os.mkdir(folder)
    command = [at.binary, "pull", "--quiet", "--workers", str(at.options.workers), *words]
    command += ["--endpoint-url", f"http://127.0.0.1:{bucket.server_port}", "s3://bucket/in/", folder]
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    bucket.shutdown()
    arrived = sum(not name.endswith(".part") for *_, files in os.walk(folder) for name in files)
    if process.returncode != code or bucket.pages != -(-count // PAGE):
        raise measure.Failed(f"pull of a prefix: exited with {process.returncode} after {bucket.pages} pages: {said.strip()}")
    if arrived != (count if code == 0 else 0) or bucket.objects != arrived:
        raise measure.Failed(f"pull of a prefix: {arrived} of {count} files arrived by {bucket.objects} requests")
    found = {"files": count, "fetched": arrived, "cpu_s": round(usage.ru_utime + usage.ru_stime, 2), "rss_mib": round(usage.ru_maxrss / 1024, 1)}
    mark = "ok" if found["rss_mib"] <= LIMIT_MIB else "MISSED"
    print(f"{name:24} {count:9,} keys, {arrived:,} fetched: {found['cpu_s']:7.2f} CPU s {found['rss_mib']:5.1f} MiB (≤ {LIMIT_MIB} MiB: {mark})", flush=True)
    return found


def listing(at, options):
    """Keys whose objects are longer than the run may fetch (`--max-bytes`): all are recorded, none is requested. Then
    fewer keys, all of which are fetched."""
    many, few = (20_000, 2_000) if options.quick else (1_000_000, 20_000)
    found = [pull(at, f"listing-{count}", count, 5, "--max-bytes", "1") for count in (few, many)]
    found.append(pull(at, "listing-fetched", few, 0))
    if any(row["rss_mib"] > LIMIT_MIB for row in found):
        print(f"listing: more than {LIMIT_MIB} MiB of memory", file=sys.stderr)
    return found
