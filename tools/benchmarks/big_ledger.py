#!/usr/bin/env python3
"""Makes a large ledger of transfers for measurements: real schema, rows in every state, as fast as SQLite can write.

    tools/benchmarks/big_ledger.py LEDGER [--files N] [--batches N] [--pending N] [--waiting N] [--failed N]
                                   [--paused N] [--retried N] [--parts N] [--events N]

The schema comes from migrations/. Rows are inserted in their final state: the triggers that guard inserts and
transitions are dropped meanwhile and recreated with their own text; every CHECK and index stays active. Files that are
not pending, waiting, failed or paused are done, with one chunk (eight for --parts files), attempts and a receipt. The
same arguments make the same rows. "transfers store check" finds nothing wrong in it.
"""
import argparse
import glob
import os
import random
import sqlite3
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "tools", "lib"))
sys.dont_write_bytecode = True

import log_leaves  # noqa: E402

MIGRATIONS = os.path.join(ROOT, "migrations")
APPLICATION_ID = 0x54524653
START = 1_760_000_000_000  # ms
DONE_MS = 40  # one file starts this much later than the one before


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ledger", help="file to make; must not exist")
    parser.add_argument("--files", type=int, default=1_000_000)
    parser.add_argument("--batches", type=int, default=100)
    parser.add_argument("--pending", type=int, default=60_000, help="ready to send")
    parser.add_argument("--waiting", type=int, default=10_000, help="pending, in backoff after one attempt")
    parser.add_argument("--failed", type=int, default=2_000)
    parser.add_argument("--paused", type=int, default=0)
    parser.add_argument("--retried", type=int, default=20_000, help="done files that needed a second attempt")
    parser.add_argument("--parts", type=int, default=1_000, help="done files of eight parts")
    parser.add_argument("--events", type=int, default=0, help="additional rows of history")
    asked = parser.parse_args()
    if asked.pending + asked.waiting + asked.failed + asked.paused + asked.parts > asked.files or asked.batches < 1:
        parser.error("more files in the named states than --files")
    if os.path.exists(asked.ledger):
        parser.error(f"{asked.ledger} exists")
    return asked


def uid(i, ms=START):
    """A UUIDv7 of the time `ms`, with bits that are derived from a number."""
    return ms.to_bytes(6, "big") + bytes((0x70 | i >> 8 & 0xF, i & 0xFF, 0x80)) + (i * 2654435761 % 2**56).to_bytes(7, "big")


def ledger_uid(i, ms=START):
    """The same with a check sum in the 12 bits of the number, as a ledger has it: UID.makeChecked."""
    made = uid(i, ms)
    high, low = int.from_bytes(made[:8], "big") & ~0xFFF, int.from_bytes(made[8:], "big")
    mixed, all_64_bits = high, 2**64 - 1
    for word in (low, 0x9E3779B97F4A7C15):
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & all_64_bits
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & all_64_bits
        mixed = (mixed ^ mixed >> 31) + word & all_64_bits
    return (high | mixed >> 52).to_bytes(8, "big") + made[8:]


