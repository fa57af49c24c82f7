"""Figures as ux 2.5 defines them. Times and lengths of time in ms."""

import base64
import collections
import datetime


def rate(size, ms):
    """Bytes per second, rounded down; None where nothing took time."""
    return size * 1000 // ms if ms else None


def nearest_rank(values, percents):
    """ux 2.5: the smallest value that at least this percentage of the values do not exceed. `values` maps each value to
    its count."""
    n, below, found = sum(values.values()), 0, {}
    for value in sorted(values):
        below += values[value]
        for percent in percents:
            if percent not in found and below * 100 >= percent * n:
                found[percent] = value
    return {"n": n, **{f"p{percent}_ms": found.get(percent) for percent in percents}, "max_ms": max(values, default=None)}


def union(intervals):
    """Length of the union of intervals: ux 2.5, goodput_active."""
    total, end = 0, None
    for start, stop in sorted(intervals):
        if end is None or start > end:
            total += stop - start
            end = stop
        elif stop > end:
            total += stop - end
            end = stop
    return total


class Flow:
    """The bytes that attempts moved, and when."""

    def __init__(self):
        self.attempts = self.transferred = self.acked = self.retries = self.errors = 0
        self.outcomes = collections.Counter()
        self.first = self.last = None
        self.intervals = []

    def add(self, attempt):
        self.transferred += attempt.bytes_transferred
        self.acked += attempt.counted
        if attempt.after_its_end:
            return  # No attempt to transfer the file: an abort, or a query about a done file.
        self.attempts += 1
        self.outcomes[attempt.outcome] += 1
        self.retries += attempt.outcome == "retry"
        self.errors += is_error(attempt)
        self.first = attempt.started_at if self.first is None else min(self.first, attempt.started_at)
        if attempt.ended_at is not None:
            self.last = attempt.ended_at if self.last is None else max(self.last, attempt.ended_at)
            self.intervals.append((attempt.started_at, attempt.ended_at))

    @property
    def wall(self):
        return None if self.last is None or self.first is None else self.last - self.first

    @property
    def active(self):
        return union(self.intervals)


def moved_content(attempt):
    """Whether an attempt of a transfer succeeded and moved content of the file: a part, or the beginning."""
    return attempt.outcome == "ok" and (attempt.operation == "part" or attempt.bytes_transferred > 0) and not attempt.after_its_end


def is_error(attempt):
    """Whether an attempt failed: it is not ok, not open, and was not stopped on request."""
    return attempt.outcome not in ("ok", "open", "interrupted")


def time(ms):
    """RFC 3339 in UTC with milliseconds."""
    if ms is None:
        return None
    moment = datetime.datetime.fromtimestamp(ms // 1000, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S") + ".%03dZ" % (ms % 1000)


def name(key, value):
    """A name for JSON: text, and the bytes beside it if they are not UTF-8."""
    if value is None:
        return {key: None}
    text = value.decode("utf-8", "replace")
    return {key: text} if text.encode() == value else {key: text, key + "_b64": base64.b64encode(value).decode()}


def uuid(value):
    text = value.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def share(part, whole):
    return round(part / whole, 6) if whole else None
