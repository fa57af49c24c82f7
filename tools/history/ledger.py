"""Writes a history into a ledger as the engine does: rows are inserted as the schema demands and change by the
transitions that its triggers allow. Nothing is switched off except the wait for the disk.

One connection; the caller decides when it commits, and when the log gets the leaves of what has ended since. Times are
milliseconds since 1970 UTC.
"""

import json
import sqlite3

import log_leaves

VERSION = "0.1.0"
MACHINE = "transfer-1"

BEGIN = """INSERT INTO attempt (id, uid, file_id, chunk_id, session_id, run_id, operation, n, is_repeatable, started_at, outcome)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open')"""
END = """UPDATE attempt SET outcome = ?, ended_at = ?, error_code = ?, message = ?, http_status = ?, curl_code = ?,
  bytes_transferred = ?, bytes_acked = ?, dns_ms = ?, connect_ms = ?, tls_ms = ?, sent_ms = ?, first_byte_ms = ?, total_ms = ?,
  held_ms = ?, remote_ip = ?, http_version = ?, request_id = ?, retry_after_ms = ?, backoff_ms = ?, may_have_arrived = ?
  WHERE id = ? AND outcome = 'open'"""
FILE = """INSERT INTO file (uid, batch_id, destination_id, generation, live, path, key, is_download, size, mtime_ns, ctime_ns,
  inode, device, mode, state, priority, created_at) VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', 0, ?)"""
DONE_CHUNK = """UPDATE chunk SET state = 'done', etag = ?, digest = ?, confirmation = ?, done_attempt = ?, failures = 0,
  uncertain = 0, acked = 0 WHERE id = ?"""
RECEIPT = """INSERT INTO receipt (file_id, size, attempt_id, confirmation, digest, remote_digest, etag, version_id, request_id,
  server_date, location, recorded_at) VALUES (?, ?, ?, ?, ?, ?, ?, '', ?, ?, ?, ?)"""
CREDIT = """UPDATE attempt SET bytes_acked = bytes_acked + ?1,
  bytes_transferred = iif(bytes_transferred < bytes_acked + ?1, bytes_acked + ?1, bytes_transferred) WHERE id = ?2"""

LAST_SIGN = """SELECT max(r.started_at + r.heartbeat_boot_ms - r.started_boot_ms,
  (SELECT max(max(a.started_at, coalesce(s.opened_at, 0))) FROM attempt a LEFT JOIN session s ON s.id = a.session_id
    WHERE a.outcome = 'open' AND a.run_id = r.id))
  FROM engine_run r WHERE r.id = (SELECT run_id FROM attempt WHERE id = ?1)"""


