"""The log of a ledger, for programs that write its rows by SQL: leaves of receipts, ended attempts and events, in the
encoding of docs/receipts.md. It shares no code with Sources/TransferLedger/Log; "transfers store check" reports
differences between the two.
"""

import hashlib
import itertools

RECEIPT, ATTEMPT, EVENT, CREDITED = 1, 2, 3, 4  # in log_group.entries
GROUP = 1024  # maximum number of leaves in one row

# The columns of leaves in order: docs/receipts.md.
OF_RECEIPT = """SELECT r.file_id, r.n, f.uid, f.batch_id, f.generation, f.is_download, f.path, f.key, f.mtime_ns, r.finding, r.size,
  r.attempt_id, r.confirmation, r.digest, r.remote_digest, r.sha256, r.etag, r.version_id, r.request_id, r.server_date, r.location, r.note,
  r.recorded_at FROM receipt r CROSS JOIN file f ON f.id = r.file_id"""
OF_ATTEMPT = """SELECT id, uid, file_id, chunk_id, session_id, run_id, operation, n, is_repeatable, started_at, outcome, ended_at,
  error_code, message, http_status, curl_code, errno, bytes_transferred, bytes_acked, dns_ms, connect_ms, tls_ms, sent_ms,
  first_byte_ms, total_ms, held_ms, remote_ip, http_version, request_id, retry_after_ms, backoff_ms, reply_excerpt, may_have_arrived, mirror FROM attempt"""
OF_EVENT = "SELECT id, at, verb, batch_id, part_of, detail, origin_id, origin_event FROM event"
ROW = {RECEIPT: OF_RECEIPT + " WHERE r.file_id = ? AND r.n = ?", ATTEMPT: OF_ATTEMPT + " WHERE id = ?", EVENT: OF_EVENT + " WHERE id = ?"}
BATCH = """SELECT b.uid, b.name, b.direction, b.job, b.protocol, d.place, b.destination, b.settings, b.created_at
  FROM event e JOIN batch b ON b.id = e.batch_id JOIN destination d ON d.id = b.destination_id
  WHERE e.id = ? AND e.verb = 'added' AND e.at = b.created_at"""
RANGES = "SELECT first_file, last_file FROM event_range WHERE event_id = ? ORDER BY first_file"
END = "SELECT first_leaf + leaves FROM log_group ORDER BY first_leaf DESC LIMIT 1"


def cbor_head(major, value):
    if value < 24:
        return bytes((major << 5 | value,))
    width = next(width for width in range(4) if value < 1 << (8 << width))
    return bytes((major << 5 | 24 + width,)) + value.to_bytes(1 << width, "big")


def cbor(value):
    """An item of deterministic CBOR (RFC 8949 section 4.2.1)."""
    if value is None:
        return b"\xf6"
    if isinstance(value, int):
        return cbor_head(0, value) if value >= 0 else cbor_head(1, -1 - value)
    if isinstance(value, list):
        return cbor_head(4, len(value)) + b"".join(map(cbor, value))
    data = value.encode() if isinstance(value, str) else value
    return cbor_head(3 if isinstance(value, str) else 2, len(data)) + data


def packed(number):
    """Encodes with 7 bits per byte."""
    out = b""
    while number > 0x7F:
        out, number = out + bytes((number & 0x7F | 0x80,)), number >> 7
    return out + bytes((number,))


def entry(kind, *numbers):
    return bytes((kind,)) + b"".join(map(packed, numbers))


def leaf(kind, row):
    """The hash of the leaf of a row: RFC 6962 section 2.1. """
    return hashlib.sha256(b"\x00" + cbor([1, {RECEIPT: "receipt", ATTEMPT: "attempt", EVENT: "event"}[kind], *row])).digest()


def ranges(db, event):
    return list(itertools.chain.from_iterable(db.execute(RANGES, (event,))))


def of_event(db, row):
    """The items of the leaf of an event: its row, its ranges and, for the first of a batch, the request of that."""
    return (*row, ranges(db, row[0]), *(db.execute(BATCH, (row[0],)).fetchone() or ()))


class Log:
    """Appends rows to the log that the caller reports as ended. Nothing is written before `append`, in the transaction
    of the caller, and each leaf contains its row as it is then."""

    def __init__(self, db):
        self.db = db
        self.next = (db.execute(END).fetchone() or (0,))[0]
        self.ended = {}  # (kind, number or numbers of the row), and what the entry has behind them

    def receipt(self, file, n=1):
        self.ended[RECEIPT, file, n] = ()

    def attempt(self, number):
        self.ended[ATTEMPT, number] = ()

    def event(self, number):
        self.ended[EVENT, number] = ()

    def credited(self, attempt, transferred, acked):
        """Credits an attempt that ended before: bytes transferred and acknowledged as they were before the credit."""
        if (ATTEMPT, attempt) not in self.ended:
            self.ended.setdefault((CREDITED, attempt), (transferred, acked))

    def append(self):
        if self.ended:
            self.write((entry(*key, *more), self.hash(*key)) for key, more in self.ended.items())
            self.ended = {}

    def hash(self, kind, *key):
        kind = ATTEMPT if kind == CREDITED else kind
        row = self.db.execute(ROW[kind], key).fetchone()
        return leaf(kind, of_event(self.db, row) if kind == EVENT else row)

    def write(self, leaves):
        """Rows of log_group, from pairs of an entry and a hash."""
        leaves = iter(leaves)
        while group := list(itertools.islice(leaves, GROUP)):
            entries, hashes = (b"".join(parts) for parts in zip(*group))
            self.db.execute("INSERT INTO log_group VALUES (?, ?, ?, ?)", (self.next, len(group), entries, hashes))
            self.next += len(group)

    def append_all(self):
        """A leaf for each existing row, for a ledger without a log: faster than row by row."""
        self.write(self.everything())

    def everything(self):
        for row in self.db.execute(OF_EVENT + " ORDER BY id"):
            yield entry(EVENT, row[0]), leaf(EVENT, of_event(self.db, row))
        for row in self.db.execute(OF_ATTEMPT + " WHERE outcome <> 'open' ORDER BY id"):
            yield entry(ATTEMPT, row[0]), leaf(ATTEMPT, row)
        for row in self.db.execute(OF_RECEIPT + " ORDER BY r.file_id, r.n"):
            yield entry(RECEIPT, *row[:2]), leaf(RECEIPT, row)
