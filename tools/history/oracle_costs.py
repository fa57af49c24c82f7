"""Causes of lost time: sums over requests by host, and wall time in which nothing was done for waiting files."""

import collections

ORDER = ("down", "paused", "backoff", "server", "connect", "resent")
# Errors that end a request before it has a connection.
UNCONNECTED = {"net.dns", "net.refused", "net.unreachable", "net.connect_timeout", "net.tls", "net.cert"}
WORK = ("pending", "active", "finishing", "settling")
FOREVER = 1 << 62


def spent(a, is_download):
    """Milliseconds of one attempt by activity: its request is assumed to end at the moment its end was recorded."""
    measured = (a.total_ms, a.connect_ms or a.dns_ms or a.tls_ms, a.first_byte_ms, a.sent_ms)
    if a.outcome in ("open", "crashed") or (a.outcome == "interrupted" and all(ms is None for ms in measured) and not a.bytes_transferred):
        return collections.Counter()
    end = max(a.started_at, a.ended_at)
    at = began = a.started_at if a.total_ms is None else max(a.started_at, end - a.total_ms)
    has_body, held = a.operation == "part" or a.bytes_transferred > 0, a.held_ms or 0
    if a.first_byte_ms is None and a.error_code in UNCONNECTED:
        borders = [("connect", end)]
    else:
        borders = [("connect", began + max(ms or 0 for ms in (a.dns_ms, a.connect_ms, a.tls_ms)))]
    if a.operation == "verify":
        borders += [("verify", end)]
    elif is_download:
        answer = end if a.first_byte_ms is None or not has_body else began + a.first_byte_ms
        borders += [("server", answer), ("send", end - held), ("throttled", end)]
    else:
        sent = a.sent_ms if a.sent_ms is not None else a.first_byte_ms if has_body else 0
        sent = end if sent is None else began + sent
        borders += [("send", sent - held), ("throttled", sent), ("server", end)]
    found = collections.Counter()
    for what, border in borders:
        if min(border, end) > at:
            found[what] += min(border, end) - at
            at = min(border, end)
    return found


def without(spans, others):
    """The parts of the spans that no other span covers, as intervals between the moments at which either changes."""
    moments = sorted({moment for span in [*spans, *others] for moment in span})
    changes = collections.Counter()
    for sign, some in ((1, spans), (-FOREVER, others)):
        for start, stop in some:
            if stop > start:
                changes[start] += sign
                changes[stop] -= sign
    left, depth = [], 0
    for moment, following in zip(moments, moments[1:]):
        depth += changes[moment]
        if depth > 0:
            left.append((moment, following))
    return left


def runs(store):
    """The span in which an engine was present: for a killed one, until its latest record."""
    seen = collections.defaultdict(int)
    for a in store.attempts():
        seen[a.run] = max(seen[a.run], a.started_at, 0 if a.ended_at is None or a.outcome == "crashed" else a.ended_at)
    spans = []
    for run in store.runs():
        if run.how == "crashed" or run.ended_at is None:
            last = run.heartbeat_at if run.boot_ms is None else run.started_at + run.boot_ms
            spans.append((run.started_at, max(last, seen[run.id])))
        else:
            spans.append((run.started_at, run.ended_at))
    return spans


def paused(store, selection, until):
    files, spans, began, ranges = set(), [], None, collections.defaultdict(list)
    for event, first, last in store.file_ranges():
        ranges[event] += [number for number in range(first, last + 1) if number in store.files and selection.is_of_batch(store.files[number])]
    for event in store.events():
        if event.verb not in ("paused", "resumed", "cancelled", "retried", "resolved") or not ranges[event.id]:
            continue
        if event.verb == "paused":
            files.update(ranges[event.id])
        else:
            files.difference_update(ranges[event.id])
        if began is not None and not files:
            spans.append((began, event.at))
        began = (event.at if began is None else began) if files else None
    return spans + ([(began, until)] if began is not None else [])


