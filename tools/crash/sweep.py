"""Many cases: every call in turn, or random moments; several at a time."""

import collections
import concurrent.futures
import itertools
import random
import sys
import time
import traceback

import kill as kills
from case import Verdict


class Tally:
    """Counts passed cases; prints failed ones immediately, with the arguments that repeat them."""

    def __init__(self, seed):
        self.seed = seed
        self.passed = self.failed = self.kills = self.resent = 0

    def add(self, verdict, target, plan):
        self.kills += verdict.kills
        self.resent += verdict.resent
        if not verdict.problems:
            self.passed += 1
            return
        self.failed += 1
        words = ",".join(str(kill) for kill in plan)
        print(f"FAILED {verdict.name} on {target.kind}, seed {self.seed}, plan {words}", file=sys.stderr)
        for problem in verdict.problems:
            print(f"    {problem}", file=sys.stderr)
        print(f"    repeat: tools/crash-test --servers {target.kind} --seed {self.seed} --plan {words}", file=sys.stderr)


class Bench:
    """Makes cases for one target."""

    def __init__(self, make_case, target, jobs, tally, give_up_after):
        self.make_case, self.target, self.jobs, self.tally = make_case, target, jobs, tally
        self.give_up_after = give_up_after
        self.failures = 0

    def one(self, name, plan):
        case = self.make_case(name, self.target, plan)
        try:
            return case.run(), plan
        except Exception:  # the server refused us, or the ledger cannot be read: only this case fails
            problem = "the test itself: " + traceback.format_exc()
            return Verdict(name, [*case.problems, problem], case.kills, reached=case.kills > 0), plan

    def note(self, result):
        verdict, plan = result
        self.tally.add(verdict, self.target, plan)
        self.failures += bool(verdict.problems)
        return verdict

    def all(self, named_plans, until=lambda verdict: False):
        """Runs the plans in order, `jobs` at a time, until `until` (checked in order) or too many failures."""
        waiting = collections.deque()
        stop = False
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for name, plan in named_plans:
                waiting.append(pool.submit(self.one, name, plan))
                while len(waiting) >= self.jobs * 2 and not stop:
                    stop = self.settled(waiting, until)
                if stop:
                    break
            while waiting:
                self.settled(waiting, until)

    def settled(self, waiting, until):
        verdict = self.note(waiting.popleft().result())
        return until(verdict) or self.failures >= self.give_up_after

    def every_call(self, label, how, before=(), step=1):
        """Kills at call 1, 2, 3 … (every `step`-th) of the command after the kills of `before`, until three in a row
        were not reached: because of threads, the number of calls varies a little from run to run."""
        in_a_row = 0

        def over(verdict):
            nonlocal in_a_row
            in_a_row = in_a_row + 1 if verdict.kills <= len(before) else 0
            return in_a_row >= 3

        plans = ((f"{label}-{n}", [*before, kills.Kill(how, n)]) for n in itertools.count(1, step))
        self.all(plans, over)

    def random_moments(self, label, count, longest_ms, rng: random.Random):
        """SIGKILL from outside, one to three times before the command that may finish, until `count` have hit. Kills
        that come when nothing is left to do hit nothing: there are at most four cases per kill."""
        hit = 0

        def enough(verdict):
            nonlocal hit
            hit += verdict.kills
            return hit >= count

        plans = (
            (
                f"{label}-{n}",
                [kills.Kill("ms", round(rng.uniform(0, longest_ms), 2)) for _ in range(rng.choice([1, 1, 2, 3]))],
            )
            for n in range(1, 4 * count + 1)
        )
        self.all(plans, enough)


class Phase:
    """Times a phase and prints its line."""

    def __init__(self, text, tally):
        self.text, self.tally = text, tally

    def __enter__(self):
        self.began = time.monotonic()
        self.before = (self.tally.passed, self.tally.failed, self.tally.kills, self.tally.resent)
        return self

    def __exit__(self, *_):
        seconds = time.monotonic() - self.began
        now = (self.tally.passed, self.tally.failed, self.tally.kills, self.tally.resent)
        passed, failed, killed, resent = (a - b for a, b in zip(now, self.before))
        print(
            f"{self.text}: {passed + failed} cases, {failed} failed, {killed} kills, {resent / 2**20:.1f} MiB sent again, "
            f"{seconds:.1f} s, {killed / seconds if seconds else 0:.1f} kills/s",
            flush=True,
        )
