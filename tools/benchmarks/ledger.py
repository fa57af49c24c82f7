"""The ledger without a network: cycles a second beside the same statements in C, and the cost of a claim with a long
queue."""

import os
import shutil
import sqlite3
import statistics
import subprocess
import sys

import built
import machine
import measure

REPLAY = os.path.join(built.HERE, "replay")
LOG_PRICE = 0.05


def bench_program():
    words = ["swift", "build", "--package-path", built.ROOT, "-c", "release", "--product", "ledger-bench"]
    subprocess.run(words, check=True, stdout=sys.stderr)
    return os.path.join(built.release(), "ledger-bench")


def drive(*words, **environment):
    """The numbers that a program printed, by name; `other` is the CPU seconds of everything else meanwhile."""
    busy, own = machine.busy(), os.times()
    done = subprocess.run([*map(str, words)], stdout=subprocess.PIPE, text=True, env=dict(os.environ, **environment))
    if done.returncode:
        sys.exit(f"bench: {words[0]} ended with {done.returncode}")
    spent = os.times().children_user + os.times().children_system - own.children_user - own.children_system
    found = {name: float(number) for name, number in (line.split() for line in done.stdout.splitlines())}
    return found | {"other": max(0.0, machine.busy() - busy - spent)}


def copy(path, name):
    """A copy of a ledger that is not open anywhere, in a folder of its own."""
    folder = os.path.join(os.path.dirname(path), "..", name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    target = shutil.copy(path, os.path.join(folder, "transfers.db"))
    # Otherwise it would be recognised as a copy, and its files would be in doubt.
    connection = sqlite3.connect(target)
    with connection:
        connection.execute("UPDATE store_meta SET born_ns = NULL")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return target


def cycles(at, options):
    """Claim, attempt, done: 64 a commit, FULL; with and without the log, whose price is the difference. The C twin
    repeats a recording of our run: same statements, same values."""
    program = bench_program()
    record = built.compile("record.so", [f"{REPLAY}/record.c", f"{REPLAY}/log.h"], "-shared", "-fPIC", "-ldl")
    replay = built.compile("replay", [f"{REPLAY}/replay.c", f"{REPLAY}/log.h"], "-lsqlite3")
    count = 5_000 if options.quick else 30_000
    filled, log = f"{at.disk}/filled/transfers.db", f"{at.folder}/statements"
    os.makedirs(os.path.dirname(filled))
    drive(program, filled, "fill", count, 0)
    drive(program, copy(filled, "recorded"), "cycle", count, 64, LD_PRELOAD=record, RECORD_TO=log)
    runs = {"transfers": [], "no log": [], "C": []}
    for number in range(max(3, options.rounds)):
        turns = [
            ("transfers", lambda p: drive(program, p, "cycle", count, 64)),
            ("no log", lambda p: drive(program, p, "cycle-without-log", count, 64)),
            ("C", lambda p: drive(replay, log, p)),
        ]
        for name, turn in turns if number % 2 == 0 else reversed(turns):
            figures = turn(copy(filled, "cycled"))
            runs[name].append(figures)
            print(f"{'ledger cycles':32} {name:10} {told(figures, count)}", flush=True)
    print("where the time of the C twin goes:", flush=True)
    subprocess.run([replay, log, copy(filled, "cycled"), "each"], check=True)
    os.remove(log)
    medians = {name: {key: statistics.median(run[key] for run in all_runs) for key in ("wall_s", "cpu_s", "other")} for name, all_runs in runs.items()}
    for name, figures in medians.items():
        print(f"{'median':32} {name:10} {told(figures, count)}")
    print(f"{'price of the log':32} {'':10} {price(medians):10.1%} of the CPU time of a file; design goal: at most {LOG_PRICE:.0%}")
    return {name: figures | {"per_s": count / figures["wall_s"], "cpu_us": figures["cpu_s"] / count * 1e6} for name, figures in medians.items()}


def price(medians):
    """What the log adds to the CPU time of a file, as a share of the time without it."""
    return medians["transfers"]["cpu_s"] / medians["no log"]["cpu_s"] - 1


def told(figures, count):
    return f"{count / figures['wall_s']:10,.0f} a second  {figures['cpu_s'] / count * 1e6:6.1f} CPU µs each{' †' if figures['other'] > 0.3 else ''}"


def claims(at, options):
    """CPU time of one claim of 64 on the writer's thread. The rows in backoff are the first ones of the ledger."""
    program, found = bench_program(), []
    lengths = [(1_000, 0), (20_000, 0), (20_000, 4_000)] if options.quick else [(1_000, 0), (1_000_000, 0), (1_000_000, 200_000)]
    if options.long:
        lengths.append((10_000_000, 200_000))
    for pending, waiting in lengths:
        need = 300 * (pending + waiting)
        if shutil.disk_usage(at.disk).free < 2 * need:
            sys.exit(f"bench: {pending:,} rows need {(2 * need >> 30) + 1} GiB of free disk at {at.disk}")
        path = f"{at.disk}/queue/transfers.db"
        shutil.rmtree(os.path.dirname(path), ignore_errors=True)
        os.makedirs(os.path.dirname(path))
        measure.progress(f"making a ledger with {pending + waiting:,} files")
        filled = drive(program, path, "fill", pending, waiting)
        figures = drive(program, path, "claim", 100, 64)
        print(
            f"{'claim of 64':32} {pending:12,} ready {waiting:9,} waiting  {figures['claim_us_median']:8.0f} CPU µs, at most "
            f"{figures['claim_us_max']:.0f}  (admitted at {filled['admitted_files'] / filled['wall_s']:,.0f} rows/s){' †' if figures['other'] > 0.3 else ''}", flush=True,
        )  # fmt: skip
        found.append({"pending": pending, "waiting": waiting, "us": figures["claim_us_median"], "us_max": figures["claim_us_max"]})
    shutil.rmtree(f"{at.disk}/queue", ignore_errors=True)
    return found
