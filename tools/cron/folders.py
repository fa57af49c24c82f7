"""The source folders of a day of cron: what writers do there, and the expected results."""

import collections
import os
import time

Job = collections.namedtuple("Job", "name fate settle")
JOBS = (Job("kept", "keep", 0), Job("deleted", "delete", 0), Job("moved", "move", 0), Job("quiet", "delete", 1))


def crc32c(data):
    """Source: RFC 3720 appendix B.4."""
    value = 0xFFFFFFFF
    for byte in data:
        value = TABLE[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF


def entry(value):
    for _ in range(8):
        value = value >> 1 ^ 0x82F63B78 if value & 1 else value >> 1
    return value


TABLE = [entry(value) for value in range(256)]


class Generation:
    """One content under one name."""

    def __init__(self, data):
        self.data = data
        self.since = time.time()
        self.stored = 0  # times
        self.excuses = 0  # for storing it once more


class Source:
    def __init__(self, folder, job, rng):
        self.job, self.rng = job, rng
        self.folder, self.moved, self.spare = (f"{folder}/{what}-{job.name}" for what in ("source", "moved", "spare"))
        for path in (self.folder, self.moved, self.spare):
            os.mkdir(path)
        self.now = {}  # name: Generation
        self.past = {}  # name: all its generations
        self.growing = {}  # name: its final content
        self.count = 0
        self.stored = self.removed = 0
        self.done_for_sure = collections.Counter()

    # Writers

    def write(self, number):
        self.grow()
        for _ in range(self.rng.randrange(3)):
            self.act(number)

    def act(self, number):
        old = self.rng.choice([name for name in sorted(self.now) if name not in self.growing] or [None])
        what = self.rng.choice(("create", "create", "grow", "change", "rename", "delete"))
        if what == "create" and len(self.now) < 30:
            self.put(self.new_name(), self.new_content(number))
        elif what == "grow" and len(self.now) < 30:
            name, data = self.new_name(), self.new_content(number)
            self.growing[name] = data
            self.put(name, data[: self.rng.randrange(20, len(data))], in_place=True)
        elif old and what == "change":
            self.put(old, self.new_content(number), in_place=self.rng.random() < 0.5)
        elif old and what == "rename":
            generation, name = self.now.pop(old), self.new_name()
            os.rename(f"{self.folder}/{old}", f"{self.folder}/{name}")
            self.begin(name, generation.data)
        elif old and what == "delete":
            os.unlink(f"{self.folder}/{old}")
            del self.now[old]

    def new_name(self):
        self.count += 1
        return f"f{self.count}"

    def new_content(self, number):
        self.count += 1
        head = f"{self.job.name} {number} {self.count} ".encode().ljust(20, b".")
        return head + self.rng.randbytes(self.rng.choice((5, 400, 3_000, 20_000)))

    def put(self, name, data, in_place=False):
        path = f"{self.folder}/{name}" if in_place else f"{self.spare}/new"
        with open(path, "wb") as file:
            file.write(data)
        if not in_place:
            os.rename(path, f"{self.folder}/{name}")
        self.begin(name, data)

    def begin(self, name, data):
        generation = Generation(data)
        self.now[name] = generation
        self.past.setdefault(name, []).append(generation)

    def grow(self, whole=False):
        for name, data in sorted(self.growing.items()):
            here = self.now.get(name)
            if here is None:
                del self.growing[name]
                continue
            length = len(data) if whole else min(len(data), len(here.data) + self.rng.randrange(1, 12_000))
            if length > len(here.data):
                with open(f"{self.folder}/{name}", "ab") as file:
                    file.write(data[len(here.data) : length])
                self.begin(name, data[:length])
            if length == len(data):
                del self.growing[name]

    def finish_writing(self):
        self.grow(whole=True)

    # Checks

    def judge(self, events, is_clean, receiver, wrong):
        """The effects of this run, of whichever job, on the folder and its copy."""
        prefix = f"in/{self.job.name}/"
        lost = {event["path"] for event in events if event["t"] == "lost"}
        for event in events:
            if event["t"] == "commit" and event["path"].startswith(prefix):
                self.judge_commit(event, event["path"] in lost, is_clean, wrong)
        for name in [name for name in self.now if not os.path.lexists(f"{self.folder}/{name}")]:
            generation = self.now.pop(name)
            self.removed += 1
            if self.job.fate == "keep":
                raise wrong(f"{prefix}{name} was removed")
            if receiver.content(prefix + name) != generation.data:
                raise wrong(f"{prefix}{name} was removed, and the receiver does not have it")
            if self.job.fate == "move":
                with open(f"{self.moved}/{name}", "rb") as file:
                    if file.read() != generation.data:
                        raise wrong(f"{prefix}{name} was moved, and its content differs")

    def judge_commit(self, event, is_lost, is_clean, wrong):
        name = event["path"].split("/", 2)[2]
        self.stored += 1
        found = [one for one in self.past.get(name, ()) if len(one.data) == event["size"]]
        found = [one for one in found if f"{crc32c(one.data):08x}" == event["crc32c"]]
        if not found:
            raise wrong(f"{event['path']}: the receiver got content that the file never had")
        generation = found[-1]
        if event["at_ms"] / 1000 < generation.since + self.job.settle:
            raise wrong(f"{event['path']} was sent before its settle time had passed")
        generation.stored += 1
        if generation.stored > 1 + generation.excuses:
            raise wrong(f"{event['path']} was sent again")
        if is_lost or not is_clean:
            generation.excuses += 1
        else:
            self.done_for_sure[name] += 1

    def left(self, receiver):
        """The remaining work; empty when there is none."""
        prefix = f"in/{self.job.name}/"
        sent = {name: receiver.content(prefix + name) == one.data for name, one in self.now.items()}
        found = [f"{name} is not sent" for name, is_sent in sorted(sent.items()) if not is_sent]
        if self.job.fate != "keep":
            found += [f"{name} still exists" for name, is_sent in sorted(sent.items()) if is_sent]
        return ", ".join(found)
