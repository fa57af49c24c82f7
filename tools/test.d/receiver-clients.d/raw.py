"""Hand-written clients: the exact bytes of Apple's URLSession, tus and resumable uploads with curl, and big bodies."""

import re
import socket
import subprocess

from receiver import Receiver, check, sample

CUT = 300_000
CONTENT = sample(500_000)


class Wire:
    """One connection that sends given bytes."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.seen = b""

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError:
            pass

    def head(self):
        """The head of the next answer as (status, fields); (0, {}) if the connection ends before it."""
        while b"\r\n\r\n" not in self.seen:
            try:
                piece = self.socket.recv(65536)
            except OSError:
                piece = b""
            if not piece:
                return 0, {}
            self.seen += piece
        head, self.seen = self.seen.split(b"\r\n\r\n", 1)
        first, *lines = head.decode().split("\r\n")
        return int(first.split()[1]), {k.lower(): v for k, v in (line.split(": ", 1) for line in lines)}


def apple_request(line, version, *fields):
    common = [
        "Host: 127.0.0.1", "Accept: */*", f"Upload-Draft-Interop-Version: {version}", "Accept-Language: en-GB,en;q=0.9",
        "Accept-Encoding: gzip, deflate", "User-Agent: Uploader/1 CFNetwork/1494.0.7 Darwin/23.4.0",
        "Connection: keep-alive",
    ]
    return "\r\n".join([line + " HTTP/1.1", *common, *fields, "", ""]).encode()


def apple(version):
    """iOS 17 (3), 18.0 (5), 18.1 (6): an interrupted upload, HEAD, the rest."""
    whole = "Upload-Incomplete: ?0" if version == 3 else "Upload-Complete: ?1"
    more = ("upload-incomplete", "?1") if version == 3 else ("upload-complete", "?0")
    kind = "application/partial-upload" if version == 6 else "application/octet-stream"
    with Receiver(f"match POST * : cut-after={CUT}") as receiver:
        first = Wire(receiver.port)
        creation = ["Content-Type: application/octet-stream", whole, f"Content-Length: {len(CONTENT)}"]
        first.send(apple_request("POST /-/resumable/photo.heic", version, *creation) + CONTENT)
        interim, fields = first.head()
        path = re.sub(r"^http://[^/]+", "", fields.get("location", ""))
        broken = first.head()
        second = Wire(receiver.port)
        second.send(apple_request("HEAD " + path, version))
        asked, state = second.head()
        rest = [f"Content-Type: {kind}", whole, f"Upload-Offset: {CUT}", f"Content-Length: {len(CONTENT) - CUT}"]
        second.send(apple_request("PATCH " + path, version, *rest) + CONTENT[CUT:])
        final, answer = second.head()
        check(
            f"URLSession, version {version}",
            ((interim, fields), interim == 104 and fields.get("upload-draft-interop-version") == str(version)),
            (broken, broken[0] == 0), ((asked, state), asked == 204 and state.get("upload-offset") == str(CUT)),
            (state, state.get(more[0]) == more[1] and state.get("cache-control") == "no-store"),
            ((final, answer), final == 201), ("content", receiver.object("photo.heic") == CONTENT),
            (receiver.ranges("photo.heic"), receiver.ranges("photo.heic") == [(0, CUT), (CUT, len(CONTENT) - CUT)]),
            (receiver.commits("photo.heic"), receiver.commits("photo.heic") == [len(CONTENT)]),
        )


def curl(receiver, *words):
    ended = subprocess.run(["curl", "-sS", "-i", *words], cwd=receiver.folder, capture_output=True, timeout=120)
    return ended.stdout.decode(errors="replace") + ended.stderr.decode(errors="replace")


def field(answer, name):
    found = re.findall(rf"(?im)^{name}: (.*?)\r?$", answer)
    return found[-1] if found else None


def tus_resumed():
    version = ["-H", "Tus-Resumable: 1.0.0"]
    kind = ["-H", "Content-Type: application/offset+octet-stream"]
    with Receiver(f"match PATCH * nth=1 : cut-after={CUT}") as receiver:
        receiver.write("a", CONTENT)
        receiver.write("rest", CONTENT[CUT:])
        made = curl(
            receiver, "-X", "POST", *version, "-H", f"Upload-Length: {len(CONTENT)}", "-H",
            "Upload-Metadata: filename aW4vYQ==", receiver.url + "/-/tus/",
        )
        url = field(made, "Location")
        curl(receiver, "-X", "PATCH", "-T", "a", *version, *kind, "-H", "Upload-Offset: 0", url)
        asked = curl(receiver, "-I", *version, url)
        ended = curl(receiver, "-X", "PATCH", "-T", "rest", *version, *kind, "-H", f"Upload-Offset: {CUT}", url)
        check(
            "curl resumes a tus upload", (asked, field(asked, "Upload-Offset") == str(CUT)),
            (ended, field(ended, "Upload-Offset") == str(len(CONTENT))), ("content", receiver.object("in/a") == CONTENT),
            (receiver.ranges("in/a"), receiver.ranges("in/a") == [(0, CUT), (CUT, len(CONTENT) - CUT)]),
        )


def flat_memory():
    """Bodies of 192 MiB whose length is not known beforehand hardly increase the memory of the receiver."""
    size = 192 << 20
    with Receiver() as receiver:
        before = receiver.peak_memory()
        zeros = f"head -c {size} /dev/zero | curl -sS"
        version = "-H 'Upload-Draft-Interop-Version: 9' -H 'Upload-Complete: ?1'"
        for line in [
            f"{zeros} -T - {receiver.url}/plain", f"{zeros} -F 'file=@-;filename=form' {receiver.url}/-/form/",
            f"{zeros} -T - {version} {receiver.url}/-/resumable/resumable",
        ]:
            subprocess.run(["bash", "-c", line], check=True, capture_output=True, timeout=600)
        grown = receiver.peak_memory() - before
        sizes = [receiver.commits(name) for name in ["plain", "form", "resumable"]]
        check("memory stays flat", (sizes, sizes == [[size]] * 3), (f"{grown >> 20} MiB more", grown < 16 << 20))


def all_clients():
    for version in [3, 5, 6]:
        apple(version)
    tus_resumed()
    flat_memory()
