"""`report --format html -o page.html` for more files than one page shows, in a browser with and without scripts."""

import json
import os
import shutil
import subprocess
import sys

import charts

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
LIMIT = 1_000_000
# Number and value of each cell, to be compared with the same row on another page.
ROWS = """[...document.querySelectorAll("#files_listed > tbody > tr")].map(row => [...row.cells].map(cell =>
[cell.textContent, cell.dataset.v === undefined ? null : Number(cell.dataset.v), cell.className]))"""


def ledgers(binary, folder):
    """Ledgers of 10,000 and 25,000 files."""
    small, large = os.path.join(folder, "10000.db"), os.path.join(folder, "25000.db")
    make = [sys.executable, os.path.join(ROOT, "tools", "make-history"), "--binary", binary, "--out", small]
    subprocess.run(
        make + ["--files", "10000", "--attempts", "20000", "--days", "2", "--end", "2026-11-20", "--unchecked"],
        check=True, stdout=subprocess.DEVNULL)
    source = os.path.join(folder, "many")
    for lane in range(15):
        os.makedirs(f"{source}/lane {lane} <i>")
        for number in range(1000):
            with open(f"{source}/lane {lane} <i>/sample_{number:06}.fastq.gz", "wb"):
                pass
    shutil.copy(small, large)
    subprocess.run([binary, "add", "--quiet", source, "http://127.0.0.1:9/in/", "--store", large], check=True)
    shutil.rmtree(source)
    return {10_000: small, 25_000: large}


def identifiers(binary, ledger):
    said = subprocess.run(
        [binary, "report", "files", "--format", "ndjson", "--store", ledger], check=True, stdout=subprocess.PIPE).stdout
    return [row["id"] for row in map(json.loads, said.splitlines()) if row["type"] == "file"]


def walk(tab, path):
    """The rows of each page, in the order in which a reader comes to them by links, and what the pages load."""
    tab.call("Page.navigate", url="file://" + path)
    pages, there = [], os.path.basename(path)
    while there and len(pages) < 100:
        tab.until(f"document.readyState === 'complete' && location.pathname.endsWith('/{there}') && document.querySelector('main')")
        pages.append(tab.value(ROWS))
        link = tab.value("""(() => { const link = [...document.querySelectorAll("a")].find(a => a.textContent === "Next") ||
        document.querySelector("html:not([data-page]) #section-files_listed > p.rest > a, noscript > p.rest > a"); return link && link.href })()""")
        there = link and link.rsplit("/", 1)[1]
        if link:
            tab.call("Page.navigate", url=link)
    return pages


def paged(browser, binary, folder, check, foreign):
    for count, ledger in ledgers(binary, folder).items():
        path = os.path.join(folder, f"page-of-{count}.html")
        subprocess.run([binary, "report", "--format", "html", "-o", path, "--store", ledger], check=True)
        wanted = identifiers(binary, ledger)
        sizes = {name: os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder) if name.startswith(f"page-of-{count}")}
        tab = browser.tab().open("file://" + path)
        scripted = tab.value(ROWS)
        shown = [row[0][0] for row in scripted]
        if count == 10_000:
            charts.agree(tab, check)
        plain = browser.tab(browser.call("Target.createBrowserContext")["browserContextId"])
        plain.call("Emulation.setScriptExecutionDisabled", value=True)
        pages = walk(plain, path)
        rows = [row for page in pages for row in page]
        loaded = foreign(tab, "file://") + foreign(plain, "file://")
        check(
            f"{count} files: every page stays below {LIMIT} bytes and loads nothing",
            (sizes, max(sizes.values()) <= LIMIT), (loaded, not loaded),
        )
        check(
            f"{count} files: a reader without scripts comes to each of them once",
            (f"{len(rows)} rows on {len(pages)} pages for {len(wanted)} files", [row[0][0] for row in rows] == wanted),
            ((len(pages), sorted(sizes)), len(pages) == len(sizes)),
        )
        enough = min(len(wanted), 10_000)
        other = next((pair for pair in zip(scripted, rows) if pair[0] != pair[1]), None)
        check(
            f"{count} files: with scripts the first page has {enough} of them, with the same figures",
            (len(shown), len(shown) >= enough and shown == wanted[: len(shown)]), (other, other is None),
        )
        said = tab.value("[...document.querySelectorAll('#section-files_listed > p.rest')].map(p => p.innerText).join()")
        check(f"{count} files: the page says what else there is", (said, ("further pages" in said) == (len(shown) < len(wanted))))
