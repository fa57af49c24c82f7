"""Executes the plan: batch after batch, with its faults."""

import hosts
from engine import Run
from world import MINUTE, World

MORNING = 8 * hosts.HOUR + 30 * MINUTE


def tell(plan, path, chance):
    """Writes the history into the empty ledger. Returns its size, in words."""
    world = World(plan, path, chance)
    found = hosts.hosts()
    hosts.weather(found, plan.start, plan.days)
    for day in range(1, plan.days):
        world.later(plan.start + day * hosts.DAY + MORNING, world.retry)
    crashes = {i: (after, restarts) for i, after, restarts in plan.crashes}
    verbs = {i: (after, verb) for i, after, verb in plan.verbs}
    sleeps = {i: (after, length) for i, after, length in plan.sleeps}
    now = plan.start
    for i, batch in enumerate(plan.batches):
        at = max(batch.at, now + 1500)
        world.until(at)
        world.record(batch, at, found[batch.job.host], i)
        words = ["pull" if batch.host.is_download else "push", batch.job.folder, batch.host.destination, "--quiet"]
        run = Run(world, at + chance.randrange(20, 400), words, batch.job.workers)
        if i in sleeps:
            run.sleep = run.began + sleeps[i][0], sleeps[i][1]
        after, verb = verbs.get(i, (0, None))
        if verb and verb != "stop":
            world.later(run.began + after, lambda when, verb=verb, batch=batch: world.do(verb, batch, when))
        if i in crashes:
            now = killed(world, run, *crashes[i])
        else:
            now = run.go(run.began + after if verb == "stop" else None, "interrupted")
        if i % 37 == 36:
            world.later(now + 3 * hosts.HOUR, lambda when, batch=plan.batches[i // 2]: world.clean(batch, when))
        world.ledger.commit()
    finish(world, now, plan.start + plan.days * hosts.DAY)
    return f"{world.ledger.run('SELECT count(*) FROM file').fetchone()[0]:,} files, {world.ledger.attempts:,} attempts" + closed(world)


def killed(world, run, after, restarts):
    """The engine is killed; some minutes later it is started again, after a restart of the machine or by a timer."""
    at = run.go(run.began + after)
    if world.run is None and not world.crashed and not any(w.state in ("active", "finishing") for w in world.backlog.values()):
        return at
    at += world.chance.randrange(20, 400) * 1000
    if restarts:
        world.restart(at)
        at += world.chance.randrange(40, 300) * 1000
    world.until(at)
    return Run(world, at, ["run", "--quiet"], 8).go()


def finish(world, now, end):
    """Nothing stays pending; files that users paused stay paused."""
    world.until(max(now, end))
    while any(work.state == "pending" for work in world.backlog.values()):
        now = Run(world, max(now + 1500, end), ["run", "--quiet"], 8).go()


def closed(world):
    world.ledger.close()
    return ""
