"""One process of tests, and its stream of events."""

import json
import os
import signal
import subprocess
import time


class Process:
    def __init__(self, program, root, logs, suites, tests, wanted, patience):
        self.name, self.tests, self.root = suites[0] if len(suites) == 1 else f"{suites[0]}+{len(suites) - 1}", tests, root
        self.patience = patience  # maximum seconds in which nothing starts or ends
        self.log, self.stream = f"{logs}/{self.name}.log", f"{logs}/{self.name}.events"
        self.words = [program, "--testing-library", "swift-testing", "--event-stream-version", "0"]
        self.words += ["--event-stream-output-path", self.stream]
        # A given filter may be narrower than the process: then its tests are listed individually.
        for pattern in [f"^{escaped(test)}(/|$)" for test in tests] if wanted else [f"^{suite}[./]" for suite in suites]:
            self.words += ["--filter", pattern]
        self.environment = dict(os.environ, SWT_EXPERIMENTAL_EVENT_STREAM_FIELDS_ENABLED="1")
        self.suites, self.parametrised = set(), set()
        self.ended, self.running = {}, {}
        self.issues, self.took = [], []
        self.code, self.why, self.cpu, self.child = None, "", 0.0, None

    def run(self):
        if self.why:
            return
        with open(self.log, "w") as said:
            self.child = subprocess.Popen(
                self.words, cwd=self.root, env=self.environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                start_new_session=True,
            )  # fmt: skip
        self.wait()
        self.read()
        self.code = os.waitstatus_to_exitcode(self.status)

    def wait(self):
        """Waits until it ends, or until nothing has started or ended for too long."""
        size, since = -1, time.monotonic()
        while True:
            pid, self.status, used = os.wait4(self.child.pid, os.WNOHANG)
            if pid:
                self.cpu = used.ru_utime + used.ru_stime
                self.child.returncode = 0  # its exit was already collected
                return
            now = os.path.getsize(self.stream) if os.path.exists(self.stream) else 0
            if now != size:
                size, since = now, time.monotonic()
            elif time.monotonic() - since > self.patience:
                self.end(f"nothing started or ended for {self.patience} s")
                since = time.monotonic()
            time.sleep(0.05)

    def end(self, why):
        """Ends it with all processes that it started, once."""
        if self.why or self.code is not None:
            return
        self.why = why
        if self.child:
            os.killpg(self.child.pid, signal.SIGKILL)

    def read(self):
        if not os.path.exists(self.stream):
            return
        with open(self.stream, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                try:
                    record = json.loads(line)
                except ValueError:
                    continue  # an incomplete line of a killed process
                if record["kind"] == "event":
                    self.note(record["payload"])
                elif record["payload"]["kind"] == "suite":
                    self.suites.add(record["payload"]["id"])
                elif record["payload"]["isParameterized"]:
                    self.parametrised.add(plain(record["payload"]["id"]))

    def note(self, event):
        kind, test = event["kind"], plain(event.get("testID", ""))
        is_test = event.get("testID", "") not in self.suites and test
        case = f"{test} {event.get('_testCase', {}).get('displayName', '')}".strip()
        now = event["instant"]["absolute"]
        # A test without parameters is its only case, which has no separate events.
        begins, ends = ("testCaseStarted", "testCaseEnded") if test in self.parametrised else ("testStarted", "testEnded")
        if kind == begins and is_test:
            self.running[case] = now
        elif kind == ends and case in self.running:
            self.took.append((now - self.running.pop(case), case))
        if kind == "testEnded" and is_test:
            self.ended[test] = event["messages"][0]["symbol"] != "fail"
        elif kind == "testSkipped" and is_test:
            self.ended[test] = True
        elif kind == "issueRecorded" and event["messages"][0]["symbol"] == "fail":
            self.issues.append((case, event))

    def counts(self):
        """The tests that passed and that failed; one that was running when its process ended has failed."""
        passed = sum(self.ended.values())
        failed = len(self.ended) - passed
        if self.is_broken:
            failed += max(1, len({case.partition(" ")[0] for case in self.running}))
        return passed, failed

    @property
    def is_broken(self):
        return bool(self.why) or self.code not in (0, 1) or (self.code == 1 and all(self.ended.values()))

    def failures(self):
        """Lines about failures: an issue with its position, and what a process was running if it did not end by
        itself."""
        for case, event in self.issues:
            yield from issue_lines(case, event, self.root)
        if not self.is_broken:
            return
        how = self.why or (f"ended by {signal.Signals(-self.code).name}" if self.code and self.code < 0 else f"ended with {self.code}")
        yield f"FAILED  {self.name}: {how}; {len(self.tests) - len(self.ended)} of its {len(self.tests)} tests did not end"
        for case in list(self.running)[:20]:
            yield f"        was running {one_line(case)}"
        yield from (f"        {line}" for line in self.last_words())
        yield f"        see {self.log}"

    def last_words(self):
        """Its own report of its crash, or its last output."""
        if not os.path.exists(self.log):
            return []
        with open(self.log, errors="replace") as file:
            lines = [line.rstrip() for line in file if not line.startswith(("◇", "✔", "↳"))]
        told = [line for line in lines if "Fatal error" in line or "Crash:" in line or "Program crashed" in line]
        return (told or lines[-5:])[:5]


def issue_lines(case, event, root):
    first, *more = event["messages"]
    text = first["text"].split(" recorded an issue")[-1]
    place = event.get("issue", {}).get("sourceLocation") or {}
    said = text.partition(": ")[2] or text
    yield f"FAILED  {one_line(case)}: {one_line(said)}"
    for message in more[:6]:
        yield f"        {one_line(message['text'])}"
    if place:
        path = place.get("_filePath") or place.get("fileID", "")
        yield f"        {path.removeprefix(root + '/')}:{place.get('line')}"


def one_line(text, most=400):
    shown = text.replace("\n", "\\n")
    shown = "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in shown)
    return shown if len(shown) <= most else shown[:most] + " …"


def plain(test):
    """Target.Suite/test(), without its position."""
    parts = test.split("/")
    return "/".join(parts[:-1]) if len(parts) > 1 and ".swift:" in parts[-1] else test


def escaped(test):
    return "".join("\\" + c if c in "\\.()[]{}+*?^$|" else c for c in test)
