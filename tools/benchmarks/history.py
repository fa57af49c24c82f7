"""The cost of commands in ledgers with little and with much history: 10,000 and 1,000,000 files (--long: 10,000,000),
three attempts each.

Ledgers are made by SQL in their final state, like those of big_ledger.py. Those of more than 100,000 files have no
leaves in the log, which would take minutes: the measured commands append to the log and do not read it; "store check"
would report every row there. Batch 1 has 1,000 real files, sent long ago; batch 2 is a small one of 1,000 paused files,
batch 3 a tenth of all files (at most 100,000), paused; batch 4 is the history: done, failed and cancelled. While a verb
runs, another writer takes the write turn and then the lock again and again, as an engine does: its longest wait is
reported. At the end an engine sends two files to a server that never answers: `control` is the time from starting
`cancel` until the engine releases both.
"""

import contextlib
import fcntl
import os
import shutil
import socket
import sqlite3
import statistics
import struct
import subprocess
import threading
import time

import big_ledger
import commands
import measure

REAL, SMALL = 1_000, 1_000
SETTINGS = '{"destination":"%s","expectContinue":false,"ifNoneMatch":false,"unsignedPayload":false,"version":1}'

FILES = """
  WITH RECURSIVE n(i) AS (SELECT :first UNION ALL SELECT i + 1 FROM n WHERE i < :last),
  f AS (SELECT i, CASE WHEN :batch <> 4 THEN 'paused' WHEN i % 20 = 3 THEN 'failed' WHEN i % 50 = 7 THEN 'cancelled' ELSE 'done' END s FROM n)
  INSERT INTO file (id, uid, batch_id, destination_id, generation, live, path, key, size, mtime_ns, ctime_ns, inode, device, mode, state, cause,
    message, priority, chunk_size, chunk_count, created_at, started_at, finished_at)
  SELECT i, uid(i, :start), :batch, 1, 1, iif(s IN ('failed', 'cancelled'), NULL, 1), CAST(printf('/data/%05d/%08d.bin', i / 1000, i) AS BLOB),
    CAST(printf('old/%05d/%08d.bin', i / 1000, i) AS BLOB), 16384 + i % 1000, i, i, i, 64769, 33188, s,
    CASE s WHEN 'failed' THEN 'http.413' WHEN 'cancelled' THEN 'policy.cancelled' END, iif(s = 'failed', 'payload too large', NULL), 0,
    iif(s IN ('done', 'failed'), 16384 + i % 1000, NULL), iif(s IN ('done', 'failed'), 1, NULL), :start,
    iif(s IN ('done', 'failed'), :start + i * 40, NULL), iif(s = 'paused', NULL, :start + i * 40 + 700) FROM f"""
# Rows are numbered without gaps: a file that was sent has one number for its chunk, and three for its attempts.
SENT = "INSERT INTO temp.sent (id) SELECT id FROM file WHERE chunk_count = 1 AND id BETWEEN :first AND :last ORDER BY id"
CHUNKS = """
  INSERT INTO chunk (id, file_id, seq, offset, length, state, failures, etag, digest, confirmation, done_attempt)
  SELECT s.number, f.id, 0, 0, size, state, iif(state = 'failed', 3, 0), iif(state = 'done', '"' || f.id || '"', NULL),
    iif(state = 'done', printf('crc64nvme:%016x', f.id), NULL), iif(state = 'done', 'digest', NULL), iif(state = 'done', s.number * 3, NULL)
  FROM temp.sent s JOIN file f ON f.id = s.id WHERE s.id BETWEEN :first AND :last ORDER BY s.number"""