def create(path, number=0):
    """An empty ledger; `number` makes its uid differ from others."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=OFF")
    db.execute("PRAGMA cache_size=-200000")
    names = sorted(glob.glob(os.path.join(MIGRATIONS, "*.sql")))
    for name in names:
        with open(name, encoding="utf-8") as file:
            db.executescript(file.read())
    db.execute(
        "INSERT INTO store_meta (id, uid, schema_version, view_version, created_by, created_at) VALUES (1, ?, ?, 1, ?, ?)",
        (ledger_uid(number), len(names), "big_ledger.py", START))
    db.execute(f"PRAGMA application_id={APPLICATION_ID}")
    db.execute(f"PRAGMA user_version={len(names)}")
    return db


def state_of(i, asked, retried):
    """The state of file i: the newest files are the unfinished ones, as in real use."""
    rest = asked.files - i
    if rest < asked.pending:
        return "pending"
    rest -= asked.pending
    if rest < asked.waiting:
        return "waiting"
    rest -= asked.waiting
    if rest < asked.paused:
        return "paused"
    if i in retried:
        return retried[i]
    return "done"


def plan(asked, chance):
    """Which of the finished files are special."""
    finished = asked.files - asked.pending - asked.waiting - asked.paused
    count = min(finished, asked.failed + asked.parts + asked.retried)
    special = chance.sample(range(1, finished + 1), count)
    names = ["failed"] * asked.failed + ["parts"] * asked.parts + ["retried"] * asked.retried
    return dict(zip(special, names))


class Rows:
    """Collects rows and writes them in groups."""

    def __init__(self, db):
        self.db = db
        self.waiting = {}

    def add(self, sql, row):
        rows = self.waiting.setdefault(sql, [])
        rows.append(row)

    def flush(self):
        # Parents first: in the order in which the statements were first used.
        for sql, rows in self.waiting.items():
            self.db.executemany(sql, rows)
            rows.clear()


FILE = """INSERT INTO file (id, uid, batch_id, destination_id, generation, live, path, key, size, mtime_ns, ctime_ns, inode, device,
  mode, state, cause, message, priority, not_before, failures, chunk_size, chunk_count, created_at, started_at, finished_at)
  VALUES (?, ?, ?, 1, 1, ?, ?, ?, ?, ?, ?, ?, 64769, 33188, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?)"""
CHUNK = """INSERT INTO chunk (id, file_id, seq, offset, length, state, failures, etag, digest, confirmation, done_attempt)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
ATTEMPT = """INSERT INTO attempt (id, uid, file_id, chunk_id, run_id, operation, n, is_repeatable, started_at, outcome, ended_at,
  error_code, message, http_status, curl_code, bytes_transferred, bytes_acked, dns_ms, connect_ms, first_byte_ms, total_ms, remote_ip,
  http_version, request_id, backoff_ms, may_have_arrived)
  VALUES (?, ?, ?, ?, 1, ?, ?, 1, ?, ?, ?, ?, ?, ?, 0, ?, ?, 0, 1, ?, ?, '192.0.2.7', '1.1', ?, ?, 1)"""
RECEIPT = """INSERT INTO receipt (file_id, size, attempt_id, confirmation, digest, remote_digest, etag, version_id, request_id, server_date, location,
  recorded_at) VALUES (?, ?, ?, 'digest', ?, ?, ?, '', ?, 'Thu, 09 Oct 2025 08:53:20 GMT', ?, ?)"""


