"""`store merge` of 1,000,000 attempts in eight shards: of 100,000 files, ten each, and of 1,000,000 files, one each.

Shards are made by SQL in their final state: done files with one chunk, their attempts, of which all but the last one
failed, and a receipt. In shards of more than 100,000 rows the leaves of the log are made-up hashes, because true ones
would take minutes: a merge copies them and computes the head of their tree, but only "store check" compares them with
the rows. The merge is durable when it ends, and it is repeated: the second one must write nothing.
"""

import hashlib
import os
import shutil
import sqlite3

import big_ledger
import commands
import history
import measure

SHARDS = 8
LIMIT = 5.0  # seconds, for the first work
FULL = {"100,000 files": (100_000, 10), "1,000,000 files": (1_000_000, 1)}
QUICK = {"10,000 files": (10_000, 10), "20,000 files": (20_000, 1)}

FILES = """
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :files)
  INSERT INTO file (id, uid, batch_id, destination_id, generation, live, path, key, size, mtime_ns, ctime_ns, inode, device, mode, state,
    priority, chunk_size, chunk_count, created_at, started_at, finished_at)
  SELECT i, uid(i, :start), 1, 1, 1, 1, CAST(printf('/data/%02d/%05d/%08d.bin', :shard, i / 1000, i) AS BLOB),
    CAST(printf('in/%02d/%05d/%08d.bin', :shard, i / 1000, i) AS BLOB), 16384 + i % 1000, i, i, i, 64769, 33188, 'done', 0,
    16384 + i % 1000, 1, :start, :start + i * 40, :start + i * 40 + 200 * :each + 200 FROM n"""
CHUNKS = """
  INSERT INTO chunk (id, file_id, seq, offset, length, state, etag, digest, confirmation, done_attempt)
  SELECT id, id, 0, 0, size, 'done', printf('"%032x"', id), printf('crc64nvme:%016x', id), 'digest', id * :each FROM file"""
ATTEMPTS = """
  WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < :each)
  INSERT INTO attempt (id, uid, file_id, chunk_id, run_id, operation, n, is_repeatable, started_at, outcome, ended_at, error_code, message,
    http_status, curl_code, bytes_transferred, bytes_acked, dns_ms, connect_ms, first_byte_ms, total_ms, remote_ip, http_version, request_id,
    backoff_ms, may_have_arrived)
  SELECT (f.id - 1) * :each + n, uid((f.id - 1) * :each + n, f.started_at + n * 200), f.id, f.id, 1, 'part', n, 1, f.started_at + n * 200,
    iif(n < :each, 'retry', 'ok'), f.started_at + n * 200 + 50 + f.id % 97, iif(n < :each, 'http.503', NULL), iif(n < :each, 'slow down', NULL),
    iif(n < :each, 503, 200), 0, f.size, iif(n < :each, 0, f.size), 0, 1, 49, 50 + f.id % 97, '192.0.2.7', '1.1', printf('R%08d', f.id),
    iif(n < :each, 100, NULL), 1
  FROM file f CROSS JOIN t ORDER BY f.id, n"""
RECEIPTS = """
  INSERT INTO receipt (file_id, size, attempt_id, confirmation, digest, remote_digest, etag, version_id, request_id, server_date, location, recorded_at)
  SELECT id, size, id * :each, 'digest', printf('crc64nvme:%016x', id), printf('crc64nvme:%016x', id), printf('"%032x"', id), '',
    printf('R%08d', id), 'Thu, 09 Oct 2025 08:53:20 GMT', 'http://127.0.0.1:9/in/', finished_at FROM file"""


