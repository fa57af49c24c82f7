#!/usr/bin/env python3
"""Removes sources on a file system below the source folder that is unmounted for a while and then renumbered.

  unshare --mount tools/test.d/sweeps.d/mounts.py FOLDER

Called by tools/test.d/removals. A source whose file system is not mounted waits, however often its removal is tried,
and is deleted when the file system is mounted again. A source that something else removed does not wait, even if its
device number has changed since it was added, as after a restart. FOLDER must be empty; the test writes its files there.
"""

import contextlib
import os
import sqlite3
import subprocess
import sys

sys.dont_write_bytecode = True

import killed  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def mount(*words):
    subprocess.run(["mount", *words], check=True)


class Mounted:
    """A folder with one source beside and one on a tmpfs below it; both were sent, and neither is removed yet."""

    def __init__(self, programs, folder, receiver):
        self.programs, self.store = programs, os.path.join(folder, "ledger.db")
        self.source, self.held = os.path.join(folder, "in"), os.path.join(folder, "held")
        self.nested = os.path.join(self.source, "deep", "m")
        os.makedirs(self.nested)
        os.mkdir(self.held)
        mount("-t", "tmpfs", "tmpfs", self.held)
        os.mkdir(os.path.join(self.held, "m"))
        self.mount()
        killed.write(os.path.join(self.nested, "a"), b"nested")
        killed.write(os.path.join(self.source, "b"), b"beside it")
        self.run(["add", self.source, f"{receiver.url}/{os.path.basename(folder)}/", "--after", "delete"])
        # Another batch needs the sources, so nothing is removed before it is cancelled.
        self.run(["add", self.source, f"{receiver.url}/more/{os.path.basename(folder)}/", "--name", "more"])
        self.run(["pause", "--batch", "more"])
        self.run(["run"], 5)
        self.run(["cancel", "--batch", "more"])

    def mount(self):
        mount("--bind", os.path.join(self.held, "m"), self.nested)

    def unmount(self):
        subprocess.run(["umount", self.nested], check=True)

    def run(self, words, *codes):
        ended = self.programs.run([*words, "--store", self.store])
        if ended.code not in (codes or (0,)):
            raise SystemExit(f"{words}: {ended}")

    def removals(self):
        with contextlib.closing(sqlite3.connect(self.store)) as db:
            return dict(
                (os.path.basename(os.fsdecode(path)), (state, cause)) for path, state, cause in db.execute(
                    "SELECT f.path, m.state, m.cause FROM removal m JOIN file f ON f.id = m.file_id"))

    def number_anew(self):
        """Simulates a restart: another boot, and other device numbers."""
        with contextlib.closing(sqlite3.connect(self.store)) as db, db:
            db.execute("UPDATE source_folder SET boot = boot + 1, device = device + 7")


def expect(what, found, wanted):
    if found != wanted:
        raise SystemExit(f"FAILED  {what}: {found}, expected {wanted}")


def away(case, is_restarted):
    case.unmount()
    if is_restarted:
        case.number_anew()
    for _ in range(3):
        case.run(["run"], 0, 3)
    expect("not mounted", case.removals(), {"a": ("pending", "source.missing"), "b": ("done", None)})
    case.mount()
    case.run(["run"], 0, 3)
    expect("mounted again", case.removals(), {"a": ("done", None), "b": ("done", None)})
    expect("mounted again", os.listdir(case.nested), [])


def gone(case, is_restarted):
    os.unlink(os.path.join(case.nested, "a"))
    if is_restarted:
        case.number_anew()
    case.run(["run"], 0, 3)
    expect("removed by hand", case.removals(), {"a": ("skipped", "source.missing"), "b": ("done", None)})


def refused(programs, root, receiver):
    """A folder to move sources to that cannot take them: nothing is sent."""
    folder = os.path.join(root, "refused")
    source, plain = os.path.join(folder, "in"), os.path.join(folder, "plain")
    for made in ("in", "plain", "bound", "fixed", "other"):
        os.makedirs(os.path.join(folder, made))
    killed.write(os.path.join(source, "a"), b"a")
    bound, fixed, other = (os.path.join(folder, name) for name in ("bound", "fixed", "other"))
    mount("--bind", plain, bound)
    mount("-t", "tmpfs", "tmpfs", other)
    # The sources themselves are on the read-only file system.
    mount("--bind", folder, fixed)
    mount("-o", "remount,bind,ro", fixed)
    cases = [(source, bound, "it is on another mount"), (source, other, "it is on another file system"),
             (os.path.join(fixed, "in"), os.path.join(fixed, "plain"), "it takes no files: read-only file system"),
             (source, os.path.join(folder, "none"), "there is no such folder")]
    try:
        for base, target, cause in cases:
            ended = programs.run(["push", base, f"{receiver.url}/refused/", "--after", f"move:{target}",
                                  "--store", os.path.join(folder, "ledger.db")])
            if ended.code not in (64, 66) or cause not in ended.err:
                raise SystemExit(f"FAILED  {target}: {ended}, expected {cause}")
        expect("refused", os.listdir(source), ["a"])
        ended = programs.run(["push", source, f"{receiver.url}/refused/", "--after", f"move:{plain}",
                              "--store", os.path.join(folder, "ledger.db")])
        expect("moved", (ended.code, os.listdir(plain)), (0, ["a"]))
    finally:
        for mounted in (bound, fixed, other):
            subprocess.run(["umount", mounted], check=True)


def main():
    root = sys.argv[1]
    programs = killed.Programs(ROOT)
    receiver = killed.Receiver(programs, root)
    try:
        for test in (away, gone):
            for is_restarted in (False, True):
                folder = os.path.join(root, f"{test.__name__}-{is_restarted}")
                os.mkdir(folder)
                test(Mounted(programs, folder, receiver), is_restarted)
        refused(programs, root, receiver)
    finally:
        receiver.stop()
    print("mounts: 5 cases, 0 failed", flush=True)


if __name__ == "__main__":
    main()
