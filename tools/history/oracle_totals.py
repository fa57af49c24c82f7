"""The totals: summary and throughput, as "transfers report" gives them; batches, waste, integrity, and comparisons of
two selections."""

import collections
import math

import figures
import oracle_costs
import oracle_lists

STATES_LEFT = ("settling", "pending", "active", "finishing", "paused")
STEPS = {"1s": 1_000, "10s": 10_000, "1m": 60_000, "5m": 300_000, "1h": 3_600_000, "1d": 86_400_000}


def summary(store, selection):
    sums, flow, latencies, untold = oracle_lists.Sums(store), figures.Flow(), collections.Counter(), 0
    for attempt in selection.attempts():
        flow.add(attempt)
        untold += sums.untold_of_attempt[attempt.id]
        if figures.moved_content(attempt) and attempt.total_ms is not None:
            latencies[attempt.total_ms] += 1
    selected = selection.files()
    # Superseded generations count only with the bytes that they sent.
    current = [file for file in selected if file.state != "superseded"]
    states = collections.Counter(file.state for file in current)
    acked, reused = (sum(of[file.id] for file in current) for of in (sums.acked, sums.reused))
    moved = max(0, acked - reused)
    # ux 2.5: percentiles over successful attempts only, failures separately.
    latency = figures.nearest_rank(latencies, (50, 95, 99))
    rested = [file for file in selected if file.started_at is not None and file.finished_at is not None]
    slowest = sorted(rested, key=lambda file: (file.started_at - file.finished_at, file.id))[:3]
    return {
        "costs": oracle_costs.costs(store, selection), "batches": batches_of(store, selection, selected), "files": dict(states), "files_total": len(current),
        "files_left": sum(states[state] for state in STATES_LEFT),
        "files_unverified": sum(file.state == "done" and store.receipts[file.id].confirmation == "none" for file in current),
        "bytes": sum(file.size or 0 for file in current), "bytes_acked": acked, "bytes_reused": reused,
        "bytes_transferred": flow.transferred, "bytes_unacked": max(0, flow.transferred - moved),
        "bytes_unacked_at_most": max(0, flow.transferred + untold - moved), "attempts": flow.attempts,
        "attempts_by_outcome": dict(flow.outcomes), "retries": flow.retries, "started_at": figures.time(flow.first),
        "finished_at": figures.time(flow.last), "wall_ms": flow.wall, "active_ms": flow.active if flow.attempts else None,
        "goodput_wall_bps": figures.rate(moved, flow.wall), "goodput_active_bps": figures.rate(moved, flow.active),
        "part_latency": latency, "failures": oracle_lists.failures(store, selection),
        "slowest": [oracle_lists.file_row(file, store, sums) for file in slowest], **removals(store, selected),
        "equal_keys": store.db.execute("SELECT coalesce(sum(equal_keys), 0) FROM origin_store").fetchone()[0],
    }  # fmt: skip


def removals(store, selected):
    """Sources that --after should have deleted or moved and that still exist. Those that a user kept do not count."""
    files = {file.id: file for file in selected}
    found = collections.Counter(sources_to_remove=0, sources_put_off=0, sources_kept=0)
    for file, state, put_off, cause in store.db.execute("SELECT file_id, state, put_off_at, cause FROM removal"):
        if file not in files or state == "done":
            continue
        if state == "pending":
            found["sources_to_remove"] += 1
            found["sources_put_off"] += put_off is not None
        elif cause != "policy.cancelled" and files[file].hidden is None and files[file].state != "superseded":
            found["sources_kept"] += 1
    return dict(found)


def batches_of(store, selection, selected):
    """Batches with a selected file, and those without any file that were recorded in the window."""
    found = {file.batch for file in selected}
    found |= {batch.id for batch in store.batches.values()
              if (not selection.batches or batch.id in selection.batches) and selection.in_window(batch.created_at)}  # fmt: skip
    return len(found)


