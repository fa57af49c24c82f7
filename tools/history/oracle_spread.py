"""Where time and errors went: by file, host, hour and day; latencies."""

import collections
import datetime

import figures

HOUR = 3_600_000


def slow(store, selection, limit=None):
    """Files by their duration. ux 2.4: the wall time of a file extends from its admission to its receipt; here also
    from when an engine started it, which "report files" calls wall."""
    busy = collections.defaultdict(list)
    for attempt in store.attempts():
        if attempt.ended_at is not None:
            busy[attempt.file].append((attempt.started_at, attempt.ended_at))
    rows = []
    for file in selection.files():
        if file.finished_at is None or file.started_at is None:
            continue
        rows.append({
            "id": f"f{file.id}", "batch": f"b{file.batch}", "host": store.hosts[file.batch], "state": file.state, "bytes": file.size,
            "wall_ms": file.finished_at - file.created_at, "begun_ms": file.finished_at - file.started_at,
            "in_flight_ms": figures.union(busy[file.id]), "attempts": len(busy[file.id]), **figures.name("path", file.path)})  # fmt: skip
    return sorted(rows, key=lambda row: (-row["wall_ms"], int(row["id"][1:])))[:limit]


def retries(store, selection):
    """ux 2.2: where retries cluster: hour of the day (UTC) and host; how many attempts chunks took; time spent in
    backoff."""
    grid, tries, backoff = collections.Counter(), collections.Counter(), 0
    for a in selection.attempts():
        if a.operation == "part":
            tries[a.chunk] += 1
        if a.outcome == "retry" and not a.after_its_end:
            grid[store.host_of(a), a.started_at // HOUR % 24] += 1
            backoff += a.backoff_ms or 0
    total = sum(grid.values())
    return {
        "retries": total, "backoff_ms": backoff,
        "grid": [{"host": host, "hour": hour, "retries": n, "share": figures.share(n, total)} for (host, hour), n in sorted(grid.items())],
        "chunks_by_attempts": {str(n): count for n, count in sorted(collections.Counter(tries.values()).items())},
    }  # fmt: skip


def hosts(store, selection):
    """ux 2.2 and 2.5. The error rate is per attempt. Connection times are of attempts that made a connection, the first
    byte of those that succeeded."""
    flows, files = collections.defaultdict(figures.Flow), collections.defaultdict(set)
    connect, first_byte, status, versions = (collections.defaultdict(collections.Counter) for _ in range(4))
    for a in selection.attempts():
        host = store.host_of(a)
        flows[host].add(a)
        files[host].add(a.file)
        if a.connect_ms is not None:
            connect[host][a.connect_ms] += 1
        if a.outcome == "ok" and a.first_byte_ms is not None:
            first_byte[host][a.first_byte_ms] += 1
        if a.http_status is not None:
            status[host][a.http_status] += 1
        if a.http_version is not None:
            versions[host][a.http_version] += 1
    return [{
        "host": host, "files": len(files[host]), "attempts": flow.attempts, "errors": flow.errors, "retries": flow.retries,
        "error_rate": figures.share(flow.errors, flow.attempts), "bytes_transferred": flow.transferred, "bytes_acked": flow.acked,
        "active_ms": flow.active, "goodput_active_bps": figures.rate(flow.acked, flow.active),
        "connect": figures.nearest_rank(connect[host], (50, 95)), "first_byte": figures.nearest_rank(first_byte[host], (50, 95)),
        "http_429": status[host][429], "http_503": status[host][503], "http_versions": dict(versions[host]),
    } for host, flow in sorted(flows.items())]  # fmt: skip


def period(ms, every):
    """The first day of the day, week (from Monday) or month that contains a moment, in UTC."""
    day = datetime.datetime.fromtimestamp(ms // 1000, datetime.timezone.utc).date()
    if every == "week":
        day -= datetime.timedelta(days=day.weekday())
    return (day.replace(day=1) if every == "month" else day).isoformat()


def calendar(store, selection, every="day"):
    """ux 2.2, `daily`: files and batches count where they ended, attempts where they began."""
    rows = collections.defaultdict(lambda: {"states": collections.Counter(), "bytes": 0, "verified": 0})
    flows, latencies = collections.defaultdict(figures.Flow), collections.defaultdict(collections.Counter)
    batches = collections.defaultdict(figures.Flow)
    for file in selection.files():
        if file.finished_at is not None and file.state != "superseded":
            row = rows[period(file.finished_at, every)]
            row["states"][file.state] += 1
            if file.state == "done":
                row["bytes"] += file.size
                row["verified"] += store.receipts[file.id].confirmation != "none"
    for a in selection.attempts():
        of = period(a.started_at, every)
        flows[of].add(a)
        batches[store.files[a.file].batch].add(a)
        if figures.moved_content(a) and a.total_ms is not None:
            latencies[of][a.total_ms] += 1
    longest = collections.Counter()
    for flow in batches.values():
        if flow.last is None:
            continue
        of = period(flow.last, every)
        longest[of] = max(longest[of], flow.wall)
    return [{
        "from": of, "files": dict(rows[of]["states"]), "bytes": rows[of]["bytes"], "attempts": flows[of].attempts,
        "errors": flows[of].errors, "error_rate": figures.share(flows[of].errors, flows[of].attempts), "retries": flows[of].retries,
        "bytes_transferred": flows[of].transferred, "bytes_acked": flows[of].acked, "active_ms": flows[of].active,
        "goodput_active_bps": figures.rate(flows[of].acked, flows[of].active),
        "part_latency": figures.nearest_rank(latencies[of], (50, 95)), "longest_batch_ms": longest[of] or None,
        "verified_share": figures.share(rows[of]["verified"], rows[of]["states"]["done"]),
    } for of in sorted(rows.keys() | flows.keys())]  # fmt: skip


GROUPS = {"host": lambda store, batch: store.hosts[batch.id], "batch": lambda _, batch: batch.name or f"b{batch.id}",
          "direction": lambda _, batch: batch.direction, "job": lambda _, batch: batch.job or ""}  # fmt: skip


def latencies(store, selection, by=None):
    """ux 2.5: how often each time was measured, by group and measure. The latency of attempts is the network's number.
    That of chunks, from the first attempt to the one that proved it stored, includes retries; it counts in the window
    of that last attempt. Files count from when they were recorded; so do whole batches, if all their files are finished
    and the last one finished in the window."""
    found = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))

    def add(batch, measure, ms, mirror=None):
        if ms is not None and ms >= 0:
            group = mirror if by == "host" and mirror else GROUPS[by](store, store.batches[batch]) if by else "all"
            found[group][measure][ms] += 1

    stored = {chunk.done_attempt: [] for chunk in store.chunks() if chunk.state == "done" and chunk.reused is None}
    for chunk in store.chunks():
        if chunk.done_attempt in stored and chunk.reused is None:
            stored[chunk.done_attempt].append(chunk)
    began, whole_file = {}, {}
    for a in store.attempts():
        if a.operation == "part":
            began[a.chunk] = min(began.get(a.chunk, a.started_at), a.started_at)
        elif a.chunk is None:
            whole_file[a.file, a.operation] = min(whole_file.get((a.file, a.operation), a.started_at), a.started_at)
    for a in selection.attempts():
        batch = store.files[a.file].batch
        if figures.moved_content(a):
            add(batch, "attempt", a.total_ms, a.mirror)
        for chunk in stored.get(a.id, []):
            starts = [began[chunk.id]] if chunk.id in began else []
            if a.operation != "part" and a.bytes_transferred > 0 and (a.file, a.operation) in whole_file:
                starts.append(whole_file[a.file, a.operation])
            if starts:
                add(batch, "chunk.ack", a.ended_at - min(starts), a.mirror)
    whole = collections.defaultdict(list)
    for file in store.files.values():
        whole[file.batch].append(file.finished_at)
    for file in selection.files():
        if file.state == "done":
            add(file.batch, "file.wall", file.finished_at - file.created_at)
    for number in {file.batch for file in selection.files()}:
        if None not in whole[number] and selection.in_window(max(whole[number])):
            add(number, "batch.wall", max(whole[number]) - store.batches[number].created_at)
    return found


MEASURES = ("chunk.ack", "attempt", "file.wall", "batch.wall")


def latency(store, selection, by=None):
    found = latencies(store, selection, by)
    return [{"group": group, "measure": measure, **figures.nearest_rank(found[group][measure], (50, 90, 95, 99))}
            for group in sorted(found) for measure in MEASURES if found[group][measure]]  # fmt: skip


def latency_classes(store, selection):
    """How many took up to 1, 2 or 5 times a power of ten milliseconds, from the first class that is not empty to the
    last."""
    counts = [found[measure] for found in latencies(store, selection).values() for measure in MEASURES]
    if not any(counts):
        return []
    low, high = min(min(of) for of in counts if of), max(max(of) for of in counts if of)
    rows, before = [], -1
    for bound in (step * 10**power for power in range(15) for step in (1, 2, 5)):
        rows.append((bound, [sum(n for ms, n in of.items() if before < ms <= bound) for of in counts]))
        before = bound
        if bound >= high:
            break
    return [{"up_to_ms": bound, **dict(zip(("chunks", "attempts", "files", "batches"), of))} for bound, of in rows if bound >= low]
