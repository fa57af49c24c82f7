"""The design goals, beside the results of this run."""

import dataclasses

import ledger as ledger_cycles


@dataclasses.dataclass
class Row:
    what: str
    limit: str  # the limit or the best peer, as measured in this run
    aim: str
    measured: str
    is_reached: bool | None  # None: not measured in this run
    is_disturbed: bool = False

    @property
    def verdict(self):
        return {None: "not run", True: "ok", False: "MISSED"}[self.is_reached] + (" †" if self.is_disturbed else "")


class Figures:
    """The results of a run, by group and client."""

    def __init__(self, document):
        self.document = document
        cells = document.get("send", []) + document.get("fetch", [])
        self.cells = {(cell["group"], cell["client"]): cell for cell in cells}

    def ours(self, group):
        return self.cells.get((group, "transfers"))

    def peers(self, group, field, form="{:.2f}"):
        found = [(cell[field], client) for (of, client), cell in self.cells.items() if of == group and client != "transfers"]
        return ", ".join(f"{client} {form.format(value)}" for value, client in sorted(found)) or "–"

    def most(self, what, group, field, aim, unit):
        ours = self.ours(group)
        if not ours:
            return Row(what, "–", f"≤ {aim} {unit}", "–", None)
        value = ours[field]
        return Row(what, self.peers(group, field), f"≤ {aim} {unit}", f"{value:.2f} {unit}", value <= aim, ours["disturbed"])


def rows(document):
    f = Figures(document)
    is_full = not document["options"]["quick"]
    per_gib, wall = "cpu_s_per_gib", "wall_s"
    found = [
        f.most("CPU per GiB, PUT", "put/plain/large", per_gib, 0.45, "s"),
        f.most("CPU per GiB, PUT, TLS", "put/tls/large", per_gib, 1.2, "s"),
        f.most("CPU per GiB, S3, payload signed", "s3-signed/plain/large", per_gib, 1.5, "s"),
        f.most("CPU per GiB, S3, unsigned with CRC-64", "s3-unsigned/plain/large", per_gib, 0.6, "s"),
    ]
    if is_full:
        found += [
            f.most("2 GiB to S3, signed, wall", "s3-signed/plain/large", wall, 2.3, "s"),
            f.most("2 GiB to S3, unsigned, wall", "s3-unsigned/plain/large", wall, 1.4, "s"),
        ]
    found += [small(f, "s3-signed/plain/small", "signed"), *downloads(f), *memory(f)]
    return found + protocols(document, is_full) + ledger(document) + commands(document, is_full)


def protocols(document, is_full):
    """The parallel profile beside `curl -T` to the same receiver; tus on its own, as the design goal has it."""
    by_name = {(cell["group"], cell["client"]): cell for cell in document.get("protocols", [])}
    size, found = ("1gib" if is_full else "64mib"), []
    ours, curl = (by_name.get((f"numbered-chunks/plain/{size}", client)) for client in ("transfers", "curl -T"))
    if ours and curl:
        ratio = ours["wall_s"] / max(curl["wall_s"], 0.01)
        row = Row("1 GiB by a parallel profile", f"curl -T {curl['wall_s']:.2f} s", "≤ 1.2 ×", f"{ratio:.2f} ×", ratio <= 1.2)
        found.append(dataclasses.replace(row, is_disturbed=ours["disturbed"] or curl["disturbed"]))
    if tus := by_name.get(("tus/plain/2gib", "transfers")):
        found.append(Row("2 GiB by tus", "–", "≤ 1.9 s", f"{tus['wall_s']:.2f} s", tus["wall_s"] <= 1.9, tus["disturbed"]))
    return found


def small(f, group, kind):
    ours, s5cmd = f.ours(group), f.cells.get((group, "s5cmd"))
    what, aim = f"16 KiB files a second, S3, {kind}", "≥ 4 × s5cmd"
    if not ours or not s5cmd:
        return Row(what, "–", aim, "–", None)
    rates = [cell["files"] / cell["wall_s"] for cell in (ours, s5cmd)]
    others = {client: cell["files"] / cell["wall_s"] for (of, client), cell in f.cells.items() if of == group and client != "transfers"}
    peers = ", ".join(f"{client} {rate:,.0f}" for client, rate in others.items())
    return Row(what, peers, aim, f"{rates[0]:,.0f}, {rates[0] / rates[1]:.1f} ×", rates[0] >= 4 * rates[1], ours["disturbed"] or s5cmd["disturbed"])