def throughput(store, selection, bucket="auto"):
    """ux 2.5: the bytes of an attempt are spread evenly over its time. Whole bytes: the bytes moved until the end of an
    interval, rounded down, minus those moved until its start."""
    first = last = None
    for a in selection.attempts():
        if a.after_its_end:
            continue
        first = a.started_at if first is None else min(first, a.started_at)
        last = max(last or 0, a.started_at, a.ended_at or 0)
    if first is None:
        return []
    begin = first if selection.since is None else max(first, selection.since)
    end = max(last, first + 1) if selection.until is None else min(max(last, first + 1), selection.until)
    if begin >= end:
        return []
    step = STEPS[bucket] if bucket != "auto" else next((ms for ms in STEPS.values() if (end - begin) // ms < 120), STEPS["1d"])
    rows = {}
    for index in range(begin // step, (end - 1) // step + 1):
        start = max(index * step, begin)
        rows[index] = {"from": figures.time(start), "length_ms": min((index + 1) * step, end) - start, "bytes_acked": 0,
                       "bytes_transferred": 0, "busy": 0, "attempts": 0, "errors": 0}  # fmt: skip
    for a in selection.attempts():
        spread(a, rows, begin, end, step)
    for row in rows.values():
        row["bps"] = figures.rate(row["bytes_acked"], row["length_ms"])
        row["workers"] = math.floor(row.pop("busy") / row["length_ms"] * 100 + 0.5) / 100
    return list(rows.values())


def spread(a, rows, begin, end, step):
    start, stop = a.started_at, a.ended_at
    if begin <= start < end:
        rows[start // step]["attempts"] += 1
    last = max(start, stop - 1)
    if figures.is_error(a) and begin <= last < end:
        rows[last // step]["errors"] += 1
    if stop <= start:
        if begin <= start < end:
            rows[start // step]["bytes_acked"] += a.counted
            rows[start // step]["bytes_transferred"] += a.bytes_transferred
        return
    at, until, length = max(start, begin), min(stop, end), stop - start
    while at < until:
        row, after = rows[at // step], min(until, (at // step + 1) * step)
        row["busy"] += after - at
        for key, size in (("bytes_acked", a.counted), ("bytes_transferred", a.bytes_transferred)):
            row[key] += size * (after - start) // length - size * (at - start) // length
        at = after


def batches(store, selection):
    sums, flows, files = oracle_lists.Sums(store), collections.defaultdict(figures.Flow), collections.defaultdict(list)
    latencies = collections.defaultdict(collections.Counter)
    for attempt in selection.attempts():
        flows[store.files[attempt.file].batch].add(attempt)
        if figures.moved_content(attempt) and attempt.total_ms is not None:
            latencies[store.files[attempt.file].batch][attempt.total_ms] += 1
    for file in selection.files():
        files[file.batch].append(file)
    rows = []
    for number in sorted(files):
        batch, flow = store.batches[number], flows[number]
        current = [file for file in files[number] if file.state != "superseded"]
        moved = sum(sums.moved(file.id) for file in current)
        rows.append({
            "id": f"b{number}", "name": batch.name, "job": batch.job, "direction": batch.direction, "destination": batch.destination,
            "host": store.hosts[number], "created_at": figures.time(batch.created_at), "started_at": figures.time(flow.first),
            "finished_at": figures.time(flow.last), "files": len(current),
            "by_state": dict(collections.Counter(file.state for file in current)), "bytes": sum(file.size or 0 for file in current),
            "bytes_acked": sum(sums.acked[file.id] for file in current), "bytes_transferred": flow.transferred, "attempts": flow.attempts,
            "errors": flow.errors, "part_latency": figures.nearest_rank(latencies[number], (50, 95)), "retries": flow.retries, "wall_ms": flow.wall, "active_ms": flow.active,
            "goodput_wall_bps": figures.rate(moved, flow.wall), "goodput_active_bps": figures.rate(moved, flow.active),
        })  # fmt: skip
    return rows


CAUSES = {"retry": "failed", "fatal": "failed", "unknown": "failed", "crashed": "crashed", "interrupted": "interrupted",
          "ok": "unacknowledged", "open": "in_flight"}  # fmt: skip


def waste(store, selection):
    """ux 2.5: wire bytes are body bytes of all attempts; the excess over the acknowledged bytes is waste. The bytes of
    superseded generations are waste, too, and so are those of a session that was lost and replaced."""
    wire = acked = untold = 0
    causes, attempts, sums = collections.Counter(), collections.Counter(), oracle_lists.Sums(store)
    for a in selection.attempts():
        wire += a.bytes_transferred
        untold += sums.untold_of_attempt[a.id]
        lost = a.bytes_transferred
        if store.files[a.file].state == "superseded":
            cause = ("replaced", None)
        elif a.bytes_acked and a.session in store.lost_sessions:
            cause = ("lost", None)
        else:
            acked += a.bytes_acked
            lost -= a.bytes_acked
            cause = (CAUSES[a.outcome], a.error_code if CAUSES[a.outcome] == "failed" else None)
        if lost:
            causes[cause] += lost
            attempts[cause] += 1
    rows = [{"cause": cause, "error_code": code, "attempts": attempts[cause, code], "bytes": size, "share": figures.share(size, wire - acked)}
            for (cause, code), size in causes.items()]  # fmt: skip
    order = ("failed", "crashed", "interrupted", "unacknowledged", "replaced", "in_flight", "lost")
    return {"bytes_transferred": wire, "bytes_acked": acked, "bytes_wasted": wire - acked, "bytes_uncounted_at_most": untold,
            "efficiency": figures.share(acked, wire),
            "causes": sorted(rows, key=lambda row: (-row["bytes"], order.index(row["cause"]), row["error_code"] or ""))}  # fmt: skip


def integrity(store, selection):
    """How done files are confirmed. ux 2.2: verified, unverified, mismatch, by method; the age of the newest and oldest
    proof."""
    files, sizes, recorded, by_method = collections.Counter(), collections.Counter(), [], collections.defaultdict(list)
    selected = selection.files()
    for file in selected:
        if file.state == "done":
            receipt = store.receipts[file.id]
            files[receipt.confirmation] += 1
            sizes[receipt.confirmation] += file.size
            recorded.append(receipt.recorded_at)
            by_method[receipt.confirmation].append(receipt.recorded_at)
    return {
        "files_done": sum(files.values()), "files_unverified": files["none"], "files_verified": sum(files.values()) - files["none"],
        "files_mismatched": sum(file.state == "failed" and file.cause == "integrity.mismatch" for file in selected),
        "methods": [{"method": method, "files": files[method], "bytes": sizes[method], "oldest_at": figures.time(min(times)),
                     "newest_at": figures.time(max(times))} for method, times in sorted(by_method.items())],
        "oldest_proof_at": figures.time(min(recorded, default=None)), "newest_proof_at": figures.time(max(recorded, default=None)),
    }  # fmt: skip


COMPARED = ("files_total", "bytes", "bytes_acked", "bytes_transferred", "bytes_unacked", "attempts", "retries", "wall_ms", "active_ms",
            "goodput_wall_bps", "goodput_active_bps")  # fmt: skip


def compare(store, one, other):
    """Two selections side by side, with the changes from the first to the second."""
    sides, rows = [summary(store, one), summary(store, other)], {}
    for side in sides:
        side["errors"] = sum(side["attempts_by_outcome"].get(name, 0) for name in ("retry", "fatal", "unknown", "crashed"))
        side["error_rate"] = figures.share(side["errors"], side["attempts"])
        side |= {f"part_{key}": side["part_latency"][key] for key in ("p50_ms", "p95_ms", "p99_ms")}
    for key in (*COMPARED, "errors", "error_rate", "part_p50_ms", "part_p95_ms", "part_p99_ms"):
        before, after = sides[0][key], sides[1][key]
        is_known = before is not None and after is not None
        rows[key] = {"a": before, "b": after, "change": round(after - before, 6) if is_known else None,
                     "percent": round((after - before) / before * 100, 3) if is_known and before else None}  # fmt: skip
    return rows
