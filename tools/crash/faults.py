"""The receiver with faults of its own: a kill may hit an upload that its server has confused already."""

import os

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
}