class Maker:
    def __init__(self, db, asked):
        self.rows = Rows(db)
        self.asked = asked
        self.chance = random.Random(7)
        self.special = plan(asked, self.chance)
        self.chunks = 0
        self.attempts = 0

    def file(self, i):
        asked = self.asked
        state = state_of(i, asked, self.special)
        batch = 1 + (i - 1) * asked.batches // asked.files
        size = self.chance.randrange(1, 1 << 20) if state != "parts" else (8 << 20) * 7 + self.chance.randrange(1, 8 << 20)
        chunk_size = 8 << 20 if state == "parts" else size
        planned = state not in ("pending", "paused")
        count = -(-size // chunk_size) if planned else None
        started = START + i * DONE_MS if planned else None
        ended = None
        if planned:
            ended = started + 20 + self.chance.randrange(400)
        rested = state in ("done", "parts", "retried", "failed")
        stored = {"waiting": "pending", "parts": "done", "retried": "done"}.get(state, state)
        path = b"/data/archive/%04d/%08d.bin" % (i // 1000, i)
        self.rows.add(FILE, (
            i, uid(i, START - 1000), batch, None if stored == "failed" else 1, path, b"in/%04d/%08d.bin" % (i // 1000, i), size,
            (START - i) * 1_000_000, (START - i) * 1_000_000, i + 1000, stored,
            "http.413" if stored == "failed" else "http.503" if state == "waiting" else None,
            "payload too large" if stored == "failed" else None,
            ended + 600_000_000_000 if state == "waiting" else None, 1 if state == "waiting" else 0,
            chunk_size if planned else None, count, START - 1000, started, ended + 300 * (state == "retried") if rested else None))
        if planned:
            self.chunks_of(i, state, size, chunk_size, count, started, ended)
        if stored == "done":
            digest = "crc64nvme:%016x" % i
            self.rows.add(RECEIPT, (
                i, size, self.attempts, digest, digest, '"%032x"' % i, "R%08d" % i, "s3://bucket/in/%04d/%08d.bin" % (i // 1000, i),
                ended + 300 * (state == "retried")))

    def chunks_of(self, i, state, size, chunk_size, count, started, ended):
        for seq in range(count):
            self.chunks += 1
            chunk = self.chunks
            length = min(chunk_size, size - seq * chunk_size)
            if state in ("failed", "waiting"):
                code = ("fatal", "http.413", 413) if state == "failed" else ("retry", "http.503", 503)
                self.attempt(i, chunk, "part", 1, started, ended, *code, length, 0)
                row = ("failed" if state == "failed" else "pending", 1, None, None, None, None)
            else:
                n, start = 1, started
                if state == "retried":
                    self.attempt(i, chunk, "part", 1, started, started + 250, "retry", "http.503", 503, length // 2, 0)
                    n, start = 2, started + 300
                self.attempt(i, chunk, "part", n, start, ended + start - started, "ok", None, 200, length, length)
                row = ("done", 0, '"%032x"' % i, "crc64nvme:%016x" % (i if count == 1 else chunk), "digest", self.attempts)
            self.rows.add(CHUNK, (chunk, i, seq, seq * chunk_size, length, *row))

    def attempt(self, file, chunk, operation, n, start, end, outcome, code, status, sent, acked):
        self.attempts += 1
        i = self.attempts
        self.rows.add(ATTEMPT, (
            i, uid(i, start), file, chunk, operation, n, start, outcome, end, code, "slow down" if status == 503 else None, status, sent, acked,
            end - start - 1, end - start, "R%08d" % i, 1000 if outcome == "retry" else None))


def fill(db, asked):
    guards = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    db.execute("BEGIN")
    for name, _ in guards:
        db.execute(f"DROP TRIGGER {name}")
    db.execute("PRAGMA defer_foreign_keys=ON")
    end = START + asked.files * DONE_MS + 10_000
    db.execute(
        "INSERT INTO engine_run (id, uid, argv, version, host, boot_id, pid, started_at, heartbeat_at, ended_at, how) "
        "VALUES (1, ?, '[\"run\"]', '0.1.0', 'bench', 'boot', 1, ?, ?, ?, 'done')", (uid(1), START, end, end))
    db.execute("INSERT INTO destination (id, place) VALUES (1, 's3://bucket/')")
    for i in range(1, asked.batches + 1):
        db.execute(
            "INSERT INTO batch (id, uid, name, destination_id, protocol, destination, settings, labels, priority, created_at) "
            "VALUES (?, ?, ?, 1, 's3', 's3://bucket/in/', '{\"destination\":\"s3://bucket/in/\"}', '{}', 0, ?)",
            (i, uid(i), f"batch-{i}", START - 1000))
        db.execute("INSERT INTO event (at, verb, batch_id, detail) VALUES (?, 'added', ?, 's3://bucket/in/')", (START - 1000, i))
    maker = Maker(db, asked)
    for i in range(1, asked.files + 1):
        maker.file(i)
        if i % 50_000 == 0:
            maker.rows.flush()
            print(f"\r{i} files", end="", file=sys.stderr)
    maker.rows.flush()
    db.executemany(
        "INSERT INTO event (at, verb, batch_id, detail) VALUES (?, 'added', 1, 'made up')",
        ((START + i,) for i in range(asked.events)))
    log_leaves.Log(db).append_all()
    for _, sql in guards:
        db.execute(sql)
    db.execute("COMMIT")
    print(f"\r{asked.files} files, {maker.chunks} chunks, {maker.attempts} attempts", file=sys.stderr)


def main():
    asked = arguments()
    db = create(asked.ledger)
    fill(db, asked)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    print(f"{os.path.getsize(asked.ledger) >> 20} MiB", file=sys.stderr)


if __name__ == "__main__":
    main()