def idle(store, selection, batch):
    """The times between the end of a batch and a retry of some of its files, while no other file of it was left."""
    files = [file for file in selection.store.files.values() if file.batch == batch and selection.is_of_batch(file)]
    ranges = collections.defaultdict(set)
    for event, first, last in store.file_ranges():
        ranges[event].update(file.id for file in files if first <= file.id <= last)
    retries = [(event, ranges[event.id]) for event in store.events() if event.verb in ("retried", "resolved") and ranges[event.id]]
    if not retries:
        return []
    ended = [(a.started_at, a.ended_at) for a in store.attempts()
             if store.files[a.file].batch == batch and a.ended_at is not None and not a.after_its_end]  # fmt: skip
    spans = []
    for number, (event, _) in enumerate(retries):
        later = set().union(*(some for _, some in retries[number:]))
        busy = any(file.created_at <= event.at and file.state != "superseded" and file.id not in later
                   and (file.state in WORK or (file.finished_at or 0) > event.at) for file in files)  # fmt: skip
        last = max((stop for start, stop in ended if start <= event.at), default=event.at)
        if last < event.at and not busy:
            spans.append((last, event.at))
    return spans


def wall(store, selection, last_of_batch):
    """In the time from the recording of a batch to its last attempt, or to the last sign of an engine while it has work
    left: the spans in which something was paused, and otherwise those without an engine or with the machine asleep."""
    lives = runs(store)
    if not lives:
        return {}
    until = max(stop for _, stop in lives)
    for file in selection.files():
        if file.state in WORK:
            last_of_batch[file.batch] = until
    begin, end = selection.since or -FOREVER, min(until, FOREVER if selection.until is None else selection.until)
    inside = lambda spans: [(max(start, begin), min(stop, end)) for start, stop in spans if min(stop, end) > max(start, begin)]  # noqa: E731
    asleep = []
    for event in store.events():
        if event.verb == "slept":
            asleep.append((event.at - int(event.detail.split(" for ")[1].split()[0]), event.at))
    halted = without(inside(paused(store, selection, until)), asleep)
    waiting = inside(span for batch, last in last_of_batch.items()
                     for span in without([(store.batches[batch].created_at, last)], idle(store, selection, batch)))  # fmt: skip
    down = without(waiting, without(lives, asleep) + halted)
    return {"down": sum(stop - start for start, stop in down), "paused": sum(stop - start for start, stop in halted)}


def costs(store, selection):
    sums, unacked, backoff, last = collections.Counter(), collections.Counter(), {}, {}
    for a in selection.attempts():
        file = store.files[a.file]
        host = store.host_of(a)
        if a.ended_at is not None and not a.after_its_end:
            last[file.batch] = max(last.get(file.batch, a.ended_at), a.ended_at)
        times = spent(a, store.batches[file.batch].direction == "download")
        sums["connect", host] += times["connect"]
        sums["server", host] += times["server"]
        lost = a.bytes_transferred - (0 if file.state == "superseded" else a.bytes_acked)
        if a.outcome != "open" and lost > 0:
            unacked[host] += lost
            sums["resent", host] += times["send"] * lost // a.bytes_transferred
        if a.outcome == "retry":
            count, ms = backoff.get((host, a.error_code), (0, 0))
            backoff[host, a.error_code] = (count + 1, ms + (a.backoff_ms or 0))
    rows = [row(cause, "wall", ms) for cause, ms in wall(store, selection, last).items()]
    rows += [row(cause, "requests", ms, host, bytes=unacked[host] if cause == "resent" else None) for (cause, host), ms in sums.items()]
    rows += [row("backoff", "requests", ms, host, error_code=code, attempts=count) for (host, code), (count, ms) in backoff.items()]
    return sorted((r for r in rows if r["cost_ms"] > 0),
                  key=lambda r: (r["cause"] == "paused", -r["cost_ms"], ORDER.index(r["cause"]), r["host"] or "", r["error_code"] or ""))  # fmt: skip


def row(cause, counted, ms, host=None, **more):
    return {"cost_ms": ms, "counted": counted, "cause": cause, "host": host, "error_code": None, "attempts": None, "bytes": None, **more}