def make(path, shard, files, each):
    """A ledger with so many done files, each after so many attempts; `shard` makes its rows differ from others."""
    db, start = big_ledger.create(path, number=shard * 10**8), big_ledger.START
    guards = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    db.create_function("uid", 2, lambda number, ms: big_ledger.uid(shard * 10**8 + number, ms), deterministic=True)
    db.execute("BEGIN")
    for name, _ in guards:
        db.execute(f"DROP TRIGGER {name}")
    db.execute("PRAGMA defer_foreign_keys=ON")
    end = start + files * 40 + 200 * each + 10_000
    db.execute(
        "INSERT INTO engine_run (id, uid, argv, version, host, boot_id, pid, started_at, heartbeat_at, ended_at, how) "
        "VALUES (1, uid(1, ?), '[\"run\"]', '0', 'bench', 'boot', 1, ?, ?, ?, 'done')", (start, start, end, end))
    db.execute("INSERT INTO destination (id, place) VALUES (1, 'http://127.0.0.1:9/')")
    db.execute(
        "INSERT INTO batch (id, uid, destination_id, protocol, destination, settings, labels, priority, created_at) "
        "VALUES (1, uid(1, ?), 1, 'put', ?, ?, '{}', 0, ?)",
        (start, commands.DESTINATION, history.SETTINGS % commands.DESTINATION, start))
    db.execute("INSERT INTO event (at, verb, batch_id, detail) VALUES (?, 'added', 1, ?)", (start, commands.DESTINATION))
    db.execute(FILES, {"files": files, "start": start, "shard": shard, "each": each})
    for sql in (CHUNKS, ATTEMPTS, RECEIPTS):
        db.execute(sql, {"each": each})
    log = big_ledger.log_leaves.Log(db)
    if files * each <= 100_000:
        log.append_all()
    else:
        log.write(made_up(files, each))
    for _, sql in guards:
        db.execute(sql)
    db.execute("COMMIT")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def made_up(files, each):
    """Pairs of the entry of each row and a hash that is not that of the row."""
    entries = [(big_ledger.log_leaves.EVENT, (1,))]
    entries += [(big_ledger.log_leaves.ATTEMPT, (number,)) for number in range(1, files * each + 1)]
    entries += [(big_ledger.log_leaves.RECEIPT, (number, 1)) for number in range(1, files + 1)]
    for kind, numbers in entries:
        entry = big_ledger.log_leaves.entry(kind, *numbers)
        yield entry, hashlib.sha256(entry).digest()


def shards(folder, files, each, count=SHARDS):
    """Makes the shards; returns their paths."""
    paths = []
    for shard in range(1, count + 1):
        measure.progress(f"making shard {shard} of {count}")
        paths.append(f"{folder}/shard-{shard:03}.db")
        make(paths[-1], shard, files // count, each)
    return paths


def totals(path):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        return db.execute("SELECT (SELECT count(*) FROM file), (SELECT count(*) FROM attempt)").fetchone()


def merge(at, options):
    """Each merge starts from nothing; the figures are those of the median run."""
    found = {}
    for name, (files, each) in (QUICK if options.quick else FULL).items():
        folder = f"{at.disk}/merge"
        need = 3 * files * (500 + 300 * each)
        if shutil.disk_usage(at.disk).free < need:
            raise measure.Failed(f"the shards of {name} need {(need >> 30) + 1} GiB of free disk at {at.disk}")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        parts, merged = shards(folder, files, each), f"{folder}/all.db"
        words = [at.binary, "store", "merge", "--quiet", merged, *parts]
        runs = []
        for _ in range(options.rounds):
            for suffix in ("", "-wal", "-shm", ".lock", ".gate"):
                if os.path.exists(merged + suffix):
                    os.unlink(merged + suffix)
            runs.append(measure.run(words, commands.environment(merged)))
            commands.show(f"merge of {files * each:,}, {name}", "transfers", runs[-1])
        if totals(merged) != (files, files * each):
            raise measure.Failed(f"the merged ledger has {totals(merged)} files and attempts")
        before = os.stat(merged)
        again = measure.run(words, commands.environment(merged))
        commands.show("the same again", "transfers", again)
        after = os.stat(merged)
        if (after.st_mtime_ns, after.st_size) != (before.st_mtime_ns, before.st_size):
            raise measure.Failed("the second merge wrote something")
        found[name] = vars(commands.typical(runs)) | {"files": files, "attempts": files * each, "again_s": again.wall, "mib": after.st_size >> 20}
        shutil.rmtree(folder)
    print(f"limit of the design: {LIMIT} s for 1,000,000 attempts of 100,000 files")
    return found
