"""The charts of a page, as the browser has drawn them, beside the tables under them."""

import math

# Every rectangle of the chart before a table, and the text and value of each cell below it.
DRAWN = """(id => { const table = document.getElementById(id), scroll = table && table.parentNode;
let chart = scroll && scroll.previousElementSibling; while (chart && !chart.matches(".chart")) chart = chart.previousElementSibling;
const keys = table ? [...table.tHead.rows[0].cells].map(cell => cell.dataset.key) : [];
return { rects: chart ? [...chart.querySelectorAll("rect")].map(rect => { const box = rect.getBBox();
return [box.x, box.y, box.width, box.height, Number(getComputedStyle(rect).fillOpacity), rect.querySelector("title").textContent, box.width > 0 && getComputedStyle(rect).fill] }) : null,
legend: chart && chart.nextElementSibling.matches(".legend") ? [...chart.nextElementSibling.children].map(li => li.textContent) : null,
rows: table ? [...table.tBodies[0].rows].filter(row => row.className !== "note").map(row => Object.fromEntries([...row.cells].map((cell, i) =>
[keys[i], [cell.textContent, cell.dataset.v === undefined ? null : Number(cell.dataset.v)]]))) : [] } })"""


def near(one, other):
    # Coordinates have two decimals.
    return abs(one - other) <= 0.011


def number(cell):
    return cell[1] or 0


def told(drawn, wanted):
    """Titles of the rectangles, in order."""
    titles = [rect[5] for rect in drawn]
    return f"{titles[:3]} … {len(titles)} of {len(wanted)}", titles == wanted


def series(found, x, y, top=160.0):
    rows = [row for row in found["rows"] if number(row[y]) > 0]
    most = max(number(row[y]) for row in rows)
    yield told(found["rects"], [f"{row[x][0]}: {row[y][0]}" for row in rows])
    yield "heights", all(near(rect[3], max(1, number(row[y]) / most * top)) for rect, row in zip(found["rects"], rows))
    yield "bars do not stand on one line", all(near(rect[1] + rect[3], top) for rect in found["rects"])
    step = 720 / len(found["rows"])
    at = [index for index, row in enumerate(found["rows"]) if number(row[y]) > 0]
    yield "places", all(near(rect[0], index * step) for rect, index in zip(found["rects"], at))


def histogram(found, name, value):
    rows = [row for row in found["rows"] if number(row[value]) > 0]
    most = max(number(row[value]) for row in rows)
    yield told(found["rects"], [f"{row[name][0]}: {row[value][0]}" for row in rows])
    yield "widths", all(near(rect[2], max(1, number(row[value]) / most * 460)) for rect, row in zip(found["rects"], rows))


def parts(found, name, value, label=None):
    """Where several rows have one name, the label is in the words, too."""
    rows = [row for row in found["rows"] if number(row[value]) > 0]
    whole = sum(number(row[value]) for row in rows)
    names = [row[name][0] for row in rows]
    if len(set(names)) < len(names):
        names = [row[name][0] + (f" {row[label][0]}" if row[label][0] != "-" else "") for row in rows]
    yield told(found["rects"], [f"{words}: {row[value][0]}" for words, row in zip(names, rows)])
    yield "widths", all(near(rect[2], max(0.5, number(row[value]) / whole * 720)) for rect, row in zip(found["rects"], rows))
    yield (found["legend"], found["legend"] == [f"{words} {row[value][0]}" for words, row in zip(names, rows)])


def heat(found, column, row, value):
    cells = {f"{line[column][0]}, {line[row][0]}: {line[value][0]}": number(line[value]) for line in found["rows"]}
    most = max(cells.values())
    shades = {rect[5]: rect[4] for rect in found["rects"]}
    hours = [number(line[column]) for line in found["rows"]]
    hosts = {line[row][0] for line in found["rows"]}
    squares = int(max(hours) - min(hours) + 1) * len(hosts)
    yield (f"{len(found['rects'])} squares, {squares} expected", len(found["rects"]) == squares)
    wrong = [(title, shades.get(title)) for title, n in cells.items() if not near(shades.get(title, -1), 0.15 + 0.85 * n / most)]
    yield (wrong[:3], not wrong)
    yield "squares without retries are filled", all(shade == 0 for title, shade in shades.items() if title not in cells)


def stacks(found, value):
    """The bars of a row are together as long as its figure."""
    length = {}
    for _, y, width, _, _, _, _ in found["rects"]:
        length[y] = length.get(y, 0) + width
    rows = [number(row[value]) for row in found["rows"]]
    lengths = [length.get(index * 22 + 2.0, 0) for index in range(len(rows))]
    wrong = [(one, other) for one, other in zip(lengths, rows) if math.fabs(one - other / max(rows) * 650) > 5]
    yield (wrong[:3], not wrong)


CHARTS = {
    "throughput": lambda found: series(found, "from", "bps"), "days": lambda found: series(found, "from", "bytes"),
    "latency-classes": lambda found: histogram(found, "up_to_ms", "chunks"),
    "retries-chunks_by_attempts": lambda found: histogram(found, "attempts", "chunks"),
    "retries-grid": lambda found: heat(found, "hour", "host", "retries"), "waste-causes": lambda found: parts(found, "cause", "bytes", "error_code"),
    "integrity-methods": lambda found: parts(found, "method", "files"), "slow-parts": lambda found: parts(found, "part", "wall_ms"),
    "slow-files": lambda found: stacks(found, "wall_ms"),
}  # fmt: skip


def agree(tab, check):
    """Every chart of the page that is open shows the figures of its table."""
    for name, claims in CHARTS.items():
        found = tab.value(f"{DRAWN}({name!r})")
        if not found["rects"] or not found["rows"]:
            check(f"chart of {name}", (f"rectangles {found['rects']}, {len(found['rows'])} rows", False))
            continue
        colours = {rect[6] for rect in found["rects"]}
        check(f"chart of {name} agrees with its table", *claims(found), (colours, not colours & {"none", False, "rgba(0, 0, 0, 0)"}))
