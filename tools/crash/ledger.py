"""The contents of the ledger, read through its public views by Python's own sqlite3; and the invariants as SQL.

The files are copied first and the copy is opened, so that reading never takes a lock, runs a recovery or makes a
checkpoint in the ledger of the tested program. Nobody may be writing meanwhile.
"""

import collections
import os
import shutil
import sqlite3
import tempfile

FILES_DONE_WITH = ("done", "failed", "cancelled", "superseded")

# Each must return no row after every crash and the following run. The numbers are those of the reliability notes.
INVARIANTS = {
    "I01 foreign keys": "SELECT * FROM pragma_foreign_key_check",
    "I02 integrity": "SELECT * FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
    "I03 chunks tile the file": """
        SELECT f.id FROM v_files f JOIN v_chunks c ON c.file_id = f.id GROUP BY f.id
        HAVING min(c.offset) <> 0 OR sum(c.length) <> f.size OR max(c.offset + c.length) <> f.size""",
    "I04 no gap, no overlap": """
        SELECT a.file_id, a.seq FROM v_chunks a JOIN v_chunks b ON b.file_id = a.file_id AND b.seq = a.seq + 1
        WHERE a.offset + a.length <> b.offset""",
    "I05 sequence is dense": """
        SELECT file_id FROM v_chunks GROUP BY file_id HAVING count(*) <> max(seq) - min(seq) + 1""",
    "I06 a done file has only done chunks": """
        SELECT f.id FROM v_files f WHERE f.state = 'done'
        AND (SELECT count(*) FROM v_chunks c WHERE c.file_id = f.id AND c.state = 'done') <>
            max(1, (SELECT count(*) FROM v_chunks c WHERE c.file_id = f.id))""",
    "I07 a done file has evidence": """
        SELECT id FROM v_files WHERE state = 'done'
        AND (finished_at IS NULL OR confirmed_by IS NULL OR confirmed_by NOT IN ('digest', 'etag', 'size', 'none'))""",
    "I09 a done chunk was acknowledged": """
        SELECT c.id FROM v_chunks c WHERE c.state = 'done' AND NOT EXISTS (
          SELECT 1 FROM v_attempts a WHERE a.file_id = c.file_id AND a.outcome = 'ok'
          AND (a.chunk_id = c.id OR a.operation IN ('probe', 'verify', 'create')))""",
    "I10 at most one ok attempt per chunk, and one more each time that the server lost it": """
        SELECT c.id FROM v_chunks c JOIN v_attempts a ON a.chunk_id = c.id AND a.operation = 'part' AND a.outcome = 'ok'
        WHERE a.bytes_acked = c.length GROUP BY c.id HAVING count(*) > 1 + c.losses""",
    "I11 at most one ok finish": """
        SELECT file_id FROM v_attempts WHERE operation = 'finish' AND outcome = 'ok' GROUP BY file_id
        HAVING count(*) > 1""",
    "I13 no attempt is open when no engine runs": "SELECT id FROM v_attempts WHERE outcome = 'open'",
    "I14 ended if and only if it has an outcome": """
        SELECT id FROM v_attempts WHERE (ended_at IS NULL) <> (outcome = 'open')""",
    "I15 no chunk is in flight when no engine runs": "SELECT id FROM v_chunks WHERE state = 'in_flight'",
    "I16 attempt numbers are dense": """
        SELECT file_id, chunk_id, operation FROM v_attempts GROUP BY file_id, chunk_id, operation
        HAVING count(*) <> max(n) OR min(n) <> 1""",
    "I17 acknowledged <= transferred <= length": """
        SELECT a.id FROM v_attempts a LEFT JOIN v_chunks c ON c.id = a.chunk_id
        WHERE a.bytes_acked > a.bytes_transferred OR (c.id IS NOT NULL AND a.bytes_transferred > c.length)""",
    "I18 an ended file has no open attempt": """
        SELECT f.id FROM v_files f JOIN v_attempts a ON a.file_id = f.id
        WHERE f.state IN ('done', 'failed', 'cancelled', 'superseded') AND a.outcome = 'open'""",
    "I19 every run has ended": "SELECT id FROM v_runs WHERE ended_at IS NULL",
    "I20 one key, one live owner": """
        SELECT destination, key FROM v_files WHERE state NOT IN ('failed', 'cancelled', 'superseded')
        GROUP BY destination, key HAVING count(*) > 1""",
    "I23 time runs forward": "SELECT id FROM v_attempts WHERE ended_at < started_at",
    "I25 part limits": """
        SELECT file_id FROM v_chunks GROUP BY file_id HAVING count(*) > 10000""",
    "I26 sent again: at most one chunk per lost connection": """
        SELECT c.id FROM v_chunks c JOIN v_attempts a ON a.chunk_id = c.id AND a.operation = 'part'
        GROUP BY c.id HAVING sum(a.bytes_transferred) > c.length * (1 + c.losses + sum(a.outcome <> 'ok'))""",
    "I27 secrets": """
        SELECT id FROM v_files WHERE CAST(destination AS TEXT) LIKE '%X-Amz-Signature=%'
        OR CAST(destination AS TEXT) LIKE '%://%:%@%' OR CAST(destination AS TEXT) LIKE '%sig=%'""",
}

File = collections.namedtuple("File", "id path key state size bytes_acked")
Attempt = collections.namedtuple("Attempt", "id file_id chunk_id run_id operation n outcome error_code bytes_transferred")
Chunk = collections.namedtuple("Chunk", "id file_id seq offset length state")


class Ledger:
    """One reading of a ledger. Raises sqlite3.Error when the file is not a ledger (killed before it was created)."""

    def __init__(self, path):
        self.folder = tempfile.mkdtemp(prefix="look-", dir=os.path.dirname(path))
        copy = os.path.join(self.folder, "ledger.db")
        for suffix in ("", "-wal"):
            if os.path.exists(path + suffix):
                shutil.copyfile(path + suffix, copy + suffix)
        self.connection = sqlite3.connect(copy)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()
        shutil.rmtree(self.folder)

    def rows(self, sql, *values):
        return self.connection.execute(sql, values).fetchall()

    def read(self, row, view):
        return [row(*values) for values in self.rows(f"SELECT {', '.join(row._fields)} FROM {view} ORDER BY id")]

    def files(self):
        return [f._replace(path=as_bytes(f.path), key=as_bytes(f.key)) for f in self.read(File, "v_files")]

    def attempts(self):
        return self.read(Attempt, "v_attempts")

    def chunks(self):
        return self.read(Chunk, "v_chunks")

    def open_sessions(self):
        """Files with an open session on the server, as far as the ledger knows."""
        return {file for file, in self.rows("SELECT file_id FROM session WHERE state = 'open' AND abort_after IS NULL")}

    def forgotten(self):
        """Files with a session that the server no longer knew."""
        return {file for file, in self.rows("SELECT file_id FROM session WHERE state = 'gone'")}

    def findings(self):
        """Invariants that do not hold, as text."""
        found = []
        for name, sql in INVARIANTS.items():
            rows = self.rows(sql)
            if rows:
                found.append(f"invariant {name}: {len(rows)} rows, first {rows[0]}")
        return found


def as_bytes(value):
    return value if isinstance(value, bytes) else str(value).encode()


def exists(path):
    """Whether there is a ledger with tables; a kill at the very start leaves none, or an empty file."""
    if not os.path.exists(path):
        return False
    try:
        with Ledger(path) as ledger:
            ledger.files()
        return True
    except sqlite3.Error:
        return False