class Ledger:
    def __init__(self, path, chance):
        self.db = sqlite3.connect(path, isolation_level=None)
        self.chance = chance
        self.attempts = self.chunks = 0
        for pragma in ("foreign_keys=ON", "synchronous=OFF", "cache_size=-262144", "temp_store=MEMORY", "wal_autocheckpoint=20000"):
            self.db.execute(f"PRAGMA {pragma}")
        self.run = self.db.execute
        self.db.execute("BEGIN")
        self.log = log_leaves.Log(self.db)

    def commit(self):
        self.log.append()
        self.db.execute("COMMIT")
        self.db.execute("BEGIN")

    def close(self):
        self.log.append()
        self.db.execute("COMMIT")
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.db.close()

    def uid(self, at):
        """A UUIDv7 (RFC 9562, section 5.7)."""
        bits = self.chance.getrandbits(74)
        return (at << 80 | 7 << 76 | (bits >> 62) << 64 | 2 << 62 | bits & (1 << 62) - 1).to_bytes(16, "big")

    # Batches, files and chunks.

    def destination(self, place):
        found = self.run("SELECT id FROM destination WHERE place = ?", (place,)).fetchone()
        return found[0] if found else self.run("INSERT INTO destination (place) VALUES (?)", (place,)).lastrowid

    def batch(self, at, name, host, job, destination, settings):
        number = self.run(
            "INSERT INTO batch (uid, name, direction, job, destination_id, protocol, destination, settings, labels, priority, "
            "workers, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)",
            (self.uid(at), name, "download" if host.is_download else "upload", job.name, destination, host.protocol,
             host.destination, json.dumps(settings, separators=(",", ":")), json.dumps(job.labels, separators=(",", ":")),
             job.workers, at)).lastrowid  # fmt: skip
        self.event(at, "added", number, host.destination)
        return number

    def file(self, at, batch, path, key, size, generation, inode):
        is_download = batch.host.is_download
        seen = (at - 3_600_000) * 1_000_000
        # Nothing is known yet about a file to be fetched.
        known = (None, None, None, None, None, 0) if is_download else (size, seen, seen, inode, 64769, 0o100644)
        return self.run(
            FILE, (self.uid(at), batch.id, batch.destination, generation, path, key, 1 if is_download else None, *known, at)).lastrowid

    def layout(self, file, size, length, is_download):
        """Stores the size of a download, which is known now. Returns the number of its first chunk."""
        if is_download:
            self.run("UPDATE file SET size = ?, inode = ?, device = 64769 WHERE id = ?", (size, file + 5_000_000, file))
        count = max(1, -(-size // length)) if length else 1
        self.run("UPDATE file SET chunk_size = ?, chunk_count = ? WHERE id = ?", (length, count, file))
        first = self.chunks + 1
        self.db.executemany(
            "INSERT INTO chunk (id, file_id, seq, offset, length, state) VALUES (?, ?, ?, ?, ?, 'pending')",
            ((first + seq, file, seq, seq * length, min(length, size - seq * length)) for seq in range(count)))  # fmt: skip
        self.chunks += count
        return first

    def chunk(self, number, state, **values):
        names = "".join(f", {name} = ?" for name in values)
        self.run(f"UPDATE chunk SET state = ?{names} WHERE id = ?", (state, *values.values(), number))

    def store(self, chunk, attempt, digest, confirmation):
        self.run(DONE_CHUNK, ('"%s"' % digest[-16:], digest, confirmation, attempt, chunk))

    def move(self, file, state, **values):
        names = "".join(f", {name} = ?" for name in values)
        self.run(f"UPDATE file SET state = ?{names} WHERE id = ?", (state, *values.values(), file))

    # Attempts and sessions.

    def begin(self, at, file, chunk, session, run, operation, n, is_repeatable):
        self.attempts += 1
        self.run(BEGIN, (self.attempts, self.uid(at), file, chunk, session, run, operation, n, is_repeatable, at))
        if chunk is not None:
            self.run("UPDATE chunk SET state = 'in_flight', not_before = NULL WHERE id = ?", (chunk,))
        return self.attempts

    def end(self, attempt, sql, *values):
        self.run(sql, (*values, attempt))
        self.log.attempt(attempt)

    def session(self, at, file, run):
        return self.run("INSERT INTO session (file_id, run_id, state, intended_at) VALUES (?, ?, 'intended', ?)", (file, run, at)).lastrowid

    def open_session(self, session, at, remote):
        self.run("UPDATE session SET state = 'open', remote_id = ?, opened_at = ? WHERE id = ?", (remote, at, session))

    def end_session(self, session, at, state):
        self.run("UPDATE session SET state = ?, ended_at = ? WHERE id = ?", (state, at, session))

    def credit(self, attempt, size):
        """Adds bytes that the server turned out to have from a failed attempt."""
        before = self.run("SELECT bytes_transferred, bytes_acked FROM attempt WHERE id = ?", (attempt,)).fetchone()
        self.run(CREDIT, (size, attempt))
        self.log.credited(attempt, *before)

    def receipt(self, file, *values):
        self.run(RECEIPT, (file, *values))
        self.log.receipt(file)

    # Runs and events.

    def begin_run(self, at, words, boot, boot_ms, pid):
        self.run("UPDATE engine_run SET ended_at = max(started_at, ?), how = 'crashed' WHERE ended_at IS NULL", (at,))
        return self.run(
            "INSERT INTO engine_run (uid, argv, version, host, boot_id, pid, started_at, heartbeat_at, started_boot_ms, "
            "heartbeat_boot_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (self.uid(at), json.dumps(words), VERSION, MACHINE, boot, pid, at, at, boot_ms, boot_ms)).lastrowid  # fmt: skip

    def heartbeat(self, run, at, processor_ms):
        self.run(
            "UPDATE engine_run SET heartbeat_boot_ms = started_boot_ms + ?1 - started_at, heartbeat_at = ?1, processor_ms = ?3 WHERE id = ?2",
            (at, run, processor_ms))  # fmt: skip

    def last_sign(self, attempt):
        """The last sign of life of the run of this open attempt."""
        return self.run(LAST_SIGN, (attempt,)).fetchone()[0]

    def end_run(self, run, at, how, processor_ms):
        self.heartbeat(run, at, processor_ms)
        self.run("UPDATE engine_run SET ended_at = ?, how = ? WHERE id = ?", (at, how, run))

    def event(self, at, verb, batch, detail, files=()):
        number = self.run("INSERT INTO event (at, verb, batch_id, detail) VALUES (?, ?, ?, ?)", (at, verb, batch, detail)).lastrowid
        self.log.event(number)
        first = last = None
        for file in sorted(files):
            if last is not None and file == last + 1 and last - first < 4095:
                last = file
                continue
            if first is not None:
                self.run("INSERT INTO event_range VALUES (?, ?, ?)", (number, first, last))
            first = last = file
        if first is not None:
            self.run("INSERT INTO event_range VALUES (?, ?, ?)", (number, first, last))
