"""The formats with raw values (CSV, TSV, Prometheus), read back and compared with the JSON of the same report."""

import csv
import io
import itertools
import json
import re

from renderings import BYTES, MS, RATE, Differs, decimal


def leaves(value, path=""):
    """The lines of a document without a main table: `files.done`, `costs.0.what`."""
    if isinstance(value, dict | list):
        inner = sorted(value.items()) if isinstance(value, dict) else enumerate(value)
        return [leaf for key, member in inner for leaf in leaves(member, f"{path}.{key}" if path else str(key))]
    return [(path, raw(value))]


def raw(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return decimal(value) if isinstance(value, int | float) else value


def unescaped(field):
    return re.sub(r"\\(x..|.)", lambda m: {"n": "\n", "t": "\t", "r": "\r"}.get(m[1]) or (chr(int(m[1][1:], 16)) if m[1][0] == "x" else m[1]), field)


def in_fields(kind, text, data, rows):
    lines = list(csv.reader(io.StringIO(text, newline=""))) if kind == "csv" else [[unescaped(f) for f in line.split("\t")] for line in text.split("\n")[:-1]]
    if rows is None:
        found = [tuple(line) for line in lines[1:]]
        wanted = leaves(data)
        for one, other in itertools.zip_longest(found, wanted):
            if one != other:
                raise Differs(f"{one} in {kind}, and {other} in JSON")
        return
    header = lines[0]
    for line, row in itertools.zip_longest(lines[1:], rows):
        if line is None or row is None:
            raise Differs(f"{len(lines) - 1} rows in {kind}, and {len(rows)} in JSON")
        for key, field in zip(header, line):
            value = row.get(key)
            if field != raw(value) and json_of(field) != value:
                raise Differs(f"{key} is {field!r} in {kind}, and {value!r} in JSON")
        if missing := set(row) - set(header):
            raise Differs(f"{kind} has no {missing}")


def json_of(field):
    try:
        return json.loads(field)
    except ValueError:
        return field


def metric(prefix, key, field):
    base = re.sub(r"\W", "_", key)
    if field.get("description") == MS:
        return f"{prefix}_{base.removesuffix('_ms')}_seconds"
    if field.get("format") == "date-time":
        return f"{prefix}_{base.removesuffix('_at')}_timestamp_seconds"
    if field.get("description") == RATE:
        return f"{prefix}_bytes_per_second" if key == "bps" else f"{prefix}_{base.removesuffix('_bps')}_bytes_per_second"
    return f"{prefix}_{base}_bytes" if field.get("description") == BYTES and "bytes" not in key else f"{prefix}_{base}"


def samples_of(prefix, row, fields, moment):
    """The samples of one object: metric, labels that must be there, value in base units."""
    for key, value in row.items():
        field = fields.get(key, {})
        name = metric(prefix, key, field)
        if isinstance(value, dict) and "integer" in json.dumps(field.get("additionalProperties", {})):
            for of, count in value.items():
                yield name, {"of": of}, float(count)
        elif field.get("format") == "date-time" and value is not None:
            yield name, {}, moment(value) / 1000
        elif isinstance(value, bool | int | float):
            yield name, {}, float(value) / (1000 if field.get("description") == MS else 1)


def in_prometheus(text, schema, data, fields, moment):
    """Every sample is a figure; every figure outside of tables has a sample, as has every row of a table with any."""
    found = {}
    for name, labels, value in re.findall(r"(?m)^([a-z]\w*)(?:\{(.*)\})? (\S+)$", text):
        pairs = {key: re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], word) for key, word in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)}
        found.setdefault(name, []).append((pairs, float(value)))
    prefix = "transfers_" + re.sub(r"\W", "_", schema.removeprefix("transfers.").split("/")[0])
    found.pop(prefix + "_generated_timestamp_seconds")
    common = {key for key, value in data.items() if isinstance(value, str)}

    def take(name, row, extra, value, must):
        for sample in found.get(name, []):
            labels, said = sample
            own = {key: word for key, word in labels.items() if key not in extra and key not in common}
            if said == value and extra.items() <= labels.items() and all(raw(row.get(key)) == word for key, word in own.items()):
                found[name].remove(sample)
                return
        if must:
            raise Differs(f"prometheus has no sample {name} {extra} {value} of {row}")

    def walk(value, fields, prefix):
        for name, extra, number in samples_of(prefix, {k: v for k, v in value.items() if not is_part(v, fields.get(k, {}))}, fields, moment):
            take(name, value, extra, number, True)
        for key, member in value.items():
            field = fields.get(key, {})
            inner = f"{prefix}_{re.sub(r'[^a-zA-Z0-9]', '_', key)}"
            if isinstance(member, dict) and is_part(member, field):
                walk(member, field.get("properties", {}), inner)
            elif isinstance(member, list) and member and isinstance(member[0], dict):
                columns = field.get("items", {}).get("properties", {})
                all_samples = [(row, sample) for row in member for sample in samples_of(inner, row, columns, moment)]
                shown = {name for _, (name, _, _) in all_samples} & set(found)
                for row, (name, extra, number) in all_samples:
                    take(name, row, extra, number, name in shown)

    walk(data, fields, prefix)
    if left := {name: samples for name, samples in found.items() if samples}:
        raise Differs(f"samples of prometheus that are no figures: {dict(list(left.items())[:2])}")


def is_part(value, field):
    return isinstance(value, dict) and "properties" in field
