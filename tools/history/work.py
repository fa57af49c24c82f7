"""A file and its parts while it is transferred: the state that the engine keeps in memory."""

import collections

PARALLEL = ("s3", "get")  # protocols that send parts concurrently, each a chunk


class Part:
    __slots__ = ("id", "length", "acked", "failures", "state", "due", "senders")

    def __init__(self, number, length):
        self.id, self.length = number, length
        self.acked = self.failures = self.due = 0
        self.state = "pending"
        # Failed attempts and the bytes they sent: the server may have them.
        self.senders = []


class Work:
    __slots__ = ("id", "batch", "size", "path", "key", "generation", "state", "parts", "left", "session", "is_open", "counts", "failures",
                 "due", "flying", "stop", "claim", "won", "digest")  # fmt: skip

    def __init__(self, number, batch, size, path, key, generation):
        self.id, self.batch, self.size, self.path, self.key, self.generation = number, batch, size, path, key, generation
        self.state = "pending"
        self.parts = self.session = self.stop = self.digest = None
        self.is_open = False
        self.counts = {}
        self.left = self.failures = self.due = self.flying = self.claim = self.won = 0

    @property
    def protocol(self):
        return self.batch.host.protocol

    @property
    def part_length(self):
        if self.protocol in PARALLEL and self.size > self.batch.host.chunk:
            return self.batch.host.chunk
        return self.size

    @property
    def has_session(self):
        return self.protocol in ("tus", "get") or self.protocol == "s3" and self.part_length < self.size

    @property
    def last_step(self):
        """The operation after the last part; None for nothing."""
        if self.protocol == "s3":
            return "finish" if self.has_session else None
        return {"dav": "verify", "get": "save"}.get(self.protocol)

    def number(self, operation, part):
        """The number of the next attempt: attempts are counted for each operation, and for each chunk."""
        key = operation, part and part.id
        self.counts[key] = self.counts.get(key, 0) + 1
        return self.counts[key]

    def lay_out(self, ledger):
        length = self.part_length
        first = ledger.layout(self.id, self.size, length, self.batch.host.is_download)
        count = max(1, -(-self.size // length)) if length else 1
        self.parts = [Part(first + seq, min(length, self.size - seq * length)) for seq in range(count)]
        self.left = count


class Flight:
    """An attempt that has not ended yet."""

    __slots__ = ("id", "work", "part", "operation", "fate", "began", "size", "is_over")

    def __init__(self, number, work, part, operation, fate, began, size):
        self.id, self.work, self.part, self.operation, self.fate, self.began, self.size = number, work, part, operation, fate, began, size
        self.is_over = False


class Slots:
    """How many more requests a run may have in flight, and how many each batch has; the work that waits only for its
    batch."""

    def __init__(self, free, ready):
        self.free, self.ready = free, ready
        self.busy, self.held = collections.Counter(), collections.defaultdict(collections.deque)

    def is_full(self, batch):
        return self.busy[batch.id] >= batch.job.workers

    def hold(self, batch, request):
        """Whether it has to wait; it becomes ready again when a request of its batch has ended."""
        if self.is_full(batch):
            self.held[batch.id].append(request)
            return True
        return False

    def take(self, batch):
        self.free -= 1
        self.busy[batch.id] += 1

    def give(self, batch):
        self.free += 1
        self.busy[batch.id] -= 1
        if self.held[batch.id]:
            self.ready.appendleft(self.held[batch.id].popleft())
