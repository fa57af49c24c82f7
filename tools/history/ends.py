"""How files, runs and attempts in flight end: done, failed, superseded, paused, cancelled, killed."""

import email.utils

from hosts import LOST

MAY_HAVE_ARRIVED = """UPDATE attempt SET outcome = ?, ended_at = ?, error_code = ?, bytes_transferred = ?, may_have_arrived = 1
  WHERE id = ? AND outcome = 'open'"""


def complete(run, work):
    ledger, host, now = run.ledger, work.batch.host, run.now
    if work.last_step == "save":
        ledger.run("UPDATE file SET mtime_ns = ?1, ctime_ns = ?1 WHERE id = ?2", (now * 1_000_000, work.id))
    if len(work.parts) > 1:
        work.digest = "crc64nvme:%016x" % run.world.chance.getrandbits(64)
    proof = host.confirmation
    ledger.receipt(
        work.id, work.size, work.won, proof, work.digest, work.digest if proof == "digest" else None,
        '"%s"' % work.digest[-16:], "%016X" % work.won if host.protocol == "s3" else "",
        email.utils.formatdate(now // 1000, usegmt=True), host.destination.split("+")[-1] + f"#{work.id}", now)  # fmt: skip
    ledger.run(
        "UPDATE file SET state = 'done', run_id = NULL, cause = NULL, message = NULL, failures = 0, requested_action = NULL, finished_at = ? "
        "WHERE id = ?", (now, work.id))  # fmt: skip
    work.state = "done"
    if work.session is not None:
        ledger.end_session(work.session, now, "completed")
    run.world.rests(work)


def requeue(run, work, cause=None):
    """Idle, and not done: it waits for a request slot, or for a resume."""
    run.ledger.run(
        "UPDATE file SET state = 'pending', run_id = NULL, requested_action = NULL, not_before = ?, cause = coalesce(?, cause), failures = ? WHERE id = ?",
        (work.due or None, cause, work.failures, work.id))  # fmt: skip
    work.state = "pending"
    work.claim += 1
    if work.stop is None:
        run.admit(work)


def settle(run, work):
    """Nothing of it is in flight any longer, and there is a reason not to continue."""
    kind, fault = work.stop
    if kind in ("pause", "cancel"):
        requeue(run, work)
        work.stop = None
        return run.world.paused(run.now, [work]) if kind == "pause" else run.world.cancelled(run.now, [work])
    ledger, now = run.ledger, run.now
    state = {"failed": "failed", "changed": "superseded", "unknown": "unknown"}[kind]
    values = {"run_id": None, "requested_action": None, "cause": fault.code, "message": fault.message}
    if state != "unknown":
        values |= {"live": None, "finished_at": now}
    ledger.move(work.id, state, **values)
    work.state = state
    if state != "unknown":
        end_parts(run, work)
    if fault.is_permanent and state != "unknown":
        abort(run.world, work, now)
    run.world.rests(work)
    if kind == "changed":
        run.world.replaced(run, work)


def end_parts(run, work):
    run.ledger.run(
        "UPDATE chunk SET state = 'failed', not_before = NULL WHERE file_id = ? AND state IN ('pending', 'waiting')", (work.id,))
    for part in work.parts or ():
        part.state = "failed" if part.state in ("pending", "waiting") else part.state


def abort(world, work, now):
    """Gives up its session; the server is told as soon as a request is free for that."""
    if work.session is None:
        return
    world.ledger.run("UPDATE session SET abort_after = ? WHERE id = ?", (now, work.session))
    world.aborts.append((work, work.session))
    work.session, work.is_open = None, False


def tell_server(run):
    """The first abandoned session whose batch may have another request. False for none."""
    for i, (work, session) in enumerate(run.world.aborts):
        if not run.slots.is_full(work.batch):
            break
    else:
        return False
    del run.world.aborts[i]
    ledger, now = run.ledger, run.now
    number = ledger.begin(now, work.id, None, session, run.id, "abort", work.number("abort", None), 1)
    ledger.end(number, "UPDATE attempt SET outcome = 'ok', ended_at = ?, http_status = 204 WHERE id = ?", now + 20)
    ledger.end_session(session, now + 20, "aborted")
    run.slots.take(work.batch)
    run.at(now + 20, run.slots.give, work.batch)
    return True


def crash(run):
    """The process is gone: nothing is written. Attempts in flight stay open until the next run."""
    run.ledger.heartbeat(run.id, max(run.now - run.world.chance.randrange(1000), run.woke), int(run.processor))
    run.world.crashed, run.world.run = list(run.flights), None
    return run.now


def recover(run):
    """Recovers after the crashed engine (LedgerTransaction+Recovery.swift)."""
    world, ledger = run.world, run.ledger
    crashed, world.crashed = world.crashed, []
    for flight, at in [(flight, ledger.last_sign(flight.id)) for flight in crashed]:
        cut_off(run, flight, "crashed", "engine.crashed", 0, at)
    left = unknown = 0
    for work in list(world.backlog.values()):
        if work.state not in ("active", "finishing"):
            continue
        work.flying, stop, work.stop = 0, work.stop, None
        if any(part.state == "unknown" for part in work.parts or ()):
            ledger.move(work.id, "unknown", run_id=None, requested_action=None, cause="engine.crashed",
                        message="the engine crashed while a request that must not be repeated was open")  # fmt: skip
            work.state = "unknown"
            world.rests(work)
            unknown += 1
            continue
        ledger.run("UPDATE chunk SET state = 'pending' WHERE state = 'failed' AND file_id = ?", (work.id,))
        for part in work.parts or ():
            part.state = "pending" if part.state == "failed" else part.state
        ledger.move(work.id, "pending", run_id=None, requested_action=None)
        work.state = "pending"
        work.claim += 1
        left += 1
        if stop and stop[0] in ("pause", "cancel"):
            (world.paused if stop[0] == "pause" else world.cancelled)(run.now, [work])
    if crashed or left:
        ledger.event(run.now, "recovered", None, f"{len(crashed)} attempts crashed, {left} files resume, {unknown} unknown")


def interrupt(run):
    """Stops immediately: attempts in flight are given up."""
    for flight in sorted(run.flights, key=lambda flight: flight.id):
        passed = (run.now - flight.began) / max(1, flight.fate.total)
        cut_off(run, flight, "interrupted", "engine.interrupted", int(flight.size * min(1, passed) * 0.9))
    for work in [work for work in run.world.backlog.values() if work.state in ("active", "finishing")]:
        stop, work.flying = work.stop, 0
        if stop and stop[0] in ("failed", "changed", "unknown"):
            settle(run, work)
        else:
            work.stop = work.stop or ("stop", None)
            requeue(run, work)
            work.stop = None
            if stop:
                (run.world.paused if stop[0] == "pause" else run.world.cancelled)(run.now, [work])
    return run.end("interrupted")


def cut_off(run, flight, outcome, code, sent, at=None):
    """Ends an attempt without an answer, now or as of then, and releases its part."""
    part, work = flight.part, flight.work
    flight.is_over = True
    is_lost = work.protocol == "post"
    run.ledger.end(flight.id, MAY_HAVE_ARRIVED, "unknown" if is_lost and outcome == "interrupted" else outcome, at or run.now, code, sent)
    if part is None:
        return
    part.state = "unknown" if is_lost else "pending"
    run.ledger.chunk(part.id, part.state, **({"uncertain": 1} if flight.operation == "part" else {}))
    if flight.operation == "part":
        # Nobody knows what a killed engine had sent.
        part.senders.append((flight.id, sent or int(flight.size * run.world.chance.random() * 0.9)))
    if is_lost and outcome == "interrupted":
        work.stop = ("unknown", LOST)
