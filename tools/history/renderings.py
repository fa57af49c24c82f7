"""Every output format of a report, read back and compared with its JSON; the oracle computes its figures from the rows.

CSV, TSV, NDJSON and Prometheus have raw values. Tables of HTML have them too (`data-v`), and their text must be the
JSON value as people read it: units and rounding are written here again. The text and Markdown tables must have the same
text in every cell. What text, Markdown and HTML say in words about single figures must agree, and each number in it
must be a figure of the JSON."""

import html.parser
import itertools
import math
import re

UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
BYTES, MS, RATE = "bytes", "milliseconds", "bytes a second"
# Tables of the page of all reports: the report that has the same rows, and their place in its JSON.
PAGE = {
    "costs": ("summary", "costs"), "failures": ("summary", "failures"), "slowest": ("summary", "slowest"),
    "throughput": ("throughput", "buckets"), "hosts": ("hosts", "hosts"), "slow-files": ("slow", "files"), "slow-parts": ("slow", "parts"),
    "latency-latencies": ("latency", "latencies"), "latency-classes": ("latency", "classes"), "waste-causes": ("waste", "causes"),
    "integrity-methods": ("integrity", "methods"), "retries-grid": ("retries", "grid"),
    "retries-chunks_by_attempts": ("retries", "chunks_by_attempts"), "days": ("daily", "periods"), "files_listed": ("files", ""),
}  # fmt: skip


class Differs(Exception):
    pass


def size(number):
    sign, number = ("-", -number) if number < 0 else ("", number)
    power = max((n for n in range(1, 7) if number >= 1024**n), default=0)
    if power == 0:
        return f"{sign}{number} B"
    whole, tenths = number // 1024**power, number * 10 // 1024**power
    return f"{sign}{whole if whole >= 100 else f'{tenths // 10}.{tenths % 10}'} {UNITS[power - 1]}"


def duration(ms):
    if ms < 0:
        return "-" + duration(-ms)
    if ms < 1000:
        return f"{ms} ms"
    if ms < 60_000:
        return f"{ms // 1000}.{ms % 1000 // 100} s"
    s = ms // 1000
    if s < 3600:
        return f"{s // 60}m {s % 60:02}s"
    return f"{s // 3600}h {s // 60 % 60:02}m" if s < 86_400 else f"{s // 86_400}d {s // 3600 % 24:02}h"


def decimal(number):
    return str(int(number)) if number == int(number) else repr(number)


def down(number, digits):
    """Rounded towards zero, without zeros at the end of a whole number."""
    units = math.floor(abs(number) * 10**digits + 1e-7)
    whole, rest = divmod(units, 10**digits)
    return ("-" if number < 0 and units else "") + (f"{whole}.{rest:0{digits}}" if rest else str(whole))


def texts(value, schema):
    """What people may read in a cell: more than one if the schema does not tell a share from another number."""
    if value is None or value in ("", [], {}):
        return {"-"}
    unit = schema.get("description")
    if unit in (BYTES, MS, RATE):
        return {{BYTES: size, MS: duration, RATE: lambda n: size(n) + "/s"}[unit](value)}
    if schema.get("format") == "date-time":
        return {value.replace("T", " ")[:19], value.replace("T", " ")[:19] + "Z", value.replace("T", " ")[:19] + " UTC"}
    if isinstance(value, bool):
        return {"yes" if value else "no"}
    if isinstance(value, int | float):
        points = down(value * 100, 2)
        kinds = {decimal(value), f"{down(value * 100, 2)} %", f"{points} points", f"{points} point", f"{down(value, 1)} %"}
        # Figures of several kinds in one column.
        return kinds | ({size(value), size(value) + "/s", duration(value)} if isinstance(value, int) and not unit else set())
    if isinstance(value, list):
        return {", ".join(value)}
    if isinstance(value, dict):
        return {" ".join(f"{key}={value[key]}" for key in sorted(value))}
    return {value}


