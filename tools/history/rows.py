"""The rows of a ledger as plain Python values, for the oracle. Reads tables only: no view, no sum, no join of the
product.

Files and batches are kept in memory, attempts and chunks are read when they are needed: about 200 MB for a million
attempts.
"""

import collections
import json
import sqlite3
import urllib.parse

Batch = collections.namedtuple("Batch", "id name job direction destination settings created_at")
File = collections.namedtuple(
    "File", "id uid batch generation path key size state cause message hidden created_at started_at finished_at first_chunk_size destination")  # fmt: skip
Attempt = collections.namedtuple(
    "Attempt", "id uid file chunk run operation n started_at ended_at outcome error_code message http_status curl_code bytes_transferred "
    "bytes_acked connect_ms first_byte_ms total_ms remote_ip http_version request_id backoff_ms dns_ms tls_ms sent_ms held_ms mirror after_its_end counted session")  # fmt: skip
Chunk = collections.namedtuple("Chunk", "id file seq length state acked losses reused done_attempt")
Receipt = collections.namedtuple("Receipt", "file size confirmation digest recorded_at")
Event = collections.namedtuple("Event", "id at verb batch detail")
Run = collections.namedtuple("Run", "id host boot_id started_at heartbeat_at ended_at how version boot_ms")

# Sessions that were given up, and whose file began again in another one: what they stored was lost.
LOST_SESSIONS = (
    "SELECT s.id FROM session s WHERE (s.state IN ('gone', 'aborted') OR s.abort_after IS NOT NULL) "
    "AND EXISTS (SELECT 1 FROM session n WHERE n.file_id = s.file_id AND n.id > s.id)"
)


class Store:
    def __init__(self, path):
        self.db = sqlite3.connect(f"file:{urllib.parse.quote(path)}?mode=ro", uri=True)
        self.db.text_factory = lambda text: text.decode("utf-8", "replace")
        self.batches = {row.id: row for row in self.all(
            Batch, "SELECT id, name, job, direction, destination, settings, created_at FROM batch")}  # fmt: skip
        places = dict(self.db.execute("SELECT id, place FROM destination"))
        self.files = {}
        for row in self.db.execute(
                "SELECT id, uid, batch_id, generation, path, key, size, state, cause, message, hidden, created_at, started_at, finished_at, "
                "first_chunk_size, destination_id FROM file"):  # fmt: skip
            self.files[row[0]] = File(*row[:-1], places[row[-1]])
        self.receipts = {row.file: row for row in self.all(
            Receipt, "SELECT file_id, size, confirmation, digest, recorded_at FROM receipt WHERE n = 1")}  # fmt: skip
        self.lost_sessions = {number for number, in self.db.execute(LOST_SESSIONS)}
        self.hosts = {batch.id: host(batch) for batch in self.batches.values()}

    def host_of(self, attempt):
        """The mirror that it was sent to, or the server of its batch."""
        return attempt.mirror or self.hosts[self.files[attempt.file].batch]

    def all(self, kind, sql):
        return map(kind._make, self.db.execute(sql))

    def attempts(self):
        """In the order of their numbers."""
        return self.all(
            Attempt, "SELECT id, uid, file_id, chunk_id, run_id, operation, n, started_at, ended_at, outcome, error_code, message, http_status, "
            "curl_code, bytes_transferred, bytes_acked, connect_ms, first_byte_ms, total_ms, remote_ip, http_version, request_id, backoff_ms, "
            "dns_ms, tls_ms, sent_ms, held_ms, mirror, operation = 'abort' OR (operation IN ('verify', 'probe') AND chunk_id IS NULL "
            "AND started_at > (SELECT finished_at FROM file WHERE file.id = file_id AND state = 'done')), "
            f"iif((SELECT state FROM file WHERE file.id = file_id) = 'superseded' OR session_id IN ({LOST_SESSIONS}), 0, bytes_acked), "
            "session_id FROM attempt ORDER BY id")  # fmt: skip

    def chunks(self):
        return self.all(Chunk, "SELECT id, file_id, seq, length, state, acked, losses, reused, done_attempt FROM chunk")

    def events(self):
        return self.all(Event, "SELECT id, at, verb, batch_id, detail FROM event ORDER BY id")

    def runs(self):
        return self.all(Run, "SELECT id, host, boot_id, started_at, heartbeat_at, ended_at, how, version, heartbeat_boot_ms - started_boot_ms "
                             "FROM engine_run ORDER BY id")  # fmt: skip

    def file_ranges(self):
        """For each event, in order: its number, and the first and the last file of a range."""
        return self.db.execute("SELECT event_id, first_file, last_file FROM event_range ORDER BY event_id, first_file")

    def error_codes(self):
        return {code: (category, hint) for code, category, hint in self.db.execute("SELECT code, category, hint FROM error_code")}


def host(batch):
    """Name and port of the server: those of the endpoint if there is one, otherwise of the destination."""
    settings = json.loads(batch.settings)
    options = settings.get("options") or {}
    return urllib.parse.urlsplit(options.get("endpoint-url") or batch.destination).netloc.lower()


class Selection:
    """The rows that a report covers. ux 2.3: windows are [since, until); attempts match by overlap with the window,
    files by their end, those without an end by when they were recorded. Times in ms."""

    def __init__(self, store, since=None, until=None, batches=()):
        self.store, self.since, self.until, self.batches = store, since, until, set(batches)

    def in_window(self, at):
        return (self.since is None or at >= self.since) and (self.until is None or at < self.until)

    def has_file(self, file):
        return self.is_of_batch(file) and self.in_window(file.created_at if file.finished_at is None else file.finished_at)

    def is_of_batch(self, file):
        return not self.batches or file.batch in self.batches

    def files(self):
        return [file for file in self.store.files.values() if self.has_file(file)]

    def has_attempt(self, attempt):
        return (self.is_of_batch(self.store.files[attempt.file])
                and (self.since is None or attempt.ended_at is None or attempt.ended_at >= self.since)
                and (self.until is None or attempt.started_at < self.until))  # fmt: skip

    def attempts(self):
        if self.since is None and self.until is None and not self.batches:
            return self.store.attempts()
        return filter(self.has_attempt, self.store.attempts())
