"""transfers-receiver for a day of cron: killed, restarted at the same address, and checked by its record."""

import base64
import json
import os
import socket
import subprocess
import time

SCRIPT = """match PUT * p=0.05 : status=503
match PUT * p=0.05 : lose-answer
match PUT * p=0.02 : status=500
"""


class Receiver:
    def __init__(self, folder, binaries, seed):
        self.folder, self.program, self.seed = folder, f"{binaries}/transfers-receiver", seed
        self.kept, self.record = f"{folder}/kept", f"{folder}/record"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.script = SCRIPT
        self.read = 0
        self.process = None
        self.start_again()

    def start_again(self):
        """Does nothing while it is running."""
        if self.process and self.process.poll() is None and self.running == self.script:
            return
        self.end()
        with open(f"{self.folder}/script", "w") as file:
            file.write(self.script)
        self.seed += 1
        words = [self.program, "--listen", f"127.0.0.1:{self.port}", "--dir", self.kept, "--record", self.record, "--quiet"]
        words += ["--script", f"{self.folder}/script", "--seed", str(self.seed), "--port-file", f"{self.folder}/port"]
        if os.path.exists(f"{self.folder}/port"):
            os.unlink(f"{self.folder}/port")
        self.running = self.script
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 30
        while not os.path.exists(f"{self.folder}/port"):
            if time.monotonic() > until or self.process.poll() is not None:
                raise RuntimeError("the receiver did not start")
            time.sleep(0.01)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait()

    def slow_down(self):
        """Delays its answers until it is restarted, so that it can be killed in the middle of a request."""
        self.script = "match PUT * : late-latency=150\n" + SCRIPT
        self.start_again()
        self.script = SCRIPT

    def be_good(self):
        self.script = ""
        self.start_again()

    def news(self):
        """The events since the last call; a line that a kill truncated does not count."""
        with open(self.record, "rb") as file:
            file.seek(self.read)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self.read += len(whole)
        events = []
        for line in whole.splitlines():
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if "path_b64" in event:
                event["path"] = base64.b64decode(event["path_b64"]).decode().strip("/")
            events.append(event)
        return events

    def content(self, path):
        """The content that it stores; None if there is none."""
        try:
            with open(f"{self.kept}/{path}", "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None
