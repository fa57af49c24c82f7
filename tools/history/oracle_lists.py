"""The lists: files, attempts, failures, events, runs; the first three as "transfers report" gives them."""

import collections

import figures


class Sums:
    """For each file: attempts, bytes of attempts, acknowledged and reused bytes of its chunks, and the bytes that may
    have been sent before an engine crashed, about which nothing is known."""

    def __init__(self, store):
        self.attempts, self.transferred = collections.Counter(), collections.Counter()
        self.acked, self.reused, self.untold = collections.Counter(), collections.Counter(), collections.Counter()
        self.untold_of_attempt = collections.Counter()
        cut_off, known = [], collections.defaultdict(list)
        for attempt in store.attempts():
            # Aborts and queries about a done file are no tries of it.
            self.attempts[attempt.file] += not attempt.after_its_end
            self.transferred[attempt.file] += attempt.bytes_transferred
            if attempt.operation == "part":
                if attempt.bytes_acked:
                    known[attempt.chunk].append((attempt.n, attempt.bytes_acked))
                if attempt.error_code == "engine.crashed" or attempt.outcome == "open":
                    cut_off.append(attempt)
        chunks = {attempt.chunk: None for attempt in cut_off}
        for chunk in store.chunks():
            # ux 2.5: acked bytes are those of chunks whose success was committed, and bytes of others on the server.
            self.acked[chunk.file] += chunk.length if chunk.state == "done" else chunk.acked
            self.reused[chunk.file] += chunk.reused or 0
            if chunk.id in chunks:
                chunks[chunk.id] = chunk
        for attempt in cut_off:
            # At most all bytes that its chunk lacked then, counted with the chunk's first length if that was longer.
            chunk = chunks[attempt.chunk]
            length = max(chunk.length, store.files[attempt.file].first_chunk_size or 0)
            before = 0 if chunk.losses else sum(acked for n, acked in known[attempt.chunk] if n < attempt.n)
            self.untold_of_attempt[attempt.id] = max(0, length - before - attempt.bytes_transferred)
            self.untold[attempt.file] += self.untold_of_attempt[attempt.id]

    def moved(self, file):
        return max(0, self.acked[file] - self.reused[file])


SIGNS = {"done": "=", "failed": "!", "unknown": "!", "cancelled": "-", "superseded": "-"}


def file_row(file, store, sums):
    moved, receipt = sums.moved(file.id), store.receipts.get(file.id)
    wall = None if file.started_at is None or file.finished_at is None else file.finished_at - file.started_at
    return {
        "id": f"f{file.id}", "uid": figures.uuid(file.uid), "batch": f"b{file.batch}", "generation": file.generation,
        "sign": SIGNS.get(file.state, "~"), "state": file.state, "cause": file.cause, "message": file.message, "bytes": file.size,
        "bytes_acked": sums.acked[file.id], "bytes_reused": sums.reused[file.id], "bytes_transferred": sums.transferred[file.id],
        # ux 2.5: re-sent = wire - acked, never negative.
        "bytes_unacked": max(0, sums.transferred[file.id] - moved),
        "bytes_unacked_at_most": max(0, sums.transferred[file.id] + sums.untold[file.id] - moved),
        "attempts": sums.attempts[file.id], "wall_ms": wall, "bps": figures.rate(moved, wall),
        "confirmed_by": receipt and receipt.confirmation, "digest": receipt and receipt.digest,
        "started_at": figures.time(file.started_at), "finished_at": figures.time(file.finished_at), **figures.name("path", file.path),
        # A generated history is not pruned.
        "destination": file.destination, **figures.name("key", file.key), "pruned_at": None,
    }  # fmt: skip


def files(store, selection):
    sums = Sums(store)
    return [file_row(file, store, sums) for file in sorted(selection.files())]