class Page(html.parser.HTMLParser):
    """Tables (by id: keys, titles, rows of text and value) and single figures (title and words) of a page."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.facts, self.cell, self.fact, self.id = {}, [], None, None, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "table":
            self.id = attributes["id"]
            self.tables[self.id] = {"keys": [], "titles": [], "rows": []}
        elif tag == "tr":
            self.note = attributes.get("class") == "note"
            self.tables[self.id]["rows"].append([])
        elif tag in ("th", "td"):
            self.cell = [attributes.get("data-key"), "", attributes.get("data-v")]
            if tag == "th":
                self.tables[self.id]["keys"].append(self.cell)
            else:
                self.tables[self.id]["rows"][-1].append(self.cell)
        elif tag in ("dt", "dd"):
            self.fact = (tag, [])
        elif tag in ("svg", "script", "style", "title"):
            self.cell = self.fact = None

    def handle_endtag(self, tag):
        if tag in ("table", "thead", "tbody"):
            self.cell = None
        if tag in ("dt", "dd") and self.fact:
            text = "".join(self.fact[1])
            if tag == "dt":
                self.title = text
            else:
                self.facts.append((self.title.lower(), text))
            self.fact = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell[1] += data
        elif self.fact:
            self.fact[1].append(data)


def place(document, path):
    for key in filter(None, path.split("-")):
        document = document[key]
    return document


def fields_of(schema, path):
    """The schemas of the columns of a table."""
    for key in filter(None, path.split("-")):
        schema = schema.get("properties", {}).get(key, {})
    return schema.get("items", {}).get("properties", {})


def html_tables(page, where):
    """Each table of a page is the one of the JSON; returns their texts. `where` gives rows and schemas for an id."""
    shown = {}
    for name, table in page.tables.items():
        if (found := where(name)) is None:
            continue
        rows, fields = found
        keys = [key for key, _, _ in table["keys"]]
        lines = [row for row in table["rows"] if len(row) == len(keys) and row]
        if len(lines) != len(rows):
            raise Differs(f"table {name} of html has {len(lines)} rows, and {len(rows)} in JSON")
        for line, row in zip(lines, rows):
            for key, (_, text, raw) in zip(keys, line):
                value = row[key]
                if text not in texts(value, fields.get(key, {})) and not (key + "_b64" in row or "\\" in text):
                    raise Differs(f"{key} of {name} is {value!r} in JSON, and {text!r} in html")
                if raw is not None and (isinstance(value, str) or value is None or float(raw) != float(value)) and ":" not in str(value):
                    raise Differs(f"{key} of {name} is {value!r} in JSON, and {raw} in html")
        shown[name] = [[title for _, title, _ in table["keys"]], [[text for _, text, _ in line] for line in lines]]
    return shown


def in_markdown(text, tables, limits):
    """The tables of Markdown, in their order, have the texts of the HTML tables; returns the single figures."""
    lines = text.split("\n")
    plain = lambda cell: re.sub(r"\\(.)", r"\1", cell)  # noqa: E731
    starts = [i for i, line in enumerate(lines) if line.startswith("| ") and i + 1 < len(lines) and re.fullmatch(r"(\| -{3}:? )+\|", lines[i + 1])]
    if len(starts) != len(tables):
        raise Differs(f"{len(starts)} tables in markdown, and {len(tables)} in html")
    for start, (name, (titles, rows)) in zip(starts, tables.items()):
        found = [[plain(cell) for cell in re.split(r" (?<!\\)\| ", line[2:-2])] for line in itertools.takewhile(lambda line: line.startswith("|"), lines[start:])]
        wanted = [title for title in titles]
        kept = [index for index, title in enumerate(found[0]) if title in wanted or title == ""]
        for line, row in itertools.zip_longest([[line[i] for i in kept] for line in found[2:]], rows[: limits.get(name)]):
            if line != row:
                raise Differs(f"table {name}: {line} in markdown, and {row} in html")
    return [(plain(title).lower(), plain(words)) for title, words in re.findall(r"(?m)^- \*\*(.*?)\*\*: (.*)$", text)]


def in_text(text, tables, facts, limits):
    """The text has the cells of each table row in one line, and each single figure after its title."""
    lines = text.split("\n")
    plain = [" ".join(line.rstrip(" █▏▎▍▌▋▊▉#").split()) for line in lines]
    for name, (_, rows) in tables.items():
        at = 0
        for row in rows[: limits.get(name)]:
            wanted = " ".join(" ".join(row).split())
            if wanted not in plain[at:]:
                raise Differs(f"table {name}: no line of text is {wanted!r}")
            at = plain.index(wanted, at) + 1
    for title, words in facts:
        if not any(line.strip().lower().startswith(title) and line.rstrip().endswith(words) for line in lines):
            raise Differs(f"no line of text is {title!r} {words!r}")


def figures(value, schema):
    """Every figure of a document as people read it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from figures(inner, schema.get("properties", {}).get(key, schema.get("additionalProperties", {})))
            yield from re.findall(r"\d+", key)
    elif isinstance(value, list):
        for inner in value:
            yield from figures(inner, schema.get("items", {}))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from texts(value, schema)
    elif isinstance(value, str):
        yield from texts(value, schema)


def in_words(facts, data, schema):
    """Each number in the words about single figures is a figure of the document."""
    known = set(figures(data, schema))
    # A sum of counts is a figure, too.
    known |= {str(sum(value.values())) for value in data.values() if isinstance(value, dict) and all(isinstance(n, int) for n in value.values())}
    for title, words in facts:
        rest = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\w*", "", words)
        for quantity in re.finditer(r"\d+m \d\ds|\d+h \d\dm|\d+d \d\dh|(?<![\w.-])\d[\d.]*(?: (?:[KMGTPE]iB|B)(?:/s)?| ms| s(?!\w)| %)?", rest):
            if quantity.group().rstrip(".") not in known:
                raise Differs(f"{title!r} says {quantity.group()!r} in {words!r}, which is no figure of the JSON")
