"""A headless Chromium, driven through its DevTools protocol over two pipes: no package but the browser is needed."""

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

WAIT = 20
PROGRAMS = ["chromium", "chromium-browser", "google-chrome"]


class Lost(Exception):
    """The browser sent something other than the expected message."""


class Chromium:
    """One browser with its own profile, which can reach only this machine."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="chromium.")
        to_browser, self.commands = os.pipe()
        self.answers, from_browser = os.pipe()
        program = next(path for path in map(shutil.which, PROGRAMS) if path)
        words = [
            program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--lang=en",
            "--proxy-server=http://127.0.0.1:9", "--disable-background-networking", "--force-color-profile=srgb",
            "--host-resolver-rules=MAP rebound.example 127.0.0.1", "--proxy-bypass-list=rebound.example",
            "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
            "--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "about:blank",
        ]  # fmt: skip

        def pipes():
            # The browser reads commands from 3 and writes answers to 4. The pipe ends may already have these numbers.
            reading, writing = os.dup(to_browser), os.dup(from_browser)
            high_reading, high_writing = os.dup2(reading, 60), os.dup2(writing, 61)
            os.dup2(high_reading, 3)
            os.dup2(high_writing, 4)

        self.process = subprocess.Popen(
            words, preexec_fn=pipes, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.rest, self.events = 0, b"", []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        return self.heard(lambda said: said.get("id") == message["id"])

    def heard(self, wanted):
        """The next expected message; events before it are kept."""
        until = time.monotonic() + WAIT
        while True:
            while b"\0" in self.rest:
                line, self.rest = self.rest.split(b"\0", 1)
                said = json.loads(line)
                if "method" in said:
                    self.events.append(said)
                if wanted(said):
                    if "error" in said:
                        raise Lost(said["error"])
                    return said.get("result", said)
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                raise Lost("no answer")
            self.rest += os.read(self.answers, 1 << 20)

    def tab(self, context=None):
        return Tab(self, context)


class Tab:
    """One window; tabs without a context share their cookies."""

    def __init__(self, browser, context):
        self.browser = browser
        parameters = {"browserContextId": context} if context else {}
        target = browser.call("Target.createTarget", url="about:blank", newWindow=True, **parameters)["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Network", "Log"]:
            self.call(domain + ".enable")
        # Both windows are visible at the same time: a hidden page does not poll.
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")
        return self

    def value(self, script):
        """The value of an expression or promise."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise Lost(result["exceptionDetails"]["exception"].get("description", script))
        return result["result"].get("value")

    def until(self, script, seconds=WAIT):
        """Waits until an expression is true; returns how long that took."""
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            try:
                if self.value(f"!!({script})"):
                    return time.monotonic() - began
            except Lost:
                pass  # a page that is being replaced
            time.sleep(0.02)
        raise Lost(f"never true: {script}; the page says {self.value('document.body.innerText')[:400]!r}")

    def size(self, width, height=900, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=False)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def events(self, method):
        return [said["params"] for said in self.browser.events if said.get("sessionId") == self.session and said["method"] == method]

    def requests(self):
        return [event["request"]["url"] for event in self.events("Network.requestWillBeSent")]