ATTEMPTS = """
  INSERT INTO attempt (id, uid, file_id, chunk_id, run_id, operation, n, is_repeatable, started_at, outcome, ended_at, error_code, message,
    http_status, curl_code, bytes_transferred, bytes_acked, dns_ms, connect_ms, first_byte_ms, total_ms, remote_ip, http_version, request_id, backoff_ms,
    may_have_arrived)
  SELECT f.number * 3 - 3 + t.n, uid(f.number * 3 - 3 + t.n, f.started_at + t.n * 200), f.id, f.number, 1, 'part', t.n, 1, f.started_at + t.n * 200, o, f.started_at + t.n * 200 + 50 + f.id % 97,
    CASE o WHEN 'retry' THEN 'http.503' WHEN 'fatal' THEN 'http.413' END, NULL, CASE o WHEN 'ok' THEN 200 WHEN 'fatal' THEN 413 ELSE 503 END, 0,
    f.size, iif(o = 'ok', f.size, 0), 0, 1, 49, 50 + f.id % 97, '192.0.2.7', '1.1', printf('R%08d', f.id), iif(o = 'retry', 100, NULL), 1
  FROM (SELECT s.number, f.id, size, state, started_at FROM temp.sent s JOIN file f ON f.id = s.id WHERE s.id BETWEEN :first AND :last) f
  JOIN (SELECT 1 n UNION ALL SELECT 2 UNION ALL SELECT 3) t
  JOIN (SELECT 'retry' o UNION ALL SELECT 'fatal' UNION ALL SELECT 'ok') k
    ON k.o = iif(t.n < 3, 'retry', iif(f.state = 'done', 'ok', 'fatal'))
  ORDER BY f.id, t.n"""
RECEIPTS = """
  INSERT INTO receipt (file_id, size, attempt_id, confirmation, digest, remote_digest, etag, version_id, request_id, server_date, location, recorded_at)
  SELECT id, size, (SELECT max(a.id) FROM attempt a WHERE a.file_id = file.id AND a.outcome = 'ok'), 'digest', printf('crc64nvme:%016x', id), printf('crc64nvme:%016x', id), '"' || id || '"', '', printf('R%08d', id),
    'Thu, 09 Oct 2025 08:53:20 GMT', 'http://127.0.0.1:9/in/', finished_at FROM file WHERE state = 'done' AND id BETWEEN :first AND :last"""


