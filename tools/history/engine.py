"""One run of the engine: claims files, keeps as many attempts in flight as the limits of the run and of each batch
allow, and writes each step at its time into the ledger. The order of the steps is that of Sources/TransferEngine.
"""

import collections
import heapq
import itertools

import ends
from ledger import END
from work import Flight, Slots

TRIES = 10  # of a part, or of another step of a file
LONGEST_BACKOFF = 60_000  # ms
# Processor time in ms: for the start of a process, for a request, and for a byte.
STARTING, REQUEST, BYTE = 15, 0.8, 1e-6
order = itertools.count()


class Run:
    """`world` has the ledger, the fates, the unfinished files, and the requests of users."""

    def __init__(self, world, at, words, workers):
        self.world, self.ledger, self.began, self.now = world, world.ledger, at, at
        self.id = self.ledger.begin_run(at, words, world.boot, at - world.booted, world.chance.randrange(800, 60_000))
        world.run = self
        self.timers, self.ready, self.flights = [], collections.deque(), set()
        self.sleep, self.woke, self.processor = None, at, STARTING
        self.slots = Slots(workers, self.ready)
        ends.recover(self)
        # Files that are not due yet have a timer; the rest are claimed in order.
        self.queue = collections.deque()
        for work in world.backlog.values():
            if work.state == "pending":
                self.admit(work)

    def admit(self, work):
        if work.due > self.now:
            self.at(work.due, self.queue.append, work)
        else:
            self.queue.append(work)

    def at(self, when, what, *words):
        heapq.heappush(self.timers, (when, next(order), what, words))

    def go(self, ends_at=None, how="crashed"):
        """Runs until nothing is left, or until it is killed or stopped at `ends_at`."""
        while True:
            while self.slots.free > 0 and self.start():
                pass
            self.ledger.log.append()
            if not self.timers:
                return self.end("paused" if any(w.state == "paused" for w in self.world.backlog.values()) else "done")
            agenda = self.world.agenda
            due = max(self.now, min(self.timers[0][0], agenda[0][0]) if agenda else self.timers[0][0])
            if self.sleep and self.sleep[0] <= due and (ends_at is None or self.sleep[0] < ends_at):
                self.fall_asleep(*self.sleep)
                continue
            if ends_at is not None and due >= ends_at:
                self.now = max(self.now, ends_at)
                return ends.crash(self) if how == "crashed" else ends.interrupt(self)
            self.now = due
            while agenda and agenda[0][0] <= due:
                heapq.heappop(agenda)[2](due)
            while self.timers and self.timers[0][0] <= due:
                _, _, what, words = heapq.heappop(self.timers)
                what(*words)

    def fall_asleep(self, at, length):
        """The machine is suspended. Attempts in flight continue where they were; what became due meanwhile is late."""
        self.sleep, self.now = None, at + length
        self.woke = self.now
        for flight in self.flights:
            flight.fate.fall_asleep(at - flight.began, length)
        self.timers = [
            (when + length if what == self.landed else max(when, self.now), number, what, words) for when, number, what, words in self.timers
        ]
        heapq.heapify(self.timers)
        self.ledger.event(self.now, "slept", None, f"the machine slept for {length} ms")

    def end(self, how):
        self.ledger.end_run(self.id, self.now, how, int(self.processor))
        self.world.run = None
        return self.now

    # Starting work.

    def start(self):
        """False when nothing can be done now."""
        while True:
            if self.world.aborts and ends.tell_server(self):
                return True
            if self.ready:
                work, operation, part, claim = self.ready.popleft()
                if work.claim != claim or work.stop or work.state not in ("active", "finishing"):
                    continue
                if not self.slots.hold(work.batch, (work, operation, part, claim)):
                    self.begin(work, operation, part)
                    return True
            elif self.queue:
                work = self.queue.popleft()
                if work.state == "pending":
                    self.claim(work)
            else:
                return False

    def claim(self, work):
        self.ledger.run(
            "UPDATE file SET state = 'active', run_id = ?, started_at = coalesce(started_at, ?), not_before = NULL WHERE id = ?",
            (self.id, self.now, work.id))  # fmt: skip
        work.state, work.due = "active", 0
        work.claim += 1
        if work.parts is None and not work.batch.host.is_download:
            work.lay_out(self.ledger)
        self.go_on(work)

    def go_on(self, work):
        if work.has_session and not work.is_open:
            if work.session is None:
                work.session = self.ledger.session(self.now, work.id, self.id)
            return self.ready.append((work, "create", None, work.claim))
        if work.left == 0:
            return self.finish(work)
        for part in work.parts:
            if part.state == "waiting" and part.due > self.now:
                self.at(part.due, self.wake, work, part, work.claim)
            elif part.state != "done":
                self.wake(work, part, work.claim)

    def again(self, work):
        """It continues after all: everything that is not in flight is restarted."""
        work.claim += 1
        in_flight = [flight for flight in self.flights if flight.work is work]
        if any(flight.part is None for flight in in_flight):
            return
        if work.left == 0:
            return self.finish(work) if work.state == "active" else self.ready.append((work, work.last_step, None, work.claim))
        self.go_on(work)

    def wake(self, work, part, claim):
        """Starts a part; if it was interrupted at a tus server, the offset is queried first."""
        if work.claim != claim or part.state not in ("pending", "waiting") or work.stop:
            return
        if part.state == "waiting":
            self.ledger.run("UPDATE chunk SET state = 'pending', not_before = NULL WHERE id = ?", (part.id,))
            part.state = "pending"
        self.ready.append((work, "probe" if part.senders and work.protocol == "tus" else "part", part, claim))

    def begin(self, work, operation, part):
        host, size = work.batch.host, 0
        if operation == "part":
            size = part.length - part.acked
            size = min(size, host.chunk) if host.protocol == "tus" else size
        number = self.ledger.begin(
            self.now, work.id, part and part.id, work.session, self.id, operation, work.number(operation, part), int(work.protocol != "post"))
        if part:
            part.state = "in_flight"
        self.slots.take(work.batch)
        most = work.batch.rate // self.slots.busy[work.batch.id]
        fate = self.world.fates.draw(host, operation, size, self.now, most)
        flight = Flight(number, work, part, operation, fate, self.now, size)
        self.flights.add(flight)
        work.flying += 1
        self.at(self.now + fate.total + 1 + int(self.world.chance.random() * 3), self.landed, flight)

    # Ending work.

    def landed(self, flight):
        if flight.is_over:
            return
        self.flights.discard(flight)
        work = flight.work
        self.slots.give(work.batch)
        work.flying -= 1
        if flight.fate.fault is None:
            self.close(flight, "ok", acked=flight.size)
            work.won = flight.id
            getattr(self, "did_" + flight.operation, self.complete)(work, flight)
        else:
            self.failed(work, flight, flight.fate.fault)
        # If it waited for another attempt, the request to stop would be lost.
        if work.stop and work.flying == 0 and work.state in ("active", "finishing", "pending"):
            ends.settle(self, work)

    def close(self, flight, outcome, acked=0, backoff=None):
        fate, fault, host = flight.fate, flight.fate.fault, flight.work.batch.host
        status = fault.status if fault else {"create": 201, "part": 206 if host.is_download else 200, "save": None}.get(flight.operation, 200)
        heard = fate.address is not None and fate.first_byte is not None
        self.processor += REQUEST + BYTE * fate.sent
        self.ledger.end(
            flight.id, END, outcome, self.now, fault and fault.code, fault and fault.message, status, fault.curl if fault else 0, fate.sent, acked,
            fate.dns, fate.connect, fate.tls, fate.body, fate.first_byte, fate.total, fate.held, fate.address, host.http if heard else None,
            "%016X" % self.world.chance.getrandbits(64) if heard and host.protocol == "s3" else None,
            fault and fault.retry_after, backoff, int(fault is not None and fault.is_unheard))  # fmt: skip

    def did_create(self, work, flight):
        self.ledger.open_session(work.session, self.now, f"{work.batch.host.place}-/{flight.id:x}")
        work.is_open = True
        if work.parts is None:
            work.lay_out(self.ledger)
        self.go_on(work)

    def did_part(self, work, flight):
        part = flight.part
        part.acked += flight.size
        part.failures, part.senders = 0, []
        if part.acked < part.length:
            self.ledger.chunk(part.id, "pending", acked=part.acked, failures=0, uncertain=0)
            part.state = "pending"
            return self.wake(work, part, work.claim)
        part.state = "done"
        work.digest = "crc64nvme:%016x" % self.world.chance.getrandbits(64)
        self.ledger.store(part.id, flight.id, work.digest, work.batch.host.confirmation)
        work.left -= 1
        if work.left == 0 and work.stop is None:
            self.finish(work)

    def did_probe(self, work, flight):
        """The server has a part of the bytes that were sent before the connection was lost."""
        part = flight.part
        sender, sent = part.senders[-1]
        found = int(sent * self.world.chance.random())
        part.acked += found
        part.senders, part.state = [], "pending"
        self.ledger.chunk(part.id, "pending", acked=part.acked, uncertain=0)
        if found:
            self.ledger.credit(sender, found)
        self.wake(work, part, work.claim)

    def finish(self, work):
        if work.last_step is None:
            return self.complete(work, None)
        self.ledger.move(work.id, "finishing")
        work.state = "finishing"
        self.ready.append((work, work.last_step, None, work.claim))

    def complete(self, work, _):
        ends.complete(self, work)

    def failed(self, work, flight, fault):
        part = flight.part
        failures = 1 + (part.failures if part else work.failures)
        is_last = fault.is_permanent or failures >= TRIES
        backoff = None
        if not is_last:
            backoff = fault.retry_after or int(min(1000 << failures - 1, LONGEST_BACKOFF) * self.world.chance.uniform(0.5, 1))
        is_unknown = fault.is_permanent and fault.is_unheard
        self.close(flight, "unknown" if is_unknown else "fatal" if is_last else "retry", backoff=backoff)
        if is_last:
            work.stop = ("changed" if fault.code == "source.changed" else "unknown" if is_unknown else "failed", fault)
        if part:
            part.failures = failures
            part.state = ("unknown" if is_unknown else "failed") if is_last else "waiting"
            if is_last:
                return self.ledger.chunk(part.id, part.state, **({} if is_unknown else {"failures": failures}))
            if fault.is_unheard and flight.fate.sent:
                part.senders.append((flight.id, flight.fate.sent))
            part.due = self.now + backoff
            self.ledger.chunk(part.id, "waiting", not_before=part.due, failures=failures, uncertain=int(fault.is_unheard))
            self.at(part.due, self.wake, work, part, work.claim)
        elif not is_last:
            work.failures, work.due = failures, self.now + backoff
            ends.requeue(self, work, fault.code)
