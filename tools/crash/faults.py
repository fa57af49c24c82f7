"""The receiver with faults of its own: a kill may hit an upload that its server has confused already."""

import os
import signal
import subprocess
import threading
import time

import case as cases
import protocols
import targets


class FaultyCase(cases.Case):
    """The faults end requests, too: each chunk may be sent once more for each of them."""

    cuts_of_others = 3
    cut_off = ("crashed", "interrupted", "retry", "unknown")

    def check_sent_again(self, files, chunks, attempts):
        if self.target.forgets:
            self.sent_anew |= {file.id for file in files}
            # Each run asks, and may be told that nothing is there. One case has the cut of the script besides.
            self.beginnings = 2 + self.kills
        super().check_sent_again(files, chunks, attempts)

    def due(self, files, chunks, tries):
        """A server that forgets gets a file again from where it forgot, but not without end."""
        if not self.target.forgets:
            return super().due(files, chunks, tries)
        return {self.name_of(file): 4 * (file.size or 0) for file in files}


class RestartedCase(FaultyCase):
    """The server is killed while the first push is sending, and starts again two seconds later."""

    away = 2.0
    cuts_of_others = 8  # refused connections as well
    most_wait = 4.0  # from the start of the server to the next request

    def perform(self, arguments, kill=None):
        if arguments[0] != "push" or self.said:
            return super().perform(arguments, kill)
        ended = threading.Event()
        restart = threading.Thread(target=self.restart, args=(ended,))
        restart.start()
        try:
            return super().perform(arguments, kill)
        finally:
            ended.set()
            restart.join()

    def restart(self, ended):
        if not self.sees_requests(0, ended):
            self.problems.append("the push had ended before the server was killed")
            return
        self.target.kill()
        seen = self.requests()
        time.sleep(self.away)
        self.target.start_again()
        began = time.monotonic()
        if not self.sees_requests(seen, ended):
            self.problems.append("the push ended without a request to the server that was there again")
        elif time.monotonic() - began > self.most_wait:
            self.problems.append(f"the server was there again for {time.monotonic() - began:.1f} s without a request")

    def requests(self):
        return sum(b'"t":"start"' in line for line in self.target.lines(self.name))

    def sees_requests(self, count, ended):
        """Waits until the server has seen more than `count` requests."""
        while self.requests() <= count:
            if ended.wait(0.005):
                return self.requests() > count
        return True


class Faulty:
    """Adds a fault script to a target, with rules that hit requests of every case."""

    server = "receiver"
    script = ""
    forgets = False  # the server has to get acknowledged bytes again
    case = FaultyCase
    random_kills = 3

    def settings(self, folder):
        with open(folder + ".script", "w") as file:
            file.write(self.script)
        return {"RECEIVER_FLAGS": f"--script {folder}.script"}

    def stop(self):
        super().stop()
        os.unlink(self.folder + ".script")


class Restarting(Faulty):
    """Can be killed and started again at the same address. What it has not written is lost."""

    case = RestartedCase
    random_kills = 0
    script = "match * * : latency=50\n"  # so that some requests are under way

    def kill(self):
        with open(self.folder + "/pids") as file:
            self.process = int(file.read().split()[-1])
        with open(f"/proc/{self.process}/cmdline", "rb") as file:
            self.words = [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]
        os.kill(self.process, signal.SIGKILL)

    def start_again(self):
        at = self.words.index("--listen") + 1
        words = [*self.words[:at], self.url.removeprefix("http://"), *self.words[at + 1 :]]
        with open(self.folder + "/log", "ab") as log:
            started = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        with open(self.folder + "/pids", "a") as file:
            file.write(f"{started.pid}\n")


def put(kind, script, **is_so):
    return type(kind, (Faulty, targets.Receiver), dict(script=script, **is_so))


def tus(kind, script, **is_so):
    """Without checksums, the receiver keeps what it has of a body that was cut off."""
    parent = protocols.by_scheme(kind, "tus+http", "/-/tus/?ext=creation,termination", may_be_unknown=True)
    return type(kind, (Faulty, parent), dict(script=script, **is_so))


def form(kind, script):
    """All files are posted to one path, and one file of some cases becomes unknown. Without kills none does twice."""
    return type(kind, (Faulty, protocols.by_form(kind)), dict(script=script, random_kills=0))


KINDS = {
    # Neither answer is a success: the first comes before the body, and what a gateway answers comes after delivery.
    # A smaller body would be in the buffers of the system before the answer comes.
    "early-success": put("early-success", "match PUT */big.bin nth=1 per=path : early-status=200\n", tree="chunks"),
    "late-503": form("late-503", "match POST * every=7 : late-status=503\n"),
    "late-302": form("late-302", "match POST * every=7 : late-status=302 redirect=/elsewhere\n"),
    "lost-answer": put("lost-answer", "match PUT * nth=1 per=path : lose-answer\n"),
    "dropped-line": put("dropped-line", "match PUT */big.bin nth=1 times=2 per=path : reset-after=400000\n"),
    "tiny-progress": tus("tiny-progress", "match PATCH * nth=2 times=2 per=path : cut-after=1\n"),
    "forgotten-offset": tus(
        "forgotten-offset",
        # Each query is answered so. Only one body is cut off, one of the file in chunks, as the other files are fewer:
        # all cases share the count, and a file whose every upload is cut off fails rightly.
        "match PATCH * nth=8 : cut-after=300000\nmatch HEAD * : forget-offset\n",
        forgets=True,
    ),
    "restart": type("restart", (Restarting, targets.Receiver), {}),
    "restart-tus": type("restart-tus", (Restarting, protocols.by_scheme("restart-tus", "tus+http", "/-/tus/", may_be_unknown=True)), {}),
}
