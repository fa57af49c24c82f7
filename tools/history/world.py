"""The state between runs: the unfinished files, and what users do to them."""

import heapq
import itertools
import uuid

import ends
import names
from fates import Fates
from ledger import Ledger
from work import Work

MINUTE = 60_000
order = itertools.count()


class World:
    def __init__(self, plan, path, chance):
        self.plan, self.chance = plan, chance
        self.ledger, self.fates = Ledger(path, chance), Fates(plan, chance)
        self.backlog, self.crashed, self.agenda, self.run = {}, [], [], None
        self.aborts = []  # files and their abandoned sessions
        self.done, self.failed, self.files = {}, [], 0
        self.restart(plan.start - 40 * MINUTE)

    def restart(self, at):
        self.booted, self.boot = at, str(uuid.UUID(int=self.chance.getrandbits(128), version=4))

    def later(self, at, what):
        heapq.heappush(self.agenda, (at, next(order), what))

    def until(self, at):
        """What users do while no engine runs."""
        while self.agenda and self.agenda[0][0] <= at:
            when, _, what = heapq.heappop(self.agenda)
            what(when)

    # Batches and files.

    def record(self, batch, at, host, number):
        job = batch.job
        options = {"destination": host.destination, "options": host.options, "version": 1}
        place = host.place
        if host.is_download:
            options["download"] = {"folder": job.folder, "overwrites": False}
            place += " to " + job.folder
        batch.host, batch.created, batch.destination = host, at, self.ledger.destination(place)
        batch.id = self.ledger.batch(at, f"{job.name}-{number}" if number % 4 == 0 else None, host, job, batch.destination, options)
        for size in batch.sizes:
            self.record_file(batch, at, size)
        batch.sizes = []

    def record_file(self, batch, at, size):
        """One file in twelve was sent before, and has changed."""
        past, generation = self.done.setdefault(batch.job.name, []), 1
        old = past.pop(int(self.chance.random() * len(past))) if past and self.chance.random() < 0.08 else None
        if old:
            path, key, generation = old.path, old.key, old.generation + 1
            self.ledger.run("UPDATE file SET live = NULL WHERE id = ?", (old.id,))
        else:
            relative = names.name(self.files, self.chance)
            path, key = batch.job.folder.encode() + b"/" + relative, self.prefix(batch) + relative
        self.files += 1
        return self.add(batch, at, path, key, size, generation)

    @staticmethod
    def prefix(batch):
        """The path of the destination below its place."""
        return batch.host.destination.split("+")[-1].removeprefix(batch.host.place).encode()

    def add(self, batch, at, path, key, size, generation):
        number = self.ledger.file(at, batch, path, key, size, generation, 1_000_000 + self.files)
        work = self.backlog[number] = Work(number, batch, size, path, key, generation)
        return work

    def rests(self, work):
        if work.state != "paused":
            self.backlog.pop(work.id, None)
        if work.state == "done":
            self.done.setdefault(work.batch.job.name, []).append(work)
        elif work.state == "failed":
            self.failed.append(work)

    def replaced(self, run, work):
        size = self.chance.randrange(1 << 10, 4 << 20)
        following = self.add(work.batch, run.now, work.path, work.key, size, work.generation + 1)
        self.ledger.event(run.now, "superseded", work.batch.id, f"its source changed; f{following.id} follows", [work.id])
        run.admit(following)

    # Verbs.

    def of_batch(self, batch, *states):
        return [work for work in self.backlog.values() if work.batch is batch and work.state in states]

    def do(self, verb, batch, at):
        getattr(self, "do_" + verb)(batch, at)

    def do_set(self, batch, at):
        """A limit, while somebody else needs the bandwidth."""
        self.limit(batch, at, self.chance.choice((5, 10, 20)) << 20)
        self.later(at + self.chance.randrange(1, 15) * MINUTE, lambda when: self.limit(batch, when, 0))

    def limit(self, batch, at, rate):
        batch.rate = rate
        self.ledger.run("UPDATE batch SET rate = ? WHERE id = ?", (rate or None, batch.id))
        self.ledger.event(at, "set", batch.id, f"rate {rate} bytes/s" if rate else "rate none")

    def do_pause(self, batch, at):
        self.paused(at, self.of_batch(batch, "pending"))
        busy = self.of_batch(batch, "active", "finishing")
        self.ask(at, "pause", [work for work in busy if work.stop is None])
        if at < self.plan.start + (self.plan.days - 1) * 24 * 60 * MINUTE:
            self.later(at + self.chance.randrange(2, 70) * MINUTE, lambda when: self.do_resume(batch, when))

    def do_resume(self, batch, at):
        works = self.of_batch(batch, "paused")
        for work in works:
            self.ledger.move(work.id, "pending")
            work.state = "pending"
            if self.run:
                self.run.admit(work)
        # Files that should pause and still have a request in flight continue as if nothing had been requested.
        asked = [work for work in self.of_batch(batch, "active", "finishing") if work.stop and work.stop[0] == "pause"]
        for work in asked:
            self.ledger.run("UPDATE file SET requested_action = NULL WHERE id = ?", (work.id,))
            work.stop = None
            self.run.again(work)
        self.note(at, "resumed", works + asked)

    def do_cancel(self, batch, at):
        waiting = self.of_batch(batch, "pending")
        self.cancelled(at, waiting[len(waiting) // 2 :])
        self.ask(at, "cancel", [work for work in self.of_batch(batch, "active")[:1] if work.stop is None])

    def ask(self, at, wish, works):
        for work in works:
            work.stop = (wish, None)
            self.ledger.run("UPDATE file SET requested_action = ? WHERE id = ?", (wish, work.id))
        if works:
            self.ledger.event(at, "asked", works[0].batch.id, wish, [work.id for work in works])
        # Files with nothing in flight would never be checked again.
        for work in works:
            if work.flying == 0:
                ends.settle(self.run, work)

    def paused(self, at, works):
        for work in works:
            self.ledger.move(work.id, "paused", not_before=None)
            self.wake(work)
            work.state, work.due = "paused", 0
        self.note(at, "paused", works)

    def cancelled(self, at, works):
        self.note(at, "cancelled", works)
        for work in works:
            self.ledger.run(
                "UPDATE file SET state = 'cancelled', live = NULL, not_before = NULL, cause = 'policy.cancelled', "
                "finished_at = max(coalesce(started_at, 0), ?) WHERE id = ?", (at, work.id))  # fmt: skip
            self.wake(work)
            work.state = "cancelled"
            ends.abort(self, work, at)
            self.rests(work)

    def wake(self, work):
        self.ledger.run("UPDATE chunk SET state = 'pending', not_before = NULL WHERE file_id = ? AND state = 'waiting'", (work.id,))
        for part in work.parts or ():
            part.state = "pending" if part.state == "waiting" else part.state

    def note(self, at, verb, works):
        if works:
            self.ledger.event(at, verb, works[0].batch.id, "", [work.id for work in works])

    def retry(self, at):
        """A user checks in the morning, and retries files that failed for a transient reason."""
        works = [work for work in self.failed if work.stop and not work.stop[1].is_permanent]
        self.failed = []
        for work in works:
            self.ledger.move(work.id, "pending", live=1, hidden=None, cause=None, message=None, finished_at=None, not_before=None, failures=0)
            self.ledger.run("UPDATE chunk SET state = 'pending', failures = 0 WHERE file_id = ? AND state = 'failed'", (work.id,))
            for part in work.parts or ():
                part.state, part.failures = "done" if part.state == "done" else "pending", 0
            work.state, work.stop, work.failures, work.due = "pending", None, 0, 0
            self.backlog[work.id] = work
        for batch in {work.batch.id: work.batch for work in works}.values():
            self.note(at, "retried", [work for work in works if work.batch is batch])

    def clean(self, batch, at):
        """A user hides the done files of a batch."""
        files = [row[0] for row in self.ledger.run("SELECT id FROM file WHERE batch_id = ? AND state = 'done' AND hidden IS NULL", (batch.id,))]
        self.ledger.run("UPDATE file SET hidden = 1 WHERE batch_id = ? AND state = 'done'", (batch.id,))
        if files:
            self.ledger.event(at, "cleaned", batch.id, "", files)
