#!/usr/bin/env python3
"""Figures of a ledger, computed from its rows in plain Python: the expected content of "transfers report".

  tools/history/oracle.py LEDGER REPORT [--since TIME] [--until TIME] [--batch N] [--bucket 1s|10s|1m|5m|1h|1d|auto]
                          [--every day|week|month] [--limit N]
  tools/history/oracle.py LEDGER compare A B

summary, files, attempts, failures and throughput have the form of the `data` of "transfers report --json"; batches,
slow, retries, hosts, calendar, latency, waste, integrity, events and runs have their own. A and B are a batch (b12) or
a window (2026-11-01..2026-11-08). TIME is RFC 3339 or a date, in UTC. The definitions are those of the project's
reference on reports, which comments cite as ux with its sections; the code shares nothing with the product: no view, no
statement, no stored sum.
"""

import argparse
import datetime
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.dirname(os.path.abspath(__file__)))

import oracle_lists  # noqa: E402
import oracle_spread  # noqa: E402
import oracle_totals  # noqa: E402
from rows import Selection, Store  # noqa: E402

REPORTS = {
    "summary": oracle_totals.summary, "files": oracle_lists.files, "attempts": oracle_lists.attempts, "failures": oracle_lists.failures,
    "throughput": oracle_totals.throughput, "batches": oracle_totals.batches, "slow": oracle_spread.slow, "retries": oracle_spread.retries,
    "hosts": oracle_spread.hosts, "calendar": oracle_spread.calendar, "latency": oracle_spread.latency, "waste": oracle_totals.waste,
    "integrity": oracle_totals.integrity, "events": oracle_lists.events, "runs": oracle_lists.runs,
}  # fmt: skip
# The options that each report takes.
OPTIONS = {"throughput": "bucket", "calendar": "every", "slow": "limit", "latency": "by"}


def moment(text):
    """Milliseconds since 1970 UTC."""
    found = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    found = found if found.tzinfo else found.replace(tzinfo=datetime.timezone.utc)
    return round(found.timestamp() * 1000)


def side(store, text):
    if text[:1] == "b" and text[1:].isdigit():
        return Selection(store, batches=[int(text[1:])])
    since, _, until = text.partition("..")
    return Selection(store, moment(since) if since else None, moment(until) if until else None)


def report(store, name, selection, **options):
    option = OPTIONS.get(name)
    more = {option: options[option]} if option and options.get(option) is not None else {}
    found = REPORTS[name](store, selection, **more)
    return found if isinstance(found, (dict, list)) else list(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ledger")
    parser.add_argument("report", choices=[*REPORTS, "compare"])
    parser.add_argument("sides", nargs="*", metavar="A B")
    parser.add_argument("--since", type=moment)
    parser.add_argument("--until", type=moment)
    parser.add_argument("--batch", type=int, action="append", default=[])
    parser.add_argument("--bucket", choices=["auto", *oracle_totals.STEPS])
    parser.add_argument("--every", choices=["day", "week", "month"])
    parser.add_argument("--limit", type=int)
    asked = parser.parse_args()
    if (len(asked.sides) == 2) != (asked.report == "compare") or len(asked.sides) not in (0, 2):
        parser.error("compare takes two batches or windows, the others none")
    if not os.path.exists(asked.ledger):
        parser.error(f"no such file: {asked.ledger}")
    store = Store(os.path.abspath(asked.ledger))
    if asked.report == "compare":
        found = oracle_totals.compare(store, *(side(store, text) for text in asked.sides))
    else:
        selection = Selection(store, asked.since, asked.until, asked.batch)
        found = report(store, asked.report, selection, bucket=asked.bucket, every=asked.every, limit=asked.limit)
    json.dump(found, sys.stdout, indent=1, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()