def downloads(f):
    """Ratios to the peers of the same run: a large file beside rclone and curl, small ones beside the fastest peer."""
    found = []
    for what, field, peer, most in (("wall", "wall_s", "rclone", 0.93), ("CPU", "cpu_s", "curl", 1.2)):
        group = "get/plain/fetch-large"
        ours, theirs = f.ours(group), f.cells.get((group, peer))
        aim, title = f"≤ {most} × {peer}", f"download of one large file, {what}"
        if not ours or not theirs:
            found.append(Row(title, "–", aim, "–", None))
            continue
        ratio = ours[field] / max(theirs[field], 0.01)
        found.append(Row(title, f.peers(group, field), aim, f"{ours[field]:.2f} s, {ratio:.2f} ×", ratio <= most, ours["disturbed"]))
    group = "get/plain/fetch-small"
    rates = {client: cell["files"] / cell["wall_s"] for (of, client), cell in f.cells.items() if of == group}
    ours, title, aim = rates.pop("transfers", None), "64 KiB files a second, download", "the most of all"
    if not ours or not rates:
        return [*found, Row(title, "–", aim, "–", None)]
    peers = ", ".join(f"{client} {rate:,.0f}" for client, rate in sorted(rates.items(), key=lambda pair: pair[1]))
    return [*found, Row(title, peers, aim, f"{ours:,.0f}", ours >= max(rates.values()), f.ours(group)["disturbed"])]


def memory(f):
    """The maximum of all runs, for uploads and for downloads."""
    found = []
    for what, is_download in (("uploads", False), ("downloads", True)):
        by_client = {}
        for (group, client), cell in f.cells.items():
            if ("get/" in group) == is_download:
                by_client[client] = max(by_client.get(client, 0), cell["rss_mib"])
        ours = by_client.pop("transfers", None)
        if ours is None:
            continue
        peers = ", ".join(f"{client} {mib:.0f}" for client, mib in sorted(by_client.items(), key=lambda pair: pair[1]))
        found.append(Row(f"memory, maximum of all {what}", peers or "–", "≤ 48 MiB", f"{ours:.0f} MiB", ours <= 48))
    return found


def ledger(document):
    found = []
    if cycles := document.get("ledger"):
        ours, c = cycles["transfers"], cycles["C"]
        limit = f"the same statements in C {c['per_s']:,.0f} ({c['cpu_us']:.0f} CPU µs)"
        measured = f"{ours['per_s']:,.0f} ({ours['cpu_us']:.0f} CPU µs)"
        found.append(Row("ledger cycles a second, 64 a commit, FULL", limit, "≥ 60,000", measured, ours["per_s"] >= 60_000, ours["other"] > 0.3))
        share = ledger_cycles.price(cycles)
        found.append(Row("price of the log, CPU of a file", f"without it {cycles['no log']['cpu_us']:.1f} µs", f"≤ {ledger_cycles.LOG_PRICE:.0%}", f"{share:.1%}",
                         share <= ledger_cycles.LOG_PRICE, max(ours["other"], cycles["no log"]["other"]) > 0.3))  # fmt: skip
    if claims := document.get("claims"):
        costs = [claim["us"] for claim in claims]
        told = ", ".join(f"{c['pending']:,}{' + %s waiting' % format(c['waiting'], ',') if c['waiting'] else ''}: {c['us']:.0f} µs" for c in claims)
        found.append(Row("claim of 64", "–", "flat", told, max(costs) <= 2 * min(costs)))
    return found + history(document) + merge(document)


