"""The contents of the subreports of "transfers report" besides the lists and totals: figures of the oracle under the
names of the product. A figure that is missing here is not compared."""

import collections

import figures
import oracle_costs
import oracle_spread
import oracle_totals
from rows import Selection


def latency(name, found):
    return {f"{name}_n": found["n"], **{f"{name}_{key}": found[key] for key in ("p50_ms", "p95_ms", "max_ms")}}


def picked(row, *keys):
    return {key: row[key] for key in keys}


def active(row):
    """Unknown if there was no attempt."""
    return {"active_ms": row["active_ms"] if row["attempts"] else None}


MOVED = ("attempts", "errors", "error_rate", "retries", "bytes_transferred", "bytes_acked", "goodput_active_bps")


def batches(store, selection):
    """Whole batches, if one of their files is selected."""
    numbers = {file.batch for file in selection.files()}
    rows = oracle_totals.batches(store, Selection(store, batches=numbers)) if numbers else []
    return {"batches": [{
        **picked(row, "id", "name", "host", "destination", "created_at", "started_at", "finished_at", "files", "bytes", "bytes_acked",
                 "bytes_transferred", "attempts", "errors", "retries", "wall_ms", "goodput_wall_bps", "goodput_active_bps"),
        **active(row), "files_done": row["by_state"].get("done", 0), "files_failed": row["by_state"].get("failed", 0),
        **latency("part", row["part_latency"]),
    } for row in rows]}  # fmt: skip


def hosts(store, selection):
    return {"hosts": [{
        **picked(row, "host", "files", *MOVED, "http_429", "http_503", "http_versions"), **active(row),
        **latency("connect", row["connect"]), **latency("first_byte", row["first_byte"]),
    } for row in oracle_spread.hosts(store, selection)]}  # fmt: skip


def retries(store, selection):
    found = oracle_spread.retries(store, selection)
    tries = sorted((int(n), count) for n, count in found["chunks_by_attempts"].items())
    return {**picked(found, "retries", "backoff_ms", "grid"), "chunks_by_attempts": [{"attempts": n, "chunks": count} for n, count in tries]}


def periods(every):
    def report(store, selection):
        return {"periods": [{
            **picked(row, *MOVED, "bytes", "longest_batch_ms", "verified_share"), **active(row), "from": row["from"] + "T00:00:00.000Z",
            "files_done": row["files"].get("done", 0), "files_failed": row["files"].get("failed", 0), "files_by_state": row["files"],
            **latency("part", row["part_latency"]),
        } for row in oracle_spread.calendar(store, selection, every)]}  # fmt: skip

    return report


def slow(store, selection):
    rows = oracle_spread.slow(store, selection, 20)
    return {"files": [{**picked(row, "id", "batch", "host", "state", "bytes", "wall_ms", "attempts", *(key for key in row if key.startswith("path")))}
                      for row in rows]}  # fmt: skip


def latencies(store, selection):
    return {"latencies": oracle_spread.latency(store, selection), "classes": oracle_spread.latency_classes(store, selection)}


MARKS = {"in_flight": ">", "failed": "!", "unknown": "?", "waiting": "~"}


def chunks(store, file):
    """One file, with its map."""
    tries, times = {}, dict(store.db.execute("SELECT id, ended_at FROM attempt WHERE file_id = ?", (file,)))
    statuses = dict(store.db.execute("SELECT id, http_status FROM attempt WHERE file_id = ?", (file,)))
    for chunk, started in store.db.execute("SELECT chunk_id, started_at FROM attempt WHERE file_id = ? AND operation = 'part'", (file,)):
        tries.setdefault(chunk, []).append(started)
    rows, marks = [], ""
    for number, seq, offset, length, state, acked, by, digest, etag, losses, reused in store.db.execute(
            "SELECT id, seq, offset, length, state, acked, done_attempt, digest, etag, losses, reused FROM chunk WHERE file_id = ? ORDER BY seq",
            (file,)):  # fmt: skip
        done = state == "done"
        marks += ("=" if reused else "#") if done else MARKS.get(state, "+" if acked else ".")
        rows.append({
            "id": f"c{number}", "index": seq, "offset": offset, "length": length, "state": state, "bytes_acked": length if done else acked,
            "attempts": len(tries.get(number, [])), "first_start_at": figures.time(min(tries.get(number, []), default=None)),
            "acked_at": figures.time(times.get(by)), "http_status": statuses.get(by), "digest": digest, "etag": etag, "losses": losses,
            "reused": bool(reused)})  # fmt: skip
    return {"file": f"f{file}", "map": marks, "chunks": rows}


PARTS = ("queued", "down", "paused", "backoff", "throttled", "connect", "send", "server", "verify")


def sound_slow(found):
    """Returns an internal contradiction: the nine parts of a file must sum to its wall time, and the parts of all files
    must be the sums of theirs."""
    for row in found["files"]:
        if sum(row[f"{part}_ms"] for part in PARTS) != row["wall_ms"]:
            return f"the parts of {row['id']} do not sum to its wall time"
    for part in found["parts"]:
        if part["wall_ms"] != sum(row[f"{part['part']}_ms"] for row in found["files"]):
            return f"{part['part']} is not the sum of that of the files"
    return None if bool(found["files"]) == (len(found["parts"]) == len(PARTS)) else "parts are missing"


def runs(store, selection):
    """Runs that overlap the window, with the selected attempts; with a batch selected, only those that have one."""
    did = collections.defaultdict(collections.Counter)
    for a in selection.attempts():
        did[a.run].update(attempts=1, recovered=a.outcome == "crashed", size=a.bytes_transferred)
    rows, spans = [], []
    for run, (start, stop) in zip(store.runs(), oracle_costs.runs(store)):
        is_there = (selection.since is None or stop >= selection.since) and (selection.until is None or start < selection.until)
        if is_there and (run.id in did or not selection.batches):
            spans.append((start, stop))
            rows.append({"id": f"r{run.id}", "started_at": figures.time(start), "ended_at": figures.time(run.ended_at), "up_ms": stop - start,
                         "how": run.how, "host": run.host, "version": run.version, "attempts": did[run.id]["attempts"],
                         "attempts_recovered": did[run.id]["recovered"], "bytes_transferred": did[run.id]["size"]})  # fmt: skip
    up = figures.union(spans)
    span = max(stop for _, stop in spans) - min(start for start, _ in spans) if spans else None
    ends = collections.Counter((row["how"] or "running").split(":")[0] for row in rows)
    return {"runs": len(rows), "runs_by_end": dict(ends), "up_ms": up, "down_ms": None if span is None else span - up, "runs_listed": rows}


# Conditions within a report for which the oracle has no figure.
SOUND = {"slow": sound_slow}

REPORTS = {
    "slow": slow, "latency": latencies, "waste": oracle_totals.waste, "integrity": oracle_totals.integrity, "batches": batches, "hosts": hosts, "retries": retries, "daily": periods("day"), "weekly": periods("week"), "monthly": periods("month"), "runs": runs,
}  # fmt: skip


def only(ours, theirs):
    """Those figures of the product that the oracle knows."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        # The names of counts are figures, too: a missing one must be noticed.
        is_counts = all(isinstance(value, int) for value in theirs.values())
        return theirs if is_counts else {key: only(ours[key], theirs[key]) for key in ours if key in theirs}
    if isinstance(ours, list) and isinstance(theirs, list):
        return [only(row, other) for row, other in zip(ours, theirs)] + theirs[len(ours) :]
    return theirs
