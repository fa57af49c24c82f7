"""Counts by common properties, computed from the rows: "report --facet", "report failures --by"."""

import collections

import figures

FAILED = ("failed", "unknown")
FACETS = ("host", "state", "error", "batch", "direction")


def value(store, facet, file, code, attempt=None):
    batch = store.batches[file.batch]
    return {"host": (store.host_of(attempt) if attempt else store.hosts[file.batch]) or None, "state": file.state, "error": code,
            "batch": f"b{file.batch}", "direction": "down" if batch.direction == "download" else "up"}[facet]  # fmt: skip


def facets(store, selection, report, names=FACETS):
    """One row for each value of each facet: the number of files, of attempts, or of the failures of both."""
    files, attempts = collections.Counter(), collections.Counter()
    for file in selection.files() if report != "attempts" else ():
        if report == "files" or file.state in FAILED:
            files.update((facet, value(store, facet, file, file.cause)) for facet in names)
    for a in selection.attempts() if report != "files" else ():
        if report == "attempts" or a.error_code is not None:
            attempts.update((facet, value(store, facet, store.files[a.file], a.error_code, a)) for facet in names)
    rows = [{"facet": facet, "value": of, "files": None if report == "attempts" else files[facet, of],
             "attempts": None if report == "files" else attempts[facet, of]} for facet, of in files.keys() | attempts.keys()]  # fmt: skip
    order = {facet: n for n, facet in enumerate(names)}
    return sorted(rows, key=lambda row: (order[row["facet"]], -(row["files"] or 0), -(row["attempts"] or 0), row["value"] or ""))


def groups(store, selection, kinds):
    """Failures by code, host, hour of the day: files that ended with them, attempts that met them, first and last."""
    found = {}

    def add(code, host, start, end, files, attempts):
        hour = start // 3_600_000 % 24 if start is not None and "hour" in kinds else None
        key = (code if "code" in kinds else None, host if "host" in kinds else None, hour)
        row = found.setdefault(key, {"error_code": key[0], "host": key[1], "hour": hour, "files": 0, "attempts": 0, "first": [], "last": []})
        row["files"] += files
        row["attempts"] += attempts
        row["first"] += [start] if start is not None else []
        row["last"] += [end] if end is not None else []

    mirrors = {(a.file, a.error_code): a for a in selection.store.attempts() if a.error_code is not None}
    for file in selection.files():
        if file.state in FAILED:
            newest = mirrors.get((file.id, file.cause))
            add(file.cause, store.host_of(newest) if newest else store.hosts[file.batch], file.finished_at, file.finished_at, 1, 0)
    for a in selection.attempts():
        if a.error_code is not None:
            add(a.error_code, store.host_of(a), a.started_at, a.started_at if a.ended_at is None else a.ended_at, 0, 1)
    for row in found.values():
        row["first_at"], row["last_at"] = figures.time(min(row.pop("first"), default=None)), figures.time(max(row.pop("last"), default=None))
    return list(found.values())