def history(document):
    """Results for the ledger with 1,000,000 files, and the small verbs compared with the smallest ledger."""
    by_size = {part["files"]: part["commands"] for part in document.get("history", [])}
    if 1_000_000 not in by_size:
        return []
    few, many = by_size[min(by_size)], by_size[1_000_000]
    found = []
    for name, aim in (("status", 100), ("show b4", 100), ("report summary", 500)):
        found.append(Row(f"{name} with 1,000,000 files", f"{few[name]['ms']:.0f} ms with 10,000", f"≤ {aim} ms", f"{many[name]['ms']:.0f} ms", many[name]["ms"] <= aim))
    longest, log = (max(row.get(key, 0) for row in many.values()) for key in ("longest_ms", "wal_mib"))
    most = max(row["rss_mib"] for row in many.values())
    small = max(many[name]["cpu_ms"] / max(few[name]["cpu_ms"], 1) for name in many if name.endswith("small"))
    reach = many["control"]["ms"]
    found.append(Row("until an engine obeys, 1,000,000 files", f"{few['control']['ms']:.0f} ms with 10,000", "≤ 1,000 ms", f"{reach:.0f} ms", reach <= 1_000))
    found.append(Row("longest wait of another writer", "–", "≤ 100 ms", f"{longest:.0f} ms", longest <= 100))
    found.append(Row("log while a verb runs", "–", "≤ 64 MiB", f"{log:.0f} MiB", log <= 64))
    found.append(Row("memory with 1,000,000 files", "–", "≤ 64 MiB", f"{most:.0f} MiB", most <= 64))
    found.append(Row("verbs on a small batch, CPU", "10,000 files", "≤ 2 ×", f"{small:.1f} ×", small <= 2))
    return found


def merge(document):
    if not (ours := document.get("merge", {}).get("100,000 files")):
        return []
    measured = f"{ours['wall']:.2f} s, {ours['rss_mib']:.0f} MiB"
    return [Row("merge of 1,000,000 attempts", "–", "≤ 5 s", measured, ours["wall"] <= 5, ours["other"] > 0.3)]


def commands(document, is_full):
    found = []
    if (add := document.get("add")) and is_full:
        measured = f"{add['wall']:.1f} s, {add['rss_mib']:.0f} MiB"
        found.append(Row("add of 1,000,000 from a list", "–", "≤ 10 s, ≤ 64 MiB", measured, add["wall"] <= 10 and add["rss_mib"] <= 64, add["other"] > 0.3))
    if (listing := document.get("listing")) and is_full:
        few, many, *_ = listing
        measured, limit = f"{many['rss_mib']:.0f} MiB", f"{few['files']:,}: {few['rss_mib']:.0f} MiB"
        found.append(Row("pull of a prefix with 1,000,000 keys", limit, "≤ 64 MiB", measured, many["rss_mib"] <= 64))
    if (walk := document.get("walk")) and is_full:
        ours, find = walk["transfers"], walk["find"]
        found.append(Row("walk of 200,000 files", f"find {find['wall']:.2f} s", "≤ 0.4 s", f"{ours['wall']:.2f} s", ours["wall"] <= 0.4, ours["other"] > 0.3))
    if (jobs := document.get("jobs")) and is_full:
        idle, many = jobs["known"]["idle"], jobs["many"]
        measured = f"{idle['wall']:.2f} s, {idle['rss_mib']:.0f} MiB"
        found.append(Row("idle job run, 100,000 files", "–", "≤ 1.0 s, ≤ 64 MiB", measured, idle["wall"] <= 1.0 and idle["rss_mib"] <= 64, idle["other"] > 0.3))
        most = max(many["first"]["rss_mib"], many["idle"]["rss_mib"])
        found.append(Row("memory of a job with 500,000 files", "–", "≤ 64 MiB", f"{most:.0f} MiB", most <= 64))
    if start := document.get("start"):
        curl = f"curl --version {start['curl --version']['least_ms']:.1f} ms"
        for name, title, aim in (("status, one file", "start of status", 15), ("status, after add", "status with 1,000,000 files", 100)):
            if name in start and (is_full or aim == 15):
                least, middle = start[name]["least_ms"], start[name]["median_ms"]
                found.append(Row(title, curl, f"≤ {aim} ms", f"{least:.1f} ms (median {middle:.1f})", least <= aim))
    if (part := document.get("manifests")) and is_full:
        for part in [part, part["long"]] if "long" in part else [part]:
            most, names = max(row["rss_mib"] for row in part["commands"].values()), ", ".join(part["commands"])
            found.append(Row(f"manifest {names}: {part['files']:,} lines", "–", "≤ 64 MiB", f"{most:.0f} MiB", most <= 64))
    return found


def show(document):
    table = [("aim of the design", "limit or peer in this run", "aim", "measured", "")]
    table += [(row.what, row.limit, row.aim, row.measured, row.verdict) for row in rows(document)]
    widths = [max(len(line[column]) for line in table) for column in range(5)]
    print("\nResults for the sizes of --quick are only a rough indication." if document["options"]["quick"] else "")
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
    return [dataclasses.asdict(row) for row in rows(document)]