def attempts(store, selection):
    """A generator: there may be a million."""
    for a in selection.attempts():
        yield {
            "id": f"a{a.id}", "uid": figures.uuid(a.uid), "file": f"f{a.file}", "chunk": a.chunk and f"c{a.chunk}", "run": f"r{a.run}",
            "operation": a.operation, "n": a.n, "started_at": figures.time(a.started_at), "ended_at": figures.time(a.ended_at),
            "outcome": a.outcome, "error_code": a.error_code, "message": a.message, "http_status": a.http_status,
            "curl_code": a.curl_code, "bytes_transferred": a.bytes_transferred, "bytes_acked": a.bytes_acked, "connect_ms": a.connect_ms,
            "first_byte_ms": a.first_byte_ms, "total_ms": a.total_ms, "backoff_ms": a.backoff_ms, "remote_ip": a.remote_ip,
            "request_id": a.request_id, "mirror": a.mirror,
        }  # fmt: skip


def failures(store, selection):
    """By error code: files that ended with it, attempts that met it, the first and the last time, and the latest
    example."""
    ended, met = collections.defaultdict(list), {}
    for file in selection.files():
        if file.state in ("failed", "unknown"):
            ended[file.cause].append(file)
    for a in selection.attempts():
        if a.error_code is not None:
            end = a.started_at if a.ended_at is None else a.ended_at
            count, first, last, _ = met.get(a.error_code, (0, a.started_at, end, None))
            met[a.error_code] = (count + 1, min(first, a.started_at), max(last, end), a)
    codes, rows = store.error_codes(), []
    for code in ended.keys() | met.keys():
        files, (count, first, last, newest) = ended.get(code, []), met.get(code, (0, None, None, None))
        times = [file.finished_at for file in files if file.finished_at is not None]
        example = max(files, key=lambda file: file.id) if files else store.files[newest.file]
        message = example.message if files else newest.message
        if message is None and newest is not None:
            message = newest.message
        rows.append({
            "error_code": code, "category": codes[code][0], "files": len(files), "attempts": count,
            "first_at": figures.time(min(times + [first] * (first is not None), default=None)),
            "last_at": figures.time(max(times + [last] * (last is not None), default=None)),
            **figures.name("example_path", example.path), "example_host": store.hosts[example.batch],
            "example_message": message, "hint": codes[code][1] or None,
        })  # fmt: skip
    return sorted(rows, key=lambda row: (-row["files"], -row["attempts"], row["error_code"]))


def events(store, selection):
    """The actions of users and engines: how often, and on how many files."""
    ranges = collections.Counter()
    for event, first, last in store.db.execute("SELECT event_id, first_file, last_file FROM event_range"):
        ranges[event] += last - first + 1
    counts, touched, rows = collections.Counter(), collections.Counter(), []
    for event in store.events():
        if selection.in_window(event.at) and (not selection.batches or event.batch in selection.batches):
            counts[event.verb] += 1
            touched[event.verb] += ranges[event.id]
            rows.append({"id": f"e{event.id}", "at": figures.time(event.at), "verb": event.verb, "files": ranges[event.id],
                         "batch": event.batch and f"b{event.batch}", "detail": event.detail})  # fmt: skip
    return {"total": len(rows), "by_verb": dict(counts), "files_by_verb": dict(touched), "rows": rows}


def runs(store, selection):
    """Engine runs, how they ended, and the time without one (ux 2.4: down)."""
    counts, orphans = collections.Counter(), collections.Counter()
    for attempt in store.attempts():
        counts[attempt.run] += 1
        orphans[attempt.run] += attempt.outcome == "crashed"
    rows, covered = [], []
    for run in store.runs():
        # For a killed run only the last heartbeat is known; its end is recorded when the next run finds it.
        end = run.heartbeat_at if run.how in ("crashed", None) else run.ended_at
        if (selection.since is None or end >= selection.since) and (selection.until is None or run.started_at < selection.until):
            rows.append({"id": f"r{run.id}", "started_at": figures.time(run.started_at), "ended_at": figures.time(run.ended_at), "how": run.how,
                         "up_ms": end - run.started_at, "attempts": counts[run.id], "orphaned": orphans[run.id], "boot": run.boot_id})  # fmt: skip
            covered.append((run.started_at, end))
    up = figures.union(covered)
    span = max(end for _, end in covered) - min(start for start, _ in covered) if covered else 0
    by_how = collections.Counter(row["how"] for row in rows)
    return {"total": len(rows), "by_how": dict(by_how), "up_ms": up, "down_ms": span - up, "rows": rows}