def make(path, count, folder):
    """A ledger with so many files, the first of which are those of the folder."""
    db = big_ledger.create(path)
    guards = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    db.create_function("uid", 2, big_ledger.uid, deterministic=True)
    db.execute("CREATE TEMP TABLE sent (number INTEGER PRIMARY KEY, id INTEGER UNIQUE)")
    db.execute("BEGIN")
    for name, _ in guards:
        db.execute(f"DROP TRIGGER {name}")
    db.execute("PRAGMA defer_foreign_keys=ON")
    start, end = big_ledger.START, big_ledger.START + count * 40 + 10_000
    db.execute(
        "INSERT INTO engine_run (id, uid, argv, version, host, boot_id, pid, started_at, heartbeat_at, ended_at, how) "
        "VALUES (1, ?, '[\"run\"]', '0', 'bench', 'boot', 1, ?, ?, ?, 'done')", (big_ledger.uid(1, start), start, end, end))
    db.execute("INSERT INTO destination (id, place) VALUES (1, 'http://127.0.0.1:9/')")
    for i in range(1, 5):
        db.execute(
            "INSERT INTO batch (id, uid, destination_id, protocol, destination, settings, labels, priority, created_at) "
            "VALUES (?, ?, 1, 'put', ?, ?, '{}', 0, ?)",
            (i, big_ledger.uid(i, start), commands.DESTINATION, SETTINGS % commands.DESTINATION, start))
        db.execute("INSERT INTO event (at, verb, batch_id, detail) VALUES (?, 'added', ?, ?)", (start, i, commands.DESTINATION))
    real(db, folder)
    large = min(count // 10, 100_000)
    bounds = [(2, REAL + 1, REAL + SMALL), (3, REAL + SMALL + 1, REAL + SMALL + large), (4, REAL + SMALL + large + 1, count)]
    for batch, first, last in bounds:
        for low in range(first, last + 1, 500_000):
            part = {"first": low, "last": min(low + 499_999, last), "batch": batch, "start": start}
            db.execute(FILES, part)
            for sql in (SENT, CHUNKS, ATTEMPTS, RECEIPTS):
                db.execute(sql, {"first": part["first"], "last": part["last"]})
    if count <= 100_000:
        big_ledger.log_leaves.Log(db).append_all()
    for _, sql in guards:
        db.execute(sql)
    db.execute("COMMIT")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def real(db, folder):
    """Rows of existing files, done."""
    start = big_ledger.START
    for i in range(1, REAL + 1):
        path = f"{folder}/{i:04}.bin"
        if not os.path.exists(path):
            with open(path, "wb") as file:
                file.write(b"x" * i)
        s = os.stat(path)
        db.execute(
            "INSERT INTO file (id, uid, batch_id, destination_id, generation, live, path, key, size, mtime_ns, ctime_ns, inode, device, mode, state, "
            "priority, chunk_size, chunk_count, created_at, started_at, finished_at) VALUES (?, uid(?, ?), 1, 1, 1, 1, ?, ?, ?, ?, ?, ?, ?, ?, "
            "'done', 0, ?, 1, ?, ?, ?)",
            (i, i, start, path.encode(), f"in/{i:04}.bin".encode(), s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino, s.st_dev, s.st_mode, s.st_size, start,
             start + i * 40, start + i * 40 + 700))
    for sql in (SENT, CHUNKS, ATTEMPTS, RECEIPTS):
        db.execute(sql, {"first": 1, "last": REAL})


class Neighbour(threading.Thread):
    """A second writer, which keeps the gate as the program does and measures the wait for its turn, and the size of the
    log."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.longest, self.log, self.is_over = path, 0.0, 0, threading.Event()

    def run(self):
        db = sqlite3.connect(self.path, isolation_level=None, timeout=60)
        db.execute("PRAGMA wal_autocheckpoint=0")
        with open(self.path + ".gate", "a") as gate:
            while not self.is_over.wait(0.005):
                fcntl.flock(gate, fcntl.LOCK_SH)
                before = time.monotonic()
                with turn(gate):
                    db.execute("BEGIN IMMEDIATE")
                self.longest = max(self.longest, time.monotonic() - before)
                db.execute("COMMIT")
                fcntl.flock(gate, fcntl.LOCK_UN)
                if os.path.exists(self.path + "-wal"):
                    self.log = max(self.log, os.path.getsize(self.path + "-wal"))
        db.close()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.join()


@contextlib.contextmanager
def turn(gate):
    """The write turn of WriteTurn.swift: an open file description lock on the first byte (Linux: F_OFD_SETLK is 37)."""
    take, give_up = (struct.pack("hhqqi4x", kind, os.SEEK_SET, 0, 1, 0) for kind in (fcntl.F_WRLCK, fcntl.F_UNLCK))
    while True:
        try:
            fcntl.fcntl(gate, 37, take)
            break
        except BlockingIOError:
            time.sleep(0.001)
    try:
        yield
    finally:
        fcntl.fcntl(gate, 37, give_up)


def looks(binary, folder):
    """Commands that change nothing."""
    return {
        "status": ["status"], "show b4": ["show", "b4"], "show f": ["show", "f9000"], "report summary": ["report", "summary"],
        "push, nothing new": ["push", "--quiet", folder + "/", commands.DESTINATION],
    }  # fmt: skip


def verbs():
    """Commands that change a small batch and a large one; each leaves the state that the next one starts with."""
    words = {"resume": [], "pause": [], "cancel": [], "retry": ["--state", "cancelled"]}
    return {f"{verb} {size}": [verb, batch, *more] for size, batch in (("small", "b2"), ("large", "b3")) for verb, more in words.items()}


class Silent(threading.Thread):
    """A server that accepts requests and never answers, so that an engine holds files."""

    def __init__(self):
        super().__init__(daemon=True)
        self.socket, self.taken = socket.create_server(("127.0.0.1", 0), backlog=64), []

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                self.taken.append(self.socket.accept()[0])

    def close(self):
        for connection in [*self.taken, self.socket]:
            connection.close()


def wait_for(path, sql, seconds=60):
    """Waits until the statement yields a number other than 0."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)
    ends = time.monotonic() + seconds
    while not db.execute(sql).fetchone()[0]:
        if time.monotonic() > ends:
            raise measure.Failed(f"waited {seconds} s for {sql}")
        time.sleep(0.002)
    db.close()


def control(at, path, folder):
    """The time from the start of `cancel` until a running engine has released the files that it holds."""
    environment, server = commands.environment(path), Silent()
    server.start()
    words = [f"{folder}/0001.bin", f"{folder}/0002.bin", f"http://127.0.0.1:{server.socket.getsockname()[1]}/"]
    subprocess.run([at.binary, "add", "--quiet", *words], env=environment, check=True)
    engine = subprocess.Popen([at.binary, "run", "--quiet"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(path, "SELECT count(*) = 2 FROM attempt WHERE outcome = 'open'")
        began = time.monotonic()
        subprocess.run([at.binary, "cancel", "--quiet", "b5"], env=environment, check=True)
        wait_for(path, "SELECT count(*) = 2 FROM file WHERE batch_id = 5 AND state IN ('cancelled', 'unknown')")
        return time.monotonic() - began
    finally:
        engine.terminate()
        engine.wait()
        server.close()


def measured(at, path, folder, rounds):
    environment, found = commands.environment(path), {}
    # Computes the totals of the ledger, as the runs that made it would have.
    subprocess.run([at.binary, "run", "--quiet"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for name, words in looks(at.binary, folder).items():
        runs = measure.repeat(rounds, [at.binary, *words], environment)
        found[name] = {"ms": statistics.median(run.wall for run in runs) * 1e3, "cpu_ms": min(run.cpu for run in runs) * 1e3, "rss_mib": max(run.rss_mib for run in runs)}
    for name, words in verbs().items():
        with Neighbour(path) as neighbour:
            run = measure.repeat(1, [at.binary, *words], environment)[0]
        found[name] = {
            "ms": run.wall * 1e3, "cpu_ms": run.cpu * 1e3, "rss_mib": run.rss_mib, "longest_ms": neighbour.longest * 1e3,
            "wal_mib": neighbour.log / 2**20,
        }  # fmt: skip
    found["control"] = {"ms": control(at, path, folder) * 1e3, "cpu_ms": 0.0, "rss_mib": 0.0}
    return found


def history(at, options):
    """Medians of the read-only commands; the verbs run once. Ratios compare CPU time with the smallest ledger of this
    run."""
    sizes = [10_000, 100_000] if options.quick else [10_000, 1_000_000] + [10_000_000] * options.long
    folder, found = f"{at.folder}/sent", []
    os.makedirs(folder, exist_ok=True)
    for count in sizes:
        if shutil.disk_usage(at.disk).free < 3000 * count:
            raise measure.Failed(f"{count:,} files with their attempts need {3000 * count >> 30} GiB of free disk at {at.disk}")
        path = f"{at.disk}/history/transfers.db"
        shutil.rmtree(os.path.dirname(path), ignore_errors=True)
        os.makedirs(os.path.dirname(path))
        measure.progress(f"making a ledger with {count:,} files")
        make(path, count, folder)
        figures = measured(at, path, folder, max(3, options.rounds))
        for name, row in figures.items():
            ratio = row["cpu_ms"] / max(found[0]["commands"][name]["cpu_ms"], 1) if found else 1
            waits = f"  longest wait of another {row['longest_ms']:6.0f} ms  log {row['wal_mib']:4.0f} MiB" if "longest_ms" in row else ""
            print(f"{'history':10} {count:12,} files  {name:18} {row['ms']:8.0f} ms {row['cpu_ms']:8.0f} CPU ms ({ratio:5.1f} ×) {row['rss_mib']:4.0f} MiB{waits}", flush=True)
        found.append({"files": count, "commands": figures})
    shutil.rmtree(os.path.dirname(path), ignore_errors=True)
    return found
