"""What is transferred when: batches with their files, and what users do and machines suffer meanwhile.

Sizes are log-normal from 1 KiB to 20 GiB; their median follows from the requested number of attempts.
"""

import dataclasses
import math

import hosts
from hosts import DAY, HOUR

SIGMA = 2.3
LEAST, MOST = 1 << 10, 20 << 30
# The ratio of attempts to those needed without any failure: failed ones are repeated, and cancelled files need none.
# Found by generating histories.
MADE = 0.994


@dataclasses.dataclass
class Batch:
    job: hosts.Job
    at: int
    sizes: list
    # Set when it is recorded.
    id: int = 0
    created: int = 0
    destination: int = 0
    host: hosts.Host = None
    rate: int = 0  # bytes per second for all its requests together; 0 for no limit


@dataclasses.dataclass
class Plan:
    start: int
    days: int
    batches: list
    crashes: list  # (batch, ms after the start of its run, whether the machine restarts)
    verbs: list  # (batch, ms after the start of its run, verb)
    sleeps: list  # (batch, ms after the start of its run, ms for which the machine sleeps)
    attempts: int


def requests(host, size):
    """How many attempts a file needs when nothing fails."""
    parts = max(1, -(-size // host.chunk)) if host.chunk else 1
    if host.protocol in ("put", "post"):
        return 1
    if host.protocol == "dav":
        return 2
    if host.protocol == "s3":
        return 1 if parts == 1 else parts + 2
    return parts + (2 if host.protocol == "get" else 1)


def sizes_for(deviates, of, attempts):
    """Sizes from normal deviates such that all files together need this many attempts, and none more than a tenth of
    them."""
    most = min(MOST, max(hosts.MIB, attempts // 10 * 8 * hosts.MIB))

    def at(median):
        return [int(min(max(median * math.exp(SIGMA * z), LEAST), most, job.largest)) for z, (job, _) in zip(deviates, of)]

    low, high = math.log(LEAST), math.log(MOST)
    for _ in range(28):
        middle = (low + high) / 2
        found = sum(requests(host, size) for size, (_, host) in zip(at(math.exp(middle)), of)) * MADE
        low, high = (middle, high) if found < attempts else (low, middle)
    return at(math.exp(low))


def make(start, days, files, attempts, chance):
    found = hosts.hosts()
    hosts.weather(found, start, days)
    slots = []
    for day in range(days):
        for job in hosts.JOBS:
            for hour in job.hours:
                weight = job.share / len(job.hours) * chance.uniform(0.6, 1.4)
                # Weekends are quiet, and at the end of a month everything is archived.
                weight *= 0.35 if (start // DAY + day + 3) % 7 >= 5 and len(job.hours) > 1 else 1
                weight *= 3 if day == days - 3 and job.name == "nightly-archive" else 1
                slots.append((start + day * DAY + hour * HOUR + chance.randrange(600_000), job, weight))
    slots.sort(key=lambda slot: slot[0])
    drawn = sorted(chance.choices(range(len(slots)), [weight for _, _, weight in slots], k=files))
    of = [(slots[i][1], found[slots[i][1].host]) for i in drawn]
    sizes = sizes_for([chance.gauss(0, 1) for _ in drawn], of, attempts)
    batches = {}
    for i, size in zip(drawn, sizes):
        at, job, _ = slots[i]
        batches.setdefault(i, Batch(job, at, [])).sizes.append(size)
    return disturb(Plan(start, days, list(batches.values()), [], [], [], attempts), chance)


def disturb(plan, chance):
    """Crashes, restarts, suspensions and requests of users, spread over the batches that are large enough to notice
    them."""
    large = sorted(range(len(plan.batches)), key=lambda i: -sum(plan.batches[i].sizes))
    large = sorted(large[: max(6, len(large) // 3)])
    chance.shuffle(large)
    soon = 20_000 if plan.attempts > 20_000 else 400
    crashes = max(2, plan.days // 2)
    for n, i in enumerate(large[:crashes]):
        plan.crashes.append((i, chance.randrange(soon // 10, soon * 3), n % 3 == 0))
    for n, i in enumerate(large[crashes : max(6, plan.days)]):
        plan.verbs.append((i, chance.randrange(soon // 10, soon), ("cancel", "pause", "stop", "set", "pause")[n % 5]))
    # Machines sleep also while a batch is limited, and before an engine is killed.
    for i in large[:: max(2, len(large) // max(2, plan.days // 3))]:
        plan.sleeps.append((i, chance.randrange(soon // 10, soon), chance.randrange(20_000, 20 * 60_000)))
    return plan
